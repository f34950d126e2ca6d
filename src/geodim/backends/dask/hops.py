"""A pass over the hops of a graph on a cluster: every task takes a block of attributes through all hops.

The operator is sent to every worker once.  A task solves its columns against what was reached before and
returns what they add to each layer; the client takes the merged layers home from time to time, and only then
counts their attributes as done.  What a lost scheduler takes with it is computed again.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from geodim.backends.dask import tasks
from geodim.backends.dask.columns import block_of, new_token, slice_of
from geodim.backends.dask.reduction import Reduction
from geodim.backends.dask.source import DaskSource
from geodim.backends.dask.tasks import Job, Part
from geodim.backends.hop_pass import HopPass
from geodim.engine.driver import Driver
from geodim.engine.layers import Layers
from geodim.engine.profile import LOOSE
from geodim.engine.ways import Way
from geodim.planning.cluster import AHEAD

if TYPE_CHECKING:
    from collections.abc import Iterator

    from distributed import Future
    from numpy.typing import NDArray

    from geodim.backends.dask.cluster import Cluster
    from geodim.backends.dask.reading import Block
    from geodim.data.checks import Ranges
    from geodim.data.sources import ColumnSource
    from geodim.features.operators import Operator
    from geodim.planning.problem import Plan

TAKE_HOME = 1.0  # seconds between two readings of the layers, or ten times as long as one takes


@dataclass(frozen=True)
class LayerParts:
    """What a block of attributes adds to every layer, and which nodes it does not tell apart."""

    layers: list[Part]
    classes: list[NDArray[np.intp]] = field(default_factory=list)


class _Classes:
    """Stands in for `Twins` on a worker: equal rows of a block, at every hop."""

    def __init__(self) -> None:
        self.found: list[NDArray[np.intp]] = []

    def refine(self, _hop: int, block: NDArray[np.floating]) -> None:
        rows = np.ascontiguousarray(block + 0.0)  # -0.0 equals 0.0
        self.found.append(np.unique(rows, axis=0, return_inverse=True)[1].reshape(-1))


def solve_hops(
    block: Block,
    bars: list[NDArray[np.float64]] | None,
    operator: Operator,
    job: Job,
    columns: list[int],
    kind: np.dtype[np.floating],
    n_features: int,
    twins: bool,
    ranges: Ranges | None = None,
) -> LayerParts:
    """Take one block of attributes through all hops."""
    width = len(columns)
    bench = tasks.bench_of(job, job.n_points)
    with bench.gate:
        layers = Layers(job.n_points, width, job.hops, job.step)
        layers.relax(job.relaxed)
        for hop, profile in enumerate(layers.profiles):
            if bars is not None:
                bench.lift(bars[hop], hop)
            bench.preset(profile, hop)
        way = Way(width=width, solvers=job.threads)
        worker = HopPass(tasks.open_block(block, None), kind, operator, job.hops, way, job.threads)
        worker.ranges = ranges
        worker.twins = _Classes() if twins else None  # type: ignore[assignment]
        worker.run(layers, Driver(job.local_deadline()))
        whole = layers.profiles[0].stopped is None
        found = []
        for hop, profile in enumerate(layers.profiles):
            names = np.concatenate([m * n_features + np.asarray(columns) for m in range(hop + 1)])
            part = tasks.part_of(profile, bench, names, [], hop=hop)
            found.append(replace(part, done=tuple(columns) if whole and hop == 0 else ()))
        return LayerParts(found, worker.twins.found if twins else [])  # type: ignore[union-attr]


def merge_layers(found: list[LayerParts]) -> LayerParts:
    """Return the elementwise maximum of every layer."""
    layers = zip(*(one.layers for one in found), strict=True)
    return LayerParts([tasks.merge_parts(list(parts)) for parts in layers])


def classes_of(found: LayerParts) -> list[NDArray[np.intp]]:
    """Return which nodes a block does not tell apart."""
    return found.classes


class DaskHopPass(HopPass):
    """A `HopPass` on a cluster."""

    def __init__(
        self,
        cluster: Cluster,
        source: ColumnSource,
        kind: np.dtype[np.floating],
        operator: Operator,
        hops: int,
        plan: Plan,
    ) -> None:
        super().__init__(source, kind, operator, hops, plan.way, cluster.threads)
        self.cluster = cluster

    def run(self, layers: Layers, driver: Driver) -> None:
        """Solve what is left, until done or stopped; the state is kept even if the cluster is lost."""
        slots = self.way.solvers
        job = Job(
            token=new_token(),
            n_points=self.source.n_points,
            dtype=self.kind,
            step=layers.profiles[0].step,
            n_steps=None,
            skipped=0,
            slots=slots,
            threads=self.cluster.threads_each(slots),
            deadline=driver.deadline_everywhere,
            hops=self.hops,
            relaxed=LOOSE in layers.profiles[0].notes,
        )
        try:
            with driver.heeding():
                self.cluster.outlasting(lambda: self._solve(job, layers, driver))
        finally:
            layers.stop(driver.stopped)
            self.cluster.forget(job.token)
            driver.keep(layers.profiles)

    def _solve(self, job: Job, layers: Layers, driver: Driver) -> None:
        """Solve what the layers lack."""
        home = _Home(self.cluster, layers, driver)
        for future in self._solved(job, layers, driver, home):
            if self.twins is not None:
                (classes,) = self.cluster.results([self.cluster.submit(classes_of, future)])
                for hop, one in enumerate(classes):
                    self.twins.refine(hop, one[:, np.newaxis])
            home.add(future)
        home.take()

    def _solved(self, job: Job, layers: Layers, driver: Driver, home: _Home) -> Iterator[Future[LayerParts]]:
        """Yield the futures of the blocks as they finish.

        Few enough are submitted at a time that later ones still profit from earlier ones.
        """
        operator = self.cluster.broadcast(self.operator)
        for wave in self._waves(layers.unfinished()):
            blocks = self._blocks(wave)
            waiting = list(zip(wave, blocks, strict=True))
            at_once = max(1, AHEAD * job.slots * len(self.cluster.workers))
            running: dict[Future[LayerParts], list[int]] = {}

            def more(
                waiting: list[Any] = waiting, running: dict[Future[LayerParts], list[int]] = running
            ) -> list[Future[LayerParts]]:
                new = []
                while waiting and len(running) < at_once:  # noqa: B023 - used before the next wave only
                    columns, block = waiting.pop(0)
                    block = block() if callable(block) else block
                    future = self.cluster.submit(
                        solve_hops, block, home.bars(), operator, job, columns, self.kind,
                        self.source.n_features, self.twins is not None,
                        None if self.ranges is None else slice_of(self.ranges, columns),
                    )  # fmt: skip
                    running[future] = columns
                    new.append(future)
                return new

            for future in self.cluster.finished(more(), driver.late, more):
                del running[future]
                yield future
            if driver.late():
                return

    def _waves(self, columns: list[int]) -> list[list[list[int]]]:
        """Return blocks of columns that the workers can hold at a time."""
        width = self.way.width

        def split(some: list[int]) -> list[list[int]]:
            return [some[at : at + width] for at in range(0, len(some), width)]

        if not isinstance(self.source, DaskSource):
            return [split(columns)] if columns else []
        if self.source.resident:
            left = set(columns)
            return [
                [
                    part
                    for group in self.source.resident
                    for part in split([column for column in group if column in left])
                ]
            ]
        return [
            split([column for group in wave for column in group])
            for wave in self.source.waves(columns)
            if wave
        ]

    def _blocks(self, groups: list[list[int]]) -> list[Any]:
        if isinstance(self.source, DaskSource):
            return self.source.take(groups)
        return [lambda group=group: [[self.cluster.hold(block_of(self.source, group))]] for group in groups]


class _Home:
    """The layers on the client: merged on the cluster, fetched from time to time, saved when that is due."""

    def __init__(self, cluster: Cluster, layers: Layers, driver: Driver) -> None:
        self.cluster, self.layers, self.driver = cluster, layers, driver
        self.reduction = Reduction(cluster, 1, merge_layers)
        self.taken = time.monotonic()
        self.pause = TAKE_HOME
        self._bars: Future[list[NDArray[np.float64]]] | None = None
        if layers.profiles[0].done.any():
            self._renew_bars()

    def add(self, future: Future[LayerParts]) -> None:
        """Record that a block was solved."""
        self.reduction.add(future)
        due = self.driver.due()
        if due or time.monotonic() - self.taken >= self.pause:
            self.take()
        if due:
            self.driver.keep(self.layers.profiles)

    def take(self) -> None:
        """Merge what was solved since into the layers here."""
        started = time.monotonic()
        for found in self.reduction.result():
            for profile, part in zip(self.layers.profiles, found.layers, strict=True):
                tasks.merge_into(profile.phi, profile.owner, 0, part)
                profile.work += part.work
                for column, loose in part.loose.items():
                    profile.notes[LOOSE][column] = loose
            self.layers.finish(list(found.layers[0].done))
            self._renew_bars()
            self.driver.report(self.layers)
        self.taken = time.monotonic()
        self.pause = max(TAKE_HOME, 10 * (self.taken - started))

    def bars(self) -> Future[list[NDArray[np.float64]]] | None:
        """Return the future of a small lower bound on every layer, or None."""
        return self._bars

    def _renew_bars(self) -> None:
        self._bars = self.cluster.hold(
            [tasks.coarse(profile.phi, 0, profile.phi.size) for profile in self.layers.profiles]
        )
