"""Coarse profiles: for every column, how many points the best interval of some widths holds.

They come from one pass without sorting.  The values of a column are counted in equal bins.  If w neighbouring
bins of width b hold N points, then phi_k <= w b for every k <= N; the largest such N for a ladder of w is all
that is kept, about 1.6 kB per column however many points there are.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from geodim.explain.passes import NO_COUNTS

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from geodim.data.checks import Ranges
    from geodim.explain.passes import Column, ColumnPass, Slot

BINS = 4096
FINE = 64  # widths up to this many bins are all on the ladder,
RATIO = 1.0125  # wider ones grow by this factor
SMALLEST_SPAN = 1e-290  # narrower columns are not counted: a bin could vanish


def ladder_of(bins: int) -> NDArray[np.int64]:
    """Return numbers of neighbouring bins: 1, 2, ..., then growing by a factor, up to all of them."""
    rungs = list(range(1, min(FINE, bins) + 1))
    while rungs[-1] < bins:
        rungs.append(min(math.ceil(rungs[-1] * RATIO), bins))
    return np.array(rungs, np.int64)


class CoarseProfiles:
    """Upper bounds on phi of every column, cheap to make and to compare with a profile.

    Where widths of hard columns may exceed phi, the bounds are raised by the most that they may.

    Parameters
    ----------
    columns : ColumnPass
        How columns are read.
    ranges : Ranges
        Their ranges.
    progress : callable, optional
        Called with (columns done, columns).
    """

    def __init__(
        self, columns: ColumnPass, ranges: Ranges, progress: Callable[[int, int], None] | None = None
    ) -> None:
        from geodim.explain._kernels import count_values, reach_of  # noqa: PLC0415 - imports Numba

        source = columns.source
        kind = np.int32 if source.n_points < 2**31 else np.int64
        self.n_points = source.n_points
        self.spans = ranges.widths
        self.ladder = ladder_of(BINS)
        self.reach = np.zeros((source.n_features, self.ladder.size), kind)
        self.runs = np.zeros(source.n_features, np.int64)  # points with the most frequent value, where known
        # 2**-36 is more than all roundings on the way from a value to its bin.
        self.widths = self.spans / BINS * (1.0 + 2.0**-36)
        self.margins = _margins(source.n_points, ranges) if columns.relaxed else np.zeros(source.n_features)

        def visit(_slot: Slot, column: Column) -> None:
            at = column.index
            span = float(self.spans[at])
            if column.counts is not None:
                self.runs[at] = column.counts.max()
            if span > SMALLEST_SPAN:
                cumulative = np.empty(BINS + 1, kind)
                counts = NO_COUNTS if column.counts is None else column.counts
                count_values(column.values, counts, float(ranges.least[at]), BINS / span, cumulative)
                reach_of(cumulative, self.ladder, self.reach[at])

        columns.run(range(source.n_features), visit, progress=progress)

    def total(self, column: int) -> float:
        """Return an upper bound on the sum of a column's phi over all k."""
        from geodim.explain._kernels import coarse_sum  # noqa: PLC0415

        skip = max(int(self.runs[column]) - 1, 0)  # phi is 0 for all smaller k
        reach = self.reach[column] - skip if skip else self.reach[column]
        width, span = float(self.widths[column]), float(self.spans[column])
        total = float(coarse_sum(reach, self.ladder, width, span, self.n_points - skip))
        return (total + float(self.margins[column]) * self.n_points) * (1.0 + 1e-9)

    def may_attain(self, column: int, phi: NDArray[np.float64], following: NDArray[np.int64]) -> bool:
        """Return whether a column may attain ``phi`` at one of the sizes in question.

        ``following[d]`` is the next such size from d on.
        """
        from geodim.explain._kernels import reaches  # noqa: PLC0415

        margin = float(self.margins[column])
        width, span = float(self.widths[column]), float(self.spans[column])
        bar = phi - margin if margin > 0.0 else phi
        return bool(reaches(self.reach[column], self.ladder, width, span, bar, following))


def _margins(n_points: int, ranges: Ranges) -> NDArray[np.float64]:
    """Return the most by which widths of each column may exceed its phi if it is hard."""
    from geodim.engine.hard import MOST_POINTS, largest_margins  # noqa: PLC0415 - imports Numba

    # Longer columns may become shorter before they are solved, without outliers or most of their ties.
    of_range, of_largest = largest_margins(min(n_points, MOST_POINTS - 1))
    largest = np.maximum(np.abs(ranges.least), np.abs(ranges.greatest))
    margins: NDArray[np.float64] = np.maximum(of_range * ranges.widths, of_largest * largest)
    return margins
