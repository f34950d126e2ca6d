"""Triton kernels of the hops: sums over neighbours, in the arithmetic of `geodim.features._kernels`.

A program takes ROWS rows, which the caller chooses to have about equal length, and COLUMNS columns.  It walks
along all its rows at once, four neighbours at a time: their values are requested before the sums need the
first of them, and the neighbours after them are looked up in the meantime.  Within a row the terms are added
one after the other, in the order of the row, each with Knuth's TwoSum, so the bits are those of the CPU.
This needs the launch option ``enable_fp_fusion=False``: a multiplication fused with the addition after it
rounds once where the CPU rounds twice.

Beyond the end of a row the sum continues with -0.0, the number that changes no sum, not even one of -0.0.

Offsets of entries and elements have 64 bits: a large graph has more of both than 32 bits can count.
"""

from __future__ import annotations

import triton
import triton.language as tl


@triton.jit
def nothing():
    """Return -0.0, made from its bits, because Triton would take a literal for 0.0."""
    return tl.full((), -(2**63), tl.int64).to(tl.float64, bitcast=True)


@triton.jit
def two_sum(a, b):
    """Return the rounded sum and its exact error: s + e = a + b."""
    s = a + b
    z = s - a
    return s, (a - (s - z)) + (b - z)


@triton.jit
def add_term(s, e, t):
    """Add a term to the compensated sum (s, e)."""
    s, d = two_sum(s, t)
    return s, e + d


@triton.jit
def finish(s, e, degrees, row, ok, DIVIDE: tl.constexpr):
    """Round s + e, and divide by the row's degree with one correction, as the CPU's ``_divided`` does."""
    h, r = two_sum(s, e)
    if DIVIDE:
        degree = tl.load(degrees + row, mask=ok, other=1.0)
        q = h / degree
        h = q + (tl.fma(0.0 - q, tl.zeros_like(q) + degree, h) + r) / degree
    return h


@triton.jit
def store_result(out, flag, at, ok, value):
    """Store values, rounded to the type of the output, and set the flag if one is not finite."""
    value = value.to(out.dtype.element_ty)
    tl.store(out + at, value, mask=ok)
    # v - v is 0 for a finite v, NaN otherwise.
    tl.store(flag + tl.zeros_like(at), tl.full((), 1, tl.int32), mask=ok & (value - value != 0.0))


@triton.jit
def neighbour(indices, at, end):
    """Return the neighbours listed at `at`, or -1 beyond the end of the row."""
    return tl.load(indices + at, mask=at < end, other=-1).to(tl.int64)


@triton.jit
def weight_of(weights, at, j):
    """Return, as float64, the factor for the value of neighbour j, listed at `at`.

    Not called where the factor is 1.
    """
    return tl.load(weights + at, mask=j >= 0, other=0.0).to(tl.float64)


@triton.jit
def values_of(x, j, column, inside, WIDTH: tl.constexpr):
    """Return the values of neighbours j in some columns, -0.0 where there is none."""
    ok = (j >= 0)[:, None] & inside
    return tl.load(x + j[:, None] * WIDTH + column, mask=ok, other=nothing().to(x.dtype.element_ty))


@triton.jit
def coefficients(
    meta, order, cuts, indptr, indices, weights, degrees, out, ROWS: tl.constexpr, LANES: tl.constexpr,
    SPLIT: tl.constexpr
):  # fmt: skip
    """Write weight_ij / sqrt(degree_i * degree_j) for all entries of the rows, or pieces, of ``order``.

    It is computed once per entry.  In ``aggregate_rows`` every thread would compute the root itself, which
    makes a product take nearly twice as long on an H200.  The arguments are those of ``aggregate_rows``.
    """
    first = tl.load(meta)
    base = tl.load(meta + 2)
    item = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    real = item < tl.load(meta + 1)
    row = tl.load(order + first + item, mask=real, other=0).to(tl.int64)
    low = tl.load(indptr + row, mask=real, other=0)
    high = tl.load(indptr + row + 1, mask=real, other=0)
    if cuts is not None:
        low = tl.load(cuts + first + item, mask=real, other=0)
        high = tl.minimum(high, low + SPLIT)
    degree = tl.load(degrees + row, mask=real, other=1.0)[:, None]
    at = (low - base)[:, None] + tl.arange(0, LANES)[None, :]
    end = (high - base)[:, None]
    for _ in range(0, tl.max(high - low, axis=0), LANES):
        live = real[:, None] & (at < end)
        j = tl.load(indices + at, mask=live, other=0).to(tl.int64)
        w = tl.full((ROWS, LANES), 1.0, tl.float64)
        if weights is not None:
            w = tl.load(weights + at, mask=live, other=0.0).to(tl.float64)
        tl.store(out + at, w / tl.sqrt(degree * tl.load(degrees + j, mask=live, other=1.0)), mask=live)
        at += LANES


