"""Computed columns on a cluster: every worker has the points, and computes and solves its share of columns.

Leaders come first.  What they reached goes to all other tasks, which drop nearly all of their columns by
counts, and comes back from each of them; so the maximum over all tasks is Phi, bit for bit.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from geodim.backends.dask.reduction import Reduction
from geodim.backends.dask.tasks import Part, merge_into, merge_parts
from geodim.engine.driver import Driver
from geodim.engine.profile import Profile
from geodim.engine.solve import compute_profile
from geodim.planning.cluster import MADE_TASKS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from distributed import Future
    from numpy.typing import NDArray

    from geodim.backends.dask.cluster import Cluster
    from geodim.data.sources import ColumnSource

    Rest = tuple[NDArray[np.intp], NDArray[np.float64], dict[str, NDArray[np.float64]]]


@dataclass(frozen=True)
class Made:
    """What a task found: Phi, the extremes of its columns, and what the source recorded on the way."""

    part: Part
    columns: NDArray[np.intp]
    ends: NDArray[np.float64]
    notes: dict[str, NDArray[np.float64]]


def solve_some(source: ColumnSource, columns: list[int], deadline: float | None, before: Part | None) -> Made:
    """Compute and solve some columns, on a worker and in one thread; what was reached before is included."""
    n, m = source.n_points, source.n_features
    profile = Profile.empty(n, m)
    profile.done[:] = True
    profile.done[columns] = False
    if before is not None:
        merge_into(profile.phi, profile.owner, 0, before)
    ends = np.full((m, 2), np.nan)
    driver = Driver.until(deadline)
    compute_profile(source, n_threads=1, driver=driver, profile=profile, ends=ends)
    done = np.array([column for column in columns if profile.done[column]], np.intp)
    notes = {name: values.copy() for name, values in getattr(source, "notes", {}).items()}
    part = Part(0, profile.phi, profile.owner, tuple(done.tolist()), 0, profile.work, profile.bytes_read)
    return Made(part, done, ends[done], notes)


def part_of(made: Made) -> Part:
    """Return the part that is merged on the workers."""
    return made.part


def rest_of(made: Made) -> Rest:
    """Return the part that is sent to the client."""
    return made.columns, made.ends, made.notes


def solve_made(
    cluster: Cluster,
    source: ColumnSource,
    leaders: Sequence[int],
    profile: Profile,
    ends: NDArray[np.float64],
    driver: Driver,
) -> None:
    """Solve every column of a source that computes them, or as many as time allows.

    Parameters
    ----------
    cluster : Cluster
        Where the tasks run.
    source : ColumnSource
        It travels to every worker once.
    leaders : sequence of int
        Columns to solve first.
    profile : Profile
        The profile, which is filled.
    ends : array of shape (n_features, 2)
        For the extremes of the columns, written.
    driver : Driver
        Says when to stop, and is given (columns done, columns in all).
    """
    parts: list[Part] = []
    rest: list[Rest] = []
    with driver.heeding():
        parts, rest = cluster.outlasting(lambda: _solved(cluster, source, leaders, profile.phi.size, driver))
    for part in parts:
        merge_into(profile.phi, profile.owner, 0, part)
        profile.work += part.work
        profile.bytes_read += part.bytes_read
    noted = getattr(source, "notes", {})
    for columns, found, notes in rest:
        profile.done[columns], ends[columns] = True, found
        for name, values in notes.items():  # distances to the nearest of some landmarks
            np.minimum(noted[name], values, out=noted[name])
    if not profile.done.all():  # a worker may have found that time is over
        driver.late()
    profile.stopped = driver.stopped


def _solved(
    cluster: Cluster, source: ColumnSource, leaders: Sequence[int], size: int, driver: Driver
) -> tuple[list[Part], list[Rest]]:
    """Return the maximum over all columns, in segments, and the rest of what the tasks found."""
    total, threads = source.n_features, sum(worker.threads for worker in cluster.workers)
    reduction = Reduction(cluster, size)
    rest: list[Future[Rest]] = []
    done = 0
    driver.report(0, total)
    points, bar = cluster.broadcast(source), None
    others = np.setdiff1d(np.arange(total), np.asarray(leaders, np.intp))
    for stage, shares in ((np.asarray(leaders, np.intp), threads), (others, MADE_TASKS * threads)):
        blocks = [some.tolist() for some in np.array_split(stage, min(shares, stage.size or 1)) if some.size]
        futures = {
            cluster.submit(solve_some, points, some, driver.deadline_everywhere, bar): len(some)
            for some in blocks
        }
        parts = []
        for future in cluster.finished(list(futures), driver.late):
            parts.append(cluster.submit(part_of, future, soon=True))
            rest.append(cluster.submit(rest_of, future, soon=True))
            reduction.add(parts[-1])
            done += futures[future]
            driver.report(done, total)
        bar = cluster.submit(merge_parts, parts, soon=True) if parts else None
        if driver.late():
            break
    bar = None  # otherwise the cluster would still compute it
    return (reduction.result(), cluster.results(rest)) if rest else ([], [])
