"""Columns on which bounds say little, on a GPU: time of a call, and over that of normal data of this shape.

    python benchmarks/gpu_slow_inputs.py > docs/results/gpu-slow-inputs.log

The data is on the device.  The best of three calls counts, or of two that take more than a second; calls are
stopped after 25 seconds.  The second part of the log is of the version before columns were left to the
processor, by the same program.
"""

from __future__ import annotations

import sys
import time
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

import geodim

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "tests"))

from slow_columns import SLOW_ONCE

if TYPE_CHECKING:
    from slow_columns import Make

LIMIT = 25.0  # seconds
KINDS: dict[str, tuple[int, Make]] = {
    **SLOW_ONCE,
    "whole numbers": (1, lambda rng, n: rng.permutation(n)[:, np.newaxis]),
}
NAMES = (
    "two clocks", "two clocks with jitter", "two grids, float32", "two slopes, float32", "angles in float32",
    "ranks / n", "eight ranks / n", "10 Hz from a date on", "months with jitter",
    "weekdays with jitter, float32", "multiples of the golden ratio", "a wave of one spacing",
    "a wave of eight spacings", "a wave of fifty spacings", "a wave of four hundred spacings", "two waves",
    "normal times 1e305", "quantiles, uniform", "eight permutations of a linspace", "whole numbers",
)  # fmt: skip
LONG = ("two clocks", "ranks / n", "months with jitter", "a wave of four hundred spacings", "whole numbers")


def measure(X: np.ndarray) -> tuple[float, geodim.IDResult]:
    """Seconds of one call, and what it found."""
    data, best = torch.as_tensor(X, device="cuda"), np.inf
    for turn in range(3):
        torch.cuda.synchronize()
        began = time.perf_counter()
        result: Any = geodim.intrinsic_dimension(data, time_limit=LIMIT)
        best = min(best, time.perf_counter() - began)
        if best > 1.0 and turn:
            break
    return best, result


def main() -> None:
    warnings.simplefilter("ignore")
    for n, names, widths in ((10**6, NAMES, (1, 8)), (10**7, LONG, (1,))):
        usual: dict[tuple[int, np.dtype[Any]], float] = {}
        for columns in widths:
            for dtype in (np.float32, np.float64):
                X = np.random.default_rng(0).normal(size=(n, columns)).astype(dtype)
                measure(X)  # compiles
                usual[columns, X.dtype] = measure(X)[0]
                print(
                    f"{f'normal {X.dtype}':36s} {n:>8} x {columns} {usual[columns, X.dtype] * 1e3:10.2f} ms"
                )
        for name in names:
            columns, make = KINDS[name]
            X = make(np.random.default_rng(n), n)
            X = X if X.dtype == np.float32 else X.astype(np.float64)
            seconds, result = measure(X)
            print(
                f"{name:36s} {n:>8} x {columns} {seconds * 1e3:10.2f} ms "
                f"{seconds / usual[columns, X.dtype]:8.1f} x normal exact {result.exact} "
                f"error {result.error:.1e} stopped {result.stopped}",
                flush=True,
            )


if __name__ == "__main__":
    main()
