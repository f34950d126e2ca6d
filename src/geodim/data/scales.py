r"""Scales: what each column is divided by before columns are compared.

Phi is a maximum over columns, so their units decide which of them counts.  One unit for all ("global", the
largest range, as in the paper) keeps the proportions of columns; "range", "iqr", "std" and "rank" make
columns in different units comparable; a given number, or one for each column, is a known unit.

Columns are divided when they are read, and never copied whole; sparse ones stay sparse.  The unit is the
float64 that was found or given, and a quotient is rounded once: v / u is off by 2^-53 |v| / u at most,
and by 2^-1075 among the smallest numbers, which bounds of results include.  Ranks are whole numbers or halves
and not rounded at all: equal points get the mean of their ranks, where a point counts as often as its weight
says.  Constant columns stay as they are.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np

from geodim.arguments import real_number
from geodim.data.checks import scan_ranges
from geodim.data.integers import measured_exactly
from geodim.data.sources import WeightedSource, column_chunks
from geodim.errors import InputTypeError, InputValueError, ShapeError
from geodim.lists import as_array, refuse_dask

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from geodim.data.checks import Ranges
    from geodim.data.sources import ColumnSource

OWN = ("range", "iqr", "std", "rank")  # every column has a unit of its own
NAMES = ("global", *OWN, "none")
UNIT = 2.0**-53
SMALLEST = 2.0**-1074
NAMED = 5  # columns that an error names
TOLD = 100  # given units that a result repeats
READ_BYTES = 1 << 24  # bytes of columns that are examined together


@dataclass(frozen=True)
class Scale:
    """What columns are divided by.

    Attributes
    ----------
    name : str
        One of `NAMES`, or "given".
    units : array of float or None
        The given ones: one, or one for each column.
    """

    name: str = "global"
    units: NDArray[np.float64] | None = None

    @classmethod
    def of(cls, scale: object = None, normalize: object = None) -> Scale:
        """Return the scale for a caller's ``scale``, or its older alias ``normalize``."""
        if normalize is not None:
            if not isinstance(normalize, bool | np.bool_):
                raise InputTypeError(
                    f"normalize must be True (scale='global') or False (scale='none'), got "
                    f"{normalize!r:.60}; scale is one of {', '.join(NAMES)}, a positive number, or "
                    "one for each column"
                )
            if scale is not None:
                raise InputValueError("give scale or normalize, its older alias, not both")
            return cls("global" if normalize else "none")
        if scale is None:
            return cls()
        if isinstance(scale, str):
            if scale not in NAMES:
                raise InputValueError(
                    f"scale must be one of {', '.join(NAMES)}, a positive number, or one for each column, "
                    f"got {scale!r:.60}"
                )
            return cls(scale)
        return cls("given", _units(scale))

    @property
    def normalize(self) -> bool:
        """Whether columns are finally divided by the largest range, as they are unless units are given."""
        return self.name not in ("none", "given")

    @property
    def own(self) -> bool:
        """Whether columns are divided by units of their own, or by given ones."""
        return self.name not in ("global", "none")

    def refuse_elsewhere(self, where: str) -> None:
        """Raise if columns lie on a device or on workers: units of columns are found on this machine."""
        if self.own and where in ("cuda", "dask"):
            raise InputValueError(
                f"scale={self.told()!r:.60} works on this machine's cores, not with backend={where!r}, and "
                "data is copied here only on request: divide the columns where they are, or copy the data "
                "here and leave out backend; scale='global' and 'none' work everywhere"
            )

    def identity(self) -> dict[str, Any]:
        """Return what distinguishes a job from one with other units; empty where columns are not divided."""
        if not self.own:
            return {}
        return {"scale": self.name, "units": None if self.units is None else self.units.tolist()}

    def told(self) -> str | float | list[float]:
        """Return the scale as a result shows it: a name, or the given units, if there are not too many."""
        if self.units is None:
            return self.name
        if self.units.ndim == 0:
            return float(self.units)
        return [float(unit) for unit in self.units] if self.units.size <= TOLD else "given"

    def applied(self, source: ColumnSource, threads: int) -> ColumnSource:
        """Return the columns, divided; the source itself if each is left as it is."""
        if not self.own:
            return source
        if isinstance(source, WeightedSource):
            return source.over(self._divided(source.source, source, threads))
        return self._divided(source, None, threads)

    def _divided(self, plain: ColumnSource, weights: WeightedSource | None, threads: int) -> ColumnSource:
        names = plain.names
        counted: ColumnSource = plain if weights is None else weights
        ranges = scan_ranges(counted, threads)
        stated = getattr(plain, "error", None)  # features that are themselves computed state one
        off = 0.0 if stated is None else float(stated(ranges.magnitude))
        counted, ranges, converted = measured_exactly(
            counted, ranges, lambda other: scan_ranges(other, threads)
        )
        off += converted
        inner = counted.source if isinstance(counted, WeightedSource) else counted
        if self.name == "rank":
            made: ColumnSource = RankSource(inner, weights)
        else:
            made = ScaledSource(inner, self._units_of(counted, ranges), off)
        made.names = names
        return made

    def _units_of(self, source: ColumnSource, ranges: Ranges) -> NDArray[np.float64]:
        """Return the unit of every column; 1 for constant ones."""
        d = source.n_features
        if self.units is not None:
            if self.units.ndim == 1 and self.units.size != d:
                raise ShapeError(f"there are {d:,} features but {self.units.size:,} units in scale")
            return np.broadcast_to(self.units, (d,)).astype(np.float64)
        if self.name == "range":
            units = ranges.widths.astype(np.float64)
        else:
            spread = _iqr if self.name == "iqr" else _std
            units = _spreads(source, spread)
        flat = ranges.widths == 0.0
        none = np.flatnonzero((units == 0.0) & ~flat)
        if none.size:
            named = ", ".join(
                str(column) if source.names is None else repr(source.names[column])
                for column in none[:NAMED].tolist()
            )
            more = f" and {none.size - NAMED:,} more" if none.size > NAMED else ""
            raise InputValueError(
                f"the {self.name} of column {named}{more} is 0, though values differ: half of its points or "
                "more agree; take scale='range', 'std' or 'rank', or give a unit for each column"
            )
        units[flat] = 1.0
        return units


