"""A pass by counts, where the workers do not hold the columns: histograms of all chunks, added up as a tree.

With a tolerance, values are rounded to steps, and all that matters of a column is how many points each step
holds (see `geodim.engine.counting`).  Counts of chunks add: no row ever leaves the worker that read it, and
nothing of the size of a column or of Phi exists anywhere.  One pass certifies the bounds to one step.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from geodim.backends.dask import reading, tasks
from geodim.backends.dask.columns import WholePass
from geodim.engine.steps import counter_type
from geodim.errors import DataChangedError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from geodim.backends.dask.columns import Stage
    from geodim.backends.dask.tasks import Job, Part
    from geodim.data.checks import Ranges

FAN_IN = 4


def count_chunk(
    chunks: list[tuple[Any, reading.Declared]],
    columns: list[NDArray[np.intp]],
    weights: NDArray[np.int64] | None,
    *,
    step: float,
    first_steps: NDArray[np.float64],
    n_steps: int,
    kind: np.dtype[np.signedinteger[Any]],
) -> NDArray[np.signedinteger[Any]]:
    """Return points per step, for some columns of one row of chunks; shape (columns, steps)."""
    from geodim.engine.kernels.sorting import OUTSIDE, count_steps  # noqa: PLC0415 - imports Numba

    counts = np.zeros((first_steps.size, n_steps), kind)
    at = 0
    for chunk, some in zip(chunks, columns, strict=True):
        for column in reading.turned(*chunk, some):
            first = float(first_steps[at])
            if weights is not None:
                present = weights > 0  # the first pass skipped the others
                where = np.floor(column[present].astype(np.float64) / step) - first
                if not np.all((where >= 0) & (where < n_steps)):
                    raise DataChangedError(OUTSIDE)
                counts[at] = np.bincount(where.astype(np.intp), weights=weights[present], minlength=n_steps)
            else:  # float32 does not hold every number of a step from 2^23 on
                wide = abs(first) + n_steps >= 2.0**23
                values = column.astype(np.float64) if wide else np.ascontiguousarray(column)
                number = values.dtype.type
                count_steps(values, number(1.0 / step), number(first), counts[at])
            at += 1
    return counts


def add_counts(some: list[NDArray[np.signedinteger[Any]]]) -> NDArray[np.signedinteger[Any]]:
    """Return histograms of several chunks, together."""
    total = some[0].copy()
    for counts in some[1:]:
        total += counts
    return total


def solve_counts(
    counts: NDArray[np.signedinteger[Any]],
    bar: NDArray[np.float64] | None,
    job: Job,
    columns: list[int],
    todo: list[int],
    ranges: Ranges,
    before: Part | None = None,
) -> Part:
    """Solve the columns ``todo`` by their counts; see `geodim.backends.dask.tasks.solve_block`."""
    from geodim.engine.counting import CountingSolver, check_exact  # noqa: PLC0415 - imports Numba

    assert job.n_steps is not None
    n_steps = job.n_steps
    profile = job.new_profile(len(columns))
    bench = tasks.bench_of(job, profile.phi.size)

    def make() -> tasks.Place:
        solver = CountingSolver(job.n_points, job.step, n_steps, ranges.least, left_out=job.skipped)
        return tasks.Place(solver, 0, np.dtype(np.float64))

    with bench.place(make) as place:
        solver = place.solver
        assert isinstance(solver, CountingSolver)
        if bar is not None:
            bench.lift(bar)
        bench.preset(profile)
        if before is not None:
            tasks.take_up(profile, before, columns)
        profile.done[~np.isin(columns, todo)] = True
        for at in np.flatnonzero(~profile.done).tolist():
            check_exact(int(counts[at].max()), counts[at].size, columns[at])
            if not solver.solve_counts(counts[at].astype(np.float64), at, profile, job.clock()):
                break
            profile.finish(at)
        return tasks.part_of(profile, bench, np.asarray(columns), todo, before=before)


class CountPass(WholePass):
    """One pass by counts over a `DaskSource`."""

    solve = staticmethod(solve_counts)
    held: dict[tuple[int, ...], Any]

    def plan(self, leaders: Sequence[int]) -> tuple[Stage, list[Stage]]:
        """Count as many columns at a time as workers have room for; each time the data is read once."""
        every, way = list(range(self.source.n_features)), self.way
        groups = [every[at : at + way.width] for at in range(0, len(every), way.width)]
        waves = [groups[at : at + way.blocks] for at in range(0, len(groups), way.blocks)]
        self.held = {}
        if len(waves) > 1:
            return [], [[(group, group) for group in wave] for wave in waves]
        self.held = dict(zip(map(tuple, groups), self._counted(groups), strict=True))
        rest = set(every) - set(leaders)
        first = [(group, [column for column in group if column in leaders]) for group in groups]
        return first, [[(group, [column for column in group if column in rest]) for group in groups]]

    def blocks(self, groups: list[list[int]]) -> list[Any]:
        """Return futures of the counts."""
        if self.held:
            return [self.held[tuple(group)] for group in groups]
        return self._counted(groups)

    def _counted(self, groups: list[list[int]]) -> list[Any]:
        job, source = self.job, self.source
        assert job.n_steps is not None
        return self.cluster.compute(
            [
                source.counts(  # type: ignore[attr-defined]
                    group,
                    partial(
                        count_chunk,
                        step=job.step,
                        first_steps=np.floor(self.ranges.least[group] / job.step),
                        n_steps=job.n_steps,
                        kind=counter_type(job.n_points),
                    ),
                    add_counts,
                    FAN_IN,
                )
                for group in groups
            ]
        )
