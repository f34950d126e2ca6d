"""Dropping features that are similar to others: Pearson correlations, pair by pair."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from geodim.data.sources import WeightedSource
from geodim.memory import check_bytes

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from geodim.data.sources import ColumnSource

HELD = 256 << 20  # bytes of columns that are held at a time, twice
DECIMALS = 9  # of correlations: copies of a column are then equal, however a sum was rounded


class Dropped(NamedTuple):
    """A dropped feature, the one that it was most correlated with, and how strongly."""

    column: int
    partner: int
    correlation: float


def absolute_correlations(source: ColumnSource) -> NDArray[np.float64]:
    """Return the absolute value of Pearson's correlation for every pair of features, to nine decimals.

    It is 0 for constant features, which have none, and -1 on the diagonal: no feature is its own partner.
    """
    d = source.n_features
    check_bytes(
        16 * d * d,
        f"the table of correlations between {d:,} features",
        "select without drop_correlated, or give fewer columns",
    )
    plain, counts = source, None
    present: slice | NDArray[np.intp] = slice(None)
    if isinstance(source, WeightedSource):
        plain, counts, present = source.source, source.weights, source.present
    width = int(np.clip(HELD // (8 * plain.n_points), 1, d))
    found = np.empty((d, d))

    def standardised(first: int) -> NDArray[np.float64]:
        columns = range(first, min(first + width, d))
        buffer = np.empty((len(columns), plain.n_points), plain.dtype)
        plain.read(columns, buffer)
        return _standardised(buffer[:, present].astype(np.float64), counts)

    for first in range(0, d, width):
        rows = standardised(first)
        for second in range(first, d, width):
            product = np.abs(rows @ (rows if second == first else standardised(second)).T)
            found[first : first + width, second : second + width] = product
            found[second : second + width, first : first + width] = product.T
    np.minimum(found.round(DECIMALS), 1.0, out=found)
    np.fill_diagonal(found, -1.0)
    return found


def _standardised(rows: NDArray[np.float64], counts: NDArray[np.int64] | None) -> NDArray[np.float64]:
    """Return features in rows, centred and of length 1; constant ones are 0."""
    low, high = rows.min(axis=1, keepdims=True), rows.max(axis=1, keepdims=True)
    span = high - low
    rows = (rows - low) / np.where(
        span > 0.0, span, 1.0
    )  # within [0, 1]: squares neither overflow nor vanish
    rows -= np.average(rows, axis=1, weights=counts)[:, np.newaxis]
    if counts is not None:
        rows *= np.sqrt(counts)
    length = np.sqrt(np.einsum("ij,ij->i", rows, rows))[:, np.newaxis]
    scaled: NDArray[np.float64] = np.where(span > 0.0, rows / np.where(span > 0.0, length, 1.0), 0.0)
    return scaled


def drop_most_correlated(
    correlations: NDArray[np.float64], count: int, scores: NDArray[np.float64]
) -> list[Dropped]:
    """Take the two most correlated features, drop one, and go on with the others, ``count`` times.

    Among equally correlated pairs the one with the lowest column, then with the lowest other column,
    comes first; of its two features the one with the lower score is dropped, or the higher column on a tie.

    Parameters
    ----------
    correlations : array of shape (d, d)
        As `absolute_correlations` gives them; changed in place.
    count : int
        How many features to drop, fewer than d.
    scores : array of shape (d,)
        What decides which feature of a pair stays.
    """
    strongest = correlations.max(axis=1)
    left: list[Dropped] = []
    for _ in range(count):
        low = int(np.argmax(strongest))
        high = int(np.argmax(correlations[low]))
        value = float(strongest[low])
        gone, stays = (low, high) if scores[low] < scores[high] else (high, low)
        left.append(Dropped(gone, stays, value))
        before = correlations[:, gone].copy()
        correlations[gone], correlations[:, gone] = -1.0, -1.0
        changed = np.flatnonzero(before >= strongest)
        strongest[changed] = correlations[changed].max(axis=1)
        strongest[gone] = -1.0
    return left
