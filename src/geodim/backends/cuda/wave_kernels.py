"""Triton kernels: the gap recursion over waves of nodes.

The mathematics is that of `geodim.engine.kernels.gaps`; what differs is the order.  A node is a gap of
sizes of one column, at one level of its pyramid, together with a list of blocks; all nodes of a wave are
bounded and filtered at once, their lists cut into pieces so that no program works long after all others
are done; their children are the next wave.  Widths are differences of two values in float64, as
everywhere, so the results are the same to the bit; trends and bounds may round differently, which the
slack covers, or not at all on a lattice.

What other columns reached, Phi, is an ascending sequence too and has a pyramid of its own: a node is left as
soon as its upper line lies below the lower line of Phi.
"""

from __future__ import annotations

import triton
import triton.language as tl

from geodim.backends.cuda.pyramid_kernels import line_ends, snapped


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
    """Width, at the gap's last size, of the window at the last value of the block.

    The window starts earlier where it would not fit.  Infinite where that value occurs in the block before
    already: then the window starts there, in a block of its own.
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
    """No window of the block and gap is narrower than this."""
    begin = tl.minimum((j + 1) * size, n) - 1
    end = tl.load(l + (j + g) * size, mask=ok, other=float("inf")).to(tl.float64)
    return end - tl.load(l + begin, mask=ok, other=0.0).to(tl.float64)


@triton.jit(do_not_specialize=["total"])
def starting_trends(
    all_l, n, all_records, total, offsets, cols, levels, gaps, starts, stops, blocks, all_scalars, trends,
    SAMPLES, N_SCALARS: tl.constexpr, BASE: tl.constexpr, TILE: tl.constexpr,
):  # fmt: skip
    """Trends of nodes that inherit none: the slope at both ends of the best window.

    The windows tried begin at some of the block starts.
    """
    u = tl.program_id(0).to(tl.int64)
    column = tl.load(cols + u).to(tl.int64)
    level = tl.load(levels + u).to(tl.int64)
    g = tl.load(gaps + u).to(tl.int64)
    size = tl.full((), BASE, tl.int64) << level
    l = all_l + column * n
    records = all_records + 4 * (column * total + tl.load(offsets + level))
    first = tl.load(starts + u)
    stop = tl.load(stops + u)
    stride = (stop - first) // SAMPLES + 1
    lane = tl.arange(0, TILE)
    best = tl.full((TILE,), float("inf"), tl.float64)
    where = lane.to(tl.int64) * 0
    q = first
    while q < stop:
        here = lane * stride < stop - q
        j = tl.load(blocks + q + lane * stride, mask=here, other=0).to(tl.int64)
        ok = here & ((j + g) * size < n)
        end = tl.load(l + (j + g) * size, mask=ok, other=float("inf")).to(tl.float64)
        width = end - tl.load(l + j * size, mask=ok, other=0.0).to(tl.float64)
        where = tl.where(width < best, j, where)
        best = tl.minimum(best, width)
        q += TILE * stride
    block = tl.max(tl.where(best == tl.min(best, axis=0), where, 0), axis=0)
    slope = 0.5 * (tl.load(records + 4 * block + 3) + tl.load(records + 4 * (block + g) + 3))
    grain = tl.load(all_scalars + N_SCALARS * column)
    span = tl.load(all_scalars + N_SCALARS * column + 3)
    tl.store(trends + u, snapped(slope, span / size.to(tl.float64), grain))


@triton.jit(do_not_specialize=["total"])
def bound_pieces(
    nodes, firsts, all_l, n, all_records, all_peaks, total, offsets, cols, levels, gaps, stops, blocks,
    trends, values, places, PIECE: tl.constexpr, BASE: tl.constexpr, TILE: tl.constexpr,
):  # fmt: skip
    """Bounds over a piece of a node's list: the least upper line, lower line and plain upper bound.

    ``values`` gets these three, ``places`` the blocks of the first and the last.
    """
    p = tl.program_id(0).to(tl.int64)
    u = tl.load(nodes + p)
    column = tl.load(cols + u).to(tl.int64)
    level = tl.load(levels + u).to(tl.int64)
    g = tl.load(gaps + u).to(tl.int64)
    size = tl.full((), BASE, tl.int64) << level
    d0 = g * size
    l = all_l + column * n
    records = all_records + 4 * (column * total + tl.load(offsets + level))
    peaks = all_peaks + column * total + tl.load(offsets + level)
    c = tl.load(trends + u)
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
    q = tl.load(firsts + p)
    stop = tl.minimum(tl.load(stops + u), q + PIECE)
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
    flat = tl.min(flat_lane, axis=0)
    tl.store(values + 3 * p, v)
    tl.store(values + 3 * p + 1, tl.min(low_lane, axis=0))
    tl.store(values + 3 * p + 2, flat)
    tl.store(places + 2 * p, tl.max(tl.where(v_lane == v, v_at, -1), axis=0))
    tl.store(places + 2 * p + 1, tl.max(tl.where(flat_lane == flat, flat_at, -1), axis=0))


@triton.jit(do_not_specialize=["total"])
def settle_bounds(
    piece_stops, values, places, n, all_records, total, offsets, cols, levels, gaps, trends, caps, phi,
    phi_records, all_scalars, node_values, node_places, child_trends, is_open, N_SCALARS: tl.constexpr,
    BASE: tl.constexpr, TILE: tl.constexpr,
):  # fmt: skip
    """The bounds of whole nodes from those of their pieces, and whether the column may reach Phi in them."""
    u = tl.program_id(0).to(tl.int64)
    column = tl.load(cols + u).to(tl.int64)
    level = tl.load(levels + u).to(tl.int64)
    g = tl.load(gaps + u).to(tl.int64)
    size = tl.full((), BASE, tl.int64) << level
    d0 = g * size
    lane = tl.arange(0, TILE)
    v_lane = tl.full((TILE,), float("inf"), tl.float64)
    v_at = lane.to(tl.int64) * 0 - 1
    low_lane = tl.full((TILE,), float("inf"), tl.float64)
    flat_lane = tl.full((TILE,), float("inf"), tl.float64)
    flat_at = v_at
    p = tl.load(piece_stops + u - 1, mask=u > 0, other=0)
    stop = tl.load(piece_stops + u)
    while p < stop:
        at = p + lane
        here = at < stop
        upper = tl.load(values + 3 * at, mask=here, other=float("inf"))
        lower = tl.load(values + 3 * at + 1, mask=here, other=float("inf"))
        plain = tl.load(values + 3 * at + 2, mask=here, other=float("inf"))
        v_at = tl.where(upper < v_lane, tl.load(places + 2 * at, mask=here, other=-1), v_at)
        v_lane = tl.minimum(v_lane, upper)
        low_lane = tl.minimum(low_lane, lower)
        flat_at = tl.where(plain < flat_lane, tl.load(places + 2 * at + 1, mask=here, other=-1), flat_at)
        flat_lane = tl.minimum(flat_lane, plain)
        p += TILE
    v = tl.min(v_lane, axis=0)
    flat = tl.min(flat_lane, axis=0)
    who = tl.max(tl.where(v_lane == v, v_at, -1), axis=0)
    scalars = all_scalars + N_SCALARS * column
    grain = tl.load(scalars)
    slack = tl.load(scalars + 1)
    span = tl.load(scalars + 3)
    above = v + slack + tl.load(scalars + 4)
    c = tl.load(trends + u)
    steps = (tl.minimum(d0 + size, n) - 1 - d0).to(tl.float64)
    cap = tl.minimum(tl.minimum(tl.load(caps + u), v + c * steps + slack), flat)
    below = phi_records + 4 * (tl.load(offsets + level) + g)
    reached = tl.load(below + 1, mask=d0 < n, other=float("inf"))
    reached_end = reached + tl.load(below + 3, mask=d0 < n, other=0.0) * steps
    beaten = (above < reached) & (above + c * steps < reached_end)
    slope = c
    if who >= 0:
        records = all_records + 4 * (column * total + tl.load(offsets + level))
        slope = 0.5 * (tl.load(records + 4 * who + 3) + tl.load(records + 4 * (who + g) + 3))
    worth = (cap >= tl.load(phi + d0, mask=d0 < n, other=float("inf"))) & (d0 < n) & (beaten == 0)
    tl.store(is_open + u, worth.to(tl.int8))
    tl.store(caps + u, cap)
    tl.store(child_trends + u, snapped(slope, 2.0 * span / size.to(tl.float64), grain))
    tl.store(node_values + 3 * u, v)
    tl.store(node_values + 3 * u + 1, tl.min(low_lane, axis=0))
    tl.store(node_values + 3 * u + 2, flat)
    tl.store(node_places + 2 * u, who)
    tl.store(node_places + 2 * u + 1, tl.max(tl.where(flat_lane == flat, flat_at, -1), axis=0))


@triton.jit(do_not_specialize=["total"])
def flag_pieces(
    nodes, firsts, flag_firsts, is_open, all_l, n, all_records, total, offsets, cols, levels, gaps, stops,
    blocks, trends, node_values, node_places, all_scalars, flags, piece_kept, piece_flat,
    N_SCALARS: tl.constexpr, PIECE: tl.constexpr, BASE: tl.constexpr, TILE: tl.constexpr,
):  # fmt: skip
    """Flag the blocks of a piece that may hold the narrowest window of some size.

    Writes their number, and the least plain bound.
    """
    p = tl.program_id(0).to(tl.int64)
    u = tl.load(nodes + p)
    lane = tl.arange(0, TILE)
    kept_lane = lane * 0
    flat_lane = tl.full((TILE,), float("inf"), tl.float64)
    if tl.load(is_open + u) > 0:
        column = tl.load(cols + u).to(tl.int64)
        level = tl.load(levels + u).to(tl.int64)
        g = tl.load(gaps + u).to(tl.int64)
        size = tl.full((), BASE, tl.int64) << level
        l = all_l + column * n
        records = all_records + 4 * (column * total + tl.load(offsets + level))
        c = tl.load(trends + u)
        steps = (size - 1).to(tl.float64)
        last = c * steps
        drop = c * size.to(tl.float64)
        bar = tl.load(all_scalars + N_SCALARS * column + 2)
        v = tl.load(node_values + 3 * u)
        flat = tl.load(node_values + 3 * u + 2)
        who = tl.load(node_places + 2 * u)
        who_flat = tl.load(node_places + 2 * u + 1)
        q = tl.load(firsts + p)
        to = tl.load(flag_firsts + p)
        stop = tl.minimum(tl.load(stops + u), q + PIECE)
        while q < stop:
            here = lane < stop - q
            j = tl.load(blocks + q + lane, mask=here, other=0).to(tl.int64)
            ok = here & ((j + g) * size < n)
            lower, _ = lower_bounds(records, j, g, ok, last, drop, steps)
            plain = plain_lower(l, n, j, g, ok, size)
            keep = ((v - lower >= bar) | (j == who)) & ((plain < flat) | (j == who) | (j == who_flat)) & ok
            flat_lane = tl.minimum(flat_lane, tl.where(keep, plain, float("inf")))
            kept_lane += keep.to(tl.int32)
            tl.store(flags + to + lane, keep.to(tl.int8), mask=here)
            q += TILE
            to += TILE
    tl.store(piece_kept + p, tl.sum(kept_lane, axis=0))
    tl.store(piece_flat + p, tl.min(flat_lane, axis=0))


@triton.jit
def settle_nodes(
    piece_stops, piece_kept, piece_flat, is_open, n, cols, levels, gaps, trends, node_values, all_scalars,
    own, kept_out, N_SCALARS: tl.constexpr, BASE: tl.constexpr, TILE: tl.constexpr, FILL: tl.constexpr,
):  # fmt: skip
    """Decide nodes whose lower and upper line meet, or where phi is constant.

    Of the others, count how many blocks stay.
    """
    u = tl.program_id(0).to(tl.int64)
    kept = 0
    if tl.load(is_open + u) > 0:
        lane = tl.arange(0, TILE)
        kept_lane = lane * 0
        flat_lane = tl.full((TILE,), float("inf"), tl.float64)
        p = tl.load(piece_stops + u - 1, mask=u > 0, other=0)
        stop = tl.load(piece_stops + u)
        while p < stop:
            at = p + lane
            kept_lane += tl.load(piece_kept + at, mask=at < stop, other=0)
            flat_lane = tl.minimum(flat_lane, tl.load(piece_flat + at, mask=at < stop, other=float("inf")))
            p += TILE
        kept = tl.sum(kept_lane, axis=0)
        column = tl.load(cols + u).to(tl.int64)
        v = tl.load(node_values + 3 * u)
        low = tl.load(node_values + 3 * u + 1)
        flat = tl.load(node_values + 3 * u + 2)
        slack = tl.load(all_scalars + N_SCALARS * column + 1)
        lines = tl.where(slack > 0.0, float("-inf"), low) == v
        if lines | (flat == tl.min(flat_lane, axis=0)):
            kept = 0
            size = tl.full((), BASE, tl.int64) << tl.load(levels + u).to(tl.int64)
            d0 = tl.load(gaps + u).to(tl.int64) * size
            c = tl.load(trends + u)
            e = tl.arange(0, FILL)
            at = d0
            d_stop = tl.minimum(d0 + size, n)
            while at < d_stop:
                d = at + e
                line = v + c * (d - d0).to(tl.float64)
                widths = tl.where(lines, line, tl.zeros((FILL,), tl.float64) + flat)
                tl.store(own + column * n + d, widths, mask=d < d_stop)
                at += FILL
    tl.store(kept_out + u, kept)


@triton.jit
def descend(
    which, nodes, firsts, flag_firsts, piece_ends, piece_kept, ranks, bases, cols, levels, gaps, stops,
    blocks, flags, kept, trends, caps, to_cols, to_levels, to_gaps, to_starts, to_stops, to_trends, to_caps,
    to_blocks, PIECE: tl.constexpr, TILE: tl.constexpr,
):  # fmt: skip
    """Write the two halves of a node, each with both halves of the blocks of this piece that stayed.

    ``piece_ends`` counts kept blocks up to and with each piece, ``bases`` those of all nodes before; every
    piece writes the same sizes of its node.
    """
    p = tl.load(which + tl.program_id(0)).to(tl.int64)
    u = tl.load(nodes + p)
    m = tl.load(kept + u).to(tl.int64)
    rank = tl.load(ranks + u)
    base = 4 * tl.load(bases + u)
    for half in tl.static_range(2):
        child = 2 * rank + half
        tl.store(to_cols + child, tl.load(cols + u))
        tl.store(to_levels + child, tl.load(levels + u) - 1)
        tl.store(to_gaps + child, 2 * tl.load(gaps + u) + half)
        tl.store(to_starts + child, base + 2 * m * half)
        tl.store(to_stops + child, base + 2 * m * (half + 1))
        tl.store(to_trends + child, tl.load(trends + u))
        tl.store(to_caps + child, tl.load(caps + u))
    lane = tl.arange(0, TILE)
    before = tl.load(piece_ends + p) - tl.load(piece_kept + p) - tl.load(bases + u)
    to_first = base + 2 * before
    q = tl.load(firsts + p)
    at = tl.load(flag_firsts + p)
    stop = tl.minimum(tl.load(stops + u), q + PIECE)
    while q < stop:
        here = lane < stop - q
        keep = tl.load(flags + at + lane, mask=here, other=0).to(tl.int32)
        j = tl.load(blocks + q + lane, mask=here, other=0)
        to = to_first + 2 * (tl.cumsum(keep, axis=0) - keep)
        for half in tl.static_range(2):
            tl.store(to_blocks + to + 2 * m * half, 2 * j, mask=keep > 0)
            tl.store(to_blocks + to + 2 * m * half + 1, 2 * j + 1, mask=keep > 0)
        to_first += 2 * tl.sum(keep, axis=0)
        q += TILE
        at += TILE


@triton.jit
def evaluate_pieces(
    which, nodes, firsts, flag_firsts, all_l, n, cols, gaps, stops, blocks, flags, own, PIECE: tl.constexpr,
    BASE: tl.constexpr,
):  # fmt: skip
    """Narrowest windows of base gaps over the flagged blocks of a piece.

    The least of all pieces stays in ``own``.
    """
    p = tl.load(which + tl.program_id(0)).to(tl.int64)
    u = tl.load(nodes + p)
    column = tl.load(cols + u).to(tl.int64)
    l = all_l + column * n
    d0 = tl.load(gaps + u).to(tl.int64) * BASE
    e = tl.arange(0, BASE)
    best = tl.full((BASE,), float("inf"), tl.float64)
    q = tl.load(firsts + p)
    at = tl.load(flag_firsts + p)
    stop = tl.minimum(tl.load(stops + u), q + PIECE)
    while q < stop:
        if tl.load(flags + at) > 0:
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
        at += 1
    tl.atomic_min(own + column * n + d0 + e, best, mask=d0 + e < n)
