"""Triton kernels that evaluate windows one by one: all narrow ones, and others that bounds cannot exclude.

Widths are differences of two values in float64.  For float32 values, the narrowest windows are found with
float32 differences, which are far cheaper, in one of two ways that lose nothing: as a filter, since rounding
is monotone; and exactly, where all values lie so close together that their differences are not rounded.
"""

from __future__ import annotations

import triton
import triton.language as tl

from geodim.backends.cuda.node_kernels import number_of


@triton.jit
def limit_at(place, x):
    """Return the width that a window must not exceed to matter, rounded as widths are; -1 if it is 0."""
    width = tl.load(place)
    return tl.where(width > 0.0, width, -1.0).to(x.dtype)


@triton.jit
def narrowest_at(l, n, i, x, size):
    """Return the least width of the windows of so many steps from starts i, with values x."""
    end = tl.load(l + i + size, mask=i + size < n, other=float("inf"))
    return tl.min(end.to(tl.float64) - x.to(tl.float64), axis=0)


@triton.jit
def improve(l, n, i, x, least, first, STEP: tl.constexpr):
    """Evaluate STEP sizes, from ``first`` on, if that may find narrower windows.

    It may if some window of ``first`` steps is narrower than the one known for the last of these sizes.
    Otherwise all windows of these sizes are at least as wide, and whoever found that one looked at its starts
    for all of these sizes.
    """
    if narrowest_at(l, n, i, x, first) < tl.load(least + first + STEP - 1):
        for more in range(STEP):
            width = narrowest_at(l, n, i, x, first + more)
            if width < tl.load(least + first + more):
                tl.atomic_min(least + first + more, width)


@triton.jit
def improve_all(l, n, i, x, least, NARROW: tl.constexpr):
    """Evaluate all sizes below NARROW, in groups.

    Within a group, sizes grow by less than half, or by a quarter where they are large.  So few starts have
    windows of the group's first size that are as narrow as the narrowest of its last size.
    """
    improve(l, n, i, x, least, 1, 1)
    for first in range(2, 8, 2):
        improve(l, n, i, x, least, first, 2)
    for first in range(8, 16, 4):
        improve(l, n, i, x, least, first, 4)
    for first in range(16, min(64, NARROW), 8):
        improve(l, n, i, x, least, first, 8)
    for first in range(64, NARROW, 16):
        improve(l, n, i, x, least, first, 16)


@triton.jit
def value_at(l, n, i, INSIDE: tl.constexpr):
    """Return values at some places; infinite past the end, unless all are INSIDE."""
    if INSIDE:
        return tl.load(l + i)
    return tl.load(l + i, mask=i < n, other=float("inf"))


@triton.jit
def start_at(l, n, i, INSIDE: tl.constexpr):
    """Return the same for starts; those past the end are so low that all their windows are wide."""
    if INSIDE:
        return tl.load(l + i)
    return tl.load(l + i, mask=i < n, other=float("-inf"))


@triton.jit
def not_wider(l, n, i, x, least, first, STEP: tl.constexpr, INSIDE: tl.constexpr):
    """Return whether the values from x to i + first lie within the width known for the last of STEP sizes.

    If not, no window of one of these sizes that contains them is narrower than the known ones.
    """
    end = value_at(l, n, i + first, INSIDE)
    return (end - x <= limit_at(least + first + STEP - 1, x)).to(tl.int32)


@triton.jit
def may_improve(l, n, i, least, NARROW: tl.constexpr, NEAR: tl.constexpr, INSIDE: tl.constexpr):
    """Return which groups of NEAR neighbouring starts, from i on, may have a narrower window than is known.

    Windows of 16 steps or more, from any of these starts, contain all values from the last of them to
    i + 16.  For fewer steps the starts are examined one by one, unless all known widths are 0.
    """
    x = start_at(l, n, i + NEAR - 1, INSIDE)
    hits = not_wider(l, n, i, x, least, 16, 4, INSIDE)
    for first in tl.static_range(20, 32, 4):
        hits |= not_wider(l, n, i, x, least, first, 4, INSIDE)
    for first in tl.static_range(32, NARROW, 8):
        hits |= not_wider(l, n, i, x, least, first, 8, INSIDE)
    if limit_at(least + 15, x) >= 0.0:
        for start in tl.static_range(NEAR):
            x = start_at(l, n, i + start, INSIDE)
            hits |= not_wider(l, n, i + start, x, least, 8, 4, INSIDE)
            hits |= not_wider(l, n, i + start, x, least, 12, 4, INSIDE)
    if limit_at(least + 7, x) >= 0.0:
        for start in tl.static_range(NEAR):
            x = start_at(l, n, i + start, INSIDE)
            hits |= not_wider(l, n, i + start, x, least, 1, 1, INSIDE)
            for first in tl.static_range(2, 8, 2):
                hits |= not_wider(l, n, i + start, x, least, first, 2, INSIDE)
    return hits


