"""Few points: every window examined, by NumPy alone.

Small problems are solved in less time than it takes to load compiled code, let alone to compile it (see
`geodim.engine.ways.every_window`).  This is the literal definition, applied to many columns at once: subtract
and take the minimum.  Each width is rounded once, as in the compiled engine, so Phi has the same bits.
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

AT_ONCE = 1 << 15  # values examined together: they and their widths fit the cache
# NumPy needs a few seconds for this many windows.  By then the user has waited several times as long as
# loading compiled code takes, and more work is likely to follow.
PATIENCE = 1 << 31
WINDOWS = 1  # index of this counter, as in `geodim.engine.kernels.counters`, which imports Numba

_looked_at = 0  # windows, in this process


def kernels_pay() -> bool:
    """Return whether to use compiled code: it is loaded already, or much has been done without it."""
    return "geodim.engine.column" in sys.modules or _looked_at >= PATIENCE


def columns_together(n_points: int, n_features: int) -> int:
    """Return how many columns are examined together."""
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
        Every column is merged into it as a whole.
    driver : Driver
        Decides between blocks of columns whether to go on, and receives the progress.
    ranges : Ranges, optional
        What the first pass found; a column with another range raises an error.
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
    """Return for each row of ascending values the narrowest width of k values, at index k - 1.

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
    """Return the values of some columns in ascending order, each repeated once per point it stands for."""
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
    """Raise unless each column begins and ends where the first pass found it; otherwise the data changed."""
    expected = np.column_stack([ranges.least[block], ranges.greatest[block]])
    found = ordered[:, [0, -1]]
    for at in np.flatnonzero(np.any(expected != found, axis=1)).tolist():
        raise changed(block[at], tuple(expected[at].tolist()), tuple(found[at].tolist()))
