"""Triton kernels that read a tensor: the first pass over it, and the extraction of columns.

The first pass finds the least and greatest value, the sum and the sum of squares of every column.
"""

from __future__ import annotations

import triton
import triton.language as tl


@triton.jit
def partial_moments(
    tensor, n, d, row_stride, column_stride, column_blocks, found, ROWS: tl.constexpr, TILE: tl.constexpr,
    COLUMNS: tl.constexpr,
):  # fmt: skip
    """Write the moments of ROWS rows and COLUMNS columns per program; ``found`` is (parts of the rows, 4, d).

    A value that is not finite makes the sum not finite; the extremes are then meaningless.
    """
    part = (tl.program_id(0) // column_blocks).to(tl.int64)
    j = (tl.program_id(0) % column_blocks).to(tl.int64) * COLUMNS + tl.arange(0, COLUMNS)
    kind = tensor.dtype.element_ty
    low = tl.full((TILE, COLUMNS), float("inf"), kind)
    high = tl.full((TILE, COLUMNS), float("-inf"), kind)
    total = tl.zeros((TILE, COLUMNS), tl.float64)
    square = tl.zeros((TILE, COLUMNS), tl.float64)
    for first in range(part * ROWS, tl.minimum(part * ROWS + ROWS, n), TILE):
        i = first + tl.arange(0, TILE)
        there = (i < n)[:, None] & (j < d)[None, :]
        places = i[:, None] * row_stride + j[None, :] * column_stride
        values = tl.load(tensor + places, mask=there, other=0.0)
        low = tl.minimum(low, tl.where(there, values, float("inf")))
        high = tl.maximum(high, tl.where(there, values, float("-inf")))
        wide = values.to(tl.float64)
        total += wide
        square += wide * wide
    out = found + part * 4 * d + j
    tl.store(out, tl.min(low, axis=0), mask=j < d)
    tl.store(out + d, tl.max(high, axis=0), mask=j < d)
    tl.store(out + 2 * d, tl.sum(total, axis=0), mask=j < d)
    tl.store(out + 3 * d, tl.sum(square, axis=0), mask=j < d)


@triton.jit
def columns_as_rows(
    tensor, n, row_stride, column_stride, width, out, ROWS: tl.constexpr, COLUMNS: tl.constexpr
):  # fmt: skip
    """Copy the columns of a tensor to rows; each program copies ROWS rows of COLUMNS columns."""
    i = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    j = tl.program_id(1).to(tl.int64) * COLUMNS + tl.arange(0, COLUMNS)
    there = (i < n)[:, None] & (j < width)[None, :]
    values = tl.load(tensor + i[:, None] * row_stride + j[None, :] * column_stride, mask=there, other=0.0)
    tl.store(out + j[None, :] * n + i[:, None], values, mask=there)
