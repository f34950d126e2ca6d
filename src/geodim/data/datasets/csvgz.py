"""Numbers from gzipped CSV files, block by block, with numpy alone.

OGB ships its graphs as headerless ``.csv.gz``. Blocks of text are cut at line ends and parsed by numpy's C reader, so
that memory is bounded by the block and no data frame package is needed (60 million edges take about ten seconds).
"""

from __future__ import annotations

import csv
import gzip
import warnings
import zlib
from typing import TYPE_CHECKING, Any

import numpy as np

from geodim.errors import DataFileError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from numpy.typing import DTypeLike, NDArray

__all__ = ["count_columns", "iter_blocks", "read_column", "read_table"]

BLOCK_BYTES = 16 << 20
# A truncated file, one that is not gzip, or one with flipped bits.
_GZIP_FAULTS = (EOFError, gzip.BadGzipFile, zlib.error)


def count_columns(path: Path) -> int:
    """Return the number of fields in the first line."""
    try:
        with gzip.open(path, "rb") as file:
            line = file.readline()
    except FileNotFoundError:
        raise DataFileError(f"{path}: no such file") from None
    except _GZIP_FAULTS as error:
        raise DataFileError(f"{path}: damaged or truncated gzip file ({error})") from error
    return line.count(b",") + 1 if line.strip() else 0


def _iter_lines(path: Path, block_bytes: int) -> Iterator[bytes]:
    """Yield the decompressed text in pieces that end at line ends."""
    rest = b""
    try:
        with gzip.open(path, "rb") as file:
            while piece := file.read(block_bytes):
                cut = piece.rfind(b"\n") + 1
                if cut:
                    yield rest + piece[:cut]
                    rest = piece[cut:]
                else:
                    rest += piece
    except FileNotFoundError:
        raise DataFileError(f"{path}: no such file") from None
    except _GZIP_FAULTS as error:
        raise DataFileError(f"{path}: damaged or truncated gzip file ({error})") from error
    if rest:
        yield rest + b"\n"


def iter_blocks(
    path: Path, columns: int, dtype: DTypeLike, *, block_bytes: int = BLOCK_BYTES
) -> Iterator[NDArray[Any]]:
    """Yield the table as arrays of shape ``(k, columns)``.

    Parameters
    ----------
    path
        A gzipped CSV file without a header.
    columns
        The number of fields in every line.
    dtype
        float32 numbers are read as float64 and then rounded, as OGB's reader does.
    block_bytes
        About how many bytes of text to hold at once.
    """
    target = np.dtype(dtype)
    parsed = np.dtype(np.float64) if target.kind == "f" else target
    line = 0
    for text in _iter_lines(path, block_bytes):
        rows = text.count(b"\n")
        try:
            with warnings.catch_warnings():
                # numpy before 2.3 only warns when the text is not all numbers.
                warnings.simplefilter("error", DeprecationWarning)
                values = np.fromstring(text.replace(b"\n", b","), dtype=parsed, sep=",")
        except (ValueError, DeprecationWarning) as error:
            raise DataFileError(
                f"{path}: lines {line + 1} to {line + rows} hold something that is not a number"
            ) from error
        if values.size != rows * columns:
            raise DataFileError(
                f"{path}: lines {line + 1} to {line + rows} hold {values.size} numbers, expected {columns} in each"
            )
        line += rows
        yield values.reshape(rows, columns).astype(target, copy=False)


def read_column(path: Path, *, block_bytes: int = BLOCK_BYTES) -> NDArray[np.int64]:
    """Read a file with one whole number per line."""
    blocks = [block[:, 0] for block in iter_blocks(path, 1, np.int64, block_bytes=block_bytes)]
    return np.concatenate(blocks) if blocks else np.empty(0, dtype=np.int64)


def read_table(path: Path) -> list[list[str]]:
    """Read a small table of text, for example the list of relations."""
    try:
        with gzip.open(path, "rt", encoding="utf-8", newline="") as file:
            return [row for row in csv.reader(file) if row]
    except FileNotFoundError:
        raise DataFileError(f"{path}: no such file") from None
    except (*_GZIP_FAULTS, UnicodeDecodeError, csv.Error) as error:
        raise DataFileError(f"{path}: damaged or truncated file ({error})") from error
