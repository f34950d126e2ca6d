"""Triton kernels: the pyramid of a sorted column, and the gap recursion with one program per node.

The mathematics is that of `geodim.engine.kernels.pyramid` and `.gaps`; what differs is the order.  A node is a gap of
sizes at one level of the pyramid together with a list of blocks; all nodes of a wave are filtered at once, their children are the
next wave.  Widths are differences of two values in float64, as everywhere, so the results are the same to the bit; trends and
bounds may round differently, which the slack covers, or not at all on a lattice.

Records have four entries per block: the upper line U0, the lower line W0, the line S0 over possible starts, and their slope.
"""

from __future__ import annotations

import triton
import triton.language as tl


@triton.jit
def snapped(slope, limit, grain):
    """A slope of at most ``limit``, on the lattice of ``grain`` if there is one."""
    slope = tl.minimum(slope, limit)
    return tl.where(grain > 0.0, tl.floor(slope / tl.where(grain > 0.0, grain, 1.0)) * grain, slope)


@triton.jit
def local_slope(l, n, start, ok, size, reach, limit, grain):
    """Median of the chords before, after and along a block, see `geodim.engine.kernels.pyramid.local_slope`."""
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


@triton.jit
def base_records(l, n, count, records, peaks, scalars, BASE: tl.constexpr, BLOCKS: tl.constexpr):
    """Records of the finest level, BLOCKS of them per program."""
    grain = tl.load(scalars)
    span = tl.load(scalars + 3)
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
    at = records + 4 * block
    tl.store(at, tl.max(tl.where(there, residual, float("-inf")), axis=1), mask=ok)
    tl.store(at + 1, tl.min(tl.where(there, residual, float("inf")), axis=1), mask=ok)
    tl.store(at + 2, tl.max(starts, axis=1), mask=ok)
    tl.store(at + 3, slope, mask=ok)
    tl.store(peaks + block, start + tl.argmax(starts, axis=1), mask=ok)


@triton.jit
def line_ends(records, block, ok, entry: tl.constexpr, steps, other):
    """Both ends of one of a block's lines."""
    first = tl.load(records + 4 * block + entry, mask=ok, other=other)
    slope = tl.load(records + 4 * block + 3, mask=ok, other=0.0)
    return first, first + slope * steps


@triton.jit
def parent_records(l, n, count, below, here, records, peaks, size, scalars, BLOCKS: tl.constexpr):
    """Records of a coarser level from those at offset ``below``, BLOCKS of them per program."""
    grain = tl.load(scalars)
    span = tl.load(scalars + 3)
    block = tl.program_id(0).to(tl.int64) * BLOCKS + tl.arange(0, BLOCKS)
    ok = block < count
    slope = local_slope(l, n, block * size, ok, size, tl.maximum(2 * size, 1024), span / size, grain)
    half = size // 2
    steps = (half - 1).to(tl.float64)
    near = slope * steps
    middle = slope * half.to(tl.float64)
    far = slope * (size - 1).to(tl.float64)
    one = below + 2 * block
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
    at = records + 4 * (here + block)
    tl.store(at, high, mask=ok)
    tl.store(at + 1, low, mask=ok)
    tl.store(at + 2, tl.maximum(first, second), mask=ok)
    tl.store(at + 3, slope, mask=ok)
    peak = tl.where(
        first >= second, tl.load(peaks + one, mask=ok, other=0), tl.load(peaks + two, mask=ok, other=0)
    )
    tl.store(peaks + here + block, peak, mask=ok)


@triton.jit
def smallest(l, n, out, PER: tl.constexpr, BASE: tl.constexpr):
    """Narrowest windows of d = 0, ..., BASE - 1 over PER starts."""
    first = tl.program_id(0).to(tl.int64) * PER
    e = tl.arange(0, BASE)
    best = tl.full((BASE,), float("inf"), tl.float64)
    if first + PER + BASE <= n:
        for t in range(PER):
            width = tl.load(l + first + t + e).to(tl.float64) - tl.load(l + first + t).to(tl.float64)
            best = tl.minimum(best, width)
    else:
        for t in range(PER):
            ends = tl.load(l + first + t + e, mask=first + t + e < n, other=float("inf")).to(tl.float64)
            begin = tl.load(l + first + t, mask=first + t < n, other=float("-inf")).to(tl.float64)
            best = tl.minimum(best, ends - begin)
    tl.store(out + tl.program_id(0).to(tl.int64) * BASE + e, best)


