"""Triton kernels: the gap recursion over waves of nodes.

The mathematics is that of `geodim.engine.kernels.gaps`; only the order differs.  A node is a gap of sizes of
one column, at one level of its pyramid, together with a list of blocks.  All nodes of a wave are bounded and
filtered at once; their lists are cut into pieces, so that no program works long after all others are done.
Their children form the next wave.  Widths are differences of two values in float64, as everywhere, so the
results are the same to the bit.  Trends and bounds may round differently, which the slack covers, or not at
all on a lattice.

Phi, which other columns reached, is an ascending sequence as well and has a pyramid of its own.  A node is
dropped as soon as its upper line lies below the lower line of Phi (F16).

A node has NODE integers: column, level, gap, the half-open range of its list among the blocks of the wave,
and the half-open range of the pieces into which it was cut.  It also has two floats: its trend, and a width
that phi does not exceed (the cap).  A piece has three integers: its node, where it begins among the blocks,
and where its remaining blocks are written.
"""

from __future__ import annotations

import triton
import triton.language as tl

from geodim.backends.cuda.pyramid_kernels import line_ends, snapped

NODE = 7


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
def node_at(nodes, u, N_NODE: tl.constexpr, BASE: tl.constexpr):
    """Return column, level and gap of a node, and the size of its blocks."""
    at = nodes + N_NODE * u
    level = tl.load(at + 1)
    return tl.load(at), level, tl.load(at + 2), tl.full((), BASE, tl.int64) << level


@triton.jit(do_not_specialize=["total"])
def starting_trends(
    nodes, lines, blocks, all_l, n, all_records, total, offsets, all_scalars, SAMPLES,
    N_NODE: tl.constexpr, N_SCALARS: tl.constexpr, BASE: tl.constexpr, TILE: tl.constexpr,
):  # fmt: skip
    """Write the trends of nodes that inherit none: the mean slope at the two ends of the best window.

    The windows tried begin at some of the block starts.
    """
    u = tl.program_id(0).to(tl.int64)
    column, level, g, size = node_at(nodes, u, N_NODE, BASE)
    l = all_l + column * n
    records = all_records + 4 * (column * total + tl.load(offsets + level))
    first = tl.load(nodes + N_NODE * u + 3)
    stop = tl.load(nodes + N_NODE * u + 4)
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
    tl.store(lines + 2 * u, snapped(slope, span / size.to(tl.float64), grain))
    tl.store(lines + 2 * u + 1, float("inf"))


@triton.jit(do_not_specialize=["total"])
def bound_pieces(
    pieces, nodes, lines, blocks, all_l, n, all_records, all_peaks, total, offsets, values, places,
    N_NODE: tl.constexpr, PIECE: tl.constexpr, BASE: tl.constexpr, TILE: tl.constexpr,
):  # fmt: skip
    """Bound a piece of a node's list: the least upper line, lower line and plain upper bound.

    ``values`` receives these three, ``places`` the blocks of the first and the last.
    """
    p = tl.program_id(0).to(tl.int64)
    u = tl.load(pieces + 3 * p)
    column, level, g, size = node_at(nodes, u, N_NODE, BASE)
    d0 = g * size
    l = all_l + column * n
    records = all_records + 4 * (column * total + tl.load(offsets + level))
    peaks = all_peaks + column * total + tl.load(offsets + level)
    c = tl.load(lines + 2 * u)
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
    q = tl.load(pieces + 3 * p + 1)
    stop = tl.minimum(tl.load(nodes + N_NODE * u + 4), q + PIECE)
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
    nodes, lines, values, places, n, all_records, total, offsets, phi, phi_records, all_scalars, bounds,
    where, N_NODE: tl.constexpr, N_SCALARS: tl.constexpr, BASE: tl.constexpr, TILE: tl.constexpr,
):  # fmt: skip
    """Combine the bounds of pieces into bounds of nodes, and decide whether the column may reach Phi there.

    ``bounds`` receives the three bounds and the trend of the children; ``where`` the two blocks, and 1 if the
    column may reach Phi.
    """
    u = tl.program_id(0).to(tl.int64)
    column, level, g, size = node_at(nodes, u, N_NODE, BASE)
    d0 = g * size
    lane = tl.arange(0, TILE)
    v_lane = tl.full((TILE,), float("inf"), tl.float64)
    v_at = lane.to(tl.int64) * 0 - 1
    low_lane = tl.full((TILE,), float("inf"), tl.float64)
    flat_lane = tl.full((TILE,), float("inf"), tl.float64)
    flat_at = v_at
    p = tl.load(nodes + N_NODE * u + 5)
    stop = tl.load(nodes + N_NODE * u + 6)
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
    c = tl.load(lines + 2 * u)
    steps = (tl.minimum(d0 + size, n) - 1 - d0).to(tl.float64)
    cap = tl.minimum(tl.minimum(tl.load(lines + 2 * u + 1), v + c * steps + slack), flat)
    below = phi_records + 4 * (tl.load(offsets + level) + g)
    reached = tl.load(below + 1, mask=d0 < n, other=float("inf"))
    reached_end = reached + tl.load(below + 3, mask=d0 < n, other=0.0) * steps
    beaten = (above < reached) & (above + c * steps < reached_end)
    slope = c
    if who >= 0:
        records = all_records + 4 * (column * total + tl.load(offsets + level))
        slope = 0.5 * (tl.load(records + 4 * who + 3) + tl.load(records + 4 * (who + g) + 3))
    worth = (cap >= tl.load(phi + d0, mask=d0 < n, other=float("inf"))) & (d0 < n) & (beaten == 0)
    tl.store(lines + 2 * u + 1, cap)
    tl.store(bounds + 4 * u, v)
    tl.store(bounds + 4 * u + 1, tl.min(low_lane, axis=0))
    tl.store(bounds + 4 * u + 2, flat)
    tl.store(bounds + 4 * u + 3, snapped(slope, 2.0 * span / size.to(tl.float64), grain))
    tl.store(where + 3 * u, who)
    tl.store(where + 3 * u + 1, tl.max(tl.where(flat_lane == flat, flat_at, -1), axis=0))
    tl.store(where + 3 * u + 2, worth.to(tl.int64))


