"""Hard columns: lines and patterns up to roundings, for which every window would have to be examined.

No method can be expected to find all narrowest windows of every column in near-linear time: the problem
contains (min, +) convolutions.  If a column consists of lines or of repeating patterns, up to roundings that
follow no rule (lines that were rounded twice), these roundings decide which window is narrowest.  But then
the windows of a phase are alike, and a few of them give phi to within these roundings (F26 in
docs/mathematics.md).

Whether a column is hard depends on the column alone: it stays close to a line or seems to consist of segments
(`margin`), the exact method is expensive at the sizes that are tried (`is_dear`), and the roundings are no
larger than that margin (`relaxed`).  The widths depend on the column alone, too; they never fall, and exceed
phi by at most ``loose``.  A column is rejected only if it lies below others by the margin.  So the bits do
not depend on the order, the threads or the blocks.
"""

from __future__ import annotations

import math
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from geodim.engine.alike import Straight
from geodim.engine.kernels import even_parts, glances, lines
from geodim.engine.kernels.counters import N_COUNTERS, TESTS, WINDOWS
from geodim.engine.kernels.pyramid import BASE
from geodim.engine.places import spread_places
from geodim.engine.segments import Segmented, may_be_segments
from geodim.engine.skeleton import is_noise, jumps_of, widest_between
from geodim.engine.stepped import coarsest, coarsest_share
from geodim.engine.ways import COARSE_FROM

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from geodim.engine.alike import Bent, Lines

HARD_FROM = 1 << 14  # points; shorter columns are solved exactly soon enough
NEAR_BITS = 46  # widths are off by 2^-46 of the largest value, or as in `geodim.engine.tolerant`, or exact
ROUNDING_BITS = 48  # and steps of a period by 2^-48 of it
CERTAIN_BITS = 42  # the mean width is known to 2^-42 of itself, so the dimension to 10^-12
LARGEST, SMALLEST = 2.0**900, 2.0**-900  # where no sum overflows, and roundings are those of normal numbers
GRID_SPREAD = 24.0  # spacings: closer to a line than this
LESS_THAN_RANDOM = 0.25  # times the root of the number of values: random ones depart more from any line
EVEN_PARTS, IN_PART = 16, 16  # of the column, and steps in each of them, in which values may follow a line
NEARBY, WINDOWS_SEEN, EVEN_WINDOWS = 32, 64, 16  # or so many of so many windows of 32 steps are even,
LESS_NEARBY = 0.5  # that is, depart from a line by less than this times the root: one of 64 random ones does;
APART = 1, 64, 1024  # windows of next neighbours, or of as many steps of so many values
MOST_POINTS = 1 << 26  # positions times half a float are exact
MOSTLY = 0.9  # of all values
PROBES = 8  # gaps at which the exact way is tried
DEAR = 700  # windows for each size: what takes about ten times as long as normal data,
FAR_TOO_DEAR = 32 * DEAR  # and what is hardly better than to look at all of them


def is_straight(l: NDArray[np.float64], n: int) -> bool:
    """Return whether the values stay close to a line; exact grids need no such care, and have no spread."""
    return 0.0 < float(lines.spread_around_line(l, n)) < GRID_SPREAD


def is_straight_but_for_jumps(l: NDArray[np.float64], n: int) -> bool:
    """Return whether the values between jumps stay close to lines of one slope, up to more than roundings."""
    jumps = jumps_of(l, n)
    if jumps.size == 0 or n >= MOST_POINTS:
        return False
    first, stop = widest_between(jumps, n)
    if not is_noise(l, n, first, stop):
        return False
    slope = lines.fitted_slope(l, first, stop - first)
    edges = [0, *jumps.tolist(), n]
    near = sum(
        last - at
        for at, last in pairwise(edges)
        if float(np.ptp(l[at:last:BASE] - slope * np.arange(at, last, BASE))) < GRID_SPREAD * slope
    )
    return bool(near > MOSTLY * n)


def has_even_part(l: NDArray[np.float64], n: int) -> bool:
    """Return whether some part of the column stays close to a line: otherwise windows are hardly alike."""
    return _even_parts(l, spread_places(n, EVEN_PARTS * IN_PART + 1), n)


def _even_parts(l: NDArray[np.float64], places: NDArray[np.intp], n: int) -> bool:
    few = min(GRID_SPREAD, LESS_THAN_RANDOM * math.sqrt(n / EVEN_PARTS))
    return bool(glances.has_even_part(l, places, EVEN_PARTS, few, EVEN_PARTS / n))


