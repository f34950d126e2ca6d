"""Speed of feature selection over that of the plain intrinsic dimension of the same data, in one run.

    python benchmarks/selection.py [--points 100000 --features 1000]

Alike columns are the worst case: every feature competes for every choice.  Ours and the reference run
alternately, the best time of each counts.  The bar is 3 for every case.  Results go to
``benchmarks/results/selection.json``.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

import geodim
from engine import machine, mixed
from geodim.engine.parts import available_threads

if TYPE_CHECKING:
    from collections.abc import Callable

BAR = 3.0
CHOICES = ({"fraction": 0.95}, {"m": 10}, {"m": 50})


def alike(rng: np.random.Generator, n: int, d: int) -> np.ndarray:
    return rng.standard_normal((n, d), dtype=np.float32)


def nearly_alike(rng: np.random.Generator, n: int, d: int) -> np.ndarray:
    """Eight shapes, each scaled to a spread within a few percent of the others."""
    data = mixed(rng, n, d)
    data /= data.std(axis=0)
    return data * np.exp(0.03 * rng.standard_normal(d)).astype(np.float32)


CASES: dict[str, Callable[[np.random.Generator, int, int], np.ndarray]] = {
    "mixed shapes and scales": mixed,
    "mixed shapes, scales within 3 %": nearly_alike,
    "alike: standard normal": alike,
}


def timed(call: Callable[[], object]) -> tuple[float, float, object]:
    """Wall seconds, processor seconds, result."""
    wall, processor = time.perf_counter(), time.process_time()
    result = call()
    return time.perf_counter() - wall, time.process_time() - processor, result


def run_case(name: str, data: np.ndarray, threads: int, repeat: int) -> list[dict[str, object]]:
    plain, ours = [], [[] for _ in CHOICES]
    for _ in range(repeat):
        plain.append(timed(lambda: geodim.intrinsic_dimension(data, n_threads=threads)))
        for at, choice in enumerate(CHOICES):
            select = lambda choice=choice: geodim.select_features(data, n_threads=threads, **choice)
            ours[at].append(timed(select))
    rows = []
    for choice, runs in zip(CHOICES, ours, strict=True):
        selection = runs[0][2]
        assert selection.dimension == plain[0][2].dimension
        row = {
            "case": name,
            "choice": choice,
            "threads": threads,
            "plain_s": min(run[0] for run in plain),
            "select_s": min(run[0] for run in runs),
            "ratio": min(run[0] for run in runs) / min(run[0] for run in plain),
            "processor_ratio": min(run[1] for run in runs) / min(run[1] for run in plain),
            "features": len(selection.columns),
            "fraction": selection.fractions[-1],
            "evaluations": selection.evaluations,
            "bar": BAR,
        }
        row["ok"] = row["ratio"] < BAR
        rows.append(row)
        print(
            f"{name:34s} {choice!s:20s} {threads} thread{'s' if threads > 1 else ' '}  plain "
            f"{row['plain_s']:6.2f} s  select {row['select_s']:6.2f} s  ratio {row['ratio']:.2f}  (processor "
            f"{row['processor_ratio']:.2f})  {row['features']} features, {row['fraction']:.4%}",
            flush=True,
        )
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--points", type=int, default=100_000)
    parser.add_argument("--features", type=int, default=1_000)
    parser.add_argument("--repeat", type=int, default=2)
    options = parser.parse_args()
    warm = alike(np.random.default_rng(1), 5000, 4)
    geodim.intrinsic_dimension(warm)
    geodim.select_features(warm, 3)
    rows: list[dict[str, object]] = []
    for name, make in CASES.items():
        data = make(np.random.default_rng(0), options.points, options.features)
        for threads in sorted({1, available_threads()}):
            rows += run_case(name, data, threads, options.repeat)
    report = {"machine": machine(), "options": vars(options), "rows": rows}
    (Path(__file__).parent / "results" / "selection.json").write_text(json.dumps(report, indent=1) + "\n")


if __name__ == "__main__":
    main()
