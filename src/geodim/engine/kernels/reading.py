"""Columns out of a row-major array, tile by tile, so that each cache line is fetched once."""

from __future__ import annotations

from numba import njit

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
