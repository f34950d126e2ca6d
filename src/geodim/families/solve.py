"""From distances to a profile, and from landmarks to an interval that holds the value for all points."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from geodim.data.checks import Ranges
from geodim.engine.leaders import leaders
from geodim.engine.parts import mean, thread_count
from geodim.engine.solve import compute_profile
from geodim.families.sources import MadeColumns

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from geodim.engine.profile import Profile

LEADERS_FROM = 64  # columns and points: fewer are solved in any order


@dataclass(frozen=True)
class SolvedDistances:
    """A profile of distance features, and what `geodim.summary.summarise` wants to know besides.

    Attributes
    ----------
    profile : Profile
        Phi for every d = k - 1, exact for the values of the source.
    ranges : Ranges
        Extremes of every column; of columns that were not made, for want of time, bounds.
    feature_error : float
        How far any value may lie from the distance itself.
    d_max, d_max_error : float
        The largest range of a column, and how far it may be off.
    radius : float
        How far, at most, a point lies from the nearest centre; 0 if all points are centres.
    """

    profile: Profile
    ranges: Ranges
    feature_error: float
    d_max: float
    d_max_error: float
    radius: float


def distance_profile(
    source: MadeColumns,
    *,
    n_threads: int | None = None,
    time_limit: float | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> SolvedDistances:
    """Phi over all columns of a source of distances, exactly; each column is made once.

    A sample of the points tells which columns lead; they are solved first, and nearly all others are dropped
    by counts as soon as they are made.

    Parameters
    ----------
    source : MadeColumns
        Where the distances come from, see `geodim.families.Distances.source`.
    n_threads : int, optional
        Threads; all cores by default.  The result does not depend on it.
    time_limit : float, optional
        Seconds after which no new column is made; the profile then says so, and has bounds.
    progress : callable, optional
        Called with (columns done, columns in all) in this thread.
    """
    deadline = None if time_limit is None else time.monotonic() + time_limit
    threads = thread_count(n_threads)
    n, m = source.n_points, source.n_features
    first = leaders(source, threads) if min(n, m) >= LEADERS_FROM and source.at_once > 1 else []
    ends = np.full((m, 2), np.nan)
    covering = _Covering(source) if source.points is None or m < n else None
    profile = compute_profile(
        covering or source, leaders=first, n_threads=threads, deadline=deadline, progress=progress, ends=ends
    )
    made = ~np.isnan(ends[:, 0])
    d_max, off = float(np.ptp(ends[made], axis=1).max(initial=0.0)), 0.0
    if not made.all():
        ends[~made, 0], ends[~made, 1] = 0.0, _at_most(source)[~made]
        off = 0.5 * max(float(ends[:, 1].max()) - d_max, 0.0)
        d_max += off
    error = source.error(float(ends[:, 1].max()))
    with np.errstate(over="ignore"):
        energies = n * np.square(ends[:, 1]) * (1.0 + 2.0**-50)
    ranges = Ranges(ends[:, 0].copy(), ends[:, 1].copy(), np.zeros(m), energies, n)
    radius = 0.0 if covering is None else covering.radius()
    return SolvedDistances(profile, ranges, error, d_max, off + 2.0 * error, radius)


def _at_most(source: MadeColumns) -> NDArray[np.float64]:
    """Bounds on the greatest value of every column, from one column and one row.

    With p the first point and c the first centre, d(x, y) <= d(x, p) + d(c, p) + d(c, y).
    """
    column = np.empty((1, source.n_points))
    source.read([0], column)
    row = source.sample(np.arange(source.n_features), np.array([0]))[0]
    bound: NDArray[np.float64] = (row + column[0, 0] + column.max()) * (1.0 + 2.0**-40)
    return bound


class _Covering(MadeColumns):
    """The same columns; while they are made it notes how far every point is from the nearest centre."""

    def __init__(self, source: MadeColumns) -> None:
        super().__init__(source.n_points, source.n_features, source.points, source.metric, source.names)
        self.at_once = source.at_once
        self._source = source
        self._nearest = np.full(source.n_points, np.inf)

    def fill(
        self, columns: Sequence[int], out: NDArray[np.floating], rows: NDArray[np.intp] | None = None
    ) -> None:
        self._source.fill(columns, out, rows)
        if rows is None:
            nearest = out.min(axis=0)
            with self.lock:
                np.minimum(self._nearest, nearest, out=self._nearest)

    def error(self, greatest: float) -> float:
        return self._source.error(greatest)

    def radius(self) -> float:
        """The greatest distance to the nearest of the centres whose columns were made."""
        return float(self._nearest.max())


@dataclass(frozen=True)
class NetBounds:
    """What landmarks tell of the distances to all points: an interval that holds the value for all of them.

    Attributes
    ----------
    discriminability_lower, discriminability_upper : float
        Bounds on Delta over all points, divided by d_max if normalised.
    d_max_lower, d_max_upper : float
        Bounds on the largest range of all columns.
    radius : float
        How far, at most, a point lies from the nearest landmark.
    """

    discriminability_lower: float
    discriminability_upper: float
    d_max_lower: float
    d_max_upper: float
    radius: float

    @property
    def lower(self) -> float:
        """At least so large is the intrinsic dimension of all distances."""
        upper = self.discriminability_upper
        return 1.0 / (upper * upper) if upper > 0.0 else math.inf

    @property
    def upper(self) -> float:
        """At most so large."""
        lower = self.discriminability_lower
        return 1.0 / (lower * lower) if lower > 0.0 else math.inf


def net_bounds(source: MadeColumns, solved: SolvedDistances, *, normalize: bool = True) -> NetBounds:
    """Bounds on the discriminability over all points from that over landmarks (D1).

    For any two points p and q, |d(x,p) - d(x,q)| <= |d(y,p) - d(y,q)| + 2 d(x,y), so that phi_k of d(x, .) is
    at most that of d(y, .) plus 2 d(x,y).  If every point x is within r of a landmark y then Phi(k) is at
    most Phi_L(k) + 2 r; and no width exceeds the largest range, which is at most d_max of the landmarks plus
    r.  If landmarks are points, Phi_L(k) <= Phi(k), since more features tell more; else Phi_L(k) - 2 r <=
    Phi(k) by the same argument.  It needs the triangle inequality: for a function that is no metric the
    bounds mean nothing.

    Parameters
    ----------
    source : MadeColumns
        Distances from the landmarks.
    solved : SolvedDistances
        What `distance_profile` found of them, to the end.
    normalize : bool
        Divide by the largest range of all columns.
    """
    phi, n, e = solved.profile.phi, solved.profile.n_points, solved.feature_error
    r, s = solved.radius + e, 0.0
    if source.points is None:
        s = float(solved.ranges.least.max()) + e
    d_lower = _down(solved.d_max - solved.d_max_error - 2.0 * s)
    farthest = float(solved.ranges.greatest.max()) + e + r
    d_upper = _up(min(solved.d_max + solved.d_max_error + 2.0 * r, farthest))
    below = np.maximum(phi[1:] - 2.0 * (s + e), 0.0)
    above = np.minimum(phi[1:] + 2.0 * (r + e), d_upper)
    lower, upper = _down(mean(below, n, 1.0)), _up(mean(above, n, 1.0))
    if normalize:
        lower = _down(lower / d_upper) if d_upper > 0.0 else 0.0
        upper = min(_up(upper / d_lower), 1.0) if d_lower > 0.0 else 1.0
    return NetBounds(lower, upper, d_lower, d_upper, solved.radius)


def _up(value: float) -> float:
    return math.nextafter(value * (1.0 + 2.0**-50), math.inf) if value > 0.0 else value


def _down(value: float) -> float:
    return max(math.nextafter(value * (1.0 - 2.0**-50), -math.inf), 0.0)
