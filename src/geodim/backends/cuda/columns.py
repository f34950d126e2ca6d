"""All columns of a source on the device: read in blocks, sorted and solved in batches."""

from __future__ import annotations

import math
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from geodim.backends.cuda.alike import AlikeColumns
from geodim.backends.cuda.device import fetch, release
from geodim.backends.cuda.feed import Feed
from geodim.backends.cuda.solver import DeviceSolver
from geodim.backends.cuda.sorting import sorted_rows
from geodim.backends.cuda.timing import Timing
from geodim.engine.changed import changed
from geodim.engine.driver import Driver
from geodim.engine.profile import Profile
from geodim.errors import DeviceMemoryError
from geodim.memory import check_points
from geodim.optional import require
from geodim.planning.device import bytes_for

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import torch
    from numpy.typing import NDArray

    from geodim.data.checks import Ranges
    from geodim.data.sources import ColumnSource
    from geodim.engine.ways import Way
else:
    torch = require("torch", "gpu", "the CUDA backend")


class Batches:
    """Sorts and solves rows in batches, and in smaller ones when the device runs out of memory.

    Parameters
    ----------
    n_points, layers, batch
        See `DeviceSolver`.
    device : torch.device
        Where the columns are.
    step : float
        Values are rounded down to multiples of this; with 0 they stay as they are.
    alike : AlikeColumns, optional
        Notes which columns are left to the processor.
    """

    def __init__(
        self, n_points: int, device: torch.device, *, layers: int, batch: int, step: float,
        alike: AlikeColumns | None = None,
    ) -> None:  # fmt: skip
        self.solver = self._solver(n_points, device, layers, batch)
        self.step, self.alike = step, alike
        if alike is not None:
            self.solver.is_left = alike.left
        self.solved = [0] * layers
        # Least and greatest values of the columns, as they were read.
        self.ends: list[tuple[list[int], torch.Tensor]] = []
        self.timing = Timing(device)

    @staticmethod
    def _solver(n_points: int, device: torch.device, layers: int, batch: int) -> DeviceSolver:
        """Return a solver for as many columns as there is memory for, ``batch`` at most."""
        while True:
            try:
                return DeviceSolver(n_points, device, layers=layers, batch=batch)
            except torch.OutOfMemoryError as error:
                if batch == 1:
                    raise _too_little(n_points, layers) from error
            batch //= 2
            release(device)

    def solve(
        self,
        rows: torch.Tensor,
        columns: list[int],
        layer: int,
        stop: Callable[[], bool],
        done: Callable[[list[int]], None],
        order: list[int] | None = None,
        ends: NDArray[np.float64] | None = None,
    ) -> bool:
        """Raise phi by some rows, which may be overwritten; return False if ``stop`` ended it early.

        Parameters
        ----------
        rows : tensor of shape (n_rows, n_points)
            One column per row.
        columns : list of int
            The numbers of the columns to solve.
        layer : int
            See `DeviceSolver`.
        stop, done
            Return whether to stop; receive the columns that are done.
        order : list of int, optional
            The row of each of these columns; by default they follow one another.
        ends : array of shape (n_features, 2), optional
            The least and greatest value of each column, if a first pass found them.
        """
        order = list(range(len(columns))) if order is None else order
        at = 0
        while at < len(columns):
            if stop():
                return False
            size = self.next_size(len(columns) - at)
            part = columns[at : at + size]
            try:
                with self.timing("sorting"):
                    values = self._sorted(some(rows, order[at : at + size]))
                if self.alike is not None:
                    self.alike.look(values, part)
                with self.timing("windows"):
                    self.solver.solve(values, part, layer, None if ends is None else ends[part])
                if layer == 0:
                    self.ends.append((part, torch.stack([values[:, 0], values[:, -1]], dim=1)))
            except torch.OutOfMemoryError as error:
                values = None
                self._make_do(error)
                continue
            at += size
            self.solved[layer] += size
            done(part)
        return True

    def finish(self) -> None:
        """Wait until all columns are solved, with smaller waves if the device runs out of memory."""
        while True:
            try:
                self.solver.finish()
            except torch.OutOfMemoryError as error:
                self._make_do(error)
            else:
                return

    def check_ends(self, ranges: Ranges | None) -> None:
        """Raise unless columns begin and end where the first pass found them; otherwise the data changed."""
        if ranges is None or not self.ends:
            return
        columns = [column for part, _ in self.ends for column in part]
        found = torch.cat([ends for _, ends in self.ends]).double().cpu().numpy()
        check_ends(columns, found, ranges, self.step)

    def next_size(self, left: int) -> int:
        """Return how many of the columns that are left form the next batch."""
        return min(self.solver.batch, left)

    def _sorted(self, rows: torch.Tensor) -> torch.Tensor:
        """Return the rows in ascending order, rounded down to steps."""
        values = sorted_rows(rows)
        if self.step > 0.0:
            for row in values:  # in float64, dividing by a power of two and rounding down are exact
                row.copy_(row.double().div_(self.step).floor_().mul_(self.step))
        return values

    def _make_do(self, error: Exception) -> None:
        """Halve the batch, or shrink the waves if it is a single column; raise if neither is possible."""
        solver = self.solver
        while True:
            if solver.batch == 1:
                if solver.most_entries <= 1 << 20:
                    raise _too_little(solver.n, solver.layers) from error
                solver.most_entries //= 8
            release(solver.device)
            try:
                solver.shrink(max(solver.batch // 2, 1))
            except torch.OutOfMemoryError as again:  # even for that
                error = again
            else:
                return


def _too_little(n_points: int, layers: int) -> DeviceMemoryError:
    need = bytes_for(n_points, 8, layers, 1)
    return DeviceMemoryError(
        f"the device ran out of memory with one column of {n_points:,} points: about "
        f"{need / 1e9:.3g} GB are needed; use backend='cpu', or free memory on the device"
    )


def compute_profile(
    source: ColumnSource,
    device: torch.device,
    way: Way,
    *,
    step: float = 0.0,
    ranges: Ranges | None = None,
    leaders: Sequence[int] = (),
    n_threads: int = 1,
    driver: Driver | None = None,
) -> Profile:
    """Solve every column; see `geodim.engine.solve.compute_profile`."""
    if way.drops:
        from geodim.backends.cuda.short import short_profile  # noqa: PLC0415 - imports this module

        return short_profile(source, device, way, ranges=ranges, n_threads=n_threads, driver=driver)
    n, d, itemsize = source.n_points, source.n_features, source.dtype.itemsize
    driver = driver or Driver()
    check_points(n)
    feed = Feed(source, device, source.dtype, n_threads)
    alike = AlikeColumns.among(source, device, step)
    batches = Batches(n, device, layers=1, batch=way.solvers, step=step, alike=alike)
    finished = np.zeros(d, np.bool_)
    ends = None
    if ranges is not None and step == 0.0:
        ends = np.stack([ranges.least, ranges.greatest], axis=1)

    def done(columns: list[int]) -> None:
        finished[columns] = True
        driver.report(int(finished.sum()), d)

    driver.report(0, d)
    with ThreadPoolExecutor(1) as host:
        # A gigabyte or more to initialise, while the device works.
        coming = host.submit(Profile.empty, n, d, step, n_threads=n_threads)
        with driver.heeding():
            for group, rows in feed.blocks(in_blocks(d, way.width, leaders)):
                order = list(range(len(group)))
                if len(group) > way.solvers:  # otherwise they are solved all at once
                    order.sort(key=lambda at: group[at] not in leaders)
                if not batches.solve(rows, [group[at] for at in order], 0, driver.late, done, order, ends):
                    break
        profile = coming.result()
    batches.finish()
    batches.check_ends(ranges)
    profile.done[:], profile.stopped = finished, driver.stopped
    profile.bytes_read = n * d * itemsize
    with batches.timing("copies"):
        fetch(batches.solver.phi[0], profile.phi, n_threads)
        fetch(batches.solver.owner[0], profile.owner, n_threads)
    batches.timing.add("waiting for data", feed.waited)
    batches.timing.log(f"{d} columns, {feed.bytes_moved / 1e9:.1f} GB moved")
    profile.work[:2] = batches.solver.tests, batches.solver.windows
    if alike is not None:
        alike.solve(profile, way, ranges=ranges, n_threads=n_threads, driver=driver)
    return profile


def some(rows: torch.Tensor, order: list[int]) -> torch.Tensor:
    """Return rows in this order, without a copy if they follow one another."""
    first = order[0]
    if order == list(range(first, first + len(order))):
        return rows[first : first + len(order)]
    return rows[order]


def check_ends(columns: list[int], found: NDArray[np.float64], ranges: Ranges, step: float = 0.0) -> None:
    """Raise unless extremes, of shape (columns, 2), are those of the first pass, up to a step."""
    expected = np.stack([ranges.least[columns], ranges.greatest[columns]], axis=1)
    same = np.all(np.abs(found - expected) <= step, axis=1)
    if not same.all():
        at = int(np.argmin(same))
        raise changed(columns[at], tuple(expected[at].tolist()), tuple(found[at].tolist()))


def in_blocks(d: int, width: int, leaders: Sequence[int] = ()) -> list[list[int]]:
    """Return neighbouring columns in blocks of about equal size, those with leaders first."""
    edges = np.linspace(0, d, math.ceil(d / width) + 1).astype(int).tolist()
    blocks = [list(range(start, stop)) for start, stop in pairwise(edges)]
    return sorted(blocks, key=lambda block: not set(leaders) & set(block))
