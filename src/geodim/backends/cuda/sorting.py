"""Ascending columns, by PyTorch or by CuPy.

PyTorch's sort moves a 64-bit place with every value, which nobody needs here; CuPy's moves values alone, in
half the time.  CuPy is used where the program has loaded it: loading takes longer than it saves, except for
tens of billions of values.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from geodim.backends.cuda.radix import sorter
from geodim.optional import require

if TYPE_CHECKING:
    import torch
else:
    torch = require("torch", "gpu", "the CUDA backend")


def sorted_rows(rows: torch.Tensor) -> torch.Tensor:
    """Every row ascending; the rows themselves may be overwritten.

    One at a time: PyTorch's sort of several rows takes much more memory.
    """
    kernels = None if os.environ.get("OWN") == "0" else sorter(rows)
    if kernels is not None:
        kernels.sort(rows)
        return rows
    if rows.is_cuda and "cupy" in sys.modules and _on_default_stream(rows.device):
        _sort_by_cupy(rows)
        return rows
    values = torch.empty_like(rows)
    places = torch.empty(rows.shape[1], dtype=torch.int64, device=rows.device)
    for row, out in zip(rows, values, strict=True):
        torch.sort(row, out=(out, places))
    return values


def _on_default_stream(device: torch.device) -> bool:
    """Whether PyTorch works in the default stream, which CuPy shares."""
    return int(torch.cuda.current_stream(device).cuda_stream) == 0


def _sort_by_cupy(rows: torch.Tensor) -> None:
    """Sort in place, in memory that PyTorch allocates, so that there is one account of it."""
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
