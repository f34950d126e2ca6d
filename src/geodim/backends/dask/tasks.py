"""What runs on the workers: blocks of columns solved by the engine, and their results merged.

A task solves its columns against a bar, a lower bound on Phi: what leading columns reached, broadcast, and
what earlier tasks reached on the same worker.  It returns where its own columns reach the bar or more, and
nothing else.  Whatever a bar was made of comes back from the task that found it, so that the maximum over all
tasks is Phi, bit for bit, in whatever order and however often tasks are run.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from geodim.backends.dask.reading import column_of, put_together
from geodim.data.sources import as_source
from geodim.engine.dominated import cells_for, is_dominated
from geodim.engine.profile import LOOSE, Profile

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from geodim.backends.dask.reading import Block
    from geodim.data.checks import Ranges
    from geodim.data.sources import ColumnSource
    from geodim.engine.column import ColumnSolver

CHUNK = 1 << 15  # entries merged at a time: larger temporaries would be fresh memory every time
COARSE = 1 << 16  # entries of a bar that is broadcast
MOST_BENCHES = 2  # jobs whose bars a worker keeps


@dataclass(frozen=True)
class Job:
    """What all tasks of one pass share."""

    token: str
    n_points: int
    # In which columns are solved; that of a sparse block as it is stored may be another.
    dtype: np.dtype[np.floating]
    step: float
    n_steps: int | None  # if columns are counted
    skipped: int
    slots: int
    threads: int
    deadline: float | None  # seconds since the epoch: other clocks differ from machine to machine
    weights: NDArray[np.int64] | None = None
    hops: int = 0
    relaxed: bool = False  # whether widths of hard columns may be off

    @property
    def floor(self) -> float:
        """The value of a profile where no column contributed."""
        return 0.0 if self.n_steps is None else -float(self.n_points)

    def local_deadline(self) -> float | None:
        """Return the deadline on this machine's monotonic clock."""
        return None if self.deadline is None else time.monotonic() + self.deadline - time.time()

    def clock(self) -> Callable[[], bool]:
        """Return a function that says whether the time limit has passed."""
        deadline = self.local_deadline()
        return lambda: deadline is not None and time.monotonic() > deadline

    def new_profile(self, n_features: int) -> Profile:
        """Create an empty profile."""
        return Profile.empty(self.n_points, n_features, self.step, self.n_steps, self.skipped)


@dataclass(frozen=True)
class Part:
    """What some columns add to Phi from ``start`` on.

    It holds the maximum and its owner, which is -1 where they add nothing.
    """

    start: int
    phi: NDArray[np.float64]
    owner: NDArray[np.int32]
    done: tuple[int, ...] = ()
    dropped: int = 0  # columns that were never sorted
    work: NDArray[np.int64] = field(default_factory=lambda: np.zeros(5, np.int64))
    bytes_read: int = 0
    loose: dict[int, float] = field(default_factory=dict)  # by how much widths of columns may be off

    @property
    def stop(self) -> int:
        """One past the last entry."""
        return self.start + self.phi.size


class Place:
    """Memory that a task uses and leaves to the next.

    Dask's workers return memory at once, and fresh memory is slow.
    """

    def __init__(self, solver: ColumnSolver, n_points: int, dtype: np.dtype[np.floating]) -> None:
        self.solver = solver
        self.column = np.empty(n_points, dtype)
        self.lowest = np.empty(n_points)


class Bench:
    """What tasks of one job share on one worker.

    It holds the bars so far, places, and a gate that admits no more tasks than fit.
    """

    def __init__(self, job: Job, size: int) -> None:
        self.gate = threading.BoundedSemaphore(job.slots)
        self.places: list[Place] = []
        self.bars = [np.full(size, job.floor) for _ in range(job.hops + 1)]
        self.lock = threading.Lock()

    @contextmanager
    def place(self, make: Callable[[], Place]) -> Iterator[Place]:
        """Lend working memory: a free place, or a new one."""
        with self.gate:
            place = self.places.pop() if self.places else make()
            try:
                yield place
            finally:
                self.places.append(place)

    def preset(self, profile: Profile, hop: int = 0) -> None:
        """Start a profile just below the bar: a column that ties with it still shows."""
        bar, phi = self.bars[hop], profile.phi
        if profile.counted:
            np.maximum(np.nextafter(bar, -np.inf), -float(profile.n_points), out=phi)
        else:  # the same, for numbers that are not negative, and several times as fast
            np.subtract(bar.view(np.int64), 1, out=phi.view(np.int64))
            np.maximum(phi.view(np.int64), 0, out=phi.view(np.int64))

    def lift(self, phi: NDArray[np.float64], hop: int = 0) -> None:
        """Raise the bar to another one, which may be coarse."""
        bar = self.bars[hop]
        every = 1 if phi.size == bar.size else 1 << _shift(bar.size)
        whole = bar.size // every
        blocks, rest = bar[: whole * every].reshape(whole, every), bar[whole * every :]
        with self.lock:
            np.maximum(blocks, phi[:whole, np.newaxis], out=blocks)
            np.maximum(rest, phi[-1], out=rest)


