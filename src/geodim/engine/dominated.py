"""A certificate without sorting: this column attains Phi nowhere.

Counts of a few thousand cells tell N(w), the most points in w neighbouring cells; then phi_k is less than w
times the size of a cell for every k <= N(w).  Where cells are too coarse, among the smallest k, the values of
the densest cells alone are sorted: their windows are windows of the column.  Where all these upper bounds lie
below what other columns reached, the column is dropped.  Phi never falls in k, so it is enough to compare the
end of each range of k with the bar at its start.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from geodim.engine.steps import steps_needed

if TYPE_CHECKING:
    from numpy.typing import NDArray

CELLS = 1 << 12
FROM = 1 << 13  # fewer points are sorted sooner than counted
GLANCE = 1 << 13  # points of a sample that tells whether counting all of them is worth it
# Of the points, sorted for the smallest k; one after the other, until one will do.
SHARES = (
    1 / 256,
    1 / 32,
    1 / 8,
)


def is_dominated(
    column: NDArray[np.floating], least: float, greatest: float, bar: NDArray[np.float64]
) -> bool:
    """Whether phi of the column lies strictly below ``bar`` (or is 0) for all d = k - 1.

    False if that is not certain.  ``bar`` holds a lower bound on Phi for every d and never falls.
    """
    n, span = column.size, greatest - least
    if n < FROM or not 0.0 < span < bar[-1]:
        return False
    # A power of two: numbering cells is exact.
    cell = math.ldexp(1.0, math.frexp(span)[1] - CELLS.bit_length() + 1)
    first, cells, far = steps_needed(np.array([least]), np.array([greatest]), cell)
    if far or not cells <= 2 * CELLS:
        return False
    sample = np.ascontiguousarray(column[:: max(n // GLANCE, 1)])
    if not _cells_dominated(_counted(sample, cell, first, int(cells)), cell, n, SHARES[-1], bar):
        return False
    counts = _counted(column, cell, first, int(cells))
    for share in SHARES:
        at = _cells_dominated(counts, cell, n, share, bar)
        if at is not None and _densest_dominated(column, (first[0] + at[0]) * cell, at[1] * cell, at[2], bar):
            return True
    return False


def _cells_dominated(
    counts: NDArray[np.int32], cell: float, n: int, share: float, bar: NDArray[np.float64]
) -> tuple[int, int, int] | None:
    """The densest cells, first and number, and how many points they hold.

    Given only if cells settle all but the smallest d.
    """
    before = np.append(0, np.cumsum(counts, dtype=np.int64))
    scale = n / before[-1]  # 1 unless this is a sample
    widths = _growing(counts.size).tolist()
    dense, held = widths[-1], n
    for w in widths[-2::-1]:  # most columns that fail do so at one of the first
        reach = int((before[w:] - before[:-w]).max() * scale)
        if reach < share * n:  # the rest is left to the values of the densest cells
            break
        if not dense * cell <= bar[min(reach, n - 1)]:
            return None
        dense, held = w, reach
    return int(np.argmax(before[dense:] - before[:-dense])), dense, held


def _densest_dominated(
    column: NDArray[np.floating], low: float, width: float, count: int, bar: NDArray[np.float64]
) -> bool:
    """The same for d < count, by the windows of the values in [low, low + width) alone, which are sorted."""
    values = np.sort(column[(column >= low) & (column < low + width)].astype(np.float64))
    if values.size != count:  # not every cell begins with a number of the column's type
        return False
    sizes = _growing(count - 1)
    for first, last in zip(np.append(1, sizes[:-1] + 1).tolist(), sizes.tolist(), strict=True):
        narrowest = (values[last:] - values[:-last]).min()
        if narrowest > 0.0 and not narrowest < bar[first]:
            return False
    return True


def _growing(last: int) -> NDArray[np.int64]:
    """1, 2, ..., and then in steps of a sixteenth, up to ``last``."""
    sizes = [1]
    while sizes[-1] < last:
        sizes.append(min(sizes[-1] + max(sizes[-1] >> 4, 1), last))
    return np.array(sizes)


def _counted(
    column: NDArray[np.floating], cell: float, first: NDArray[np.float64], cells: int
) -> NDArray[np.int32]:
    from geodim.engine.kernels.sorting import count_steps  # noqa: PLC0415 - imports Numba

    kind = column.dtype.type
    counts = np.empty(cells, np.int32)
    count_steps(column, kind(1.0 / cell), kind(first[0]), counts)
    return counts
