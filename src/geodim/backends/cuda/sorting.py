"""Sorting columns on the device, by PyTorch or by CuPy.

PyTorch's sort moves a 64-bit position along with every value, which is not needed here.  CuPy's moves only
values, in half the time.  CuPy is used if the program has loaded it already: loading takes longer than it
saves, except for tens of billions of values.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from geodim.optional import require

if TYPE_CHECKING:
    import torch
else:
    torch = require("torch", "gpu", "the CUDA backend")


def sorted_rows(rows: torch.Tensor) -> torch.Tensor:
    """Return every row in ascending order; the given rows may be overwritten.

    Rows are sorted one at a time, since PyTorch needs much more memory to sort several together.
    """
    if rows.is_cuda and "cupy" in sys.modules and _on_default_stream(rows.device):
        _sort_by_cupy(rows)
        return rows
    values = torch.empty_like(rows)
    places = torch.empty(rows.shape[1], dtype=torch.int64, device=rows.device)
    for row, out in zip(rows, values, strict=True):
        torch.sort(row, out=(out, places))
    return values


def _on_default_stream(device: torch.device) -> bool:
    """Return whether PyTorch works in the default stream, which CuPy shares."""
    return int(torch.cuda.current_stream(device).cuda_stream) == 0


def _sort_by_cupy(rows: torch.Tensor) -> None:
    """Sort in place, with memory allocated by PyTorch, so that all of it is accounted for in one place."""
    cupy, device = sys.modules["cupy"], rows.device

    def allocate(size: int) -> object:
        buffer = torch.empty(max(size, 1), dtype=torch.uint8, device=device)
        memory = cupy.cuda.UnownedMemory(buffer.data_ptr(), size, buffer, device.index)
        return cupy.cuda.MemoryPointer(memory, 0)

    with (
        cupy.cuda.Device(device.index),
        cupy.cuda.Stream.null,
        cupy.cuda.using_allocator(allocate),
    ):
        for row in cupy.from_dlpack(rows):
            row.sort()
