"""Columns of which some part stays close to a line, as counts in cells show it, sorted or not.

Such columns may be solved to within a tolerance (`geodim.engine.hard`).  Where columns are dropped unsorted,
that must be known before: a column's widths may exceed phi, so it may be dropped only if it lies below others
by as much.  Both functions below therefore look at the same numbers, the ranks at certain edges of cells, and
agree for every column: one finds these in counts, the other one in the sorted values.

A part is a sixteenth of the values.  It is even if at sixteen edges between its first and its last value the
rank departs from a line by less than a few points, or less than that of random values would.  Parts of fewer
cells than that do not count.
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
def _few(n):
    """Return how far the ranks of an even part may spread around a line, in points."""
    return min(MOST_SPREAD, LESS_THAN_RANDOM * math.sqrt(n / PARTS))


@njit(nogil=True, cache=True)
def _cell_of_rank(before, cells, rank):
    """Return the cell that holds the value of this rank; ``before`` counts the values before each cell."""
    low, high = 0, cells - 1
    while low < high:
        middle = (low + high + 1) >> 1
        if before[middle] <= rank:
            low = middle
        else:
            high = middle - 1
    return low


@njit(nogil=True, cache=True)
def part_in_counts(before, cells, n):
    """Return whether some part of a column is even, from counts in cells.

    Parameters
    ----------
    before : (cells + 1,) int32, ascending, how many of the values lie before each cell
    cells : int, cells
    n : int, values
    """
    require(cells > 0 and before.size >= cells + 1, "part_in_counts: before")
    few = _few(n)
    stop = _cell_of_rank(before, cells, 0)
    for part in range(PARTS):
        start = stop
        stop = _cell_of_rank(before, cells, min((part + 1) * n // PARTS, n - 1))
        if stop - start < IN_PART:
            continue
        begin, slope = before[start], (before[stop] - before[start]) / (stop - start)
        low, high = 0.0, 0.0
        for edge in range(1, IN_PART):
            at = start + edge * (stop - start) // IN_PART
            departure = (before[at] - begin) - slope * (at - start)
            low, high = min(low, departure), max(high, departure)
        if high - low < few:
            return True
    return False


@njit(nogil=True, cache=True)
def _rank_of_cell(l, n, cell, first, number):
    """Return how many of n ascending values lie before the cell of this number, counted from the first."""
    low, high = 0, n
    while low < high:
        middle = (low + high) >> 1
        if np.floor(l[middle] / cell) - first < number:
            low = middle + 1
        else:
            high = middle
    return low


@njit(nogil=True, cache=True)
def part_in_values(l, n, n_cells):
    """Return whether some part of a column is even, from n ascending values, as `part_in_counts` does.

    Parameters
    ----------
    l : (n or more,) float64, ascending
    n : int, values
    n_cells : int, a power of two: about so many cells
    """
    require(0 < n <= l.size, "part_in_values: l")
    cell, first, cells = cells_of(l[0], l[n - 1], n_cells)
    if cells == 0:
        return False
    few = _few(n)
    stop = int(np.floor(l[0] / cell) - first)
    for part in range(PARTS):
        start = stop
        stop = int(np.floor(l[min((part + 1) * n // PARTS, n - 1)] / cell) - first)
        if stop - start < IN_PART:
            continue
        begin = _rank_of_cell(l, n, cell, first, start)
        slope = (_rank_of_cell(l, n, cell, first, stop) - begin) / (stop - start)
        low, high = 0.0, 0.0
        for edge in range(1, IN_PART):
            at = start + edge * (stop - start) // IN_PART
            departure = (_rank_of_cell(l, n, cell, first, at) - begin) - slope * (at - start)
            low, high = min(low, departure), max(high, departure)
        if high - low < few:
            return True
    return False


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
