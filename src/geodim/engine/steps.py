"""Steps: values rounded down to multiples of a power of two, as a tolerance allows."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

SMALLEST_STEP = 2.0**-900
LARGEST_VALUE = 2.0**900

# Bounds on Delta are widened by 2^-50 to either side, for all roundings on the way; bounds on 1 / Delta^2 are
# then 2^-48 = 3.6e-15 apart at least, and 1e-14 once they are rounded themselves.  What is asked for below
# this, with room to spare, no bounds can give but equal ones.
CLOSEST = 1e-13
MOST_POINTS = 1 << 52  # that can be counted: float64 tells all numbers up to it apart
MOST_STEPS = 1 << 21  # counters that still fit the cache
COUNT_BELOW = 0.6  # count if there are fewer steps than this many times the points
SMALLEST = 31  # windows of so few points or steps may be left out
ROUNDINGS = 2.0**-46  # of bounds and of the error that is computed from them, in units of the dimension

if TYPE_CHECKING:
    from numpy.typing import NDArray


def tolerance(rtol: float) -> float:
    """The tolerance to work with: 0, which is exact, for one that floats cannot express.

    This is the one rule for all backends.

    >>> tolerance(0.01), tolerance(1e-15)
    (0.01, 0.0)
    """
    return float(rtol) if rtol >= CLOSEST else 0.0


def within(delta: float, off: float, rtol: float) -> bool:
    """Whether Delta, known to within ``off``, gives bounds on the dimension within the tolerance.

    Whatever rounds on the way is allowed for.
    """
    return delta > off and ((delta + off) / (delta - off)) ** 2 - 1.0 <= rtol - ROUNDINGS


def worth_counting(n_steps: float, n_points: int) -> bool:
    """Whether columns of this many steps are better counted than sorted.

    This is the one rule for all backends and plans.
    """
    return n_steps <= min(MOST_STEPS, COUNT_BELOW * n_points)


def may_leave_out(size: int) -> int:
    """How many of the smallest windows hardly matter, of n points, or of n steps where these are counted."""
    return SMALLEST if size > 64 * SMALLEST else 0


def counter_type(n_points: int) -> np.dtype[np.signedinteger[Any]]:
    """The type of counters that hold all points."""
    return np.dtype(np.int32 if n_points < 1 << 31 else np.int64)


def resolution(rtol: float, delta: float, magnitude: float, finest: float = 0.0) -> float:
    """The largest power of two to which values may be rounded: Delta is then known to within one such step.

    (Delta + h)^2 / (Delta - h)^2 - 1 is about 4 h / Delta; a little less than a quarter of rtol leaves room.
    0, which is exact, where floats cannot express the tolerance, or numbers of the given magnitude leave no
    room for steps; and where a step would not be larger than ``finest`` times the magnitude.
    """
    wanted = 0.23 * min(tolerance(rtol), 1.0) * delta
    if not wanted > SMALLEST_STEP or magnitude > LARGEST_VALUE or magnitude / wanted > LARGEST_VALUE:
        return 0.0
    step = math.ldexp(1.0, math.floor(math.log2(wanted)))
    return step if step > finest * magnitude else 0.0


class Steps(NamedTuple):
    """The steps of some columns.

    ``first`` is the number of the step that holds the least value of each column, ``number`` how many the
    widest column has (infinitely many if steps are unusable, none if no column has any width), ``far``
    whether float32 does not hold the number of every step.
    """

    first: NDArray[np.float64]
    number: float
    far: bool


def steps_needed(least: NDArray[np.float64], greatest: NDArray[np.float64], step: float) -> Steps:
    """The steps of columns with these extremes."""
    if not 2.0**-100 < step < 2.0**100:  # counting multiplies by 1 / step in the column's own type
        return Steps(np.zeros(least.size), math.inf if np.any(least < greatest) else 0.0, far=True)
    with np.errstate(over="ignore", invalid="ignore"):
        first, last = np.floor(least / step), np.floor(greatest / step)
        number = float((last - first).max()) + 1.0
        far = not float(max(np.abs(first).max(), np.abs(greatest / step).max())) < 2.0**23
    return Steps(first, number if math.isfinite(number) else math.inf, far)
