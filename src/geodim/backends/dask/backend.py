"""The active Dask client as a backend, see `geodim.backends`."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from geodim.backends.dask.cells import CellPass
from geodim.backends.dask.cluster import Cluster
from geodim.backends.dask.columns import WholePass, new_token, weights_of
from geodim.backends.dask.histograms import CountPass
from geodim.backends.dask.made import solve_made
from geodim.backends.dask.source import DaskSource, is_dask
from geodim.backends.dask.tasks import Job
from geodim.backends.local import LocalBackend
from geodim.backends.meters import PeakMeter
from geodim.data.checks import scan_ranges
from geodim.data.sources import as_source
from geodim.errors import ClusterError, InputValueError
from geodim.families.solve import leading
from geodim.planning.cluster import plan_cluster

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from geodim.backends.hop_pass import HopPass
    from geodim.backends.meters import Meter
    from geodim.data.checks import Ranges
    from geodim.data.sources import ColumnSource
    from geodim.engine.driver import Driver
    from geodim.engine.profile import Profile
    from geodim.features.operators import Operator
    from geodim.planning.problem import Plan, Problem


class DaskBackend(LocalBackend):
    """The workers of the active client.

    Parameters
    ----------
    cluster : Cluster
        The client and its workers.
    """

    name = "dask"

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        self._cells: CellPass | None = None  # a pass with finer steps continues where the one before ended

    @classmethod
    def of(cls, X: object) -> DaskBackend:  # noqa: ARG003 - the client is the same for all data
        """Create the backend for the active client."""
        return cls(Cluster.active())

    def open(self, X: object, *, weights: object, names: Sequence[str] | None) -> ColumnSource:
        """Leave Dask arrays and frames on the cluster; anything else travels when columns are solved."""
        if is_dask(X):
            return DaskSource(X, self.cluster, weights, names)
        return as_source(X, weights=weights, names=names)

    def scan_ranges(self, source: ColumnSource, threads: int) -> Ranges:
        """Make the first pass over the data, where it lies."""
        return source.scan() if isinstance(source, DaskSource) else scan_ranges(source, threads)

    def problem(self, source: ColumnSource, rtol: float) -> Problem:
        """Return sizes and place of data here or on the cluster."""
        found = super().problem(source, rtol)
        if not isinstance(source, DaskSource):
            return found
        return replace(
            found, held=False, apart=True, chunks=len(source.parts), n_rows=source.n_rows,
            resident=bool(source.resident),
        )  # fmt: skip

    def plan(self, problem: Problem, threads: int, memory: int | None = None) -> Plan:  # noqa: ARG002
        """Plan for the workers, which have threads of their own."""
        return plan_cluster(problem, self.cluster.workers, budget=memory)

    def solve(
        self,
        source: ColumnSource,
        plan: Plan,
        *,
        step: float,
        ranges: Ranges,
        leaders: Sequence[int],
        driver: Driver,
    ) -> Profile:
        """Solve every column: as whole columns where one fits a worker, else by their counts."""
        if driver.keeps:
            raise InputValueError(
                "columns on a cluster cannot be saved in a checkpoint: leave it out, or use backend='cpu'"
            )
        way = plan.way
        if way.solvers == 0:
            raise ClusterError(str(plan.why_not))
        if way.by_chunk and not way.counted:
            assert isinstance(source, DaskSource)
            self._cells = self._cells or CellPass(self.cluster, source, ranges, driver)
            return self._cells.run(step)
        job = Job(
            token=new_token(),
            n_points=source.n_points,
            dtype=source.dtype,
            step=step,
            n_steps=way.steps,
            skipped=way.left_out,
            slots=way.solvers,
            threads=self.cluster.threads_each(way.solvers),
            deadline=driver.deadline_everywhere,
            weights=weights_of(source),
            relaxed=way.relaxed and step == 0.0,
        )
        kind = CountPass if way.by_chunk else WholePass
        return kind(self.cluster, source, way, job, ranges, driver).run(leaders)

    def solve_made(
        self,
        source: ColumnSource,
        *,
        profile: Profile,
        ends: NDArray[np.float64],
        threads: int,
        driver: Driver,
    ) -> None:
        """Solve computed columns."""
        solve_made(self.cluster, source, leading(source, threads), profile, ends, driver)

    def meter(self) -> Meter:
        """Return a meter of the memory of the worker that uses the most."""
        return PeakMeter(self.cluster.highest)

    def hop_pass(
        self,
        source: ColumnSource,
        kind: np.dtype[np.floating],
        operator: Operator,
        hops: int,
        plan: Plan,
    ) -> HopPass:
        """Run a pass over the hops of a graph."""
        from geodim.backends.dask.hops import DaskHopPass  # noqa: PLC0415

        if plan.why_not is not None:
            raise ClusterError(plan.why_not)
        return DaskHopPass(self.cluster, source, kind, operator, hops, plan)
