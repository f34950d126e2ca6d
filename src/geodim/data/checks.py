"""The first pass over the data: ranges of all columns, and an error for a value that is not finite."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from geodim.data.convert import read_only
from geodim.data.missing import FILLED, told_missing
from geodim.data.sources import WeightedSource
from geodim.engine.threads import threads_for
from geodim.engine.ways import few_windows
from geodim.errors import NonFiniteError, RangeOverflowError
from geodim.waiting import current

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from geodim.data.sources import ColumnSource


LOOKING = "looking through the values"
QUICK_WIDTH = 16  # columns that compiled code adds up side by side
QUICK_FROM = 1 << 12  # entries of a chunk from which compiled code pays, once it is loaded


@dataclass(frozen=True)
class Ranges:
    """The least and greatest values of all columns.

    Also their approximate standard deviations, which only decide the order of the columns.
    """

    least: NDArray[np.float64]
    greatest: NDArray[np.float64]
    spreads: NDArray[np.float64]
    energies: NDArray[np.float64]  # upper bounds on the sums of squares
    n_points: int

    @property
    def widths(self) -> NDArray[np.float64]:
        """The range of every column: phi of all points together."""
        return self.greatest - self.least

    @property
    def d_max(self) -> float:
        """The largest range, by which normalised features are divided."""
        return float(self.widths.max())

    @property
    def magnitude(self) -> float:
        """The largest absolute value."""
        return float(max(-self.least.min(), self.greatest.max()))

    def read_as(self, kind: np.dtype[np.floating]) -> Ranges:
        """Return the least and greatest values after rounding to another type; rounding keeps the order."""
        least, greatest = (ends.astype(kind).astype(np.float64) for ends in (self.least, self.greatest))
        return replace(self, least=least, greatest=greatest)

    def foremost(self, columns: Sequence[int] | NDArray[np.intp]) -> list[int]:
        """Return those columns whose bounds `at_most` are the greatest of all for some k.

        Bounds grow with the range and with the sum of squares, even after rounding, so a column that another
        one exceeds in both adds nothing.
        """
        chosen = np.asarray(columns, np.intp)
        order = chosen[np.lexsort((-self.energies[chosen], -self.widths[chosen]))]
        found, most = [], -np.inf
        for column in order.tolist():
            if self.energies[column] > most:
                found.append(column)
                most = float(self.energies[column])
        return found

    def at_most(self, column: int, k: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return upper bounds on phi_k of a column that was never sorted.

        All k points fit the range.  And at most n - k of them are farther from 0 than
        r = sqrt(sum x^2 / (n - k + 1)), since the squares of n - k + 1 of them would exceed the sum; so at
        least k lie within r of 0, and phi_k <= 2 r (Chebyshev).  Quotient and root are each off by a part of
        2^-53, for which the bound is raised.
        """
        with np.errstate(over="ignore"):
            widest = 2.0 * np.sqrt(self.energies[column] / (self.n_points - k + 1)) * (1.0 + 2.0**-50)
        bounds: NDArray[np.float64] = np.minimum(widest, self.widths[column])
        return bounds


class Moments(NamedTuple):
    """Extremes, sums and sums of squares of some columns over some points."""

    columns: slice
    least: NDArray[np.floating]
    greatest: NDArray[np.floating]
    total: NDArray[np.floating]
    square: NDArray[np.floating]

    @classmethod
    def nothing(cls, n_features: int) -> Moments:
        """Return the moments of no points, to which others are added."""
        extreme = np.full(n_features, np.inf)
        return cls(slice(0, n_features), extreme, -extreme, np.zeros(n_features), np.zeros(n_features))

    def add(self, other: Moments) -> None:
        """Add other points, in place."""
        columns = other.columns
        np.minimum(self.least[columns], other.least, out=self.least[columns])
        np.maximum(self.greatest[columns], other.greatest, out=self.greatest[columns])
        with np.errstate(invalid="ignore", over="ignore"):
            self.total[columns] += other.total
            self.square[columns] += other.square


def scan_ranges(source: ColumnSource, n_threads: int = 1) -> Ranges:
    """Check that all values are finite and all ranges representable; return the ranges."""
    return ranges_of(source, scan_moments(source, n_threads))


