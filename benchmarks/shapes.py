"""Normal data of many shapes, layouts and types: time per value, with another version beside it.

    git worktree add ../old COMMIT
    python benchmarks/shapes.py --old ../old/src      # about three minutes

Nobody should have to know that his data lies in memory by columns, has a prime number of points or one column
more.  One thread; every shape runs in a fresh process of either version, in turn, and the best time of each
counts.  Results go to ``benchmarks/results/shapes.json``.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np

from engine import machine, our_time

HERE = Path(__file__).resolve().parent
RESULT = HERE / "results" / "shapes.json"
SHAPES = (  # the last two have a prime number of points, as few shapes in benchmarks have
    (300, 20_000), (1000, 5000), (5000, 5000), (20_000, 512), (50_000, 63), (50_000, 256), (100_000, 64),
    (100_003, 32), (1_000_003, 16),
)  # fmt: skip
LAYOUTS = {"by rows": "C", "by columns": "F"}
TYPES = ("float32", "float16")
ROUNDS, REPEATS = 2, 4


def measure(n: int, d: int) -> dict[str, float]:
    """Nanoseconds per value of every layout and type, in this process."""
    values = np.random.default_rng(0).standard_normal((n, d), dtype=np.float32)
    found = {}
    for layout, order in LAYOUTS.items():
        for kind in TYPES:
            X = np.asarray(values, kind, order=order)
            best = min(our_time(X, 0.0, 1)[0] for _ in range(1 + REPEATS))
            found[f"{kind}, {layout}"] = best / X.size * 1e9
    return found


def in_a_process(shape: tuple[int, int], source: Path) -> dict[str, float]:
    run = subprocess.run(
        [sys.executable, "-W", "ignore", __file__, "--shape", *map(str, shape)],
        env={**os.environ, "PYTHONPATH": str(source)}, check=True, capture_output=True, text=True,
    )  # fmt: skip
    return json.loads(run.stdout)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--old", type=Path, help="source of another version")
    parser.add_argument("--output", type=Path, default=RESULT)
    parser.add_argument("--shape", type=int, nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.shape:
        print(json.dumps(measure(*options.shape)))
        return
    sources = {"now": HERE.parent / "src", **({"before": options.old} if options.old else {})}
    rows = []
    for shape in SHAPES:
        runs = {version: [] for version in sources}
        for _ in range(ROUNDS):
            for version, source in sources.items():
                runs[version].append(in_a_process(shape, source))
        for kind in runs["now"][0]:
            row = {"n": shape[0], "d": shape[1], "kind": kind}
            row |= {version: min(run[kind] for run in some) for version, some in runs.items()}
            rows.append(row)
            told = "   ".join(f"{version} {row[version]:6.1f} ns" for version in sources)
            print(f"{shape[0]:9,d} x {shape[1]:6,d} {kind:22s} {told}", flush=True)
    options.output.write_text(json.dumps({"machine": machine(), "rows": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
