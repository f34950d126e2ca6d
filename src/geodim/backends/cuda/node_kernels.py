"""Triton functions about single nodes of a wave, see `wave_kernels`: bounds on their windows, and rivals."""

from __future__ import annotations

import triton
import triton.language as tl

from geodim.backends.cuda.pyramid_kernels import line_ends


@triton.jit
def number_of(counts, overflow, what: tl.constexpr):
    """Return the number of nodes (0) or pieces (1) of the wave; 0 after an overflow."""
    return tl.where(tl.load(overflow) > 0, 0, tl.load(counts + what))


@triton.jit
def node_at(nodes, u, N_NODE: tl.constexpr, BASE: tl.constexpr):
    """Return column, level and gap of a node, and the size of its blocks."""
    at = nodes + N_NODE * u
    level = tl.load(at + 1).to(tl.int64)
    size = tl.full((), BASE, tl.int64) << level
    return tl.load(at).to(tl.int64), level, tl.load(at + 2).to(tl.int64), size


@triton.jit
def lower_bounds(records, j, g, ok, last, drop, steps):
    """Return lower bounds, minus the trend, on windows of blocks j in gap g, and the tops of their starts."""
    top, top_end = line_ends(records, j, ok, 2, steps, float("-inf"))
    top = tl.maximum(top, top_end - last)
    right, right_end = line_ends(records, j + g, ok, 1, steps, float("inf"))
    beyond, beyond_end = line_ends(records, j + g + 1, ok, 1, steps, float("inf"))
    low = tl.minimum(tl.minimum(right, right_end - last), tl.minimum(beyond, beyond_end - last) - drop)
    return tl.where(top > float("-inf"), low - top, float("inf")), top


@triton.jit
def upper_bounds(l, n, records, peaks, j, g, ok, top, c, last, drop, steps, size):
    """Return upper bounds by the window at each block's peak; infinite if it does not exist for all sizes."""
    right, right_end = line_ends(records, j + g, ok, 0, steps, 0.0)
    beyond, beyond_end = line_ends(records, j + g + 1, ok, 0, steps, 0.0)
    high = tl.maximum(tl.maximum(right, right_end - last), tl.maximum(beyond, beyond_end - last) - drop)
    peak = tl.load(peaks + j, mask=ok, other=0)
    whole = ok & (top > float("-inf")) & (peak + (g + 1) * size - 1 < n)
    value = tl.load(l + peak, mask=whole, other=0.0).to(tl.float64)
    return tl.where(whole, high - (value - c * (peak - j * size).to(tl.float64)), float("inf"))


@triton.jit
def plain_upper(l, n, j, ok, size, d_last):
    """Return the width of the window at the block's last value, at the gap's last size.

    The window starts earlier if it would not fit.  The width is infinite if that value already occurs in the
    block before: then the window starts there and belongs to that block.
    """
    begin = tl.minimum((j + 1) * size, n) - 1
    begin = tl.where(begin + d_last >= n, n - 1 - d_last, begin)
    there = ok & (begin >= j * size)
    value = tl.load(l + begin, mask=there, other=0.0).to(tl.float64)
    before = tl.load(l + j * size - 1, mask=there & (j > 0), other=float("-inf")).to(tl.float64)
    there = there & (value != before)
    return tl.load(l + begin + d_last, mask=there, other=float("inf")).to(tl.float64) - value


@triton.jit
def plain_lower(l, n, j, g, ok, size):
    """Return a width that no window of the block and gap falls below."""
    begin = tl.minimum((j + 1) * size, n) - 1
    end = tl.load(l + (j + g) * size, mask=ok, other=float("inf")).to(tl.float64)
    return end - tl.load(l + begin, mask=ok, other=0.0).to(tl.float64)


@triton.jit
def become_rival(rivals, u, low, c, steps):
    """Make the node the rival of its gap if its lower line, in the middle, is the highest so far."""
    middle = low + 0.5 * c * steps
    if (middle > 0.0) & (middle < 1e38):
        rank = middle.to(tl.float32).to(tl.int32, bitcast=True).to(tl.int64)
        tl.atomic_max(rivals, (rank << 32) | u)


@triton.jit
def beaten_by_rival(
    rivals, nodes, u, column, g, size, n, lines, bounds, all_scalars, N_NODE: tl.constexpr,
    N_SCALARS: tl.constexpr,
):  # fmt: skip
    """Return whether the upper line of a node lies below the lower line of its rival.

    It must lie below by more than the lines may be off: the slacks of both columns, and margins for the
    rounding of this comparison.
    """
    rival = tl.load(rivals)
    other = rival & 0x7FFFFFFF
    lost = rival < -1
    if (rival >= 0) & (other != u):
        one = all_scalars + N_SCALARS * column
        two = all_scalars + N_SCALARS * tl.load(nodes + N_NODE * other).to(tl.int64)
        off = tl.load(one + 1) + tl.load(one + 4) + tl.load(two + 1) + tl.load(two + 4)
        steps = (tl.minimum((g + 1) * size, n) - 1 - g * size).to(tl.float64)
        above = tl.load(bounds + 4 * u) + off
        below = tl.load(bounds + 4 * other + 1)
        ends = above + tl.load(lines + 2 * u) * steps < below + tl.load(lines + 2 * other) * steps
        lost = (above < below) & ends
    return lost