@triton.jit
def raise_phi(phi, owner, column, d, mask, values):
    """``phi[d] = max(phi[d], values)``; the lowest column owns a tie."""
    old = tl.load(phi + d, mask=mask, other=float("inf"))
    who = tl.load(owner + d, mask=mask, other=-1)
    better = values > old
    tl.store(phi + d, values, mask=mask & better)
    tl.store(
        owner + d, tl.zeros_like(who) + column, mask=mask & (better | ((values == old) & (who > column)))
    )


@triton.jit
def lower_bounds(records, j, g, ok, last, drop, steps):
    """Lower bounds of the windows of blocks j in gap g, less the trend, and the tops of their starts."""
    top, top_end = line_ends(records, j, ok, 2, steps, float("-inf"))
    top = tl.maximum(top, top_end - last)
    right, right_end = line_ends(records, j + g, ok, 1, steps, float("inf"))
    beyond, beyond_end = line_ends(records, j + g + 1, ok, 1, steps, float("inf"))
    low = tl.minimum(tl.minimum(right, right_end - last), tl.minimum(beyond, beyond_end - last) - drop)
    return tl.where(top > float("-inf"), low - top, float("inf")), top


@triton.jit
def upper_bounds(l, n, records, peaks, j, g, ok, top, c, last, drop, steps, size):
    """Upper bounds by the window at each block's peak; infinite where it does not exist for the whole gap."""
    right, right_end = line_ends(records, j + g, ok, 0, steps, 0.0)
    beyond, beyond_end = line_ends(records, j + g + 1, ok, 0, steps, 0.0)
    high = tl.maximum(tl.maximum(right, right_end - last), tl.maximum(beyond, beyond_end - last) - drop)
    peak = tl.load(peaks + j, mask=ok, other=0)
    whole = ok & (top > float("-inf")) & (peak + (g + 1) * size - 1 < n)
    value = tl.load(l + peak, mask=whole, other=0.0).to(tl.float64)
    return tl.where(whole, high - (value - c * (peak - j * size).to(tl.float64)), float("inf"))


@triton.jit
def plain_upper(l, n, j, ok, size, d_last):
    """Width, at the gap's last size, of the window that starts at the last value of the block (or as late as can be)."""
    begin = tl.minimum((j + 1) * size, n) - 1
    begin = tl.where(begin + d_last >= n, n - 1 - d_last, begin)
    there = ok & (begin >= j * size)
    end = tl.load(l + begin + d_last, mask=there, other=float("inf")).to(tl.float64)
    return end - tl.load(l + begin, mask=there, other=0.0).to(tl.float64)


@triton.jit
def plain_lower(l, n, j, g, ok, size):
    """No window of the block and gap is narrower than this."""
    begin = tl.minimum((j + 1) * size, n) - 1
    end = tl.load(l + (j + g) * size, mask=ok, other=float("inf")).to(tl.float64)
    return end - tl.load(l + begin, mask=ok, other=0.0).to(tl.float64)


@triton.jit
def starting_trend(l, n, records, blocks, first, stop, g, size, limit, grain, TILE: tl.constexpr):
    """The slope at both ends of the best window among the block starts, for nodes that inherit nothing."""
    lane = tl.arange(0, TILE)
    best = tl.full((TILE,), float("inf"), tl.float64)
    where = lane.to(tl.int64) * 0
    q = first
    while q < stop:
        here = lane < stop - q
        j = tl.load(blocks + q + lane, mask=here, other=0).to(tl.int64)
        ok = here & ((j + g) * size < n)
        end = tl.load(l + (j + g) * size, mask=ok, other=float("inf")).to(tl.float64)
        width = end - tl.load(l + j * size, mask=ok, other=0.0).to(tl.float64)
        where = tl.where(width < best, j, where)
        best = tl.minimum(best, width)
        q += TILE
    block = tl.max(tl.where(best == tl.min(best, axis=0), where, 0), axis=0)
    slope = 0.5 * (tl.load(records + 4 * block + 3) + tl.load(records + 4 * (block + g) + 3))
    return snapped(slope, limit, grain)


