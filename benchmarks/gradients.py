"""What a gradient of Delta costs, beside Delta itself.

    python benchmarks/gradients.py [--times 5]

Columns of several kinds, distances and hops, on one thread; seconds of the processor, the best of several
calls.  Results go to ``benchmarks/results/gradients.json``.
"""

from __future__ import annotations

import argparse
import json
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from engine import machine
from geodim.torch import discriminability

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

Case = tuple[str, Any, dict[str, Any]]


def cases(rng: np.random.Generator) -> Iterator[Case]:
    """Name, data and options."""
    for n, d in ((1_000, 64), (10_000, 64), (100_000, 16), (1_000_000, 1)):
        yield f"normal, {n:,} x {d:,}", rng.normal(size=(n, d)), {}
    yield "normal, float32, 100,000 x 16", rng.normal(size=(100_000, 16)).astype(np.float32), {}
    yield "uniform, 100,000 x 16", rng.random((100_000, 16)), {}
    yield "exponential, 100,000 x 16", rng.exponential(size=(100_000, 16)), {}
    yield "unlike columns, 100,000 x 64", rng.normal(size=(100_000, 64)) * np.geomspace(1.0, 0.01, 64), {}
    yield "integers 0..99, 100,000 x 16", rng.integers(0, 100, (100_000, 16)).astype(np.float64), {}
    yield "distances, 2,000 points in 16 dimensions", rng.normal(size=(2_000, 16)), {"features": "distances"}
    edges = rng.integers(0, 20_000, (2, 100_000))
    hops = {"features": "hops", "graph": edges, "hops": 2}
    yield "2 hops, 20,000 nodes x 32, 100,000 edges", rng.normal(size=(20_000, 32)), hops


def best_of(times: int, work: Callable[[], Any], before: Callable[[], Any] = lambda: None) -> float:
    """Seconds of the processor, the least of so many calls."""
    found = []
    for _ in range(times):
        prepared = before()
        started = time.process_time()
        work(prepared) if prepared is not None else work()
        found.append(time.process_time() - started)
    return min(found)


def main() -> None:
    """Measure, print and write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=int, default=5)
    times = parser.parse_args().times
    torch.set_num_threads(1)
    rows = []
    for name, values, options in cases(np.random.default_rng(0)):
        X = torch.from_numpy(values).requires_grad_()
        delta = partial(discriminability, X, n_threads=1, **options)
        torch.autograd.grad(delta(), X)  # compiled
        forward = best_of(times, delta)
        backward = best_of(times, lambda value, X=X: torch.autograd.grad(value, X), delta)
        row = {"case": name, "forward": round(forward, 5), "backward": round(backward, 5)}
        rows.append(row | {"ratio": round(backward / forward, 2)})
        print(f"{name:<45} {forward:9.4f} s  {backward:9.4f} s  {backward / forward:6.2f}", flush=True)
    path = Path(__file__).parent / "results" / "gradients.json"
    path.write_text(json.dumps({"machine": machine(), "rows": rows}, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
