"""Writes all files of geodim: each is written completely or not at all, and nothing else is harmed.

* A regular file is written under a temporary name in the same folder and renamed.  It keeps its mode and,
  where that is allowed, its owner; symbolic links are followed; a read-only file is left alone, even
  by root.  Of a file with several hard links only this name gets the new content: the other names keep the
  old one, as snapshots need it.
* Devices and pipes are written to as they are.
* Every failure is a `DataFileError` that names the path, and the old file is kept.
"""

from __future__ import annotations

import contextlib
import errno
import io
import json
import os
import stat
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING

from geodim.errors import DataFileError, GeodimError
from geodim.temporary import temporary_file

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from _typeshed import ReadableBuffer

__all__ = ["check_output", "check_outputs", "make_folder", "naming", "write_text", "writing"]

OPEN_FILES = ("/dev/fd/", "/dev/stdout", "/dev/stderr", "/proc/")  # names of open files, not of places
REASONS = {
    errno.ENOSPC: "the disk is full",
    errno.EDQUOT: "the disk quota is used up",
    errno.EFBIG: "the file would be larger than is allowed here",
    errno.ENAMETOOLONG: "the name is too long",
    errno.EROFS: "the disk is read-only",
    errno.EPIPE: "nothing reads from that pipe any more",
    errno.ELOOP: "its symbolic links form a loop",
}


@contextlib.contextmanager
def naming(path: str | Path, verb: str = "write") -> Iterator[None]:
    """Turn errors of the operating system into errors that name the path."""
    try:
        yield
    except GeodimError:
        raise
    except OSError as error:
        reason = REASONS.get(error.errno or 0)
        if reason is None:
            reason = error.strerror or str(error)
            reason += f" ({error.filename})" if error.filename not in (None, str(path)) else ""
        raise _cannot(path, reason, verb) from error


def _cannot(path: str | Path, reason: str, verb: str = "write") -> DataFileError:
    return DataFileError(f"cannot {verb} {path}: {reason}")


def make_folder(folder: Path, way_out: str = "choose another") -> None:
    """Make a folder, and those above it, unless it exists."""
    try:
        with naming(folder, "make the folder"):
            folder.mkdir(parents=True, exist_ok=True)
    except DataFileError as error:
        raise DataFileError(f"{error}; {way_out}") from error


# ---------------------------------------------------------------- where a path leads


@dataclass(frozen=True)
class _Place:
    """A file to replace, which may not exist yet, or a device or pipe to write to as it is."""

    path: Path
    before: os.stat_result | None
    as_it_is: bool = False

    def same(self, other: _Place) -> bool:
        """Return whether both lead to one file; devices may be written to twice."""
        if self.as_it_is or other.as_it_is:
            return False
        if self.before is None or other.before is None:
            return self.path == other.path
        return os.path.samestat(self.before, other.before)


def _look(path: str | Path) -> _Place:
    """Find out where a path leads, and raise if nothing can be written there."""
    target = Path(path)
    with naming(target):
        try:
            before = target.stat()
        except (FileNotFoundError, NotADirectoryError):
            before = None
        if before is not None:
            if stat.S_ISDIR(before.st_mode):
                raise _cannot(target, "it is a folder")
            if stat.S_ISBLK(before.st_mode) or stat.S_ISSOCK(before.st_mode):
                raise _cannot(target, "it is a disk or a socket")
            named = str(target.absolute()).startswith(OPEN_FILES)
            if named or not stat.S_ISREG(before.st_mode):
                return _Place(target, before, as_it_is=True)
            if _stream(before) is not None:
                raise _cannot(target, "what the program prints goes to the same file")
            if not before.st_mode & 0o222 or not os.access(target, os.W_OK):
                raise _cannot(target, "it is read-only; choose another name, or make it writable")
        real = Path(os.path.realpath(target))
        if not real.parent.is_dir():
            raise _cannot(target, f"there is no folder {real.parent}")
        if not os.access(real.parent, os.W_OK | os.X_OK):
            raise _cannot(target, f"the folder {real.parent} cannot be written")
        return _Place(real, before)


def _stream(found: os.stat_result) -> int | None:
    """Return the standard stream that is this file, if one is."""
    for descriptor in (1, 2):
        with contextlib.suppress(OSError):
            if os.path.samestat(found, os.fstat(descriptor)):
                return descriptor
    return None


def check_output(path: str | Path) -> None:
    """Raise what `writing` would raise, before anything is computed."""
    _look(path)


