"""Splitting rows over threads so that the number of threads cannot change a result.

Every row is owned by exactly one task and computed in a fixed order inside it; tasks share no mutable data.
Which thread runs which task, and how many tasks there are, is then invisible in the output.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy as np
    from numpy.typing import NDArray

__all__ = ["balanced_ranges", "equal_ranges", "run_tasks"]

T = TypeVar("T")
R = TypeVar("R")


def equal_ranges(n: int, parts: int) -> list[tuple[int, int]]:
    """Split ``range(n)`` into at most `parts` non-empty ranges of about equal length.

    Examples
    --------
    >>> equal_ranges(10, 3)
    [(0, 3), (3, 6), (6, 10)]
    """
    cuts = [n * part // parts for part in range(parts + 1)]
    return [(a, b) for a, b in pairwise(cuts) if a < b]


def balanced_ranges(indptr: NDArray[np.int64], parts: int, row_cost: int = 4) -> list[tuple[int, int]]:
    """Split the rows of a CSR matrix into at most `parts` non-empty ranges of about equal work.

    The work before row i is taken as ``indptr[i] + row_cost * i``: stored entries, and a little for each row,
    so that millions of empty rows count too. That is increasing in i, and the cuts are found by bisection
    without an array of size n.
    """
    n = len(indptr) - 1
    total = int(indptr[n]) + row_cost * n
    cuts = [0]
    for part in range(1, parts):
        goal = total * part // parts
        low, high = cuts[-1], n
        while low < high:
            middle = (low + high) // 2
            if int(indptr[middle]) + row_cost * middle < goal:
                low = middle + 1
            else:
                high = middle
        cuts.append(low)
    cuts.append(n)
    return [(a, b) for a, b in pairwise(cuts) if a < b]


def run_tasks(task: Callable[[T], R], items: Sequence[T], threads: int) -> list[R]:
    """Call `task` on every item, on up to `threads` threads; the results come in the order of the items."""
    if threads == 1 or len(items) < 2:
        return [task(item) for item in items]
    with ThreadPoolExecutor(min(threads, len(items))) as pool:
        return list(pool.map(task, items))
