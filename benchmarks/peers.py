"""Columns as features, exactly, beside the other programs for the same number: obsdim and idim.

    pip install geodim[oracles]
    python benchmarks/peers.py [--points 20000] [--columns 32]

All in one process and one run.  Processor seconds are compared, ours with one thread, since the machine may
be shared; the values must agree to 1e-12.  Results go to ``benchmarks/results/peers.json``.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path

import numpy as np

import geodim
from engine import machine

RESULTS = Path(__file__).parent / "results" / "peers.json"
CLOSE = 1e-12


def seconds(call: object, repeat: int = 1) -> tuple[float, float]:
    """Processor seconds, the best of some, and the value."""
    best = float("inf")
    for _ in range(repeat):
        started = time.process_time()
        value = float(call())
        best = min(best, time.process_time() - started)
    return best, value


def main() -> None:
    import idim
    import obsdim

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--points", type=int, default=20_000)
    parser.add_argument("--columns", type=int, default=32)
    options = parser.parse_args()
    X = np.random.default_rng(0).normal(size=(options.points, options.columns))
    geodim.intrinsic_dimension(X[:1000], n_threads=1)  # compile
    ours, value = seconds(lambda: geodim.intrinsic_dimension(X, n_threads=1).dimension, 5)
    report = {
        "machine": machine(), "points": options.points, "columns": options.columns,
        "geodim": {"processor_s": ours, "dimension": value},
    }  # fmt: skip
    others = {
        "obsdim": lambda: obsdim.compute_dimension(X.T, normalize="diameter", exact=True, cap=None).dimension,
        "idim": lambda: idim.calculate_intrinsic_dimension(X, exact=True, disable_tqdm=True)[0],
    }
    for name, call in others.items():
        theirs, other = seconds(call)
        assert abs(other / value - 1.0) <= CLOSE, (name, other, value)
        report[name] = {
            "processor_s": theirs,
            "times_as_fast": theirs / ours,
            "relative_difference": abs(other / value - 1.0),
        }
        print(name, report[name], flush=True)
    RESULTS.write_text(json.dumps(report, indent=1) + "\n")
    print(report["geodim"])


if __name__ == "__main__":
    main()
