"""Inputs on which bounds say little, through every function: time over that of normal data of the same shape.

    python benchmarks/slow_ways.py                  # about four minutes on one core
    python benchmarks/slow_ways.py --label before   # the state of another commit, kept beside this one
    python benchmarks/slow_ways.py --only hops      # some of the functions; nothing is written

``slow_inputs.py`` measures many kinds of columns through `geodim.intrinsic_dimension`; this has a few of the
worst through all else: many columns, hops of a ring, explanations, gradients and weights.  Processor time of
one thread counts.  What takes longer than ``--limit`` seconds is stopped, and the time is then a lower bound,
told as such.  Results go to ``benchmarks/results/slow-ways.json``, by label.
"""

from __future__ import annotations

import argparse
import json
import signal
import sys
import time
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import geodim
from geodim.data.sources import as_source
from geodim.engine.solve import compute_profile
from geodim.engine.subgradient import all_counts

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "tests"))
sys.path.insert(0, str(HERE))

from engine import machine
from slow_columns import clocks, jittered, months

if TYPE_CHECKING:
    from collections.abc import Callable

    from slow_columns import Make

RESULTS = HERE / "results" / "slow-ways.json"
SINGLE = np.float32


def two_lines(rng: np.random.Generator, which: np.ndarray) -> np.ndarray:
    """Two lines through 0 in float32, the steeper of which differs from column to column."""
    slopes = np.where(which, SINGLE(0.3 + 0.01 * rng.random()), SINGLE(0.1))
    return slopes * np.arange(which.size, dtype=SINGLE) / SINGLE(3)


def normal(rng: np.random.Generator, n: int) -> np.ndarray:
    return rng.normal(size=n)


KINDS: dict[str, Make] = {
    "two clocks": lambda rng, n: clocks(n, 1.2 + rng.random()),
    "the same two clocks": lambda _rng, n: clocks(n, 1.6180339887),
    "angles in float32": lambda rng, n: SINGLE(5 + 2 * rng.random()) * np.arange(n, dtype=SINGLE) / SINGLE(n),
    "angles": lambda _rng, n: 2.0 * np.pi * np.arange(n) / n,
    "two slopes, float32": lambda rng, n: two_lines(rng, np.arange(n) > n // 2),
    "two grids, float32": lambda rng, n: two_lines(rng, np.arange(n) % 2 == 0),
    "months with jitter": lambda rng, n: months(n) + 0.1 * rng.normal(size=n),
    "a grid with jitter": lambda rng, n: jittered(rng, n, 0.3),
    "ranks / n": lambda _rng, n: np.arange(1, n + 1) / n,
}


def hops(X: np.ndarray) -> geodim.KHopResult:
    ring = np.stack([np.arange(len(X)), (np.arange(len(X)) + 1) % len(X)])
    return geodim.khop_dimensions(X, ring, hops=2, n_threads=1)


def gradient(X: np.ndarray) -> None:
    source = as_source(X)
    list(all_counts(source, compute_profile(source, n_threads=1)))


def weighted(X: np.ndarray) -> geodim.IDResult:
    weights = np.random.default_rng(1).random(len(X)) + 0.5
    return geodim.intrinsic_dimension(X, weights=weights, n_threads=1)


WAYS: dict[str, tuple[int, int, Callable[[np.ndarray], Any]]] = {  # points, columns, and what is called
    "64 columns": (200_000, 64, lambda X: geodim.intrinsic_dimension(X, n_threads=1)),
    "hops": (200_000, 4, hops),
    "WhatIf": (200_000, 4, lambda X: geodim.WhatIf(X, n_threads=1).result),
    "explain_dimension": (200_000, 4, lambda X: geodim.explain_dimension(X, n_threads=1)),
    "select_features": (200_000, 4, lambda X: geodim.select_features(X, 2, n_threads=1)),
    "top_features": (200_000, 4, lambda X: geodim.top_features(X, 1, n_threads=1)),
    "gradients": (100_000, 4, gradient),
    "weights": (50_000, 4, weighted),
}


def columns_of(make: Make, n: int, columns: int) -> np.ndarray:
    rng = np.random.default_rng(n)
    return np.stack([rng.permutation(make(rng, n)) for _ in range(columns)], axis=1)


class _LateError(Exception):
    pass


def measure(call: Callable[[np.ndarray], Any], X: np.ndarray, limit: float) -> tuple[float, bool, Any]:
    """Processor seconds, whether it was stopped, and what came out of it."""

    def give_up(*_: object) -> None:
        raise _LateError

    signal.signal(signal.SIGVTALRM, give_up)
    signal.setitimer(signal.ITIMER_VIRTUAL, limit)
    began, found, late = time.process_time(), None, False
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = call(X)
    except _LateError:
        late = True
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0.0)
    return time.process_time() - began, late, found


def error_of(found: object) -> float | None:
    """What the result says its bounds are apart, where it has bounds."""
    last = found[found.hops] if isinstance(found, geodim.KHopResult) else getattr(found, "result", found)
    return getattr(last, "error", None)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", nargs="*", help="functions whose names contain one of these")
    parser.add_argument("--limit", type=float, default=30.0, help="seconds for one input")
    parser.add_argument("--label", default="now", help="under which the results are kept")
    options = parser.parse_args()
    rows: list[dict[str, Any]] = []
    for way, (n, columns, call) in WAYS.items():
        if options.only and not any(part in way for part in options.only):
            continue
        for make in KINDS.values():  # compile before anything is timed
            measure(call, columns_of(make, 20_000, 2), 600.0)
        usual: dict[np.dtype[Any], float] = {}
        for dtype in (np.float64, np.float32):
            X = columns_of(normal, n, columns).astype(dtype)
            usual[X.dtype] = min(measure(call, X, 600.0)[0] for _ in range(3))
        for kind, make in KINDS.items():
            X = columns_of(make, n, columns)
            seconds, late, found = measure(call, X, options.limit)
            ratio = seconds / usual[X.dtype]
            rows.append(
                {
                    "way": way, "input": kind, "n": n, "columns": columns, "seconds": seconds,
                    "over_normal": ratio, "stopped": late, "error": error_of(found),
                }
            )  # fmt: skip
            print(
                f"{way:18s} {kind:22s} {n:>9,} x {columns:2d}  {'>' if late else ' '}{seconds:7.2f} s  "
                f"{ratio:7.1f} x normal  error {rows[-1]['error']}",
                flush=True,
            )
    if options.only:
        return
    kept = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    kept[options.label] = {"machine": machine(), "limit_s": options.limit, "rows": rows}
    RESULTS.write_text(json.dumps(kept, indent=1) + "\n")


if __name__ == "__main__":
    main()
