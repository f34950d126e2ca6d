"""How many columns are read together: what fits the memory and shares cache lines."""

from __future__ import annotations

BLOCK_BYTES = 64 << 20  # columns are read in blocks of about this size per thread
MOST_COLUMNS = 8  # half a cache line of float32 in a row-major array: the buffer still fits the cache better
CACHE_LINE = 64  # bytes; threads that read together take a whole one of each row, if the memory allows


def block_width(n_points: int, itemsize: int, *, row_major: bool) -> int:
    """Columns per thread that fit the memory and share cache lines."""
    width = max(1, min(BLOCK_BYTES // max(n_points * itemsize, 1), MOST_COLUMNS))
    return max(width, 2) if row_major else width  # reading two columns costs hardly more than one


def group_width(width: int, threads: int, itemsize: int) -> int:
    """Columns that all threads read together: what their blocks would take, or a cache line."""
    return min(max(width * threads // 2, 1), max(CACHE_LINE // itemsize, threads))