@triton.jit(do_not_specialize=["stride"])
def narrow_windows(
    all_l, n, all_least, stride, NARROW: tl.constexpr, PER: tl.constexpr, PART: tl.constexpr,
    NEAR: tl.constexpr,
):  # fmt: skip
    """Lower the narrowest widths of d = 1, ..., NARROW - 1, using PER starts per program.

    Only every ``stride``-th part of PER starts is used.  ``all_least`` holds what was found so far.  PART of
    the starts are evaluated together, if any of them may improve on it.
    """
    column = tl.program_id(1).to(tl.int64)
    l = all_l + column * n
    least = all_least + column * NARROW
    begin = tl.program_id(0).to(tl.int64) * stride * PER
    group = tl.arange(0, PER // NEAR)
    if begin + PER + NARROW <= n:
        hits = may_improve(l, n, begin + NEAR * group, least, NARROW, NEAR, True)
    else:
        hits = may_improve(l, n, begin + NEAR * group, least, NARROW, NEAR, False)
    if tl.max(hits, axis=0) > 0:
        for part in range(PER // PART):
            if tl.max(tl.where(group // (PART // NEAR) == part, hits, 0), axis=0) > 0:
                i = begin + part * PART + tl.arange(0, PART)
                x = tl.load(l + i, mask=i < n, other=float("-inf"))
                improve_all(l, n, i, x, least, NARROW)


@triton.jit
def do_not_round(a, a_last, b, b_last):
    """Return whether float32 differences within and between [a, a_last] and [b, b_last] are exact.

    Values of magnitude at least 2^e are multiples of q = 2^(e - 23).  If they differ by less than 2^(e - 1),
    their distances from the first of them are multiples of q below 2^22 q, and so are differences of
    distances; float32 represents these. float64 represents b - a and what is added to it, since no value
    exceeds 2^44 q.
    """
    low = tl.minimum(tl.minimum(tl.abs(a), tl.abs(a_last)), tl.minimum(tl.abs(b), tl.abs(b_last)))
    high = tl.maximum(tl.maximum(tl.abs(a), tl.abs(a_last)), tl.maximum(tl.abs(b), tl.abs(b_last)))
    same_sign = ((a > 0.0) == (a_last > 0.0)) & ((b > 0.0) == (b_last > 0.0))
    near = tl.maximum(a_last - a, b_last - b) <= 0.25 * low
    return same_sign & near & (low >= 2.0**-100) & (high <= low * 2.0**20)


@triton.jit(do_not_specialize=["parts"])
def evaluate(
    counts, overflow, pieces, nodes, places, stays, kept, all_l, n, own, raised, parts, N_NODE: tl.constexpr,
    BASE: tl.constexpr, RAISED: tl.constexpr, SINGLE: tl.constexpr,
):  # fmt: skip
    """Evaluate the narrowest windows of base gaps over the remaining blocks, piece by piece.

    ``own`` keeps the least width over all pieces.
    """
    p = tl.program_id(0).to(tl.int64)
    last_piece = number_of(counts, overflow, 1)
    e = tl.arange(0, BASE)
    while p < last_piece:
        u = tl.load(pieces + 3 * p).to(tl.int64)
        mine = tl.load(places + 2 * p)
        if (tl.load(stays + u) > 0) & (tl.load(nodes + N_NODE * u + 1) == 0) & (mine > 0):
            column = tl.load(nodes + N_NODE * u).to(tl.int64)
            l = all_l + column * n
            d0 = tl.load(nodes + N_NODE * u + 2).to(tl.int64) * BASE
            here = kept + tl.load(pieces + 3 * p + 2)
            best = tl.full((BASE,), float("inf"), tl.float64)
            q = mine * 0
            while q < mine:
                i = tl.load(here + q).to(tl.int64) * BASE
                inside = i + d0 + 2 * BASE <= n
                exact = i < 0
                if SINGLE:
                    a = tl.load(l + i)
                    b = tl.load(l + i + d0)
                    a_last = tl.load(l + i + BASE - 1, mask=inside, other=0.0)
                    b_last = tl.load(l + i + d0 + 2 * BASE - 2, mask=inside, other=0.0)
                    exact = inside & do_not_round(a, a_last, b, b_last)
                    if exact:
                        near = tl.full((BASE,), float("inf"), tl.float32)
                        for t in tl.static_range(BASE):
                            end = tl.load(l + i + d0 + t + e) - b
                            near = tl.minimum(near, end - (tl.load(l + i + t) - a))
                        best = tl.minimum(best, (b.to(tl.float64) - a.to(tl.float64)) + near.to(tl.float64))
                if exact == 0:
                    if inside:
                        for t in tl.static_range(BASE):
                            begin = tl.load(l + i + t).to(tl.float64)
                            best = tl.minimum(best, tl.load(l + i + d0 + t + e).to(tl.float64) - begin)
                    else:
                        for t in tl.static_range(BASE):
                            at = i + d0 + t + e
                            end = tl.load(l + at, mask=at < n, other=float("inf")).to(tl.float64)
                            begin = tl.load(l + i + t, mask=i + t < n, other=float("-inf")).to(tl.float64)
                            best = tl.minimum(best, end - begin)
                q += 1
            tl.atomic_min(own + column * n + d0 + e, best, mask=d0 + e < n)
            tl.store(raised + column * parts + d0 // RAISED, 1)
        p += tl.num_programs(0)
