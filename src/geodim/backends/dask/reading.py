"""Reading on the workers: examining a chunk, cutting out its columns, and joining whole columns.

A chunk is a part of some rows and some columns, as the Dask array or frame has it.  A block holds whole
columns, in pieces as the chunks have them, each of shape (columns, points): by rows of chunks, and in each
row by columns of chunks.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from geodim.data.checks import Moments, scan_moments
from geodim.data.shapes import check_type, working_type
from geodim.data.sources import ArraySource, WeightedSource, as_source
from geodim.data.sparse import checked_sparse
from geodim.errors import InputTypeError, NonFiniteError, ShapeError

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray
    from scipy.sparse import csc_array

    from geodim.data.sources import ColumnSource
    from geodim.data.sparse import SparseMatrix

    Chunk: TypeAlias = NDArray[Any] | pd.DataFrame | SparseMatrix
    Pieces = list[list[NDArray[np.floating]]]
    Block: TypeAlias = list[list[NDArray[np.floating] | csc_array]]  # of data that came from the client


@dataclass(frozen=True)
class Look:
    """What a first look at a chunk finds: moments and a sample, or the first value that is not finite."""

    n_rows: int
    moments: Moments | None
    sample: NDArray[np.floating]
    wrong: tuple[int, int, float] | None = None


@dataclass(frozen=True)
class Declared:
    """What a Dask array or frame declares about one of its chunks, which may turn out to be wrong."""

    where: str
    rows: int | None  # unknown, in a frame that was not counted
    columns: int
    dtype: np.dtype[np.floating]  # in which the values are read

    def of_columns(self, count: int) -> Declared:
        """Return what it declares about some of the columns."""
        return replace(self, columns=count)


def as_declared(chunk: Chunk, declared: Declared) -> Chunk:
    """Return the chunk if it is as declared: buffer sizes and the type of all values depend on that."""
    shape = tuple(np.shape(chunk))
    if len(shape) != 2 or shape[1] != declared.columns or declared.rows not in (None, shape[0]):
        rows = "some" if declared.rows is None else declared.rows
        msg = (
            f"{declared.where} has the shape {shape}, and {rows} rows and {declared.columns} columns were "
            "declared: tell Dask the chunks that its functions return, or call compute_chunk_sizes()"
        )
        raise ShapeError(msg)
    if not hasattr(chunk, "dtypes"):  # a frame is examined column by column
        kind = chunk.dtype
        check_type(kind, declared.where)
        if working_type(kind).itemsize > declared.dtype.itemsize:
            msg = (
                f"{declared.where} has the type {kind}, and one that {declared.dtype} holds was declared: "
                "tell Dask the dtype (or meta) that its functions return, or convert the data with astype"
            )
            raise InputTypeError(msg)
    return chunk


def as_numbers(chunk: Chunk, declared: Declared) -> NDArray[Any]:
    """Return the values of a chunk: an array as it is, a frame or a sparse matrix made dense."""
    dtype = declared.dtype
    chunk = as_declared(chunk, declared)
    if isinstance(chunk, np.ndarray):
        return chunk
    if hasattr(chunk, "toarray"):
        dense: NDArray[Any] = checked_sparse(chunk).toarray()  # a bad index would kill the worker
        return dense
    if hasattr(chunk, "dtypes") and all(kind == dtype for kind in chunk.dtypes):
        plain: NDArray[Any] = chunk.to_numpy()  # no copy, for a frame of columns of one type
        return plain
    if len(chunk) == 0:
        return np.empty(chunk.shape, dtype)
    source = as_source(chunk)
    if source.dtype.itemsize > dtype.itemsize:
        msg = (
            f"{declared.where} has columns that need {source.dtype}, and ones that {dtype} holds were "
            "declared: tell Dask the meta that its functions return, or convert the data with astype"
        )
        raise InputTypeError(msg)
    out = np.empty((source.n_features, source.n_points), dtype)
    source.read(range(source.n_features), out)
    return out.T


def look(chunk: Chunk, declared: Declared, rows: NDArray[np.intp], weights: NDArray[np.int64] | None) -> Look:
    """Make the first pass over one chunk; ``rows`` are those of the sample."""
    values = as_numbers(chunk, declared)
    sample = values[rows].astype(declared.dtype)
    if values.shape[0] == 0 or (weights is not None and not weights.any()):
        return Look(len(values), None, sample)
    source: ColumnSource = ArraySource(values)
    if weights is not None:
        source = WeightedSource(source, weights)
    try:
        return Look(len(values), scan_moments(source), sample)
    except NonFiniteError:
        finite = np.isfinite(values)
        if weights is not None:
            finite[weights == 0] = True
        row, column = (int(at) for at in np.argwhere(~finite)[0])
        return Look(len(values), None, sample, (row, column, float(values[row, column])))


def look_at_columns(
    chunk: NDArray[np.floating],
    declared: Declared,
    rows: NDArray[np.intp],
    weights: NDArray[np.int64] | None,
) -> Look:
    """Return the same for a chunk that was turned into columns."""
    return look(chunk.T, declared, rows, weights)


def take_sample(chunk: Chunk, declared: Declared, rows: NDArray[np.intp]) -> NDArray[np.floating]:
    """Return some rows of a chunk."""
    return as_numbers(chunk, declared)[rows].astype(declared.dtype)


def rows_of(pieces: Pieces, rows: NDArray[np.intp]) -> NDArray[np.floating]:
    """Return some rows of whole columns."""
    edges = np.cumsum([0, *(row[0].shape[1] for row in pieces)])
    at = np.searchsorted(rows, edges)
    return put_together(
        [[piece[:, rows[at[i] : at[i + 1]] - edges[i]] for piece in row] for i, row in enumerate(pieces)]
    ).T


def turned(chunk: Chunk, declared: Declared, columns: NDArray[np.intp]) -> NDArray[np.floating]:
    """Return some columns of a chunk, one after the other; not copied if that is how they lie."""
    dtype = declared.dtype
    chunk = as_declared(chunk, declared)
    if not isinstance(chunk, np.ndarray):
        if columns.size < chunk.shape[1]:
            chunk = chunk.iloc[:, columns] if hasattr(chunk, "iloc") else chunk[:, columns]
        values = as_numbers(chunk, declared.of_columns(columns.size))
        return np.ascontiguousarray(values.T, dtype)
    if chunk.dtype == dtype and chunk.flags.f_contiguous and columns.size == chunk.shape[1]:
        return chunk.T
    out = np.empty((columns.size, chunk.shape[0]), dtype)
    if chunk.shape[0]:
        ArraySource(chunk).read(columns.tolist(), out)
    return out


def cut(turned_chunk: NDArray[np.floating], columns: NDArray[np.intp]) -> NDArray[np.floating]:
    """Return some of the columns; neighbours are not copied."""
    first, stop = int(columns[0]), int(columns[-1]) + 1
    return turned_chunk[first:stop] if stop - first == columns.size else turned_chunk[columns]


def gathered(pieces: Pieces) -> Pieces:
    """Return the pieces of a block, now on one worker; nothing is copied there."""
    return pieces


def joined(rounds: list[Pieces]) -> Pieces:
    """Return the pieces of a block that came in several rounds."""
    return [row for pieces in rounds for row in pieces]


def cut_block(pieces: Pieces, columns: NDArray[np.intp]) -> NDArray[np.floating]:
    """Return some columns of a block, whole."""
    if len(pieces) == len(pieces[0]) == 1:
        return cut(pieces[0][0], columns)
    return np.stack([column_of(pieces, int(column)) for column in columns])


def column_of(pieces: Pieces, column: int, out: NDArray[np.floating] | None = None) -> NDArray[np.floating]:
    """Return one whole column of a block, put together in ``out`` unless it lies in one piece."""
    which = 0
    while column >= pieces[0][which].shape[0]:
        column -= pieces[0][which].shape[0]
        which += 1
    if len(pieces) == 1:
        whole: NDArray[np.floating] = pieces[0][which][column]
        return whole
    return np.concatenate([row[which][column] for row in pieces], out=out)


def put_together(pieces: Pieces) -> NDArray[np.floating]:
    """Return all columns of a block, one after the other."""
    if len(pieces) == len(pieces[0]) == 1:
        whole: NDArray[np.floating] = pieces[0][0]
        return whole
    width = sum(piece.shape[0] for piece in pieces[0])
    length = sum(row[0].shape[1] for row in pieces)
    block = np.empty((width, length), pieces[0][0].dtype)
    for column in range(width):
        column_of(pieces, column, block[column])
    if len(pieces) == 1:
        np.concatenate(pieces[0], out=block)
    return block


def digest(chunk: Chunk, declared: Declared) -> bytes:
    """Return a digest of the values of one chunk."""
    values = np.ascontiguousarray(as_numbers(chunk, declared))
    return blake2b(values.tobytes(), digest_size=16).digest()