@triton.jit
def aggregate_rows(
    meta, order, cuts, indptr, indices, weights, loops, degrees, x, out, rest, flag,
    WIDTH: tl.constexpr, COLUMNS: tl.constexpr, ROWS: tl.constexpr, ADD_LOOPS: tl.constexpr,
    ROOTS: tl.constexpr, DIVIDE: tl.constexpr, SPLIT: tl.constexpr,
):  # fmt: skip
    """Aggregate the rows of ``order`` into ``out``.

    If there are ``cuts``, pieces of rows are aggregated instead, into (s, e) = (out, rest).  ``meta`` holds
    the first item in ``order``, the number of items, and the position in the graph of the first of
    ``indices``.  A piece has at most SPLIT entries from its cut on; the self-loop of the row belongs to the
    first piece.
    """
    first = tl.load(meta)
    base = tl.load(meta + 2)
    item = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    real = item < tl.load(meta + 1)
    row = tl.load(order + first + item, mask=real, other=0).to(tl.int64)
    low = tl.load(indptr + row, mask=real, other=0)
    high = tl.load(indptr + row + 1, mask=real, other=0)
    begins = real
    if cuts is not None:
        start = low
        low = tl.load(cuts + first + item, mask=real, other=0)
        high = tl.minimum(high, low + SPLIT)
        begins = real & (low == start)
    column = (tl.program_id(1) * COLUMNS + tl.arange(0, COLUMNS))[None, :]
    inside = column < WIDTH
    ok = real[:, None] & inside
    e = tl.zeros((ROWS, COLUMNS), tl.float64)
    if ADD_LOOPS:
        own = tl.zeros((ROWS,), tl.float64) + 1.0
        if loops is not None:
            own = tl.load(loops + row, mask=real, other=0.0)
        if ROOTS:
            own = own / tl.load(degrees + row, mask=real, other=1.0)  # the square root of a square is exact
        s = own[:, None] * tl.load(x + row[:, None] * WIDTH + column, mask=ok, other=0.0).to(tl.float64)
    else:
        s = e
    if cuts is not None:
        s = tl.where(begins[:, None], s, nothing())
    at = low - base
    end = high - base
    j0 = neighbour(indices, at, end)
    j1 = neighbour(indices, at + 1, end)
    j2 = neighbour(indices, at + 2, end)
    j3 = neighbour(indices, at + 3, end)
    for _ in range(0, tl.max(high - low, axis=0), 4):
        x0 = values_of(x, j0, column, inside, WIDTH)
        x1 = values_of(x, j1, column, inside, WIDTH)
        x2 = values_of(x, j2, column, inside, WIDTH)
        x3 = values_of(x, j3, column, inside, WIDTH)
        if weights is not None:
            w0 = weight_of(weights, at, j0)
            w1 = weight_of(weights, at + 1, j1)
            w2 = weight_of(weights, at + 2, j2)
            w3 = weight_of(weights, at + 3, j3)
        at += 4
        j0 = neighbour(indices, at, end)
        j1 = neighbour(indices, at + 1, end)
        j2 = neighbour(indices, at + 2, end)
        j3 = neighbour(indices, at + 3, end)
        t0 = x0.to(tl.float64)
        t1 = x1.to(tl.float64)
        t2 = x2.to(tl.float64)
        t3 = x3.to(tl.float64)
        if weights is not None:
            t0 = t0 * w0[:, None]
            t1 = t1 * w1[:, None]
            t2 = t2 * w2[:, None]
            t3 = t3 * w3[:, None]
        s, e = add_term(s, e, t0)
        s, e = add_term(s, e, t1)
        s, e = add_term(s, e, t2)
        s, e = add_term(s, e, t3)
    if cuts is not None:
        to = (first + item)[:, None] * WIDTH + column
        tl.store(out + to, s, mask=ok)
        tl.store(rest + to, e, mask=ok)
    else:
        value = finish(s, e, degrees, row[:, None], real[:, None], DIVIDE)
        store_result(out, flag, row[:, None] * WIDTH + column, ok, value)


@triton.jit
def join_pieces(
    meta, hubs, places, sums, rest, degrees, out, flag, WIDTH: tl.constexpr, COLUMNS: tl.constexpr,
    DIVIDE: tl.constexpr
):  # fmt: skip
    """Add up the pieces of one long row, in order, and finish it."""
    hub = tl.load(meta) + tl.program_id(0).to(tl.int64)
    row = tl.load(hubs + hub).to(tl.int64)
    column = tl.program_id(1) * COLUMNS + tl.arange(0, COLUMNS)
    ok = column < WIDTH
    at = tl.load(places + hub)
    stop = tl.load(places + hub + 1)
    s = tl.load(sums + at * WIDTH + column, mask=ok, other=0.0)
    e = tl.load(rest + at * WIDTH + column, mask=ok, other=0.0)
    for piece in range(at + 1, stop):
        t = tl.load(sums + piece * WIDTH + column, mask=ok, other=0.0)
        lost = tl.load(rest + piece * WIDTH + column, mask=ok, other=0.0)
        s, d = two_sum(s, t)
        e = (e + lost) + d
    value = finish(s, e, degrees, row + tl.zeros_like(column), ok, DIVIDE)
    store_result(out, flag, row * WIDTH + column, ok, value)


@triton.jit
def blend(y, x, scalars, size, SIZE: tl.constexpr):
    """Replace y by gamma * y + beta * x, with (gamma, beta) in ``scalars``.

    Both products are rounded, as on the CPU.
    """
    at = tl.program_id(0).to(tl.int64) * SIZE + tl.arange(0, SIZE)
    ok = at < size
    gamma = tl.load(scalars)
    beta = tl.load(scalars + 1)
    value = gamma * tl.load(y + at, mask=ok, other=0.0)
    tl.store(y + at, value + beta * tl.load(x + at, mask=ok, other=0.0).to(tl.float64), mask=ok)
