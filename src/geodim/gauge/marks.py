"""Reference marks: the dimension of evenly spaced, uniform, normal and Laplace columns of any size.

The dimension of d independent columns of n values is (reach / mean window)^2.  The median reach is computed
(`geodim.gauge.laws`).  The ratio of the mean window to its limit was computed exactly for drawn columns of
many sizes, by ``benchmarks/marks.py``, and is kept in ``windows.json``; between these sizes it is
interpolated, and for more points than any of them it tends to 1 as one over the square root of their number.
For single data sets the dimension scatters around such a mark, the more so the fewer columns there are and
the longer the tails.
"""

from __future__ import annotations

import json
import math
from functools import lru_cache
from importlib.resources import files
from typing import Any, NamedTuple

import numpy as np

from geodim.gauge.laws import LAWS, median_reach

__all__ = ["EVEN", "Mark", "mark_of", "reference_marks"]

# One column of evenly spaced values, in the limit: Phi(k) = (k - 1)/(n - 1), so Delta = 1/2.
EVEN = 4.0
SCALES = ("global", "std", "iqr", "range")
LEAST_PART = 0.05  # least part of the dimension, if each column is divided by its own range


class Mark(NamedTuple):
    """A known kind of columns, and their dimension."""

    name: str
    dimension: float


def reference_marks(n_points: int, n_features: int, scale: str = "global") -> tuple[Mark, ...]:
    """Return dimensions of columns of known kinds, for a number of points and features.

    Parameters
    ----------
    n_points, n_features : int
        The size.
    scale : {"global", "std", "iqr", "range"}
        What columns are divided by.  Columns of one law have nearly the same deviation, so that the first
        three have the same marks; by its own range, each column reaches as far as any other.  Otherwise
        there is only the first mark.

    Returns
    -------
    tuple of Mark
        Evenly spaced, uniform, normal and Laplace columns, the last three by the median over many data sets.

    Examples
    --------
    >>> [mark.name for mark in reference_marks(1000, 10)]
    ['evenly spaced', 'uniform', 'normal', 'Laplace']
    >>> reference_marks(1000, 10)[0].dimension
    4.0
    """
    marks = [Mark("evenly spaced", EVEN)]
    if n_points > 2 and scale in SCALES:
        own = scale == "range"
        marks += [Mark(name, mark_of(name, n_points, n_features, by_range=own)) for name in LAWS]
    return tuple(marks)


@lru_cache(maxsize=256)
def mark_of(name: str, n_points: int, n_features: int, *, by_range: bool = False) -> float:
    """Return the dimension of columns of one law."""
    largest = _windows()["n_points"][-1]
    window = 1.0 + (_read(name, n_points, n_features) - 1.0) * math.sqrt(min(1.0, largest / n_points))
    law = LAWS[name]
    found = (median_reach(law, n_points, n_features) / (law.limit * window)) ** 2
    if by_range:
        found *= max(_read(f"{name} by range", n_points, n_features), LEAST_PART)
    return found


@lru_cache(maxsize=1)
def _windows() -> dict[str, Any]:
    found: dict[str, Any] = json.loads((files("geodim.gauge") / "windows.json").read_text(encoding="utf-8"))
    return found


def _read(name: str, n_points: int, n_features: int) -> float:
    """Return a value of a table, between its sizes, linear in their logarithms.

    The same holds for more features than in the table: the largest of many grows as the logarithm of their
    number, or slower.
    """
    table = _windows()
    widths, values = table["n_features"], np.array(table[name])
    by_width = [
        float(np.interp(math.log(n_points), np.log(table["n_points"]), column)) for column in values.T
    ]
    inside = float(np.interp(math.log(n_features), np.log(widths), by_width))
    if n_features > widths[-1]:
        steps = math.log(n_features / widths[-1]) / math.log(widths[-1] / widths[-2])
        inside += (by_width[-1] - by_width[-2]) * steps
    return inside
