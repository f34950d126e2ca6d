"""A child that does not outlive its parent, however that one ends.

The parent holds the other end of the child's standard input and writes no more there: it closes when the
parent ends, on every system.  Watching the parent's process id would not do: on Windows the interpreter of a
virtual environment is a process between the two, and the id stays when its process is gone.
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

    Call it when everything has been read from it.  Linux is asked to do the same, which helps
    while compiled code keeps other threads from running.
    """
    if sys.platform == "linux":
        with suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    threading.Thread(target=_watch, args=(stream,), daemon=True).start()


def _watch(stream: int) -> None:
    with suppress(OSError):
        while os.read(stream, 4096):  # not with sys.stdin, whose lock would be held when Python ends
            pass
    os._exit(1)
