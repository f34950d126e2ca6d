"""Columns that the recursion over gaps solves within a tolerance, see `geodim.engine.kernels.loose_gaps`."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from geodim.engine.kernels import loose_gaps, pyramid
from geodim.engine.kernels.counters import N_COUNTERS, TEST_LOOKS, TESTS, WINDOWS
from geodim.engine.kernels.pyramid import BASE
from geodim.engine.layout import PyramidLayout
from geodim.engine.rounding import SLACK_BITS

if TYPE_CHECKING:
    from numpy.typing import NDArray

GAPS_TRIED = 3  # of 33 to 64: what they take is typical
SLACKS = 4.0  # of bounds: more than what roundings add to a tolerance


@dataclass(frozen=True)
class Nested:
    """A column prepared for the recursion within a tolerance."""

    layout: PyramidLayout
    records: NDArray[np.float64]
    slack: float
    span: float
    tolerance: float  # roundings of bounds included

    @classmethod
    def of(cls, l: NDArray[np.float64], n: int, tolerance: float) -> Nested:
        """Prepare n ascending values."""
        layout, span = PyramidLayout.of(n), float(l[n - 1] - l[0])
        slack = math.ldexp(max(abs(float(l[0])), abs(float(l[n - 1]))), -SLACK_BITS)
        records = np.empty((pyramid.RECORD, layout.total))
        pyramid.build_base(l, n, records, layout.counts[0], 0.0, span)
        pyramid.build_parents(l, n, records, layout.offsets, layout.counts, 0.0, span)
        return cls(layout, records, slack, span, tolerance)

    def within(self, tolerance: float) -> Nested:
        """Return the same column within another tolerance."""
        return replace(self, tolerance=tolerance)

    @property
    def loose(self) -> float:
        """By how much widths may exceed phi: each of the two is rounded."""
        return self.tolerance + 2.0 * math.ulp(self.span)

    @property
    def may_be_solved(self) -> bool:
        """Whether the tolerance is mostly no rounding of bounds."""
        return self.tolerance >= 2.0 * SLACKS * self.slack

    def solve(
        self, l: NDArray[np.float64], n: int, first: int, stop: int, known: NDArray[np.float64], skip: bool,
        phi: NDArray[np.float64], work: NDArray[np.int64],
    ) -> tuple[NDArray[np.int64], int]:  # fmt: skip
        """Solve the sizes d in [first, stop), all of some gaps of the top level.

        What is tried for the sizes of a gap depends on where it begins, so these are solved one by one.
        """
        ranges = np.empty(((stop - first) // BASE + BASE, 2), np.int64)
        gaps = first >> self.layout.top_shift, ((stop - 1) >> self.layout.top_shift) + 1
        return ranges, self._solve(l, n, gaps, known, skip, 1 << 62, phi, ranges, work)

    def looks(self, l: NDArray[np.float64], n: int, most: float) -> float:
        """Return how many looks it takes for each size, at some gaps all over the column; at most ``most``.

        If it takes more, infinity is returned.
        """
        nothing, phi, work = np.zeros(n), np.empty(n), np.zeros(N_COUNTERS, np.int64)
        every, size = int(self.layout.counts[-1]), 1 << self.layout.top_shift
        ranges = np.empty((size // BASE + BASE, 2), np.int64)
        gaps = np.unique(((np.arange(GAPS_TRIED) + 0.5) * every / GAPS_TRIED).astype(int)).tolist()
        allowed = int(most * size * len(gaps))
        for gap in gaps:
            left = allowed - _looks(work)
            if self._solve(l, n, (gap, gap + 1), nothing, False, left, phi, ranges, work) < 0:
                return math.inf
        return _looks(work) / (size * len(gaps))

    def _solve(
        self, l: NDArray[np.float64], n: int, gaps: tuple[int, int], known: NDArray[np.float64], skip: bool,
        most: int, phi: NDArray[np.float64], ranges: NDArray[np.int64], work: NDArray[np.int64],
    ) -> int:  # fmt: skip
        total = self.layout.total
        found: int = loose_gaps.solve_loosely(
            l, n, self.records, self.layout.offsets, self.layout.counts, self.slack,
            self.tolerance - SLACKS * self.slack, self.span, *gaps, known, skip, most, phi, ranges,
            np.empty(total // pyramid.GROUP, np.int64), np.empty(total), work,
        )  # fmt: skip
        return found


def _looks(work: NDArray[np.int64]) -> int:
    return int(work[WINDOWS] + TEST_LOOKS * work[TESTS])
