"""Integers beyond 2^53, which float64 does not hold: measured from their column's least value, or bounded.

Windows do not change when a column is shifted, and integer arithmetic does not round.  So a column whose
values reach far but lie close together (identifiers, times in nanoseconds) loses nothing: its least
value is subtracted in integers, and the rest is converted.  Values are rounded only if the range itself is
beyond 2^53, or the data lies where it cannot be shifted; then the rounding is reported, and the bounds of
the result include it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from geodim.data.sources import ArraySource, FrameSource, WeightedSource

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from geodim.data.checks import Ranges
    from geodim.data.sources import ColumnSource

    Index = int | slice | list[int] | NDArray[np.intp]

HELD = 2.0**53  # below this float64 holds every integer


def measured_exactly(
    source: ColumnSource, ranges: Ranges, scan: Callable[[ColumnSource], Ranges]
) -> tuple[ColumnSource, Ranges, float]:
    """Return the source to solve instead, its ranges, and how far its values may be from those of the data.

    The last is 0 for nearly all data.
    """
    error = conversion_error(source, ranges)
    shifted = _shifted(source) if error > 0.0 else None
    if shifted is None:
        return source, ranges, error
    ranges = scan(shifted)
    return shifted, ranges, _half_ulp(ranges.widths, source)


def conversion_error(source: ColumnSource, ranges: Ranges) -> float:
    """Return how far the values that a source returns may be from those it holds.

    It is half an ulp of the largest integer.
    """
    return _half_ulp(np.maximum(-ranges.least, ranges.greatest), source)


def _half_ulp(magnitudes: NDArray[np.float64], source: ColumnSource) -> float:
    """Bound the error of converting the long integers of a source.

    ``magnitudes`` are the largest of every column, themselves converted.
    """
    long = np.broadcast_to(getattr(source, "long_integers", False), magnitudes.shape)
    largest = float(magnitudes[long].max(initial=0.0))
    return 0.5 * float(np.spacing(largest)) if largest >= HELD else 0.0


def _shifted(source: ColumnSource) -> ColumnSource | None:
    """Return the same data, each column of long integers measured from its least value.

    None where that cannot be done.
    """
    if isinstance(source, WeightedSource):
        inner = _shifted(source.source)
        return None if inner is None else source.over(inner)
    if isinstance(source, ArraySource):
        return source.over(Shifted(source.array, least_values(source)))
    if hasattr(source, "shifted"):  # the source shifts its values where they lie
        other: ColumnSource | None = source.shifted()
        return other
    if isinstance(source, FrameSource):
        return source.measured_from(
            [
                least_value(column) if is_long(column.dtype) else None
                for column in map(source.own_values, range(source.n_features))
            ]
        )
    return None


def is_long(dtype: np.dtype[Any]) -> bool:
    """Return whether the type has integers that float64 does not hold."""
    return dtype.kind in "iu" and dtype.itemsize == 8


def least_value(column: NDArray[Any]) -> np.uint64:
    """Return the least value, modulo 2^64."""
    return np.uint64(int(column.min()) % 2**64)


def least_values(source: ArraySource) -> NDArray[np.uint64]:
    """Return the least value of every column, modulo 2^64, in one pass over the data as it lies."""
    least = np.full(source.n_features, np.iinfo(source.array.dtype).max, source.array.dtype)
    for rows, columns in source.chunks():
        np.minimum(least[columns], source.chunk(rows, columns).min(axis=0), out=least[columns])
    return least.astype(np.uint64)


def from_least(values: NDArray[Any], least: np.uint64 | NDArray[np.uint64]) -> NDArray[np.float64]:
    """Return how far integers lie above their least value.

    Exact modulo 2^64, which is more than any range; then rounded once.
    """
    distances: NDArray[np.float64] = (values.astype(np.uint64, copy=False) - least).astype(np.float64)
    return distances


class Shifted:
    """A two-dimensional array of long integers, read as float64 differences from each column's least value.

    Parameters
    ----------
    array : array of int64 or uint64
        The values; never copied whole.
    least : array of uint64
        The least value of every column, modulo 2^64.
    """

    def __init__(self, array: NDArray[Any], least: NDArray[np.uint64]) -> None:
        self.array, self.least = array, least
        self.shape, self.strides = array.shape, array.strides
        self.dtype, self.itemsize = array.dtype, array.itemsize  # as stored in memory

    def __getitem__(self, index: slice | tuple[Index, Index]) -> Shifted | NDArray[np.float64]:
        """Return values by rows and columns; by rows alone, another such array."""
        if not isinstance(index, tuple):
            return Shifted(self.array[index], self.least)
        return from_least(np.asarray(self.array[index]), self.least[index[1]])
