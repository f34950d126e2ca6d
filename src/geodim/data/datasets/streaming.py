"""Arrays too large for memory: from inside an ``.npz`` to ``.npy`` files, a chunk at a time.

An ``.npz`` is a zip archive of ``.npy`` members, stored or deflated, and numpy can only load a member
whole. Here a member's header is read from the zip stream and its numbers follow in chunks; at no time is
more than a few chunks held. The zip module checks each member's CRC when its end is reached, and reads
members beyond 4 GB (zip64).
"""

from __future__ import annotations

import contextlib
import math
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Any, Self

import numpy as np
from numpy.lib import format as npy

from geodim.data.boundary import boundary, check_regular
from geodim.errors import DataFileError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from types import TracebackType

    from numpy.typing import DTypeLike, NDArray

__all__ = ["MemberStream", "NpyWriter", "open_member", "read_member", "stream_member"]

CHUNK_BYTES = 64 << 20
# The zip module makes several copies of what is read at once; small pieces keep them small.
PIECE_BYTES = 64 << 10
ARRAY = ".npy array in an archive"

Check = Callable[["NDArray[Any]"], None]


class NpyWriter:
    """Write an ``.npy`` file of known shape piece by piece, never through a memory map.

    Parameters
    ----------
    path
        The file to create.
    shape, dtype
        Of the whole array.
    fortran_order
        Whether the values come column by column. The header records it, so that a reader sees the same array.
    """

    def __init__(
        self, path: Path, shape: tuple[int, ...], dtype: DTypeLike, *, fortran_order: bool = False
    ) -> None:
        self.path = path
        self.shape = tuple(int(size) for size in shape)
        self.dtype = np.dtype(dtype)
        self._left = math.prod(self.shape)
        self._file: IO[bytes] = path.open("wb")
        header = {
            "descr": npy.dtype_to_descr(self.dtype),
            "fortran_order": fortran_order,
            "shape": self.shape,
        }
        npy.write_array_header_1_0(self._file, header)
        self._start = self._file.tell()

    def append(self, block: NDArray[Any]) -> None:
        """Write the next values, in the order of the file."""
        self._count(block.size)
        self._write(block)

    def put_columns(self, start: int, block: NDArray[Any]) -> None:
        """Write ``block`` into columns ``start`` and on of a two-dimensional array in C order.

        Meant for few rows, such as the two of an edge list: one seek and one write per row.
        """
        rows, columns = self.shape
        if block.shape[0] != rows or start < 0 or start + block.shape[1] > columns:
            raise DataFileError(f"{self.path}: more columns than the {columns} announced")
        self._count(block.size)
        for row, values in enumerate(block):
            self._file.seek(self._start + (row * columns + start) * self.dtype.itemsize)
            self._write(values)

    def _count(self, size: int) -> None:
        self._left -= size
        if self._left < 0:
            raise DataFileError(f"{self.path}: more values than the {self.shape} announced")

    def _write(self, block: NDArray[Any]) -> None:
        if block.size:
            self._file.write(np.ascontiguousarray(block, dtype=self.dtype).data.cast("B"))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()
        if kind is None and self._left:
            raise DataFileError(f"{self.path}: {self._left} values fewer than the {self.shape} announced")


