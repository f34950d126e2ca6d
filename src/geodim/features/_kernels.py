"""Aggregation over the neighbours of each row, with compensated sums.

``aggregate_rows`` computes, for rows i of [first, last) and every column,

    out_i = finish_i( sum over stored j of w_ij * c_j * x_j   [+ l_i * c_i * x_i] )

where w (weights), c (column scale) and l (loops) may be absent, meaning 1, and finish multiplies by, or divides by, a number
of the row. The sum is Ogita, Rump and Oishi's Sum2: s accumulates in float64, every addition's exact rounding error
(Knuth's TwoSum) goes into a second accumulator e, and s + e is rounded once.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from geodim.data.graphs._jit import kernel
from geodim.engine.kernels._bounds import require
from geodim.errors import InputValueError
from geodim.features._simd import LANES, fma, load, prefetch, splat, store
from geodim.features.aggregate import STRANGERS

__all__ = ["aggregate_rows", "blend", "row_sums"]

# How many edges ahead to prefetch: about the latency of memory over the time an edge takes.
AHEAD = 16
TILE = 2 * LANES


@kernel
def two_sum(a: Any, b: Any) -> Any:
    """Return the rounded sum and its exact error: s + e = a + b (vectors or scalars)."""
    s = a + b
    z = s - a
    return s, (a - (s - z)) + (b - z)


@kernel
def _finish(s: Any, e: Any, factor: Any, divide: bool) -> Any:
    """Round s + e, then multiply by the factor, or divide by it with one correction step.

    The rounded sum h and what it lost, r, depend on the terms alone, not on their order (see the module hops), while s
    and e one by one do not. The correction makes the quotient that of h + r, so that the mean of equal values is
    that value.
    """
    h, r = two_sum(s, e)
    if divide:
        q = h / factor
        # -q * factor + h is exact: it is the remainder of a division.
        return q + (fma(splat(0.0) - q, factor, h) + r) / factor
    return h * factor


@kernel
def require_neighbours(indices: Any, low: int, high: int, n: int) -> None:
    """Raise unless the entries of a row are there and name nodes: they are read wherever they say, just after this."""
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
    scale: Any,
    add_loops: bool,
    loops: Any,
    factors: Any,
    divide: bool,
    x: Any,
    out: Any,
    first: int,
    last: int,
) -> bool:
    """Aggregate rows first..last-1 of x into out, both (n, c) and C-contiguous, c >= 8; tell whether all is finite.

    Columns go in tiles of two vectors. The last tile is shifted left to end with the last column: some columns
    are then computed twice, to the same bits, and no narrower code is needed.
    """
    n, width = x.shape
    entries = len(indices)
    require(out.shape == x.shape and width >= LANES, "aggregate_rows: out")
    require(first >= 0 and last <= n and last < len(indptr), "aggregate_rows: indptr")
    require(weights is None or len(weights) >= entries, "aggregate_rows: weights")
    require(scale is None or len(scale) >= n, "aggregate_rows: scale")
    require(loops is None or len(loops) >= n, "aggregate_rows: loops")
    require(factors is None or len(factors) >= n, "aggregate_rows: factors")
    source = x.reshape(-1)
    target = out.reshape(-1)
    one = splat(1.0)
    bad = splat(0.0)
    for i in range(first, last):
        low = indptr[i]
        high = indptr[i + 1]
        require_neighbours(indices, low, high, n)
        factor = one
        if factors is not None:
            factor = splat(factors[i])
        own = 1.0
        if loops is not None:
            own = loops[i]
        if scale is not None:
            own *= scale[i]
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
                    if scale is not None:
                        prefetch(scale, later)
                j = np.int64(indices[k])
                t = load(source, j * width + p)
                t2 = load(source, j * width + q)
                if weights is not None and scale is not None:
                    w = splat(weights[k] * scale[j])
                    t = t * w
                    t2 = t2 * w
                elif weights is not None:
                    w = splat(np.float64(weights[k]))
                    t = t * w
                    t2 = t2 * w
                elif scale is not None:
                    w = splat(scale[j])
                    t = t * w
                    t2 = t2 * w
                s, d = two_sum(s, t)
                e = e + d
                s2, d2 = two_sum(s2, t2)
                e2 = e2 + d2
            store(target, i * width + p, _finish(s, e, factor, divide))
            store(target, i * width + q, _finish(s2, e2, factor, divide))
            # v - v is 0 for a finite v, NaN otherwise; what was stored may have overflowed in float32 only.
            v = load(target, i * width + p)
            v2 = load(target, i * width + q)
            bad = bad + ((v - v) + (v2 - v2))
    lanes = np.zeros(LANES)
    store(lanes, 0, bad)
    return not np.isnan(lanes).any()


@kernel
def row_sums(indptr: Any, values: Any, first: int, last: int, out: Any) -> None:
    """Add the compensated sum of each row's values to ``out[i]``."""
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
    """Replace y by gamma * y + beta * x in rows first..last-1."""
    require(first >= 0 and last <= min(y.shape[0], x.shape[0]) and x.shape[1] >= y.shape[1], "blend: x or y")
    for i in range(first, last):
        for q in range(y.shape[1]):
            y[i, q] = gamma * y[i, q] + beta * x[i, q]
