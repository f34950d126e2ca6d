"""The active Dask client: what `geodim.backends` asks of a place to run."""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING, Any

from geodim.backends.dask.cells import CellPass
from geodim.backends.dask.cluster import Cluster
from geodim.backends.dask.columns import ColumnPass, new_token, weights_of
from geodim.backends.dask.histograms import BYTES_PER_STEP, CountPass, steps_of
from geodim.backends.dask.source import DaskSource
from geodim.backends.dask.tasks import Job
from geodim.backends.local import LocalBackend
from geodim.data.checks import scan_ranges
from geodim.data.sources import as_source
from geodim.engine.steps import may_leave_out, steps_needed, worth_counting
from geodim.errors import ClusterError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy as np

    from geodim.backends.hop_pass import HopPass
    from geodim.data.checks import Ranges
    from geodim.data.sources import ColumnSource
    from geodim.engine.profile import Profile
    from geodim.features.operators import Operator

# Bytes per point of a column in work: the solver (see docs/architecture.md), a profile, the
# worker's bar, and a result.
BYTES_IN_WORK = {4: 25 + 12 + 8 + 12 + 4, 8: 33 + 12 + 8 + 12 + 8}


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
        self._counted = False  # with a coarser step
        self._cells: CellPass | None = None  # goes on where that one ended

    @classmethod
    def of(cls, X: Any) -> DaskBackend:  # noqa: ARG003 - the client is the same for all data
        """On the active client."""
        return cls(Cluster.active())

    def open(self, X: Any, *, weights: Any, names: Sequence[str] | None) -> ColumnSource:
        """Leave Dask arrays and frames on the cluster; anything else travels when columns are solved."""
        if type(X).__module__.partition(".")[0] in ("dask", "dask_expr"):
            return DaskSource(X, self.cluster, weights, names)
        return as_source(X, weights=weights, names=names)

    def scan_ranges(self, source: ColumnSource, threads: int) -> Ranges:
        """First pass over the data, where it lies."""
        return source.scan() if isinstance(source, DaskSource) else scan_ranges(source, threads)

    def holds_columns(self, source: ColumnSource) -> bool:
        """Whether a worker has room for a whole column in work."""
        return self._slots(source) > 0

    def _slots(self, source: ColumnSource) -> int:
        return self.cluster.slots(source.n_points * BYTES_IN_WORK[source.dtype.itemsize])

    def compute_profile(
        self,
        source: ColumnSource,
        *,
        step: float,
        ranges: Ranges,
        skip_smallest: bool,
        leaders: Sequence[int],
        n_threads: int,  # noqa: ARG002 - the workers have theirs
        deadline: float | None,
        progress: Callable[[int, int], None] | None,
    ) -> Profile:
        """Solve every column: as whole columns where one fits a worker, else by their counts."""
        n, slots = source.n_points, self._slots(source)
        kind: type[ColumnPass] = ColumnPass
        if isinstance(source, DaskSource) and not slots:
            # One pass by counts per step; where there is no room for these, or they
            # were too coarse, in cells.
            n_steps = steps_of(ranges, step) if step > 0.0 else math.inf
            slots = 0 if self._counted else self.cluster.slots(n_steps * BYTES_PER_STEP)
            if not slots and (step > 0.0 or ranges.d_max == 0.0):
                self._cells = self._cells or CellPass(self.cluster, source, ranges, deadline, progress)
                return self._cells.run(step)
            kind, counted = CountPass, True
        else:
            n_steps = steps_needed(ranges.least, ranges.greatest, step)[1] if step > 0.0 else math.inf
            counted = worth_counting(n_steps, n)
            if isinstance(source, DaskSource) and counted and not source.resident:
                kind, slots = CountPass, self.cluster.slots(n_steps * BYTES_PER_STEP)
        if not slots:
            raise self._too_large(source)
        self._counted = counted
        steps = int(n_steps) if counted else None
        job = Job(
            token=new_token(),
            n_points=n,
            dtype=source.dtype,
            step=step,
            n_steps=steps,
            skipped=may_leave_out(steps or n) if skip_smallest else 0,
            slots=slots,
            threads=self.cluster.threads_each(slots),
            deadline=None if deadline is None else time.time() + deadline - time.monotonic(),
            weights=weights_of(source),
        )
        return kind(self.cluster, source, job, ranges, deadline, progress).run(leaders)

    def _too_large(self, source: ColumnSource) -> ClusterError:
        """What would have to be different."""
        need = source.n_points * BYTES_IN_WORK[source.dtype.itemsize]
        return ClusterError(
            f"exact values of a column of {source.n_points:,} points need {need:,} bytes in work, and a "
            f"worker may use {self.cluster.workroom:,.0f}: use workers with more memory, or rtol > 0 with "
            "data that the workers read themselves, which is counted where its rows lie"
        )

    def hop_pass(
        self,
        source: ColumnSource,
        kind: np.dtype[np.floating],
        operator: Operator,
        hops: int,
        threads: int,  # noqa: ARG002
    ) -> HopPass:
        """A pass over the hops of a graph."""
        from geodim.backends.dask.hops import DaskHopPass  # noqa: PLC0415

        return DaskHopPass(self.cluster, source, kind, operator, hops)
