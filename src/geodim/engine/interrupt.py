"""Ctrl-C while solving, heard once, wherever the main thread happens to be.

In our own programs SIGTERM and SIGHUP are heard, too.  Python turns Ctrl-C into an exception at the next
bytecode of the main thread.  If that one belongs to a callback from C or to a finaliser, as when Numba loads
compiled kernels, the exception is printed and forgotten, and the work goes on.  While columns are solved the
signal therefore only sets a flag, which solvers read between any two pieces.
"""

from __future__ import annotations

import signal
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ENDS = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
_heard: list[int] = []  # in a program of ours: the signals so far, also those whose exception was forgotten


class Terminated(KeyboardInterrupt):
    """SIGTERM or SIGHUP: an interrupt by somebody else, with the same right to what is known so far."""


def _raise(number: int, _frame: object) -> NoReturn:
    _heard.append(number)
    raise Terminated if number in ENDS else KeyboardInterrupt


@contextmanager
def interruptible() -> Iterator[None]:
    """Let SIGTERM and SIGHUP be interrupts as Ctrl-C is.

    For programs, never for a library; what is ignored stays ignored.
    """
    _heard.clear()
    if threading.current_thread() is not threading.main_thread():  # signals are not for others
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
    """The last SIGTERM or SIGHUP."""
    return next((number for number in reversed(_heard) if number in ENDS), None)


@contextmanager
def heeding_interrupts(halt: Callable[[str], None]) -> Iterator[None]:
    """Call ``halt("interrupted")`` at the first signal.

    A second one raises KeyboardInterrupt, for the impatient.  Where somebody else handles a signal, or
    outside the main thread, everything stays as it is.
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
