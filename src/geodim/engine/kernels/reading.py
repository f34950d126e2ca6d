"""Reading a row-major array: extracting columns tile by tile, and the statistics of a first pass."""

from __future__ import annotations

import numpy as np

from geodim.compiled import njit
from geodim.engine.kernels._bounds import require
from geodim.engine.kernels.lanes import (
    LANES,
    element,
    larger,
    load,
    prefetch,
    put,
    smaller,
    store,
    transpose,
)

TILE = 32  # rows of which one column after the other is copied
AHEAD = 64  # rows; processors foresee no accesses that are a whole row apart
CACHE_LINE = 64  # bytes
NEAR, LEAST_ROWS, MOST_ROWS = 1 << 14, 4, 64  # bytes; rows in them are added up one column after the other
WORTH = 3  # columns of eight neighbours that are wanted, from which on all are transposed


@njit(nogil=True, cache=True)
def gather_columns(array, columns, out, first):
    """Write ``out[c, first : first + n] = array[:, columns[c]]``.

    Parameters
    ----------
    array : (n, width) numbers, each a whole number of elements from the other
    columns : (m,) integers, column indices
    out : (m, first + n or more) numbers of the same type, written
    first : int, where the first row goes
    """
    n, m = array.shape[0], columns.size
    require(out.shape[0] >= m and 0 <= first <= out.shape[1] - n, "gather_columns: out")
    require(m > 0, "gather_columns: columns")
    for c in range(m):
        require(0 <= columns[c] < array.shape[1], "gather_columns: columns")
    beside, further = array.strides[1] // array.itemsize, out.strides[1] // out.itemsize
    below, onward = array.strides[0] // array.itemsize, out.strides[0] // out.itemsize
    sources, targets = np.empty(m, np.intp), np.empty(m, np.intp)
    for c in range(m):  # ordered by insertion, so that neighbours are found wherever they go
        source, at = columns[c] * beside, c
        while at > 0 and sources[at - 1] > source:
            sources[at], targets[at] = sources[at - 1], targets[at - 1]
            at -= 1
        sources[at], targets[at] = source, c * onward + first * further
    adjacent = beside == 1 and further == 1 and below == array.shape[1] and n > 0
    early = _followers(sources, below) if adjacent else 0
    if early > 0:
        ordered, goes = np.empty_like(sources), np.empty_like(targets)
        for c in range(m):
            late = 1 if c < early else 0
            at = c - early + late * m
            ordered[at], goes[at] = sources[c] + late * below, targets[c] + late
            if late:  # they follow none in the first row
                put(out, targets[c], element(array, sources[c]))
        sources, targets = ordered, goes
    lines, count = np.empty(m + 1, np.intp), 0
    for at in range(m):  # lines begin anywhere, so that the last column is fetched in any case
        if at == 0 or at == m - 1 or sources[at] >= lines[count - 1] + CACHE_LINE // array.itemsize:
            lines[count] = sources[at]
            count += 1
    # Where squares of eight columns begin of which enough are wanted, and where their columns go.
    corners, goals = np.empty(m, np.intp), np.full(m * LANES, -1, np.intp)
    squares, alone, at = 0, 0, 0
    while at < m:
        corner, stop = sources[at], at + 1
        while stop < m and sources[stop - 1] < sources[stop] < corner + LANES:
            stop += 1
        if stop - at >= WORTH and beside == 1 and further == 1 and below >= LANES:
            for c in range(at, stop):
                goals[squares * LANES + sources[c] - corner] = targets[c]
            corners[squares] = corner
            squares += 1
        else:
            stop = at + 1
            late = 1 if early > 0 and sources[at] >= below else 0
            sources[alone], targets[alone] = sources[at] - late * below, targets[at] - late * further
            alone += 1
        at = stop
    _gather(array, n, corners[:squares], goals, sources[:alone], targets, lines[:count], out, further)


@njit(nogil=True, cache=True, counts_references=False)
def _followers(sources, below):
    """Return how many columns at the start of a row may follow those at the end of the row before.

    Cache lines mostly begin in the middle of a row, so that a block of columns that begins with one goes on
    in the next row.  ``sources`` are ascending offsets in a row of ``below`` elements.
    """
    m, count = sources.size, 0
    if sources[0] == 0 and sources[m - 1] == below - 1:
        while count < m and sources[count] == count:
            count += 1
    # Squares of the last row but one must end within the last one.
    return count if count + LANES <= below else 0


