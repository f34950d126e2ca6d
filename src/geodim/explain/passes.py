"""One pass over some columns: read in blocks, passed one at a time to a function, on several threads.

A `Slot` holds what one thread needs: a solver of the engine and an array to solve into.  The engine solves a
column against what is known already, and leaves out the sizes where the column stays below.
"""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from geodim.data.checks import scan_ranges
from geodim.data.integers import measured_exactly
from geodim.engine.dominated import cells_for
from geodim.engine.patience import Patience
from geodim.engine.ways import MOST_COLUMNS, drops
from geodim.memory import PROFILE_BYTES, check_points

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from numpy.typing import NDArray

    from geodim.data.checks import Ranges
    from geodim.data.sources import ColumnSource
    from geodim.engine.target import Piece, Sizes, Solved, Target

NO_COUNTS = np.empty(0, np.int64)


@dataclass(frozen=True)
class Column:
    """The values of one column: all of them, or ascending ones with how often each occurs."""

    index: int
    values: NDArray[np.floating]
    counts: NDArray[np.int64] | None = None


class Raised:
    """The maximum of a known phi and that of a column: a target of the engine's solvers.

    Most columns stay below what is known at every size; then nothing is copied or written.

    Parameters
    ----------
    known : array
        What is known, which never falls; it is not changed.
    out : array
        Where the maximum goes, once there is anything to raise.
    also : Target, optional
        Another target, which holds at least what is known once it is complete.

    Attributes
    ----------
    loose : float
        By how much the widths of the column may exceed its phi, as far as it was solved.
    """

    def __init__(
        self, known: NDArray[np.float64], out: NDArray[np.float64], also: Target | None = None
    ) -> None:
        self.phi = known
        self.out = out
        self.also = also
        self.touched = False
        self.loose = 0.0

    def result(self) -> NDArray[np.float64]:
        """Return the maximum: ``known`` itself where nothing exceeds it.

        Widths that may be off may fall; as in a profile they are raised to those of smaller sizes, so that
        the maximum does not depend on where the column was left out (F34).
        """
        if not self.touched:
            return self.phi
        if self.loose > 0.0:
            np.maximum.accumulate(self.out, out=self.out)
        return self.out

    def begin(self, column: int, pieces: dict[Piece, Sizes]) -> None:
        """Tell the other target: pieces of a column are not distinguished here."""
        if self.also is not None:
            self.also.begin(column, pieces)

    def merge(self, solved: Solved) -> None:
        """Take the maximum with the column's phi."""
        from geodim.explain._kernels import raise_to  # noqa: PLC0415 - imports Numba

        if self.also is not None:
            self.also.merge(solved)
        self.loose = max(self.loose, solved.loose)
        if not len(solved.ranges):
            return
        if not self.touched:
            self.out[:] = self.phi
            self.touched = True
        raise_to(solved.phi, solved.ranges, len(solved.ranges), self.out[solved.cut :])


class Slot:
    """Buffers of one thread: solver, phi, and the block being read.

    Parameters
    ----------
    source : ColumnSource
        Where the columns come from.
    ranges : Ranges, optional
        What a first pass found, which every column is compared with.
    relaxed : bool
        Whether widths of hard columns may be off, as those of `geodim.intrinsic_dimension` are; targets must
        be, too, see `Profile.relax`.
    n_features : int, optional
        Of how many columns these are some; by default those of the source.  Where there are many, columns
        may be dropped unsorted, and which are hard is seen in counts.
    """

    def __init__(
        self,
        source: ColumnSource,
        ranges: Ranges | None = None,
        *,
        relaxed: bool = False,
        n_features: int | None = None,
    ) -> None:
        from geodim.engine.column import ColumnSolver  # noqa: PLC0415 - imports Numba

        self.source = source
        self.solver = ColumnSolver(source.n_points, source.dtype)
        self.solver.ranges = ranges
        if relaxed:  # widths are those of any other pass over the same columns
            self.solver.relaxed = True
            every = source.n_features if n_features is None else n_features
            self.solver.cells = cells_for(source.n_points) if drops(source.n_points, every) else 0
        self.given_up: Callable[[], bool] = _never
        self.phi = np.empty(source.n_points)
        self.loose = 0.0  # what widths of the column raised last may exceed its phi by
        self.buffer: NDArray[np.floating] | None = None

    def read(self, block: list[int]) -> Iterable[Column]:
        """Return the columns of one block; a column holds until the next block is read."""
        if self.source.runs:
            for column in block:
                yield Column(column, *self.source.read_runs(column))
            return
        if self.buffer is None:
            self.buffer = np.empty((MOST_COLUMNS, self.source.n_points), self.source.dtype)
        values = self.buffer[: len(block)]
        self.source.read(block, values)
        for at, column in enumerate(block):
            yield Column(column, values[at])

    def solve(self, column: Column, target: Target) -> None:
        """Merge a column into ``target``, where it reaches the values known there."""
        late = Patience(column.index, self.source.n_points, self.given_up)
        if column.counts is None:
            self.solver.solve(column.values, column.index, target, late)
        else:
            values = column.values.astype(np.float64, copy=False)
            self.solver.solve_runs(values, column.counts, column.index, target, late)

    def raised(
        self, column: Column, known: NDArray[np.float64], also: Target | None = None
    ) -> NDArray[np.float64]:
        """Return the maximum of ``known``, which never falls, and the column's phi.

        It is the slot's own array until the next call, or ``known`` itself.  What was solved is merged into
        ``also``, too.
        """
        target = Raised(known, self.phi, also)
        self.solve(column, target)
        self.loose = target.loose
        return target.result()


