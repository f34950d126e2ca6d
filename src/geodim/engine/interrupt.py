"""Ctrl-C while solving, noticed exactly once, wherever the main thread happens to be.

In our own programs, SIGTERM and SIGHUP are treated the same way.  Python turns Ctrl-C into an exception at
the next bytecode of the main thread.  If that bytecode belongs to a callback from C or to a finaliser, as
when Numba loads compiled kernels, the exception is printed and forgotten, and the work goes on.  While
columns are solved, the signal therefore only sets a flag, which solvers read between any two pieces.
"""

from __future__ import annotations

import signal
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ENDS = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
_heard: list[int] = []  # in our programs: the signals so far, even if their exception was forgotten


class Terminated(KeyboardInterrupt):
    """SIGTERM or SIGHUP: an interrupt from outside, which also ends with what is known so far."""


def _raise(number: int, _frame: object) -> NoReturn:
    _heard.append(number)
    raise Terminated if number in ENDS else KeyboardInterrupt


@contextmanager
def interruptible() -> Iterator[None]:
    """Let SIGTERM and SIGHUP interrupt as Ctrl-C does.

    For programs, never for a library.  Signals that are ignored stay ignored.
    """
    _heard.clear()
    if threading.current_thread() is not threading.main_thread():  # only the main thread handles signals
        yield
        return
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, *ENDS)}
    usual = (signal.SIG_DFL, signal.default_int_handler)
    ours = {number: handler for number, handler in before.items() if handler in usual}
    for number in ours:
        signal.signal(number, _raise)
    try:
        yield
    finally:
        for number, handler in ours.items():
            signal.signal(number, handler)


def terminated_by() -> int | None:
    """Return the last SIGTERM or SIGHUP received, or None."""
    return next((number for number in reversed(_heard) if number in ENDS), None)


@contextmanager
def heeding_interrupts(halt: Callable[[str], None]) -> Iterator[None]:
    """Call ``halt("interrupted")`` at the first signal; a second one raises KeyboardInterrupt.

    Where somebody else handles a signal, or outside the main thread, nothing changes.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    ours = {
        number: handler
        for number in (signal.SIGINT, *ENDS)
        if (handler := signal.getsignal(number)) in (signal.default_int_handler, _raise)
    }

    def restore() -> None:
        for number, handler in ours.items():
            signal.signal(number, handler)

    def handle(number: int, _frame: object) -> None:
        restore()
        _heard.append(number)
        halt("interrupted")

    for number in ours:
        signal.signal(number, handle)
    if any(handler is _raise for handler in ours.values()) and _heard:
        halt("interrupted")  # the exception was forgotten
    try:
        yield
    finally:
        restore()