@njit(nogil=True, cache=True, counts_references=False)
def _gather(array, n, corners, goals, sources, targets, lines, out, further):
    """Copy n rows, tile by tile: squares of eight columns, and other columns one by one.

    ``corners`` and ``sources`` are offsets in a row of ``array``, ``goals`` (eight for every corner, negative
    for columns that nobody wants) and ``targets`` offsets in ``out``, where entries of a column are
    ``further`` apart; ``lines`` are offsets in a row of what is fetched ahead.  Squares may begin in the next
    row, see `_followers`.
    """
    below = array.strides[0] // array.itemsize
    for start in range(0, n, TILE):
        stop = min(start + TILE, n)
        # Squares may reach into the next row, and the last row has none.
        whole = start + (min(stop, n - 1) - start) // LANES * LANES
        for at in range(lines.size):
            line = element(lines, at)
            last = n - 1 if line >= below else n  # what lies in the next row
            for i in range(min(start + AHEAD, last), min(stop + AHEAD, last)):
                prefetch(array, i * below + line)
        for square in range(corners.size):
            corner, goal = element(corners, square), square * LANES
            for i in range(start, whole, LANES):
                transpose(array, corner + i * below, below, out, goals, goal, i)
            for i in range(whole, stop):
                for c in range(LANES):
                    if goals[goal + c] >= 0 and (i < n - 1 or corner + c < below):
                        put(out, goals[goal + c] + i, element(array, corner + c + i * below))
        for c in range(sources.size):
            source, target = element(sources, c), element(targets, c)
            for i in range(start, stop):
                put(out, target + i * further, element(array, source + i * below))


@njit(nogil=True, cache=True)
def moments(array, least, greatest, total, square):
    """Accumulate the extremes, the sum and the sum of squares of every column, in one pass.

    Extremes have the type of the array, sums are float64, and the caller initialises all of them.
    Comparisons ignore NaN, but sums do not.

    Parameters
    ----------
    array : (n, width) floats, row by row without gaps
    least, greatest : (width,) of the type of the array, updated
    total, square : (width,) float64, added to
    """
    n, width = array.shape
    require(least.size >= width and greatest.size >= width, "moments: the extremes")
    require(total.size >= width and square.size >= width, "moments: the sums")
    beside = width == 1 or array.strides[1] == array.itemsize
    require(beside and (n == 1 or array.strides[0] == width * array.itemsize), "moments: array")
    whole = width // (2 * LANES) * (2 * LANES)
    rows = max(LEAST_ROWS, min(NEAR // (width * array.itemsize), MOST_ROWS))
    for first in range(0, n, rows):
        stop = min(first + rows, n)
        for j in range(0, whole, 2 * LANES):
            k = j + LANES  # two vectors of each, since what is added up must wait for itself
            low, high, added, squares = load(least, j), load(greatest, j), load(total, j), load(square, j)
            low_k, high_k, added_k, squares_k = (
                load(least, k), load(greatest, k), load(total, k), load(square, k)
            )  # fmt: skip
            for i in range(first, stop):
                ahead = min(i + rows, n - 1) * width
                prefetch(array, ahead + j)
                if array.itemsize > CACHE_LINE // (2 * LANES):
                    prefetch(array, ahead + k)
                x, y = load(array, i * width + j), load(array, i * width + k)
                low, low_k = smaller(x, low), smaller(y, low_k)
                high, high_k = larger(x, high), larger(y, high_k)
                added, added_k = added + x, added_k + y
                squares, squares_k = squares + x * x, squares_k + y * y
            for at, a, b, c, d in ((j, low, high, added, squares), (k, low_k, high_k, added_k, squares_k)):
                store(least, at, a)
                store(greatest, at, b)
                store(total, at, c)
                store(square, at, d)
        for i in range(first, stop):
            for j in range(whole, width):
                value = array[i, j]
                least[j] = min(least[j], value)
                greatest[j] = max(greatest[j], value)
                wide = np.float64(value)
                total[j] += wide
                square[j] += wide * wide
