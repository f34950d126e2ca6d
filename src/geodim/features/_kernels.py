"""Aggregation over the neighbours of each row, with compensated sums.

``aggregate_rows`` computes, for rows i of [first, last) and every column,

    out_i = sum over stored j of c_ij * x_j   [+ c_ii * x_i]

with c_ij = w_ij as it is, w_ij / sqrt(d_i * d_j) for ``roots``, or w_ij and the whole sum divided by d_i,
where the weights w may be absent, meaning 1. The coefficient of ``roots`` is formed for every entry as the
paper writes it: the product of two whole degrees is exact below 2**53, so that coefficients which are equal
by the definition, such as 1/sqrt(2 * 8) and 1/sqrt(4 * 4), have the same bits.

The sum is Ogita, Rump and Oishi's Sum2: s accumulates in float64, every addition's exact rounding error
(Knuth's TwoSum) goes into a second accumulator e, and s + e is rounded once.
:mod:`geodim.features.rounding` bounds its error.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from geodim.data.graphs._jit import kernel
from geodim.engine.kernels._bounds import require
from geodim.engine.kernels.lanes import LANES, fma, load, prefetch, splat, store
from geodim.errors import InputValueError
from geodim.features.aggregate import STRANGERS

__all__ = ["aggregate_rows", "blend", "row_sums"]

# How many edges ahead to prefetch: about the latency of memory over the time an edge takes.
AHEAD = 16
TILE = 2 * LANES


@kernel
def two_sum(a: Any, b: Any) -> Any:
    """Return the rounded sum and its exact error: s + e = a + b (vectors or scalars).

    All are float64.
    """
    s = a + b
    z = s - a
    return s, (a - (s - z)) + (b - z)


@kernel
def _divided(s: Any, e: Any, degree: Any) -> Any:
    """Return (s + e) / degree, with one correction step.

    The rounded sum h and what it lost, r, depend on the terms alone, not on their order (see the module
    hops), while s and e one by one do not. The correction makes the quotient that of h + r, so that the mean
    of equal values is that value.

    All are float64, vectors or scalars.
    """
    h, r = two_sum(s, e)
    q = h / degree
    # -q * degree + h is exact: it is the remainder of a division.
    return q + (fma(splat(0.0) - q, degree, h) + r) / degree


@kernel
def require_neighbours(indices: Any, low: int, high: int, n: int) -> None:
    """Raise unless the entries of a row exist and are node numbers.

    Right after this, values are read wherever the entries point.

    ``indices`` is (entries,) int32 or int64.
    """
    inside = 0 <= low <= high <= len(indices)
    if inside:
        strangers = 0
        for k in range(low, high):
            strangers += 1 if np.uint64(np.int64(indices[k])) >= np.uint64(n) else 0
        inside = strangers == 0
    if not inside:
        raise InputValueError(STRANGERS)


@kernel
def aggregate_rows(
    indptr: Any,
    indices: Any,
    weights: Any,
    add_loops: bool,
    loops: Any,
    degrees: Any,
    roots: bool,
    x: Any,
    out: Any,
    first: int,
    last: int,
) -> bool:
    """Aggregate rows first..last-1 of x into out; return whether all values are finite.

    Both are (n, c) and C-contiguous, c >= 8. Columns go in tiles of two vectors. The last tile is shifted
    left to end with the last column: some columns are then computed twice, to the same bits, and no
    narrower code is needed.

    Parameters
    ----------
    indptr : (n + 1,) int64, where each row's entries begin
    indices : (entries,) int32 or int64, nodes
    weights : (entries,) float32 or float64, or None
    add_loops : bool, whether each row has an entry on the diagonal
    loops : (n,) float64, the weights of these entries, or empty if they are 1
    degrees : (n,) float64, what sums, or coefficients, are divided by, or empty
    roots : bool, whether coefficients are divided by roots of degrees
    x, out : (n, c) float32 or float64, in the units of the features; out is written
    first, last : int, half-open range of rows
    """
    n, width = x.shape
    entries = len(indices)
    require(out.shape == x.shape and width >= LANES, "aggregate_rows: out")
    require(first >= 0 and last <= n and last < len(indptr), "aggregate_rows: indptr")
    require(weights is None or len(weights) >= entries, "aggregate_rows: weights")
    require(len(loops) == 0 or len(loops) >= n, "aggregate_rows: loops")
    require((len(degrees) == 0 and not roots) or len(degrees) >= n, "aggregate_rows: degrees")
    source = x.reshape(-1)
    target = out.reshape(-1)
    bad = splat(0.0)
    for i in range(first, last):
        low = indptr[i]
        high = indptr[i + 1]
        require_neighbours(indices, low, high, n)
        degree = 1.0
        if len(degrees) > 0:
            degree = degrees[i]
        own = 1.0
        if len(loops) > 0:
            own = loops[i]
        if roots:
            own /= degree  # the square root of a square is exact
        for column in range(0, width, TILE):
            p = min(column, width - LANES)
            q = min(column + LANES, width - LANES)
            s = splat(0.0)
            e = splat(0.0)
            s2 = splat(0.0)
            e2 = splat(0.0)
            if add_loops:
                s = splat(own) * load(source, i * width + p)
                s2 = splat(own) * load(source, i * width + q)
            for k in range(low, high):
                if k + AHEAD < len(indices):
                    later = np.int64(indices[k + AHEAD])
                    prefetch(source, later * width + p)
                    prefetch(source, later * width + q + LANES - 1)
                    if roots:
                        prefetch(degrees, later)
                j = np.int64(indices[k])
                t = load(source, j * width + p)
                t2 = load(source, j * width + q)
                weight = 1.0
                if weights is not None:
                    weight = np.float64(weights[k])
                if roots:
                    weight /= np.sqrt(degree * degrees[j])
                if weights is not None or roots:
                    t = t * splat(weight)
                    t2 = t2 * splat(weight)
                s, d = two_sum(s, t)
                e = e + d
                s2, d2 = two_sum(s2, t2)
                e2 = e2 + d2
            if len(degrees) == 0 or roots:
                store(target, i * width + p, s + e)
                store(target, i * width + q, s2 + e2)
            else:
                store(target, i * width + p, _divided(s, e, splat(degree)))
                store(target, i * width + q, _divided(s2, e2, splat(degree)))
            # v - v is 0 for a finite v, NaN otherwise; what was stored may have overflowed in float32 only.
            v = load(target, i * width + p)
            v2 = load(target, i * width + q)
            bad = bad + ((v - v) + (v2 - v2))
    lanes = np.zeros(LANES)
    store(lanes, 0, bad)
    return not np.isnan(lanes).any()


@kernel
def row_sums(indptr: Any, values: Any, first: int, last: int, out: Any) -> None:
    """Add the compensated sum of each row's values to ``out[i]``.

    Parameters
    ----------
    indptr : (n + 1,) int64, where each row's values begin
    values : (entries,) float64
    first, last : int, half-open range of rows
    out : (n,) float64, added to
    """
    require(first >= 0 and last <= len(out) and last < len(indptr), "row_sums: out or indptr")
    for i in range(first, last):
        require(indptr[i] >= 0 and indptr[i + 1] <= len(values), "row_sums: values")
        s = out[i]
        e = 0.0
        for k in range(indptr[i], indptr[i + 1]):
            s, d = two_sum(s, values[k])
            e += d
        out[i] = s + e


@kernel
def blend(y: Any, beta: float, x: Any, gamma: float, first: int, last: int) -> None:
    """Replace y by gamma * y + beta * x in rows first..last-1.

    Parameters
    ----------
    y : (n, c) float64, changed in place
    beta, gamma : float64
    x : (n, c) float32 or float64
    first, last : int, half-open range of rows
    """
    require(first >= 0 and last <= min(y.shape[0], x.shape[0]) and x.shape[1] >= y.shape[1], "blend: x or y")
    for i in range(first, last):
        for q in range(y.shape[1]):
            y[i, q] = gamma * y[i, q] + beta * x[i, q]
