"""A look ahead: which columns probably attain the maximum, and roughly how large Delta is.

Nothing here enters a result.  If the likely leaders are solved first, almost every other column can be
dropped early; and the estimate of Delta gives the resolution that a tolerance needs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from geodim.engine.places import spread_places

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from geodim.data.checks import Ranges
    from geodim.data.sources import ColumnSource

ENTRIES = 1 << 19  # size of the sample
FRACTIONS = (np.arange(24) + 0.5) / 24
CLEAR = 4  # at most this many columns that lead the sample at a sixth of the sizes or more
TOGETHER = 16  # columns that are examined at a time: their windows fit the cache
WIDEST = 4  # columns of largest spread, taken over all rows: it separates features that a sample cannot


@dataclass(frozen=True)
class Pilot:
    """What a sample of the rows suggests: the leading columns, Delta, and the smallest Phi."""

    leaders: list[int]
    delta: float
    smallest: float  # Phi at a `SAMPLED` part of the points, about 2 %


def widest_columns(ranges: Ranges) -> list[int]:
    """Return the columns of the largest spread."""
    return [int(column) for column in np.argsort(-ranges.spreads, kind="stable")[:WIDEST]]


def sample_rows(source: ColumnSource) -> NDArray[np.intp]:
    """Return the rows of the sample."""
    most = min(max(ENTRIES // source.n_features, 256), 2048)
    rows = spread_places(source.n_points, most)
    different = np.append(True, rows[1:] > rows[:-1])
    chosen: NDArray[np.intp] = rows[different]
    return chosen


def look_ahead(source: ColumnSource, ranges: Ranges) -> Pilot:
    """Examine the windows of a sample of rows at a few sizes, and return what they suggest."""
    rows = sample_rows(source)
    columns = np.argsort(-ranges.widths, kind="stable")[: max(ENTRIES // rows.size, 1)]
    sample = source.sample(columns, rows)
    m = sample.shape[0]
    if m < 2:
        return Pilot([], 0.0, 0.0)
    sizes = [max(2, round(fraction * m)) for fraction in FRACTIONS.tolist()]
    widths = np.empty((FRACTIONS.size, columns.size))
    for first in range(0, columns.size, TOGETHER):
        some = slice(first, first + TOGETHER)
        lines = np.sort(np.ascontiguousarray(sample[:, some].T), axis=1)
        wide = np.empty_like(lines)
        for at, k in enumerate(sizes):
            starts = m - k + 1
            np.subtract(lines[:, k - 1 :], lines[:, :starts], out=wide[:, :starts])
            wide[:, :starts].min(axis=1, out=widths[at, some])
    best = widths.argmax(axis=1)
    widest = widest_columns(ranges)
    often = np.bincount(columns[best], minlength=source.n_features)
    clear = np.argsort(-often, kind="stable")[:CLEAR]
    leaders = dict.fromkeys([*clear[often[clear] >= FRACTIONS.size // 6].tolist(), *widest])
    best_widths = widths.max(axis=1)
    largest = float(best_widths.max()) or 1.0
    return Pilot(list(leaders), float((best_widths / largest).mean()) * largest, float(best_widths[0]))
