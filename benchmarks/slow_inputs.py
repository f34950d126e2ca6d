"""Inputs on which bounds say little: time per value over that of normal data, in one run, on one thread.

    python benchmarks/slow_inputs.py                  # about ten minutes on one core
    python benchmarks/slow_inputs.py --label before   # the state of another commit, kept beside this one
    python benchmarks/slow_inputs.py --only ranks     # some of them; nothing is written

Every kind of column of the test matrix (``tests/distributions.py``), and inputs that were slow once
(``tests/slow_columns.py``): ranks over n, time axes, permutations of a grid, quantiles, huge values.
Processor time counts, not the time on the wall, and what takes longer than ``--limit`` seconds is stopped:
then the time is a lower bound, told as such.  Normal data is measured again before and after every input,
since the machine may be slower or faster by then.  Results go to ``benchmarks/results/slow-inputs.json``, by
label.  That no input takes many more windows than normal data is tested in ``tests/engine``.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import geodim
from geodim.errors import GeodimError

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "tests"))
sys.path.insert(0, str(HERE))

from engine import machine
from slow_columns import INPUTS

if TYPE_CHECKING:
    from slow_columns import Make

RESULTS = HERE / "results" / "slow-inputs.json"
SIZES = (50_000, 200_000, 10**6)
WARM_UP = (2_000, 9_000, 40_000)  # points
REPEATS = 3  # of those that take less than a second


def usable(values: np.ndarray) -> bool:
    """A few kinds leave the floats where they are this long."""
    with np.errstate(over="ignore"):
        return bool(np.isfinite(np.ptp(values.astype(np.float64), axis=0)).all())


def measure(X: np.ndarray, limit: float) -> tuple[float, geodim.IDResult]:
    """Processor seconds of one call, the least of some, and what it found."""
    best = np.inf
    for turn in range(REPEATS):
        began = time.process_time()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            result = geodim.intrinsic_dimension(X, n_threads=1, time_limit=limit)
        best = min(best, time.process_time() - began)
        if (best > 1.0 and turn > 0) or best > limit:
            break
    return best, result


def normal_ns(n: int, columns: int) -> float:
    """Nanoseconds per value of normal data of this shape."""
    X = np.random.default_rng(n).normal(size=(n, columns))
    return measure(X, 1e9)[0] / X.size * 1e9


def rows_of(name: str, columns: int, make: Make, limit: float) -> Any:
    rows = []
    for n in SIZES:
        with np.errstate(over="ignore"):
            X = make(np.random.default_rng(n), n)
        if not usable(X):
            continue
        try:
            before = normal_ns(n, columns)
            seconds, result = measure(X, limit)
            normal = 0.5 * (before + normal_ns(n, columns))
        except GeodimError as error:
            print(f"{name:36s} {n:>9,}  {error}")
            continue
        ns = seconds / X.size * 1e9
        rows.append(
            {
                "input": name, "n": n, "columns": columns, "ns_per_value": ns,
                "over_normal": ns / normal, "stopped": result.stopped is not None,
                "exact": result.exact, "error": result.error if result.stopped is None else None,
                "evaluations_per_value": result.evaluations / X.size,
            }
        )  # fmt: skip
        row = rows[-1]
        print(
            f"{name:36s} {n:>9,} x {columns}  {'>' if row['stopped'] else ' '}{ns:10.1f} ns per value  "
            f"{row['over_normal']:8.2f} x normal  {row['evaluations_per_value']:10.1f} looks per value  "
            f"{'exact' if result.exact else f'error {result.error:.1e}'}",
            flush=True,
        )
        if row["stopped"]:  # longer ones would be, too
            break
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", nargs="*", help="inputs whose names contain one of these")
    parser.add_argument("--limit", type=float, default=20.0, help="seconds for one input")
    parser.add_argument("--label", default="now", help="under which the results are kept")
    options = parser.parse_args()
    for _, make in INPUTS.values():  # compile before anything is timed, whatever an input needs
        for n in WARM_UP:
            with np.errstate(over="ignore"), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                X = make(np.random.default_rng(0), n)
                if usable(X):
                    geodim.intrinsic_dimension(X, n_threads=1)
    print("compiled", flush=True)
    normal: dict[int, dict[int, float]] = {1: {}, 8: {}}
    for columns, by_size in normal.items():
        for n in SIZES:
            by_size[n] = min(normal_ns(n, columns) for _ in range(3))
            print(f"normal {n:>9,} x {columns}: {by_size[n]:.1f} ns per value")
    rows: list[dict[str, Any]] = []
    for name, (columns, make) in INPUTS.items():
        if not options.only or any(part in name for part in options.only):
            rows += rows_of(name, columns, make, options.limit)
    worst = max(rows, key=lambda row: row["over_normal"])
    print(f"worst: {worst['input']}, n = {worst['n']:,}: {worst['over_normal']:.1f} times normal data")
    if options.only:
        return
    kept = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    kept[options.label] = {
        "machine": machine(), "normal_ns_per_value": normal, "limit_s": options.limit, "rows": rows,
    }  # fmt: skip
    RESULTS.write_text(json.dumps(kept, indent=1) + "\n")


if __name__ == "__main__":
    main()
