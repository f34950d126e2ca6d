"""What removal costs of all features take over the plain intrinsic dimension of the same data, in one run.

    python benchmarks/removal.py [--points 100000 --features 1000]

Ours and the reference run alternately; the best processor seconds of each count, which other work on the same
machine changes least.  The bar is 1.5 for every case.  Results go to ``benchmarks/results/removal.json``.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np
from selection import CASES, timed

import geodim
from engine import machine
from geodim.engine.parts import available_threads

BAR = 1.5


def run_case(name: str, data: np.ndarray, threads: int, repeat: int) -> dict[str, object]:
    plain, ours = [], []
    for _ in range(repeat):
        plain.append(timed(lambda: geodim.intrinsic_dimension(data, n_threads=threads)))
        ours.append(timed(lambda: geodim.intrinsic_dimension(data, n_threads=threads, removal=True)))
    result, reference = ours[0][2], plain[0][2]
    assert result.dimension == reference.dimension
    row = {
        "case": name,
        "threads": threads,
        "plain_processor_s": min(run[1] for run in plain),
        "removal_processor_s": min(run[1] for run in ours),
        "ratio": min(run[1] for run in ours) / min(run[1] for run in plain),
        "wall_ratio": min(run[0] for run in ours) / min(run[0] for run in plain),
        "features_with_a_share": len(result.shares),
        "features_with_a_cost": len(result.removal.costs),
        "bar": BAR,
    }
    row["ok"] = row["ratio"] < BAR
    return row


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--points", type=int, default=100_000)
    parser.add_argument("--features", type=int, default=1_000)
    parser.add_argument("--repeat", type=int, default=2)
    options = parser.parse_args()
    rows = []
    for name, make in CASES.items():
        data = make(np.random.default_rng(0), options.points, options.features)
        geodim.intrinsic_dimension(data[:20_000], removal=True)  # compiled before the clock runs
        rows.append(run_case(name, data, available_threads(), options.repeat))
        print(json.dumps(rows[-1]), flush=True)
    written = {"machine": machine(), "options": vars(options), "rows": rows}
    path = Path(__file__).parent / "results" / "removal.json"
    path.write_text(json.dumps(written, indent=1) + "\n")


if __name__ == "__main__":
    main()
