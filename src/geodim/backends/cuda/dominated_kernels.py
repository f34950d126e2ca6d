"""Triton kernels that prove, for many short columns, that they attain Phi nowhere.

The mathematics is that of `geodim.engine.kernels.dominated`.  Here all columns of a block, and segments of
sizes of each, are examined in parallel.  ``bar`` is (n,) float64 over d = k - 1, never falling, at most Phi.
"""

from __future__ import annotations

import triton
import triton.language as tl


@triton.jit(do_not_specialize=["n", "stride"])
def count_cells(values, n, scales, counts, stride, PER: tl.constexpr):
    """Count the points of each cell, PER points of one row per program.

    values : (rows, n) float32 or float64
    scales : (rows, 2) float64: cells per unit, a power of two, and the number of the first cell
    counts : (rows, stride) int32, added to; cell c is counted at c + 1
    """
    row = tl.program_id(1).to(tl.int64)
    i = tl.program_id(0).to(tl.int64) * PER + tl.arange(0, PER)
    x = tl.load(values + row * n + i, mask=i < n, other=0.0).to(tl.float64)
    place = tl.floor(x * tl.load(scales + 2 * row)) - tl.load(scales + 2 * row + 1)
    inside = (i < n) & (place >= 0) & (place < stride - 1)
    cell = tl.where(inside, place, 0.0).to(tl.int32)
    tl.atomic_add(counts + row * stride + cell + 1, 1, mask=inside, sem="relaxed")


@triton.jit
def most_points(before, cells, width, TILE: tl.constexpr):
    """Return the largest number of points in ``width`` neighbouring cells."""
    most = tl.zeros((TILE,), tl.int32)
    start = width * 0
    while start + width <= cells:
        s = start + tl.arange(0, TILE)
        ok = s + width <= cells
        high = tl.load(before + s + width, mask=ok, other=0)
        low = tl.load(before + s, mask=ok, other=0)
        most = tl.maximum(most, high - low)
        start += TILE
    return tl.max(most, axis=0)


@triton.jit(do_not_specialize=["stride", "segments", "rounds"])
def settle_by_cells(
    all_before, stride, all_cells, sizes, tops, bar, edges, segments, rounds, left, TILE: tl.constexpr
):
    """Settle the sizes of one segment of one row from the smallest up, as far as counts in cells allow.

    Two values in w neighbouring cells are less than w cells apart.  So if w cells, together no wider than
    bar[lo - 1], hold K points, then phi lies strictly below the bar for all k from lo to K.

    all_before : (rows, stride) int32: points before each cell
    all_cells, sizes : (rows,) int32 and float64: number of cells, and width of one cell
    tops : (rows,) int32: larger k are settled already
    edges : (segments + 1,) int32: segment s has the k from edges[s] to edges[s + 1] - 1
    rounds : int, largest number of windows to examine
    left : (rows, segments) int32, written: the first k that is not settled, 0 if all are
    """
    row = tl.program_id(1).to(tl.int64)
    segment = tl.program_id(0)
    before = all_before + row * stride
    cells = tl.load(all_cells + row)
    size = tl.load(sizes + row)
    lo = tl.load(edges + segment)
    hi = tl.minimum(tl.load(edges + segment + 1) - 1, tl.load(tops + row))
    todo = rounds * 1
    while (lo <= hi) & (todo > 0):
        width = tl.minimum(tl.floor(tl.load(bar + lo - 1) / size), cells.to(tl.float64)).to(tl.int32)
        held = most_points(before, cells, width, TILE)
        todo = tl.where((width > 0) & (held >= lo), todo - 1, 0)
        lo = tl.where((width > 0) & (held >= lo), held + 1, lo)
    tl.store(left + row * segments + segment, tl.where(lo <= hi, lo, 0))


