"""A lock on an array that threads take as a whole, or strip by strip.

Threads that solve columns side by side end at about the same time, and each merges a long column.  With one
lock they would queue for milliseconds.  So each takes one strip of the array after the other, and they begin
with different ones.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import TracebackType

STRIPS = 8


class StripLock:
    """Excludes others from all strips while it is held; or from one strip, by its own lock.

    Whoever takes one strip must not ask for another one before that is released.
    """

    def __init__(self) -> None:
        self.strips = [threading.Lock() for _ in range(STRIPS)]

    def __enter__(self) -> None:
        taken = []
        try:
            for lock in self.strips:
                lock.acquire()
                taken.append(lock)
        except BaseException:  # an interrupt
            for lock in taken:
                lock.release()
            raise

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for lock in self.strips:
            lock.release()

    def one_by_one(self, size: int, turn: int) -> Iterator[tuple[threading.Lock, int, int]]:
        """Yield the lock of each strip of an array of this size, where the strip begins, and where it ends.

        Which of them is the first depends on ``turn``.
        """
        for at in range(turn, turn + STRIPS):
            strip = at % STRIPS
            yield self.strips[strip], size * strip // STRIPS, size * (strip + 1) // STRIPS
