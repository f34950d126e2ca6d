"""Columns of a row-major array, many of them counted at the same time, some rows after the others.

Read one column after the other, values would go to memory and come back before they are counted.  Some rows
of many columns fit the cache, and so do the counters of all these columns; and no row is read twice.
"""

from __future__ import annotations

from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from geodim.engine.kernels import sorting
from geodim.engine.kernels.counted import tally
from geodim.engine.steps import LONGEST, longer_counters, short_counters
from geodim.engine.ways import padded_rows

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    Counts = NDArray[np.integer[Any]]


class RowSource(Protocol):
    """A source of which some rows can be read without the others."""

    n_points: int
    dtype: np.dtype[np.floating]

    def read_rows(self, columns: Sequence[int], rows: slice, out: NDArray[np.floating]) -> None:
        """Fill ``out`` with some rows of some columns."""


class RowCounter:
    """Counts the points of columns in steps.

    Parameters
    ----------
    source : RowSource
        Where the rows come from.
    step : float
        Size of the steps, a power of two.
    n_steps : int
        How many steps the widest column needs.
    first_steps : array
        Number of the step that holds the least value of every column.
    rows : int
        How many rows are read at a time.
    stop : callable
        Says whether to stop early; then counts are worth nothing.
    advance : callable
        Called with every number of values that were counted.
    """

    def __init__(
        self,
        source: RowSource,
        step: float,
        n_steps: int,
        first_steps: NDArray[np.float64],
        rows: int,
        stop: Callable[[], bool],
        advance: Callable[[int], None],
    ) -> None:
        self.source, self.n_steps, self.rows, self.stop, self.advance = source, n_steps, rows, stop, advance
        number = source.dtype.type
        self.per_step, self.first_steps = number(1.0 / step), first_steps.astype(source.dtype)
        self.counters: np.dtype[np.integer[Any]] = short_counters(source.n_points, n_steps)

    def count(
        self,
        columns: Sequence[int],
        parts: int,
        run: Callable[[Sequence[Callable[[], Counts]]], list[Counts]],
    ) -> Counts:
        """Return the counts of some columns, of shape (columns, steps).

        The rows are cut into ``parts``, which ``run`` counts at the same time.
        """
        n = self.source.n_points
        edges = np.linspace(0, n, parts + 1).astype(int).tolist()
        while True:
            tasks = [partial(self._count_part, columns, range(*ends)) for ends in pairwise(edges)]
            counts = added(run(tasks), n)
            longest = self.counters.itemsize >= LONGEST
            if longest or self.stop() or all(tally(row)[0] == n for row in counts):
                return counts
            self.counters = longer_counters(self.counters, n)  # kept: other columns are probably like these

    def _count_part(self, columns: Sequence[int], part: range) -> Counts:
        """Return the counts of some rows."""
        counts = np.zeros((len(columns), self.n_steps), self.counters)
        dtype = self.source.dtype
        values = np.empty((len(columns), padded_rows(self.rows, dtype.itemsize)), dtype)
        for start in part[:: self.rows]:
            if self.stop():
                break
            stop = min(start + self.rows, part.stop)
            some = values[:, : stop - start]
            self.source.read_rows(columns, slice(start, stop), some)
            for at, column in enumerate(columns):
                sorting.count_steps(some[at], self.per_step, self.first_steps[column], counts[at])
            self.advance(some.size)
        return counts


def added(parts: list[Counts], n_points: int) -> Counts:
    """Return the sum of counts, in counters that hold it: what overflowed before is still missing."""
    total = parts[0]
    if len(parts) > 1:
        total = total.astype(longer_counters(total.dtype, n_points))
        for counts in parts[1:]:
            total += counts
    return total
