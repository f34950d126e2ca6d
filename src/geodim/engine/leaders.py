"""Which of many columns to solve first, so that counts can drop all the others.

In a sample of the points, at each of a few sizes, the columns whose narrowest windows are widest are likely
leaders.  Nothing here enters a result.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from geodim.engine.threads import threads_for

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from geodim.data.sources import ColumnSource

LEAST, MOST = 64, 256  # points of the sample
SHARE = 16  # the sample has at most every sixteenth point
SIZES = 8  # this many equally spaced, and as many again that are denser where windows are small
PER_SIZE = 6  # columns taken as the widest at each size
BLOCK = 128  # columns that are sorted together


def sample_rows(n_points: int) -> NDArray[np.intp]:
    """Return equally spaced points that stand for all points."""
    m = min(n_points, int(np.clip(n_points // SHARE, LEAST, MOST)))
    return np.unique(np.linspace(0, n_points - 1, m).astype(np.intp))


def sample_sizes(m: int) -> NDArray[np.int64]:
    """Return the window sizes to examine in a sample of m points."""
    sizes = np.concatenate([np.linspace(m / SIZES, m, SIZES), np.geomspace(2, max(m, 2), SIZES)])
    whole = np.unique(sizes.astype(np.int64))
    return whole[(whole >= 2) & (whole <= m)]


def leaders(source: ColumnSource, n_threads: int = 1) -> list[int]:
    """Return the columns that are probably among the widest at some size, most frequent leaders first."""
    d = source.n_features
    rows = sample_rows(source.n_points)
    sizes = sample_sizes(rows.size)
    if not sizes.size:
        return []

    def widths(first: int) -> NDArray[np.float64]:
        columns = np.arange(first, min(first + BLOCK, d))
        sample = np.sort(np.ascontiguousarray(source.sample(columns, rows).T), axis=1)
        return np.stack(
            [(sample[:, size - 1 :] - sample[:, : rows.size - size + 1]).min(axis=1) for size in sizes]
        )

    with threads_for(n_threads) as pool:
        found = np.concatenate(list(pool.map(widths, range(0, d, BLOCK))), axis=1)
    most = min(PER_SIZE, d)
    widest = np.argsort(-found, axis=1, kind="stable")[:, :most]
    chosen, often = np.unique(widest, return_counts=True)
    return [int(column) for column in chosen[np.argsort(-often, kind="stable")]]
