"""Columns whose windows are so much alike that the exact search would look at nearly all of them.

Lines that were rounded twice in float32, or the merged times of two clocks, have no short pattern, and no
method can be expected to find all of their narrowest windows in near-linear time: the problem contains
(min, +) convolutions.  But blocks of windows are left out by lower bounds, and if a block may be left out as
soon as none of its windows is narrower than the best by more than a tolerance, few blocks remain once the
tolerance exceeds what bounds of blocks are off by: a rounding, or a spacing (F32 in docs/mathematics.md).
Where no tolerance finer than two steps helps enough, values are counted in steps.

Whether a column is treated in this way, and how, depends on the column alone, and so does every width.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from geodim.engine.hard import looks_of
from geodim.engine.nested import Nested
from geodim.engine.stepped import Stepped, affordable, coarsest

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    from numpy.typing import NDArray

    from geodim.engine.alike import Bent, Lines, Straight


FINEST_BITS = 46  # tolerances are larger than this power of two of the range


def within_tolerance(
    l: NDArray[np.float64], n: int, found: Straight | Lines | Bent, near: float, looks: float | None = None
) -> Nested | Stepped | None:
    """Prepare n ascending values if the method ``found`` is too expensive; return None if it is not.

    ``near`` is what widths may be off by, with which the column was compared with others; ``looks`` is what
    `looks_of` returned for this method, if it was asked.
    """
    if not may_be_tolerant(l, n, near):
        return None
    if (looks_of(l, n, found, affordable(n)) if looks is None else looks) <= affordable(n):
        return None
    in_steps = Stepped.of(l, n)
    return _nested(l, n, in_steps.loose) or in_steps


def may_be_tolerant(l: NDArray[np.float64], n: int, near: float) -> bool:
    """Return whether ``near`` is what widths of such columns may be off by."""
    return near >= coarsest(float(l[n - 1] - l[0]), n)


def _nested(l: NDArray[np.float64], n: int, most: float) -> Nested | None:
    """Prepare a column for the recursion over gaps; None if widths would be off by ``most`` or more."""
    span = float(l[n - 1] - l[0])
    way = Nested.of(l, n, 0.0)

    def suffices(bits: int) -> bool:
        tried = way.within(math.ldexp(span, -bits))
        return tried.loose < most and tried.may_be_solved and tried.looks(l, n, affordable(n) / 2) < math.inf

    bits = finest(suffices, math.frexp(span / most)[1], FINEST_BITS)
    return way.within(math.ldexp(span, -bits)) if bits else None


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
