"""Columns of which a part or a scale is even, as counts in cells show it, sorted or not.

Such columns may be solved to within a tolerance (`geodim.engine.hard`).  Where columns are dropped unsorted,
that must be known before: a column's widths may exceed phi, so it may be dropped only if it lies below others
by as much.  Both `even_in_counts` and `even_in_values` therefore look at the same numbers, the ranks at
certain edges of cells, and agree for every column: one finds these in counts, the other one in the sorted
values.  Three kinds of columns are even:

- a sixteenth of the values follows a line: at sixteen edges between its first and its last value the rank
  departs from it by less than a few points, or less than that of random values would;
- all values follow a line less closely, but still more so than random ones: a wave around a line;
- counts of neighbouring cells change smoothly at a quarter of the places looked at, where those of random
  values would leap: slow waves, and grids that bend.
"""

from __future__ import annotations

import math

import numpy as np

from geodim.compiled import njit
from geodim.engine.kernels._bounds import require
from geodim.engine.kernels.pyramid import BASE

PARTS, IN_PART = 16, 16  # parts of a column, and edges in each of them
MOST_SPREAD = 24.0  # points
LESS_THAN_RANDOM = 0.25  # times the root of the number of values of a part: random ones spread more
EDGES, WHOLE_SPREAD = 512, 0.5  # edges of the whole column, and its spread likewise
PLACES, IN_PLACE = 64, 32  # stretches of so many cells, of which
SMOOTH_PLACES, SMOOTH = 16, 0.25  # so many are smooth: third differences are so much less than random,
THIRD = 20.0  # which have this variance, in units of that of a count
WHOLE = 2.0**51  # whole numbers up to this, and sums of two, are exact
NO_COUNTS, NO_VALUES = np.empty(0, np.int32), np.empty(0)


@njit(nogil=True, cache=True)
def cells_of(least, greatest, n_cells):
    """Return the size of cells, the number of the first, and how many there are; only 0 if they vanish.

    The size is a power of two, so that numbering cells is exact: numbers are whole, and differ by little.
    """
    cell = math.ldexp(1.0, math.frexp(greatest - least)[1]) / n_cells
    if not 0.0 < cell < np.inf:
        return 0.0, 0.0, 0
    first = np.floor(least / cell)
    return cell, first, int(np.floor(greatest / cell) - first) + 1


@njit(nogil=True, cache=True)
def _rank(before, l, n, cell, first, edge, low):
    """Return how many values, at least ``low``, lie before a cell, counted from the first one.

    Either ``before`` holds that, or ``l`` the n ascending values; the other array is empty.  Few values lie
    between neighbouring edges, so the search goes up from the last one in steps that double.
    """
    if before.size > 0:
        return np.int64(before[edge])
    if abs(first) < WHOLE:  # then no number is rounded, and x / cell is below a whole number if x is below
        limit = (first + edge) * cell
        high, step = low, 1
        while high < n and l[high] < limit:
            low, high, step = high + 1, high + step, 2 * step
        high = min(high, n)
        while low < high:
            middle = (low + high) >> 1
            if l[middle] < limit:
                low = middle + 1
            else:
                high = middle
        return low
    high = n
    while low < high:
        middle = (low + high) >> 1
        if np.floor(l[middle] / cell) - first < edge:
            low = middle + 1
        else:
            high = middle
    return low


@njit(nogil=True, cache=True)
def _cell(before, l, cells, cell, first, rank):
    """Return the cell that holds the value of this rank."""
    if before.size == 0:
        return int(np.floor(l[rank] / cell) - first)
    low, high = 0, cells - 1
    while low < high:
        middle = (low + high + 1) >> 1
        if before[middle] <= rank:
            low = middle
        else:
            high = middle - 1
    return low