_benches: OrderedDict[str, Bench] = OrderedDict()
_benches_lock = threading.Lock()


def bench_of(job: Job, size: int) -> Bench:
    """Return what tasks of the job share on this worker."""
    with _benches_lock:
        bench = _benches.get(job.token)
        if bench is None:
            bench = _benches[job.token] = Bench(job, size)
        _benches.move_to_end(job.token)
        while len(_benches) > MOST_BENCHES:
            _benches.popitem(last=False)
    return bench


def forget(token: str) -> None:
    """Drop what this worker keeps for a job that has ended."""
    with _benches_lock:
        _benches.pop(token, None)


def open_block(block: Block, weights: NDArray[np.int64] | None) -> ColumnSource:
    """Return a block as the engine reads it: pieces of columns, or a sparse matrix."""
    if not isinstance(block[0][0], np.ndarray):
        return as_source(block[0][0], weights=weights)
    return as_source(put_together(block).T, weights=weights)


def solve_block(
    block: Block,
    bar: NDArray[np.float64] | None,
    job: Job,
    columns: list[int],
    todo: list[int],
    ranges: Ranges,
    before: Part | None = None,
) -> Part:
    """Solve the columns ``todo`` of a block that holds ``columns``.

    What its other columns added ``before`` is returned with them.
    """
    from geodim.engine.column import ColumnSolver  # noqa: PLC0415 - imports Numba
    from geodim.engine.counting import CountingSolver  # noqa: PLC0415

    profile = job.new_profile(len(columns))
    bench = bench_of(job, profile.phi.size)
    dense = isinstance(block[0][0], np.ndarray) and job.weights is None
    relaxed = dense and job.relaxed
    profile.relax(relaxed)
    first_steps = np.floor(ranges.least / job.step) if job.step > 0.0 else ranges.least
    skip = job.skipped > 0

    def make() -> Place:
        kind, n = job.dtype, job.n_points
        if job.n_steps is None:
            return Place(ColumnSolver(n, kind, job.step, skip_smallest=skip), n, kind)
        counting = CountingSolver(n, job.step, job.n_steps, first_steps, left_out=job.skipped)
        return Place(counting, n, kind)

    with bench.place(make) as place, ThreadPoolExecutor(job.threads) as pool:
        solver = place.solver
        if isinstance(solver, CountingSolver):
            solver.first_steps = first_steps
        solver.ranges = ranges
        solver.relaxed, solver.cells = relaxed, cells_for(job.n_points)
        if bar is not None:
            bench.lift(bar)
        bench.preset(profile)
        if before is not None:
            take_up(profile, before, columns)
        profile.done[~np.isin(columns, todo)] = True
        executor = pool if job.threads > 1 else None
        late = job.clock()
        dropped = 0
        lowest = None
        if not dense:
            source = open_block(block, job.weights)
        elif bar is not None and job.step == 0.0:  # with a step, no sorting could be saved
            lowest = np.maximum.accumulate(bench.bars[0], out=place.lowest)
        for at in np.flatnonzero(~profile.done).tolist():
            if not dense:
                complete = solver.solve_runs(*source.read_runs(at), at, profile, late, executor)
            else:
                values = column_of(block, at, place.column)
                if lowest is not None and is_dominated(
                    values, float(ranges.least[at]), float(ranges.greatest[at]), lowest, relaxed=relaxed
                ):
                    complete = True
                    dropped += 1
                else:
                    complete = solver.solve(values, at, profile, late, executor)
            if not complete:
                break
            profile.finish(at)
        profile.bytes_read += len(todo) * job.n_points * job.dtype.itemsize
        if skip and not profile.counted:  # which columns tell them on the way depends on the order
            profile.owner[1 : 1 + job.skipped] = -1
        return part_of(profile, bench, np.asarray(columns), todo, dropped, before=before)


def take_up(profile: Profile, before: Part, columns: list[int]) -> None:
    """Enter what columns of the same block added, where no other column has reached more since."""
    profile.work += before.work
    profile.bytes_read += before.bytes_read
    local = np.full(max(columns) + 2, -1, np.int32)  # the last for those that have no owner, -1
    local[columns] = np.arange(len(columns))
    for column, loose in before.loose.items():
        profile.notes[LOOSE][local[column]] = loose
    for at in range(0, before.phi.size, CHUNK):
        here = slice(before.start + at, before.start + min(at + CHUNK, before.phi.size))
        phi, owner = before.phi[at : at + CHUNK], before.owner[at : at + CHUNK]
        stands = (owner >= 0) & (phi >= profile.phi[here])  # which begins just below the bar
        np.copyto(profile.phi[here], phi, where=stands)
        np.copyto(profile.owner[here], local[owner], where=stands)


