"""What the modules of :mod:`geodim.paper` share: checked input, the sum over k, the cost warning."""

from __future__ import annotations

import math
import warnings
from fractions import Fraction
from itertools import repeat
from numbers import Rational
from typing import TYPE_CHECKING, Any

import numpy as np

from geodim.errors import (
    InputTypeError,
    InputValueError,
    NonFiniteError,
    QuadraticCostWarning,
    RangeOverflowError,
    ShapeError,
)
from geodim.lists import as_array

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import ArrayLike, NDArray

    FloatArray = NDArray[np.float64]
    Numbers = NDArray[Any]  # float64, int64 or uint64

QUADRATIC_POINTS = 5_000
HELD = 2**53  # up to here float64 holds every integer
UNITS = 2**1074  # of the smallest float64 make 1


def _as_numbers(values: ArrayLike, name: str) -> Numbers:
    """Convert to float64; refuse what is not real and finite. Adding 0.0 turns -0.0 into 0.0.

    Integers that float64 does not hold stay what they are: their differences are
    exact, see :func:`difference`.
    """
    if isinstance(values, np.ma.MaskedArray):
        raise InputTypeError(
            f"{name} is a masked array, which has no meaning here: fill or drop the masked values"
        )
    try:
        array = as_array(values)
    except InputValueError:
        raise
    except ValueError as error:
        raise ShapeError(f"{name} is ragged: all its rows need the same length") from error
    if array.dtype.kind not in "biuf" or array.dtype.itemsize > 8:
        raise InputTypeError(
            f"{name} has dtype {array.dtype}; it needs real numbers of at most 64 "
            "bits (bool, integer or float)"
        )
    if array.dtype.kind in "iu" and array.size and not -HELD <= array.min() <= array.max() <= HELD:
        return array.astype(np.uint64 if array.dtype.kind == "u" else np.int64)
    with np.errstate(over="ignore"):
        floats = array.astype(np.float64) + 0.0
    if not np.isfinite(floats).all():
        position = np.argwhere(~np.isfinite(floats))[0].tolist()
        where = ", ".join(f"{axis} {i}" for axis, i in zip(("row", "column"), position, strict=False))
        raise NonFiniteError(f"{name} is not a finite float64 at {where}; drop or fill such values first")
    return floats


def difference(high: Numbers, low: Numbers) -> FloatArray:
    """Return high - low (which must not be negative) in float64, rounded once.

    A difference of 64-bit integers may exceed int64 but not uint64, in which it is exact:
    both are taken modulo 2^64.
    """
    if high.dtype != np.float64:
        high, low = high.astype(np.uint64), low.astype(np.uint64)
    widths: FloatArray = (high - low).astype(np.float64)
    return widths


def as_values(values: ArrayLike, name: str = "values") -> Numbers:
    """Return one feature as a vector: in float64, or long integers as they are."""
    vector = _as_numbers(values, name)
    if vector.ndim != 1 or vector.size == 0:
        raise ShapeError(f"{name} has shape {vector.shape}; it needs one axis and at least one value")
    with np.errstate(over="ignore"):
        if not np.isfinite(difference(vector.max(), vector.min())):
            raise RangeOverflowError(
                f"the range (max - min) of {name} is too large for a float64: rescale it first"
            )
    return vector


def as_matrix(X: ArrayLike, name: str = "X") -> Numbers:
    """Return the data as a matrix, points in rows and features in columns.

    In float64, or long integers as they are.
    """
    matrix = _as_numbers(X, name)
    if matrix.ndim != 2:
        hint = f": use {name}.reshape(-1, 1) for a single feature" if matrix.ndim == 1 else ""
        raise ShapeError(f"{name} has shape {matrix.shape}; it needs two axes (points, features){hint}")
    if 0 in matrix.shape:
        raise ShapeError(f"{name} has shape {matrix.shape}; it needs at least one point and one feature")
    with np.errstate(over="ignore"):
        overflow = ~np.isfinite(difference(matrix.max(axis=0), matrix.min(axis=0)))
    if overflow.any():
        column = int(np.flatnonzero(overflow)[0])
        raise RangeOverflowError(
            f"the range (max - min) of column {column} of {name} is too large for a float64: rescale it first"
        )
    return matrix


def exact_multiple(n: int, ratio: float | Fraction, name: str) -> Fraction:
    """Return n * ratio without rounding.

    A rational ratio is exact. A float is taken as j/n if it is the float64 nearest to j/n for an integer j
    (so 0.7 of 10 points is 7, although the float64 called 0.7 is a little less than 7/10), and as the binary
    fraction it is otherwise. No tolerance is involved.
    """
    if isinstance(ratio, (bool, np.bool_)) or not isinstance(ratio, (Rational, float, np.floating)):
        raise InputTypeError(f"{name} needs a float or a fractions.Fraction, not {ratio!r}")
    if isinstance(ratio, Rational):
        return n * Fraction(int(ratio.numerator), int(ratio.denominator))
    number = float(ratio)
    if not math.isfinite(number):
        raise InputValueError(f"{name} = {number} is not allowed; it must be finite")
    product = n * Fraction(number)
    nearest = round(product)
    return Fraction(nearest) if nearest / n == number else product


def mean_over_points(phi: FloatArray, n: int, d_max: float = 1.0, times: Iterable[int] = repeat(1)) -> float:
    """Return (sum of times * phi) / (n * d_max), rounded once: the float64 nearest to the quotient.

    The sum is exact, since every float64 is a whole number of 2^-1074; so the order of its terms does not
    matter, and no sum is too large.
    """
    ratios = (width.as_integer_ratio() for width in phi.tolist())
    total = sum(count * top * (UNITS // bottom) for count, (top, bottom) in zip(times, ratios, strict=False))
    try:
        return float(Fraction(total, UNITS) / (n * Fraction(d_max)))
    except OverflowError:
        return math.inf


def warn_if_quadratic(n_points: int, n_sizes: int) -> None:
    """Warn, at the line that called the public function, if it takes more windows than 5,000 points have."""
    if n_points * n_sizes > QUADRATIC_POINTS**2:
        warnings.warn(
            f"geodim.paper is the quadratic reference: {n_sizes:,} window sizes on {n_points:,} points "
            "will be slow; geodim's engine gives the same phi in near-linear time",
            QuadraticCostWarning,
            stacklevel=3,
        )
