"""Triton kernels that evaluate windows one by one: all narrow ones, and what bounds leave of the others.

Widths are differences of two values in float64.  Where the values are float32, the narrowest windows are
sought with differences in float32, which are cheaper by far, in one of two ways that lose nothing: as a
filter, since rounding is monotone; and exactly, where all values lie so close together that such differences
do not round.
"""

from __future__ import annotations

import triton
import triton.language as tl

from geodim.backends.cuda.wave_kernels import number_of


@triton.jit
def limit_at(place, x):
    """What a width must not exceed to matter, rounded as widths are; -1 where nothing is narrower."""
    width = tl.load(place)
    return tl.where(width > 0.0, width, -1.0).to(x.dtype)


@triton.jit
def improve(l, n, i, x, least, first, STEP: tl.constexpr):
    """Evaluate STEP sizes, from ``first`` on, if that may find narrower windows.

    It may if the window of ``first`` steps of some start is not wider than the one known of the last of these
    sizes: windows of more steps are wider.
    """
    shortest = tl.load(l + i + first, mask=i + first < n, other=float("inf")) - x
    if tl.max((shortest <= limit_at(least + first + STEP - 1, x)).to(tl.int32), axis=0) > 0:
        for more in range(STEP):
            size = first + more
            end = tl.load(l + i + size, mask=i + size < n, other=float("inf"))
            if tl.max((end - x <= limit_at(least + size, x)).to(tl.int32), axis=0) > 0:
                tl.atomic_min(least + size, tl.min(end.to(tl.float64) - x.to(tl.float64), axis=0))


@triton.jit
def improve_all(l, n, i, x, least, NARROW: tl.constexpr):
    """Evaluate all sizes below NARROW.

    They go in groups that end before they have grown by half, or a quarter where they are large: few starts
    have windows of the first size of a group that are as narrow as the narrowest of the last.
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
    """Values at some places; infinite past the end, unless all are INSIDE."""
    if INSIDE:
        return tl.load(l + i)
    return tl.load(l + i, mask=i < n, other=float("inf"))


@triton.jit
def start_at(l, n, i, INSIDE: tl.constexpr):
    """The same for starts; those past the end are so low that all windows are wide."""
    if INSIDE:
        return tl.load(l + i)
    return tl.load(l + i, mask=i < n, other=float("-inf"))


@triton.jit
def not_wider(l, n, i, x, least, first, STEP: tl.constexpr, INSIDE: tl.constexpr):
    """Whether the values from x to i + first are not farther apart than a window known of the last of STEP sizes.

    If they are, no window that holds them all and has one of these sizes is narrower than those that are known.
    """
    end = value_at(l, n, i + first, INSIDE)
    return (end - x <= limit_at(least + first + STEP - 1, x)).to(tl.int32)


@triton.jit
def near_hits(l, n, i, least, NARROW: tl.constexpr, NEAR: tl.constexpr, INSIDE: tl.constexpr):
    """Which groups of NEAR neighbouring starts, from i on, may have a narrower window of fewer than 64 steps.

    Windows of 16 steps or more, from any of these starts, hold all values from the last start on.  For fewer
    steps the starts are looked at one by one, unless all windows that are known have width 0.
    """
    x = start_at(l, n, i + NEAR - 1, INSIDE)
    hits = (x != x).to(tl.int32)
    for first in tl.static_range(16, 32, 4):
        hits |= not_wider(l, n, i, x, least, first, 4, INSIDE)
    for first in tl.static_range(32, min(64, NARROW), 8):
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


@triton.jit
def far_hits(l, n, i, least, NARROW: tl.constexpr, FAR: tl.constexpr, INSIDE: tl.constexpr):
    """The same for windows of 64 steps or more, and groups of FAR starts."""
    x = start_at(l, n, i + FAR - 1, INSIDE)
    hits = (x != x).to(tl.int32)
    for first in tl.static_range(64, NARROW, 8):
        hits |= not_wider(l, n, i, x, least, first, 8, INSIDE)
    return hits


@triton.jit
def any_in(hits, part, EACH: tl.constexpr, SIZE: tl.constexpr):
    """Whether there is a hit in one part of so many."""
    return tl.max(tl.where(tl.arange(0, SIZE) // EACH == part, hits, 0), axis=0)


@triton.jit(do_not_specialize=["stride"])
def narrow_windows(
    all_l, n, all_least, stride, NARROW: tl.constexpr, PER: tl.constexpr, PART: tl.constexpr,
    NEAR: tl.constexpr, FAR: tl.constexpr,
):  # fmt: skip
    """Narrowest windows of d = 1, ..., NARROW - 1 over PER starts, and of these every ``stride``-th part.

    ``all_least`` holds what was found so far.  PART of the starts are evaluated together, if any may improve it.
    """
    column = tl.program_id(1).to(tl.int64)
    l = all_l + column * n
    least = all_least + column * NARROW
    begin = tl.program_id(0).to(tl.int64) * stride * PER
    near = begin + NEAR * tl.arange(0, PER // NEAR)
    far = begin + FAR * tl.arange(0, PER // FAR)
    if begin + PER + NARROW <= n:
        some = near_hits(l, n, near, least, NARROW, NEAR, True)
        more = far_hits(l, n, far, least, NARROW, FAR, True)
    else:
        some = near_hits(l, n, near, least, NARROW, NEAR, False)
        more = far_hits(l, n, far, least, NARROW, FAR, False)
    if tl.maximum(tl.max(some, axis=0), tl.max(more, axis=0)) > 0:
        for part in range(PER // PART):
            if any_in(some, part, PART // NEAR, PER // NEAR) + any_in(more, part, PART // FAR, PER // FAR) > 0:
                i = begin + part * PART + tl.arange(0, PART)
                x = tl.load(l + i, mask=i < n, other=float("-inf"))
                improve_all(l, n, i, x, least, NARROW)


@triton.jit
def do_not_round(a, a_last, b, b_last):
    """Whether float32 differences between values of [a, a_last], of [b, b_last], and of these, are exact.

    Values no smaller than 2^e are multiples of q = 2^(e - 23).  If they differ by less than 2^(e - 1), then
    the distances from the first of them are multiples of q below 2^22 q, and so are differences of distances:
    floats hold these.  float64 holds b - a and what is added to it, since no value exceeds 2^44 q.
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
    """Narrowest windows of base gaps over the blocks that stayed, piece by piece.

    The least of all pieces stays in ``own``.
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