@njit(nogil=True, cache=True)
def _spread(before, l, n, cell, first, start, stop, edges):
    """Return how far ranks depart from a line at so many edges between two cells."""
    begin = rank = _rank(before, l, n, cell, first, start, 0)
    slope = (_rank(before, l, n, cell, first, stop, begin) - begin) / (stop - start)
    low, high = 0.0, 0.0
    for edge in range(1, edges):
        at = start + edge * (stop - start) // edges
        rank = _rank(before, l, n, cell, first, at, rank)
        departure = (rank - begin) - slope * (at - start)
        low, high = min(low, departure), max(high, departure)
    return high - low


@njit(nogil=True, cache=True)
def _is_smooth(before, l, n, cell, first, start):
    """Return whether counts of neighbouring cells change smoothly from this cell on."""
    rank = _rank(before, l, n, cell, first, start, 0)
    here, last, before_last, one_more = 0.0, 0.0, 0.0, 0.0
    total, squares = 0.0, 0.0
    for edge in range(1, IN_PLACE + 1):
        following = _rank(before, l, n, cell, first, start + edge, rank)
        here, last, before_last, one_more = float(following - rank), here, last, before_last
        rank = following
        total += here
        if edge > 3:
            squares += (here - 3.0 * last + 3.0 * before_last - one_more) ** 2
    return total >= IN_PLACE and squares < SMOOTH * THIRD * total / IN_PLACE * (IN_PLACE - 3)


@njit(nogil=True, cache=True)
def _is_even(before, l, n, cells, cell, first):
    """Return whether a column is even anywhere; arguments are as in `_rank` and `_cell`."""
    few = min(MOST_SPREAD, LESS_THAN_RANDOM * math.sqrt(n / PARTS))
    begin = stop = _cell(before, l, cells, cell, first, 0)
    for part in range(PARTS):
        start = stop
        stop = _cell(before, l, cells, cell, first, min((part + 1) * n // PARTS, n - 1))
        if stop - start >= IN_PART and _spread(before, l, n, cell, first, start, stop, IN_PART) < few:
            return True
    if stop - begin >= EDGES and (
        _spread(before, l, n, cell, first, begin, stop, EDGES) < WHOLE_SPREAD * math.sqrt(n)
    ):
        return True
    smooth = 0
    for place in range(PLACES):
        start = _cell(before, l, cells, cell, first, (place + 1) * n // (PLACES + 1))
        if start + IN_PLACE <= stop and _is_smooth(before, l, n, cell, first, start):
            smooth += 1
    return smooth >= SMOOTH_PLACES


@njit(nogil=True, cache=True)
def even_in_counts(before, cells, n):
    """Return whether a column is even anywhere, from counts in cells.

    Parameters
    ----------
    before : (cells + 1,) int32, ascending, how many of the values lie before each cell
    cells : int, cells
    n : int, values
    """
    require(cells > 0 and before.size >= cells + 1, "even_in_counts: before")
    return _is_even(before, NO_VALUES, n, cells, 1.0, 0.0)


@njit(nogil=True, cache=True)
def even_in_values(l, n, n_cells):
    """Return whether a column is even anywhere, from n ascending values, as `even_in_counts` does.

    Parameters
    ----------
    l : (n or more,) float64, ascending
    n : int, values
    n_cells : int, a power of two: about so many cells
    """
    require(0 < n <= l.size, "even_in_values: l")
    cell, first, cells = cells_of(l[0], l[n - 1], n_cells)
    return cells > 0 and _is_even(NO_COUNTS, l, n, cells, cell, first)


@njit(nogil=True, cache=True)
def lowered_bar(bar, smallest, others):
    """Return a bar that lies below another one, by ``smallest`` at sizes below BASE, and else by ``others``.

    It never falls either, and is nowhere below 0.

    Parameters
    ----------
    bar : (n,) float64 over d, never falling
    smallest, others : float, the second not below the first
    """
    n = bar.size
    lower = np.empty(n)
    for d in range(n):
        lower[d] = max(bar[d] - (smallest if d < BASE else others), 0.0)
    for d in range(min(BASE, n) - 1, -1, -1):
        if n > BASE:
            lower[d] = min(lower[d], lower[BASE])
    return lower
