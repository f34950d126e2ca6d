"""Triton kernels that compute columns of distances or scalar products, with the same bits as the CPU.

Each is summed over the coordinates in order, with the same fused products as in `geodim.families._kernels`.
"""

from __future__ import annotations

import triton
import triton.language as tl


@triton.jit(do_not_specialize=["n", "count", "size", "point_stride"])
def fill_distances(
    points, point_stride, centres, n, count, size, out, KIND: tl.constexpr, ROWS: tl.constexpr,
    COLUMNS: tl.constexpr,
):  # fmt: skip
    """Write the distances from ROWS centres to COLUMNS points per program.

    points : (size, point_stride) float64, one coordinate per row
    centres : (size, count) float64, likewise
    out : (count, n) float64, written
    KIND : which sum: 0 root of squares, 1 magnitudes, 2 greatest, 3 share that differs, 5 scalar products
    """
    c = tl.program_id(1) * ROWS + tl.arange(0, ROWS)
    i = tl.program_id(0) * COLUMNS + tl.arange(0, COLUMNS)
    total = tl.zeros((ROWS, COLUMNS), tl.float64)
    at_centres, at_points = centres + c, points + i
    for _ in range(size):
        x = tl.load(at_centres, mask=c < count, other=0.0)
        y = tl.load(at_points, mask=i < n, other=0.0)
        at_centres += count
        at_points += point_stride
        if KIND == 5:
            total = tl.fma(x[:, None] + tl.zeros_like(total), y[None, :] + tl.zeros_like(total), total)
        else:
            t = x[:, None] - y[None, :]
            if KIND == 0:
                total = tl.fma(t, t, total)
            elif KIND == 1:
                total += tl.abs(t)
            elif KIND == 2:
                total = tl.maximum(total, tl.abs(t))
            else:
                total += tl.where(t != 0.0, 1.0, 0.0)
    if KIND == 0:
        total = tl.sqrt(total)  # correctly rounded in float64
    if KIND == 3:
        total = total / (tl.zeros_like(total) + size)
    places = c[:, None].to(tl.int64) * n + i[None, :]
    tl.store(out + places, total, mask=(c < count)[:, None] & (i < n)[None, :])
