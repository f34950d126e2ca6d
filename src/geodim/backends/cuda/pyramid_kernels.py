"""Triton kernels for a batch of sorted columns: their pyramids, and the maximum over columns.

The mathematics is that of `geodim.engine.kernels.pyramid`.  Records have four entries per block: the upper
line U0, the lower line W0, the line S0 over possible starts, and their slope.

Each column of a batch has SCALARS numbers: grain, slack, bar, span, and the margin of comparisons with Phi.
"""

from __future__ import annotations

import triton
import triton.language as tl

SCALARS = 5


@triton.jit
def snapped(slope, limit, grain):
    """Return a slope of at most ``limit``, rounded down to a multiple of ``grain`` if there is one."""
    slope = tl.minimum(slope, limit)
    return tl.where(grain > 0.0, tl.floor(slope / tl.where(grain > 0.0, grain, 1.0)) * grain, slope)


@triton.jit
def local_slope(l, n, start, ok, size, reach, limit, grain):
    """Return the median slope of the chords before, after and along a block.

    As in `geodim.engine.kernels.pyramid.local_slope`.
    """
    stop = tl.minimum(start + size, n) - 1
    low = tl.maximum(start - reach, 0)
    high = tl.minimum(stop + reach, n - 1)
    at_start = tl.load(l + start, mask=ok, other=0.0).to(tl.float64)
    at_stop = tl.load(l + stop, mask=ok, other=0.0).to(tl.float64)
    at_low = tl.load(l + low, mask=ok, other=0.0).to(tl.float64)
    at_high = tl.load(l + high, mask=ok, other=0.0).to(tl.float64)
    own = (at_stop - at_start) / tl.maximum(stop - start, 1).to(tl.float64)
    before = (at_stop - at_low) / tl.maximum(stop - low, 1).to(tl.float64)
    after = (at_high - at_start) / tl.maximum(high - start, 1).to(tl.float64)
    middle = tl.maximum(tl.minimum(before, after), tl.minimum(tl.maximum(before, after), own))
    return snapped(middle, limit, grain)


@triton.jit(do_not_specialize=["first"])
def lattice_bits(l, n, first, grains, off, lowest, PER: tl.constexpr, TILE: tl.constexpr):
    """Find whether some value is no multiple of the column's grain, and the lowest bit of the multiples.

    Each program examines PER values, starting with part number ``first``.  As soon as a value is no multiple,
    the remaining ones are skipped; so values near 0, which have the lowest bits, should be examined first.
    """
    column = tl.program_id(1).to(tl.int64)
    at = PER * (first + tl.program_id(0).to(tl.int64))
    stop = tl.minimum(at + PER, n)
    while (at < stop) & (tl.load(off + column) == 0):
        i = at + tl.arange(0, TILE)
        value = tl.load(l + column * n + i, mask=i < n, other=0.0).to(tl.float64)
        scaled = value / tl.load(grains + column)
        whole = scaled.to(tl.int64)
        if tl.max((whole.to(tl.float64) != scaled).to(tl.int32), axis=0) > 0:
            tl.store(off + column, 1)
        bits = tl.where(whole == 0, 0x7FFFFFFFFFFFFFFF, whole & -whole)
        tl.atomic_min(lowest + column, tl.min(bits, axis=0))
        at += TILE


@triton.jit(do_not_specialize=["count", "total"])
def base_records(
    all_l, n, count, total, all_records, all_peaks, all_scalars, N_SCALARS: tl.constexpr, BASE: tl.constexpr,
    BLOCKS: tl.constexpr,
):  # fmt: skip
    """Write the records of the finest level, BLOCKS of them per program."""
    column = tl.program_id(1).to(tl.int64)
    l = all_l + column * n
    grain = tl.load(all_scalars + N_SCALARS * column)
    span = tl.load(all_scalars + N_SCALARS * column + 3)
    block = tl.program_id(0).to(tl.int64) * BLOCKS + tl.arange(0, BLOCKS)
    ok = block < count
    start = block * BASE
    slope = local_slope(l, n, start, ok, BASE, 1024, span / BASE, grain)
    t = tl.arange(0, BASE)
    i = start[:, None] + t[None, :]
    there = i < n
    value = tl.load(l + i, mask=there, other=0.0).to(tl.float64)
    residual = value - slope[:, None] * t[None, :].to(tl.float64)
    before = tl.load(l + i - 1, mask=there & (i > 0), other=float("inf")).to(tl.float64)
    starts = tl.where(there & (value != before), residual, float("-inf"))
    at = all_records + 4 * (column * total + block)
    tl.store(at, tl.max(tl.where(there, residual, float("-inf")), axis=1), mask=ok)
    tl.store(at + 1, tl.min(tl.where(there, residual, float("inf")), axis=1), mask=ok)
    tl.store(at + 2, tl.max(starts, axis=1), mask=ok)
    tl.store(at + 3, slope, mask=ok)
    tl.store(all_peaks + column * total + block, start + tl.argmax(starts, axis=1), mask=ok)


