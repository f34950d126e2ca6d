"""Matrices of distances, checked before anything is computed from them."""

from __future__ import annotations

import math
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import numpy as np

from geodim.data.convert import array_of, plain_array
from geodim.data.shapes import check_shape, check_type
from geodim.data.sources import ArraySource
from geodim.data.unchanged import Watch
from geodim.errors import InputValueError, NonFiniteError, ShapeError

if TYPE_CHECKING:
    from numpy.typing import NDArray

ROWS = 512  # rows checked at a time: whole pages of the columns that must be the same
EXACT = 2.0**53  # whole numbers up to this are float64
FAULTS = {
    2: "is negative: distances are not",
    3: "is the distance of a point from itself, which must be 0",
    5: "is an integer beyond 2^53, which float64 rounds: divide, or convert to float64 yourself",
}


def distance_matrix(data: object, n_threads: int = 1) -> NDArray[Any]:
    """Return the matrix if it holds distances: square, finite, not negative, symmetric, diagonal 0.

    Parameters
    ----------
    data : array-like of shape (n, n)
        Memory maps are read in blocks of rows and never copied.
    n_threads : int
        Threads to check with.
    """
    matrix = plain_array(data) if isinstance(data, np.ndarray) else array_of(data)
    check_type(matrix.dtype, "the matrix of distances")
    check_shape(matrix.shape)
    if matrix.shape[0] != matrix.shape[1]:
        msg = (
            f"a matrix of distances has as many rows as columns, and this has shape {matrix.shape}: for "
            "distances to some points only, give the values as columns with features='coordinates'"
        )
        raise ShapeError(msg)
    if matrix.dtype == np.float16 or not matrix.dtype.isnative:
        matrix = matrix.astype(np.float64)
    from geodim.families._kernels import first_fault  # noqa: PLC0415 - imports Numba

    plain = matrix.view(np.ndarray)  # compiled code does not accept memory maps
    n, most = len(matrix), EXACT if matrix.dtype.kind in "iu" else math.inf
    pages = ArraySource(matrix)

    def check(block: tuple[int, int]) -> tuple[int, int, int]:
        found: tuple[int, int, int] = first_fault(plain, *block, most)
        pages.let_go()
        return found

    with Watch.of(matrix), ThreadPoolExecutor(n_threads) as pool:
        blocks = [(first, min(first + ROWS, n)) for first in range(0, n, ROWS)]
        for row, column, fault in pool.map(check, blocks):
            if fault:
                raise _fault(plain, int(row), int(column), int(fault))
    return matrix


def _fault(matrix: NDArray[Any], row: int, column: int, fault: int) -> InputValueError:
    value, other = matrix[row, column].item(), matrix[column, row].item()
    where = f"entry ({row}, {column}) of the matrix of distances"
    if fault == 1:
        return NonFiniteError(f"{where} is {value}: give a finite distance for every pair, or drop points")
    if fault == 4:
        return InputValueError(
            f"{where} is {value!r}, and entry ({column}, {row}) is {other!r}: distances are "
            "symmetric; where only rounding is to blame, use (D + D.T) / 2"
        )
    return InputValueError(f"{where} is {value!r}, and {FAULTS[fault]}")