@triton.jit(do_not_specialize=["total"])
def keep_blocks(
    pieces, nodes, lines, blocks, all_l, n, all_records, total, offsets, bounds, where, all_scalars, values,
    places, kept, N_NODE: tl.constexpr, N_SCALARS: tl.constexpr, PIECE: tl.constexpr, BASE: tl.constexpr,
    TILE: tl.constexpr,
):  # fmt: skip
    """Write to ``kept`` the blocks of a piece that may contain the narrowest window of some size.

    ``values`` receives the least plain bound, ``places`` the number of blocks kept.
    """
    p = tl.program_id(0).to(tl.int64)
    u = tl.load(pieces + 3 * p)
    lane = tl.arange(0, TILE)
    number = tl.full((), 0, tl.int64)
    flat_lane = tl.full((TILE,), float("inf"), tl.float64)
    if tl.load(where + 3 * u + 2) > 0:
        column, level, g, size = node_at(nodes, u, N_NODE, BASE)
        l = all_l + column * n
        records = all_records + 4 * (column * total + tl.load(offsets + level))
        c = tl.load(lines + 2 * u)
        steps = (size - 1).to(tl.float64)
        last = c * steps
        drop = c * size.to(tl.float64)
        bar = tl.load(all_scalars + N_SCALARS * column + 2)
        v = tl.load(bounds + 4 * u)
        flat = tl.load(bounds + 4 * u + 2)
        who = tl.load(where + 3 * u)
        who_flat = tl.load(where + 3 * u + 1)
        q = tl.load(pieces + 3 * p + 1)
        to = kept + tl.load(pieces + 3 * p + 2)
        stop = tl.minimum(tl.load(nodes + N_NODE * u + 4), q + PIECE)
        while q < stop:
            here = lane < stop - q
            block = tl.load(blocks + q + lane, mask=here, other=0)
            j = block.to(tl.int64)
            ok = here & ((j + g) * size < n)
            lower, _ = lower_bounds(records, j, g, ok, last, drop, steps)
            plain = plain_lower(l, n, j, g, ok, size)
            keep = ((v - lower >= bar) | (j == who)) & ((plain < flat) | (j == who) | (j == who_flat)) & ok
            flat_lane = tl.minimum(flat_lane, tl.where(keep, plain, float("inf")))
            one = keep.to(tl.int32)
            tl.store(to + number + tl.cumsum(one, axis=0) - one, block, mask=keep)
            number += tl.sum(one, axis=0).to(tl.int64)
            q += TILE
    tl.store(values + 3 * p + 2, tl.min(flat_lane, axis=0))
    tl.store(places + 2 * p, number)


