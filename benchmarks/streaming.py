"""Streams of 10^8 values in bounded memory: how close the bounds are, and what it takes.

    python benchmarks/streaming.py [--values 100000000] [--only NAME ...]

One column at a time, and four unlike ones side by side, in batches that are drawn and forgotten.  Peak memory
is that of the whole process, so every stream has one of its own; seconds are of the processor.  Results go to
``benchmarks/results/streaming.json``.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from engine import machine
from geodim import StreamingDimension
from geodim.memory import peak_resident_memory

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

BATCH = 1_000_000  # values


def beside(rng: np.random.Generator, n: int) -> NDArray[np.float64]:
    """Four columns, the mean of each as far away as it is wide."""
    columns = [kind(rng, n)[:, 0] for kind in (normal, exponential, cauchy)]
    mixture = np.where(rng.random(n) < 0.3, rng.normal(-40.0, 0.1, n), rng.normal(40.0, 5.0, n))
    return np.column_stack([*columns, mixture])


def normal(rng: np.random.Generator, n: int) -> NDArray[np.float64]:
    """Standard normal."""
    return rng.normal(size=(n, 1))


def exponential(rng: np.random.Generator, n: int) -> NDArray[np.float64]:
    """Standard exponential."""
    return rng.exponential(size=(n, 1))


def cauchy(rng: np.random.Generator, n: int) -> NDArray[np.float64]:
    """Standard Cauchy."""
    return rng.standard_cauchy((n, 1))


def far(rng: np.random.Generator, n: int) -> NDArray[np.float64]:
    """Normal, a thousand standard deviations from 0."""
    return rng.normal(1000.0, size=(n, 1))


KINDS: dict[str, Callable[[np.random.Generator, int], NDArray[np.float64]]] = {
    "normal": normal,
    "normal, far from 0": far,
    "exponential": exponential,
    "Cauchy": cauchy,
    "mixed": beside,
}


def one(name: str, values: int) -> dict[str, Any]:
    """One stream, in this process."""
    draw, rng = KINDS[name], np.random.default_rng(0)
    columns = draw(rng, 1).shape[1]
    stream, taken = StreamingDimension(rtol=1e-3, memory=10**9), 0.0
    for _ in range(values // BATCH):
        X = draw(rng, BATCH // columns)
        started = time.process_time()
        stream.partial_fit(X)
        taken += time.process_time() - started
    started = time.process_time()
    result = stream.result_
    asked = time.process_time() - started
    return {
        "columns": name,
        "values": stream.n_points_ * columns,
        "dimension": result.dimension,
        "lower": result.lower,
        "upper": result.upper,
        "error": result.error,
        "cells": [sketch.counts.size for sketch in stream._sketches],
        "state_bytes": stream.nbytes,
        "peak_bytes": peak_resident_memory(),
        "ns_per_value": round(1e9 * taken / (stream.n_points_ * columns), 1),
        "bounds_seconds": round(asked, 2),
    }


def main() -> None:
    """Measure, print and write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--values", type=int, default=10**8)
    parser.add_argument("--only", nargs="+", choices=list(KINDS), default=list(KINDS))
    parser.add_argument("--one", choices=list(KINDS), help="a stream in this process, as JSON")
    options = parser.parse_args()
    if options.one is not None:
        print(json.dumps(one(options.one, options.values)))
        return
    rows = []
    for name in options.only:
        command = [sys.executable, __file__, "--values", str(options.values), "--one", name]
        found = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        rows.append(json.loads(found.splitlines()[-1]))
        print(rows[-1], flush=True)
    path = Path(__file__).parent / "results" / "streaming.json"
    path.write_text(json.dumps({"machine": machine(), "rows": rows}, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