def part_of(
    profile: Profile,
    bench: Bench,
    columns: NDArray[np.intp],
    todo: list[int],
    dropped: int = 0,
    hop: int = 0,
    before: Part | None = None,
) -> Part:
    """Return what the columns added, with those of ``before``, cut to where they did; raise the bar."""
    bench.lift(profile.phi, hop)
    added = profile.owner >= 0
    first, stop = (int(added.argmax()), added.size - int(added[::-1].argmax())) if added.any() else (0, 0)
    own = np.append(columns, -1).astype(np.int32)  # the last for those that have no owner, -1
    owner = profile.owner[first:stop]
    for at in range(0, owner.size, CHUNK):
        owner[at : at + CHUNK] = own[owner[at : at + CHUNK]]
    done = set(columns[profile.done[: len(columns)]].tolist()) & set(todo)
    noted = profile.notes.get(LOOSE, np.empty(0))[: len(columns)]  # layers of hops share what they note
    loose = {int(columns[at]): float(noted[at]) for at in np.flatnonzero(noted).tolist()}
    if before is not None:
        done |= set(before.done)
        dropped += before.dropped
    return Part(
        first, profile.phi[first:stop], owner, tuple(sorted(done)), dropped, profile.work, profile.bytes_read,
        loose,
    )  # fmt: skip


def merge_parts(parts: list[Part]) -> Part:
    """Return the elementwise maximum; the lowest column owns a tie."""
    some = [part for part in parts if part.phi.size] or parts[:1]
    start, stop = min(part.start for part in some), max(part.stop for part in some)
    phi, owner = np.zeros(stop - start), np.full(stop - start, -1, np.int32)
    for part in some:
        merge_into(phi, owner, start, part)
    return Part(
        start,
        phi,
        owner,
        tuple(column for part in parts for column in part.done),
        sum(part.dropped for part in parts),
        sum((part.work for part in parts), np.zeros(5, np.int64)),
        sum(part.bytes_read for part in parts),
        {column: loose for part in parts for column, loose in part.loose.items()},
    )


def merge_into(phi: NDArray[np.float64], owner: NDArray[np.int32], start: int, part: Part) -> None:
    """Take the maximum with one part, in place; ``phi`` begins at index ``start``."""
    for at in range(0, part.phi.size, CHUNK):
        here = slice(part.start - start + at, part.start - start + min(at + CHUNK, part.phi.size))
        new_phi, new_owner = part.phi[at : at + CHUNK], part.owner[at : at + CHUNK]
        old_phi, old_owner = phi[here], owner[here]
        wins = (new_phi > old_phi) | ((new_phi == old_phi) & (new_owner < old_owner)) | (old_owner < 0)
        wins &= new_owner >= 0
        np.copyto(old_phi, new_phi, where=wins)
        np.copyto(old_owner, new_owner, where=wins)


def cut_part(part: Part, first: int, stop: int) -> Part:
    """Return the entries of a part in [first, stop); what is no array stays with the first segment."""
    a, b = max(first, part.start), min(stop, part.stop)
    if b <= a:
        a = b = part.start
    arrays = part.phi[a - part.start : b - part.start], part.owner[a - part.start : b - part.start]
    if first == 0:
        return replace(part, start=a, phi=arrays[0], owner=arrays[1])
    return Part(a, *arrays)


def bar_of(part: Part, job: Job, size: int) -> NDArray[np.float64]:
    """Return a lower bound on Phi for all workers.  Counted columns have few entries and stay as they are."""
    if job.n_steps is None:
        return coarse(part.phi, part.start, size)
    phi = np.full(size, job.floor)
    np.copyto(phi[part.start : part.stop], part.phi, where=part.owner >= 0)
    return phi


def coarse(phi: NDArray[np.float64], start: int, size: int) -> NDArray[np.float64]:
    """Return what was reached up to every 2^s-th index, since Phi never falls.

    ``phi`` begins at index ``start``.
    """
    every = 1 << _shift(size)
    bar = np.zeros(-(-size // every))
    first = -(-start // every)  # the first entry of the bar that sees some of phi
    before, after = np.split(phi, [first * every - start])
    seen = bar[first:]
    seen[:1] = before.max(initial=0.0)
    if after.size:
        np.maximum(seen[: -(-after.size // every)], after[::every], out=seen[: -(-after.size // every)])
        reached = np.maximum.reduceat(after, np.arange(0, after.size, every))[: seen.size - 1]
        np.maximum(seen[1 : 1 + reached.size], reached, out=seen[1 : 1 + reached.size])
    return np.maximum.accumulate(bar, out=bar)


def highest(bars: list[NDArray[np.float64]]) -> NDArray[np.float64]:
    """Return the highest of several bars."""
    best: NDArray[np.float64] = np.max(bars, axis=0)
    return best


def _shift(size: int) -> int:
    return max((size - 1).bit_length() - COARSE.bit_length() + 1, 0)
