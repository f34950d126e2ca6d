"""What data may look like: points by features, real numbers, weights."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from geodim.engine.steps import MOST_POINTS
from geodim.errors import InputTypeError, InputValueError, NonFiniteError, ShapeError
from geodim.lists import as_array

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from geodim.data.sources import ColumnSource

MOST_MASS = 2.0**1000  # of all points together, far enough below the largest float64


def working_type(dtype: np.dtype[Any]) -> np.dtype[np.floating]:
    """Return float32 if it holds every value of ``dtype`` exactly, else float64."""
    return np.dtype(np.float32 if np.can_cast(dtype, np.float32) else np.float64)


def check_type(dtype: np.dtype[Any], where: str = "the data") -> None:
    """Raise for everything that is not a real number."""
    if dtype.kind == "c":
        msg = f"{where} is complex ({dtype}): take the real and imaginary parts as separate columns"
        raise InputTypeError(msg)
    if dtype.kind not in "fiub" or dtype.itemsize > 8:
        msg = f"{where} has type {dtype}: convert it to float32, float64, integers or booleans first"
        raise InputTypeError(msg)


def check_shape(shape: tuple[int, ...]) -> None:
    """Raise unless the data has rows and columns."""
    if len(shape) != 2:
        hint = ""
        if len(shape) == 1:
            hint = ": use x.reshape(-1, 1) for one feature or x.reshape(1, -1) for one point"
        elif len(shape) > 2:
            hint = (
                ": x.reshape(len(x), -1) makes every entry of a point a feature"
                "; images are taken as they are by features='pixels' or 'patches' (channels last)"
            )
        msg = (
            f"expected a table of points by features (2 axes), got {len(shape)} axes "
            f"with shape {tuple(shape)}{hint}"
        )
        raise ShapeError(msg)
    if shape[0] == 0:
        msg = (
            f"the data has no points: its shape is {tuple(shape)}, and found array with 0 "
            "sample(s) cannot be measured"
        )
        raise ShapeError(msg)
    if shape[1] == 0:
        msg = (
            f"the data has no features: its shape is {tuple(shape)}, and 0 "
            "feature(s) cannot tell points apart"
        )
        raise ShapeError(msg)


def check_masses(weights: object, n_points: int) -> NDArray[Any]:
    """Check weights, one per point: real numbers, not negative, not all zero, with a finite sum.

    They are returned as float64, or as int64 or uint64 if they are integers.
    """
    if isinstance(weights, np.ma.MaskedArray):
        raise InputTypeError("weights are a masked array: fill the masked values in, 0 leaves a point out")
    try:
        array = as_array(weights)
    except InputValueError:
        raise
    except ValueError as error:  # numpy cannot make an array of it
        raise ShapeError(f"weights must be a list of {n_points} numbers: {error}") from error
    if array.shape != (n_points,):
        msg = f"weights must have one entry per point ({n_points}), got shape {array.shape}"
        raise ShapeError(msg)
    if array.dtype.kind not in "fiub" or array.dtype.itemsize > 8:
        msg = f"weights must be real numbers (integers or floats of at most 64 bits), got {array.dtype}"
        raise InputTypeError(msg)
    if array.dtype.kind == "f":
        array = array.astype(np.float64)
        _refuse_first(
            ~np.isfinite(array), array, "is not finite: a weight of 0 leaves a point out", NonFiniteError
        )
    else:
        array = array.astype(np.uint64 if array.dtype.kind == "u" else np.int64)
    _refuse_first(array < 0, array, "is negative: a point cannot occur fewer than 0 times", InputValueError)
    with np.errstate(over="ignore"):
        total = float(array.sum(dtype=np.float64))
    if not total <= MOST_MASS:
        row = int(array.argmax())
        msg = (
            f"the weights add up to more than {MOST_MASS:.0e}, {array[row]} at row {row} being the "
            "largest: too large, divide them by a constant"
        )
        raise InputValueError(msg)
    if total == 0.0:
        msg = "all weights are zero: no point is left"
        raise ShapeError(msg)
    return array


def is_whole(weights: NDArray[Any]) -> bool:
    """Return whether all weights are whole numbers."""
    return weights.dtype.kind != "f" or bool(np.all(weights == np.floor(weights)))


def _refuse_first(
    bad: NDArray[np.bool_], array: NDArray[Any], why: str, error: type[InputValueError]
) -> None:
    for row in np.flatnonzero(bad)[:1].tolist():
        raise error(f"weight {array[row]} at row {row} {why}")


def check_weights(weights: object, n_points: int) -> NDArray[np.int64]:
    """Return integer multiplicities, one per point, for code that repeats points."""
    array = check_masses(weights, n_points)
    if not is_whole(array):
        row = int(np.flatnonzero(array != np.floor(array))[0])
        msg = (
            f"weight {array[row]} at row {row} is not an integer: here weights are multiplicities and must "
            "be integers; intrinsic_dimension takes any weights with backend='cpu'"
        )
        raise InputTypeError(msg)
    if float(array.sum(dtype=np.float64)) > MOST_POINTS:
        msg = (
            f"the weights add up to more than {MOST_POINTS:.0e} points, too many to count exactly, "
            f"{array.max()} at row {array.argmax()} being the largest; divide them"
        )
        raise InputValueError(msg)
    return array.astype(np.int64)


def column_chunks(source: ColumnSource, together: int = 1) -> list[tuple[slice, slice]]:
    """Treat every column as a chunk, or so many neighbours."""
    every, d = slice(0, source.n_points), source.n_features
    return [(every, slice(column, min(column + together, d))) for column in range(0, d, together)]
