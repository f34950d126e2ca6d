"""One column at a time: sorted, bounded, solved where it matters, merged into the profile.

`ColumnSolver` owns the buffers of one thread.  A column goes through these steps: sort; drop if constant;
shorten a majority run; find the gaps in which it may exceed what other columns reached; build its pyramid;
solve those gaps in pieces, so that a long solve can be stopped between any two of them; merge each piece.
"""

from __future__ import annotations

import threading
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from geodim.engine.blocks import in_one_block
from geodim.engine.changed import changed
from geodim.engine.hard import has_even_part, is_straight, margin
from geodim.engine.kernels import columns, pyramid, runs
from geodim.engine.kernels.counters import N_COUNTERS, WINDOWS
from geodim.engine.kernels.glances import equal_neighbours
from geodim.engine.kernels.tiles import PADDING
from geodim.engine.lattices import lattice, narrow_limits
from geodim.engine.layout import PyramidLayout
from geodim.engine.patterns import InPieces, OnceBent, hard_segments, line_or_pattern, pattern_or_bent
from geodim.engine.pieces import gaps_per_piece, pieces_of
from geodim.engine.places import spread_places
from geodim.engine.recursion import Recursion
from geodim.engine.simplified import Twins, begin_at_zero, leave_out_outliers
from geodim.engine.sorter import HANDFUL, Sorter
from geodim.engine.target import Solved
from geodim.engine.tolerant import may_be_tolerant
from geodim.engine.ways import MOST_STRAIGHT
from geodim.errors import InternalError

if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import Executor

    from numpy.typing import NDArray

    from geodim.data.checks import Ranges
    from geodim.engine.helpers import Helpers
    from geodim.engine.recursion import Sweep
    from geodim.engine.target import Target

    PieceSolver = Callable[[tuple[int, int], NDArray[np.int64]], tuple[NDArray[np.int64], int]]

FEW_FROM = 8192  # shorter columns are not checked for few distinct values
PROBES, MANY_TIES = 512, 460  # of so many pairs of neighbours so many are equal where values are few
FEW_VALUES = 256  # columns of up to this many distinct values are solved by pairs
HUGE = 2.0**900  # beyond this, sums in comparisons of windows could overflow,
SMALLER = -128  # so such columns are scaled by this power of two
LARGEST = 2.0**1000  # beyond this, the trend arithmetic could overflow, too
MOST_LOOKS = 4096  # windows examined per size before a column is treated as alike,
NEARLY = 0.75  # or so much of this at some gaps


