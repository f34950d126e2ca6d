"""Reading a row-major array: extracting columns tile by tile, and the statistics of a first pass."""

from __future__ import annotations

import numpy as np

from geodim.compiled import njit
from geodim.engine.kernels._bounds import require

TILE = 64


@njit(nogil=True, cache=True)
def gather_columns(array, columns, out, first):
    """Write ``out[c, first : first + n] = array[:, columns[c]]`` for a C-contiguous ``array``.

    Parameters
    ----------
    array : (n, width) numbers
    columns : (m,) integers, column indices
    out : (m, first + n or more) numbers, written
    first : int, where the first row goes
    """
    n = array.shape[0]
    require(out.shape[0] >= columns.size and 0 <= first <= out.shape[1] - n, "gather_columns: out")
    for c in range(columns.size):
        require(0 <= columns[c] < array.shape[1], "gather_columns: columns")
    for start in range(0, n, TILE):
        stop = min(start + TILE, n)
        for c in range(columns.size):
            column = columns[c]
            for i in range(start, stop):
                out[c, first + i] = array[i, column]


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
