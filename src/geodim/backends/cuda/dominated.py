"""Which of many short columns may attain Phi somewhere: decided by counts, a block of columns at a time.

Handling one column after the other would spend all time on launches.  Here a block of columns is counted in
cells in one launch, and segments of sizes are settled in parallel.  Where cells are too coarse, the densest
values are sorted, and finally the columns that are still open.  See `geodim.engine.dominated`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from geodim.backends.cuda import dominated_kernels
from geodim.engine.kernels.dominated import LARGEST_CELL, SMALLEST_CELL
from geodim.optional import require
from geodim.planning.device import DENSE, SORTED_AT_ONCE, dense_room, short_cells

if TYPE_CHECKING:
    import torch
    from numpy.typing import NDArray
else:
    torch = require("torch", "gpu", "the CUDA backend")

PER = 4096  # points of one program
SEGMENTS = 64  # of sizes: this many equally spaced, and as many again that are denser where sizes are small
ROUNDS = 64  # windows of cells examined per segment,
LOOKS = 32  # and windows of values


class DeviceDominance:
    """The bar that columns are compared with, and the test that drops them.

    Parameters
    ----------
    n_points : int
        Length of the columns.
    device : torch.device
        Where they are.
    """

    def __init__(self, n_points: int, device: torch.device) -> None:
        self.n, self.device = n_points, device
        self.n_cells = short_cells(n_points)
        steps = np.concatenate(
            [np.linspace(2, n_points + 1, SEGMENTS), np.geomspace(2, n_points + 1, SEGMENTS)]
        )
        self.edges = torch.as_tensor(np.unique(steps.astype(np.int32)), device=device)
        self.segments = self.edges.numel() - 1
        self.bar = torch.zeros(n_points, dtype=torch.float64, device=device)
        self.owner = torch.full((n_points,), -1, dtype=torch.int32, device=device)
        self.tested = self.sorted = self.kept = 0

    def look(self, phi: torch.Tensor, owner: torch.Tensor) -> None:
        """Update the bar to what has been reached so far."""
        self.bar, self.owner = torch.cummax(phi, 0).values, owner

    def survivors(
        self, values: torch.Tensor, columns: list[int], ends: NDArray[np.float64]
    ) -> NDArray[np.intp]:
        """Return the rows that may attain Phi somewhere; all others are proved not to.

        Parameters
        ----------
        values : tensor of shape (len(columns), n_points)
            float32 or float64, one column per row.
        columns : list of int
            Their numbers: a column that only ties with lower columns is dropped.
        ends : array of float64, shape (len(columns), 2)
            Least and greatest value of each row.
        """
        with np.errstate(over="ignore"):
            spans = ends[:, 1] - ends[:, 0]
        cells = np.ldexp(1.0, np.frexp(np.where(np.isfinite(spans), spans, 1.0))[1]) / self.n_cells
        testable = (spans > 0.0) & (spans < np.inf) & (cells > SMALLEST_CELL) & (cells < LARGEST_CELL)
        kept = [np.flatnonzero(~testable & (spans != 0.0))]  # constant columns attain nothing
        rows = np.flatnonzero(testable)
        if rows.size:
            left = self._by_cells(values, rows, ends[rows], cells[rows])
            left = self._by_densest(values, rows, columns, left)
            kept.append(self._by_all(values, rows, columns, left))
        self.tested += len(columns)
        found = np.sort(np.concatenate(kept))
        self.kept += found.size
        return found

    def _by_cells(
        self,
        values: torch.Tensor,
        rows: NDArray[np.intp],
        ends: NDArray[np.float64],
        cells: NDArray[np.float64],
    ) -> torch.Tensor:
        """Return the first open size of every segment, (rows, segments); keep the counts for later."""
        n, device, count = self.n, self.device, rows.size
        first = np.floor(ends[:, 0] / cells)
        number = (np.floor(ends[:, 1] / cells) - first).astype(np.int32) + 1
        stride = self.n_cells + 3
        scales = torch.as_tensor(np.stack([1.0 / cells, first], axis=1), device=device)
        counts = torch.zeros((count, stride), dtype=torch.int32, device=device)
        some = values if count == len(values) else values[torch.as_tensor(rows, device=device)]
        dominated_kernels.count_cells[(-(-n // PER), count)](some, n, scales, counts, stride, PER=PER)
        before = torch.cumsum(counts, 1, dtype=torch.int32)
        self._before, self._number = before, torch.as_tensor(number, device=device)
        self._first, self._cells = first, cells
        spans = torch.as_tensor(ends[:, 1] - ends[:, 0], device=device)
        tops = torch.searchsorted(self.bar, spans, right=True, out_int32=True)
        left = torch.empty((count, self.segments), dtype=torch.int32, device=device)
        dominated_kernels.settle_by_cells[(self.segments, count)](
            before, stride, self._number, torch.as_tensor(cells, device=device), tops, self.bar, self.edges,
            self.segments, ROUNDS, left, TILE=1024,
        )  # fmt: skip
        # A column that has points outside of all cells must not be dropped because of its counts.
        left[before[:, -1] != n] = 2
        self._tops = tops
        return left

    def _by_densest(
        self, values: torch.Tensor, rows: NDArray[np.intp], columns: list[int], left: torch.Tensor
    ) -> torch.Tensor:
        """Settle small sizes with the values of the densest cells."""
        n, device = self.n, self.device
        chosen = torch.nonzero((left > 0).any(1))[:, 0]
        room = dense_room(n)
        if chosen.numel() == 0 or room < 64:
            return left
        before, number = self._before[chosen], self._number[chosen]
        found = torch.empty((chosen.numel(), 3), dtype=torch.int32, device=device)
        dominated_kernels.densest_cells[(chosen.numel(),)](
            before, before.shape[1], number, n // DENSE, found, TILE=1024
        )
        which = chosen.cpu().numpy()
        window = found.cpu().numpy().astype(np.float64)
        low = (self._first[which] + window[:, 0]) * self._cells[which]
        high = (self._first[which] + window[:, 0] + window[:, 1]) * self._cells[which]
        places = torch.as_tensor(rows[which], device=device)
        lists = torch.full((chosen.numel(), room), torch.inf, dtype=values.dtype, device=device)
        held = torch.zeros(chosen.numel(), dtype=torch.int32, device=device)
        dominated_kernels.gather[(-(-n // PER), chosen.numel())](
            values, n, places, torch.as_tensor(np.stack([low, high], axis=1), device=device), lists, room,
            held, PER=PER,
        )  # fmt: skip
        held.clamp_(max=room)
        part = left[chosen]
        for at in range(0, chosen.numel(), max(1, SORTED_AT_ONCE // room)):
            some = slice(at, at + max(1, SORTED_AT_ONCE // room))
            lists[some] = torch.sort(lists[some], dim=1).values
        names = torch.as_tensor([columns[row] for row in rows[which].tolist()], device=device).int()
        left[chosen] = self._by_values(lists, held, names, part, self._tops[chosen], share=2)
        return left

    def _by_all(
        self, values: torch.Tensor, rows: NDArray[np.intp], columns: list[int], left: torch.Tensor
    ) -> NDArray[np.intp]:
        """Sort the columns that are still open, settle what can be settled, and return the remaining rows."""
        n, device = self.n, self.device
        open_rows = torch.nonzero((left > 0).any(1))[:, 0]
        self.sorted += open_rows.numel()
        kept = []
        for chosen in torch.split(open_rows, max(1, SORTED_AT_ONCE // n)):
            places = rows[chosen.cpu().numpy()]
            ascending = torch.sort(values[torch.as_tensor(places, device=device)], dim=1).values
            held = torch.full((len(places),), n, dtype=torch.int32, device=device)
            names = torch.as_tensor([columns[row] for row in places.tolist()], device=device).int()
            after = self._by_values(ascending, held, names, left[chosen], self._tops[chosen], share=1)
            kept.append(places[(after > 0).any(1).cpu().numpy()])
        return np.concatenate(kept) if kept else np.empty(0, np.intp)

    def _by_values(
        self,
        lists: torch.Tensor,
        held: torch.Tensor,
        names: torch.Tensor,
        left: torch.Tensor,
        tops: torch.Tensor,
        share: int,
    ) -> torch.Tensor:
        """Settle open segments by windows of ascending values, each of at most 1 / share of the values."""
        lasts = torch.minimum(self.edges[1:][None, :] - 1, tops[:, None])
        tasks = torch.nonzero((left > 0) & (lasts <= (held // share)[:, None]))
        if tasks.numel() == 0:
            return left
        row, segment = tasks[:, 0], tasks[:, 1]
        after = torch.empty(len(tasks), dtype=torch.int32, device=self.device)
        dominated_kernels.settle_by_values[(len(tasks),)](
            row, left[row, segment], lasts[row, segment], lists, lists.shape[1], held, names, self.bar,
            self.owner, LOOKS, after, TILE=1024,
        )  # fmt: skip
        left = left.clone()
        left[row, segment] = torch.where(after > 0, left[row, segment], 0)
        return left
