"""What weights cost: none, equal ones, small and huge whole ones, and any, exactly and to a tolerance.

    python benchmarks/weights.py [--points 4000 20000 100000] [--times 5]

Four normal columns on one thread; seconds of the processor, the best of several calls.  Results go to
``benchmarks/results/weights.json``.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any

import numpy as np

import geodim
from engine import machine

RTOL = 0.01


def kinds(rng: np.random.Generator, n: int) -> dict[str, Any]:
    """Weights, by what the page calls them."""
    return {
        "none": None,
        "equal": np.full(n, 0.1),
        "whole, 1 to 9": rng.integers(1, 10, n),
        "whole, up to 10^12": rng.integers(1, 10**12, n),
        "any": rng.gamma(1.0, size=n),
    }


def seconds(times: int, X: Any, **options: Any) -> float:
    """The best of so many calls."""
    best = float("inf")
    for _ in range(times):
        started = time.process_time()
        geodim.intrinsic_dimension(X, n_threads=1, **options)
        best = min(best, time.process_time() - started)
    return best


def main() -> None:
    """Measure, print and write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--points", type=int, nargs="+", default=[4_000, 20_000, 100_000])
    parser.add_argument("--times", type=int, default=5)
    options = parser.parse_args()
    rng, rows = np.random.default_rng(0), []
    for n in options.points:
        X = rng.normal(size=(n, 4))
        for name, weights in kinds(rng, n).items():
            for rtol in (0.0, RTOL):
                seconds(1, X[:500], weights=None if weights is None else weights[:500], rtol=rtol)  # compiled
                took = seconds(options.times, X, weights=weights, rtol=rtol)
                rows.append({"points": n, "weights": name, "rtol": rtol, "seconds": round(took, 5)})
                print(f"{n:>9,}  {name:<20} rtol {rtol:<5g} {took:10.4f} s", flush=True)
    path = Path(__file__).parent / "results" / "weights.json"
    path.write_text(json.dumps({"machine": machine(), "rows": rows}, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
