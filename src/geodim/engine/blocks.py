"""Buffers of one thread in a single block of memory, which begins with a large page.

A system hands out memory when it is first written to, by large pages of 2 MB where whole ones lie within an
array that asked for them (NumPy asks from 4 MB on), otherwise by small pages of 4 kB.  Arrays of a few
megabytes each lie mostly on small pages: thousands of them for every thread, and threads that need pages at
the same time wait for each other.
"""

from __future__ import annotations

from itertools import accumulate, pairwise
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from numpy.typing import NDArray

PAGE, LARGE_PAGE = 1 << 12, 1 << 21  # bytes
LINE = 64  # bytes of a cache line; each buffer begins with one
WORTH = 2 * LARGE_PAGE  # bytes from which on there may be large pages


def in_one_block(*sizes: int) -> list[NDArray[np.uint8]]:
    """Return one buffer for each number of bytes; nothing is written to them."""
    edges = [0, *accumulate(-(-size // LINE) * LINE for size in sizes)]
    unit = LARGE_PAGE if edges[-1] >= WORTH else LINE
    # One more, so that the last page is a large one as well, wherever the first one begins.
    block = np.empty((-(-edges[-1] // unit) + 1) * unit, np.uint8)
    first = -block.ctypes.data % unit
    return [
        block[first + at : first + at + size] for (at, _), size in zip(pairwise(edges), sizes, strict=True)
    ]


def touched(
    shape: tuple[int, int], dtype: np.dtype[np.floating], threads: int, pool: Executor
) -> NDArray[np.floating]:
    """Return an array whose memory is there already, each page of it made by one thread.

    Every thread writes to all columns of a group.  If several meet at a large page that is not there yet,
    each of them clears one, and all but one of these are thrown away.
    """
    array = np.empty(shape, dtype)
    flat = array.reshape(-1).view(np.uint8)
    share = -(-flat.size // (threads * LARGE_PAGE)) * LARGE_PAGE
    edges = range(-(array.ctypes.data % LARGE_PAGE), flat.size, share)

    def touch(start: int) -> None:
        flat[max(start, 0) : start + share : PAGE] = 0

    list(pool.map(touch, edges))
    return array
