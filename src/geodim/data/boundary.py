"""The boundary where files from anywhere become data.

This module alone decides what is read at all, and turns failures of the libraries below into typed errors.
Parsers of damaged files raise all kinds of errors: `tokenize.TokenError`, `OverflowError`, `RecursionError`,
`AttributeError`.  To the caller they all mean that the file cannot be read, so each reader works inside one
`boundary`.
"""

from __future__ import annotations

import stat
from contextlib import contextmanager
from typing import TYPE_CHECKING

from geodim.data.absent import no_file
from geodim.errors import DataFileError, GeodimError, MachineMemoryError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

KINDS = (
    (stat.S_ISFIFO, "a pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)


def check_regular(file: Path) -> None:
    """Raise for anything but a file on a disk.

    Files are read twice here, and a pipe might never deliver anything.
    """
    try:
        mode = file.stat().st_mode
    except FileNotFoundError as error:
        raise no_file(file) from error
    except (OSError, ValueError) as error:
        msg = f"cannot read {file}: {getattr(error, 'strerror', None) or error}"
        raise DataFileError(msg) from error
    for is_kind, name in KINDS:
        if is_kind(mode):
            msg = f"{file} is {name}, which cannot be read twice: write the data to a file, and name that"
            raise DataFileError(msg)


@contextmanager
def boundary(file: Path | str, kind: str = "file that can be read") -> Iterator[None]:
    """Turn every failure while a file is read into an error that names it; our own errors pass."""
    try:
        yield
    except GeodimError:
        raise
    except MemoryError as error:
        msg = (
            f"{file} does not fit into the free memory ({_said(error)}): choose fewer "
            "columns, or use a machine with more"
        )
        raise MachineMemoryError(msg) from error
    except FileNotFoundError as error:
        raise no_file(file) from error
    except Exception as error:
        if isinstance(error, OSError) and error.strerror:
            msg = f"cannot read {file}: {error.strerror}"
        else:
            msg = (
                f"{file} is not a complete {kind} ({_said(error)}): was it cut off "
                "while being written or copied?"
            )
        raise DataFileError(msg) from error


def _said(error: BaseException) -> str:
    """Return the first line of a message, cut if long, or the name of the error if it has none."""
    line = next(iter(str(error).strip().splitlines()), "")
    return f"{line[:300]}..." if len(line) > 300 else line or type(error).__name__
