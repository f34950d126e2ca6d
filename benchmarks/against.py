"""Another version of the source beside this one, in one run: processes take turns, medians are compared.

    git worktree add ../old COMMIT
    python benchmarks/against.py ../old/src --rounds 7

Every case runs in a fresh process of either version, one after the other, so that whatever else the machine
does meets both.  A process repeats the case until a second has passed and tells the best time.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
CASES = {
    "tiny 100 x 4": "geodim.intrinsic_dimension(normal(100, 4))",
    "small 1,000 x 16": "geodim.intrinsic_dimension(normal(1_000, 16))",
    "small, rtol 1e-3": "geodim.intrinsic_dimension(normal(1_000, 16), rtol=1e-3)",
    "10^5 x 32": "geodim.intrinsic_dimension(normal(100_000, 32))",
    "10^6 x 8": "geodim.intrinsic_dimension(normal(1_000_000, 8))",
    "10^6 x 8, rtol 1e-4": "geodim.intrinsic_dimension(normal(1_000_000, 8), rtol=1e-4)",
    "3,000 x 3,000": "geodim.intrinsic_dimension(normal(3_000, 3_000))",
    "integers 10^6 x 8": "geodim.intrinsic_dimension(whole(1_000_000, 8))",
    "hops 20,000 x 32, k = 3": "geodim.khop_dimensions(normal(20_000, 32), edges(20_000, 100_000), 3)",
    "explain 10^5 x 32": "geodim.explain_dimension(normal(100_000, 32))",
}
LONG_ENOUGH = 1.0  # seconds


def run_case(case: str) -> float:
    """The best time of one case in this process, in seconds, after one call that compiles."""
    import functools

    import numpy as np

    import geodim

    @functools.cache
    def normal(n, d):
        return np.random.default_rng(0).normal(size=(n, d)).astype(np.float32)

    @functools.cache
    def whole(n, d):
        return np.random.default_rng(1).integers(0, 1000, size=(n, d)).astype(np.float64)

    @functools.cache
    def edges(n, m):
        return np.random.default_rng(2).integers(0, n, size=(2, m))

    names = {"geodim": geodim, "normal": normal, "whole": whole, "edges": edges}
    code = compile(CASES[case], case, "eval")
    eval(code, names)
    best, began = float("inf"), time.perf_counter()
    while time.perf_counter() - began < LONG_ENOUGH:
        started = time.perf_counter()
        eval(code, names)
        best = min(best, time.perf_counter() - started)
    return best


def measure(source: Path, case: str) -> float:
    """The same in a fresh process with that source."""
    environment = {**os.environ, "PYTHONPATH": str(source)}
    command = [sys.executable, str(Path(__file__)), "--case", case]
    done = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
    return float(json.loads(done.stdout.splitlines()[-1]))


def main() -> None:
    """Measure every case with both versions and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("old", nargs="?", type=Path, help="the folder src of the other version")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--case", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.case is not None:
        print(json.dumps(run_case(options.case)))
        return
    sources = {"old": options.old.resolve(), "new": HERE.parent / "src"}
    print(f"| case | old, ms | new, ms | new / old | spread of the ratio over {options.rounds} rounds |")
    print("|---|---|---|---|---|")
    for case in CASES:
        rounds = [
            {name: measure(source, case) for name, source in sources.items()} for _ in range(options.rounds)
        ]
        ratios = [one["new"] / one["old"] for one in rounds]
        old, new = (1e3 * statistics.median(one[name] for one in rounds) for name in ("old", "new"))
        spread = f"{min(ratios):.2f} to {max(ratios):.2f}"
        print(f"| {case} | {old:.3g} | {new:.3g} | {statistics.median(ratios):.2f} | {spread} |", flush=True)


if __name__ == "__main__":
    main()