def _units(scale: object) -> NDArray[np.float64]:
    """Given units: a positive number, or one for each column."""
    if isinstance(scale, Real):
        return np.array(real_number(scale, "scale", above=0.0, below=math.inf))
    refuse_dask(scale, "scale")
    try:
        given = as_array(scale)
        units = given.astype(np.float64)
    except (TypeError, ValueError):
        given, units = None, None
    if given is None or units is None or given.dtype.kind not in "iuf" or units.ndim != 1 or not units.size:
        raise InputTypeError(
            f"scale must be one of {', '.join(NAMES)}, a positive number, or one for each column, "
            f"got {scale!r:.60}"
        )
    bad = np.flatnonzero(~(np.isfinite(units) & (units > 0.0)))
    if bad.size:
        raise InputValueError(
            f"the unit of column {int(bad[0])} in scale is {units[bad[0]]}: units are positive and finite"
        )
    return units


def _spreads(source: ColumnSource, spread: Callable[..., float]) -> NDArray[np.float64]:
    """Return a spread of every column, from its values and how often each occurs."""
    units = np.empty(source.n_features)
    if source.runs:
        for column in range(source.n_features):
            units[column] = spread(*source.read_runs(column))
        return units
    step = max(1, READ_BYTES // (source.dtype.itemsize * source.n_points))
    once = np.empty(0, np.int64)
    for first in range(0, source.n_features, step):
        block = list(range(first, min(first + step, source.n_features)))
        values = np.empty((len(block), source.n_points), source.dtype)
        source.read(block, values)
        for at, column in enumerate(block):
            units[column] = spread(values[at].astype(np.float64), once)
    return units


def _std(values: NDArray[np.float64], counts: NDArray[np.int64]) -> float:
    """Return the standard deviation, over n; scaled on the way, so that squares do not overflow."""
    size = float(np.abs(values).max()) or 1.0
    return float(np.sqrt(_mean((values / size - _mean(values / size, counts)) ** 2, counts))) * size


def _mean(values: NDArray[np.float64], counts: NDArray[np.int64]) -> float:
    return float(np.average(values, weights=counts) if counts.size else values.mean())


def _iqr(values: NDArray[np.float64], counts: NDArray[np.int64]) -> float:
    """Return the distance from the first quartile to the third, by linear interpolation as in numpy."""
    if not counts.size:
        low, high = np.quantile(values, [0.25, 0.75])
        return float(high - low)
    reached = np.cumsum(counts)

    def quartile(part: float) -> float:
        place = (int(reached[-1]) - 1) * part
        below, above = np.searchsorted(reached, [math.floor(place), math.ceil(place)], side="right")
        between = place - math.floor(place)
        return float(values[below] + (values[above] - values[below]) * between)

    return quartile(0.75) - quartile(0.25)


class ScaledSource:
    """Columns of another source, each divided by its unit when it is read.

    Parameters
    ----------
    source : ColumnSource
        The columns, each point once.
    units : array of float
        What each column is divided by.
    off : float
        How far values of the source may be off, as for integers beyond 2^53.
    """

    def __init__(self, source: ColumnSource, units: NDArray[np.float64], off: float = 0.0) -> None:
        self.unscaled, self.units, self.off = source, units, off
        self.n_points, self.n_features = source.n_points, source.n_features
        self.row_major, self.runs, self.names = source.row_major, source.runs, source.names
        self.dtype: np.dtype[np.floating] = np.dtype(np.float64)
        self.array = getattr(source, "array", None)  # for plans: whether it is mapped

    def error(self, greatest: float) -> float:
        """Return the error, see the top of this module; ``greatest`` is that of the quotients."""
        if np.all(self.units == 1.0):
            return self.off
        stated = self.off / float(self.units.min()) + UNIT * greatest * (1.0 + 2.0**-50)
        return stated + SMALLEST

    def read(self, columns: Sequence[int], out: NDArray[np.floating]) -> None:
        """Read and divide one block of columns."""
        values = out if self.unscaled.dtype == out.dtype else np.empty(out.shape, self.unscaled.dtype)
        self.unscaled.read(columns, values)
        quotients = out if out.dtype == np.float64 else np.empty(out.shape)
        with np.errstate(over="ignore"):  # reported by row and column later
            np.divide(values, self.units[np.asarray(columns, np.intp), np.newaxis], out=quotients)
        if quotients is not out:
            out[:] = quotients

    def read_runs(self, column: int) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """Return ascending values, divided, and how often each occurs."""
        values, counts = self.unscaled.read_runs(column)
        return values / self.units[column], counts

    def chunks(self) -> list[tuple[slice, slice]]:
        """Return the chunks of the underlying source."""
        return self.unscaled.chunks()

    def chunk(self, rows: slice, columns: slice) -> NDArray[Any]:
        """Return some rows of some columns, divided."""
        with np.errstate(over="ignore"):
            divided: NDArray[Any] = (
                np.asarray(self.unscaled.chunk(rows, columns), np.float64) / self.units[columns]
            )
        return divided

    def sample(self, columns: NDArray[np.intp], rows: NDArray[np.intp]) -> NDArray[np.float64]:
        """Return a few rows of a few columns."""
        divided: NDArray[np.float64] = self.unscaled.sample(columns, rows) / self.units[columns]
        return divided


class RankSource:
    """Columns of another source, each value replaced by its rank, from 0 on.

    Parameters
    ----------
    source : ColumnSource
        The columns, each point once.
    weights : WeightedSource, optional
        How often each point counts.
    """

    def __init__(self, source: ColumnSource, weights: WeightedSource | None = None) -> None:
        self.unscaled = source
        self.n_points, self.n_features = source.n_points, source.n_features
        self.row_major, self.runs, self.names = False, source.runs, source.names
        self.dtype: np.dtype[np.floating] = np.dtype(np.float64)
        self.array = getattr(source, "array", None)
        self._counts: NDArray[np.int64] | None = None
        if weights is not None:
            self._counts = np.zeros(source.n_points, np.int64)
            self._counts[weights.present] = weights.weights

    def read(self, columns: Sequence[int], out: NDArray[Any]) -> None:
        """Read and rank one block of columns."""
        values: NDArray[Any] = np.empty(out.shape, self.unscaled.dtype)
        self.unscaled.read(columns, values)
        for at, column in enumerate(values):
            _, which, counts = np.unique(column, return_inverse=True, return_counts=True)
            if self._counts is not None:
                counts = np.bincount(which, self._counts).astype(np.int64)
            out[at] = _mean_ranks(counts)[which]

    def read_runs(self, column: int) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """Return ranks, ascending, and how often each occurs."""
        values, counts = self.unscaled.read_runs(column)
        first = np.flatnonzero(np.append(True, values[1:] != values[:-1]))
        counts = np.add.reduceat(counts, first).astype(np.int64)
        return _mean_ranks(counts), counts

    def chunks(self) -> list[tuple[slice, slice]]:
        """Return chunks of one column each: a rank needs the whole column."""
        return column_chunks(self)

    def chunk(self, rows: slice, columns: slice) -> NDArray[Any]:
        """Read some columns."""
        values = np.empty((columns.stop - columns.start, self.n_points))
        self.read(list(range(columns.start, columns.stop)), values)
        return values.T[rows]

    def sample(self, columns: NDArray[np.intp], rows: NDArray[np.intp]) -> NDArray[np.float64]:
        """Return ranks among these rows, stretched: samples only guide the search, and enter no result."""
        values = self.unscaled.sample(columns, rows)
        order = np.argsort(np.argsort(values, axis=0, kind="stable"), axis=0, kind="stable")
        stretched: NDArray[np.float64] = order.astype(np.float64) * (self.n_points / max(rows.size, 1))
        return stretched


def _mean_ranks(counts: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the mean ranks, from 0 on, of equal values, given their counts: whole numbers or halves."""
    last = np.cumsum(counts, dtype=np.int64)
    ranks: NDArray[np.float64] = 0.5 * (2 * last - counts - 1).astype(np.float64)
    return ranks
