"""Bounds on the discriminability of a whole family, from a part of it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from geodim.engine.parts import mean
from geodim.families.metrics import metric_of
from geodim.families.sources import CoordinateDistances
from geodim.families.spread import spread_bound

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from geodim.families.directions import DirectionSource
    from geodim.families.solve import SolvedFamily
    from geodim.families.sources import MadeColumns

ALL_PAIRS = 4096  # points: of so many all distances are looked at for the diameter


@dataclass(frozen=True)
class FamilyBounds:
    """An interval that holds the value of the whole family: of all points, or of all directions.

    Attributes
    ----------
    discriminability_lower, discriminability_upper : float
        Bounds on Delta, divided by d_max if normalised.
    d_max_lower, d_max_upper : float
        Bounds on the largest range of all features.
    """

    discriminability_lower: float
    discriminability_upper: float
    d_max_lower: float
    d_max_upper: float

    @property
    def lower(self) -> float:
        """At least so large is the intrinsic dimension."""
        upper = self.discriminability_upper
        return _down(1.0 / (upper * upper)) if upper > 0.0 else math.inf

    @property
    def upper(self) -> float:
        """At most so large."""
        lower = self.discriminability_lower
        return _up(1.0 / (lower * lower)) if lower > 0.0 else math.inf


def net_bounds(source: MadeColumns, solved: SolvedFamily, *, normalize: bool = True) -> FamilyBounds:
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
    solved : SolvedFamily
        What `family_profile` found of them, to the end.
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
    return _bounds(below, above, n, d_lower, d_upper, normalize)


def direction_bounds(
    source: DirectionSource, solved: SolvedFamily, *, normalize: bool = True
) -> FamilyBounds:
    """Bounds on the discriminability over all directions from that over some.

    Below, any set of directions will do, since more features tell more; above, see `geodim.families.spread`.
    The largest range over all directions is the greatest distance of two points.

    Parameters
    ----------
    source : DirectionSource
        Some directions.
    solved : SolvedFamily
        What `geodim.families.solve.family_profile` found of them, to the end.
    normalize : bool
        Divide by the greatest distance.
    """
    phi, n, e = solved.profile.phi, solved.profile.n_points, solved.feature_error
    d_lower, d_upper = _diameter(source)
    d_lower = max(d_lower, _down(solved.d_max - 2.0 * e))
    below = np.maximum(phi[1:] - 2.0 * e, 0.0)
    above = np.minimum(spread_bound(source.panels), d_upper)
    return _bounds(below, above, n, d_lower, d_upper, normalize)


def _diameter(source: DirectionSource) -> tuple[float, float]:
    """Bounds on the greatest distance of two points.

    All distances of few points; of many, those from the point farthest from the mean, and then from the one
    farthest from that: no two points are more than twice as far apart, nor than twice the greatest length.
    """
    panels, n = source.panels, source.n_points
    metric = metric_of("euclidean")
    distances = CoordinateDistances(panels, np.arange(n), metric, None)
    if n <= ALL_PAIRS:
        greatest = max(float(distances.chunk(*chunk).max()) for chunk in distances.chunks())
        error = metric.error(panels, greatest) + source.error(0.0)
        return _down(greatest - error), _up(greatest + error)
    lengths = np.square(panels.rows(np.arange(n))).sum(axis=1)
    far, column = int(np.argmax(lengths)), np.empty((1, n))
    for _ in range(2):
        distances.fill([far], column)
        far, greatest = int(np.argmax(column)), float(column.max())
    error = metric.error(panels, greatest) + source.error(0.0)
    reach = math.ldexp(source.reach, panels.exponent)
    return _down(greatest - error), _up(2.0 * min(greatest, reach) + error)


def _bounds(
    below: NDArray[np.float64],
    above: NDArray[np.float64],
    n: int,
    d_lower: float,
    d_upper: float,
    normalize: bool,
) -> FamilyBounds:
    """From bounds on Phi and on d_max to those on Delta."""
    lower, upper = _down(mean(below, n, 1.0)), _up(mean(above, n, 1.0))
    if normalize:
        lower = _down(lower / d_upper) if d_upper > 0.0 else 0.0
        upper = min(_up(upper / d_lower), 1.0) if d_lower > 0.0 else 1.0
    return FamilyBounds(lower, upper, d_lower, d_upper)


def _up(value: float) -> float:
    return math.nextafter(value * (1.0 + 2.0**-50), math.inf) if value > 0.0 else value


def _down(value: float) -> float:
    return max(math.nextafter(value * (1.0 - 2.0**-50), -math.inf), 0.0)
