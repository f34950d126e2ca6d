"""The range in which a share may lie, where Phi is only known between bounds.

Features whose windows differ by less than the tolerance cannot be told apart.  What is certain follows from
what the first pass found about every column: a column that at some size is certainly narrower than Phi has no
share there; and where only one column can be as wide, it has all of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from geodim.data.checks import Ranges

GROUPS = 64  # groups of neighbouring sizes, each examined as one
TOGETHER = 1 << 16  # columns times groups that are compared at once
MOST = 1 << 24  # columns times groups; beyond this, shares are only bounded by 0 and 1


def share_bounds(
    support: NDArray[np.int64],
    lower: NDArray[np.float64],
    upper: NDArray[np.float64],
    ranges: Ranges,
    columns: list[int],
) -> list[tuple[float, float]]:
    """Return the least and the greatest share that each of some columns may have.

    Parameters
    ----------
    support : array
        Sizes k, ascending to n; bounds at one of them hold for all sizes after the one before.  If these are
        masses, nothing is known.
    lower, upper : array
        Bounds on Phi there.
    ranges : Ranges
        The ranges of all columns.
    columns : list of int
        The columns in question.
    """
    n_columns = ranges.least.size
    masses = support.dtype.kind == "f"  # of points whose weights are not whole numbers
    unknown = masses or not support.size or not np.all(np.isfinite(upper))
    if unknown or GROUPS * n_columns > MOST:
        return [(0.0, 1.0)] * len(columns)
    edges = np.unique(np.linspace(0, support.size, GROUPS + 1).astype(int))
    here = np.diff(support, prepend=1)
    unit = float(upper[-1]) or 1.0  # sums of the widths themselves could overflow
    least, most = (np.add.reduceat(bound / unit * here, edges[:-1]) for bound in (lower, upper))
    can = np.empty((edges.size - 1, n_columns), np.bool_)
    numbered = int(support[-1]) == ranges.n_points  # else these are points that whole weights stand for
    together = max(1, TOGETHER // n_columns)
    for group in range(0, can.shape[0], together):
        first, last = edges[group:-1][:together], edges[group + 1 :][:together] - 1
        widest = _widest(ranges, support[last]) if numbered else ranges.widths
        can[group : group + together] = widest >= lower[first][:, np.newaxis]
    alone = can.sum(axis=1) == 1
    found = []
    for column in columns:
        own = can[:, column]
        greatest, rest = most[own].sum(), least[~own].sum()
        certain, others = least[own & alone].sum(), most[~(own & alone)].sum()
        found.append(
            (
                float(certain / (certain + others)) if certain > 0.0 else 0.0,
                float(min(greatest / (greatest + rest), 1.0)) if greatest > 0.0 else 0.0,
            )
        )
    return found


def _widest(ranges: Ranges, k: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return upper bounds on phi_k for some k, of every column; see `geodim.data.checks.Ranges.at_most`."""
    left = (ranges.n_points - k + 1)[:, np.newaxis]
    with np.errstate(over="ignore"):
        around_zero = 2.0 * np.sqrt(ranges.energies / left) * (1.0 + 2.0**-50)
    widest: NDArray[np.float64] = np.minimum(around_zero, ranges.widths)
    return widest