@triton.jit
def line_ends(records, block, ok, entry: tl.constexpr, steps, other):
    """Return both ends of one of a block's lines."""
    first = tl.load(records + 4 * block + entry, mask=ok, other=other)
    slope = tl.load(records + 4 * block + 3, mask=ok, other=0.0)
    return first, first + slope * steps


@triton.jit(do_not_specialize=["total", "level", "levels"])
def parent_records(
    all_l, n, total, offsets, all_records, all_peaks, all_scalars, level, levels, N_SCALARS: tl.constexpr,
    BASE: tl.constexpr, BLOCKS: tl.constexpr, AT_ONCE: tl.constexpr,
):  # fmt: skip
    """Write the records of AT_ONCE coarser levels, from ``level`` on; BLOCKS of the first per program."""
    column = tl.program_id(1).to(tl.int64)
    l = all_l + column * n
    records = all_records + 4 * column * total
    peaks = all_peaks + column * total
    grain = tl.load(all_scalars + N_SCALARS * column)
    span = tl.load(all_scalars + N_SCALARS * column + 3)
    lane = tl.arange(0, BLOCKS)
    width = tl.full((), BLOCKS, tl.int64)
    while (level < levels) & (width > BLOCKS >> AT_ONCE):
        size = tl.full((), BASE, tl.int64) << level
        block = tl.program_id(0).to(tl.int64) * width + lane
        ok = (lane < width) & (block * size < n)
        slope = local_slope(l, n, block * size, ok, size, tl.maximum(2 * size, 1024), span / size, grain)
        half = size // 2
        steps = (half - 1).to(tl.float64)
        near = slope * steps
        middle = slope * half.to(tl.float64)
        far = slope * (size - 1).to(tl.float64)
        one = tl.load(offsets + level - 1) + 2 * block
        two = one + 1
        a, b = line_ends(records, one, ok, 0, steps, float("-inf"))
        c, d = line_ends(records, two, ok, 0, steps, float("-inf"))
        high = tl.maximum(tl.maximum(a, b - near), tl.maximum(c - middle, d - far))
        a, b = line_ends(records, one, ok, 1, steps, float("inf"))
        c, d = line_ends(records, two, ok, 1, steps, float("inf"))
        low = tl.minimum(tl.minimum(a, b - near), tl.minimum(c - middle, d - far))
        a, b = line_ends(records, one, ok, 2, steps, float("-inf"))
        c, d = line_ends(records, two, ok, 2, steps, float("-inf"))
        first = tl.maximum(a, b - near)
        second = tl.maximum(c - middle, d - far)
        here = tl.load(offsets + level) + block
        tl.store(records + 4 * here, high, mask=ok)
        tl.store(records + 4 * here + 1, low, mask=ok)
        tl.store(records + 4 * here + 2, tl.maximum(first, second), mask=ok)
        tl.store(records + 4 * here + 3, slope, mask=ok)
        left = tl.load(peaks + one, mask=ok, other=0)
        right = tl.load(peaks + two, mask=ok, other=0)
        tl.store(peaks + here, tl.where(first >= second, left, right), mask=ok)
        tl.debug_barrier()  # the next level reads what other threads of this program wrote
        level += 1
        width = width // 2


@triton.jit(do_not_specialize=["count", "first_layer", "layers"])
def raise_phi(own, n, count, columns, raised, phi, owner, first_layer, layers, TILE: tl.constexpr):
    """Set ``phi = max(phi, own)`` in the layers from ``first_layer`` on, and reset ``own`` to infinity.

    The lowest column owns a tie.  ``raised`` says for every column and TILE sizes whether any was evaluated.
    """
    part = tl.program_id(0).to(tl.int64)
    parts = tl.num_programs(0).to(tl.int64)
    d = part * TILE + tl.arange(0, TILE)
    ok = d < n
    layer = first_layer
    while layer < layers:
        at = layer.to(tl.int64) * n + d
        best = tl.load(phi + at, mask=ok, other=0.0)
        who = tl.load(owner + at, mask=ok, other=-1)
        i = count * 0
        while i < count:
            if tl.load(raised + i.to(tl.int64) * parts + part) > 0:
                value = tl.load(own + i.to(tl.int64) * n + d, mask=ok, other=float("inf"))
                column = tl.load(columns + i)
                found = value < float("inf")
                better = found & ((value > best) | ((value == best) & (who > column)))
                best = tl.where(better, value, best)
                who = tl.where(better, tl.zeros_like(who) + column, who)
                if layer == layers - 1:
                    over = tl.full((TILE,), float("inf"), tl.float64)
                    tl.store(own + i.to(tl.int64) * n + d, over, mask=found)
            i += 1
        tl.store(phi + at, best, mask=ok)
        tl.store(owner + at, who, mask=ok)
        layer += 1
