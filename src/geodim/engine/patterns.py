"""Columns that repeat, and the choice of a way for columns whose windows are all alike."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from geodim.engine.alike import Bent, Straight
from geodim.engine.kernels import patterns
from geodim.engine.kernels.counters import WINDOWS
from geodim.engine.kernels.pyramid import BASE

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from geodim.engine.alike import Alike

LONGEST = 32.0  # times the root of n: the longest period, whose square is the work that it takes
PERIOD_LOOKS = 16  # for each value, while a period is sought


@dataclass(frozen=True)
class Periodic:
    """One that repeats exactly, see `geodim.engine.kernels.patterns.narrowest_of_period`."""

    period: int
    base: NDArray[np.float64]
    tail: NDArray[np.float64]

    @classmethod
    def of(cls, l: NDArray[np.float64], n: int) -> Periodic | None:
        """Of n ascending values whose differences are exact, then infinite; None if they do not repeat."""
        most = min(int(LONGEST * math.sqrt(n)), n // 4)
        period = patterns.exact_period(l, n, most, PERIOD_LOOKS * n)
        if period == 0:
            return None
        base, tail = np.empty(period + BASE), np.empty(period + BASE)
        patterns.narrowest_of_period(l, n, period, base, tail)
        return cls(period, base, tail)

    def solve(
        self, l: NDArray[np.float64], n: int, first: int, stop: int, known: NDArray[np.float64], skip: bool,
        phi: NDArray[np.float64], work: NDArray[np.int64],
    ) -> tuple[NDArray[np.int64], int]:  # fmt: skip
        """Solve the sizes d in [first, stop): the ranges of them that were filled, and how many ranges."""
        patterns.fill_by_period(l, n, self.period, self.base, self.tail, first, stop, phi)
        work[WINDOWS] += stop - first
        return np.array([[first, stop]], np.int64), 1


def line_or_pattern(l: NDArray[np.float64], n: int, exact: bool) -> Alike:
    """The way for a column that stays close to a line; ``exact`` says whether its differences are."""
    return (Periodic.of(l, n) if exact else None) or Straight.of(l, n)


def pattern_or_bent(l: NDArray[np.float64], n: int, exact: bool) -> Alike:
    """The way for any other whose windows are all alike."""
    return (Periodic.of(l, n) if exact else None) or Bent.of(l, n)
