"""Triton kernels: the gap recursion over waves of nodes.

The mathematics is that of `geodim.engine.kernels.gaps`; only the order differs.  A node is a gap of sizes of
one column, at one level of its pyramid, together with a list of blocks.  All nodes of a wave are bounded and
filtered at once; their lists are cut into pieces, so that no program works long after all others are done.
Their children form the next wave.  Widths are differences of two values in float64, as everywhere, so the
results are the same to the bit.  Trends and bounds may round differently, which the slack covers, or not at
all on a lattice.

Phi, which other columns reached, is an ascending sequence as well and has a pyramid of its own.  A node is
dropped as soon as its upper line lies below the lower line of Phi (F16).  The lower line of any column bounds
Phi from below as well, so a node is also dropped as soon as its upper line lies below that of its rival: of
the columns of the batch, the one with the highest lower line in that gap.

A node has NODE integers: column, level, gap, the half-open range of its list among the blocks of the wave,
and the half-open range of the pieces into which it was cut.  It also has two floats: its trend, and a width
that phi does not exceed (the cap).  A piece has three integers: its node, where it begins among the blocks,
and where its remaining blocks are written.

Only the device knows how many nodes, pieces and blocks a wave has (``counts``), so the host need not wait: a
fixed number of programs shares whatever there is.  If the next wave does not fit the memory reserved for it,
``overflow`` is set, and all later launches find nothing to do.
"""

from __future__ import annotations

import triton
import triton.language as tl

from geodim.backends.cuda.node_kernels import (
    beaten_by_rival,
    become_rival,
    lower_bounds,
    node_at,
    number_of,
    plain_lower,
    plain_upper,
    upper_bounds,
)
from geodim.backends.cuda.pyramid_kernels import snapped

NODE = 7
COUNTS = 4  # of a wave: nodes, pieces and blocks, and blocks that were evaluated in the wave before


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
    counts, overflow, pieces, nodes, lines, blocks, all_l, n, all_records, all_peaks, total, offsets, values,
    places, N_NODE: tl.constexpr, PIECE: tl.constexpr, BASE: tl.constexpr, TILE: tl.constexpr,
):  # fmt: skip
    """Bound the pieces of lists: the least upper line, lower line and plain upper bound.

    ``values`` receives these three, ``places`` the blocks of the first and the last.
    """
    p = tl.program_id(0).to(tl.int64)
    last_piece = number_of(counts, overflow, 1)
    lane = tl.arange(0, TILE)
    while p < last_piece:
        u = tl.load(pieces + 3 * p).to(tl.int64)
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
        v_lane = tl.full((TILE,), float("inf"), tl.float64)
        v_at = lane * 0 - 1
        low_lane = tl.full((TILE,), float("inf"), tl.float64)
        flat_lane = tl.full((TILE,), float("inf"), tl.float64)
        flat_at = v_at
        q = tl.load(pieces + 3 * p + 1)
        stop = tl.minimum(tl.load(nodes + N_NODE * u + 4), q + PIECE)
        while q < stop:
            here = lane < stop - q
            block = tl.load(blocks + q + lane, mask=here, other=0)
            j = block.to(tl.int64)
            ok = here & ((j + g) * size < n)
            lower, top = lower_bounds(records, j, g, ok, last, drop, steps)
            low_lane = tl.minimum(low_lane, lower)
            upper = upper_bounds(l, n, records, peaks, j, g, ok, top, c, last, drop, steps, size)
            v_at = tl.where(upper < v_lane, block, v_at)
            v_lane = tl.minimum(v_lane, upper)
            width = plain_upper(l, n, j, ok, size, d_stop - 1)
            flat_at = tl.where(width < flat_lane, block, flat_at)
            flat_lane = tl.minimum(flat_lane, width)
            q += TILE
        v = tl.min(v_lane, axis=0)
        flat = tl.min(flat_lane, axis=0)
        tl.store(values + 3 * p, v)
        tl.store(values + 3 * p + 1, tl.min(low_lane, axis=0))
        tl.store(values + 3 * p + 2, flat)
        tl.store(places + 2 * p, tl.max(tl.where(v_lane == v, v_at, -1), axis=0))
        tl.store(places + 2 * p + 1, tl.max(tl.where(flat_lane == flat, flat_at, -1), axis=0))
        p += tl.num_programs(0)


