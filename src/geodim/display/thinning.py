"""Few vertices for a long curve, chosen by the error they leave.

The curve rises from 0 to its top while k runs from 1 to n.  Measured along the way, by k/n + Phi(k)/Phi(n),
it is at most 2 long: marks at equal distances along it cut it into groups within which both k/n and
Phi/Phi(n) change by less than the distance, however steep the curve is.  Drawing the mean of each group keeps
the area and is off by less than that.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

MOST_GROUPS = 900  # 1/450 of either axis: about a pixel


def group_ends(
    support: NDArray[Any],
    low: NDArray[np.float64],
    high: NDArray[np.float64],
    n_points: float,
    most: int = MOST_GROUPS,
) -> NDArray[np.intp]:
    """Return the last index of each group of steps; every step is a group if there are few.

    Parameters
    ----------
    support, low, high : array
        Sizes k, ascending, and bounds on Phi there, ascending too; the curve lies half way between.
    n_points : float
        The number of points, or their mass.
    most : int
        The most groups.

    Returns
    -------
    array of int
        Ascending; the last step, k = n, always is a group of its own.
    """
    size = support.size
    if size <= most:
        return np.arange(size)
    finite = high if np.isfinite(high[-1]) else low  # without an upper bound, the lower one has the shape
    top = max(float(low[-1]), float(finite[-1])) or 1.0

    def along(at: NDArray[np.intp]) -> NDArray[np.float64]:
        return support[at] / n_points + (0.5 * (low[at] / top) + 0.5 * (finite[at] / top))

    # By bisection, so that no array of the length of the data is needed.
    marks = np.linspace(0.0, 2.0, most - 1)[1:]
    below, above = np.zeros(marks.size, np.intp), np.full(marks.size, size, np.intp)
    while np.any(below < above):
        middle = (below + above) // 2
        before = along(np.minimum(middle, size - 1)) < marks
        open_ = below < above
        below = np.where(open_ & before, middle + 1, below)
        above = np.where(open_ & ~before, middle, above)
    ends = np.append(below - 1, (size - 2, size - 1))
    return np.unique(ends[ends >= 0])