@lru_cache(16)
def nearby_places(n: int, apart: int) -> NDArray[np.intp]:
    """Return the places of windows of neighbours, or of values so far ``apart``; none if n is too small."""
    count = -(-n // apart)
    if count <= 2 * NEARBY:
        return np.empty(0, np.intp)
    places = spread_places(count - NEARBY, WINDOWS_SEEN)[:, np.newaxis] + np.arange(NEARBY + 1)
    return apart * places.ravel()


def is_even_nearby(l: NDArray[np.float64], n: int) -> bool:
    """Return whether neighbours stay closer to lines than random ones would: a grid that bends, or waves.

    Its windows are alike although no large part of it is even.  Where waves are steep, values of several
    crests lie side by side as if at random, but those that are farther `APART` are even.
    """
    return any(_even_windows(l[nearby_places(n, apart)], apart) for apart in APART)


def _even_windows(values: NDArray[np.float64], apart: int) -> bool:
    spread = LESS_NEARBY * math.sqrt(NEARBY / apart)  # in so many gaps
    places = np.arange(0, values.size, NEARBY + 1)
    return bool(glances.even_windows(values, places, NEARBY, spread) >= EVEN_WINDOWS)


def places_to_look(n: int) -> NDArray[np.intp]:
    """Return the places of a column of n values that `looks_even` needs."""
    nearby = [nearby_places(n, apart) for apart in APART]
    return np.concatenate([*nearby, spread_places(n, EVEN_PARTS * IN_PART + 1)])


def looks_even(values: NDArray[np.float64], n: int) -> bool:
    """Return whether a column may be straight or even anywhere, from its values at `places_to_look`."""
    *nearby, some = np.split(values, np.cumsum([nearby_places(n, apart).size for apart in APART]))
    steps = np.arange(EVEN_PARTS * IN_PART + 1)
    line = np.linspace(some[0], some[-1], steps.size)  # values may be twice as far from it as from the best
    straight = np.ptp(some - line) < 2.0 * GRID_SPREAD * (some[-1] - some[0]) / n
    return bool(straight) or _even_parts(some, steps, n) or any(map(_even_windows, nearby, APART))


def may_repeat(l: NDArray[np.float64], n: int) -> bool:
    """Return whether a column may consist of segments, see `relaxed`."""
    return may_be_segments(l, n, math.ldexp(_magnitude(l, n), -ROUNDING_BITS))


def margin(l: NDArray[np.float64], n: int, cells: int = 0) -> float:
    """Return how far widths may be off if this column is hard; 0 if it is not, whatever others reached.

    If ``cells`` is not 0, counts in about so many cells decide which columns are dropped unsorted.  Then a
    column is hard only if such counts show it, and `largest_margins` bound what is returned.
    """
    magnitude = _magnitude(l, n)
    if not (HARD_FROM <= n < MOST_POINTS and SMALLEST < magnitude < LARGEST):
        return 0.0
    roundings = math.ldexp(magnitude, -NEAR_BITS)
    straight = is_straight(l, n)
    if straight or (n >= COARSE_FROM and (has_even_part(l, n) or is_even_nearby(l, n))):
        found = max(roundings, coarsest(float(l[n - 1] - l[0]), n))
    else:
        found = roundings if may_repeat(l, n) else 0.0
    if found == 0.0 or straight or cells == 0 or even_parts.even_in_values(l, n, cells):
        return found
    return 0.0


def largest_margins(n: int) -> tuple[float, float]:
    """Return what `margin` is at most for n values, as shares of their range and of the largest of them.

    At sizes below BASE the second one suffices, since these are solved to within roundings.
    """
    if not HARD_FROM <= n < MOST_POINTS:
        return 0.0, 0.0
    return coarsest_share(n), math.ldexp(1.0 + 2.0**-30, -NEAR_BITS)


def _magnitude(l: NDArray[np.float64], n: int) -> float:
    return max(abs(float(l[0])), abs(float(l[n - 1])))


def is_dear(l: NDArray[np.float64], n: int, way: Straight | Lines | Bent) -> bool:
    """Return whether the exact method examines too many windows, tried at some sizes all over the column."""
    return looks_if_dear(l, n, way) > 0.0


def looks_if_dear(l: NDArray[np.float64], n: int, way: Straight | Lines | Bent, most: float = 0.0) -> float:
    """Return how many windows the method examines for each size if these are too many, otherwise 0.

    More than ``most``, and than what no method improves much on, are not counted.  If the method may be used,
    it is tried at all sizes: it learns from them how much to try.
    """
    looks = looks_of(l, n, way, max(most, FAR_TOO_DEAR))
    return looks if looks > DEAR else 0.0


def looks_of(
    l: NDArray[np.float64],
    n: int,
    way: Straight | Lines | Bent,
    most: float = math.inf,
    *,
    smallest: bool = True,
) -> float:
    """Return how many windows a method examines for each size, or the time of so many, at some sizes.

    These are all over the column, with the ``smallest`` or without; if there are more windows than ``most``,
    any number above it may be returned.
    """
    nothing, phi, work = np.zeros(n), np.empty(n), np.zeros(N_COUNTERS, np.int64)
    gaps = np.unique(np.linspace(1, (n - 1) // BASE, PROBES + 1)[:-1].astype(int))
    gaps = gaps if smallest else gaps[1:]
    for_pairs = way.looks_for_pairs if isinstance(way, Straight) else 0.0
    if for_pairs > most:
        return for_pairs
    looks = 0.0
    for gap in gaps.tolist():
        way.solve(l, n, gap * BASE, gap * BASE + BASE, nothing, False, phi, work)
        looks = int(work[WINDOWS] + way.test_looks * work[TESTS]) / (BASE * gaps.size) + for_pairs
        if looks > most:
            break
    return looks


def relaxed(l: NDArray[np.float64], n: int) -> Segmented | None:
    """Return the solution of a hard column, or None if more than roundings distinguishes its windows."""
    magnitude = _magnitude(l, n)
    found = Segmented.of(l, n, math.ldexp(magnitude, -ROUNDING_BITS))
    if found is None:
        return None
    most = min(math.ldexp(magnitude, -NEAR_BITS), math.ldexp(float(found.widths[1:].mean()), -CERTAIN_BITS))
    return found if found.loose <= most else None