@triton.jit
def settle_nodes(
    nodes, lines, values, places, n, bounds, where, all_scalars, own, raised, parts, stays, room,
    N_NODE: tl.constexpr, N_SCALARS: tl.constexpr, PIECE: tl.constexpr, BASE: tl.constexpr,
    TILE: tl.constexpr, FILL: tl.constexpr, RAISED: tl.constexpr,
):  # fmt: skip
    """Settle nodes whose lower and upper line meet, or where phi is constant; reserve room for the others.

    ``stays`` receives how many blocks remain.  ``room`` receives the numbers of children, blocks and pieces
    that the node adds to the next wave, and, for a leaf, of pieces to evaluate; it holds the first number of
    all nodes, then the second, and so on.  ``places`` receives, for each piece, how many blocks remain in the
    pieces before it.
    """
    u = tl.program_id(0).to(tl.int64)
    stay = tl.full((), 0, tl.int64)
    children = stay
    pieces = stay
    leaves = stay
    if tl.load(where + 3 * u + 2) > 0:
        lane = tl.arange(0, TILE)
        flat_lane = tl.full((TILE,), float("inf"), tl.float64)
        alive = tl.full((), 0, tl.int64)
        p = tl.load(nodes + N_NODE * u + 5)
        stop = tl.load(nodes + N_NODE * u + 6)
        while p < stop:
            at = p + lane
            number = tl.load(places + 2 * at, mask=at < stop, other=0)
            tl.store(places + 2 * at + 1, stay + tl.cumsum(number, axis=0) - number, mask=at < stop)
            stay += tl.sum(number, axis=0)
            alive += tl.sum((number > 0).to(tl.int64), axis=0)
            plain = tl.load(values + 3 * at + 2, mask=at < stop, other=float("inf"))
            flat_lane = tl.minimum(flat_lane, plain)
            p += TILE
        column, level, g, size = node_at(nodes, u, N_NODE, BASE)
        v = tl.load(bounds + 4 * u)
        low = tl.load(bounds + 4 * u + 1)
        flat = tl.load(bounds + 4 * u + 2)
        slack = tl.load(all_scalars + N_SCALARS * column + 1)
        meet = tl.where(slack > 0.0, float("-inf"), low) == v
        if meet | (flat == tl.min(flat_lane, axis=0)):
            stay = stay * 0
            d0 = g * size
            c = tl.load(lines + 2 * u)
            e = tl.arange(0, FILL)
            at = d0
            d_stop = tl.minimum(d0 + size, n)
            while at < d_stop:
                d = at + e
                line = v + c * (d - d0).to(tl.float64)
                widths = tl.where(meet, line, tl.zeros((FILL,), tl.float64) + flat)
                tl.store(own + column * n + d, widths, mask=d < d_stop)
                tl.store(raised + column * parts + at // RAISED, 1)
                at += FILL
        if stay > 0:
            if level == 0:
                leaves = alive
            else:
                children += 2
                pieces = 2 * ((2 * stay + PIECE - 1) // PIECE)
    tl.store(stays + u, stay)
    to = room + u
    each = tl.num_programs(0).to(tl.int64)
    tl.store(to, children)
    tl.store(to + each, 2 * children * stay)
    tl.store(to + 2 * each, pieces)
    tl.store(to + 3 * each, leaves)


@triton.jit
def room_at(room, ends, u, each, what: tl.constexpr):
    """Return where the room of a node begins, for one of its numbers; ``ends`` holds their running sums."""
    at = what * each + u
    begin = tl.load(ends + at) - tl.load(room + at)
    if what > 0:
        begin -= tl.load(ends + what * each - 1)
    return begin


@triton.jit(do_not_specialize=["each"])
def descend(
    pieces, nodes, lines, bounds, places, stays, room, ends, each, kept, to_nodes, to_lines, to_pieces,
    to_blocks, N_NODE: tl.constexpr, PIECE: tl.constexpr, TILE: tl.constexpr,
):  # fmt: skip
    """Write the two halves of a node, each with both halves of the remaining blocks of this piece.

    The first piece of a node also writes what belongs to the node: its children and their pieces.
    """
    p = tl.program_id(0).to(tl.int64)
    u = tl.load(pieces + 3 * p)
    stay = tl.load(stays + u)
    node = nodes + N_NODE * u
    if (stay > 0) & (tl.load(node + 1) > 0):
        child = room_at(room, ends, u, each, 0)
        first = room_at(room, ends, u, each, 1)
        lane = tl.arange(0, TILE)
        if p == tl.load(node + 5):
            piece = room_at(room, ends, u, each, 2)
            number = (2 * stay + PIECE - 1) // PIECE
            for half in tl.static_range(2):
                to = to_nodes + N_NODE * (child + half)
                tl.store(to, tl.load(node))
                tl.store(to + 1, tl.load(node + 1) - 1)
                tl.store(to + 2, 2 * tl.load(node + 2) + half)
                tl.store(to + 3, first + 2 * stay * half)
                tl.store(to + 4, first + 2 * stay * (half + 1))
                tl.store(to + 5, piece + number * half)
                tl.store(to + 6, piece + number * (half + 1))
                tl.store(to_lines + 2 * (child + half), tl.load(bounds + 4 * u + 3))
                tl.store(to_lines + 2 * (child + half) + 1, tl.load(lines + 2 * u + 1))
                k = number * 0
                while k < number:
                    at = k + lane
                    begin = first + 2 * stay * half + PIECE * at
                    cut = to_pieces + 3 * (piece + number * half + at)
                    tl.store(cut, begin * 0 + child + half, mask=at < number)
                    tl.store(cut + 1, begin, mask=at < number)
                    tl.store(cut + 2, begin, mask=at < number)
                    k += TILE
        here = kept + tl.load(pieces + 3 * p + 2)
        into = to_blocks + first + 2 * tl.load(places + 2 * p + 1)
        mine = tl.load(places + 2 * p)
        q = mine * 0
        while q < mine:
            number_at = q + lane
            j = tl.load(here + number_at, mask=number_at < mine, other=0)
            for side in tl.static_range(2):
                block = into + 2 * stay * side + 2 * number_at
                tl.store(block, 2 * j, mask=number_at < mine)
                tl.store(block + 1, 2 * j + 1, mask=number_at < mine)
            q += TILE