def scan_moments(source: ColumnSource, n_threads: int = 1) -> Moments:
    """Return the moments of all columns, in one pass; raise where a value is not finite."""
    found = Moments.nothing(source.n_features)
    chunks = source.chunks()
    with threads_for(n_threads) as pool:
        # A few chunks per task, and few tasks waiting.
        group = max(1, min(64, len(chunks) // (4 * n_threads)))
        groups = [chunks[at : at + group] for at in range(0, len(chunks), group)]
        who, begun = current(), time.monotonic()

        def look(some: Sequence[tuple[slice, slice]]) -> list[Moments]:
            looked = []
            for chunk in some:
                who.check(LOOKING, begun)
                looked.append(_moments(source, *chunk))
            return looked

        for done, part in enumerate(pool.map(look, groups), start=1):
            for moments in part:
                found.add(moments)
            who.report(LOOKING, done, len(groups), begun)
    return found


def ranges_of(source: ColumnSource, moments: Moments) -> Ranges:
    """Return the ranges that follow from the moments; raise where a range is not representable."""
    _, least, greatest, sums, squares = moments
    with np.errstate(invalid="ignore", over="ignore"):
        spreads = np.nan_to_num(squares / source.n_points - (sums / source.n_points) ** 2)
    with np.errstate(over="ignore"):
        widths = greatest - least
    if not np.all(np.isfinite(widths)):
        column = int(np.flatnonzero(~np.isfinite(widths))[0])
        msg = (
            f"{_name(source, column)} reaches from {least[column]} to {greatest[column]}: its range "
            "overflows float64; divide the column by a constant"
        )
        raise RangeOverflowError(msg)
    known = np.zeros(squares.size) if source.runs else squares.astype(np.float64)
    energies = _energies(least, greatest, known, source.n_points)
    return Ranges(least.astype(np.float64), greatest.astype(np.float64), spreads, energies, source.n_points)


def _energies(
    least: NDArray[np.floating], greatest: NDArray[np.floating], squares: NDArray[np.float64], n: int
) -> NDArray[np.float64]:
    """Return upper bounds on sums of n squares, from the extremes and the sums as computed in float64.

    A sum of 0 was not computed. *They are bounds:* in any order of addition, each square takes part
    in at most n additions and was rounded once itself, so with u = 2^-53 the computed sum is at least
    (1 - u)^(n + 1) times the true one, which is therefore at most 1 + 2 u (n + 8) times the computed one as
    long as n < 2^50 (there are fewer points).  A square below the normal numbers loses less than 2^-1074, so
    that sums of more than n 1e-280 lose a part of 1e-43 at most; smaller ones, and those that overflow, are
    replaced by n times the square of the largest magnitude, which no sum exceeds.
    """
    largest = np.maximum(np.abs(least), np.abs(greatest))
    with np.errstate(over="ignore", under="ignore"):
        at_most = np.where(largest > 1e-140, n * largest**2 * (1.0 + 2.0**-50), np.inf)
        summed = squares * (1.0 + 2.0**-52 * (n + 8))
    certain = (squares > n * 1e-280) & np.isfinite(summed)
    energies: NDArray[np.float64] = np.where(certain, np.minimum(summed, at_most), at_most)
    return energies


def _moments(source: ColumnSource, rows: slice, columns: slice) -> Moments:
    """Return least and greatest values, sums and sums of squares of one chunk.

    Raises if a value is not finite.
    """
    chunk = source.chunk(rows, columns)
    if chunk.dtype == np.float16:  # NumPy compares these one by one
        chunk = chunk.astype(np.float32)
    width = chunk.shape[1]
    wide = _widened(chunk)
    with np.errstate(invalid="ignore", over="ignore"):
        quick = chunk.size >= QUICK_FROM and not few_windows(source.n_points, source.n_features)
        if quick and chunk.dtype in (np.float32, np.float64) and chunk.flags.c_contiguous:
            found = _quick_moments(chunk)
            if np.all(np.isfinite(found[2])):  # sums of anything not finite are not finite
                low, high, total, square = (part.reshape(-1, width) for part in found)
                return Moments(columns, low.min(0), high.max(0), total.sum(0), square.sum(0))
        low, high = _folded(np.minimum, wide, width), _folded(np.maximum, wide, width)
        if not (np.all(np.isfinite(low)) and np.all(np.isfinite(high))):  # both propagate NaN
            if source.row_major:
                raise_not_finite(source, rows.start, columns, chunk)
            _first_not_finite(source)
        if chunk.dtype.kind != "f":
            return Moments(columns, low, high, np.zeros(width), np.zeros(width))
        total, square = (
            one.reshape(-1, width).sum(axis=0) for one in (wide.sum(axis=0, dtype=np.float64), _squares(wide))
        )
        return Moments(columns, low, high, total, square)


def _quick_moments(chunk: NDArray[np.floating]) -> tuple[NDArray[np.floating], ...]:
    """Compute all four in one pass, at the speed of memory, for every column of as many rows side by side."""
    from geodim.engine.kernels.reading import moments  # noqa: PLC0415 - imports Numba

    rows, columns = chunk.shape
    fold = min(QUICK_WIDTH // math.gcd(columns, QUICK_WIDTH), rows)
    wide, rest = np.split(read_only(chunk).reshape(-1), [rows // fold * fold * columns])
    wide, rest = wide.reshape(-1, fold * columns), rest.reshape(1, -1)
    found = wide[0].copy(), wide[0].copy(), *np.zeros((2, wide.shape[1]))
    moments(wide, *found)
    if rest.size:
        moments(rest, *(part[: rest.size] for part in found))
    return found


def _squares(values: NDArray[np.floating]) -> NDArray[np.float64]:
    """Return the sum of the squares of every column, in float64.

    In float32 squares would vanish or overflow, or sums would no longer grow.
    """
    sums: NDArray[np.float64] = np.einsum("ij,ij->j", values, values, dtype=np.float64)
    return sums


def _widened(chunk: NDArray[np.floating], width: int = 512) -> NDArray[np.floating]:
    """Put several rows side by side, up to this width, if there are few columns.

    Reductions down long rows are many times faster.
    """
    rows, columns = chunk.shape
    fold = 1 << max(min(width // columns, rows // 8), 1).bit_length() - 1
    fold = min(fold, rows & -rows)  # both are powers of two; all chunks but the last have round lengths
    if fold == 1 or not chunk.flags.c_contiguous:
        return chunk
    return chunk.reshape(rows // fold, fold * columns)


def _folded(reduction: np.ufunc, wide: NDArray[np.floating], columns: int) -> NDArray[np.floating]:
    """Reduce down the rows of a widened chunk, one value per original column."""
    values: NDArray[np.floating] = reduction.reduce(
        reduction.reduce(wide, axis=0).reshape(-1, columns), axis=0
    )
    return values


def _name(source: ColumnSource, column: int) -> str:
    return f"column {column}" if source.names is None else f"column {column} ({source.names[column]!r})"


def raise_not_finite(source: ColumnSource, row: int, columns: slice, chunk: NDArray[np.floating]) -> None:
    """Name the first value of a chunk that is not finite, by row and column."""
    at, column = (int(i) for i in np.argwhere(~np.isfinite(chunk))[0])
    value = chunk[at, column]
    row += at
    where = f"row {row}, {_name(source, columns.start + column)} is {value}"
    if not np.isnan(value):
        raise NonFiniteError(f"{where}: the data contains infinity; drop these points or fill the values in")
    told = told_missing(source)
    raise NonFiniteError(
        f"{where}: the data contains NaN, values are missing{' ' * bool(told)}{told}; "
        f"geodim.drop_missing(X) (--drop-missing) leaves such points out, but not nodes of a graph; {FILLED}"
    )


def _first_not_finite(source: ColumnSource) -> None:
    """Find the first value in row order that is not finite, if the data is stored by columns."""
    best: tuple[int, int, float] | None = None
    rows = source.present if isinstance(source, WeightedSource) else slice(None)  # weight 0: absent
    given, source = source, source.source if isinstance(source, WeightedSource) else source
    out = np.empty((1, source.n_points), source.dtype)
    for column in range(source.n_features):
        source.read([column], out)
        bad = np.arange(source.n_points)[rows][~np.isfinite(out[0, rows])]
        if bad.size and (best is None or bad[0] < best[0]):
            best = (int(bad[0]), column, float(out[0, bad[0]]))
    if best is not None:
        row, column, value = best
        raise_not_finite(given, row, slice(column, column + 1), np.array([[value]]))
