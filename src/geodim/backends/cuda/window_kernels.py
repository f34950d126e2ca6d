"""Triton kernels that evaluate windows one by one: all narrow ones, and what bounds leave of the others.

Widths are differences of two values in float64.  Where the values are float32, the narrowest windows are
sought with differences in float32, which are cheaper by far, in one of two ways that lose nothing: as a
filter, since rounding is monotone; and exactly, where all values lie so close together that such differences
do not round.
"""

from __future__ import annotations

import triton
import triton.language as tl


@triton.jit
def limit_at(place, x):
    """What a width must not exceed to matter, rounded as widths are; -1 where nothing is narrower."""
    width = tl.load(place)
    return tl.where(width > 0.0, width, -1.0).to(x.dtype)


@triton.jit
def may_improve(l, n, i, x, least, first, STEP: tl.constexpr, INSIDE: tl.constexpr):
    """Starts whose windows of ``first`` steps are not wider than one known of the last of STEP sizes.

    No other start has a narrower window of any of these sizes than those that are known: windows of more
    steps are wider.  If INSIDE, all these windows exist.
    """
    if INSIDE:  # noqa: SIM108 - one of the two is compiled
        end = tl.load(l + i + first)
    else:
        end = tl.load(l + i + first, mask=i + first < n, other=float("inf"))
    return (end - x <= limit_at(least + first + STEP - 1, x)).to(tl.int32)


@triton.jit
def may_improve_any(l, n, i, x, least, NARROW: tl.constexpr, INSIDE: tl.constexpr):
    """The same for any size below NARROW; the groups are those of `improve_all`."""
    hits = may_improve(l, n, i, x, least, 1, 1, INSIDE)
    for first in tl.static_range(2, 8, 2):
        hits |= may_improve(l, n, i, x, least, first, 2, INSIDE)
    for first in tl.static_range(8, 16, 4):
        hits |= may_improve(l, n, i, x, least, first, 4, INSIDE)
    for first in tl.static_range(16, min(64, NARROW), 8):
        hits |= may_improve(l, n, i, x, least, first, 8, INSIDE)
    for first in tl.static_range(64, NARROW, 16):
        hits |= may_improve(l, n, i, x, least, first, 16, INSIDE)
    return tl.max(hits, axis=0)


@triton.jit
def improve(l, n, i, x, least, first, STEP: tl.constexpr):
    """Evaluate STEP sizes, from ``first`` on, if that may find narrower windows."""
    if tl.max(may_improve(l, n, i, x, least, first, STEP, False), axis=0) > 0:
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


@triton.jit(do_not_specialize=["stride"])
def narrow_windows(all_l, n, all_least, stride, NARROW: tl.constexpr, PER: tl.constexpr):
    """Narrowest windows of d = 1, ..., NARROW - 1 over PER starts, and of these every ``stride``-th part.

    ``all_least`` holds what was found so far.
    """
    column = tl.program_id(1).to(tl.int64)
    l = all_l + column * n
    least = all_least + column * NARROW
    begin = tl.program_id(0).to(tl.int64) * stride * PER
    i = begin + tl.arange(0, PER)
    x = tl.load(l + i, mask=i < n, other=float("-inf"))
    if begin + PER + NARROW <= n:
        hit = may_improve_any(l, n, i, x, least, NARROW, True)
    else:
        hit = may_improve_any(l, n, i, x, least, NARROW, False)
    if hit > 0:
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


@triton.jit
def evaluate(
    pieces, nodes, places, stays, kept, all_l, n, own, raised, parts, N_NODE: tl.constexpr,
    BASE: tl.constexpr, RAISED: tl.constexpr, SINGLE: tl.constexpr,
):  # fmt: skip
    """Narrowest windows of base gaps over the blocks of a piece that stayed.

    The least of all pieces stays in ``own``.
    """
    p = tl.program_id(0).to(tl.int64)
    u = tl.load(pieces + 3 * p)
    mine = tl.load(places + 2 * p)
    if (tl.load(stays + u) > 0) & (tl.load(nodes + N_NODE * u + 1) == 0) & (mine > 0):
        column = tl.load(nodes + N_NODE * u)
        l = all_l + column * n
        d0 = tl.load(nodes + N_NODE * u + 2) * BASE
        here = kept + tl.load(pieces + 3 * p + 2)
        e = tl.arange(0, BASE)
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
                        near = tl.minimum(near, (tl.load(l + i + d0 + t + e) - b) - (tl.load(l + i + t) - a))
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
