"""The threads of one call: started once, lent to one phase after the other, and gone when the call returns.

To start sixteen threads takes milliseconds, as long as a whole phase of a short computation.  So the
outermost call keeps a set of them (`keeping_threads`), and each phase below it borrows that set
(`threads_for`).  A phase ends as a `with ThreadPoolExecutor` does: it has waited for all that was submitted.

Only the thread that keeps them can borrow them, only for one phase at a time, and only all of them.  Whoever
else asks (a task in one of these threads, a callback within a phase, a caller who wants another number) gets
threads of his own, so nobody waits for threads that wait for him.
"""

from __future__ import annotations

import os
import threading
from concurrent.futures import Executor, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

NAME = "geodim"  # what threads are called, with a number


class _Kept(threading.local):
    """What the current thread keeps."""

    crew: _Crew | None = None


_kept = _Kept()


class _Crew:
    """A set of threads that is kept for a call; the threads start when there is work for them."""

    def __init__(self, size: int) -> None:
        self.size, self.process = size, os.getpid()
        self.pool = ThreadPoolExecutor(size, thread_name_prefix=NAME)
        self.lent = False
        self.deserted = False  # whether an interrupt ended the wait for a phase

    def is_free(self, size: int) -> bool:
        """Whether a phase can borrow it; a process forked within the call has none of its threads."""
        return self.size == size and not self.lent and not self.deserted and self.process == os.getpid()


class _Phase(Executor):
    """What a phase submits to threads that are lent to it."""

    def __init__(self, pool: ThreadPoolExecutor) -> None:
        self._pool = pool
        self._unfinished: set[Future[Any]] = set()

    def submit(self, work: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:  # noqa: ANN401
        """Give work to a thread; tasks may do so as well."""
        future = self._pool.submit(work, *args, **kwargs)
        self._unfinished.add(future)
        future.add_done_callback(self._unfinished.discard)
        return future

    def finish(self) -> None:
        """Wait for all that was submitted, also by tasks on their way."""
        while self._unfinished:
            wait(list(self._unfinished))


@contextmanager
def keeping_threads(size: int) -> Iterator[None]:
    """Keep this many threads for all phases of a call; they have ended when it returns.

    Calls within calls keep the threads of the outermost.
    """
    outer = _kept.crew
    if outer is not None and outer.is_free(size):
        yield
        return
    crew = _kept.crew = _Crew(size)
    try:
        yield
    finally:
        _kept.crew = outer
        # Who interrupts a second time does not want to wait any longer, even for what is still running.
        crew.pool.shutdown(wait=not crew.deserted)


@contextmanager
def threads_for(size: int) -> Iterator[Executor]:
    """Return threads for a phase: those that the call keeps, if they are free, or else new ones."""
    crew = _kept.crew
    if crew is None or not crew.is_free(size):
        with ThreadPoolExecutor(size, thread_name_prefix=NAME) as pool:
            yield pool
        return
    phase = _Phase(crew.pool)
    crew.lent = True
    try:
        yield phase
    finally:
        try:
            phase.finish()
        except BaseException:
            crew.deserted = True
            raise
        finally:
            crew.lent = False
