"""Reading a row-major array: extracting columns tile by tile, and the statistics of a first pass."""

from __future__ import annotations

import numpy as np

from geodim.compiled import njit
from geodim.engine.kernels._bounds import require
from geodim.engine.kernels.lanes import element, prefetch, put

TILE = 16  # rows of which one column after the other is copied
AHEAD = 64  # rows; processors foresee no accesses that are a whole row apart
CACHE_LINE = 64  # bytes


@njit(nogil=True, cache=True, counts_references=False)
def gather_columns(array, columns, out, first):
    """Write ``out[c, first : first + n] = array[:, columns[c]]``.

    Parameters
    ----------
    array : (n, width) numbers, each a whole number of elements from the other
    columns : (m,) integers, column indices
    out : (m, first + n or more) numbers, written
    first : int, where the first row goes
    """
    n, m = array.shape[0], columns.size
    require(out.shape[0] >= m and 0 <= first <= out.shape[1] - n, "gather_columns: out")
    below, beside = array.strides[0] // array.itemsize, array.strides[1] // array.itemsize
    onward, further = out.strides[0] // out.itemsize, out.strides[1] // out.itemsize
    require(m > 0, "gather_columns: columns")
    neighbours = True
    for c in range(m):
        require(0 <= columns[c] < array.shape[1], "gather_columns: columns")
        neighbours = neighbours and columns[c] == columns[0] + c
    step = CACHE_LINE // array.itemsize if neighbours else 1
    for start in range(0, n, TILE):
        stop = min(start + TILE, n)
        for i in range(min(start + AHEAD, n), min(stop + AHEAD, n)):
            for c in range(0, m, step):
                prefetch(array, i * below + columns[c] * beside)
            prefetch(array, i * below + columns[m - 1] * beside)  # lines begin anywhere
        for c in range(m):
            source, target = columns[c] * beside, c * onward + first * further
            for i in range(start, stop):
                put(out, target + i * further, element(array, source + i * below))


@njit(nogil=True, cache=True)
def moments(array, least, greatest, total, square):
    """Accumulate the extremes, the sum and the sum of squares of every column, in one pass.

    Extremes have the type of the array, sums are float64, and the caller initialises all of them.
    Comparisons ignore NaN, but sums do not.

    Parameters
    ----------
    array : (n, width) numbers
    least, greatest : (width,) of the type of the array, updated
    total, square : (width,) float64, added to
    """
    width = array.shape[1]
    require(least.size >= width and greatest.size >= width, "moments: the extremes")
    require(total.size >= width and square.size >= width, "moments: the sums")
    for i in range(array.shape[0]):
        for j in range(array.shape[1]):
            value = array[i, j]
            least[j] = min(least[j], value)
            greatest[j] = max(greatest[j], value)
            wide = np.float64(value)
            total[j] += wide
            square[j] += wide * wide