@triton.jit(do_not_specialize=["total"])
def settle_bounds(
    counts, overflow, nodes, lines, values, places, n, all_records, total, offsets, phi, phi_records, rivals,
    all_scalars, bounds, where, N_NODE: tl.constexpr, N_SCALARS: tl.constexpr, BASE: tl.constexpr,
    TILE: tl.constexpr,
):  # fmt: skip
    """Combine the bounds of pieces into bounds of nodes, and decide whether the column may reach Phi there.

    ``bounds`` receives the three bounds and the trend of the children; ``where`` the two blocks, and 1 if the
    column may reach Phi.
    """
    u = tl.program_id(0).to(tl.int64)
    last_node = number_of(counts, overflow, 0)
    lane = tl.arange(0, TILE)
    while u < last_node:
        column, level, g, size = node_at(nodes, u, N_NODE, BASE)
        d0 = g * size
        v_lane = tl.full((TILE,), float("inf"), tl.float64)
        v_at = lane * 0 - 1
        low_lane = tl.full((TILE,), float("inf"), tl.float64)
        flat_lane = tl.full((TILE,), float("inf"), tl.float64)
        flat_at = v_at
        p = tl.load(nodes + N_NODE * u + 5).to(tl.int64)
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
        low = tl.min(low_lane, axis=0)
        flat = tl.min(flat_lane, axis=0)
        who = tl.max(tl.where(v_lane == v, v_at, -1), axis=0).to(tl.int64)
        scalars = all_scalars + N_SCALARS * column
        grain = tl.load(scalars)
        slack = tl.load(scalars + 1)
        span = tl.load(scalars + 3)
        above = v + slack + tl.load(scalars + 4)
        c = tl.load(lines + 2 * u)
        steps = (tl.minimum(d0 + size, n) - 1 - d0).to(tl.float64)
        cap = tl.minimum(tl.minimum(tl.load(lines + 2 * u + 1), v + c * steps + slack), flat)
        gap = tl.load(offsets + level) + g
        below = phi_records + 4 * gap
        reached = tl.load(below + 1, mask=d0 < n, other=float("inf"))
        reached_end = reached + tl.load(below + 3, mask=d0 < n, other=0.0) * steps
        beaten = (above < reached) & (above + c * steps < reached_end)
        slope = c
        if who >= 0:
            records = all_records + 4 * (column * total + tl.load(offsets + level))
            slope = 0.5 * (tl.load(records + 4 * who + 3) + tl.load(records + 4 * (who + g) + 3))
        worth = (cap >= tl.load(phi + d0, mask=d0 < n, other=float("inf"))) & (d0 < n) & (beaten == 0)
        if worth:
            become_rival(rivals + gap, u, low, c, steps)
        tl.store(lines + 2 * u + 1, cap)
        tl.store(bounds + 4 * u, v)
        tl.store(bounds + 4 * u + 1, low)
        tl.store(bounds + 4 * u + 2, flat)
        tl.store(bounds + 4 * u + 3, snapped(slope, 2.0 * span / size.to(tl.float64), grain))
        tl.store(where + 3 * u, who.to(tl.int32))
        tl.store(where + 3 * u + 1, tl.max(tl.where(flat_lane == flat, flat_at, -1), axis=0))
        tl.store(where + 3 * u + 2, worth.to(tl.int32))
        u += tl.num_programs(0)


@triton.jit(do_not_specialize=["total"])
def keep_blocks(
    counts, overflow, pieces, nodes, lines, blocks, all_l, n, all_records, total, offsets, rivals, bounds,
    where, all_scalars, values, places, kept, N_NODE: tl.constexpr, N_SCALARS: tl.constexpr,
    PIECE: tl.constexpr, BASE: tl.constexpr, TILE: tl.constexpr,
):  # fmt: skip
    """Write to ``kept`` the blocks of pieces that may contain the narrowest window of some size.

    ``values`` receives the least plain bound, ``places`` the number of blocks kept.
    """
    p = tl.program_id(0).to(tl.int64)
    last_piece = number_of(counts, overflow, 1)
    lane = tl.arange(0, TILE)
    while p < last_piece:
        u = tl.load(pieces + 3 * p).to(tl.int64)
        number = tl.full((), 0, tl.int32)
        flat_lane = tl.full((TILE,), float("inf"), tl.float64)
        if tl.load(where + 3 * u + 2) > 0:
            column, level, g, size = node_at(nodes, u, N_NODE, BASE)
            gap = rivals + tl.load(offsets + level) + g
            lost = beaten_by_rival(
                gap, nodes, u, column, g, size, n, lines, bounds, all_scalars, N_NODE, N_SCALARS
            )
            if lost == 0:
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
                    first = block == who
                    keep = ((v - lower >= bar) | first) & ((plain < flat) | first | (block == who_flat)) & ok
                    flat_lane = tl.minimum(flat_lane, tl.where(keep, plain, float("inf")))
                    one = keep.to(tl.int32)
                    tl.store(to + number + tl.cumsum(one, axis=0) - one, block, mask=keep)
                    number += tl.sum(one, axis=0)
                    q += TILE
        tl.store(values + 3 * p + 2, tl.min(flat_lane, axis=0))
        tl.store(places + 2 * p, number)
        p += tl.num_programs(0)


