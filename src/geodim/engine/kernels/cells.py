"""Columns as counts in cells of any size: the cell of each value, and what counts imply about windows.

A window of k points begins in a cell i and ends in a cell j, and the cells from i to j hold at least k
points.  So it is at least as wide as the distance from the greatest number of cell i to the least number of
cell j.  And the narrowest run of cells that holds k points, including both its end cells, is at least as wide
as phi_k (F17).
"""

from __future__ import annotations

import numpy as np

from geodim.compiled import njit
from geodim.engine.kernels._bounds import require

BLOCK = 64  # cells that are skipped together if no window can begin there


@njit(nogil=True, cache=True)
def count_cells(values, edges, guide, per_cell, weights, counts):
    """Add the values to the ``counts`` of the cells [edges[i], edges[i + 1]).

    ``guide[g]`` is, up to rounding, the cell where values with (value - edges[0]) * per_cell >= g begin; the
    caller makes it.  Without ``weights``, each value counts once.

    Parameters
    ----------
    values : (n,) floats, in any order
    edges : (cells + 1,) of the type of the values, ascending
    guide : (m,) int64, m >= 2, numbers of cells
    per_cell : float64, entries of the guide per unit of the data
    weights : (n,) or (0,) int64, points that each value stands for
    counts : (cells,) int64, points, added to
    """
    require(counts.size > 0 and edges.size >= counts.size + 1, "count_cells: edges")
    require(guide.size >= 2, "count_cells: guide")
    require(weights.size == 0 or weights.size >= values.size, "count_cells: weights")
    last = counts.size - 1
    most = guide.size - 2
    least = np.float64(edges[0])
    for at in range(values.size):
        value = values[at]
        g = min(max(np.int64((np.float64(value) - least) * per_cell), 0), most)
        low, high = guide[g], guide[g + 1]
        if high - low <= 1:  # no unpredictable branch
            low += (high - low) * (value >= edges[high])
        else:
            while low < high:
                middle = (low + high + 1) >> 1
                if edges[middle] <= value:
                    low = middle
                else:
                    high = middle - 1
        while low > 0 and value < edges[low]:  # the guide is rounded, but the edges are not
            low -= 1
        while low < last and value >= edges[low + 1]:
            low += 1
        counts[low] += weights[at] if weights.size > 0 else 1


@njit(nogil=True, cache=True)
def require_cells(least, greatest, before):
    """Raise unless there are cells, each with its least and greatest number and its count.

    ``least`` and ``greatest`` are (cells,) float64, ``before`` (cells + 1,) int64.
    """
    require(least.size > 0 and greatest.size >= least.size, "the cells: greatest")
    require(before.size >= least.size + 1, "the cells: before")


@njit(nogil=True, cache=True)
def bound_windows(least, greatest, before, sizes, lower, upper):
    """Write lower and upper bounds on phi_k for every k of ``sizes``, ascending.

    Cell i contains the numbers from ``least[i]`` to ``greatest[i]``, and ``before[i]`` points lie before it.

    Parameters
    ----------
    least, greatest : (cells,) float64, ascending
    before : (cells + 1,) int64, points before each cell; the last entry is the number of all points
    sizes : (m,) int64, ascending k
    lower, upper : (m,) float64, widths in the units of the data, written
    """
    require_cells(least, greatest, before)
    require(lower.size >= sizes.size and upper.size >= sizes.size, "bound_windows: the bounds")
    n_cells = least.size
    n_blocks = (n_cells + BLOCK - 1) // BLOCK
    ends = np.zeros(n_blocks, np.int64)  # the last cell of the run from each block's first cell
    # The bounds of each block at some smaller k; at this k they are no less.
    lows, highs = (
        np.zeros(n_blocks),
        np.zeros(n_blocks),
    )
    best_block = 0
    for s in range(sizes.size):
        k = sizes[s]
        narrowest, widest = np.inf, np.inf
        for b in range(-1, n_blocks):
            block = best_block if b < 0 else b  # the next best window is probably near the last one
            if highs[block] >= widest and lows[block] >= narrowest:
                continue
            first = block * BLOCK
            stop = min(first + BLOCK, n_cells)
            end = max(ends[block], first)
            while end < n_cells - 1 and before[end + 1] - before[first] < k:
                end += 1
            ends[block] = end
            if before[end + 1] - before[first] < k:
                if b < 0:
                    continue
                break  # later cells hold fewer points still
            if greatest[end] - least[stop - 1] >= widest and least[end] - greatest[stop - 1] >= narrowest:
                continue
            low, high = np.inf, np.inf
            for cell in range(first, stop):
                while end < n_cells - 1 and before[end + 1] - before[cell] < k:
                    end += 1
                if before[end + 1] - before[cell] < k:
                    break
                high = min(high, greatest[end] - least[cell])
                low = min(low, max(least[end] - greatest[cell], 0.0))
            lows[block], highs[block] = low, high
            if high < widest:
                widest, best_block = high, block
            narrowest = min(narrowest, low)
        lower[s] = narrowest
        upper[s] = widest


@njit(nogil=True, cache=True)
def mark_open(least, greatest, before, sizes, upper, open_cells):
    """Mark the cells in which a window narrower than ``upper`` could begin or end, for some k.

    Parameters
    ----------
    least, greatest, before
        As for `bound_windows`.
    sizes : (m,) int64, k
    upper : (m,) float64, widths in the units of the data
    open_cells : (cells,) bool, True is written
    """
    require_cells(least, greatest, before)
    require(upper.size >= sizes.size, "mark_open: upper")
    require(open_cells.size >= least.size, "mark_open: open_cells")
    n_cells = least.size
    for s in range(sizes.size):
        k = sizes[s]
        end = 0
        for cell in range(n_cells):
            while end < n_cells - 1 and before[end + 1] - before[cell] < k:
                end += 1
            if before[end + 1] - before[cell] < k:
                break
            if least[end] - greatest[cell] < upper[s]:
                open_cells[cell] = True
                open_cells[end] = True
