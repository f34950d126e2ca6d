"""What data may look like: points by features, real numbers, whole multiplicities."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from geodim.errors import InputTypeError, InputValueError, ShapeError

if TYPE_CHECKING:
    from numpy.typing import NDArray

MOST_POINTS = 2.0**52  # points that can be told apart by a float64


def working_type(dtype: np.dtype[Any]) -> np.dtype[np.floating]:
    """float32 where it holds every value of ``dtype`` exactly, else float64."""
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
        hint = (
            ": use x.reshape(-1, 1) for one feature or x.reshape(1, -1) for one point"
            if len(shape) == 1
            else ""
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


def check_weights(weights: object, n_points: int) -> NDArray[np.int64]:
    """Integer multiplicities, one per point."""
    array = np.asarray(weights)
    if array.shape != (n_points,):
        msg = f"weights must have one entry per point ({n_points}), got shape {array.shape}"
        raise ShapeError(msg)
    if array.dtype.kind == "f" and np.all(np.isfinite(array)) and np.all(array == np.floor(array)):
        if np.any(np.abs(array) > MOST_POINTS):
            msg = (
                f"weight {array[np.abs(array).argmax()]:g} is too large: at most "
                f"{MOST_POINTS:.0e} points can be counted"
            )
            raise InputValueError(msg)
        array = array.astype(np.int64)
    if array.dtype.kind not in "iub":
        msg = f"weights are multiplicities and must be integers, got {array.dtype}; round or scale them first"
        raise InputTypeError(msg)
    if array.dtype.kind == "u" and array.size and int(array.max()) > np.iinfo(np.int64).max:
        msg = f"weight {int(array.max())} is too large"
        raise InputValueError(msg)
    array = array.astype(np.int64)
    if np.any(array < 0):
        row = int(np.flatnonzero(array < 0)[0])
        msg = f"weight {int(array[row])} at row {row} is negative: a point cannot occur fewer than 0 times"
        raise InputValueError(msg)
    if float(array.astype(np.float64).sum()) > MOST_POINTS:
        msg = (
            f"the weights add up to more than {MOST_POINTS:.0e} points, too many "
            "to count exactly; divide them"
        )
        raise InputValueError(msg)
    if array.sum() == 0:
        msg = "all weights are zero: no point is left"
        raise ShapeError(msg)
    return array
