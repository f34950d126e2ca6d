"""A proof, without sorting, that a column attains Phi nowhere.

Counts in a few thousand cells give N(w), the largest number of points in w neighbouring cells; then phi_k is
less than w times the size of a cell for every k <= N(w).  Where cells are too coarse, at the smallest k, only
the values of the densest cells, or of those that probably hold most ties, are sorted: their windows are
windows of the column.  If all these upper bounds lie below what other columns reached, the column is dropped.
See `geodim.engine.kernels.dominated`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from geodim.engine.profile import Profile

FROM = 1 << 13  # points; a shorter single column is sorted faster than counted
MOST_CELLS = 1 << 15  # counters that still fit the cache
SORT_ALL_UP_TO = 1 << 17  # of longer columns at most an eighth is sorted: the solver has better sorts
GIVE_UP_AFTER, OF_LONG_ONES = 128, 32  # columns tested, short and long ones, after which
WORTH = 3  # at least every third must have been dropped for tests to go on
LOOK_EVERY = 8  # columns between updates of the bar, which read the whole profile


def cells_for(n_points: int) -> int:
    """Return about how many cells the values of a column are counted in."""
    return int(np.clip(1 << max(n_points.bit_length() - 2, 0), 64, MOST_CELLS))


class Dominance:
    """Tests columns for one thread: its scratch memory, and the bar that columns are compared with.

    Parameters
    ----------
    n_points : int
        Length of the columns.
    relaxed : bool
        Whether widths of hard columns may exceed phi: then columns that may be hard are dropped only if they
        lie below others by as much.
    """

    def __init__(self, n_points: int, *, relaxed: bool = False) -> None:
        from geodim.engine.hard import largest_margins  # noqa: PLC0415 - imports Numba
        from geodim.engine.kernels.dominated import dominated_columns  # noqa: PLC0415
        from geodim.engine.kernels.tiles import PADDING  # noqa: PLC0415

        self._find = dominated_columns
        self.n = n_points
        self.cells = cells_for(n_points)
        self._margins = largest_margins(n_points) if relaxed else (0.0, 0.0)
        long = n_points > SORT_ALL_UP_TO
        most = n_points // 8 if long else n_points
        self._give_up_after = OF_LONG_ONES if long else GIVE_UP_AFTER
        self._before = np.empty(self.cells + 3, np.int32)
        self._gathered, self._ordered = np.empty(most), np.empty(most + PADDING)
        self._starts = np.empty(2 * most + 3, np.int32)
        self._bar = np.zeros(n_points)
        self._by = np.full(n_points, -1, np.int32)
        self.tested = self.dropped = 0
        self._to_come = 0  # columns until the bar is updated again

    def look(self, profile: Profile, count: int) -> None:
        """Update the bar to what was reached so far, unless it is recent; ``count`` columns follow."""
        if self._to_come <= 0:
            profile.reached(self._bar, self._by)
            self._to_come = LOOK_EVERY
        self._to_come -= count

    def rise(self, bar: NDArray[np.float64]) -> None:
        """Use a bar from elsewhere, which never falls; which columns reached it is unknown."""
        self._bar, self._by = bar, np.empty(0, np.int32)

    def test(
        self,
        values: NDArray[np.floating],
        columns: Sequence[int],
        known: NDArray[np.float64] | None = None,
    ) -> tuple[NDArray[np.bool_], NDArray[np.float64]]:
        """Return which of some columns are dominated, and the extremes of all of them.

        Parameters
        ----------
        values : array of shape (len(columns), n_points)
            float32 or float64, one column per row.
        columns : sequence of int
            Their numbers: a column that only ties with lower columns is dominated.
        known : array of float64, shape (len(columns), 2), optional
            Their extremes, if a first pass found them: no column that has others is dominated.

        Returns
        -------
        dominated : array of bool, shape (len(columns),)
            True only if, at every d, phi is proved to lie strictly below the bar, to tie with a lower
            column, or to be 0.
        ends : array of float64, shape (len(columns), 2)
            Least and greatest value of each column, as known or as found.
        """
        dominated = np.zeros(len(columns), np.bool_)
        ends = np.empty((len(columns), 2)) if known is None else known
        worth = self.tested < self._give_up_after or WORTH * self.dropped >= self.tested
        self._find(
            values, np.asarray(columns, np.int64), self._bar, self._by, worth, *self._margins, self.cells,
            self._before, self._gathered, self._ordered, self._starts, known is not None, ends, dominated,
        )  # fmt: skip
        if worth and self._bar[-1] > 0.0:
            self.tested += len(columns)
            self.dropped += int(dominated.sum())
        return dominated, ends


def is_dominated(
    column: NDArray[np.floating],
    least: float,
    greatest: float,
    bar: NDArray[np.float64],
    *,
    relaxed: bool = False,
) -> bool:
    """Return whether phi of the column lies strictly below ``bar``, or is 0, for all d = k - 1.

    Returns False if that is not certain.  ``bar`` holds a lower bound on Phi for every d and never falls.  If
    ``relaxed``, the widths of the column lie below, which may exceed phi.
    """
    if column.size < FROM or not 0.0 < greatest - least < bar[-1]:
        return False
    dominance = Dominance(column.size, relaxed=relaxed)
    dominance.rise(bar)
    dominated, _ = dominance.test(column[np.newaxis], [0], np.array([[least, greatest]]))
    return bool(dominated[0])
