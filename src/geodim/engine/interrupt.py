"""Ctrl-C, and in our own programs SIGTERM and SIGHUP, while solving: heard once, wherever the main thread happens to be.

Python turns Ctrl-C into an exception at the next bytecode of the main thread.  If that one belongs to a callback from C or
to a finaliser, as when Numba loads compiled kernels, the exception is printed and forgotten, and the work goes on.  While
columns are solved the signal therefore only sets a flag, which solvers read between any two pieces.
"""

from __future__ import annotations

import signal
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NoReturn

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ENDS = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
_heard: list[int] = []  # signals that ask to end, since `heed_termination`


class Terminated(KeyboardInterrupt):
    """SIGTERM or SIGHUP: an interrupt by somebody else, with the same rights to what is known so far."""


def _terminate(number: int, _frame: Any) -> NoReturn:
    _heard.append(number)
    raise Terminated


def heed_termination() -> None:
    """Let SIGTERM and SIGHUP raise `Terminated`: for programs, never for a library; ignored ones stay ignored."""
    _heard.clear()
    for number in ENDS:
        if signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, _terminate)


def terminated_by() -> int | None:
    """The last such signal."""
    return _heard[-1] if _heard else None


@contextmanager
def heeding_interrupts(halt: Callable[[str], None]) -> Iterator[None]:
    """Call ``halt("interrupted")`` at the first signal; a second one raises KeyboardInterrupt, for the impatient.

    Where somebody else handles a signal, or outside the main thread, everything stays as it is.
    """
    usual: dict[int, Any] = {signal.SIGINT: signal.default_int_handler} | dict.fromkeys(ENDS, _terminate)
    ours = {number: raises for number, raises in usual.items() if signal.getsignal(number) is raises}
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def restore() -> None:
        for number, raises in ours.items():
            signal.signal(number, raises)

    def handle(number: int, _frame: Any) -> None:
        restore()
        if number in ENDS:
            _heard.append(number)
        halt("interrupted")

    for number in ours:
        signal.signal(number, handle)
    if _heard:  # before, where the exception was forgotten
        halt("interrupted")
    try:
        yield
    finally:
        restore()
