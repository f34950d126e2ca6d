r"""Findings about what everything is divided by: outliers, units, and columns that decide alone.

**The dimension without a few points, from the given profile.**  Let :math:`\Phi(k)` be the profile of n
points, S the s columns with the largest ranges, and :math:`T = \max(\Phi(n - j), w)`, with w the largest
range of the other columns.  For every column in S leave out the j points outside of its narrowest
window of n - j points, and where these are fewer than m = j s in all, any others with them.  What is left is
called X'.

1. *The largest range of X' is at most T*: columns in S keep a window of width
   :math:`\phi_{n-j,f} \le \Phi(n - j)`, the others have no larger range than w.  It is at least
   :math:`\Phi(n - m)`, by 2.
2. :math:`\Phi(k) \le \Phi'(k) \le \Phi(k + m)`.  A window that holds k points of X' holds as many of X; and
   one that holds k + m points of X still holds k once m are gone.  Both for every column, hence for the
   maximum.
3. So X' has n' = n - m points, and the sum of its widths lies between :math:`\sum_{k=2}^{n-m} \Phi(k)` and
   :math:`\sum_{k=m+2}^{n} \min(\Phi(k), T)`.  Both differ from the sum over all k, which is known, in at most
   2m terms: for k up to n - j, :math:`\Phi(k)` is at most T.  They are at most m T apart, so that the
   discriminability without the points is known to m / (n - m), and to how well its largest range is known.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from geodim.alerts.alert import NOTE, WARNING, Alert, finite
from geodim.words import counted, number, percent

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from geodim.alerts.view import View
    from geodim.result import IDResult

__all__ = ["Without", "deciding", "outliers", "without_few"]

HANDFUL = 10  # points at most,
PART = 50  # and one in this many
CLEARLY = 4.0  # times the dimension without them: d_max is twice what it would be
SMALL = 0.1  # of the largest range
NOTHING = 0.01  # of the discriminability
CLOSE = 0.5  # part of how far a column spreads the points
ALONE = 0.98  # of the discriminability: the dimension is that of one column to within 4 %
ROUNDING = 2.0**-40  # more than sums of widths are ever off by


class Without(NamedTuple):
    """What is known about the dimension without the points that determine d_max."""

    points: int  # this many are left out
    columns: int  # because of the largest ranges of this many
    d_max: float  # an upper bound on it
    lower: float
    upper: float


def without_few(result: IDResult, widths: NDArray[np.float64], most: int) -> Iterator[Without]:
    """Yield certified bounds on the dimension without 1, 2, ..., ``most`` of the points that set d_max."""
    n, scale = result.n_points, result.scale
    total_low = result.discriminability_lower * scale * n * (1.0 - ROUNDING)
    total_high = result.discriminability_upper * scale * n * (1.0 + ROUNDING)
    widest = np.sort(widths)[::-1]
    for points in range(1, min(most, n - 2) + 1):
        for columns in range(1, min(points, widths.size) + 1):
            if points % columns:
                continue
            j = points // columns
            others = float(widest[columns]) if columns < widths.size else 0.0
            largest, smallest = max(result.phi_bounds(n - j)[1], others), result.phi_bounds(n - points)[0]
            if not smallest > 0.0:
                continue
            beyond = sum(max(result.phi_bounds(k)[0] - largest, 0.0) for k in range(n - j + 1, n + 1))
            first = sum(result.phi_bounds(k)[0] for k in range(2, points + 2))
            last = sum(result.phi_bounds(k)[1] for k in range(n - points + 1, n + 1))
            low = max(total_low - last, 0.0) / (n - points) / largest
            high = (total_high - beyond - first) / (n - points) / smallest
            yield Without(points, columns, largest, _inverse_square(min(high, 1.0)), _inverse_square(low))


def outliers(view: View) -> Alert | None:
    """Find a handful of points without which the dimension would be far lower, if they have no masses."""
    result = view.result
    if not result.normalized or result.stopped or result.feature_error > 0.0 or result.d_max == 0.0:
        return None
    if result.measured:
        return None
    n = result.n_points
    most = min(HANDFUL, max(1, n // PART))
    # Necessary for what follows, and rarely so: T (n - m) / n is at most d_max / 2.
    if result.phi_bounds(n - most)[0] * (n - most) / n > result.d_max / math.sqrt(CLEARLY):
        return None
    found = None
    least = result.lower
    for one in without_few(result, view.ranges.widths, most):
        if CLEARLY * one.upper <= least:  # of several, those that still matter once the others are gone
            found, least = one, one.lower
    if found is None:
        return None
    column = view.widest
    low, high = float(view.ranges.least[column]), float(view.ranges.greatest[column])
    single = found.points == 1
    who = counted(found.points, "point") + ("" if found.columns == 1 else " or fewer")
    message = (
        f"{who} of {n:,} {'sets' if single else 'set'} the range by which everything is divided: "
        f"without {'it' if single else 'them'}, that range falls from "
        f"{number(result.d_max)} to {number(found.d_max)} or less, and the dimension from "
        f"{number(result.dimension)} to {_between(found)}."
    )
    return Alert(
        "outliers",
        WARNING,
        message,
        {
            "points": found.points,
            "column": view.name(column),
            "least": low,
            "greatest": high,
            "d_max": result.d_max,
            "d_max_without": found.d_max,
            "dimension_without_lower": found.lower,
            "dimension_without_upper": found.upper,
        },
        f"Look at the extreme values of {view.called(column)}, which reaches from {number(low)} to "
        f"{number(high)}: correct or leave out wrong ones. If they are right, few points decide the number.",
    )


def deciding(view: View, *, tied: bool) -> Alert | None:
    """Find a unit or column that decides alone, whatever the others hold; a column that ties does not."""
    if view.result.stopped or not view.shares:
        return None
    return _units(view) or (None if tied else _one_column(view))


def _units(view: View) -> Alert | None:
    widths = view.ranges.widths
    varying = np.flatnonzero(widths > 0.0)
    small = varying[widths[varying] < SMALL * widths.max()]
    if small.size < max(2, varying.size / 2):
        return None
    large = widths >= SMALL * widths.max()
    carried = sum(share for column, share in view.shares.items() if large[column])
    if carried < 1.0 - NOTHING:
        return None
    column = view.widest
    median = float(np.sort(widths[varying])[(varying.size - 1) // 2])
    message = (
        f"{small.size:,} of {counted(varying.size, 'column')} have ranges below a tenth of the largest, "
        f"{number(float(widths[column]))} of {view.called(column)} (half of all columns have "
        f"{number(median)} or less): measured by one unit for all, they count for almost nothing, whatever "
        "they hold."
    )
    return Alert(
        "units",
        WARNING,
        message,
        {
            "column": view.name(column),
            "largest_range": float(widths[column]),
            "median_range": median,
            "columns_below_a_tenth": int(small.size),
            "columns": int(varying.size),
            "share_of_the_large": carried,
        },
        'If the columns have different units, measure each by its own range: scale="range" (--scale range).',
    )


def _one_column(view: View) -> Alert | None:
    result = view.result
    column, share = next(iter(view.shares.items()))
    if share < ALONE or int(np.count_nonzero(view.ranges.widths > 0.0)) < 2:
        return None
    widths = view.windows.widths
    spreads = (widths / (widths.max(initial=0.0) or 1.0)).mean(axis=0)  # sums of the widest would overflow
    leads = view.windows.columns == column
    first, second = (float(spreads[which].max(initial=0.0)) for which in (leads, ~leads))
    if not first > 0.0 or not second <= CLOSE * first:
        return None  # others are nearly as wide, and would do as well
    alone = result.upper / share**2  # it keeps at least its share of the sum over k
    message = (
        f"{view.called(column)} alone decides: it carries {percent(share)} of the discriminability, and "
        f"without all other columns the dimension would be {number(alone)} at most."
    )
    return Alert(
        "one-column",
        NOTE,
        message,
        {
            "column": view.name(column),
            "share": share,
            "dimension_alone_at_most": finite(alone),
            "next_spreads_as_far": second / first,
        },
        "The number says nothing about the other columns; leave this one out to see them, or measure each "
        'column by its own range: scale="range" (--scale range).',
    )


def _between(found: Without) -> str:
    low, high = number(found.lower, 3), number(found.upper, 3)
    return f"about {low}" if low == high else f"between {low} and {high}"


def _inverse_square(delta: float) -> float:
    inverse = 1.0 / delta if delta > 0.0 else math.inf
    return inverse * inverse
