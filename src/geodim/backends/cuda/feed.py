"""Blocks of columns from host memory to the device, through pinned buffers.

The next block is copied while the current one is solved.
"""

from __future__ import annotations

import time
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

import numpy as np

from geodim.backends.cuda.device import release
from geodim.backends.cuda.tensors import DeviceSource
from geodim.data.sources import ArraySource, as_slice
from geodim.errors import DeviceMemoryError
from geodim.memory import GUESS, machine_memory
from geodim.optional import require
from geodim.planning.device import STAGE

if TYPE_CHECKING:
    from collections.abc import Iterator

    import torch
    from numpy.typing import NDArray

    from geodim.data.sources import ColumnSource
else:
    torch = require("torch", "gpu", "the CUDA backend")

PINNED = 1 / 8  # part of the host's memory that buffers for columns may take


class Feed:
    """Blocks of columns on the device, as (points, columns) or transposed.

    Parameters
    ----------
    source : ColumnSource or DeviceSource
        Where the columns come from.
    device : torch.device
        Where they go.
    kind : numpy.dtype
        float32 or float64.
    threads : int
        Threads that copy.
    """

    def __init__(
        self,
        source: ColumnSource | DeviceSource,
        device: torch.device,
        kind: np.dtype[np.floating],
        threads: int,
    ) -> None:
        self.source, self.device, self.kind = source, device, kind
        self.type = torch.float32 if kind == np.float32 else torch.float64
        self.threads = threads
        self.on_device = isinstance(source, DeviceSource)
        self.bytes_moved = 0
        self.waited = 0.0  # seconds during which nothing could be solved
        self._stream: torch.cuda.Stream | None = None
        if device.type == "cuda" and not self.on_device:
            self._stream = torch.cuda.Stream(device)  # type: ignore[no-untyped-call]
        self._pinned: list[torch.Tensor] = []
        self._arrived: list[Any] = []

    def blocks(
        self, groups: list[list[int]], *, by_row: bool = False
    ) -> Iterator[tuple[list[int], torch.Tensor]]:
        """Yield each group of columns with its values, (columns, points), or (points, columns) if ``by_row``.

        While the caller works on one block, the next one is copied.  A group that does not fit the device
        comes in two halves.
        """
        waiting = list(groups)
        coming: Future[torch.Tensor] | None = None
        with ThreadPoolExecutor(1, thread_name_prefix="geodim-feed") as ahead:
            while waiting:
                group = waiting.pop(0)
                started = time.perf_counter()
                try:
                    block = coming.result() if coming is not None else self._load(group, by_row)
                except torch.OutOfMemoryError as error:
                    if coming is None:  # nothing else is held that could be released
                        waiting[:0] = halves(group, self.source.n_points, error)
                    else:
                        waiting.insert(0, group)
                    coming = None
                    release(self.device)
                    continue
                self.waited += time.perf_counter() - started
                if self._stream is not None:
                    torch.cuda.current_stream(self.device).wait_stream(self._stream)
                    block.record_stream(torch.cuda.current_stream(self.device))
                ahead_of_time = waiting and not self.on_device
                coming = ahead.submit(self._load, waiting[0], by_row) if ahead_of_time else None
                yield group, block
                del block

    def _load(self, group: list[int], by_row: bool) -> torch.Tensor:
        if isinstance(self.source, DeviceSource):
            rows = self.source.rows(group).to(self.type)
            return rows.T.contiguous() if by_row else rows
        with nullcontext() if self._stream is None else torch.cuda.stream(self._stream):
            shape = (self.source.n_points, len(group))
            block = torch.empty(shape if by_row else shape[::-1], dtype=self.type, device=self.device)
            if isinstance(self.source, ArraySource) and self.source.row_major:
                self._by_rows(self.source.array, group, block, by_row)
                self.source.watch.check()
            else:
                self._by_columns(self.source, group, block, by_row)
            self.bytes_moved += block.numel() * block.element_size()
            if self._stream is not None:
                self._stream.synchronize()
        return block

    def _by_rows(self, array: NDArray[Any], group: list[int], block: torch.Tensor, by_row: bool) -> None:
        """Copy rows as they are stored, and transpose them on the device."""
        n, width = array.shape[0], len(group)
        step = max(STAGE // (width * self.kind.itemsize), 1)
        columns = as_slice(group)
        with ThreadPoolExecutor(self.threads) as pool:
            for part, row in enumerate(range(0, n, step)):
                rows = slice(row, min(row + step, n))
                buffer = self._buffer(part % 2, (rows.stop - rows.start) * width).view(-1, width)
                target = buffer.numpy()
                edges = np.linspace(0, len(target), self.threads + 1).astype(int)

                def copy(
                    piece: int,
                    target: NDArray[Any] = target,
                    rows: slice = rows,
                    edges: NDArray[np.intp] = edges,
                ) -> None:
                    some = slice(edges[piece], edges[piece + 1])
                    target[some] = array[rows][some, columns]

                list(pool.map(copy, range(self.threads)))
                there = self._sent(part % 2, buffer)
                if by_row:
                    block[rows] = there
                else:
                    block[:, rows] = there.T

    def _by_columns(self, source: ColumnSource, group: list[int], block: torch.Tensor, by_row: bool) -> None:
        """Read columns with several threads, from sources that store them by column or compute them."""
        n, width = source.n_points, int(getattr(source, "at_once", 1))
        room = int(PINNED * (machine_memory() or GUESS)) // (n * self.kind.itemsize)
        width = max(1, min(width, room, -(-len(group) // self.threads)))
        slots = max(1, min(self.threads, room // width))
        with ThreadPoolExecutor(slots) as pool:
            for first in range(0, len(group), slots * width):
                stop = min(first + slots * width, len(group))
                parts = [slice(at, min(at + width, stop)) for at in range(first, stop, width)]
                sizes = [part.stop - part.start for part in parts]
                buffers = [self._buffer(slot, m * n).view(m, n) for slot, m in enumerate(sizes)]

                def read(part: slice, buffer: torch.Tensor) -> None:
                    source.read(group[part], buffer.numpy())

                list(pool.map(read, parts, buffers))
                for slot, (part, buffer) in enumerate(zip(parts, buffers, strict=True)):
                    there = self._sent(slot, buffer)
                    if by_row:
                        block[:, part] = there.T
                    else:
                        block[part] = there

    def _buffer(self, slot: int, size: int) -> torch.Tensor:
        """Return a pinned buffer, after its last copy has arrived."""
        while len(self._pinned) <= slot:
            self._pinned.append(torch.empty(0, dtype=self.type))
            self._arrived.append(None)
        if self._arrived[slot] is not None:
            self._arrived[slot].synchronize()
        if self._pinned[slot].numel() < size:
            self._pinned[slot] = torch.empty(size, dtype=self.type, pin_memory=self._stream is not None)
        return self._pinned[slot][:size]

    def _sent(self, slot: int, buffer: torch.Tensor) -> torch.Tensor:
        """Start copying the buffer to the device, and return the copy."""
        there = buffer.to(self.device, non_blocking=True)
        if self._stream is not None:
            self._arrived[slot] = self._stream.record_event()
        return there


def halves(columns: list[int], n_points: int, error: Exception) -> list[list[int]]:
    """Return two groups instead of one that does not fit the device; raise if it is a single column."""
    if len(columns) == 1:
        msg = (
            f"one column of {n_points:,} points does not fit what is left of the device's memory; "
            "use backend='cpu', or free memory on the device"
        )
        raise DeviceMemoryError(msg) from error
    middle = len(columns) // 2
    return [columns[:middle], columns[middle:]]
