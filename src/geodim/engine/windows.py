"""Few points: every window examined, by NumPy alone.

What is small enough is solved in less time than it takes to load compiled code, let alone to compile it (see
`geodim.engine.ways.every_window`).  This is the definition as it stands, for many columns at once: subtract,
and take the least; each width is the one rounding that the compiled engine makes, and so are the bits of Phi.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import numpy as np

from geodim.engine.changed import changed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from geodim.data.checks import Ranges
    from geodim.data.sources import ColumnSource
    from geodim.engine.driver import Driver
    from geodim.engine.profile import Profile

AT_ONCE = 1 << 15  # values of the columns that are examined together: with their widths they fit the cache
# This many windows take NumPy a few seconds: beyond that one has waited as long as loading takes, several
# times over, and is likely to go on.
PATIENCE = 1 << 31
WINDOWS = 1  # what is counted, as in `geodim.engine.kernels.counters`, which imports Numba

_looked_at = 0  # windows, in this process


def kernels_pay() -> bool:
    """Whether compiled code is there already, or so much was done without it that it should be."""
    return "geodim.engine.column" in sys.modules or _looked_at >= PATIENCE


def columns_together(n_points: int, n_features: int) -> int:
    """How many columns are examined together."""
    return max(1, min(n_features, AT_ONCE // n_points))


def solve_every_window(
    source: ColumnSource, profile: Profile, driver: Driver, ranges: Ranges | None = None
) -> None:
    """Solve the columns of ``source`` that are not done yet into ``profile``.

    Parameters
    ----------
    source : ColumnSource
        Where the columns come from.
    profile : Profile
        Takes every column whole.
    driver : Driver
        Is asked between blocks of columns whether to go on, and told how far this is.
    ranges : Ranges, optional
        What the first pass found, which columns must have kept to.
    """
    global _looked_at  # noqa: PLW0603 - what this process has spent so far
    n, d = source.n_points, source.n_features
    left = np.flatnonzero(~profile.done).tolist()
    width = columns_together(n, d)
    driver.report(d - len(left), d)
    for at in range(0, len(left), width):
        if driver.late():
            return
        block = left[at : at + width]
        ordered = _ordered(source, block, profile)
        if ranges is not None:
            _check_ends(ordered, block, ranges)
        for column, phi in zip(block, narrowest(ordered), strict=True):
            profile.merge_whole(phi, column)
            profile.finish(column)
        profile.work[WINDOWS] += len(block) * n * (n - 1) // 2
        _looked_at += len(block) * n * n // 2
        driver.report(int(profile.done.sum()), d)


def narrowest(ordered: NDArray[np.float64]) -> NDArray[np.float64]:
    """The width of the narrowest window of k values at index k - 1, for every row of ascending values.

    Examples
    --------
    >>> import numpy as np
    >>> narrowest(np.array([[0.0, 1.0, 5.0, 7.0]])).tolist()
    [[0.0, 1.0, 5.0, 7.0]]
    """
    n = ordered.shape[1]
    phi, widths = np.zeros(ordered.shape), np.empty(ordered.shape)
    for gap in range(1, n):
        np.subtract(ordered[:, gap:], ordered[:, :-gap], out=widths[:, gap:]).min(axis=1, out=phi[:, gap])
    return phi


def _ordered(source: ColumnSource, block: Sequence[int], profile: Profile) -> NDArray[np.float64]:
    """The values of some columns, ascending, each as often as it stands for a point."""
    ordered = np.empty((len(block), source.n_points))
    if source.runs:
        for at, column in enumerate(block):
            values, counts = source.read_runs(column)
            profile.bytes_read += values.nbytes + counts.nbytes
            ordered[at] = np.repeat(values, counts)
        return ordered
    values = np.empty(ordered.shape, source.dtype)
    source.read(block, values)
    profile.bytes_read += values.nbytes
    values.sort(axis=1)
    ordered[:] = values
    return ordered


def _check_ends(ordered: NDArray[np.float64], block: Sequence[int], ranges: Ranges) -> None:
    """Columns begin and end where the first pass said, or else they were read from other data."""
    expected = np.column_stack([ranges.least[block], ranges.greatest[block]])
    found = ordered[:, [0, -1]]
    for at in np.flatnonzero(np.any(expected != found, axis=1)).tolist():
        raise changed(block[at], tuple(expected[at].tolist()), tuple(found[at].tolist()))