def exact_source(source: ColumnSource, threads: int) -> tuple[ColumnSource, Ranges]:
    """Make the first pass; return the ranges, and the source to solve, a different one for long integers."""
    check_points(source.n_points, 2 * PROFILE_BYTES)
    ranges = scan_ranges(source, threads)
    source, ranges, _ = measured_exactly(source, ranges, lambda other: scan_ranges(other, threads))
    return source, ranges


def _never() -> bool:
    return False


class ColumnPass:
    """Passes over the columns of a source, with buffers that outlive a single pass.

    Parameters
    ----------
    source : ColumnSource
        Where the columns come from.
    threads : int
        Threads to use.
    ranges : Ranges, optional
        What a first pass found, which every column is compared with.
    relaxed : bool
        As for `Slot`; columns of values with multiplicities hold ties, and are exact in any case.
    n_features : int, optional
        As for `Slot`.
    """

    def __init__(
        self,
        source: ColumnSource,
        threads: int,
        ranges: Ranges | None = None,
        *,
        relaxed: bool = False,
        n_features: int | None = None,
    ) -> None:
        self.source = source
        self.n_features = n_features
        self.relaxed = relaxed and not source.runs
        self.ranges = ranges
        self.threads = threads
        self._free: list[Slot] = []
        self._lock = threading.Lock()

    def run(
        self,
        columns: Iterable[int],
        visit: Callable[[Slot, Column], None],
        *,
        wanted: Callable[[int], bool] | None = None,
        progress: Callable[[int, int], None] | None = None,
    ) -> None:
        """Call ``visit(slot, column)`` for every column, in any order and on several threads.

        Parameters
        ----------
        columns
            Which columns; neighbours are read together.
        visit
            What to do with a column.
        wanted
            Called just before a column is read: False leaves it out.
        progress
            Called with (columns done, columns) in this thread.
        """
        blocks = _blocks(list(columns), self.threads)
        total = sum(map(len, blocks))
        done = 0
        halted = threading.Event()

        def work(block: list[int]) -> int:
            chosen = [column for column in block if wanted is None or wanted(column)]
            if chosen and not halted.is_set():
                slot = self._take()
                slot.given_up = halted.is_set
                try:
                    for column in slot.read(chosen):
                        if not halted.is_set():
                            visit(slot, column)
                finally:
                    self._free.append(slot)
            return len(block)

        if self.threads == 1 or len(blocks) == 1:
            for block in blocks:
                done += work(block)
                if progress is not None:
                    progress(done, total)
            return
        with ThreadPoolExecutor(self.threads, thread_name_prefix="geodim") as pool:
            try:
                for size in pool.map(work, blocks):
                    done += size
                    if progress is not None:
                        progress(done, total)
            except BaseException:
                halted.set()
                pool.shutdown(wait=False, cancel_futures=True)
                raise

    def merge_into(self, target: Target, which: Iterable[int]) -> None:
        """Solve some columns, and merge them into a target."""
        self.run(which, lambda slot, column: slot.solve(column, target))

    def slot(self) -> Slot:
        """Return a slot for use outside of a pass."""
        return self._take()

    def _take(self) -> Slot:
        with self._lock:
            if self._free:
                return self._free.pop()
            return Slot(self.source, self.ranges, relaxed=self.relaxed, n_features=self.n_features)


def _blocks(columns: list[int], threads: int) -> list[list[int]]:
    """Put neighbouring columns together, as long as there are enough blocks for all threads.

    Otherwise the order is kept.
    """
    width = max(1, min(MOST_COLUMNS, -(-len(columns) // threads)))
    blocks: list[list[int]] = []
    for column in columns:
        joins = blocks and blocks[-1][-1] + 1 == column and len(blocks[-1]) < width
        if joins:
            blocks[-1].append(column)
        else:
            blocks.append([column])
    return blocks
