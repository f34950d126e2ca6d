"""Columns as histograms: the dual problem, for tolerances that allow a resolution coarser than the points.

Round all values down to multiples of a step h.  Let N_f(w) be the largest number of points of feature f in w
neighbouring steps.  It determines phi of the rounded values: phi_k,f = h (w - 1) for the least w with
N_f(w) >= k.  With C the cumulative counts, N_f(w) = max_j C[j+w] - C[j], and for any slope K at least as
large as every count

    l_j = K j - C[j]   is ascending, and   min_j (l[j+w] - l[j]) = K w - N_f(w):

the narrowest window of the column l.  So one exact engine solves both problems, here on as many entries as
there are steps, however many points there are.  Phi requires the least N_f(w) over all features, i.e. the
largest -N_f(w).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from geodim.engine.column import ColumnSolver
from geodim.engine.kernels import sorting
from geodim.engine.kernels.counted import along_slope, cumulate, open_gaps_by_counts, tally, tilt
from geodim.engine.rounding import LATTICE_BITS
from geodim.engine.steps import LONGEST, longer_counters, short_counters
from geodim.errors import DataChangedError, InputValueError, InternalError

if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import Executor

    from numpy.typing import NDArray

    from geodim.engine.helpers import Helpers
    from geodim.engine.target import Solved, Target


def check_exact(most: int, n_steps: int, column: int) -> None:
    """Raise an error if K j - C[j] would not be exact in float64.

    That depends on the number of steps and on the largest weighted number of points in one step.
    """
    if most * (n_steps + 1) >= 2**53:
        msg = (
            f"column {column} has {most:,} points in one of {n_steps:,} steps, too many to count "
            "exactly: use a larger rtol, or divide the weights by a common divisor"
        )
        raise InputValueError(msg)


class CountingSolver(ColumnSolver):
    """Solves columns through their counts per step; the profile holds -N(w) at index w.

    Parameters
    ----------
    n_points : int
        Number of points.
    step : float
        The resolution h, a power of two.
    n_steps : int
        Number of steps that the widest column needs.
    first_steps : array
        Number of the step that holds the least value of every column.
    left_out : int
        Windows of up to this many steps are left out, 0, 31 or more: so few points hardly matter.
    """

    def __init__(
        self,
        n_points: int,
        step: float,
        n_steps: int,
        first_steps: NDArray[np.float64],
        *,
        left_out: int = 0,
    ) -> None:
        super().__init__(n_steps + 1, np.dtype(np.float64), skip_smallest=left_out > 0)
        self.left_out = left_out
        self.n_points = n_points
        self.resolution = step
        self.first_steps = first_steps
        self.counts: NDArray[np.integer[Any]] = np.empty(n_steps, short_counters(n_points, n_steps))
        self.known = np.empty(n_steps + 1)

    def solve(
        self,
        column: NDArray[np.floating],
        index: int,
        target: Target,
        stop: Callable[[], bool],
        executor: Executor | Helpers | None = None,
    ) -> bool:
        """Count the points of one column in steps, and solve it; return False if stopped early."""
        if column.shape != (self.n_points,):
            msg = f"a column of shape {column.shape} for a solver of {self.n_points} points"
            raise InternalError(msg)
        kind = column.dtype.type
        per_step, first = kind(1.0 / self.resolution), kind(self.first_steps[index])
        while True:
            self.counts[:] = 0
            sorting.count_steps(column, per_step, first, self.counts)
            total, most = tally(self.counts)
            if total == self.n_points or self.counts.itemsize >= LONGEST:
                return self._solve_counted(self.counts, total, most, index, target, stop, executor)
            # Keep the longer counters: other columns are probably like this one.
            self.counts = np.empty(self.counts.size, longer_counters(self.counts.dtype, self.n_points))

    def solve_runs(
        self,
        values: NDArray[np.float64],
        counts: NDArray[np.int64],
        index: int,
        target: Target,
        stop: Callable[[], bool],
        executor: Executor | Helpers | None = None,
    ) -> bool:
        """Do the same as `solve` for values with multiplicities."""
        self._check_runs(values, counts, self.n_points)
        self._check_range(index, values)
        at = (np.floor(values / self.resolution) - self.first_steps[index]).astype(np.intp)
        if at[0] < 0 or at[-1] >= self.counts.size:
            raise DataChangedError(sorting.OUTSIDE)
        total = np.bincount(at, weights=counts, minlength=self.counts.size).astype(np.float64)
        return self.solve_counts(total, index, target, stop, executor)

    def solve_counts(
        self,
        counts: NDArray[np.integer[Any]] | NDArray[np.float64],
        index: int,
        target: Target,
        stop: Callable[[], bool],
        executor: Executor | Helpers | None = None,
    ) -> bool:
        """Do the same as `solve` for a column given by the number of its points in every step."""
        total, most = tally(counts)
        return self._solve_counted(counts, total, most, index, target, stop, executor)

    def _solve_counted(
        self,
        counts: NDArray[np.integer[Any]] | NDArray[np.float64],
        total: int,
        most: int,
        index: int,
        target: Target,
        stop: Callable[[], bool],
        executor: Executor | Helpers | None,
    ) -> bool:
        """Solve a column by its counts, given their sum and the largest of them."""
        self._check_complete(counts, total, index)
        check_exact(most, counts.size, index)
        self.slope = float(most)
        cumulate(counts, self.slope, self.values)
        self._pad(self.n)
        return self._solve_gaps(self.values, self.n, index, target, stop, executor, 0)

    def _check_complete(
        self, counts: NDArray[np.integer[Any]] | NDArray[np.float64], total: int, index: int
    ) -> None:
        """Raise unless all points were counted, some of them at either end of the range.

        The range is the one found by the first pass, up to rounding.
        """
        if counts.size != self.n - 1:
            msg = f"counts of {counts.size} steps for a solver of {self.n - 1}"
            raise InternalError(msg)
        filled = total == self.n_points
        if filled and self.ranges is not None:
            last = int(np.floor(self.ranges.greatest[index] / self.resolution) - self.first_steps[index])
            filled = bool(counts[:2].any() and counts[max(last - 1, 0) : last + 2].any())
        if not filled:
            msg = (
                f"column {index} has a different number of values in the range that the first pass over the "
                "data found: the data changed while it was read; compute again when nothing writes to it"
            )
            raise DataChangedError(msg)

    def _known(self, target: Target, cut: int) -> NDArray[np.float64]:  # noqa: ARG002
        """Return what others reached, seen along this column's slope; filled in piece by piece."""
        return self.known

    def _look_again(self, target: Target, first: int, stop: int) -> None:
        along_slope(target.phi, self.slope, first, stop, self.known)
        if first <= self.left_out < stop - 1:  # nobody asks for these sizes: the highest bar that never falls
            self.known[first : self.left_out + 1] = self.known[self.left_out + 1]

    def _open_gaps(
        self,
        l: NDArray[np.float64],
        n: int,
        shift: int,
        target: Target,
        known: NDArray[np.float64],  # noqa: ARG002
        skip: bool,  # noqa: ARG002
        is_open: NDArray[np.bool_],
    ) -> int:
        return int(open_gaps_by_counts(l, n, shift, self.slope, target.phi, is_open))

    def _lattice(self, l: NDArray[np.float64], n: int, magnitude: float) -> tuple[float, float, float]:
        """Return the lattice: counts and their windows are whole numbers, though the trend need not be."""
        if magnitude < 2.0**LATTICE_BITS:
            return 2.0 ** (math.frexp(magnitude)[1] - LATTICE_BITS), 0.0, 1.0
        return super()._lattice(l, n, magnitude)

    def _merge(self, target: Target, solved: Solved) -> None:
        tilt(solved.phi, solved.ranges, len(solved.ranges), self.slope)
        target.merge(solved)
