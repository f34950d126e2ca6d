"""How many columns are read together: what fits the memory and shares cache lines."""

from __future__ import annotations

from typing import NamedTuple

BLOCK_BYTES = 64 << 20  # columns are read in blocks of about this size per thread
MOST_COLUMNS = 8  # half a cache line of float32 in a row-major array: the buffer still fits the cache better
LONG_FROM = 1 << 17  # columns so long are worth a task each, or several
CACHE_LINE = 64  # bytes; threads that read together take a whole one of each row, if the memory allows


def block_width(n_points: int, itemsize: int, *, row_major: bool, at_once: int = MOST_COLUMNS) -> int:
    """Columns per thread that fit the memory and share cache lines, or whatever makes ``at_once`` cheaper."""
    width = max(1, min(BLOCK_BYTES // max(n_points * itemsize, 1), at_once))
    return max(width, 2) if row_major else width  # reading two columns costs hardly more than one


def group_width(width: int, threads: int, itemsize: int) -> int:
    """Columns that all threads read together: what their blocks would take, or a cache line."""
    return min(max(width * threads // 2, 1), max(CACHE_LINE // itemsize, threads))


class Reading(NamedTuple):
    """How columns are read: columns in a block, blocks at a time, solvers and passes.

    If ``together``, all threads read the rows of one block, and then solve a column each.
    """

    width: int
    buffers: int
    solvers: int
    passes: int
    together: bool


def reading(
    n_points: int,
    n_features: int,
    itemsize: int,
    threads: int,
    *,
    row_major: bool,
    by_rows: bool = True,
    at_once: int = MOST_COLUMNS,
) -> Reading:
    """What the engine does with columns of this shape, and what a plan says that it does.

    ``by_rows`` says whether some rows of a block can be read apart from the others, ``at_once`` how many
    columns are read together at best.
    """
    width = block_width(n_points, itemsize, row_major=row_major, at_once=at_once)
    together = False
    if threads == 1 or (n_features < 2 * threads and n_points >= LONG_FROM):
        width, buffers, solvers = min(width, n_features), 1, 1
    elif row_major and by_rows and n_points >= LONG_FROM:
        together = True
        width = min(group_width(width, threads, itemsize), n_features)
        buffers, solvers = min(2, -(-n_features // width)), min(threads, n_features)
    else:
        width = max(1, min(width, -(-n_features // threads)))
        buffers = solvers = min(threads, -(-n_features // width))
    return Reading(width, buffers, solvers, -(-n_features // width) if row_major else 1, together)
