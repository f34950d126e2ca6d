"""The loop that fills a profile: blocks of columns shared out to threads, with clock and progress.

Phi over a union of feature sets is the elementwise maximum, so columns may be solved in any order and by any
number of threads, and the bits are the same.  What earlier columns reached is a lower bound that later
columns must beat.  A column is dropped from a gap only if it lies strictly below, so the owner of each k (the
lowest column index that attains Phi(k)) does not depend on the order either.  Among many columns, nearly all
are dropped as a whole, by counts and without being sorted (see `geodim.engine.dominated`).
"""

from __future__ import annotations

import math
import threading
from contextlib import suppress
from functools import partial
from importlib import import_module
from itertools import count, groupby, pairwise
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from geodim.engine.blocks import touched
from geodim.engine.dominated import Dominance, cells_for
from geodim.engine.driver import Driver
from geodim.engine.helpers import Helpers
from geodim.engine.only import OnlyColumn
from geodim.engine.parts import thread_count
from geodim.engine.profile import LOOSE, Profile
from geodim.engine.simplified import Twins
from geodim.engine.steps import steps_needed
from geodim.engine.threads import threads_for
from geodim.engine.ways import MOST_COLUMNS, local_way
from geodim.engine.windows import solve_every_window
from geodim.memory import PROFILE_BYTES, check_points

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from concurrent.futures import Executor, Future

    from numpy.typing import NDArray

    from geodim.data.checks import Ranges
    from geodim.data.sources import ColumnSource
    from geodim.engine.column import ColumnSolver
    from geodim.engine.recursion import Sweep
    from geodim.engine.ways import Way

    Sharing = Executor | Helpers
    Values = NDArray[np.floating]

Result = TypeVar("Result")

FEW_BLOCKS = 4  # up to this many blocks per thread, leaders are not read separately
SHARES_PER_THREAD = 2  # of the rows that threads read together: one that begins late reads less
SHARE_BYTES = 1 << 26  # of a share at most: between two of them a thread looks at the clock
LOOK_EVERY = 0.2  # seconds between two looks at the clock, if no task ends


def compute_profile(
    source: ColumnSource,
    way: Way | None = None,
    *,
    step: float = 0.0,
    ranges: Ranges | None = None,
    leaders: Sequence[int] = (),
    n_threads: int | None = None,
    driver: Driver | None = None,
    profile: Profile | None = None,
    ends: NDArray[np.float64] | None = None,
) -> Profile:
    """Solve every column of ``source`` and return the profile.

    Parameters
    ----------
    source
        Where the columns come from.
    way
        How they are read and solved; by default the one that a plan would choose.
    step
        Round values down to multiples of this power of two first; 0 is exact.
    ranges
        Ranges of the columns; they allow columns to be counted instead of sorted if there is a step.
    leaders
        Columns to solve first, because they probably bound the others.
    n_threads
        Number of threads; None takes all available cores.
    driver
        Decides when to stop, receives progress as (columns done, all columns), and saves the state.
    profile
        A profile to continue: columns marked as done are skipped.
    ends
        Array of shape (n_features, 2) that receives the extremes of the columns as they are read, if no
        first pass found them.

    Returns
    -------
    Profile
        ``stopped`` says why it ended early ("time limit" or "interrupted"), or is None.
    """
    n, d = source.n_points, source.n_features
    threads = thread_count(n_threads)
    driver = driver or Driver()
    way = way or way_of(source, ranges, step, threads)
    first_steps = None
    if way.counted:
        assert ranges is not None
        first_steps = steps_needed(ranges.least, ranges.greatest, step).first
    else:  # every solver sorts whole columns, see docs/architecture.md
        check_points(n, PROFILE_BYTES + 8 + 2 * source.dtype.itemsize)
    only = None
    if profile is None:
        blank = d == 1 and way.method == "sorted" and not source.runs
        profile = Profile.empty(
            n, d, step, way.steps if way.counted else None, way.left_out, threads, blank=blank
        )
        only = OnlyColumn(profile) if blank else None
        profile.relax(way.relaxed)
        driver.resume([profile])
    else:
        profile.relax(way.relaxed)
    if way.compiled:
        import_module("geodim.engine.column")  # so that no interrupt leaves Numba half imported
        run = _Run(source, way, profile, driver, threads, first_steps, ranges, ends, only)
        with driver.heeding(), threads_for(threads) as pool:
            run.solve_all(pool, leaders)
        profile.make_room()  # if it was stopped before anything was solved
    else:
        with driver.heeding():
            solve_every_window(source, profile, driver, ranges)
    profile.stopped = driver.stopped
    if profile.stopped is None:
        profile.never_fall()
    # Some columns happen to solve the sizes that are left out, but which ones depends on the order.
    if profile.skipped and not profile.counted:
        profile.phi[1 : 1 + profile.skipped] = 0.0
        profile.owner[1 : 1 + profile.skipped] = -1
    driver.keep([profile])
    return profile


