"""Steps: values rounded down to multiples of a power of two, as a tolerance allows."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

SMALLEST_STEP = 2.0**-900
LARGEST_VALUE = 2.0**900
FINEST = 2.0**-48  # of the largest value; with finer steps, floats would round widths, and exact is no slower

# Bounds on Delta are widened by 2^-50 on either side to cover all roundings.  Bounds on 1 / Delta^2 are then
# at least 2^-48 = 3.6e-15 apart, and 1e-14 after their own rounding.  Only equal bounds can meet a smaller
# tolerance; this limit leaves some room.
CLOSEST = 1e-13
MOST_POINTS = 1 << 52  # that can be counted: float64 represents every integer up to it
MOST_STEPS = 1 << 21  # counters that still fit the cache
AVERAGE = 16  # up to this many points per step, counters of one byte hold those of nearly any step
LONGEST = 4  # bytes of a counter; longer ones are for more points
COUNT_BELOW = 0.6  # count if there are fewer steps than this many times the points
SMALLEST = 31  # windows of at most this many points or steps may be left out,
SMALL = 127  # or, of steps, this many, which nearly every column would have to be searched for
SAMPLED = 1 / 48  # the part of the points whose width a pilot reports as the smallest
ENOUGH = (
    0.23  # of rtol times Delta is what Delta may be off by: a little less than a quarter leaves some room
)
ROUNDINGS = 2.0**-46  # of the bounds and of the error computed from them, relative to the dimension

if TYPE_CHECKING:
    from numpy.typing import NDArray


def tolerance(rtol: float) -> float:
    """Return the tolerance to work with: 0 (exact) if ``rtol`` is too small for floats to express.

    This is the one rule for all backends.

    >>> tolerance(0.01), tolerance(1e-15)
    (0.01, 0.0)
    """
    return float(rtol) if rtol >= CLOSEST else 0.0


def within(delta: float, off: float, rtol: float) -> bool:
    """Return whether Delta, known to within ``off``, bounds the dimension to within the tolerance.

    All roundings on the way are allowed for.
    """
    return delta > off and ((delta + off) / (delta - off)) ** 2 - 1.0 <= rtol - ROUNDINGS


def worth_counting(n_steps: float, n_points: int) -> bool:
    """Return whether columns of this many steps are better counted than sorted.

    This is the one rule for all backends and plans.
    """
    return n_steps <= min(MOST_STEPS, COUNT_BELOW * n_points)


def may_leave_out(size: int, most: int = SMALLEST) -> int:
    """Return how many of the smallest windows hardly matter among ``size`` points, or steps if counted.

    ``most`` is how many of them hardly matter at the tolerance.
    """
    return next((some for some in (SMALL, SMALLEST) if some <= most and size > 64 * some), 0)


def negligible(step: float, rtol: float, delta: float, smallest: float) -> int:
    """Return how many of the smallest sizes may be left out at this step, judging by a sample.

    Leaving out s sizes adds s N(s + 1) / 2n steps to the error of one step (F12), which the tolerance must
    have room for.  Where the first width that a sample shows is smooth, windows hold points in proportion to
    their width; here they may hold half as many again.

    Parameters
    ----------
    step : float
        The step, a power of two.
    rtol : float
        The tolerance.
    delta, smallest : float
        Delta and Phi of a `SAMPLED` part of the points, in the sample.
    """
    if not smallest > 128 * step:
        return 0
    off = 1.0 + 0.5 * SMALL * 1.5 * SAMPLED * (SMALL + 1) * step / smallest
    return SMALL if off * step <= ENOUGH * min(rtol, 1.0) * delta else SMALLEST


def short_counters(n_points: int, n_steps: int) -> np.dtype[np.unsignedinteger[Any]]:
    """Return the type of counters to begin with.

    Short ones fit the cache better; if one overflows, the sum of all shows it.
    """
    return np.dtype(np.uint8 if n_points <= AVERAGE * n_steps else np.uint16)


def longer_counters(counters: np.dtype[Any], n_points: int) -> np.dtype[np.integer[Any]]:
    """Return the next longer type of counters; none of `LONGEST` bytes overflows."""
    return np.dtype(np.uint16) if counters.itemsize == 1 else counter_type(n_points)


def counter_type(n_points: int) -> np.dtype[np.signedinteger[Any]]:
    """Return an integer type whose counters can hold the number of points."""
    return np.dtype(np.int32 if n_points < 1 << 31 else np.int64)


def resolution(rtol: float, delta: float, magnitude: float) -> float:
    """Return the largest step, a power of two, to which values may be rounded: Delta is then off by less.

    (Delta + h)^2 / (Delta - h)^2 - 1 is about 4 h / Delta.  Returns 0 (exact) if floats cannot express the
    tolerance, or if numbers of this magnitude leave no room for steps.
    """
    wanted = ENOUGH * min(tolerance(rtol), 1.0) * delta
    if not wanted > SMALLEST_STEP or magnitude > LARGEST_VALUE:
        return 0.0
    return unless_too_fine(math.ldexp(1.0, math.floor(math.log2(wanted))), magnitude)


def unless_too_fine(step: float, magnitude: float) -> float:
    """Return the step, or 0 (exact) if differences of multiples of it need not be floats.

    Two values of at most this magnitude lie less than 2^50 steps of this size apart.
    """
    return step if step > FINEST * magnitude else 0.0


class Steps(NamedTuple):
    """The steps of some columns.

    ``first`` is the number of the step that holds the least value of each column.  ``number`` is how many
    steps the widest column has: infinite if steps are unusable, 0 if no column has any width.  ``far`` says
    whether some step number is too large for float32.
    """

    first: NDArray[np.float64]
    number: float
    far: bool


def steps_needed(least: NDArray[np.float64], greatest: NDArray[np.float64], step: float) -> Steps:
    """Return the steps of columns with these extremes."""
    if not 2.0**-100 < step < 2.0**100:  # counting multiplies by 1 / step in the column's own type
        return Steps(np.zeros(least.size), math.inf if np.any(least < greatest) else 0.0, far=True)
    with np.errstate(over="ignore", invalid="ignore"):
        first, last = np.floor(least / step), np.floor(greatest / step)
        number = float((last - first).max()) + 1.0
        far = not float(max(np.abs(first).max(), np.abs(greatest / step).max())) < 2.0**23
    return Steps(first, number if math.isfinite(number) else math.inf, far)
