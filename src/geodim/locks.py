"""Locks that vanish with the process that holds them, however it ends.

They are locks of the operating system: ``flock`` on whole files, and on Windows on a byte far beyond the end,
since other processes cannot read locked bytes there.  Where there are no locks, as on some network disks,
nothing is locked, and nothing that belongs to others is ever treated as abandoned.
"""

from __future__ import annotations

import contextlib
import json
import os
import socket
import sys
import time
import warnings
from typing import TYPE_CHECKING

from geodim.errors import DataFileError, GeodimWarning

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

if TYPE_CHECKING:
    from pathlib import Path
    from types import TracebackType
    from typing import Self

__all__ = ["BUSY_FILES_STAY", "FolderLock", "still_at", "try_lock"]

LOCK_FILE = ".geodim-lock"
BUSY_FILES_STAY = os.name == "nt"  # a file that anybody has open can be neither removed nor renamed
_FAR = 1 << 30  # the byte that is locked on Windows


def try_lock(descriptor: int) -> bool | None:
    """Try to lock an open file.

    Returns True if it is ours now, False if another process holds it, None if it cannot be locked here.
    """
    busy: type[OSError] = PermissionError if sys.platform == "win32" else BlockingIOError
    try:
        if sys.platform == "win32":
            os.lseek(descriptor, _FAR, os.SEEK_SET)
            try:
                msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
            finally:
                os.lseek(descriptor, 0, os.SEEK_SET)
        else:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except busy:
        return False
    except OSError:
        return None
    return True


def still_at(descriptor: int, path: Path) -> bool:
    """Return whether the open file is still the one with this name.

    Another process may have removed it before it was locked.
    """
    try:
        return os.path.samestat(os.fstat(descriptor), path.lstat())
    except FileNotFoundError:
        return False


class FolderLock:
    """Reserve a folder for one run at a time.

    Parameters
    ----------
    folder
        The folder; it must exist.
    purpose
        What the folder is for, in messages: "checkpoint folder".
    name
        The file that is locked.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder, FolderLock(Path(folder), "folder"):
    ...     len(list(Path(folder).iterdir()))
    1
    """

    def __init__(self, folder: Path, purpose: str, name: str = LOCK_FILE) -> None:
        self.path, self.purpose = folder / name, purpose
        self._descriptor: int | None = None

    def __enter__(self) -> Self:
        while self._descriptor is None:
            self._descriptor = self._acquire()
        return self

    def _acquire(self) -> int | None:
        """Lock the file of this name; None if it was removed meanwhile, which its last holder does."""
        folder = self.path.parent
        try:
            descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o666)
        except OSError as error:
            msg = f"cannot use the {self.purpose} {folder}: {error.strerror or error}"
            raise DataFileError(msg) from error
        try:
            locked = try_lock(descriptor)
            if locked is False:
                msg = (
                    f"the {self.purpose} {folder} is in use by {_holder(descriptor)}: "
                    "wait for it, stop it, or choose another folder"
                )
                raise DataFileError(msg)
            if locked and not still_at(descriptor, self.path):
                os.close(descriptor)
                return None
            if locked is None:
                warnings.warn(
                    f"the {self.purpose} {folder} cannot be locked on this disk: let only one run use it",
                    GeodimWarning,
                    stacklevel=4,
                )
            with contextlib.suppress(OSError):  # it only serves messages; the disk may be full
                os.ftruncate(descriptor, 0)
                os.write(descriptor, json.dumps({"pid": os.getpid(), "host": socket.gethostname()}).encode())
        except BaseException:
            with contextlib.suppress(OSError):
                os.close(descriptor)
            raise
        return descriptor

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._descriptor is not None:
            if BUSY_FILES_STAY:  # the file stays if another process has opened it meanwhile
                os.close(self._descriptor)
            with contextlib.suppress(OSError):
                self.path.unlink()  # before it is unlocked: a process that waits for it sees that it is gone
            if not BUSY_FILES_STAY:
                os.close(self._descriptor)
            self._descriptor = None


def _holder(descriptor: int) -> str:
    for _ in range(20):  # the holder may be about to write it
        try:
            os.lseek(descriptor, 0, os.SEEK_SET)
            values = json.loads(os.read(descriptor, 4096))
            return f"process {int(values['pid'])} on {values['host']}"
        except (OSError, ValueError, KeyError, TypeError):
            time.sleep(0.01)
    return "another process"
