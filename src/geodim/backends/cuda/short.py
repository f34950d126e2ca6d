"""Sources with many short columns: blocks of them are dropped together, by counts."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from geodim.backends.cuda.alike import AlikeColumns
from geodim.backends.cuda.columns import Batches, check_ends
from geodim.backends.cuda.device import fetch
from geodim.backends.cuda.dominated import DeviceDominance
from geodim.backends.cuda.feed import Feed
from geodim.backends.cuda.tensors import DeviceSource
from geodim.engine.driver import Driver
from geodim.engine.leaders import PER_SIZE, sample_rows, sample_sizes
from geodim.engine.profile import Profile
from geodim.memory import check_points
from geodim.optional import require
from geodim.planning.device import short_blocks

if TYPE_CHECKING:
    from collections.abc import Iterator

    import torch
    from numpy.typing import NDArray

    from geodim.data.checks import Ranges
    from geodim.data.sources import ColumnSource
    from geodim.engine.ways import Way
else:
    torch = require("torch", "gpu", "the CUDA backend")

SAMPLED_AT_ONCE = 4096  # columns, if they come from the host


def leading_columns(source: ColumnSource | DeviceSource, device: torch.device) -> list[int]:
    """Return the columns that are probably among the widest at some size.

    This is `geodim.engine.leaders.leaders` on the device.
    """
    points = sample_rows(source.n_points)
    sizes = sample_sizes(points.size)
    if not sizes.size:
        return []
    found = []
    for sample in _samples(source, points, device):
        l = torch.sort(sample, dim=1).values
        widths = [(l[:, k - 1 :] - l[:, : points.size - k + 1]).amin(1) for k in sizes.tolist()]
        found.append(torch.stack(widths))
    widest = torch.topk(torch.cat(found, 1), min(PER_SIZE, source.n_features), dim=1).indices
    chosen, often = np.unique(widest.cpu().numpy(), return_counts=True)
    return [int(column) for column in chosen[np.argsort(-often, kind="stable")]]


def _samples(
    source: ColumnSource | DeviceSource, points: NDArray[np.intp], device: torch.device
) -> Iterator[torch.Tensor]:
    """Yield all columns at some points, as rows, in blocks of columns."""
    if isinstance(source, DeviceSource):
        yield from source.at_points(points)
        return
    for first in range(0, source.n_features, SAMPLED_AT_ONCE):
        some = np.arange(first, min(first + SAMPLED_AT_ONCE, source.n_features))
        yield torch.as_tensor(np.ascontiguousarray(source.sample(some, points).T)).to(device)


def short_profile(
    source: ColumnSource | DeviceSource,
    device: torch.device,
    way: Way,
    *,
    ranges: Ranges | None = None,
    n_threads: int = 1,
    driver: Driver | None = None,
    profile: Profile | None = None,
    ends: NDArray[np.float64] | None = None,
) -> Profile:
    """Return Phi over many short columns, exactly; see `geodim.engine.solve.compute_profile`.

    Parameters
    ----------
    source : ColumnSource or DeviceSource
        Where the columns come from.
    device : torch.device
        Where to compute.
    way : Way
        ``width`` columns form a block, and ``solvers`` columns are solved together.
    ranges : Ranges, optional
        What the first pass found; a column with another range raises an error.
    n_threads : int
        Threads that copy from the host.
    driver : Driver, optional
        Decides when to stop, and receives progress as (columns done, all columns).
    profile : Profile, optional
        An empty profile to fill.
    ends : array of shape (n_features, 2), optional
        Receives the extremes of the columns, if no first pass found them.
    """
    n, d = source.n_points, source.n_features
    driver = driver or Driver()
    check_points(n)
    feed = Feed(source, device, source.dtype, n_threads)
    # Columns that are made anew each time are read nowhere else.
    alike = AlikeColumns.among(source, device) if profile is None else None
    batches = Batches(n, device, layers=1, batch=way.solvers, step=0.0, alike=alike)
    dominance = DeviceDominance(n, device)
    profile = Profile.empty(n, d) if profile is None else profile

    def finish(some: list[int]) -> None:
        profile.done[some] = True

    driver.report(0, d)
    with driver.heeding():
        with batches.timing("leaders"):
            leaders = sorted(leading_columns(source, device))
        others = np.setdiff1d(np.arange(d), leaders).tolist()
        edges = np.cumsum([0, *short_blocks(len(others), way.width)]).tolist()
        groups = [leaders, *(others[first:stop] for first, stop in pairwise(edges))]
        for group, rows in feed.blocks([group for group in groups if group]):
            with batches.timing("counts"):
                found = torch.stack(torch.aminmax(rows, dim=1), dim=1).double().cpu().numpy()
                kept = list(range(len(group)))
                if batches.solved[0]:
                    kept = dominance.survivors(rows, group, found).tolist()
            if ends is not None:
                ends[group] = found
            if ranges is not None:
                check_ends(group, found, ranges)
            finish(sorted({*group} - {group[at] for at in kept}))
            if not batches.solve(rows, [group[at] for at in kept], 0, driver.late, finish, kept):
                break
            batches.finish()
            batches.ends.clear()  # they were checked above
            dominance.look(batches.solver.phi[0], batches.solver.owner[0])
            driver.report(int(profile.done.sum()), d)
            if driver.late():
                break
    batches.finish()
    profile.stopped = driver.stopped
    profile.bytes_read = n * int(profile.done.sum()) * source.dtype.itemsize
    fetch(batches.solver.phi[0], profile.phi, n_threads)
    fetch(batches.solver.owner[0], profile.owner, n_threads)
    batches.timing.add("waiting for data", feed.waited)
    batches.timing.log(f"{d} columns, {dominance.sorted} sorted, {sum(batches.solved)} solved")
    profile.work[:2] = batches.solver.tests, batches.solver.windows
    if alike is not None:
        alike.solve(profile, way, ranges=ranges, n_threads=n_threads, driver=driver)
    return profile
