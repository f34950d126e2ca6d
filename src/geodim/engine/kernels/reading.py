"""Reading a row-major array: columns out of it, tile by tile, and what a first pass learns of them."""

from __future__ import annotations

from geodim.compiled import njit

TILE = 64


@njit(nogil=True, cache=True)
def gather_columns(array, columns, out):
    """``out[c] = array[:, columns[c]]`` for C-contiguous ``array``."""
    n = array.shape[0]
    for first in range(0, n, TILE):
        stop = min(first + TILE, n)
        for c in range(columns.size):
            column = columns[c]
            for i in range(first, stop):
                out[c, i] = array[i, column]


@njit(nogil=True, cache=True)
def moments(array, least, greatest, total, square):
    """Least and greatest value, sum and sum of squares of every column, in one pass.

    The accumulators have the type of the array and are started by the caller.  Comparisons pass NaN by, but sums do not.
    """
    for i in range(array.shape[0]):
        for j in range(array.shape[1]):
            value = array[i, j]
            least[j] = min(least[j], value)
            greatest[j] = max(greatest[j], value)
            total[j] += value
            square[j] += value * value
