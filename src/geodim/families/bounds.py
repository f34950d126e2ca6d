"""Bounds on the discriminability of a whole family, from a part of it.

A `Part` is what was found of the features that were made, a `Whole` what that says of all of them.  Both are
about some sizes k, ascending to n: what is said of one of them holds for all k after the one before it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from geodim.engine.parts import mean
from geodim.families.metrics import metric_of
from geodim.families.sources import CoordinateDistances
from geodim.families.spread import spread_bound

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from geodim.data.checks import Ranges
    from geodim.data.sources import ColumnSource
    from geodim.engine.profile import Profile
    from geodim.families.directions import DirectionSource
    from geodim.families.points import Panels

ALL_PAIRS = 4096  # points: of this many all distances are examined for the diameter


@dataclass(frozen=True)
class Part:
    """What was found of some features, as computed.

    Attributes
    ----------
    support : array of int
        Sizes k, ascending; those between two of them share what is said of the greater one.
    lower, upper : array of float
        Bounds on their Phi there.
    ranges : Ranges
        Extremes of every column, or bounds on these where there was no time.
    error : float
        How far any value may lie from that of its definition.
    made : array of bool, optional
        Of which columns these are the extremes, and not bounds on them; all if None.
    owners : array of int, optional
        Which column attains Phi at each size; None if that is not known.
    weights : array of int, optional
        How often each point counts.
    solve : callable, optional
        Gives Phi of other columns of the same points at the same sizes; or None, for want of time.
    """

    support: NDArray[np.int64]
    lower: NDArray[np.float64]
    upper: NDArray[np.float64]
    ranges: Ranges
    error: float
    made: NDArray[np.bool_] | None = None
    owners: NDArray[np.int32] | None = None
    weights: NDArray[Any] | None = None
    solve: Callable[[ColumnSource], NDArray[np.float64] | None] | None = None

    @classmethod
    def of(
        cls,
        profile: Profile,
        ranges: Ranges,
        error: float,
        *,
        n_threads: int = 1,
        made: NDArray[np.bool_] | None = None,
        weights: NDArray[Any] | None = None,
        solve: Callable[[ColumnSource], NDArray[np.float64] | None] | None = None,
    ) -> Part:
        """Return what a profile proves, whether it was solved exactly, to a tolerance, or in part."""
        support, lower, upper = profile.bounds(ranges, n_threads)
        exact = lower is upper
        owners = profile.owner[1:] if exact else None
        return cls(
            support, lower, upper, ranges, error, made, owners, weights, solve if exact else None
        )  # fmt: skip

    @property
    def d_lower(self) -> float:
        """At least so large is the largest range, by the definition."""
        widths = self.ranges.widths if self.made is None else self.ranges.widths[self.made]
        return down(float(widths.max(initial=0.0)) - 2.0 * self.error)

    @property
    def d_upper(self) -> float:
        """At most so large."""
        return up(self.ranges.d_max + 2.0 * self.error)


@dataclass(frozen=True)
class Whole:
    """Bounds on Phi of a whole family, by its definition, at the sizes of the part; and on d_max."""

    lower: NDArray[np.float64]
    upper: NDArray[np.float64]
    d_lower: float
    d_upper: float


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
        return down(1.0 / (upper * upper)) if upper > 0.0 else math.inf

    @property
    def upper(self) -> float:
        """At most so large."""
        lower = self.discriminability_lower
        return up(1.0 / (lower * lower)) if lower > 0.0 else math.inf


def family_bounds(source: ColumnSource, part: Part, *, normalize: bool = True) -> FamilyBounds:
    """Bounds on Delta of the family that these columns are a part of.

    Parameters
    ----------
    source : ColumnSource
        The columns, with a method ``whole``.
    part : Part
        What was found of them.
    normalize : bool
        Divide by the largest range of all features.
    """
    whole: Whole = source.whole(part)  # type: ignore[attr-defined]
    n, here = int(part.support[-1]) if part.support.size else 1, np.diff(part.support, prepend=1)
    lower, upper = down(mean(whole.lower * here, n, 1.0)), up(mean(whole.upper * here, n, 1.0))
    if normalize:
        lower = down(lower / whole.d_upper) if whole.d_upper > 0.0 else 0.0
        upper = min(up(upper / whole.d_lower), 1.0) if whole.d_lower > 0.0 else 1.0
    return FamilyBounds(lower, upper, whole.d_lower, whole.d_upper)


def all_of_it(part: Part) -> Whole:
    """Return the bounds of a family that was computed completely: only rounding lies between them."""
    off = up(2.0 * part.error)
    return Whole(
        np.maximum(part.lower - off, 0.0),
        np.minimum(part.upper + off, part.d_upper),
        part.d_lower,
        part.d_upper,
    )


def net_bounds(part: Part, radius: float, *, among_points: bool) -> Whole:
    """Bounds on Phi over all points from that over landmarks (D1).

    For any two points p and q, |d(x,p) - d(x,q)| <= |d(y,p) - d(y,q)| + 2 d(x,y), so that phi_k of d(x, .) is
    at most that of d(y, .) plus 2 d(x,y).  If every point x is within r of a landmark y then Phi(k) is at
    most Phi_L(k) + 2 r; and no width exceeds the largest range, which is at most d_max of the landmarks plus
    2 r, and at most the greatest distance from a landmark plus r.  If landmarks are points, Phi_L(k) <=
    Phi(k), since more features tell more; else Phi_L(k) - 2 s <= Phi(k) by the same argument, with every
    landmark within s of a point.  It needs the triangle inequality: for a function that is no metric the
    bounds mean nothing.

    Parameters
    ----------
    part : Part
        What was found of the distances from the landmarks.
    radius : float
        How far, at most, a point lies from the nearest landmark, as computed.
    among_points : bool
        Whether the landmarks are points of the data.
    """
    e = part.error
    r = up(radius + e)
    s = 0.0 if among_points else up(float(part.ranges.least.max()) + e)
    farthest = float(part.ranges.greatest.max()) + e + r
    d_upper = up(min(part.d_upper + 2.0 * r, farthest))
    return Whole(
        np.maximum(part.lower - up(2.0 * (s + e)), 0.0),
        np.minimum(part.upper + up(2.0 * (r + e)), d_upper),
        down(part.d_lower - up(2.0 * s)),
        d_upper,
    )


def direction_bounds(source: DirectionSource, part: Part) -> Whole:
    """Bounds on Phi over all directions from that over some.

    Below, any set of directions will do, since more features tell more; above, see `geodim.families.spread`.
    The largest range over all directions is the greatest distance of two points.

    Parameters
    ----------
    source : DirectionSource
        Some directions.
    part : Part
        What was found of them.
    """
    panels, weights, e = source.panels, part.weights, part.error
    if weights is not None:
        present = np.flatnonzero(weights)
        panels, weights = panels.some(present), weights[present]
    d_lower, d_upper = _diameter(source, panels)
    d_lower = max(d_lower, part.d_lower)
    above = spread_bound(panels, weights=weights, sizes=part.support)
    return Whole(np.maximum(part.lower - up(2.0 * e), 0.0), np.minimum(above, d_upper), d_lower, d_upper)


def _diameter(source: DirectionSource, panels: Panels) -> tuple[float, float]:
    """Bounds on the greatest distance of two points.

    All distances of few points; of many, those from the point farthest from the mean, and then from the one
    farthest from that: no two points are more than twice as far apart, nor than twice the greatest length.
    """
    n = panels.n_points
    metric = metric_of("euclidean")
    distances = CoordinateDistances(panels, np.arange(n), metric, None)
    if n <= ALL_PAIRS:
        greatest = max(float(distances.chunk(*chunk).max()) for chunk in distances.chunks())
        error = metric.error(panels, greatest) + source.error(0.0)
        return down(greatest - error), up(greatest + error)
    lengths = np.concatenate([np.einsum("ij,ij->i", some, some) for some in panels.parts()])
    far, column = int(np.argmax(lengths)), np.empty((1, n))
    for _ in range(2):
        distances.fill([far], column)
        far, greatest = int(np.argmax(column)), float(column.max())
    error = metric.error(panels, greatest) + source.error(0.0)
    reach = math.ldexp(source.reach, panels.exponent)
    return down(greatest - error), up(2.0 * min(greatest, reach) + error)


def up(value: float) -> float:
    """Return a little more, to make up for what a few roundings may have lost."""
    return math.nextafter(value * (1.0 + 2.0**-50), math.inf) if value > 0.0 else value


def down(value: float) -> float:
    """Return a little less, and not below 0."""
    return max(math.nextafter(value * (1.0 - 2.0**-50), -math.inf), 0.0)
