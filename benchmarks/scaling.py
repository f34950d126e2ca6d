"""How the exact engine scales: wall time of one data set at 1, 2, 4, ... threads, and the speed-up.

    python benchmarks/scaling.py --points 1e7 --features 64

The same data and the same process for all, the best of some runs each; the results must agree to the
bit.  One line of the table also gives np.sort of the same columns, as a measure of what the
machine's memory allows.
"""

from __future__ import annotations

import argparse
import json
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import numpy as np

import geodim
from engine import machine
from geodim.engine.parts import available_threads


def normal_columns(n: int, d: int, threads: int) -> np.ndarray:
    """Row-major float32, drawn in parts so that making it does not take longer than measuring it."""
    data = np.empty((n, d), np.float32)
    edges = np.linspace(0, n, 4 * threads + 1).astype(int)

    def fill(part: int) -> None:
        rng = np.random.default_rng([0, part])
        rng.standard_normal(out=data[edges[part] : edges[part + 1]], dtype=np.float32)

    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(fill, range(4 * threads)))
    return data


def best_of(times: int, work) -> float:
    seconds = []
    for _ in range(times):
        started = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - started)
    return min(seconds)


def sort_columns(data: np.ndarray, threads: int) -> None:
    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(lambda column: np.sort(data[:, column]), range(data.shape[1])))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--points", type=float, default=1e6)
    parser.add_argument("--features", type=int, default=64)
    parser.add_argument("--repeat", type=int, default=2)
    parser.add_argument("--json", type=Path, default=Path(__file__).parent / "results" / "scaling.json")
    chosen = parser.parse_args()
    most = available_threads()
    data = normal_columns(int(chosen.points), chosen.features, most)
    geodim.intrinsic_dimension(data[:200_000], n_threads=most)  # compile, also what only long columns need
    geodim.intrinsic_dimension(np.ascontiguousarray(data[:5_000_000, :2]), n_threads=most)
    rows, dimensions = [], set()
    threads = 1
    while threads <= most:
        measure = partial(geodim.intrinsic_dimension, data, n_threads=threads)
        ours = best_of(chosen.repeat, lambda measure=measure: dimensions.add(measure().dimension))
        rows.append(
            {"threads": threads, "seconds": ours, "speed_up": rows[0]["seconds"] / ours if rows else 1.0}
        )
        print(f"{threads:3d} threads {ours:8.3f} s   speed-up {rows[-1]['speed_up']:.2f}", flush=True)
        threads *= 2
    sorting = best_of(1, lambda: sort_columns(data, most))
    print(f"np.sort of the columns with {most} threads: {sorting:.3f} s")
    assert len(dimensions) == 1, "the result depends on the number of threads"
    data_and_runs = {
        "points": int(chosen.points),
        "features": chosen.features,
        "repeat": chosen.repeat,
    }
    result = {"machine": machine(), **data_and_runs, "rows": rows, "np_sort_seconds": sorting}
    chosen.json.write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
