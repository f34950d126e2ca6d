"""A pass over whole columns: leaders first, their profile broadcast, then all others in blocks."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Any

import numpy as np

from geodim.backends.dask import tasks
from geodim.backends.dask.reduction import Reduction
from geodim.backends.dask.source import DaskSource
from geodim.data.checks import Ranges
from geodim.data.sources import SparseSource, WeightedSource
from geodim.engine.profile import LOOSE

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Sequence

    from distributed import Future
    from numpy.typing import NDArray
    from scipy.sparse import csc_array

    from geodim.backends.dask.cluster import Cluster
    from geodim.backends.dask.tasks import Job, Part
    from geodim.data.sources import ColumnSource
    from geodim.engine.driver import Driver
    from geodim.engine.profile import Profile
    from geodim.engine.ways import Way

    Stage = list[tuple[list[int], list[int]]]  # blocks by their columns, and which of these to solve


class WholePass:
    """One pass.

    Parameters
    ----------
    cluster : Cluster
        Where the tasks run.
    source : ColumnSource
        A `DaskSource`, or data of this process, which travels to the workers block by block.
    way : Way
        How columns are cut into blocks, and how many are processed at a time.
    job : Job
        What is computed.
    ranges : Ranges
        Ranges of all columns.
    driver : Driver
        Says when to stop, and is given (columns done, columns in all).
    """

    solve: Callable[..., Part] = staticmethod(tasks.solve_block)

    def __init__(
        self,
        cluster: Cluster,
        source: ColumnSource,
        way: Way,
        job: Job,
        ranges: Ranges,
        driver: Driver,
    ) -> None:
        self.cluster, self.source, self.way, self.job, self.ranges = cluster, source, way, job, ranges
        self.driver = driver
        self.profile = job.new_profile(source.n_features)
        self.profile.relax(job.relaxed)

    def run(self, leaders: Sequence[int]) -> Profile:
        """Solve every column, or as many as time allows."""
        profile = self.profile
        reduction = Reduction(self.cluster, profile.phi.size)
        done, total = 0, self.source.n_features
        self.driver.report(0, total)
        leading: dict[
            tuple[int, ...], Future[Part]
        ] = {}  # leaders by their blocks, until the others of their blocks report them
        with self.driver.heeding():
            first, passes = self.plan(leaders)
            futures = self._submitted(first, None, {})
            bar = self._bar(list(futures)) if futures else None
            followed = {tuple(block) for stage in passes for block, todo in stage if todo}
            leading = {block: future for future, (block, _) in futures.items() if block in followed}
            for stage in passes:
                # Leaders and others wait for each other on the cluster.
                futures |= self._submitted(stage, bar, leading)
                for future in self.cluster.finished(futures, self.driver.late):
                    block, columns = futures[future]
                    if leading.get(block) is not future:
                        leading.pop(block, None)
                        reduction.add(future)
                    done += columns
                    self.driver.report(done, total)
                if self.driver.late():
                    break
                futures.clear()
        bar = None  # otherwise the cluster would still compute it
        for future in leading.values():  # the others of their blocks were given up
            if future.status == "finished":
                reduction.add(future)
        if done:
            for part in reduction.result():
                tasks.merge_into(profile.phi, profile.owner, 0, part)
                profile.done[list(part.done)] = True
                profile.work += part.work
                profile.bytes_read += part.bytes_read
                for column, loose in part.loose.items():
                    profile.notes[LOOSE][column] = loose
        if not profile.done.all():  # a worker may have found that time is over
            self.driver.late()
        profile.stopped = self.driver.stopped
        if profile.stopped is None:
            profile.never_fall()
        self.cluster.forget(self.job.token)
        return profile

    def plan(self, leaders: Sequence[int]) -> tuple[Stage, list[Stage]]:
        """Return what is solved first, then in each pass: a single one if the workers hold all columns."""
        at_once = self.job.slots * len(self.cluster.workers)
        # As many leaders as can be solved at once: each further one would be a task
        # that hardly lifts the bar.
        leading, rest = split(range(self.source.n_features), leaders[:at_once])
        if isinstance(self.source, DaskSource) and not self.source.resident:
            first, *others = [
                [(group, group) for group in wave]
                for some in (leading, rest)
                for wave in self.source.waves(some)
            ]
            return (first, others) if others else ([], [first])
        groups = self._groups()
        if not rest or self.source.n_features <= at_once:  # all start at once anyway
            return [], [[(group, group) for group in groups]]
        # Blocks with leaders first: they are already on the workers, and others travel in the meantime.
        groups.sort(key=lambda group: not set(leading) & set(group))
        parts = [(group, *split(group, leading)) for group in groups]
        return [(group, lead) for group, lead, _ in parts], [[(group, others) for group, _, others in parts]]

    def _bar(self, leading: list[Future[Part]]) -> Future[NDArray[np.float64]]:
        """Return what the leaders reached, compressed where they were solved, sent to each worker once."""
        size = self.profile.phi.size
        small = [self.cluster.submit(tasks.bar_of, part, self.job, size, soon=True) for part in leading]
        return self.cluster.submit(tasks.highest, small, soon=True)

    def _groups(self) -> list[list[int]]:
        if isinstance(self.source, DaskSource):
            return [list(group) for group in self.source.resident]
        every, width = list(range(self.source.n_features)), self.way.width
        return [every[at : at + width] for at in range(0, len(every), width)]

    def _submitted(
        self,
        stage: Stage,
        bar: Future[NDArray[np.float64]] | None,
        leading: dict[tuple[int, ...], Future[Part]],
    ) -> dict[Future[Part], tuple[tuple[int, ...], int]]:
        """Return futures of a stage, each with the columns of its block and how many of them it solves."""
        stage = [(columns, todo) for columns, todo in stage if todo]
        blocks = self.blocks([columns for columns, _ in stage])
        return {
            self.cluster.submit(
                self.solve, block, bar, self.job, columns, todo, slice_of(self.ranges, columns),
                leading.get(tuple(columns)),
            ): (tuple(columns), len(todo))
            for block, (columns, todo) in zip(blocks, stage, strict=True)
        }  # fmt: skip

    def blocks(self, groups: list[list[int]]) -> list[Any]:
        """Return futures of the columns."""
        if isinstance(self.source, DaskSource):
            return self.source.take(groups)
        return [[[self.cluster.hold(block_of(self.source, group))]] for group in groups]


def split(columns: Iterable[int], some: Collection[int]) -> tuple[list[int], list[int]]:
    """Return those of the columns that are among ``some``, and the others."""
    columns = list(columns)
    return [column for column in columns if column in some], [
        column for column in columns if column not in some
    ]


def block_of(source: ColumnSource, columns: list[int]) -> NDArray[np.floating] | csc_array:
    """Return some columns of data in this process, ready to travel; points of weight 0 stay here."""
    if isinstance(source, WeightedSource):
        block = block_of(source.source, columns)
        return block[:, source.present] if isinstance(block, np.ndarray) else block[source.present]
    if isinstance(source, SparseSource):
        return source.csc[:, columns]
    block = np.empty((len(columns), source.n_points), source.dtype)
    source.read(columns, block)
    return block


def weights_of(source: ColumnSource) -> NDArray[np.int64] | None:
    """Return multiplicities of the points of its blocks, if it has any."""
    return source.weights if isinstance(source, DaskSource | WeightedSource) else None


def slice_of(ranges: Ranges, columns: list[int]) -> Ranges:
    """Return the ranges of some columns."""
    return Ranges(
        ranges.least[columns],
        ranges.greatest[columns],
        ranges.spreads[columns],
        ranges.energies[columns],
        ranges.n_points,
    )


def new_token() -> str:
    """Return a unique name for a job."""
    return uuid.uuid4().hex
