r"""The slope of a distribution of distances, and the independent columns that have the same one.

Let Z be the number of attributes in which two objects differ that are drawn independently from the data, and
f(r) = P(Z < r) for whole r, linear in between: f(0) = 0, f(1) = P(Z = 0).  With f(r1) = 1/4 and f(r2) = 3/4,
Tatti, Mielikäinen, Gionis and Mannila (2006) call the slope of log f against log r between r1 and r2, by
least squares, the correlation dimension cd.  What we have of their paper, its abstract and a summary, does
not say at which radii the line is fitted, nor which q the independent columns below have: here it is fitted
at 50 radii evenly from r1 to r2, and q is stated below.

**Independent columns.**  If the columns are independent and a share p_i has attribute i, two objects differ
in it with probability q_i = 2 p_i (1 - p_i), and Z is a sum of independent trials.  Of H columns that all
have the same q, Z is binomial: mean H q, variance H q (1 - q).  Where that is nearly normal, r2 - r1 is
proportional to the deviation and small against the mean, so that

    cd = C \sqrt{H q / (1 - q)},   C = ln 3 / (2 z) = 0.8144 by the two ends alone,

z = 0.6745 being the upper quartile of the normal law (the fit over all radii has 0.810): cd grows as the root
of the number of columns.

**The normalised dimension** is the number H of independent columns with one common q that have the cd of the
data.  This q comes from the data with its columns made independent, m of them with their own p_i: it is such
that m columns with this q have the same cd as these.  So independent columns have the normalised dimension m,
or nearly so, and by the law above H is about m (cd / cd of independent columns)^2.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

RADII = 50
QUANTILES = (0.25, 0.75)
HALVINGS = 60  # of an interval of shares: to the last bit
SPREAD = math.sqrt(
    3.0
)  # deviations from the mean beyond which no quarter of a law lies, by Cantelli's inequality
FIRST_MEAN = 0.58  # distance from which on cd grows with every column; with fewer the same cd comes again
MOST_COLUMNS = 2**53


def slope(within: Floats, start: int = 0) -> tuple[float, float, float]:
    """Return the slope cd, and the radii between which it is taken.

    Parameters
    ----------
    within : array
        P(Z < r) for r = start, start + 1, ..., from below 1/4 up to 3/4 or beyond.
    start : int
        The first r.

    Examples
    --------
    >>> import numpy as np
    >>> cd, first, last = slope(np.array([0.0, 0.5, 1.0]))  # one column, in half of the objects
    >>> round(cd, 12), first, last  # f is a line through 0
    (1.0, 0.5, 1.5)
    """
    first, last = (start + _place(within, quantile) for quantile in QUANTILES)
    radii = np.linspace(first, last, RADII)
    x = np.log(radii)
    y = np.log(np.interp(radii, np.arange(start, start + within.size), within))
    x -= x.mean()
    return float(x @ y) / float(x @ x), first, last


def _place(within: Floats, quantile: float) -> float:
    """Return where the function that interpolates these values at 0, 1, ... first attains a quantile."""
    after = int(np.searchsorted(within, quantile))
    before = after - 1
    return before + float((quantile - within[before]) / (within[after] - within[before]))


def of_columns(mismatch: Floats, least: int = 0) -> Floats:
    """Return P(Z < r) for independent columns, each with its own probability that two objects differ in it.

    It starts at r = 0 and reaches at least three quarters, or the end, where it is 1.
    """
    some = mismatch[mismatch > 0.0]
    _, end = _window(float(some.sum()), float((some * (1.0 - some)).sum()))
    law = np.zeros(min(max(end, least), some.size) + 1)
    law[0] = 1.0
    for q in some.tolist():
        law[1:] = law[1:] * (1.0 - q) + law[:-1] * q
        law[0] *= 1.0 - q
    return np.concatenate([[0.0], np.minimum(np.cumsum(law), 1.0)])


def slope_of_equal_columns(columns: int, mismatch: float) -> float:
    """Return the slope cd of independent, identically distributed columns: Z is binomial.

    Examples
    --------
    >>> round(slope_of_equal_columns(400, 0.5) / slope_of_equal_columns(100, 0.5), 2)  # the root of 4
    1.99
    """
    from scipy.special import betainc  # noqa: PLC0415 - takes time to import

    start, end = _window(columns * mismatch, columns * mismatch * (1.0 - mismatch))
    below = np.arange(start - 1, min(end, columns) + 1)  # P(Z < r) = P(Z <= r - 1)
    inside = np.clip(below, 0, columns - 1)  # P(Z <= k) is a regularised incomplete beta function
    law = betainc(columns - inside, inside + 1.0, 1.0 - mismatch)
    return slope(np.where(below < 0, 0.0, np.where(below >= columns, 1.0, law)), start)[0]


def _window(mean: float, variance: float) -> tuple[int, int]:
    """Return two distances between which both quartiles lie."""
    off = SPREAD * math.sqrt(variance)
    return max(math.floor(mean - off) - 2, 0), math.ceil(mean + off) + 1


def equal_mismatch(columns: int, wanted: float) -> float:
    """Return the q with which this many columns have the wanted cd; 1/2, fair coins, if none is enough."""
    low, high = min(FIRST_MEAN / columns, 0.5), 0.5
    if slope_of_equal_columns(columns, high) <= wanted:
        return high
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        reached = slope_of_equal_columns(columns, middle) <= wanted
        low, high = (middle, high) if reached else (low, middle)
    return low


def equal_columns(mismatch: float, wanted: float) -> float:
    """Return how many identically distributed columns have the wanted cd, linear between whole numbers.

    If fewer columns have the same cd again, below a mean distance of 0.6, the larger number counts; if even
    the fewest from there on exceed the wanted cd, their number is returned.
    """

    def at(columns: int) -> float:
        return slope_of_equal_columns(columns, mismatch)

    low = max(1, math.floor(FIRST_MEAN / mismatch))
    while at(low + 1) < at(low):
        low += 1
    if at(low) >= wanted:
        return float(low)
    high = 2 * low
    while at(high) < wanted:
        low, high = high, 2 * high
        if high > MOST_COLUMNS:
            return math.inf
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if at(middle) < wanted else (low, middle)
    before, after = at(low), at(high)
    return low + (wanted - before) / (after - before)
