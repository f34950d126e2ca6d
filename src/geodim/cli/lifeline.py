"""A child that does not outlive its parent, however that one ends.

The parent holds the other end of the child's standard input and says no more there: its end is the end of the
parent, on every system.  A number of the parent to look for would not do: on Windows the interpreter of a
virtual environment is a process between the two, and the number stays when its process is gone.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import threading
from contextlib import suppress

PR_SET_PDEATHSIG = 1


def end_with_parent(stream: int = 0) -> None:
    """End this process when its parent ends, which is when no one can write to this stream any more.

    Call it when everything there is to read has been read.  Linux is asked to see to it, too, which helps
    while compiled code keeps other threads from running.
    """
    if sys.platform == "linux":
        with suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    threading.Thread(target=_watch, args=(stream,), daemon=True).start()


def _watch(stream: int) -> None:
    with suppress(OSError):
        while os.read(stream, 4096):  # not by sys.stdin, whose lock would be held when Python ends
            pass
    os._exit(1)
