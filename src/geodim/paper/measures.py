r"""Points of any mass: the definitions for a measure that is not the counting measure.

The paper's definitions ask how much of the measure an interval holds, not how many points. For masses
:math:`w_x > 0` of total W (a point of mass 0 is not there), a feature f and a mass m in (0, W],

.. math:: \phi_f(m) = \min \{ b - a : \sum_{a \le f(x) \le b} w_x \ge m \}, \qquad
          \Delta = \frac1W \int_0^W \max_f \phi_f(m)\, dm.

With :math:`w_x = 1` the integrand is :math:`\phi_k` on (k - 1, k], and Delta the mean over k = 1, ..., n.
Masses and their sums are fractions here: nothing but widths and the final quotient is rounded.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from geodim.arguments import real_number
from geodim.errors import InputTypeError, InputValueError, ShapeError
from geodim.paper._checks import as_matrix, as_values, difference, warn_if_quadratic

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    from geodim.paper._checks import Numbers

    Steps = list[tuple[Fraction, float]]
    Weight = float | Fraction

__all__ = ["discriminability_of_measure", "partial_diameter_of_mass", "phi_of_measure"]


def _masses(weights: Sequence[Weight] | NDArray[np.generic], n: int) -> list[Fraction]:
    """Return the weights as fractions, as they are."""
    given = weights.tolist() if isinstance(weights, np.ndarray) else list(weights)
    if len(given) != n:
        raise ShapeError(f"there are {len(given)} weights for {n} points")
    try:
        masses = [Fraction(weight) for weight in given]
    except (TypeError, ValueError, OverflowError) as error:
        raise InputTypeError("weights need to be finite numbers: integers, floats or fractions") from error
    if min(masses) < 0 or max(masses) == 0:
        raise InputValueError("weights must not be negative, nor all zero")
    return masses


def partial_diameter_of_mass(values: ArrayLike, weights: Sequence[Weight], mass: float | Fraction) -> float:
    r"""Return :math:`\phi_f(m)`, the width of the narrowest interval that holds a mass of at least m.

    By definition: every interval between two values is tried.

    Parameters
    ----------
    values : array-like of shape (n,)
        The values of the feature.
    weights : sequence of n numbers
        The mass of every point: integers, floats or fractions, not negative.
    mass : float or fractions.Fraction
        More than 0, and at most that of all points.

    Returns
    -------
    float
        The width.

    Examples
    --------
    >>> from geodim.paper import partial_diameter_of_mass
    >>> [partial_diameter_of_mass([0, 1, 4], [0.5, 0.25, 2], mass) for mass in (0.5, 2, 2.25)]
    [0.0, 0.0, 3.0]
    """
    f = as_values(values)
    masses, m = _masses(weights, len(f)), Fraction(mass)
    if not 0 < m <= sum(masses):
        raise InputValueError(f"mass {mass} is not allowed; it must lie in (0, {float(sum(masses))}]")
    widths = [
        float(difference(b, a))
        for a in f
        for b in f[f >= a]
        if sum(w for x, w in zip(f, masses, strict=True) if a <= x <= b) >= m
    ]
    return min(widths)


def _steps(values: Numbers, masses: list[Fraction]) -> Steps:
    r"""Return :math:`\phi_f` as steps: the last mass of each, ascending, and its width.

    A window of sorted values holds the mass of all its points; going down from the heaviest one,
    the running minimum of the widths is phi.
    """
    order = np.argsort(values, kind="stable")
    windows = []
    for i, first in enumerate(order):
        mass = Fraction(0)
        for last in order[i:]:
            mass += masses[last]
            windows.append((mass, float(difference(values[last], values[first])) + 0.0))
    narrowest, steps = math.inf, []
    for mass, width in sorted(windows, key=lambda window: (-window[0], window[1])):
        if width < narrowest:
            narrowest = width
            steps.append((mass, width))
    return steps[::-1]


def phi_of_measure(X: ArrayLike, weights: Sequence[Weight]) -> Steps:
    r"""Return :math:`\Phi(m) = \max_f \phi_f(m)` as steps.

    Parameters
    ----------
    X : array-like of shape (n, d)
        The data; its columns are the features.
    weights : sequence of n numbers
        The mass of every point: integers, floats or fractions, not negative.

    Returns
    -------
    list of (Fraction, float)
        Masses, ascending to that of all points, and the width that Phi has from after the mass
        before up to this one. Widths ascend, too.

    Warns
    -----
    QuadraticCostWarning
        For more than 5,000 points.

    Examples
    --------
    >>> from geodim.paper import phi_of_measure
    >>> [(float(mass), width) for mass, width in phi_of_measure([[0], [1], [4]], [0.5, 0.25, 2])]
    [(2.0, 0.0), (2.25, 3.0), (2.75, 4.0)]
    """
    matrix = as_matrix(X)
    masses = _masses(weights, len(matrix))
    present = [i for i, mass in enumerate(masses) if mass > 0]
    warn_if_quadratic(len(present), len(present))
    masses = [masses[i] for i in present]
    per_feature = [_steps(column[present], masses) for column in matrix.T]
    ends = sorted({mass for steps in per_feature for mass, _ in steps})
    phi: Steps = []
    for end in ends:
        width = max(steps[bisect_left(steps, end, key=lambda step: step[0])][1] for steps in per_feature)
        if phi and phi[-1][1] == width:
            phi.pop()
        phi.append((end, width))
    return phi


def discriminability_of_measure(X: ArrayLike, weights: Sequence[Weight], d_max: float = 1.0) -> float:
    r"""Return the discriminability of points with masses, the integral of Phi over the mass.

    .. math:: \Delta = \frac1W \int_0^W \Phi(m)\, dm

    Parameters
    ----------
    X : array-like of shape (n, d)
        The data; its columns are the features.
    weights : sequence of n numbers
        The mass of every point: integers, floats or fractions, not negative.
    d_max : float
        What the features are divided by.

    Returns
    -------
    float
        The float64 nearest to it; that of :func:`algorithm_1` if every weight is 1.

    Examples
    --------
    >>> from geodim.paper import algorithm_1, discriminability_of_measure
    >>> discriminability_of_measure([[0], [1], [4]], [0.5, 0.25, 2])
    1.0
    >>> discriminability_of_measure([[0], [3]], [2, 1]), algorithm_1([[0], [0], [3]])
    (1.0, 1.0)
    """
    phi = phi_of_measure(X, weights)
    scale = Fraction(real_number(d_max, "d_max", least=0.0))
    before, area = Fraction(0), Fraction(0)
    for mass, width in phi:
        area += (mass - before) * Fraction(width)
        before = mass
    try:
        return float(area / before / scale)
    except OverflowError:
        return math.inf
