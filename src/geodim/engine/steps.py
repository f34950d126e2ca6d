"""Steps: values rounded down to multiples of a power of two, as a tolerance allows."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

SMALLEST_STEP = 2.0**-900
LARGEST_VALUE = 2.0**900

if TYPE_CHECKING:
    from numpy.typing import NDArray


def counter_type(n_points: int) -> np.dtype[np.signedinteger[Any]]:
    """The type of counters that hold all points."""
    return np.dtype(np.int32 if n_points < 1 << 31 else np.int64)


def resolution(rtol: float, delta: float, magnitude: float) -> float:
    """The largest power of two to which values may be rounded: Delta is then known to within one such step.

    (Delta + h)^2 / (Delta - h)^2 - 1 is about 4 h / Delta; a little less than a quarter of rtol leaves room.  0, which
    is exact, where numbers of the given magnitude leave no room for steps.
    """
    wanted = 0.23 * min(float(rtol), 1.0) * delta
    if not wanted > SMALLEST_STEP or magnitude > LARGEST_VALUE or magnitude / wanted > LARGEST_VALUE:
        return 0.0
    return math.ldexp(1.0, math.floor(math.log2(wanted)))


def steps_needed(
    least: NDArray[np.float64], greatest: NDArray[np.float64], step: float
) -> tuple[NDArray[np.float64], float]:
    """Step of the least value of every column, and the number of steps of the widest one (infinite if unusable)."""
    if not 2.0**-100 < step < 2.0**100:  # counting multiplies by 1 / step in the column's own type
        return np.zeros(least.size), math.inf
    first = np.floor(least / step)
    widest = float((np.floor(greatest / step) - first).max()) + 1.0
    exact = (
        float(max(np.abs(first).max(), np.abs(greatest / step).max())) < 2.0**23
    )  # float32 holds every step number
    return first, widest if exact else math.inf