def way_of(source: ColumnSource, ranges: Ranges | None, step: float, threads: int) -> Way:
    """Return the way to solve a source on this machine, see `geodim.engine.ways.local_way`."""
    steps = math.inf
    if step > 0.0 and ranges is not None:
        needed = steps_needed(ranges.least, ranges.greatest, step)
        steps = math.inf if needed.far else needed.number
    return local_way(
        source.n_points, source.n_features, source.dtype.itemsize, threads, row_major=source.row_major,
        by_rows=hasattr(source, "read_rows"), runs=source.runs,
        at_once=getattr(source, "at_once", MOST_COLUMNS), steps=steps,
    )  # fmt: skip


class _Run:
    """One pass over the columns: hands out work, keeps a solver per thread, watches the clock."""

    def __init__(
        self,
        source: ColumnSource,
        way: Way,
        profile: Profile,
        driver: Driver,
        threads: int,
        first_steps: NDArray[np.float64] | None,
        ranges: Ranges | None,
        ends: NDArray[np.float64] | None,
        only: OnlyColumn | None = None,
    ) -> None:
        self.source = source
        self.target: Profile | OnlyColumn = only or profile
        self.ends = ends
        self.way = way
        self.ranges = ranges
        self.first_steps = first_steps
        self.widest = 1  # columns in the largest block
        self.profile = profile
        self.driver = driver
        self.threads = threads
        self.local = threading.local()
        self.scratch = threading.local()  # separate, or a solver would refer to itself and outlive the run
        self.solvers = count()
        self.counted = 0  # values of columns that are not solved yet
        self.counting = threading.Lock()
        self.twins = None if profile.ties_matter or source.n_features == 1 else Twins()
        self.shared: Sweep | None = None
        if way.shares and profile.raised_by_each:
            from geodim.engine.recursion import Sweep  # noqa: PLC0415 - imports Numba

            self.shared = Sweep.from_phi(profile.phi, threads)

    def solve_all(self, pool: Executor, leaders: Sequence[int]) -> None:
        """Solve every column: one at a time with all threads if columns are few, otherwise one per thread."""
        source, way, threads = self.source, self.way, self.threads
        self.report()
        if way.rows:
            self._solve_by_rows(self.blocks(leaders, way.width), pool)
        elif way.solvers == 1:
            for block in self.blocks(leaders, way.width):
                self.solve_block(block, pool if threads > 1 else None)
                self.report()
        elif way.together:
            self._solve_together(self.blocks(leaders, way.width), pool)
        else:
            blocks = self.blocks(leaders, way.width, min(threads, source.n_features))
            self._wait_for([pool.submit(self.solve_block, block) for block in blocks])

    def report(self) -> None:
        """Report progress to the driver, and let it save the state if that is due."""
        counted = self.counted // self.source.n_points  # columns that were counted, and will soon be done
        self.driver.report(int(self.profile.done.sum()) + counted, self.source.n_features)
        if self.driver.due():
            with self.profile.lock:  # otherwise owners and widths might not belong together
                self.driver.keep([self.profile])

    def blocks(self, leaders: Sequence[int], width: int, workers: int = 1) -> list[list[int]]:
        """Return the columns still to do: leaders, then blocks of neighbours, enough for all workers."""
        source = self.source
        first = [column for column in leaders if not self.profile.done[column]]
        remaining = np.flatnonzero(~self.profile.done)
        apart = not source.row_major or len(remaining) > FEW_BLOCKS * width * workers
        if apart:
            remaining = np.setdiff1d(remaining, first)
        width = max(1, min(width, -(-len(remaining) // workers)))
        # Blocks begin where lines of the cache do, so that few lines are read for two of them.
        places = (remaining + getattr(source, "past_line", 0)) % source.n_features
        remaining, places = (array[np.argsort(places, kind="stable")] for array in (remaining, places))
        pairs = zip(remaining.tolist(), (places // width).tolist(), strict=True)
        blocks = [[column for column, _ in group] for _, group in groupby(pairs, lambda pair: pair[1])]
        if apart:
            share = max(1, min(width, -(-len(first) // workers)))
            blocks = [first[at : at + share] for at in range(0, len(first), share)] + blocks
        else:  # a pass over all rows for the leaders alone would cost more than it saves
            for block in blocks:
                block.sort(key=lambda column: column not in first)
            blocks.sort(key=lambda block: block[0] not in first)
        self.widest = max(map(len, blocks), default=1)
        return blocks

    def _wait_for(self, work: list[Future[Any]]) -> None:
        """Wait until all work is done, reporting progress; if one task fails, end everything.

        `concurrent.futures.wait` would look at all of it again whenever a task ends, under the interpreter's
        lock, for which the threads that go on to their next task wait.
        """
        finished: SimpleQueue[Future[None]] = SimpleQueue()
        for future in work:
            future.add_done_callback(finished.put)
        left = len(work)
        try:
            while left:
                ended = _soon(finished)
                if self.shared is not None and self.driver.late():
                    self.shared.halted[0] = 1
                for future in ended:
                    future.result()
                left -= len(ended)
                self.report()
        except BaseException:
            self.driver.halt("interrupted")  # tasks that have not begun return at once
            if self.shared is not None:
                self.shared.halted[0] = 1
            raise

    def _solve_together(self, groups: list[list[int]], pool: Executor) -> None:
        """Solve a row-major array: read a group of columns together, then solve one column per thread.

        All threads read, each some of the rows, so a cache line is fetched once for the whole group and no
        thread finishes much later than the others.  A thread that is done with its column while others still
        solve begins to read the next group, into the other of two buffers.  After the last group, idle
        threads help the others.
        """
        n = self.source.n_points
        read_rows: Callable[..., None] = self.source.read_rows  # type: ignore[attr-defined]
        buffers = [touched((self.widest, n), self.source.dtype, self.threads, pool) for _ in groups[:2]]
        group_bytes = self.widest * n * self.source.dtype.itemsize
        shares = max(SHARES_PER_THREAD * self.threads, group_bytes // SHARE_BYTES)
        edges = np.linspace(0, n, shares + 1).astype(int).tolist()
        solving: list[list[Future[None]]] = [[], []]
        for turn, group in enumerate(groups):
            values = buffers[turn % 2][: len(group)]
            self._wait_for(solving[turn % 2])  # the columns that this buffer held so far

            def read(start: int, stop: int, group: list[int] = group, values: Values = values) -> None:
                if not self.driver.late():
                    read_rows(group, slice(start, stop), values[:, start:stop])

            self._wait_for([pool.submit(read, *share) for share in pairwise(edges)])
            self.profile.bytes_read += values.nbytes
            helpers = self._helpers(pool, group, groups)
            solving[turn % 2] = [
                pool.submit(self._solve_unless_dominated, values[at : at + 1], column, helpers)
                for at, column in enumerate(group)
            ]
        self._wait_for(solving[0] + solving[1])

    def _solve_by_rows(self, groups: list[list[int]], pool: Executor) -> None:
        """Count columns of a group some rows at a time, all threads together, then solve one per thread."""
        from geodim.engine.row_counts import RowCounter  # noqa: PLC0415 - imports Numba

        assert self.first_steps is not None
        source: Any = self.source
        step, n_steps = self.profile.step, self.profile.phi.size - 1
        counter = RowCounter(
            source, step, n_steps, self.first_steps, self.way.rows, self.driver.late, self._advance
        )
        for group in groups:
            counts = counter.count(group, self.threads, partial(self._all_of, pool))
            helpers = self._helpers(pool, group, groups)
            columns = zip(counts, group, strict=True)
            self._all_of(pool, [partial(self._solve_counts, *column, helpers) for column in columns])

    def _solve_counts(self, counts: NDArray[Any], column: int, executor: Sharing | None) -> None:
        if self.driver.late():
            return
        solver: Any = self._solver()
        if solver.solve_counts(counts, column, self.profile, self.driver.late, executor):
            with self.counting:
                self.counted -= self.source.n_points
                self.profile.finish(column)

    def _advance(self, values: int) -> None:
        """Take note of so many values that were counted."""
        with self.counting:
            self.counted += values
            self.profile.bytes_read += values * self.source.dtype.itemsize
        if self.threads == 1:
            self.report()

    def _all_of(self, pool: Executor, tasks: Sequence[Callable[[], Result]]) -> list[Result]:
        """Return what tasks return, done by all threads."""
        if self.threads == 1:
            return [task() for task in tasks]
        futures = [pool.submit(task) for task in tasks]
        self._wait_for(futures)
        return [future.result() for future in futures]

    def _helpers(self, pool: Executor, group: list[int], groups: list[list[int]]) -> Helpers | None:
        """Return who helps: after the last group threads without a column help others, two or more each."""
        most = min(-(-2 * self.threads // len(group)), self.threads - 1)
        return Helpers(pool, most) if group is groups[-1] and len(group) < self.threads else None

    def _solve_unless_dominated(self, values: Values, column: int, executor: Sharing | None) -> None:
        """Solve one column of a group, unless it is dominated; ``values`` has one row."""
        for remaining, _ in self._left(values, [column]):
            self._solve_column(remaining, column, executor)

    def _solve_column(
        self, values: NDArray[np.floating], column: int, executor: Sharing | None = None
    ) -> None:
        if self.driver.late():
            return
        solved = self._solver().solve(values, column, self.target, self.driver.late, executor)
        if isinstance(self.target, OnlyColumn):
            self.target.settle()
        if solved:
            self.profile.finish(column)

    def solve_block(self, block: list[int], executor: Sharing | None = None) -> None:
        """Read the columns of one block and solve them one after the other."""
        if self.driver.late():
            return
        if not self.source.runs:
            for values, column in self._left(self._read(block), block):
                self._solve_column(values, column, executor)
            return
        solver = self._solver()
        for column in block:
            if self.driver.late():
                return
            found, counts = self.source.read_runs(column)
            self.profile.bytes_read += found.nbytes + counts.nbytes
            if solver.solve_runs(found, counts, column, self.profile, self.driver.late, executor):
                self.profile.finish(column)

    def _left(self, values: Values, block: list[int]) -> list[tuple[Values, int]]:
        """Return the columns of a block that others do not dominate; the rest are finished here."""
        if not self.way.drops and self.ends is None:
            return list(zip(values, block, strict=True))
        dominance: Dominance | None = getattr(self.local, "dominance", None)
        if dominance is None:
            relaxed = LOOSE in self.profile.notes
            dominance = self.local.dominance = Dominance(self.source.n_points, relaxed=relaxed)
        if self.way.drops:
            dominance.look(self.profile, len(block))
        known = None  # solvers notice columns that are no longer as the first pass found them
        if self.ranges is not None:
            known = np.column_stack([self.ranges.least[block], self.ranges.greatest[block]])
        dominated, ends = dominance.test(values, block, known)
        if self.ends is not None:
            self.ends[block] = ends
        for column in np.compress(dominated, block).tolist():
            self.profile.finish(column)
        return [(values[at], block[at]) for at in np.flatnonzero(~dominated).tolist()]

    def _read(self, block: list[int]) -> NDArray[np.floating]:
        buffer = getattr(self.local, "buffer", None)
        if buffer is None:
            shape = self.widest, self.source.n_points
            buffer = np.empty(shape, self.source.dtype) if self.way.buffers else self._solver().inbox
            self.local.buffer = buffer
        values: NDArray[np.floating] = buffer[: len(block)]
        self.source.read(block, values)
        self.profile.bytes_read += values.nbytes
        return values

    def _solver(self) -> ColumnSolver:
        solver: ColumnSolver | None = getattr(self.local, "solver", None)
        if solver is None:
            from geodim.engine.column import ColumnSolver  # noqa: PLC0415 - imports Numba
            from geodim.engine.counting import CountingSolver  # noqa: PLC0415

            n, step, skipped = self.source.n_points, self.profile.step, self.profile.skipped
            if self.first_steps is None:
                solver = ColumnSolver(
                    n, self.source.dtype, step, skip_smallest=skipped > 0,
                    gives_phi=self.target is not self.profile,
                )  # fmt: skip
            else:
                n_steps = self.profile.phi.size - 1
                solver = CountingSolver(n, step, n_steps, self.first_steps, left_out=skipped)
            # Threads begin at different sizes: most of what one has reached, the next one need not solve.
            solver.turn = next(self.solvers) % self.threads / self.threads
            solver.ranges = self.ranges
            solver.relaxed = LOOSE in self.profile.notes
            solver.overwrite = True  # they are in buffers of this run
            solver.cells = cells_for(n) if self.way.drops else 0
            solver.twins = self.twins
            solver.shared = self.shared
            solver.scratch = self.scratch  # one pair of lists per thread, even if it helps several solvers
            self.local.solver = solver
        return solver


def _soon(finished: SimpleQueue[Future[None]]) -> list[Future[None]]:
    """Return the tasks that have ended, as soon as there is one, or none after a while."""
    ended: list[Future[None]] = []
    with suppress(Empty):
        ended.append(finished.get(timeout=LOOK_EVERY))
        while True:
            ended.append(finished.get_nowait())
    return ended