class ColumnSolver:
    """Solves the columns of one thread; holds its buffers.

    Parameters
    ----------
    n_points : int
        Length of the columns.
    dtype : numpy.dtype
        float32 or float64, the type of the values passed to `solve`.
    step : float
        Values are rounded down to multiples of this power of two first; 0 leaves them as they are.
    skip_smallest : bool
        Leave out the windows of at most 32 values, or of fewer than 32 steps if counted: so
        few points hardly matter.
    gives_phi : bool
        Whether ``phi`` lies apart from all other memory, since it will be needed when nothing else is.
    """

    def __init__(
        self,
        n_points: int,
        dtype: np.dtype[np.floating],
        step: float = 0.0,
        *,
        skip_smallest: bool = False,
        gives_phi: bool = False,
    ) -> None:
        self.n = n_points
        self.step = step
        self.layout = PyramidLayout.of(n_points)
        column = dtype.itemsize * n_points
        sizes = 2 * column - 8 * n_points, 8 * (n_points + PADDING), 8 * pyramid.RECORD * self.layout.total
        if gives_phi:
            phi, (more, values, records) = np.empty(8 * n_points, np.uint8), in_one_block(*sizes)
        else:
            phi, more, values, records = in_one_block(8 * n_points, *sizes)
        # The keys are needed only until the column is sorted, phi only afterwards: they share memory.
        self.sorter = Sorter(n_points, dtype, (phi[:column], phi[column:] if more.size == 0 else more))
        self.phi = phi.view(np.float64)
        self.values = values.view(np.float64)
        self.records = records.view(np.float64).reshape(pyramid.RECORD, self.layout.total)
        self.slope = 0.0  # only counted columns have one
        self.skip_smallest = skip_smallest
        self.ranges: Ranges | None = None  # what a first pass found, by column index, if known
        self.relaxed = False  # whether widths of hard columns may be off by a few roundings:
        self.near, self.loose = 0.0, 0.0  # by this at most, and by this for the current column
        self.cells = 0  # in which columns are counted, where they are dropped unsorted; see `margin`
        self.twins: Twins | None = None  # equal columns are solved once, unless ties matter
        self.single = False  # whether all values of the current column are float32
        self.overwrite = False  # whether columns may be sorted where they are
        self.shared: Sweep | None = None  # what other threads know, if there are any
        self.turn = 0.0  # at which of its pieces a column begins, as a share
        self.scratch = threading.local()  # candidate lists, one pair per thread that solves pieces

    @property
    def inbox(self) -> NDArray[np.floating]:
        """Memory of shape (1, n_points) for the next column: all that sorting needs once it has read it."""
        return self.sorter.spare.view(self.sorter.dtype)[np.newaxis]

    def solve(
        self,
        column: NDArray[np.floating],
        index: int,
        target: Target,
        stop: Callable[[], bool],
        executor: Executor | Helpers | None = None,
    ) -> bool:
        """Solve one column and merge it into ``target``; return False if ``stop`` ended it early."""
        self._check_column(column)
        found = self.sorter.few_values(column) if self.step == 0.0 and self.n >= FEW_FROM else None
        if found is not None:
            self._check_range(index, found[0])
            return self._solve_pairs(*found, index, target)
        self._sort(column)
        self.single = self.step == 0.0 and column.dtype == np.float32
        self._check_range(index, self.values[: self.n])
        return self._solve_sorted(self.values, self.n, index, target, stop, executor)

    def solve_runs(
        self,
        values: NDArray[np.float64],
        counts: NDArray[np.int64],
        index: int,
        target: Target,
        stop: Callable[[], bool],
        executor: Executor | Helpers | None = None,
    ) -> bool:
        """Do the same as `solve` for ascending values with multiplicities (sparse or weighted data)."""
        self._check_runs(values, counts, self.n)
        self._check_range(index, values)
        if values.size <= FEW_VALUES and self.step == 0.0:
            return self._solve_pairs(values, counts, index, target)
        biggest = int(np.argmax(counts))
        others = self.n - int(counts[biggest])
        # A majority run may be shortened until it is one longer than all the rest (F4).
        cut = max(int(counts[biggest]) - others - 1, 0)
        if cut:
            counts = counts.copy()
            counts[biggest] -= cut
        n = self.n - cut
        self.values[:n] = np.repeat(values, counts)
        self.single = False
        self._pad(n)
        return self._solve_sorted(self.values, n, index, target, stop, executor, cut)

    def _check_column(self, column: NDArray[np.floating]) -> None:
        """Raise unless a column has the length and type for which the buffers are made.

        With other columns, compiled code would access memory beyond their ends.
        """
        if column.shape != (self.n,) or column.dtype != self.sorter.dtype:
            msg = (
                f"a column of shape {column.shape} and type {column.dtype} for a solver of {self.n} "
                f"values of type {self.sorter.dtype}"
            )
            raise InternalError(msg)

    def _check_runs(self, values: NDArray[np.float64], counts: NDArray[np.int64], n_points: int) -> None:
        """Raise unless values and multiplicities fit together and make ``n_points`` points."""
        if values.size == 0 or values.shape != counts.shape or int(counts.sum()) != n_points:
            msg = (
                f"{values.size} values with {counts.size} counts, {int(counts.sum())} in all, for "
                f"a solver of {n_points} points"
            )
            raise InternalError(msg)

    def _check_range(self, index: int, values: NDArray[np.float64]) -> None:
        """Raise unless an ascending column begins and ends where the first pass found it.

        Otherwise it was read from changed data.  With a step, either end may have been rounded to it or not.
        """
        if self.ranges is None:
            return
        least, greatest = float(self.ranges.least[index]), float(self.ranges.greatest[index])
        if not (
            abs(float(values[0]) - least) <= self.step and abs(float(values[-1]) - greatest) <= self.step
        ):
            raise changed(index, (least, greatest), (float(values[0]), float(values[-1])))

    def _solve_pairs(
        self, values: NDArray[np.float64], counts: NDArray[np.int64], index: int, target: Target
    ) -> bool:
        """Solve a column of few distinct values, see `geodim.engine.kernels.runs`."""
        if values.size < 2:
            return True
        ranges = np.empty((values.size * (values.size + 1) // 2 + 1, 2), np.int64)
        work = np.zeros(N_COUNTERS, np.int64)
        work[WINDOWS] = len(ranges) - 1
        if values.size <= HANDFUL:
            count = runs.solve_few_pairs(values, counts, self.n, self.phi, self._known(target, 0), ranges)
        else:
            best = self.values[: self.n + 1]  # the sorted column, if any, is no longer needed
            count = runs.solve_pairs(values, counts, self.n, best, self.phi, self._known(target, 0), ranges)
        self._merge(target, Solved(self.phi, ranges[:count], index, 0, work))
        return True

    def _sort(self, column: NDArray[np.floating]) -> None:
        if self.step > 0.0 and self.sorter.by_steps(column, self.step, self.values):
            self.values[self.n :] = np.inf
        else:
            self.sorter.sort(column, self.values, overwrite=self.overwrite)
            self._pad(self.n)

    def _pad(self, n: int) -> None:
        """Round the sorted values down to the step, if any, and append the infinite padding."""
        if self.step > 0.0:
            values = self.values[:n]
            np.floor(np.divide(values, self.step, out=values), out=values)
            values *= self.step
        self.values[n : n + PADDING] = np.inf

    def _solve_sorted(
        self,
        l: NDArray[np.float64],
        n: int,
        index: int,
        target: Target,
        stop: Callable[[], bool],
        executor: Executor | Helpers | None,
        cut: int = 0,
    ) -> bool:
        if n < 2 or l[0] == l[n - 1]:
            return True
        if cut == 0 and self.step == 0.0 and n >= FEW_FROM and has_many_ties(l, n):
            first_of = np.flatnonzero(np.append(True, l[1:n] != l[: n - 1]))
            if first_of.size**2 <= 4 * n:
                return self._solve_pairs(l[first_of], np.diff(first_of, append=n), index, target)
        first, last = columns.median_run(l, n)
        weight = last - first
        if 2 * weight > n:  # phi is 0 up to the run's weight; larger windows contain the whole run
            if first == 0 or last == n:
                columns.one_sided(l, n, first, last, self.phi)
                filled = np.array([[weight, n]])
                self._merge(target, Solved(self.phi, filled, index, cut, np.zeros(N_COUNTERS, np.int64)))
                return True
            excess = weight - (n - weight) - 1
            if excess > 0:
                l[first + 1 + n - weight : n - excess] = l[last:n]
                n -= excess
                cut += excess
                l[n : n + PADDING] = np.inf
        first, others = leave_out_outliers(l, n, self.phi)
        if others < n:
            larger = np.array([[others, n]])
            self._merge(target, Solved(self.phi, larger, index, cut, np.zeros(N_COUNTERS, np.int64)))
            l, n = l[first:], others
            l[n : n + PADDING] = np.inf
        return self._solve_gaps(l, n, index, target, stop, executor, cut)

    def _solve_gaps(
        self,
        l: NDArray[np.float64],
        n: int,
        index: int,
        target: Target,
        stop: Callable[[], bool],
        executor: Executor | Helpers | None,
        cut: int,
    ) -> bool:
        layout = self.layout if n == self.n else PyramidLayout.of(n)
        known = self._known(target, cut)
        is_open = np.zeros(layout.counts[-1], np.bool_)
        skip = self.skip_smallest and cut == 0  # after a cut, the smallest windows are elsewhere
        # Columns with values far away are dropped by counts that do not see how even the others are.
        relaxed = self.relaxed and (self.cells == 0 or n == self.n)
        self.near = margin(l, n, self.cells) if relaxed else 0.0
        self.loose = 0.0
        bar = np.maximum(known - self.near, 0.0) if self.near > 0.0 else known
        if self._open_gaps(l, n, layout.top_shift, target, bar, skip, is_open) == 0:
            return True
        del bar
        # Those might take long; counts are all even somewhere, and quickly solved.
        even = n >= FEW_FROM and (is_straight(l, n) or (self.slope == 0.0 and has_even_part(l, n)))
        twins = self.twins if even else None
        digest = Twins.digest(l, n, cut) if twins is not None else b""
        if twins is not None and twins.has_lower(digest, index):
            return True
        solve = self._piece_solver(l, n, layout, known, skip)
        method = getattr(solve, "__self__", None)
        together = gaps_per_piece(n, executor, self.shared, alike=isinstance(method, InPieces))
        pieces = pieces_of(is_open, together, self.turn)
        if executor is None and self.shared is not None and isinstance(method, Recursion):
            pieces = self._sweep(method, pieces, index, target, cut)
        left = [(first, last) for first, last in pieces.tolist()]
        top = layout.top_shift
        if left:
            target.begin(index, {p: (max(p[0] << top, 1) + cut, min(p[1] << top, n) + cut) for p in left})

        def solve_piece(piece: tuple[int, int]) -> bool:
            if stop():
                return False
            work = np.zeros(N_COUNTERS, np.int64)
            self._look_again(target, piece[0] << top, min(piece[1] << top, n))
            ranges, n_ranges = solve(piece, work)
            self._merge(target, Solved(self.phi, ranges[:n_ranges], index, cut, work, [piece], self.loose))
            return True

        every = map(solve_piece, left) if executor is None else list(executor.map(solve_piece, left))
        solved = all(every)
        if twins is not None and solved:
            twins.add(digest, index)
        return solved

    def _sweep(
        self, recursion: Recursion, pieces: NDArray[np.int64], index: int, target: Target, cut: int
    ) -> NDArray[np.int64]:
        """Solve and merge as many pieces as possible in one call, and return the others."""
        assert self.shared is not None
        work = np.zeros(N_COUNTERS, np.int64)
        done, ranges = recursion.sweep(pieces, self.shared.halted, work)
        target.merge(Solved(self.phi, ranges, index, cut, work))  # the others know already
        return pieces[done:]

    def _known(self, target: Target, cut: int) -> NDArray[np.float64]:
        """Return what other columns reached so far: a column must beat it to matter."""
        return (target.phi if self.shared is None else self.shared.bar)[cut:]

    def _look_again(self, target: Target, first: int, stop: int) -> None:
        """Update what was reached at sizes [first, stop), if copied; here it is read in place."""

    def _open_gaps(
        self,
        l: NDArray[np.float64],
        n: int,
        shift: int,
        target: Target,  # noqa: ARG002
        known: NDArray[np.float64],
        skip: bool,
        is_open: NDArray[np.bool_],
    ) -> int:
        """Mark the gaps in which the column may matter, and return their number."""
        return int(columns.open_gaps(l, n, shift, known, skip, is_open))

    def _lattice(self, l: NDArray[np.float64], n: int, magnitude: float) -> tuple[float, float, float]:
        """Return grain, slack and quantum, see `lattice`."""
        return lattice(l, n, magnitude, single=self.single)

    def _merge(self, target: Target, solved: Solved) -> None:
        """Merge what was solved."""
        target.merge(solved)
        if self.shared is not None:
            self.shared.raise_to(solved.phi, solved.ranges, solved.cut)

    def _piece_solver(
        self, l: NDArray[np.float64], n: int, layout: PyramidLayout, known: NDArray[np.float64], skip: bool
    ) -> PieceSolver:
        """Choose how the gaps of this column are solved: scaled, as an alike column, or by recursion.

        This is the one place that decides.
        """
        span = float(l[n - 1] - l[0])
        magnitude = max(abs(float(l[0])), abs(float(l[n - 1])))
        top = layout.top_shift
        most_looks = MOST_LOOKS
        if magnitude > HUGE:
            smaller = np.ldexp(l, SMALLER)
            if np.array_equal(np.ldexp(smaller, -SMALLER), l):
                return self._scaled(smaller, n, layout, known, skip)
            if magnitude > LARGEST:
                return self._plain(l, n, top)
            most_looks = 16 * n  # more than any size needs
        grain, slack, quantum = self._lattice(l, n, magnitude)
        bar = quantum if quantum > 0.0 else -slack
        unit, least = narrow_limits(quantum, magnitude, self.single)
        if 4 * pyramid.BASE <= n < MOST_STRAIGHT and is_straight(l, n):
            return InPieces(self, line_or_pattern, l, n, known, skip, top, slack == 0.0, self.near).solve
        bent = OnceBent(l, n)
        segmented = hard_segments(l, n, bent) if self.near > 0.0 and slack > 0.0 else None
        if segmented is not None:
            return InPieces(self, lambda *_: segmented, l, n, known, skip, top, False, self.near).solve
        if slack > 0.0 and begin_at_zero(l, n):
            return self._piece_solver(l, n, layout, known, skip)
        records = self.records
        pyramid.build_base(l, n, records, layout.counts[0], grain, span)
        pyramid.build_parents(l, n, records, layout.offsets, layout.counts, grain, span)
        alike = InPieces(self, partial(pattern_or_bent, bent=bent), l, n, known, skip, top, slack == 0.0, 0.0)
        recursion = Recursion(
            self, alike, l, n, layout, grain, slack, bar, unit, least, span, known, skip, most_looks
        )
        # If some gaps nearly give up, others do; but there is no better way if no tolerance may be used.
        share = NEARLY if may_be_tolerant(l, n, self.near) else 1.0
        if self.near > 0.0 and recursion.looks_too_often(share):
            make = partial(pattern_or_bent, bent=bent)
            return InPieces(self, make, l, n, known, skip, top, slack == 0.0, self.near).solve
        return recursion.solve

    def _plain(self, l: NDArray[np.float64], n: int, top: int) -> PieceSolver:
        def plain(piece: tuple[int, int], work: NDArray[np.int64]) -> tuple[NDArray[np.int64], int]:
            ranges = np.empty((1, 2), np.int64)
            first, last = max(piece[0] << top, 1), min(piece[1] << top, n)
            count = columns.solve_plainly(l, n, first, last, self.phi, ranges)
            work[WINDOWS] += (last - first) * n
            return ranges, count

        return plain

    def _scaled(
        self, smaller: NDArray[np.float64], n: int, layout: PyramidLayout, known: NDArray[np.float64],
        skip: bool,
    ) -> PieceSolver:  # fmt: skip
        """Solve a column of huge values as one of smaller values.

        Widths are the same up to a power of two.
        """
        top = layout.top_shift
        bar = np.zeros(n)
        solve = self._piece_solver(smaller, n, layout, bar, skip)

        def scaled(piece: tuple[int, int], work: NDArray[np.int64]) -> tuple[NDArray[np.int64], int]:
            part = slice(piece[0] << top, min(piece[1] << top, n))
            # A bar may be too low but never too high, and denormals are rounded.
            bar[part] = np.nextafter(np.ldexp(known[part], SMALLER), 0.0)
            ranges, count = solve(piece, work)
            for first, stop in ranges[:count].tolist():
                self.phi[first:stop] = np.ldexp(self.phi[first:stop], -SMALLER)
            return ranges, count

        return scaled

    def candidate_lists(self) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Return the lists of groups of blocks of the thread that asks for them."""
        lists: tuple[NDArray[np.int64], NDArray[np.float64]] | None = getattr(self.scratch, "lists", None)
        if lists is None:
            total = self.layout.total
            groups, lows = in_one_block(8 * total // pyramid.GROUP, 8 * total)
            self.scratch.lists = lists = groups.view(np.int64), lows.view(np.float64)
        return lists


def has_many_ties(l: NDArray[np.float64], n: int) -> bool:
    """Return whether a sorted column may have few distinct values."""
    return bool(equal_neighbours(l, spread_places(n - 1, PROBES)) > MANY_TIES)