@triton.jit
def filter_nodes(
    which, l, n, all_records, all_peaks, offsets, levels, gaps, starts, stops, blocks, c_in, cap_in, phi, owner, column,
    scalars, flags, kept_out, c_out, cap_out, BASE: tl.constexpr, TILE: tl.constexpr, FILL: tl.constexpr,
):  # fmt: skip
    """Decide nodes, or flag the blocks that stay: with ``kept_out`` their number, and trend and cap for the children.

    A node is decided if the column cannot exceed phi in it, if the lower and the upper line meet, or if phi is constant over it.
    """
    u = tl.load(which + tl.program_id(0)).to(tl.int64)
    level = tl.load(levels + u).to(tl.int64)
    g = tl.load(gaps + u).to(tl.int64)
    size = tl.full((), BASE, tl.int64) << level
    d0 = g * size
    kept = 0
    if d0 < n:
        records = all_records + 4 * tl.load(offsets + level)
        peaks = all_peaks + tl.load(offsets + level)
        first = tl.load(starts + u)
        stop = tl.load(stops + u)
        grain = tl.load(scalars)
        slack = tl.load(scalars + 1)
        bar = tl.load(scalars + 2)
        span = tl.load(scalars + 3)
        c = tl.load(c_in + u)
        if c != c:  # noqa: PLR0124 - not a number: nothing to inherit
            c = starting_trend(
                l, n, records, blocks, first, stop, g, size, span / size.to(tl.float64), grain, TILE
            )
        d_stop = tl.minimum(d0 + size, n)
        steps = (size - 1).to(tl.float64)
        last = c * steps
        drop = c * size.to(tl.float64)
        lane = tl.arange(0, TILE)
        v_lane = tl.full((TILE,), float("inf"), tl.float64)
        v_at = lane.to(tl.int64) * 0 - 1
        low_lane = tl.full((TILE,), float("inf"), tl.float64)
        flat_lane = tl.full((TILE,), float("inf"), tl.float64)
        flat_at = v_at
        q = first
        while q < stop:
            here = lane < stop - q
            j = tl.load(blocks + q + lane, mask=here, other=0).to(tl.int64)
            ok = here & ((j + g) * size < n)
            lower, top = lower_bounds(records, j, g, ok, last, drop, steps)
            low_lane = tl.minimum(low_lane, lower)
            upper = upper_bounds(l, n, records, peaks, j, g, ok, top, c, last, drop, steps, size)
            v_at = tl.where(upper < v_lane, j, v_at)
            v_lane = tl.minimum(v_lane, upper)
            width = plain_upper(l, n, j, ok, size, d_stop - 1)
            flat_at = tl.where(width < flat_lane, j, flat_at)
            flat_lane = tl.minimum(flat_lane, width)
            q += TILE
        v = tl.min(v_lane, axis=0)
        low = tl.min(low_lane, axis=0)
        flat = tl.min(flat_lane, axis=0)
        who = tl.max(tl.where(v_lane == v, v_at, -1), axis=0)
        who_flat = tl.max(tl.where(flat_lane == flat, flat_at, -1), axis=0)
        cap = tl.minimum(tl.load(cap_in + u), v + c * (d_stop - 1 - d0).to(tl.float64) + slack)
        cap = tl.minimum(cap, flat)
        if cap >= tl.load(phi + d0):
            flat_low_lane = tl.full((TILE,), float("inf"), tl.float64)
            kept_lane = lane * 0
            q = first
            while q < stop:
                here = lane < stop - q
                j = tl.load(blocks + q + lane, mask=here, other=0).to(tl.int64)
                ok = here & ((j + g) * size < n)
                lower, top = lower_bounds(records, j, g, ok, last, drop, steps)
                low_plain = plain_lower(l, n, j, g, ok, size)
                keep = (
                    ((v - lower >= bar) | (j == who))
                    & ((low_plain < flat) | (j == who) | (j == who_flat))
                    & ok
                )
                flat_low_lane = tl.minimum(flat_low_lane, tl.where(keep, low_plain, float("inf")))
                kept_lane += keep.to(tl.int32)
                tl.store(flags + q + lane, keep.to(tl.int8), mask=here)
                q += TILE
            kept = tl.sum(kept_lane, axis=0)
            lines = tl.where(slack > 0.0, float("-inf"), low) == v
            constant = flat == tl.min(flat_low_lane, axis=0)
            if lines | constant:
                kept = 0
                e = tl.arange(0, FILL)
                at = d0
                while at < d_stop:
                    d = at + e
                    line = v + c * (d - d0).to(tl.float64)
                    values = tl.where(lines, line, tl.zeros((FILL,), tl.float64) + flat)
                    raise_phi(phi, owner, column, d, d < d_stop, values)
                    at += FILL
        slope = c
        if who >= 0:
            slope = 0.5 * (tl.load(records + 4 * who + 3) + tl.load(records + 4 * (who + g) + 3))
        tl.store(c_out + u, snapped(slope, 2.0 * span / size.to(tl.float64), grain))
        tl.store(cap_out + u, cap)
    tl.store(kept_out + u, kept)


