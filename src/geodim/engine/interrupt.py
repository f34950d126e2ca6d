"""Ctrl-C while solving: heard once, wherever the main thread happens to be.

Python turns Ctrl-C into an exception at the next bytecode of the main thread.  If that one belongs to a callback from C or
to a finaliser, as when Numba loads compiled kernels, the exception is printed and forgotten, and the work goes on.  While
columns are solved the signal therefore only sets a flag, which solvers read between any two pieces.
"""

from __future__ import annotations

import signal
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


@contextmanager
def heeding_interrupts(halt: Callable[[str], None]) -> Iterator[None]:
    """Call ``halt("interrupted")`` at the first Ctrl-C; a second one raises KeyboardInterrupt, for the impatient.

    Where somebody else handles the signal, or outside the main thread, everything stays as it is.
    """
    ours = threading.current_thread() is threading.main_thread()
    if not ours or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield
        return

    def handle(_number: int, _frame: Any) -> None:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        halt("interrupted")

    signal.signal(signal.SIGINT, handle)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
