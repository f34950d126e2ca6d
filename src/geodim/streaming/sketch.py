r"""One column as counts in cells, which only depend on the values that came, not on their order.

At level e the cells are the intervals :math:`[i 2^e, (i + 1) 2^e)`, whole numbers i; at the lowest level of
float64, every value has a cell of its own.  A sketch has the lowest level at which at most a given number of
cells is occupied.  Since cells of a level are unions of cells of the one below, and since a set of values
occupies at least as many cells as each of its parts, a level that is too fine for a part is too fine for the
whole: whatever was joined on the way would have been joined in the end.  So sketches of parts, merged in any
order, are the sketch of the whole, to the bit.

For every cell the number of its values, the least and the greatest are kept: a value that is alone in its
cell, as outliers are, is known exactly.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]

LOWEST, HIGHEST = -1074, 1024  # exponents of the smallest float64, and past the largest
FRACTION = 53  # bits
CELL_BYTES = 32  # least, greatest and count; and a value that waits to be counted


@dataclass
class Sketch:
    """Counts of the values of one column, in at most ``most`` cells.

    Attributes
    ----------
    most : int
        The most cells to keep.
    level : int
        Cells are 2^level wide.
    least, greatest : array of float64
        The least and the greatest value of every occupied cell, ascending.
    counts : array of int64
        How many values it holds.
    """

    most: int
    level: int = LOWEST
    least: Floats = field(default_factory=lambda: np.empty(0))
    greatest: Floats = field(default_factory=lambda: np.empty(0))
    counts: Ints = field(default_factory=lambda: np.empty(0, np.int64))
    _waiting: list[Floats] = field(default_factory=list, repr=False)
    _n_waiting: int = 0

    @property
    def total(self) -> int:
        """How many values there are in cells."""
        return int(self.counts.sum())

    @property
    def nbytes(self) -> int:
        """Bytes of the cells, and of values that wait to be counted."""
        return self.least.nbytes + self.greatest.nbytes + self.counts.nbytes + 8 * self._n_waiting

    def add(self, values: NDArray[np.floating], counts: Ints | None = None) -> None:
        """Add some values, or ascending ones, each as often as ``counts`` says.

        They are counted once there are as many as cells, or when `settle` is called: that takes time in
        proportion to the cells, however few the values are.
        """
        copied = values.astype(np.float64)
        copied += 0.0  # turns -0.0 into 0.0
        if counts is not None:
            self._take(copied, copied, counts)
            return
        for first in range(0, copied.size, self.most):
            part = copied[first : first + self.most]
            if self._n_waiting + part.size > self.most:
                self.settle()
            self._waiting.append(part)
            self._n_waiting += part.size

    def settle(self) -> Sketch:
        """Count the values that wait, and return the sketch itself."""
        if self._waiting:
            ordered = np.sort(np.concatenate(self._waiting))
            self._waiting, self._n_waiting = [], 0
            self._take(ordered, ordered, np.ones(ordered.size, np.int64))
        return self

    def merged(self, other: Sketch) -> Sketch:
        """Return the sketch of all values of both."""
        level = max(self.settle().level, other.settle().level)
        first, second = (Sketch(self.most, level, *one.joined(level)) for one in (self, other))
        first._take(second.least, second.greatest, second.counts)
        return first

    def joined(self, level: int) -> tuple[Floats, Floats, Ints]:
        """Return the cells at a higher level."""
        return _joined(self.least, self.greatest, self.counts, level)

    def _take(self, least: Floats, greatest: Floats, counts: Ints) -> None:
        """Merge cells, ascending, that lie within cells of the level."""
        least, greatest, counts = _joined(least, greatest, counts, self.level)
        if self.counts.size:
            least = np.concatenate([self.least, least])
            order = np.argsort(least, kind="stable")  # fast, since these are two ascending lists
            least = least[order]
            greatest = np.concatenate([self.greatest, greatest])[order]
            counts = np.concatenate([self.counts, counts])[order]
            least, greatest, counts = _joined(least, greatest, counts, self.level)
        if least.size > self.most:
            self.level = _level_for(least, self.level, self.most)
            least, greatest, counts = _joined(least, greatest, counts, self.level)
        self.least, self.greatest, self.counts = least, greatest, counts

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        self.settle()
        return {
            "level": self.level,
            "least": self.least.tolist(),
            "greatest": self.greatest.tolist(),
            "counts": self.counts.tolist(),
        }


def edges_at(values: Floats, level: int) -> Floats:
    """Return where the cells of values begin; at levels finer than a value, that is the value itself.

    Examples
    --------
    >>> import numpy as np
    >>> edges_at(np.array([-0.1, 0.3, 0.75, 1e300]), -1).tolist()
    [-0.5, 0.0, 0.5, 1e+300]
    """
    edges = values.copy()
    coarse: slice | NDArray[np.bool_] = slice(None)  # no value is larger than this
    if level + FRACTION < HIGHEST:
        coarse = np.abs(values) < np.ldexp(1.0, level + FRACTION)
    with np.errstate(over="ignore", under="ignore"):
        numbers = np.floor(np.ldexp(values[coarse], -level))
        numbers[(numbers == 0.0) & (values[coarse] < 0.0)] = -1.0  # the quotient was too small for a float64
        edges[coarse] = np.ldexp(numbers, level)
    return edges


def _level_for(values: Floats, above: int, most: int) -> int:
    """Return the lowest level above ``above`` at which ascending values take at most ``most`` cells."""
    low, high = above, HIGHEST
    while high - low > 1:
        middle = (low + high) // 2
        edges = edges_at(values, middle)
        if np.count_nonzero(edges[1:] != edges[:-1]) < most:
            high = middle
        else:
            low = middle
    return high


def _joined(least: Floats, greatest: Floats, counts: Ints, level: int) -> tuple[Floats, Floats, Ints]:
    """Join ascending cells, each of which lies within one of the level."""
    if least.size == 0:
        return least, greatest, counts
    edges = edges_at(least, level)
    first = np.flatnonzero(np.append(True, edges[1:] != edges[:-1]))
    if first.size == least.size:
        return least, greatest, counts
    tallest = np.maximum.reduceat(greatest, first)
    return least[first], tallest, np.add.reduceat(counts, first)