@triton.jit
def descend(
    which, levels, gaps, starts, stops, blocks, flags, places, kept, c, cap, to_levels, to_gaps, to_starts, to_stops,
    to_c, to_cap, to_blocks, TILE: tl.constexpr,
):  # fmt: skip
    """Write the two halves of a node, each with both halves of the blocks that stayed."""
    p = tl.program_id(0).to(tl.int64)
    u = tl.load(which + p)
    m = tl.load(kept + u).to(tl.int64)
    base = 4 * tl.load(places + p)
    trend = tl.load(c + u)
    bound = tl.load(cap + u)
    level = tl.load(levels + u) - 1
    gap = 2 * tl.load(gaps + u)
    for half in tl.static_range(2):
        child = 2 * p + half
        tl.store(to_levels + child, level)
        tl.store(to_gaps + child, gap + half)
        tl.store(to_starts + child, base + 2 * m * half)
        tl.store(to_stops + child, base + 2 * m * (half + 1))
        tl.store(to_c + child, trend)
        tl.store(to_cap + child, bound)
    lane = tl.arange(0, TILE)
    q = tl.load(starts + u)
    stop = tl.load(stops + u)
    while q < stop:
        here = lane < stop - q
        keep = tl.load(flags + q + lane, mask=here, other=0).to(tl.int32)
        j = tl.load(blocks + q + lane, mask=here, other=0)
        to = base + 2 * (tl.cumsum(keep, axis=0) - keep)
        for half in tl.static_range(2):
            tl.store(to_blocks + to + 2 * m * half, 2 * j, mask=keep > 0)
            tl.store(to_blocks + to + 2 * m * half + 1, 2 * j + 1, mask=keep > 0)
        base += 2 * tl.sum(keep, axis=0)
        q += TILE


@triton.jit
def evaluate_pieces(
    l, n, nodes, firsts, gaps, stops, blocks, flags, out, PIECE: tl.constexpr, BASE: tl.constexpr
):
    """Narrowest windows of base gaps over the flagged blocks, PIECE list entries per program."""
    p = tl.program_id(0).to(tl.int64)
    u = tl.load(nodes + p)
    d0 = tl.load(gaps + u).to(tl.int64) * BASE
    e = tl.arange(0, BASE)
    best = tl.full((BASE,), float("inf"), tl.float64)
    q = tl.load(firsts + p)
    stop = tl.minimum(tl.load(stops + u), q + PIECE)
    while q < stop:
        if tl.load(flags + q) > 0:
            i = tl.load(blocks + q).to(tl.int64) * BASE
            if i + d0 + 2 * BASE <= n:
                for t in tl.static_range(BASE):
                    width = tl.load(l + i + d0 + t + e).to(tl.float64) - tl.load(l + i + t).to(tl.float64)
                    best = tl.minimum(best, width)
            else:
                for t in tl.static_range(BASE):
                    ends = tl.load(l + i + d0 + t + e, mask=i + d0 + t + e < n, other=float("inf")).to(
                        tl.float64
                    )
                    begin = tl.load(l + i + t, mask=i + t < n, other=float("-inf")).to(tl.float64)
                    best = tl.minimum(best, ends - begin)
        q += 1
    tl.store(out + p * BASE + e, best)


@triton.jit
def merge_pieces(n, which, piece_starts, gaps, out, phi, owner, column, BASE: tl.constexpr):
    """The least of a base gap's pieces raises phi."""
    p = tl.program_id(0).to(tl.int64)
    u = tl.load(which + p)
    e = tl.arange(0, BASE)
    best = tl.full((BASE,), float("inf"), tl.float64)
    at = tl.load(piece_starts + p)
    stop = tl.load(piece_starts + p + 1)
    while at < stop:
        best = tl.minimum(best, tl.load(out + at * BASE + e))
        at += 1
    d = tl.load(gaps + u).to(tl.int64) * BASE + e
    raise_phi(phi, owner, column, d, d < n, best)
