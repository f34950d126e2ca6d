"""Points in the layout for computing distances: sixteen together, coordinate by coordinate, in float64."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from geodim.data.checks import scan_ranges
from geodim.data.sources import ArraySource, SparseSource, as_source
from geodim.errors import InputValueError, ShapeError
from geodim.memory import check_points

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from geodim.data.sources import ColumnSource

PANEL, GROUP = 16, 4  # as in `geodim.families._kernels`, which takes a second to import
CHUNK_VALUES = 1 << 20
EXACT = 2.0**53  # whole numbers up to this are float64
SAFE_EXPONENT = 200  # squares of larger or smaller numbers come near the limits of float64


@dataclass(frozen=True, eq=False)
class Panels:
    """Points, possibly scaled by a power of two, which is exact.

    Attributes
    ----------
    values : array of float64, shape (panels, coordinates, 16)
        Panel after panel of sixteen points; the last one is filled up with zeros.
    n_points : int
        How many points there are.
    exponent : int
        ``values`` are the data times ``2 ** -exponent``.
    whole : float
        A bound on the magnitude of all values if all are whole numbers, else infinite.
    """

    values: NDArray[np.float64]
    n_points: int
    exponent: int = 0
    whole: float = math.inf

    @property
    def n_coordinates(self) -> int:
        """Coordinates of a point."""
        return int(self.values.shape[1])

    def rows(self, points: Sequence[int] | NDArray[np.integer[Any]]) -> NDArray[np.float64]:
        """Return some of the points, shape (len(points), coordinates)."""
        panel, at = np.divmod(np.asarray(points, np.intp), PANEL)
        some: NDArray[np.float64] = self.values[panel, :, at]
        return some

    def parts(self) -> Iterator[NDArray[np.float64]]:
        """Yield all points, few enough at a time to take little memory."""
        step = max(CHUNK_VALUES // self.n_coordinates, PANEL)
        for first in range(0, self.n_points, step):
            yield self.rows(np.arange(first, min(first + step, self.n_points)))

    def some(self, points: NDArray[np.intp]) -> Panels:
        """Return panels of some of the points."""
        return Panels(packed(self.rows(points), PANEL), points.size, self.exponent, self.whole)


def padded_bytes(n_points: int, n_coordinates: int) -> int:
    """Return the bytes of this many points in panels."""
    return -(-n_points // PANEL) * PANEL * n_coordinates * 8


def packed(rows: NDArray[np.float64], size: int) -> NDArray[np.float64]:
    """Return rows in packs of ``size``, shape (packs, coordinates, size), the last padded with zeros."""
    packs = -(-len(rows) // size)
    filled = np.zeros((packs * size, rows.shape[1]))
    filled[: len(rows)] = rows
    return np.ascontiguousarray(filled.reshape(packs, size, -1).transpose(0, 2, 1))


def panels_of(data: object, n_threads: int = 1, *, unit: bool = False) -> Panels:
    """Check that the data is a table of finite numbers, and pack its rows.

    Parameters
    ----------
    data
        Anything that `geodim.data.sources.as_source` takes: arrays, frames, sparse matrices, tensors.
    n_threads : int
        Threads for the first pass.
    unit : bool
        Divide every row by its Euclidean length; a row of zeros has none and is an error.
    """
    source = as_source(data)
    ranges = scan_ranges(source, n_threads)
    n, d = source.n_points, source.n_features
    check_points(-(-n // PANEL) * PANEL, 8.0 * d)
    _check_whole(source, ranges.least, ranges.greatest)
    exponent = 0
    # Rows that are divided by their lengths are scaled one by one.
    if not unit and ranges.magnitude > 0.0 and abs(math.frexp(ranges.magnitude)[1]) > SAFE_EXPONENT:
        exponent = math.frexp(ranges.magnitude)[1]
    values, whole = np.zeros((-(-n // PANEL), d, PANEL)), not unit and exponent == 0
    for first, rows in _chunks(source):
        if exponent:
            rows = np.ldexp(rows, -exponent)  # noqa: PLW2901
        if unit:
            rows = _unit(rows, first)  # noqa: PLW2901
        whole = whole and bool(np.all(rows == np.rint(rows)))
        at = first // PANEL
        some = packed(rows, PANEL)
        values[at : at + len(some)] = some
    return Panels(values, n, exponent, ranges.magnitude if whole else math.inf)


def points_like(
    data: object, panels: Panels, n_threads: int = 1, *, unit: bool = False
) -> NDArray[np.float64]:
    """Return other points of the same space, scaled as ``panels`` are, shape (points, coordinates)."""
    other = panels_of(data, n_threads, unit=unit)
    if other.n_coordinates != panels.n_coordinates:
        msg = (
            f"the landmarks have {other.n_coordinates} coordinates and the points {panels.n_coordinates}: "
            "give points of the same space, or numbers of rows"
        )
        raise ShapeError(msg)
    with np.errstate(over="ignore"):
        rows = np.ldexp(other.rows(np.arange(other.n_points)), other.exponent - panels.exponent)
    if not np.all(np.isfinite(np.square(rows))):
        msg = "the landmarks are so much larger than the points that distances overflow float64: scale them"
        raise InputValueError(msg)
    return rows


def _chunks(source: ColumnSource) -> Iterator[tuple[int, NDArray[np.float64]]]:
    """Yield whole panels of rows in float64, each with the number of its first row."""
    n, d = source.n_points, source.n_features
    step = max(CHUNK_VALUES // d // PANEL, 1) * PANEL
    sparse = source.csc.tocsr() if isinstance(source, SparseSource) else None
    if sparse is None and not isinstance(source, ArraySource):
        step = n  # columns of frames are read whole: all of them once
    for first in range(0, n, step):
        stop = min(first + step, n)
        if sparse is not None:
            rows = np.asarray(sparse[first:stop].toarray(), np.float64)
        elif isinstance(source, ArraySource):
            rows = np.asarray(source.array[first:stop], np.float64)
        else:
            columns = np.empty((d, n), source.dtype)
            source.read(range(d), columns)
            rows = columns.T.astype(np.float64)
        yield first, rows


def _check_whole(source: ColumnSource, least: NDArray[np.float64], greatest: NDArray[np.float64]) -> None:
    """Raise for integers beyond 2^53, which would be rounded silently."""
    if not np.any(getattr(source, "long_integers", False)):
        return
    beyond = np.flatnonzero((np.maximum(-least, greatest) > EXACT) & source.long_integers)  # type: ignore[attr-defined]
    if beyond.size:
        column = int(beyond[0])
        name = repr(source.names[column]) if source.names else str(column)
        msg = (
            f"column {name} holds integers beyond 2^53, which float64 rounds: subtract the least value of "
            "the column, or convert it to float64 yourself"
        )
        raise InputValueError(msg)


def _unit(rows: NDArray[np.float64], first: int) -> NDArray[np.float64]:
    """Divide rows by their lengths, scaled by powers of two so that no square is lost."""
    largest = np.abs(rows).max(axis=1)
    if not largest.all():
        row = first + int(np.flatnonzero(largest == 0.0)[0])
        msg = (
            f"point {row} is the zero vector, which makes no angle with any other: leave such points out, "
            "or take metric='euclidean'"
        )
        raise InputValueError(msg)
    scaled = np.ldexp(rows, -np.frexp(largest)[1][:, np.newaxis])
    # Rows are contiguous: the sum of each is taken in the same order whatever chunk it lies in.
    lengths = np.sqrt(np.square(np.ascontiguousarray(scaled)).sum(axis=1))
    unit: NDArray[np.float64] = scaled / lengths[:, np.newaxis]
    return unit
