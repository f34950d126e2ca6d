"""Bounds on the discriminability of a whole family, from a part of it.

A `Part` holds what was found about the computed features, a `Whole` what follows for all of them.  Both refer
to some sizes k, ascending to n: a statement about one of them holds for all k after the one before it.
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

ALL_PAIRS = 4096  # up to this many points, all distances are computed for the diameter


@dataclass(frozen=True)
class Part:
    """What was found about some features, as computed.

    Attributes
    ----------
    support : array of int
        Sizes k, ascending; what holds for one of them holds for all sizes after the one before it.
    lower, upper : array of float
        Bounds on their Phi there.
    ranges : Ranges
        Extremes of every column, or bounds on these where time ran out.
    error : float
        How far any value may lie from that of its definition.
    made : array of bool, optional
        For which columns these are the extremes themselves, not bounds on them; all if None.
    owners : array of int, optional
        Which column attains Phi at each size; None if that is not known.
    weights : array of int, optional
        How often each point counts.
    solve : callable, optional
        Gives Phi of other columns of the same points at the same sizes; or None, if time ran out.
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
        """A lower bound on the largest range, by the definition."""
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
    """An interval that holds the value for the whole family: for all points, or for all directions.

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
        """A lower bound on the intrinsic dimension."""
        upper = self.discriminability_upper
        return down(1.0 / (upper * upper)) if upper > 0.0 else math.inf

    @property
    def upper(self) -> float:
        """At most so large."""
        lower = self.discriminability_lower
        return up(1.0 / (lower * lower)) if lower > 0.0 else math.inf


def family_bounds(source: ColumnSource, part: Part, *, normalize: bool = True) -> FamilyBounds:
    """Return bounds on Delta of the family that these columns are a part of.

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
    """Return bounds on Phi over all points from Phi over landmarks (D1).

    For any two points p and q, |d(x,p) - d(x,q)| <= |d(y,p) - d(y,q)| + 2 d(x,y), so phi_k of d(x, .) is
    at most that of d(y, .) plus 2 d(x,y).  If every point x is within r of a landmark y then Phi(k) is at
    most Phi_L(k) + 2 r; and no width exceeds the largest range, which is at most d_max of the landmarks plus
    2 r, and at most the greatest distance from a landmark plus r.  If landmarks are points, Phi_L(k) <=
    Phi(k), since features can only raise Phi; else Phi_L(k) - 2 s <= Phi(k) by the same argument, with every
    landmark within s of a point.  This needs the triangle inequality: for a function that is not a metric the
    bounds mean nothing.

    Parameters
    ----------
    part : Part
        What was found about the distances from the landmarks.
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
    """Return bounds on Phi over all directions from Phi over some.

    Below, any set of directions will do, as features can only raise Phi; above, see `geodim.families.spread`.
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
    """Return bounds on the greatest distance of two points.

    For few points all distances are computed; for many, those from the point farthest from the mean, and then
    from the one farthest from that: no two points are more than twice as far apart, nor more than twice the
    greatest length.
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
