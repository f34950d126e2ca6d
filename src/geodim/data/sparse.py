"""Sparse matrices, checked before compiled code sees them.

Scipy's own compiled code checks no index, so one out of range kills the process.  Matrices from files, built
by hand, or written to after they were made all pass through `checked_sparse`.  It looks at every index once,
O(number of entries): 0.4 ms for a million entries and a million rows, next to 9 ms to convert to columns.
"""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from geodim.engine.steps import MOST_POINTS
from geodim.errors import InputTypeError, InputValueError, ShapeError
from geodim.memory import check_bytes

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from scipy.sparse import csc_array, csc_matrix, sparray, spmatrix

    SparseMatrix: TypeAlias = sparray | spmatrix  # in any format

POSITION_BYTES = 8
# Noted by scipy, which does not reset them when arrays are written to.
REMEMBERED = (
    "_has_canonical_format",
    "_has_sorted_indices",
)


def as_columns(matrix: SparseMatrix) -> csc_array | csc_matrix:
    """Return the same matrix by columns, checked, entries sorted and each at most once.

    The given matrix is not changed.
    """
    matrix = checked_sparse(matrix)
    try:
        csc = copy.copy(matrix.tocsc())
    except (ValueError, TypeError, OverflowError, IndexError) as error:
        raise _damaged(f"it cannot be brought into columns ({error})") from error
    for flag in REMEMBERED:
        vars(csc).pop(flag, None)
    if not csc.has_canonical_format:
        csc = csc.copy()
        csc.sum_duplicates()
    return csc


def checked_sparse(matrix: SparseMatrix) -> SparseMatrix:
    """Return the matrix in a format that consists of arrays.

    Raises if these do not fit together: compiled code would read past their ends.
    """
    if len(matrix.shape) != 2:
        msg = f"expected a sparse matrix of points by features (2 axes), got shape {tuple(matrix.shape)}"
        raise ShapeError(msg)
    if matrix.format in ("lil", "dok"):  # their rows exist as lists, or are only counted
        matrix = _from_lists(matrix)
    rows, columns = (int(size) for size in matrix.shape)
    if rows > MOST_POINTS:
        msg = f"a sparse matrix of {rows:,} rows: more than {MOST_POINTS:,.0f} points cannot be counted"
        raise ShapeError(msg)
    check_bytes(POSITION_BYTES * (columns + 1), f"a sparse matrix of {columns:,} columns")
    if matrix.format in ("dia", "bsr"):  # which scipy converts to rows first
        check_bytes(POSITION_BYTES * (rows + 1), f"a sparse matrix of {rows:,} rows", "give it as csc")
    if matrix.format == "csr":
        _check_compressed(matrix, rows, columns, ("rows", "columns"))
    elif matrix.format == "csc":
        _check_compressed(matrix, columns, rows, ("columns", "rows"))
    elif matrix.format == "bsr":
        _check_blocks(matrix, rows, columns)
    elif matrix.format == "coo":
        _check_coordinates(matrix, rows, columns)
    elif matrix.format == "dia":
        _check_diagonals(matrix)
    else:
        msg = f"sparse matrices in format {matrix.format!r} are not supported: convert it with tocsr()"
        raise InputTypeError(msg)
    return matrix


def _from_lists(matrix: SparseMatrix) -> SparseMatrix:
    """Convert lists and dictionaries to arrays, by scipy's Python code.

    Their lengths are compared before scipy's compiled code copies them.
    """
    if matrix.format == "lil":
        pairs = list(zip(matrix.rows, matrix.data, strict=False))
        for row, (places, values) in enumerate(pairs):
            if len(places) != len(values):
                raise _damaged(f"row {row} has {len(places)} columns and {len(values)} values")
        if len(pairs) != matrix.shape[0]:
            raise _damaged(f"there are {len(pairs)} lists for {matrix.shape[0]} rows")
    try:
        return matrix.tocsr() if matrix.format == "lil" else matrix.tocoo()
    except (ValueError, TypeError, OverflowError) as error:
        raise _damaged(str(error)) from error


def _check_compressed(matrix: SparseMatrix, lines: int, across: int, names: tuple[str, str]) -> None:
    """Check rows of CSR, columns of CSC, or rows of blocks of BSR."""
    _check_index(matrix.indptr, "indptr", lines + 1, f"{lines} {names[0]}")
    starts = matrix.indptr
    if starts[0] != 0:
        raise _damaged(f"indptr begins with {starts[0]}, not with 0")
    if np.any(starts[1:] < starts[:-1]):
        at = int(np.flatnonzero(starts[1:] < starts[:-1])[0]) + 1
        raise _damaged(f"indptr falls from {starts[at - 1]} to {starts[at]} at {at}")
    used = int(starts[-1])
    _check_index(matrix.indices, "indices")
    for name, size in (("indices", matrix.indices.size), ("data", len(matrix.data))):
        if used > size:
            raise _damaged(f"indptr ends with {used}, but there are {size} {name}")
    _check_within(matrix.indices[:used], "indices", across, names[1])
    if matrix.format != "bsr":
        _check_values(matrix.data, 1)


def _check_blocks(matrix: SparseMatrix, rows: int, columns: int) -> None:
    _check_values(matrix.data, 3)
    high, wide = (int(size) for size in matrix.data.shape[1:])
    if high == 0 or wide == 0 or rows % high or columns % wide:
        raise _damaged(f"blocks of {high} x {wide} do not fill {rows} x {columns}")
    _check_compressed(matrix, rows // high, columns // wide, ("rows of blocks", "columns of blocks"))


def _check_coordinates(matrix: SparseMatrix, rows: int, columns: int) -> None:
    _check_values(matrix.data, 1)
    for name, size, what in (("row", rows, "rows"), ("col", columns, "columns")):
        places = getattr(matrix, name)
        _check_index(places, name, matrix.data.size, f"{matrix.data.size} values")
        _check_within(places, name, size, what)


def _check_diagonals(matrix: SparseMatrix) -> None:
    _check_values(matrix.data, 2)
    _check_index(matrix.offsets, "offsets", matrix.data.shape[0], f"{matrix.data.shape[0]} diagonals")
    if np.unique(matrix.offsets).size != matrix.offsets.size:
        raise _damaged("a diagonal occurs twice")
    if matrix.offsets.size:  # scipy subtracts them from sizes
        _check_within(np.abs(matrix.offsets.astype(np.float64)), "offsets", 2**31, "diagonals")


def _check_values(values: object, axes: int) -> None:
    if not isinstance(values, np.ndarray) or values.ndim != axes:
        raise _damaged(f"data is not an array of {axes} axes")


def _check_index(index: object, name: str, size: int | None = None, expected: str = "") -> None:
    if not isinstance(index, np.ndarray) or index.ndim != 1 or index.dtype.kind not in "iu":
        kind = f"{index.dtype}, {index.ndim} axes" if isinstance(index, np.ndarray) else type(index).__name__
        raise _damaged(f"{name} is not a list of integers ({kind})")
    if size is not None and index.size != size:
        raise _damaged(f"{name} has {index.size} entries for {expected}")


def _check_within(index: NDArray[Any], name: str, size: int, what: str) -> None:
    if index.size == 0:
        return
    for at in (int(index.argmin()), int(index.argmax())):
        if not 0 <= index[at] < size:
            raise _damaged(f"{name}[{at}] is {index[at]}, but there are {size} {what}")


def _damaged(what: str) -> InputValueError:
    return InputValueError(f"the sparse matrix is damaged: {what}; rebuild it from its values")