@triton.jit(do_not_specialize=["stride", "wanted"])
def densest_cells(all_before, stride, all_cells, wanted, found, TILE: tl.constexpr):
    """Find the narrowest window of cells that holds ``wanted`` points.

    found : (rows, 3) int32, written: first cell, number of cells, number of points
    """
    row = tl.program_id(0).to(tl.int64)
    before = all_before + row * stride
    cells = tl.load(all_cells + row)
    low, high = cells * 0, cells * 1  # high cells hold enough, low cells do not
    while high - low > 1:
        middle = (low + high) // 2
        enough = most_points(before, cells, middle, TILE) >= wanted
        low = tl.where(enough, low, middle)
        high = tl.where(enough, middle, high)
    best = tl.zeros((TILE,), tl.int64)
    start = high * 0
    while start + high <= cells:
        s = start + tl.arange(0, TILE)
        ok = s + high <= cells
        held = tl.load(before + s + high, mask=ok, other=0) - tl.load(before + s, mask=ok, other=0)
        best = tl.maximum(best, held.to(tl.int64) * 0x100000000 + tl.where(ok, s, 0).to(tl.int64))
        start += TILE
    packed = tl.max(best, axis=0)
    tl.store(found + 3 * row, (packed % 0x100000000).to(tl.int32))
    tl.store(found + 3 * row + 1, high)
    tl.store(found + 3 * row + 2, (packed // 0x100000000).to(tl.int32))


@triton.jit(do_not_specialize=["n", "room"])
def gather(values, n, chosen, ends, lists, room, held, PER: tl.constexpr):
    """Copy the values in [low, high) of chosen rows, in any order; PER points of one row per program.

    chosen : (c,) int64, rows of values
    ends : (c, 2) float64: low and high
    lists : (c, room), written
    held : (c,) int32, added to: how many values there are, including those beyond the room
    """
    at = tl.program_id(1).to(tl.int64)
    row = tl.load(chosen + at)
    i = tl.program_id(0).to(tl.int64) * PER + tl.arange(0, PER)
    x = tl.load(values + row * n + i, mask=i < n, other=0.0)
    wide = x.to(tl.float64)
    inside = (i < n) & (wide >= tl.load(ends + 2 * at)) & (wide < tl.load(ends + 2 * at + 1))
    rank = tl.cumsum(inside.to(tl.int32), axis=0)
    first = tl.atomic_add(held + at, tl.sum(inside.to(tl.int32), axis=0), sem="relaxed")
    place = first + rank - 1
    tl.store(lists + at * room + place, x, mask=inside & (place < room))


@triton.jit
def first_d(bar, stop, width, STRICT: tl.constexpr):
    """Return the first d below ``stop`` with bar[d] > width (>= if not STRICT), else ``stop``."""
    low, high = stop * 0, stop * 1
    while low < high:
        middle = (low + high) // 2
        value = tl.load(bar + middle)
        reached = value > width if STRICT else value >= width
        high = tl.where(reached, middle, high)
        low = tl.where(reached, low, middle + 1)
    return low


@triton.jit(do_not_specialize=["stride", "rounds"])
def settle_by_values(
    rows, firsts, lasts, all_l, stride, all_held, columns, bar, owner, rounds, left, TILE: tl.constexpr
):
    """Settle sizes from the largest down, using windows of some ascending values of a column.

    These are windows of the column.  A tie with the bar settles a size as well if a lower column reached it:
    wherever it is still a tie in the end, that column attains Phi(k) too.

    rows : (tasks,) int64, rows of all_l
    firsts, lasts : (tasks,) int32: the sizes k of each task; windows of ``last`` points fit the list
    all_l : (rows, stride): ascending values
    all_held, columns : (rows,) int32: how many values there are, and the number of the column
    owner : (n,) int32, who attains Phi
    left : (tasks,) int32, written: the largest k that is not settled, 0 if all are
    """
    task = tl.program_id(0)
    row = tl.load(rows + task)
    l = all_l + row * stride
    held = tl.load(all_held + row)
    column = tl.load(columns + row)
    lo = tl.load(firsts + task)
    k = tl.load(lasts + task)
    todo = rounds * 1
    while (k >= lo) & (todo > 0):
        best = tl.full((TILE,), float("inf"), tl.float64)
        start = k * 0
        while start + k <= held:
            i = start + tl.arange(0, TILE)
            ok = i + k <= held
            high = tl.load(l + i + k - 1, mask=ok, other=float("inf")).to(tl.float64)
            low = tl.load(l + i, mask=ok, other=0.0).to(tl.float64)
            best = tl.minimum(best, high - low)
            start += TILE
        width = tl.min(best, axis=0)
        level = tl.load(bar + k - 1)
        above = first_d(bar, k, width, True)
        tied = first_d(bar, k, width, False)
        who = tl.load(owner + tl.minimum(tied, k - 1))
        tie = (width == level) & (who >= 0) & (who < column)
        after = tl.where(width < level, above, tl.where(tie, tied, k))
        after = tl.where(width == 0.0, 0, after)  # a width of 0 attains nothing
        todo = tl.where(after < k, todo - 1, 0)
        k = after
    tl.store(left + task, tl.where(k >= lo, k, 0))
