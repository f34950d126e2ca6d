"""Distances as columns: one class per way to compute them, a block at a time, never the whole matrix.

Column i holds d(x_i, .) for the i-th centre, where the centres are all points, some of them, or others.
"""

from __future__ import annotations

import hashlib
import math
import threading
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

import numpy as np

from geodim.data.sources import ArraySource
from geodim.engine.ways import BLOCK_BYTES
from geodim.errors import InputTypeError, InputValueError, NonFiniteError, RangeOverflowError
from geodim.families.points import GROUP, packed
from geodim.text import visible

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from geodim.families.metrics import Metric
    from geodim.families.points import Panels

AT_ONCE = 32  # columns: the points are read once for all of them
LOOKED_AT = 16  # rows of all columns, and whole columns, that stand for points which cannot be hashed
ANTIPODAL = 1.9  # longer chords of unit vectors lose digits of the angle: measure from the opposite one


class MadeColumns(ABC):
    """The common base of all sources of computed columns.

    Attributes
    ----------
    n_points, n_features : int
        Points, and centres.
    points : array of int or None
        Which points the centres are; None if they are others.
    metric : str
        The name of the metric.
    names : list of str
        Names of the centres.
    details : dict
        Further values that a result should state about them.
    """

    dtype: np.dtype[np.floating] = np.dtype(np.float64)
    row_major = False
    runs = False
    at_once = AT_ONCE
    made = True
    covers = True  # whether values are the distances of points from centres

    def __init__(
        self,
        n_points: int,
        n_features: int,
        points: NDArray[np.intp] | None,
        metric: str,
        names: list[str] | None,
    ) -> None:
        self.n_points, self.n_features = n_points, n_features
        self.points, self.metric, self.names = points, metric, names
        self.details: dict[str, Any] = {}
        self.lock = threading.Lock()

    def __getstate__(self) -> dict[str, object]:
        """Return the state without its lock, which cannot travel to the workers of a cluster."""
        return {name: value for name, value in self.__dict__.items() if name != "lock"}

    def __setstate__(self, state: dict[str, object]) -> None:
        self.__dict__.update(state)
        self.lock = threading.Lock()

    @abstractmethod
    def fill(
        self, columns: Sequence[int], out: NDArray[np.floating], rows: NDArray[np.intp] | None = None
    ) -> None:
        """Write distances from some centres to all points, or to some, into ``out`` (columns, points)."""

    @abstractmethod
    def error(self, greatest: float) -> float:
        """Return how far any value may be off, given the greatest of all values."""

    @property
    def part_of(self) -> str | None:
        """The larger family, "all points", if the centres are only some of them."""
        some = self.points is None or self.n_features < self.n_points
        return "all points" if self.covers and some else None

    @property
    def held(self) -> int:
        """Bytes that are kept to compute columns, besides the data as given."""
        return 0

    @property
    def held_for_bounds(self) -> int:
        """Bytes needed at the end to find bounds for a larger family."""
        return 0

    def digest(self) -> bytes:
        """Return a digest of the values.

        If what they are computed from cannot be hashed, it covers the values of all columns at some points,
        and of some columns at all points.
        """
        rows = np.unique(np.linspace(0, self.n_points - 1, LOOKED_AT).astype(np.intp))
        columns = np.unique(np.linspace(0, self.n_features - 1, LOOKED_AT).astype(np.intp))
        whole = np.empty((columns.size, self.n_points))
        self.fill(columns.tolist(), whole)
        return digest_of_parts(self.metric, self.sample(np.arange(self.n_features), rows), whole)

    def extents(self) -> NDArray[np.float64]:
        """Return bounds on the least and greatest value of every column, shape (n_features, 2).

        One column and one row are enough: with p the first point and c the first centre,
        d(x, y) <= d(x, p) + d(c, p) + d(c, y).
        """
        column, bounds = np.empty((1, self.n_points)), np.zeros((self.n_features, 2))
        self.fill([0], column)
        row = self.sample(np.arange(self.n_features), np.array([0]))[0]
        bounds[:, 1] = (row + column[0, 0] + column.max()) * (1.0 + 2.0**-40)
        return bounds

    def read(self, columns: Sequence[int], out: NDArray[np.floating]) -> None:
        """Make one block of columns; ``out`` has shape (len(columns), n_points)."""
        self.fill(columns, out)

    def read_runs(self, column: int) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """Return sorted values, each once per point."""
        values = np.empty((1, self.n_points))
        self.fill([column], values)
        return np.sort(values[0]), np.ones(self.n_points, np.int64)

    def chunks(self) -> list[tuple[slice, slice]]:
        """Return blocks of columns."""
        every = slice(0, self.n_points)
        step = max(1, min(self.at_once, BLOCK_BYTES // (8 * self.n_points)))
        return [
            (every, slice(first, min(first + step, self.n_features)))
            for first in range(0, self.n_features, step)
        ]

    def chunk(self, rows: slice, columns: slice) -> NDArray[np.float64]:
        """Return one block, shape (points, columns)."""
        some = range(columns.start, columns.stop)
        values = np.empty((len(some), self.n_points))
        self.fill(some, values)
        return values.T[rows]

    def sample(self, columns: NDArray[np.intp], rows: NDArray[np.intp]) -> NDArray[np.float64]:
        """Return a few rows of a few columns, shape (rows, columns)."""
        values = np.empty((columns.size, rows.size))
        self.fill(columns.tolist(), values, rows)
        return values.T


def digest_of_parts(*parts: object) -> bytes:
    """Return one digest of arrays, texts and numbers; bits and shapes of arrays count, not their layout."""
    digest = hashlib.blake2b(digest_size=16)
    for part in parts:
        if isinstance(part, np.ndarray):
            digest.update(f"{part.dtype.str}{part.shape}".encode())
            digest.update(np.ascontiguousarray(part).data)
        else:
            digest.update(repr(part).encode())
        digest.update(b";")
    return digest.digest()


class CoordinateDistances(MadeColumns):
    """Distances between points that have coordinates.

    Parameters
    ----------
    panels : Panels
        All points.
    centres : array of int, shape (m,), or of float64, shape (m, d)
        Which points to measure from, or other points, scaled as ``panels`` are.
    metric : Metric
        How to measure.
    names : list of str, optional
        Names of the centres.
    """

    def __init__(
        self, panels: Panels, centres: NDArray[Any], metric: Metric, names: list[str] | None
    ) -> None:
        points = centres if centres.ndim == 1 else None
        super().__init__(panels.n_points, len(centres), points, metric.name, names)
        self.panels, self.centres, self.how = panels, centres, metric
        self._some: tuple[NDArray[np.intp], Panels] | None = None

    def fill(
        self, columns: Sequence[int], out: NDArray[np.floating], rows: NDArray[np.intp] | None = None
    ) -> None:
        """Compute the distances from all centres together, in one pass over the points."""
        from geodim.families._kernels import fill_distances  # noqa: PLC0415 - imports Numba

        chosen = self.centres[np.asarray(columns, np.intp)]
        centres = chosen if self.points is None else self.panels.rows(chosen)
        panels = self.panels if rows is None else self._part(rows)
        fill_distances(panels.values, packed(centres, GROUP), self.how.kind, self.how.power, out)
        if self.how.angle:
            self._to_angles(centres, panels, out)
        elif panels.exponent:
            with np.errstate(over="ignore"):
                np.ldexp(out, panels.exponent, out=out)
            if np.isinf(out).any():
                msg = "distances between these points overflow float64: divide the points by a constant"
                raise RangeOverflowError(msg)

    def error(self, greatest: float) -> float:
        """See `geodim.families.metrics`."""
        return self.how.error(self.panels, greatest)

    @property
    def held(self) -> int:
        """Bytes of the points in panels."""
        return self.panels.values.nbytes

    def digest(self) -> bytes:
        """Return a digest of the points, the centres and the metric."""
        return digest_of_parts(self.how, self.panels.exponent, self.panels.values, self.centres)

    def _to_angles(self, centres: NDArray[np.float64], panels: Panels, chords: NDArray[np.floating]) -> None:
        """Turn chords between unit vectors into angles, 2 arcsin(c / 2).

        Where that loses digits, pi minus the angle with the opposite vector is used.
        """
        from geodim.families._kernels import fill_distances  # noqa: PLC0415 - imports Numba

        scratch = np.empty((min(GROUP, len(chords)), chords.shape[1]))
        for first in range(0, len(chords), GROUP):  # a few at a time, so that not all are held twice
            some, opposite = chords[first : first + GROUP], packed(-centres[first : first + GROUP], GROUP)
            wide, others = some > ANTIPODAL, scratch[: len(some)]
            opposed = bool(wide.any())
            if opposed:
                fill_distances(panels.values, opposite, self.how.kind, self.how.power, others)
            for angles in (some, others) if opposed else (some,):
                np.minimum(np.multiply(angles, 0.5, out=angles), 1.0, out=angles)
                np.multiply(np.arcsin(angles, out=angles), 2.0, out=angles)
            if opposed:
                np.copyto(some, np.subtract(math.pi, others, out=others), where=wide)

    def _part(self, rows: NDArray[np.intp]) -> Panels:
        """Return some of the points, cached as long as the same are asked for, as for samples."""
        kept = self._some
        if kept is None or not np.array_equal(kept[0], rows):
            kept = self._some = rows, self.panels.some(rows)
        return kept[1]


class CalledDistances(MadeColumns):
    """Distances by a function of two points, called once for each pair, in one thread at a time.

    Parameters
    ----------
    items : sequence
        The points, as the function takes them.
    centres : array of int or sequence
        Which of them to measure from, or others.
    function : callable
        ``function(x, y)`` gives a number.
    names : list of str, optional
        Names of the centres.
    """

    at_once = 1

    def __init__(
        self,
        items: Sequence[Any],
        centres: NDArray[np.intp] | Sequence[Any],
        function: Callable[[Any, Any], Any],
        names: list[str] | None,
    ) -> None:
        points = centres if isinstance(centres, np.ndarray) else None
        called = getattr(function, "__name__", type(function).__name__)
        super().__init__(len(items), len(centres), points, visible(called), names)
        self.items, self.function = items, function
        self.centres = [items[int(i)] for i in centres] if points is not None else list(centres)

    def fill(
        self, columns: Sequence[int], out: NDArray[np.floating], rows: NDArray[np.intp] | None = None
    ) -> None:
        """Call the function, and check that it returns distances."""
        wanted = range(self.n_points) if rows is None else rows.tolist()
        with self.lock:
            for at, column in enumerate(columns):
                for to, row in enumerate(wanted):
                    out[at, to] = self.distance(column, row)

    def distance(self, column: int, row: int) -> float:
        """Return one distance, or an error that names the pair."""
        centre = column if self.points is None else int(self.points[column])
        where = f"{'landmark' if self.points is None else 'point'} {centre} and point {row}"
        try:
            value = self.function(self.centres[column], self.items[row])
        except Exception as error:
            msg = f"the metric {self.metric} raised {type(error).__name__} for {where}: {visible(str(error))}"
            raise InputValueError(msg) from error
        try:
            distance = float(value)
        except (TypeError, ValueError) as error:
            msg = f"the metric {self.metric} gives a {type(value).__name__} for {where}, not a number"
            raise InputTypeError(msg) from error
        if not math.isfinite(distance):
            msg = f"the metric {self.metric} gives {distance} for {where}: distances must be finite"
            raise NonFiniteError(msg)
        if distance < 0.0:
            msg = f"the metric {self.metric} gives {distance} for {where}: distances are not negative"
            raise InputValueError(msg)
        if self.points is not None and centre == row and distance != 0.0:
            msg = f"the metric {self.metric} gives {distance} from point {row} to itself, which must be 0"
            raise InputValueError(msg)
        return distance

    def error(self, greatest: float) -> float:  # noqa: ARG002
        """Return 0: the value of the function is the distance by definition."""
        return 0.0


class MatrixDistances(MadeColumns):
    """Distances that are given as a matrix, in memory or mapped from a file.

    Parameters
    ----------
    matrix : array of shape (n, n)
        Checked by `geodim.families.precomputed`: column i is read from row i, which is the same.
    centres : array of int, shape (m,)
        Which points to measure from.
    names : list of str, optional
        Their names.
    """

    def __init__(self, matrix: NDArray[Any], centres: NDArray[np.intp], names: list[str] | None) -> None:
        super().__init__(len(matrix), len(centres), centres, "precomputed", names)
        self._columns = ArraySource(matrix.T)  # so that rows are read, which are contiguous

    def fill(
        self, columns: Sequence[int], out: NDArray[np.floating], rows: NDArray[np.intp] | None = None
    ) -> None:
        """Copy some rows of the matrix."""
        assert self.points is not None
        centres = self.points[np.asarray(columns, np.intp)]
        if rows is None:
            self._columns.read(centres.tolist(), out)
        else:
            out[:] = self._columns.sample(centres, rows).T

    def error(self, greatest: float) -> float:  # noqa: ARG002
        """Return 0: the values of the matrix are exact by definition."""
        return 0.0

    def digest(self) -> bytes:
        """Return a digest of the rows that are read."""
        digest = hashlib.blake2b(self.metric.encode(), digest_size=16)
        for chunk in self.chunks():
            digest.update(np.ascontiguousarray(self.chunk(*chunk).T).data)
        return digest.digest()
