"""Whoever waits before there is any result: told how far things are, and free to give up.

Reading a file and looking through its values come before the first bounds, and may take long.  Whoever waits
says so with `waiting`; readers and first passes say with `report` how far they are, which raises once the
time is over.  It is a context variable, so that the many functions in between need not hand it on; what runs
in other threads asks `current` beforehand.
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

GRACE = 0.4  # seconds that a first pass may take whatever the limit: without it there is nothing to give


@dataclass(frozen=True)
class Waiting:
    """Somebody who waits.

    Attributes
    ----------
    told : callable or None
        Called as ``told(doing, done, of)``, from any thread.
    deadline : float
        `time.monotonic` value at which they give up.
    limit : float
        The seconds that they gave, for the message.
    """

    told: Callable[[str, int, int], None] | None = None
    deadline: float = math.inf
    limit: float = math.inf

    def check(self, doing: str, begun: float = -math.inf) -> None:
        """Raise if it is too late, and more than a moment has passed since it was begun."""
        if time.monotonic() > max(self.deadline, begun + GRACE):
            raise TimeLimitError(
                f"the time limit of {self.limit:g} s ran out before there was any result, while {doing}: "
                "give more time, or take fewer points"
            )

    def report(self, doing: str, done: int, of: int, begun: float = -math.inf) -> None:
        """Say how far it is; raise if it is too late."""
        if done < of:
            self.check(f"{doing} ({done / of:.0%} of it)", begun)
        if self.told is not None:
            self.told(doing, done, of)


_current: ContextVar[Waiting] = ContextVar("waiting", default=Waiting())  # noqa: B039 - it cannot be changed


def current() -> Waiting:
    """Return the wait that is in progress."""
    return _current.get()


def report(doing: str, done: int, of: int) -> None:
    """Say how far it is; raise if it is too late.

    What is done needs no more time: of what comes in one piece, nothing is given up.
    """
    _current.get().report(doing, done, of)


@contextmanager
def waiting(
    time_limit: float | None = None,
    *,
    started: float | None = None,
    told: Callable[[str, int, int], None] | None = None,
) -> Iterator[None]:
    """Wait this many seconds from ``started``; whoever waits already does so as well."""
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
    """A file that says how much of it was read, from whichever thread; it may be read in any order.

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
