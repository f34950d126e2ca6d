"""What a result says about one size, or about some: bounds on what the definition says of the user's data.

What is held are the widths of features as they were computed.  Those of the definition lie within twice the
error of a feature, since each is the difference of two values; and so does d_max.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from geodim.errors import InputValueError
from geodim.support_field import place_of, support_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from geodim.result import IDResult

ROUNDED = 1.0 + 2.0**-50  # more than a few roundings


def off_by(result: IDResult) -> float:
    """Return how far a width may be from that of the definition."""
    return 2.0 * result.feature_error


def apart(low: float, high: float, off: float) -> tuple[float, float]:
    """Return bounds on widths that are off by so much, besides being rounded themselves."""
    least, most = low / ROUNDED - off, high * ROUNDED + off
    return max(math.nextafter(least, -math.inf), 0.0), math.nextafter(most, math.inf)


def divided(low: float, high: float, result: IDResult) -> tuple[float, float]:
    """Return bounds divided by the scale of a result, of which d_max may be off, too."""
    off = off_by(result) if result.normalized else 0.0
    if off == 0.0:
        return low / result.scale, high / result.scale
    least = result.scale - off
    most = high / least * ROUNDED if least > 0.0 else math.inf
    return low / (result.scale + off) / ROUNDED, most


def widths_at(result: IDResult, k: float) -> tuple[float, float]:
    """Return bounds on Phi(k), see `IDResult.phi_bounds`."""
    if not 0 <= k <= result.mass:  # nor is NaN
        raise InputValueError(f"k is {k}: give a number from 0 to {result.mass:,.15g}")
    if k < 2 and not result.measured:
        return 0.0, 0.0
    support, held, off = support_of(result), result.phi_lower.size, off_by(result)
    above = place_of(support, k, "left")
    below = above if result.stepwise else place_of(support, k, "right") - 1
    low = float(result.phi_lower[below]) if 0 <= below < held else 0.0
    high = float(result.phi_upper[above]) if above < held else result.d_max
    return (low, high) if off == 0.0 else apart(low, high, off)


def diameters_at(result: IDResult, alpha: float) -> tuple[float, float]:
    """Return bounds on the observable diameter, see `IDResult.observable_diameter_bounds`."""
    from geodim.paper import c_alpha  # noqa: PLC0415

    k: float = c_alpha(result.n_points, alpha)  # also checks alpha
    if result.measured:
        k = result.mass * (1.0 - float(alpha))
    return divided(*widths_at(result, k), result)


def dimensions_by(result: IDResult, support: Sequence[int]) -> tuple[float, float]:
    """Return the paper's bounds on the dimension, see `IDResult.support_bounds`."""
    from geodim.paper import check_support, support_bounds  # noqa: PLC0415

    if result.measured:
        raise InputValueError("the paper's support sequences are of sizes k: these points have masses")
    check_support(support, result.n_points)
    at = np.searchsorted(result.support, np.asarray(support))
    if (
        not result.phi_exact
        or np.any(at >= result.support.size)
        or (not result.stepwise and np.any(result.support[at] != np.asarray(support)))
    ):
        msg = "the paper's bounds need the exact Phi at every element of the support sequence: use rtol=0"
        raise InputValueError(msg)
    off = off_by(result)
    found = support_bounds(
        result.phi_lower[at], support, result.n_points, result.scale if off == 0.0 else 1.0
    )
    low, high = found.delta_lower, found.delta_upper
    if off > 0.0:
        low, high = divided(*apart(low, high, off), result)
    return inverse_square(high), inverse_square(low)


def inverse_square(delta: float) -> float:
    """1 / Delta^2, infinite for Delta 0.

    The operations are those of `geodim.paper.intrinsic_dimension`, and so are the bits.  Each of the three
    roundings, that of Delta, of its inverse and of the square, is off by a part of 2^-53 at most: the
    dimension by 5 times as much.
    """
    if delta == 0.0:
        return math.inf
    inverse = 1.0 / delta
    return inverse * inverse
