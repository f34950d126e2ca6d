"""A pass for columns that fit no worker: counts in cells that are made smaller where Phi is still open.

Counts of chunks add: no row ever leaves the worker that read it, and nothing of the size of a column or of
Phi exists anywhere.  A first pass over the data, with cells that a sample suggests, gives certified bounds.
Where they are too far apart, a further pass counts the columns that keep Phi open, in smaller cells where
they do (see `geodim.engine.cells`).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from geodim.backends.dask import reading
from geodim.backends.dask.histograms import FAN_IN, add_counts
from geodim.engine import cells
from geodim.engine.cells import CellProfile
from geodim.engine.pilot import sample_rows
from geodim.engine.steps import counter_type
from geodim.errors import ClusterError
from geodim.planning.cluster import MOST_SIZES

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from geodim.backends.dask.cluster import Cluster
    from geodim.backends.dask.source import DaskSource
    from geodim.data.checks import Ranges
    from geodim.engine.cells import Open
    from geodim.engine.driver import Driver

    Edges = list[NDArray[np.floating]]
    Counts = NDArray[np.signedinteger[Any]]


def count_chunk(
    chunks: list[tuple[Any, reading.Declared]],
    columns: list[NDArray[np.intp]],
    weights: NDArray[np.int64] | None,
    edges: Edges,
    *,
    kind: np.dtype[np.signedinteger[Any]],
) -> Counts:
    """Return points per cell, for some columns of one row of chunks; one column after the other."""
    counts = np.zeros(sum(one.size - 1 for one in edges), kind)
    each = iter(zip(edges, counts_of(counts, edges), strict=True))
    for chunk, some in zip(chunks, columns, strict=True):
        for column in reading.turned(*chunk, some):
            of_column, into = next(each)
            cells.count(np.ascontiguousarray(column), of_column, weights, into)
    return counts


def counts_of(counts: Counts, edges: Edges) -> list[Counts]:
    """Return the counts of each column."""
    return np.split(counts, np.cumsum([one.size - 1 for one in edges])[:-1])


@dataclass(frozen=True)
class Reach:
    """Bounds on Phi over some columns, and the column that attains the upper one."""

    lower: NDArray[np.float64]
    upper: NDArray[np.float64]
    owner: NDArray[np.int32]

    def with_other(self, other: Reach) -> Reach:
        """Return the bounds over both; the lowest column owns a tie."""
        wins = (other.upper > self.upper) | ((other.upper == self.upper) & (other.owner < self.owner))
        return Reach(
            np.maximum(self.lower, other.lower),
            np.maximum(self.upper, other.upper),
            np.where(wins, other.owner, self.owner),
        )


def reach_of(
    counts: Counts,
    edges: Edges,
    columns: list[int],
    which: list[int],
    sizes: NDArray[np.int64],
    outline: tuple[NDArray[np.int64], NDArray[np.float64]],
) -> Reach:
    """Return bounds over the columns that are listed in ``which``; an outline of Phi is known."""
    reach = Reach(np.zeros(sizes.size), np.full(sizes.size, -1.0), np.full(sizes.size, -1, np.int32))
    for column, own, of_column in zip(columns, counts_of(counts, edges), edges, strict=True):
        if column in which:
            bounds = cells.bounds_where_it_matters(sizes, of_column, own, outline)
            reach = reach.with_other(Reach(*bounds, np.full(sizes.size, column, np.int32)))
    return reach


def parts_of(
    counts: Counts, edges: Edges, columns: list[int], which: list[int], n_points: int, still: Open
) -> dict[int, NDArray[np.int64]]:
    """Return into how many parts to cut the cells of those columns that keep Phi open."""
    found = {}
    for column, own, of_column in zip(columns, counts_of(counts, edges), edges, strict=True):
        if column in which:
            parts = cells.next_parts(of_column, own, n_points, still)
            if parts is not None:
                found[column] = parts
    return found


@dataclass
class Counted:
    """Columns that were counted together, and which of them were not recounted since."""

    columns: list[int]
    which: list[int]
    edges: Any  # futures
    counts: Any


class CellPass:
    """Passes over a `DaskSource`, each for the columns that the ones before left open.

    Parameters
    ----------
    cluster : Cluster
        Where the tasks run.
    source : DaskSource
        The data.
    ranges : Ranges
        Ranges of all columns.
    driver : Driver
        Says when to stop, and is given (columns settled, columns in all).
    """

    def __init__(
        self,
        cluster: Cluster,
        source: DaskSource,
        ranges: Ranges,
        driver: Driver,
    ) -> None:
        self.cluster, self.source, self.ranges = cluster, source, ranges
        self.step = 0.0
        self.driver = driver
        self.groups: list[Counted] = []
        self.edges: dict[int, NDArray[np.floating]] = {}
        self.bytes_read = 0
        widest = ranges.widths.max()
        self.profile = self._profile(
            np.array([source.n_points]),
            Reach(np.array([widest]), np.array([widest]), np.array([ranges.widths.argmax()], np.int32)),
        )

    def run(self, step: float) -> CellProfile:
        """Count once, if what is known so far does not determine Delta to within one step."""
        self.step = self.profile.step = step or 1.0
        with self.driver.heeding():
            if self.ranges.d_max > 0.0:
                self._refine()
        self.profile.stopped = self.driver.stopped
        self.profile.bytes_read = self.bytes_read
        return self.profile

    def _refine(self) -> None:
        total, before = self.source.n_features, self.profile.rounded_mean()[1]
        edges = self._finer_edges() if self.groups else self._first_edges()
        self.driver.report(total - len(edges), total)
        sizes = self.profile.sizes if self.groups else cells.first_sizes(self.source.n_points)
        if edges:
            self._count(edges)
        if self.driver.late() or not self._bound(sizes):
            return
        off = self.profile.rounded_mean()[1]
        if not edges and off >= before:  # neither smaller cells nor more sizes are left
            raise self._too_fine(off / self.step)
        self.driver.report(total, total)

    def _first_edges(self) -> dict[int, NDArray[np.floating]]:
        """Return cells that a sample says are enough; larger ones if the workers lack room for all."""
        every = np.arange(self.source.n_features)
        sample = self.source.sample(every, sample_rows(self.source)).astype(self.source.dtype)
        least, greatest, step = self.ranges.least, self.ranges.greatest, self.step
        while True:
            edges = {
                column: cells.first_edges(
                    sample[:, column], float(least[column]), float(greatest[column]), step
                )
                for column in every.tolist()
            }
            crowded = 2.0 * self.cluster.share_of_room(sum(one.size for one in edges.values()))
            if crowded <= 1.0 or step > self.ranges.d_max:
                return edges
            step *= 2.0 * crowded

    def _count(self, edges: dict[int, NDArray[np.floating]]) -> None:
        """Make one pass over the data, for some columns, in these cells."""
        self.edges |= edges
        for group in self.groups:
            group.which = [column for column in group.which if column not in edges]
        self.groups = [group for group in self.groups if group.which]
        columns = list(edges)
        width = self.cluster.columns_per_task(len(columns))
        begun = []
        for at in range(0, len(columns), width):
            some = columns[at : at + width]
            held = self.cluster.hold([edges[column] for column in some])
            count = partial(count_chunk, kind=counter_type(self.source.n_points))
            begun.append((some, held, self.source.counts(some, count, add_counts, FAN_IN, held)))
        futures = self.cluster.compute([counts for *_, counts in begun])
        self.groups += [
            Counted(some, some, held, counts) for (some, held, _), counts in zip(begun, futures, strict=True)
        ]
        for _ in self.cluster.finished(futures, self.driver.late):
            pass
        self.bytes_read += self.source.n_rows * self.source.dtype.itemsize * len(columns)

    def _bound(self, sizes: NDArray[np.int64]) -> bool:
        """Find bounds from the counts, at more and more sizes until more would not help.

        Returns False if time is over before there are any.
        """
        while True:
            known = self.profile.outline()
            futures = [
                self.cluster.submit(
                    reach_of, group.counts, group.edges, group.columns, group.which, sizes, known
                )
                for group in self.groups
            ]
            for _ in self.cluster.finished(futures, self.driver.late):
                pass
            if self.driver.late():
                return False
            first, *others = self.cluster.results(futures)
            for other in others:
                first = first.with_other(other)
            self.profile = self._profile(sizes, first)
            more = self.profile.more_sizes(cells.SIZES * self.step)
            if more.size == sizes.size or more.size > MOST_SIZES:
                return True
            sizes = more

    def _finer_edges(self) -> dict[int, NDArray[np.floating]]:
        """Return smaller cells for the columns that keep Phi open."""
        n, still = self.source.n_points, self.profile.still_open()
        futures = [
            self.cluster.submit(parts_of, group.counts, group.edges, group.columns, group.which, n, still)
            for group in self.groups
        ]
        parts = {column: one for found in self.cluster.results(futures) for column, one in found.items()}
        crowded = self.cluster.share_of_room(sum(int(one.sum()) for one in parts.values()))
        if crowded > 1.0:
            raise self._too_fine(crowded)
        return {column: cells.refined(self.edges[column], one) for column, one in parts.items()}

    def _profile(self, sizes: NDArray[np.int64], reach: Reach) -> CellProfile:
        n, d = self.source.n_points, self.source.n_features
        profile = CellProfile.of(n, d, self.step, sizes, (reach.lower, reach.upper), reach.owner)
        profile.done[:] = bool(self.groups)
        return profile

    def _too_fine(self, factor: float) -> ClusterError:
        return ClusterError(
            f"this tolerance needs more cells than the workers can hold in {self.cluster.room:,.0f} "
            f"bytes, or more than {MOST_SIZES:,} sizes: use an rtol {1.1 * factor:.2g} times as "
            "large, or workers with more memory"
        )
