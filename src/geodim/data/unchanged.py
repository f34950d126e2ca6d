"""A guard against files that change while they are read.

What is read twice, or piece by piece, is one data set only if nobody writes to it in between.  A `Watch`
notes size, modification time and inode of the files behind some data before anything is read, and compares
them after every read: an answer from two mixed versions of a file is never given.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self
from weakref import WeakKeyDictionary

import numpy as np

from geodim.errors import DataChangedError

if TYPE_CHECKING:
    import mmap
    from collections.abc import Iterable, Iterator
    from types import TracebackType

ARRAYS_OF_SPARSE = ("data", "indices", "indptr", "row", "col")


@dataclass(frozen=True)
class FileState:
    """The state of a file, by which a later change is noticed."""

    path: Path
    size: int
    modified: int  # nanoseconds
    inode: int

    @classmethod
    def of(cls, path: Path) -> FileState | None:
        """Return the state of the file now; None if there is no such file."""
        try:
            found = path.stat()
        except OSError:
            return None
        return cls(path, found.st_size, found.st_mtime_ns, found.st_ino)

    def check(self) -> None:
        """Raise if the file has changed."""
        now = FileState.of(self.path)
        if now == self:
            return
        if now is None:
            what = "it is gone"
        elif now.inode != self.inode:
            what = "another file has taken its place"
        elif now.size != self.size:
            what = f"it had {self.size:,} bytes and has {now.size:,}"
        else:
            what = "it was written to"
        msg = f"{self.path} changed while it was read ({what}): read it again when nothing writes to it"
        raise DataChangedError(msg)


class Watch:
    """The states of the files behind some data before it was read.

    As a context it compares them at its end, even after an error.

    Parameters
    ----------
    states : iterable of FileState
        The states that must not change.
    """

    def __init__(self, states: Iterable[FileState]) -> None:
        self.states = tuple(states)

    @classmethod
    def of(cls, *things: object) -> Watch:
        """Watch the files behind some data; data without files has none.

        They are found behind paths, folders, memory maps, and sparse matrices and sequences of these.
        """
        return cls({state.path: state for thing in things for state in _behind(thing)}.values())

    def check(self) -> None:
        """Raise if a file has changed."""
        for state in self.states:
            state.check()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is None or isinstance(error, Exception):
            self.check()  # the error before may be just a consequence; it stays as the context


_opened: WeakKeyDictionary[mmap.mmap, FileState] = WeakKeyDictionary()


def remember(array: np.memmap[Any, Any], watch: Watch) -> None:
    """Note the state of a mapped file before it was opened: changes since then count as well."""
    if watch.states:
        _opened[array._mmap] = watch.states[0]  # type: ignore[attr-defined]


def _behind(thing: object) -> Iterator[FileState]:
    if isinstance(thing, str | os.PathLike):
        path = Path(thing)
        paths = sorted(path.rglob("*")) if path.is_dir() else [path]
        yield from filter(None, (FileState.of(one) for one in paths if one.is_file()))
    elif isinstance(thing, np.ndarray):
        mapped = _map_of(thing)
        if mapped is not None:
            opened: mmap.mmap = mapped._mmap  # type: ignore[attr-defined]
            if mapped.mode in ("r+", "w+"):  # what this process wrote before does not count as a change
                opened.flush()
            state = _opened.get(opened) or FileState.of(Path(str(mapped.filename)))
            if state is not None:
                yield state
    elif isinstance(thing, tuple | list):
        for one in thing:
            if isinstance(one, np.ndarray):
                yield from _behind(one)
    elif hasattr(thing, "tocsr"):
        for name in ARRAYS_OF_SPARSE:
            yield from _behind(getattr(thing, name, None))


def _map_of(array: object) -> np.memmap[Any, Any] | None:
    """Return the memory map of a file that an array is a view of, or None."""
    while isinstance(array, np.ndarray):
        if isinstance(array, np.memmap) and getattr(array, "_mmap", None) is not None and array.filename:
            return array
        array = array.base
    return None
