"""Columns that repeat: l[i + p] - l[i] is the same step for all i.

Examples are weekdays, lengths of months and shifts, and, with p = 1, evenly spaced values.  Windows that
begin p apart are equally wide, so the first p starts determine everything (F23 in docs/mathematics.md): for
n - d >= p, with d = q p + r, phi(d) = q step + phi(r).  The largest sizes have fewer than p windows and are
evaluated directly.  This holds if differences are exact, as on a lattice (section 4 of docs/numerics.md).
"""

from __future__ import annotations

import numpy as np

from geodim.compiled import njit
from geodim.engine.kernels._bounds import require
from geodim.engine.kernels.alike import seed
from geodim.engine.kernels.pyramid import BASE
from geodim.engine.kernels.tiles import PADDING, evaluate_tile

CHUNK = 2048  # sizes whose widths fit the cache together


@njit(nogil=True, cache=True)
def exact_period(l, n, most, looks):
    """Return the least p <= ``most`` for which all l[i + p] - l[i] are equal, or 0.

    Returns 0 also if none was found within ``looks`` comparisons.

    Parameters
    ----------
    l : (n or more,) float64, ascending
    n : int, points
    most, looks : int
    """
    require(0 < n <= l.size, "exact_period: l")
    for p in range(1, min(most, n - 1) + 1):
        step = l[p] - l[0]
        i = 1
        while i + p < n and l[i + p] - l[i] == step:
            i += 1
        if i + p == n:
            return p
        looks -= i
        if looks < 0:
            return 0
    return 0


@njit(nogil=True, cache=True)
def nearly_exact_period(values, most, within):
    """Return the least p <= ``most`` after which values change by the same, to ``within`` this much, or 0.

    Parameters
    ----------
    values : (some,) float64
    most : int
    within : float64
    """
    for p in range(1, min(most, values.size - 1) + 1):
        low = high = values[p] - values[0]
        i = 1
        while i + p < values.size and high - low <= within:
            step = values[i + p] - values[i]
            low, high = min(low, step), max(high, step)
            i += 1
        if high - low <= within:
            return p
    return 0


@njit(nogil=True, cache=True)
def least_like(squares, like):
    """Return the least p for which squares[p - 1] is small, and so are those of its multiples from half on.

    Returns 1 if there is none.

    Parameters
    ----------
    squares : (some,) float64, by number of steps, from 1 on
    like : float64, what counts as small
    """
    most = squares.size
    for p in range(1, most + 1):
        q = -(-(most // 2 + 1) // p) * p  # the first multiple of p among the larger numbers
        small = squares[p - 1] <= like
        while small and q <= most:
            small = squares[q - 1] <= like
            q += p
        if small:
            return p
    return 1


@njit(nogil=True, cache=True)
def narrowest_of_period(l, n, p, base, tail):
    """Write the narrowest widths of d < p, over p starts, and of the p - 1 largest d, over all starts.

    Parameters
    ----------
    l : (n + PADDING,) float64, ascending, then infinite
    n : int, points
    p : int, the period, at most n / 4
    base : (p + BASE or more,) float64 over d, written
    tail : (p + BASE or more,) float64 over d - (n - p), written
    """
    require(l.size >= n + PADDING, "narrowest_of_period: l")
    require(0 < p <= n // 4, "narrowest_of_period: p")
    require(min(base.size, tail.size) >= p + BASE, "narrowest_of_period: base, tail")
    base[: p + BASE] = np.inf
    tail[: p + BASE] = np.inf
    for d in range(0, p, BASE):
        evaluate_tile(l, 0, p, d, base[d : d + BASE])
        evaluate_tile(l, 0, p - d, n - p + d, tail[d : d + BASE])


@njit(nogil=True, cache=True)
def fill_by_period(l, n, p, base, tail, d_first, d_stop, phi):
    """Write phi of a column with an exact period for the sizes [d_first, d_stop).

    ``base`` and ``tail`` are as `narrowest_of_period` fills them; ``phi`` is (n,) float64, written.
    """
    require(0 < p <= n // 4 and n <= l.size, "fill_by_period: l")
    require(min(base.size, tail.size) >= p, "fill_by_period: base, tail")
    require(d_first > 0 and d_stop <= min(n, phi.size), "fill_by_period: the sizes")
    step = l[p] - l[0]
    for d in range(d_first, d_stop):
        phi[d] = base[d % p] + (d // p) * step if n - d >= p else tail[d - (n - p)]


@njit(nogil=True, cache=True)
def narrowest_of_some(l, mirrored, n, starts, ends, widths):
    """Write for every size d the narrowest of the windows that begin or end at given positions.

    Parameters
    ----------
    l : (n or more,) float64, ascending
    mirrored : (n,) float64, the negated values in reverse order
    n : int, points
    starts, ends : (m,) int64, positions; ends are counted from the last value
    widths : (n,) float64 over d, written
    """
    require(0 < n <= min(l.size, mirrored.size, widths.size), "narrowest_of_some: l")
    for positions in (starts, ends):
        for at in range(positions.size):
            require(0 <= positions[at] < n, "narrowest_of_some: a position")
    widths[:n] = np.inf
    for d in range(0, n, CHUNK):
        sizes = min(CHUNK, n - d)
        seed(l, n, d, sizes, starts, widths[d : d + sizes])
        seed(mirrored, n, d, sizes, ends, widths[d : d + sizes])
