"""Lists of numbers as arrays, without a silent loss.

Numpy rounds integers that are mixed with floats, or that do not fit one type; and it computes data that lies
on a cluster, and copies all of it here.
"""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np

from geodim.errors import InputTypeError, InputValueError

HELD = 2.0**53  # up to here float64 holds every integer


def is_dask(data: object) -> bool:
    """Return whether this is a Dask collection; Dask is not imported, as whoever made one has done so."""
    return any(kind.__module__.partition(".")[0] in ("dask", "dask_expr") for kind in type(data).__mro__)


def refuse_dask(data: object, what: str = "the data") -> None:
    """Raise for a Dask collection that would have to be copied here: only the caller may do that."""
    if is_dask(data):
        kind = type(data).__name__
        raise InputTypeError(
            f"{what} is a Dask {kind}, which is copied to this machine only on request: give its .compute() "
            "if it fits into memory here; intrinsic_dimension and khop_dimensions take the points as they "
            "are, and compute on the cluster (backend='auto' or 'dask')"
        )


def as_array(data: object) -> np.ndarray[Any, Any]:
    """Call `numpy.asarray`, but raise where it would turn an integer of a list into another number.

    Data on a cluster is refused.
    """
    refuse_dask(data)
    array = np.asarray(data)
    if isinstance(data, np.ndarray) or array.dtype.kind != "f" or not np.any(np.abs(array) >= HELD):
        return array
    for position, value in np.ndenumerate(np.asarray(data, object)):
        if isinstance(value, Integral) and int(value) != int(array[position]):
            msg = (
                f"{value} at {list(position)} is not a float64, and other numbers of the list are not "
                "integers of 64 bits: give an array of int64 or uint64, or floats"
            )
            raise InputValueError(msg)
    return array
