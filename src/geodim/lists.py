"""Lists of numbers as arrays, without a silent loss.

Numpy rounds integers that stand among floats, or that do not fit one type.
"""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np

from geodim.errors import InputValueError

HELD = 2.0**53  # up to here float64 holds every integer


def as_array(data: object) -> np.ndarray[Any, Any]:
    """`numpy.asarray`; raises where it would turn an integer of a list into another number."""
    array = np.asarray(data)
    if isinstance(data, np.ndarray) or array.dtype.kind != "f" or not np.any(np.abs(array) >= HELD):
        return array
    for position, value in np.ndenumerate(np.asarray(data, object)):
        if isinstance(value, Integral) and int(value) != int(array[position]):
            msg = (
                f"{value} at {list(position)} is no float64, and other numbers of the list are no integers "
                "of 64 bits: give an array of int64 or uint64, or floats"
            )
            raise InputValueError(msg)
    return array
