"""Idle threads of a pool as helpers: they take over part of the work of a busy thread."""

from __future__ import annotations

from collections import deque
from functools import partial
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from concurrent.futures import Executor

Item = TypeVar("Item")
Result = TypeVar("Result")


class Helpers:
    """Shares work with those threads of ``pool`` that have nothing else to do.

    May be called from a thread of that pool: nobody waits for a helper that has not begun, so nothing hangs
    when no thread is free.
    """

    def __init__(self, pool: Executor, count: int) -> None:
        self.pool, self.count = pool, count

    def map(self, work: Callable[[Item], Result], items: Iterable[Item]) -> list[Result]:
        """Return the results of ``work`` for all items, in no particular order."""
        # Whoever comes too late is told to take from an empty list, after other work: only that list may lead
        # to what the work needs, or it would be kept until then.
        left = deque(partial(work, item) for item in items)
        results: list[Result] = []

        def take() -> None:
            while True:
                try:
                    job = left.popleft()
                except IndexError:  # another thread took the last one
                    return
                results.append(job())

        others = [self.pool.submit(take) for _ in range(min(self.count, len(left) - 1))]
        try:
            take()
        finally:
            left.clear()
            unfinished = [other for other in others if not other.cancel()]
        for other in unfinished:
            other.result()
        return results