@triton.jit
def settle_nodes(
    counts, overflow, nodes, lines, values, places, n, bounds, where, all_scalars, own, raised, parts, stays,
    N_NODE: tl.constexpr, N_SCALARS: tl.constexpr, BASE: tl.constexpr, TILE: tl.constexpr,
    FILL: tl.constexpr, RAISED: tl.constexpr,
):  # fmt: skip
    """Settle nodes whose lower and upper line meet, or where phi is constant.

    ``stays`` receives how many blocks remain of the others; ``places``, for each piece, how many remain in
    the pieces before it.
    """
    u = tl.program_id(0).to(tl.int64)
    last_node = number_of(counts, overflow, 0)
    lane = tl.arange(0, TILE)
    while u < last_node:
        stay = tl.full((), 0, tl.int32)
        if tl.load(where + 3 * u + 2) > 0:
            flat_lane = tl.full((TILE,), float("inf"), tl.float64)
            p = tl.load(nodes + N_NODE * u + 5).to(tl.int64)
            stop = tl.load(nodes + N_NODE * u + 6)
            while p < stop:
                at = p + lane
                number = tl.load(places + 2 * at, mask=at < stop, other=0)
                tl.store(places + 2 * at + 1, stay + tl.cumsum(number, axis=0) - number, mask=at < stop)
                stay += tl.sum(number, axis=0)
                plain = tl.load(values + 3 * at + 2, mask=at < stop, other=float("inf"))
                flat_lane = tl.minimum(flat_lane, plain)
                p += TILE
            if stay > 0:  # otherwise the rival is wider
                column, _, g, size = node_at(nodes, u, N_NODE, BASE)
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
                    at_size = d0
                    d_stop = tl.minimum(d0 + size, n)
                    while at_size < d_stop:
                        d = at_size + e
                        line = v + c * (d - d0).to(tl.float64)
                        widths = tl.where(meet, line, tl.zeros((FILL,), tl.float64) + flat)
                        tl.store(own + column * n + d, widths, mask=d < d_stop)
                        tl.store(raised + column * parts + at_size // RAISED, 1)
                        at_size += FILL
        tl.store(stays + u, stay)
        u += tl.num_programs(0)


@triton.jit
def places_for(need, total):
    """Return where the room of each lane begins, and add all that is needed to the total."""
    return tl.atomic_add(total, tl.sum(need, axis=0)) + tl.cumsum(need, axis=0) - need


@triton.jit
def make_room(
    counts, overflow, following, nodes, stays, room, N_NODE: tl.constexpr, PIECE: tl.constexpr,
    TILE: tl.constexpr,
):  # fmt: skip
    """Reserve room for the children of nodes in the next wave, whose counts are ``following``.

    ``room`` receives where the two children of a node begin, their pieces and their blocks.
    """
    first = tl.program_id(0).to(tl.int64) * TILE
    last_node = number_of(counts, overflow, 0)
    while first < last_node:
        u = first + tl.arange(0, TILE)
        ok = u < last_node
        stay = tl.load(stays + u, mask=ok, other=0).to(tl.int64)
        inner = tl.load(nodes + N_NODE * u + 1, mask=ok, other=0) > 0
        halves = 2 * (inner & (stay > 0)).to(tl.int64)
        tl.store(room + 3 * u, places_for(halves, following).to(tl.int32), mask=ok)
        pieces = halves * ((2 * stay + PIECE - 1) // PIECE)
        tl.store(room + 3 * u + 1, places_for(pieces, following + 1).to(tl.int32), mask=ok)
        tl.store(room + 3 * u + 2, places_for(2 * halves * stay, following + 2).to(tl.int32), mask=ok)
        tl.atomic_add(following + 3, tl.sum(tl.where(inner, 0, stay), axis=0))
        first += tl.num_programs(0) * TILE


@triton.jit(do_not_specialize=["most_nodes", "most_pieces", "most_blocks"])
def descend(
    counts, overflow, following, most_nodes, most_pieces, most_blocks, pieces, nodes, lines, bounds, places,
    stays, room, kept, to_nodes, to_lines, to_pieces, to_blocks, N_NODE: tl.constexpr, PIECE: tl.constexpr,
    TILE: tl.constexpr,
):  # fmt: skip
    """Write the two halves of nodes, each with both halves of the remaining blocks.

    The first piece of a node also writes what belongs to the node: its children and their pieces.
    """
    p = tl.program_id(0).to(tl.int64)
    last_piece = number_of(counts, overflow, 1)
    too_many = (tl.load(following) > most_nodes) | (tl.load(following + 1) > most_pieces)
    if too_many | (tl.load(following + 2) > most_blocks):
        tl.store(overflow, 1)
        last_piece = last_piece * 0
    lane = tl.arange(0, TILE)
    while p < last_piece:
        u = tl.load(pieces + 3 * p).to(tl.int64)
        stay = tl.load(stays + u)
        node = nodes + N_NODE * u
        if (stay > 0) & (tl.load(node + 1) > 0):
            child = tl.load(room + 3 * u).to(tl.int64)
            first = tl.load(room + 3 * u + 2)
            if p == tl.load(node + 5):
                piece = tl.load(room + 3 * u + 1)
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
                        cut = to_pieces + 3 * (piece + number * half + at).to(tl.int64)
                        tl.store(cut, begin * 0 + (child + half).to(tl.int32), mask=at < number)
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
        p += tl.num_programs(0)