@dataclass(frozen=True)
class MemberStream:
    """An open ``.npy`` member: what its header says, and an iterator over its values."""

    label: str
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    fortran_order: bool
    _file: IO[bytes]

    def chunks(self, chunk_bytes: int = CHUNK_BYTES, *, multiple: int = 1) -> Iterator[NDArray[Any]]:
        """Yield all values, flat, in the file's order; each chunk's length is a multiple of ``multiple``."""
        left = math.prod(self.shape)
        step = max(1, chunk_bytes // (self.dtype.itemsize * multiple)) * multiple
        while left:
            count = min(step, left)
            data = self._read_exactly(count * self.dtype.itemsize)
            left -= count
            yield np.frombuffer(data, dtype=self.dtype)
        # Reaching the end of the member is what makes the zip module compare its CRC.
        if self._read(1):
            raise DataFileError(f"{self.label}: more data than its header announces")

    def _read(self, size: int) -> bytes:
        with boundary(self.label, ARRAY):
            return self._file.read(size)

    def _read_exactly(self, size: int) -> bytearray:
        buffer = bytearray(size)
        view, filled = memoryview(buffer), 0
        while filled < size:
            piece = self._read(min(size - filled, PIECE_BYTES))
            if not piece:
                raise DataFileError(f"{self.label}: truncated, {size - filled} bytes are missing")
            view[filled : filled + len(piece)] = piece
            filled += len(piece)
        return buffer


@contextlib.contextmanager
def open_member(path: Path, member: str) -> Iterator[MemberStream]:
    """Open one array inside an ``.npz`` for streaming.

    Parameters
    ----------
    path
        The archive.
    member
        The array's name, without ``.npy``.

    Yields
    ------
    MemberStream
        Nothing but plain numbers is accepted; arrays of Python objects (pickles) are refused.
    """
    label = f"{path} [{member}]"
    with contextlib.ExitStack() as stack:
        check_regular(path)
        with boundary(label, ARRAY):
            archive = stack.enter_context(zipfile.ZipFile(path))
            if f"{member}.npy" not in archive.namelist():
                raise DataFileError(f"{path}: has no array {member!r}")
            stream = _read_header(label, stack.enter_context(archive.open(f"{member}.npy")))
        yield stream


def _read_header(label: str, file: IO[bytes]) -> MemberStream:
    version = npy.read_magic(file)
    if version not in ((1, 0), (2, 0)):
        raise DataFileError(f"{label}: .npy version {version} is not supported")
    read_header = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
    shape, fortran_order, dtype = read_header(file)
    if dtype.kind not in "biuf":
        raise DataFileError(f"{label}: holds {dtype}, not plain numbers")
    return MemberStream(label, tuple(shape), dtype, bool(fortran_order), file)


def read_member(path: Path, member: str, *, limit: int = 1 << 20) -> NDArray[Any]:
    """Read a small array (such as ``num_nodes_list``) whole; more than ``limit`` bytes are refused."""
    with open_member(path, member) as stream:
        if math.prod(stream.shape) * stream.dtype.itemsize > limit:
            raise DataFileError(f"{stream.label}: expected a small array, found shape {stream.shape}")
        values = [*stream.chunks()]
        flat = np.concatenate(values) if values else np.empty(0, dtype=stream.dtype)
        return flat.reshape(stream.shape, order="F" if stream.fortran_order else "C")


def stream_member(
    source: Path,
    member: str,
    target: Path,
    *,
    shape: tuple[int, ...],
    dtype: DTypeLike,
    convert: Callable[[NDArray[Any]], NDArray[Any]] | None = None,
    check: Check | None = None,
    c_order: bool = False,
    chunk_bytes: int = CHUNK_BYTES,
) -> None:
    """Copy one array from an ``.npz`` to an ``.npy``, holding about two chunks.

    Parameters
    ----------
    source, member
        The archive and the array in it.
    target
        The file to write.
    shape
        The shape to expect; axes of length 1 are ignored, so that labels of shape (n, 1) become (n,).
    dtype
        The type to write.
    convert
        Applied to each flat chunk before it is written (NaN to -1, for example).
    check
        Called with each converted chunk, to raise if a value is not acceptable.
    c_order
        Write a (few, many) array row by row even if the source holds it column by column. Otherwise the
        source's order is kept: a memory map of either order is the same array.
    chunk_bytes
        How much to hold at once.
    """
    with open_member(source, member) as stream:
        if tuple(size for size in stream.shape if size != 1) != tuple(size for size in shape if size != 1):
            raise DataFileError(f"{stream.label}: has shape {stream.shape}, expected {shape}")
        transpose = c_order and stream.fortran_order and len(shape) == 2
        multiple = shape[0] if transpose else 1
        written = 0
        with NpyWriter(target, shape, dtype, fortran_order=stream.fortran_order and not transpose) as writer:
            for chunk in stream.chunks(chunk_bytes, multiple=multiple):
                values = chunk if convert is None else convert(chunk)
                if check is not None:
                    check(values)
                if transpose:
                    columns = values.reshape(-1, shape[0]).T
                    writer.put_columns(written, columns)
                    written += columns.shape[1]
                else:
                    writer.append(values)
