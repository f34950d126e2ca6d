"""Columns solved to within two steps, whatever they are: see `geodim.engine.kernels.in_steps`.

This is what remains where every other method would look at too many windows, or for too long: it takes the
same time for all columns of a length.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from geodim.engine.kernels import in_steps
from geodim.engine.kernels.pyramid import BASE

if TYPE_CHECKING:
    from typing import Any

    from numpy.typing import NDArray

MANY = 4096  # windows for each size are looked at if need be, or
ENOUGH = 1 << 30  # this many in all, which takes about a tenth of a second, before a tolerance is sought
STEP_BITS = 24  # of a step: so few that its multiples do not round
MOST_SINGLE = 1 << 24  # counts that float32 holds, and twice as many of it are compared at once
ROUNDINGS = 2.0  # units in the last place of the range: what widths and differences from the first are off by


@dataclass(frozen=True)
class Stepped:
    """A column counted in steps; widths exceed phi by at most ``loose``."""

    counts: NDArray[np.floating[Any]]
    steps: int
    step: float
    span: float

    @classmethod
    def of(cls, l: NDArray[np.float64], n: int) -> Stepped:
        """Prepare n ascending values."""
        span = float(l[n - 1] - l[0])
        steps, step = steps_of(n), step_of(span, n)
        single = n <= MOST_SINGLE
        counts: NDArray[Any] = np.empty(steps + in_steps.SPARE, np.float32 if single else np.float64)
        in_steps.count_below(l, n, step, counts)
        return cls(counts, steps, step, span)

    @property
    def loose(self) -> float:
        """By how much widths may exceed phi."""
        return two_steps(self.span, self.step)

    def solve(
        self, l: NDArray[np.float64], n: int, first: int, stop: int, known: NDArray[np.float64], skip: bool,
        phi: NDArray[np.float64], work: NDArray[np.int64],
    ) -> tuple[NDArray[np.int64], int]:  # fmt: skip
        """Solve the sizes d in [first, stop); return the ranges that were filled, and their number."""
        ranges = np.empty((2 * BASE + 1, 2), np.int64)
        off = ROUNDINGS * math.ulp(self.span)
        count = in_steps.solve_in_steps(
            l, n, self.counts, self.steps, self.step, off, self.span, first, stop, known, skip, phi, ranges,
            work,
        )  # fmt: skip
        return ranges, count


def affordable(n: int) -> float:
    """Return how many windows are looked at for each size of n points before a tolerance is sought."""
    return max(MANY, ENOUGH / n)


def steps_of(n: int) -> int:
    """Return in how many steps n values are counted: with half as many windows as are affordable."""
    return math.isqrt(int(affordable(n) * n))


def step_of(span: float, n: int) -> float:
    """Return the step for values of this range: so many steps are hardly more than it."""
    mantissa, exponent = math.frexp(span / steps_of(n))
    return math.ldexp(math.ceil(math.ldexp(mantissa, STEP_BITS)) + 1, exponent - STEP_BITS)


def two_steps(span: float, step: float) -> float:
    """Return by how much widths exceed phi at most: two steps and roundings."""
    return 2.0 * step + 2.0 * ROUNDINGS * math.ulp(span)


def coarsest(span: float, n: int) -> float:
    """Return by how much widths of n values of this range exceed phi at most, within a tolerance."""
    return two_steps(span, step_of(span, n))


def coarsest_share(n: int) -> float:
    """Return the same as a share of the range, for any range: what is added is less than 2**-20 of it."""
    return 2.0 * (1.0 + 2.0**-20) / steps_of(n)
