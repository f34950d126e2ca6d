"""Bounds on Phi from sketches of all columns, like those of `geodim.engine.cells` for counts in cells.

A window of k points begins in one cell and ends in another: it is no wider than from the least value of the
first to the greatest of the last, and no narrower than from the greatest of the first to the least of the
last.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from geodim.data.checks import Ranges
from geodim.engine.cells import CellProfile, first_sizes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from geodim.streaming.sketch import Sketch

    Sizes = NDArray[np.int64]
    Bounds = tuple[NDArray[np.float64], NDArray[np.float64]]

MOST_SIZES = 1 << 17
PART = 0.15  # part of the tolerance that omitted sizes may cost


def phi_bounds(sketches: Sequence[Sketch], rtol: float) -> tuple[CellProfile, Ranges]:
    """Return bounds on Phi at sizes that cost little more accuracy than the cells do, and all ranges.

    Parameters
    ----------
    sketches : sequence of Sketch
        One for each column, of the same number of values.
    rtol : float
        How close bounds on the dimension must be; no more sizes than that requires are examined.
    """
    ranges = ranges_of(sketches)
    n = ranges.n_points
    if n < 2 or ranges.d_max == 0.0:
        sizes = np.arange(max(n, 1), max(n, 1) + 1)
        nothing = np.zeros(1)
        return _profile(sketches, n, sizes, (nothing, nothing), np.full(1, -1, np.int32)), ranges
    sizes = first_sizes(n)
    found = _all_columns(sketches, ranges, sizes)
    while True:
        profile = _profile(sketches, n, sizes, found[:2], found[2])
        more = profile.more_sizes(PART * rtol * profile.rounded_mean()[0])
        if more.size == sizes.size or more.size > MOST_SIZES:
            return profile, ranges
        new = np.setdiff1d(more, sizes)
        order = np.argsort(np.append(sizes, new), kind="stable")
        others = _all_columns(sketches, ranges, new)
        lower, upper, owner = found
        found = (
            np.append(lower, others[0])[order],
            np.append(upper, others[1])[order],
            np.append(owner, others[2])[order],
        )
        sizes = more


def ranges_of(sketches: Sequence[Sketch]) -> Ranges:
    """Return the ends of the columns as the sketches know them, and sums of squares bounded by these."""
    least = np.array([sketch.least[0] for sketch in sketches])
    greatest = np.array([sketch.greatest[-1] for sketch in sketches])
    n = sketches[0].total
    with np.errstate(over="ignore"):
        energies = n * np.maximum(np.square(least), np.square(greatest)) * (1.0 + 2.0**-50)
    return Ranges(least, greatest, greatest - least, energies, n)


def _profile(
    sketches: Sequence[Sketch], n: int, sizes: Sizes, bounds: Bounds, owner: NDArray[np.int32]
) -> CellProfile:
    step = 1.0  # anything but 0, which would mean that all is exact
    profile = CellProfile.of(n, len(sketches), step, sizes, bounds, owner)
    profile.done[:] = True
    return profile


def _all_columns(
    sketches: Sequence[Sketch], ranges: Ranges, sizes: Sizes
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.int32]]:
    """Return the largest bounds of all columns, and the column of the upper one; the widest come first."""
    from geodim.engine.kernels.cells import bound_windows  # noqa: PLC0415 - imports Numba

    lower, upper = np.zeros(sizes.size), np.zeros(sizes.size)
    owner = np.full(sizes.size, -1, np.int32)
    own_lower, own_upper = np.empty(sizes.size), np.empty(sizes.size)
    for column in np.argsort(-ranges.widths, kind="stable").tolist():
        if ranges.widths[column] < lower[0] or ranges.widths[column] == 0.0:
            continue  # it reaches what others do at no size
        sketch = sketches[column]
        before = np.append(0, np.cumsum(sketch.counts))
        bound_windows(sketch.least, sketch.greatest, before, sizes, own_lower, own_upper)
        wins = (own_upper > upper) | ((own_upper == upper) & (column < owner))
        owner[wins] = column
        np.maximum(upper, own_upper, out=upper)
        np.maximum(lower, own_lower, out=lower)
    return lower, upper, owner
