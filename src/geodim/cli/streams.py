"""The standard streams, in whatever state they are.

They may be closed, a pipe without a reader, a full disk, or a terminal of another encoding.
"""

from __future__ import annotations

import contextlib
import errno
import io
import logging
import os
import sys
from typing import TYPE_CHECKING

from geodim.output import naming
from geodim.text import visible

if TYPE_CHECKING:
    from typing import TextIO

    from _typeshed import ReadableBuffer

READER_GONE = 141  # the exit code that a shell reports after SIGPIPE
WINDOWS = os.name == "nt"


class _Answer(io.FileIO):
    """Standard output; if its reader is gone, the program ends quietly; other errors name the stream.

    After an error nothing more is written: what is left in the buffer would raise again when Python ends.
    """

    failed = False

    def write(self, data: ReadableBuffer) -> int:
        if self.failed:
            return memoryview(data).nbytes
        try:
            with naming("the answer", "print"):
                return super().write(data)
        except OSError as error:
            self.failed = True
            if _reader_gone(error.__cause__):
                raise SystemExit(READER_GONE) from None
            raise


def _reader_gone(error: BaseException | None) -> bool:
    """Return whether the error means a pipe without a reader; Windows calls that an invalid argument."""
    return isinstance(error, BrokenPipeError) or (
        WINDOWS and isinstance(error, OSError) and error.errno == errno.EINVAL
    )


class _SafeFormatter(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        return visible(super().format(record))


def prepare_streams() -> None:
    """Make all three usable before anything is printed; closed ones lead to the null device."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            setattr(sys, name, _nowhere(number))
    # A terminal of Windows has its own writer, without which letters beyond ASCII come out wrong.  Unlike a
    # disk or pipe, it neither fills up nor stops reading.
    on_windows_terminal = WINDOWS and sys.stdout.isatty()
    if sys.stdout is sys.__stdout__ and isinstance(sys.stdout, io.TextIOWrapper) and not on_windows_terminal:
        with contextlib.suppress(OSError, ValueError):
            descriptor = sys.stdout.fileno()
            sys.stdout = io.TextIOWrapper(
                io.BufferedWriter(_Answer(descriptor, "wb", closefd=False)),
                encoding=sys.stdout.encoding,
                errors="backslashreplace",
                line_buffering=sys.stdout.line_buffering,
            )
    if logging.lastResort is not None:
        logging.lastResort.setFormatter(_SafeFormatter())


def _nowhere(number: int) -> TextIO:
    """Return the null device, in place of a closed stream.

    Otherwise the next file that is opened would become that stream.
    """
    try:
        os.fstat(number)
    except OSError:
        descriptor = os.open(os.devnull, os.O_RDWR)
        if descriptor != number:
            os.dup2(descriptor, number)
            os.close(descriptor)
        return open(number, "r" if number == 0 else "w", encoding="utf-8", closefd=False)
    descriptor = os.open(os.devnull, os.O_RDWR)  # left open until the process ends, without a warning
    return open(descriptor, "r" if number == 0 else "w", encoding="utf-8", closefd=False)


def silence() -> None:
    """Print nothing more, so that what could not be written is not tried again when Python ends."""
    for name in ("stdout", "stderr"):
        try:
            getattr(sys, name).flush()
        except (OSError, ValueError, SystemExit):
            setattr(sys, name, io.StringIO())
