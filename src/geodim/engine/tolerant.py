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

from geodim.engine.alike import Bent, Lines, Straight
from geodim.engine.hard import COARSEST_BITS, looks_of
from geodim.engine.nested import Nested

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray


FINEST_BITS = 46  # tolerances are larger than this power of two of the range, COARSEST_BITS at most
SOME = 2  # of the extremes that are tried first: one in so many suffices
MANY = 4096  # windows for each size are looked at if need be, or
ENOUGH = 1 << 30  # this many in all, which takes about a tenth of a second; half of that within a tolerance


@dataclass(frozen=True)
class Tolerant:
    """An alike column, solved to within ``loose``."""

    way: Nested | Straight | Bent
    top: int
    loose: float

    @classmethod
    def of(
        cls, l: NDArray[np.float64], n: int, found: Straight | Lines | Bent, top: int, near: float,
        bent: Callable[[], Bent], looks: float | None = None,
    ) -> Tolerant | None:  # fmt: skip
        """Prepare n ascending values if the method ``found`` is too expensive; None if it is not.

        The sizes of a gap are 2**top; ``near`` is what widths may be off by, with which the column was
        compared with others; ``bent`` prepares the column as `Bent`; ``looks`` is what `looks_of` returned
        for this method, if it was asked.
        """
        if not may_be_tolerant(l, n, near):
            return None
        if (looks_of(l, n, found, affordable(n)) if looks is None else looks) <= affordable(n):
            return None
        return _nested(l, n, top) or _around_lines(l, n, found, top, bent)

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


def _nested(l: NDArray[np.float64], n: int, top: int) -> Tolerant | None:
    """Solve a column by the recursion over gaps; None if no tolerance suffices, or they are all roundings."""
    way, span = Nested.of(l, n), float(l[n - 1] - l[0])

    def suffices(bits: int) -> bool:
        loose = math.ldexp(span, -bits)
        return loose >= way.finest and replace(way, loose=loose).looks(l, n, affordable(n) / 2) < math.inf

    bits = finest(suffices, COARSEST_BITS, FINEST_BITS)
    if bits == 0:
        return None
    loose = math.ldexp(span, -bits)
    return Tolerant(replace(way, loose=loose), top, loose + 2.0 * math.ulp(span))


def finest(suffices: Callable[[int], bool], coarse: int, fine: int) -> int:
    """Return the greatest number below ``fine`` that suffices, and all before it; 0 if not even ``coarse``.

    It is approached from below, where trials take least: those that fail take as long as they may.
    """
    if not suffices(coarse):
        return 0
    step = 1
    while coarse + step < fine and suffices(coarse + step):
        coarse, step = coarse + step, 2 * step
    fine = min(fine, coarse + step)
    while fine - coarse > 1:
        middle = (coarse + fine) // 2
        coarse, fine = (middle, fine) if suffices(middle) else (coarse, middle)
    return coarse


def _around_lines(
    l: NDArray[np.float64], n: int, found: Straight | Lines | Bent, top: int, bent: Callable[[], Bent]
) -> Tolerant | None:
    """Solve a column far from zero, where lines must begin at the values themselves; None if that is dear."""
    span = float(l[n - 1] - l[0])
    way = found if isinstance(found, Straight | Bent) else bent()
    way = replace(way, starts=way.starts[::SOME], ends=way.ends[::SOME])
    most = affordable(n) / 2

    def suffices(bits: int) -> bool:
        return looks_of(l, n, replace(way, loose=math.ldexp(span, -bits)), most) <= most

    bits = finest(suffices, COARSEST_BITS, FINEST_BITS)
    if bits == 0:
        return None
    tolerance = math.ldexp(span, -bits)
    return Tolerant(replace(way, loose=tolerance), top, tolerance + 2.0 * math.ulp(span))


def may_be_tolerant(l: NDArray[np.float64], n: int, near: float) -> bool:
    """Return whether ``near`` is what widths of such columns may be off by."""
    span = float(l[n - 1] - l[0])
    return near >= math.ldexp(span, -COARSEST_BITS) + 2.0 * math.ulp(span)


def affordable(n: int) -> float:
    """Return how many windows are looked at for each size of n points before a tolerance is sought."""
    return max(MANY, ENOUGH / n)