def check_outputs(outputs: Mapping[str, Path | None], inputs: Iterable[str | Path | None] = ()) -> None:
    """Raise unless every output can be written and is apart from inputs and other outputs.

    None may be an input or lie in one, and no two may be the same file.

    Parameters
    ----------
    outputs
        Paths by the names of their options; None means no output.
    inputs
        Files and folders that are read.  They need not exist; ``points.npz:key`` is
        the file before the colon.
    """
    places = {option: _look(path) for option, path in outputs.items() if path is not None}
    for option, place in places.items():
        for source in filter(None, inputs):
            if _is_read(place, Path(_file_of(str(source)))):
                what = f"{option} would overwrite {source}, which is an input"
                raise _cannot(outputs[option] or "", f"{what}; choose another name")
        for other, its_place in places.items():
            if other != option and place.same(its_place):
                raise _cannot(outputs[option] or "", f"{option} and {other} are the same file")


def _file_of(source: str) -> str:
    head, colon, _ = source.partition(".npz:")
    return f"{head}.npz" if colon else source


def _is_read(place: _Place, source: Path) -> bool:
    try:
        found = source.stat()
    except OSError:
        return False
    if place.as_it_is:
        return False
    if stat.S_ISDIR(found.st_mode):
        return place.path.is_relative_to(os.path.realpath(source))
    return place.before is not None and os.path.samestat(place.before, found)


# ---------------------------------------------------------------- writing


class _File(io.FileIO):
    """A file that remembers why it could not be written.

    Zip and image writers raise something else in the end.
    """

    failure: OSError | None = None

    def write(self, data: ReadableBuffer) -> int:
        try:
            return super().write(data)
        except OSError as error:
            self.failure = self.failure or error
            raise


@contextlib.contextmanager
def writing(path: str | Path) -> Iterator[IO[bytes]]:
    """Open a file for writing.

    The new content replaces the old at the end, if nothing went wrong.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with writing(Path(folder, "a.txt")) as stream:
    ...         _ = stream.write(b"whole")
    ...     Path(folder, "a.txt").read_bytes()
    b'whole'
    """
    place = _look(path)
    with naming(path):
        if place.as_it_is:
            with _opened(place) as raw, _filling(raw) as stream:
                yield stream
            return
        with temporary_file(place.path.parent) as temporary:
            raw = _File(temporary.descriptor, "wb", closefd=False)
            with _filling(raw) as stream:
                yield stream
            _keep_rights(temporary.descriptor, place.before)
            os.fsync(temporary.descriptor)
            temporary.replace(place.path)


@contextlib.contextmanager
def _opened(place: _Place) -> Iterator[_File]:
    """Open a device or pipe; a standard stream is continued, not opened again at its beginning."""
    assert place.before is not None
    stream = _stream(place.before)
    if stream is None:
        descriptor = os.open(place.path, os.O_WRONLY | getattr(os, "O_NOCTTY", 0))
    else:
        with contextlib.suppress(AttributeError, ValueError):  # none, or closed
            (sys.stdout if stream == 1 else sys.stderr).flush()
        descriptor = os.dup(stream)
    with _File(descriptor, "wb") as raw:
        yield raw


@contextlib.contextmanager
def _filling(raw: _File) -> Iterator[IO[bytes]]:
    """Put a buffer before the file; if it cannot be written, that error is raised instead of later ones."""
    buffer = io.BufferedWriter(raw, 1 << 18)
    try:
        yield buffer
        buffer.flush()
    except Exception as error:
        if raw.failure is not None and raw.failure is not error:
            raise raw.failure from error
        raise
    finally:
        raw.close()  # first: what a failed write left in the buffer is not tried again


def _keep_rights(descriptor: int, before: os.stat_result | None) -> None:
    """Give the new file the owner, as far as that is allowed, and the mode of the old one."""
    if sys.platform == "win32" or before is None:  # files on Windows have neither
        return
    mode = stat.S_IMODE(before.st_mode)
    new = os.fstat(descriptor)
    if (new.st_uid, new.st_gid) != (before.st_uid, before.st_gid):
        try:
            os.fchown(descriptor, before.st_uid, before.st_gid)
        except OSError:
            mode &= 0o777  # set-user-ID means something else with another owner
            with contextlib.suppress(OSError):
                os.fchown(descriptor, -1, before.st_gid)
    os.fchmod(descriptor, mode)


def json_text(values: object, path: str | Path | None = None) -> str:
    """Return JSON text with one value per line; also write it to ``path`` (whole or not at all) if given."""
    text = json.dumps(values, indent=1, allow_nan=False) + "\n"
    if path is not None:
        write_text(path, text)
    return text


def write_text(path: str | Path, text: str) -> None:
    """Write a text file in UTF-8; bytes of other encodings, as names may contain them, are escaped."""
    with writing(path) as stream:
        stream.write(text.encode("utf-8", "backslashreplace"))
