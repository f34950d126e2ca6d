"""What findings are made from: the result, the ranges of its columns, and a few rows."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from geodim.data.sources import WeightedSource
from geodim.engine.pilot import sample_rows
from geodim.words import short

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from geodim.data.checks import Ranges
    from geodim.data.sources import ColumnSource
    from geodim.result import IDResult

MOST_COLUMNS = 256  # columns that are examined: those with a share, and the widest
LEADERS = 24  # of those with a share, this many
CANDIDATES = 48  # columns that are compared with one another,
FRACTIONS = (np.arange(10) + 0.5) / 10  # at this many sizes


@dataclass(frozen=True)
class Sample:
    """Some rows of some columns; all of the data if it is small."""

    rows: NDArray[np.intp]
    columns: NDArray[np.intp]
    values: NDArray[np.float64]
    all_rows: bool
    all_columns: bool

    def column(self, column: int) -> NDArray[np.float64] | None:
        """Return the sampled values of one column, if it was examined."""
        at = np.flatnonzero(self.columns == column)
        return self.values[:, at[0]] if at.size else None


class Windows(NamedTuple):
    """Widths of the narrowest windows of some columns, one row for each size."""

    columns: NDArray[np.intp]
    widths: NDArray[np.float64]


@dataclass(frozen=True)
class View:
    """Everything that alerts are found from.

    Attributes
    ----------
    result : IDResult
        What was computed.
    ranges : Ranges
        The least and greatest values of the columns, as they were solved.
    given : Ranges
        The same for the data as it was given: long integers are solved from their least value on.
    names : list of str or None
        Names of the columns.
    shares : dict of int to float
        The share of every column that has one, the largest first.
    sample : Sample
        A few rows.
    weighted : bool
        Whether points count several times.
    """

    result: IDResult
    ranges: Ranges
    given: Ranges
    names: list[str] | None
    shares: dict[int, float]
    sample: Sample
    weighted: bool

    @classmethod
    def of(cls, result: IDResult, source: ColumnSource, ranges: Ranges, given: Ranges) -> View:
        """Make a view with a few rows of the columns that matter most."""
        shares = shares_by_column(result, source.names)
        sample = draw(source, ranges, list(shares))
        weighted = isinstance(source, WeightedSource)
        return cls(result, ranges, given, source.names, shares, sample, weighted)

    def called(self, column: int) -> str:
        """Return what a sentence calls a column."""
        return f"column {column}" if self.names is None else f"'{short(self.names[column], 60)}'"

    def name(self, column: int) -> str:
        """Return what the evidence calls a column: its whole name, or its number."""
        return str(column) if self.names is None else self.names[column]

    @cached_property
    def windows(self) -> Windows:
        """The narrowest windows of a few sizes in the sample, for columns with a share and wide ones."""
        sample = self.sample
        leading = np.isin(sample.columns, list(self.shares)[:LEADERS])
        chosen = np.lexsort((-sample.values.std(axis=0), ~leading))[:CANDIDATES]
        lines = np.sort(np.ascontiguousarray(sample.values[:, chosen].T), axis=1)
        m = lines.shape[1]
        sizes = [max(2, round(float(fraction) * m)) for fraction in FRACTIONS]
        widths = [(lines[:, k - 1 :] - lines[:, : m - k + 1]).min(axis=1) for k in sizes]
        return Windows(sample.columns[chosen], np.array(widths))

    @property
    def widest(self) -> int:
        """The column that sets d_max."""
        return int(np.argmax(self.ranges.widths))

    def listed(self, columns: list[int], most: int = 3) -> str:
        """Return the first few of them, in words."""
        shown = ", ".join(map(self.called, columns[:most]))
        more = len(columns) - most
        return f"{shown} and {more:,} more" if more > 0 else shown


def shares_by_column(result: IDResult, names: list[str] | None) -> dict[int, float]:
    """Return the shares of a result by the number of the column.

    Where several names read the same, the result adds the position to them.
    """
    shares = result.shares
    if names is None:
        return {int(label): share for label, share in shares.items()}
    found = {j: shares[name] for j, name in enumerate(names) if name in shares}
    again = ((j, f"{name} (column {j})") for j, name in enumerate(names) if j not in found)
    found |= {j: shares[label] for j, label in again if label in shares}
    return dict(sorted(found.items(), key=lambda pair: -pair[1]))


def draw(source: ColumnSource, ranges: Ranges, leading: list[int]) -> Sample:
    """Return the rows that the pilot examines, which a cluster holds since the first pass."""
    rows = sample_rows(source)
    columns = np.arange(source.n_features)
    if columns.size > MOST_COLUMNS:
        wide = np.argsort(-ranges.widths, kind="stable")[:MOST_COLUMNS].tolist()
        columns = np.array(list(dict.fromkeys([*leading[:LEADERS], *wide]))[:MOST_COLUMNS], np.intp)
    values = source.sample(columns, rows) + 0.0  # turns -0.0 into 0.0
    return Sample(rows, columns, values, rows.size == source.n_points, columns.size == source.n_features)
