"""Columns whose windows are so much alike that the exact search would look at nearly all of them.

Lines that were rounded twice in float32, or the merged times of two clocks, have no short pattern, and no
method can be expected to find all of their narrowest windows in near-linear time: the problem contains
(min, +) convolutions.  But blocks of windows are left out by lower bounds, and if a block may be left out as
soon as none of its windows is narrower than the best by more than a tolerance, few blocks remain once the
tolerance exceeds what bounds of blocks are off by: a rounding, or a spacing (F32 in docs/mathematics.md).

Whether a column is treated in this way, and with which tolerance, depends on the column alone, and so does
every width: sizes are solved by gaps that begin at the same places, whichever of them others left open.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from geodim.engine.alike import Bent, Straight
from geodim.engine.hard import COARSEST_BITS, looks_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from geodim.engine.alike import Alike

FINEST_BITS = 46  # the least tolerance, as a power of two of the range;
USUAL_BITS = 16  # nearly always, one no larger than this suffices, and COARSEST_BITS is the largest
SOME = 2  # of the extremes that are tried first: one in so many suffices
MANY = 4096  # windows for each size are looked at if need be, and half as many if that will do,
ENOUGH = 1 << 30  # and this many in all, which takes about a tenth of a second


@dataclass(frozen=True)
class Tolerant:
    """An alike column, solved to within ``loose``."""

    way: Straight | Bent
    top: int
    loose: float

    @classmethod
    def of(
        cls, l: NDArray[np.float64], n: int, found: Alike, top: int, near: float, bent: Callable[[], Bent],
        looks: float | None = None,
    ) -> Tolerant | None:  # fmt: skip
        """Prepare n ascending values if the method ``found`` is too expensive; None if it is not.

        The sizes of a gap are 2**top; ``near`` is what widths may be off by, with which the column was
        compared with others; ``bent`` prepares the column as `Bent`; ``looks`` is what `looks_of` returned
        for this method, if it was asked.
        """
        span = float(l[n - 1] - l[0])
        if not may_be_tolerant(l, n, near):
            return None
        if (looks_of(l, n, found, affordable(n)) if looks is None else looks) <= affordable(n):
            return None
        way = found if isinstance(found, Straight | Bent) else bent()
        way = replace(way, starts=way.starts[::SOME], ends=way.ends[::SOME])

        def suffices(bits: int, most: float) -> bool:
            return looks_of(l, n, replace(way, loose=math.ldexp(span, -bits)), most) <= most

        tries: list[tuple[int, int, float]] = [
            (USUAL_BITS, FINEST_BITS, MANY / 2),
            (USUAL_BITS, FINEST_BITS, MANY),
            (COARSEST_BITS, USUAL_BITS, MANY),
        ]
        within = next((one for one in tries if suffices(one[0], one[2])), None)
        if within is None:
            return None
        coarse, fine, most = within
        while fine - coarse > 1:
            middle = (coarse + fine) // 2
            coarse, fine = (middle, fine) if suffices(middle, most) else (coarse, middle)
        tolerance = math.ldexp(span, -coarse)
        return cls(replace(way, loose=tolerance), top, tolerance + 2.0 * math.ulp(span))

    def solve(
        self, l: NDArray[np.float64], n: int, first: int, stop: int, known: NDArray[np.float64], skip: bool,
        phi: NDArray[np.float64], work: NDArray[np.int64],
    ) -> tuple[NDArray[np.int64], int]:  # fmt: skip
        """Solve the sizes d in [first, stop); return the ranges that were filled, and their number.

        What is tried for the sizes of one gap depends on where it begins, so gaps are solved one by one.
        """
        found = []
        for gap in range(first >> self.top, ((stop - 1) >> self.top) + 1):
            begin, end = max(gap << self.top, first), min((gap + 1) << self.top, stop)
            ranges, count = self.way.solve(l, n, begin, end, known, skip, phi, work)
            found.append(ranges[:count])
        together = np.concatenate(found)
        return together, len(together)


def may_be_tolerant(l: NDArray[np.float64], n: int, near: float) -> bool:
    """Return whether ``near`` is what widths of such columns may be off by."""
    span = float(l[n - 1] - l[0])
    return near >= math.ldexp(span, -COARSEST_BITS) + 2.0 * math.ulp(span)


def affordable(n: int) -> float:
    """Return how many windows are looked at for each size of n points before a tolerance is sought."""
    return max(MANY, ENOUGH / n)
