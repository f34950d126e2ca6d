"""Numbers from gzipped CSV files, block by block, with numpy alone.

OGB ships its graphs as headerless ``.csv.gz``. Blocks of text are cut at line ends and parsed by numpy's
C reader, so that memory is bounded by the block and no data frame package is needed (60 million edges
take about ten seconds).
"""

from __future__ import annotations

import csv
import gzip
import warnings
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from geodim.data.boundary import boundary, check_regular
from geodim.errors import DataFileError
from geodim.memory import check_bytes

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from numpy.typing import DTypeLike, NDArray

__all__ = ["count_columns", "iter_blocks", "read_column", "read_table"]

BLOCK_BYTES = 16 << 20
LONGEST_LINE = 16 << 20
MOST_TABLE = 1 << 20


def count_columns(path: Path) -> int:
    """Return the number of fields in the first line."""
    with _opened(path) as file:
        line = file.readline(LONGEST_LINE)
    _check_line(path, line)
    return line.count(b",") + 1 if line.strip() else 0


@contextmanager
def _opened(path: Path) -> Iterator[gzip.GzipFile]:
    check_regular(path)
    with boundary(path, "gzip file"), gzip.open(path, "rb") as file:
        yield file


def _check_line(path: Path, text: bytes) -> None:
    """Raise for an endless line: a few bytes of a gzip file can unpack to gigabytes."""
    if len(text) >= LONGEST_LINE and not text.endswith(b"\n"):
        raise DataFileError(
            f"{path}: has a line of more than {LONGEST_LINE:,} bytes, which is not a row of numbers"
        )


def _iter_lines(path: Path, block_bytes: int) -> Iterator[bytes]:
    """Yield the decompressed text in pieces that end at line ends."""
    rest = b""
    with _opened(path) as file:
        while piece := file.read(min(block_bytes, BLOCK_BYTES)):
            cut = piece.rfind(b"\n") + 1
            if cut:
                yield rest + piece[:cut]
                rest = piece[cut:]
            else:
                rest += piece
                _check_line(path, rest)
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
                f"{path}: lines {line + 1} to {line + rows} hold {values.size} "
                f"numbers, expected {columns} in each"
            )
        line += rows
        yield values.reshape(rows, columns).astype(target, copy=False)


def read_column(path: Path, *, block_bytes: int = BLOCK_BYTES) -> NDArray[np.int64]:
    """Read a file with one whole number per line."""
    blocks: list[NDArray[np.int64]] = []
    for block in iter_blocks(path, 1, np.int64, block_bytes=block_bytes):
        blocks.append(block[:, 0])
        check_bytes(sum(one.nbytes for one in blocks), f"the column {path}", "take a larger machine")
    return np.concatenate(blocks) if blocks else np.empty(0, dtype=np.int64)


def read_table(path: Path) -> list[list[str]]:
    """Read a small table of text, for example the list of relations."""
    with _opened(path) as file:
        text = file.read(MOST_TABLE + 1)
        if len(text) > MOST_TABLE:
            raise DataFileError(f"{path}: expected a small table, found more than {MOST_TABLE:,} bytes")
        return [row for row in csv.reader(text.decode("utf-8").splitlines()) if row]
