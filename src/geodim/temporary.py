"""Temporary files and folders that nobody has to clean up after a crash.

Each is locked while its process lives, and its name says on which machine that is.  The first temporary that
a process makes in a folder removes those of dead processes there: of the same machine and the same user, and
only if they can be locked.  So those of a running process stay, and so do those of another machine on a
shared disk, where locks may not be seen.  On Windows, where folders cannot be locked, all of them stay.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import secrets
import shutil
import socket
import stat
import sys
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from geodim.locks import BUSY_FILES_STAY, still_at, try_lock

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

__all__ = ["TemporaryFile", "new_name", "sweep", "sweep_once", "temporary_file", "temporary_folder"]

PREFIX = ".geodim-"
_CLOSED_ON_EXEC = getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NOINHERIT", 0)
_NO_TRANSLATION = getattr(os, "O_BINARY", 0)  # Windows translates line ends unless told not to
_NO_LINKS = getattr(os, "O_NOFOLLOW", 0)
_swept: set[str] = set()


def _machine() -> str:
    return hashlib.blake2b(socket.gethostname().encode(), digest_size=4).hexdigest()


def new_name() -> str:
    """Return a name for a temporary file or folder of this process."""
    return f"{PREFIX}{_machine()}-{os.getpid()}-{secrets.token_hex(4)}"


@dataclass
class TemporaryFile:
    """An open temporary file, and its name."""

    descriptor: int
    path: Path
    is_open: bool = True

    def replace(self, target: Path) -> None:
        """Rename the file to its final name, replacing what has that name now."""
        if BUSY_FILES_STAY:
            self.close()
        self.path.replace(target)

    def close(self) -> None:
        """Close it, once: the number may belong to another file soon after."""
        if self.is_open:
            self.is_open = False
            os.close(self.descriptor)


@contextmanager
def temporary_file(folder: Path) -> Iterator[TemporaryFile]:
    """Open an empty file with the usual permissions for writing; it is removed at the end unless renamed."""
    sweep_once(folder)
    while True:
        path = folder / new_name()
        flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | _CLOSED_ON_EXEC | _NO_TRANSLATION
        file = TemporaryFile(os.open(path, flags, 0o666), path)
        try_lock(file.descriptor)
        if still_at(file.descriptor, path):
            break
        file.close()  # removed by another process before it was locked
    try:
        yield file
    finally:
        if BUSY_FILES_STAY:
            file.close()
        with contextlib.suppress(OSError):
            path.unlink()  # before it is unlocked
        file.close()


@contextmanager
def temporary_folder(folder: Path, mode: int = 0o777) -> Iterator[Path]:
    """Make an empty folder with the usual permissions; it is removed at the end unless renamed."""
    sweep_once(folder)
    descriptor: int | None = None
    while True:
        path = folder / new_name()
        path.mkdir(mode)
        if not hasattr(os, "O_DIRECTORY"):  # folders cannot be opened, and so cannot be locked
            break
        try:
            descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | _CLOSED_ON_EXEC)
        except FileNotFoundError:
            continue
        try_lock(descriptor)
        if still_at(descriptor, path):
            break
        os.close(descriptor)
    try:
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)
        if descriptor is not None:
            os.close(descriptor)


def sweep_once(folder: Path) -> None:
    """Remove the temporaries of dead processes, if this process has not done so yet."""
    key = os.path.realpath(folder)
    if key not in _swept:
        _swept.add(key)
        sweep(folder)


def sweep(folder: Path) -> None:
    """Remove the temporaries of dead processes."""
    beginning = f"{PREFIX}{_machine()}-"
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        for name in [entry.name for entry in entries if entry.name.startswith(beginning)]:
            with contextlib.suppress(OSError):
                _remove_if_dead(folder / name)


def _remove_if_dead(path: Path) -> None:
    if sys.platform == "win32":  # folders have no locks, and so nothing is known to be dead
        return
    found = path.lstat()
    is_folder = stat.S_ISDIR(found.st_mode)
    if not (is_folder or stat.S_ISREG(found.st_mode)) or found.st_uid != os.geteuid():
        return
    descriptor = os.open(path, (os.O_RDONLY if is_folder else os.O_RDWR) | _NO_LINKS | _CLOSED_ON_EXEC)
    try:
        if try_lock(descriptor) and still_at(descriptor, path):
            if is_folder:
                shutil.rmtree(path, ignore_errors=True)
            else:
                path.unlink()
    finally:
        os.close(descriptor)
