"""Progress and time limits before there is any result.

Reading a file and examining its values come before the first bounds, and may take long.  A caller who waits
enters `waiting`; readers and first passes call `report` with their progress, which raises once the time is
over.  The wait is held in a context variable, so that the many functions in between need not pass it on; code
that runs in other threads calls `current` beforehand.
"""

from __future__ import annotations

import io
import math
import os
import time
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from geodim.errors import TimeLimitError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

GRACE = 0.4  # seconds that a first pass may take whatever the limit: without it there is no result at all


@dataclass(frozen=True)
class Waiting:
    """A caller who waits for a result.

    Attributes
    ----------
    told : callable or None
        Called as ``told(doing, done, of)``, from any thread.
    deadline : float
        `time.monotonic` value at which the caller gives up.
    limit : float
        The time limit in seconds, for the message.
    """

    told: Callable[[str, int, int], None] | None = None
    deadline: float = math.inf
    limit: float = math.inf

    def check(self, doing: str, begun: float = -math.inf) -> None:
        """Raise if the time is over, and more than a moment has passed since this step began."""
        if time.monotonic() > max(self.deadline, begun + GRACE):
            raise TimeLimitError(
                f"the time limit of {self.limit:g} s ran out before there was any result, while {doing}: "
                "give more time, or take fewer points"
            )

    def report(self, doing: str, done: int, of: int, begun: float = -math.inf) -> None:
        """Report progress; raise if the time is over."""
        if done < of:
            self.check(f"{doing} ({done / of:.0%} of it)", begun)
        if self.told is not None:
            self.told(doing, done, of)


_current: ContextVar[Waiting] = ContextVar("waiting", default=Waiting())  # noqa: B039 - it cannot be changed


def current() -> Waiting:
    """Return the wait that is in progress."""
    return _current.get()


def report(doing: str, done: int, of: int) -> None:
    """Report progress; raise if the time is over.

    Work that is complete never raises: what arrives in one piece is not thrown away.
    """
    _current.get().report(doing, done, of)


@contextmanager
def waiting(
    time_limit: float | None = None,
    *,
    started: float | None = None,
    told: Callable[[str, int, int], None] | None = None,
) -> Iterator[None]:
    """Wait this many seconds from ``started``; a wait already in progress stays in force as well."""
    outer = _current.get()
    limit, deadline = outer.limit, outer.deadline
    if time_limit is not None:
        own = (time.monotonic() if started is None else started) + time_limit
        if own < deadline:
            limit, deadline = time_limit, own
    token = _current.set(Waiting(told or outer.told, deadline, limit))
    try:
        yield
    finally:
        _current.reset(token)


class Counted(io.BufferedReader):
    """A file that reports how much of it was read, from any thread; it may be read in any order.

    Parameters
    ----------
    path : path
        The file.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        super().__init__(_Raw(path), 1 << 20)


class _Raw(io.FileIO):
    def __init__(self, path: str | os.PathLike[str]) -> None:
        super().__init__(path, "rb")
        self._waiting, self._doing = current(), f"reading {os.fspath(path)}"
        self._done, self._of = 0, os.fstat(self.fileno()).st_size
        self._begun = time.monotonic()

    def _count(self, size: int | None) -> None:
        self._done += size or 0
        self._waiting.report(self._doing, min(self._done, self._of), self._of, self._begun)

    def readinto(self, buffer: Any) -> int | None:  # noqa: ANN401 - whatever takes bytes
        size = super().readinto(buffer)
        self._count(size)
        return size

    def readall(self) -> bytes:
        content = super().readall()
        self._count(len(content))
        return content
