r"""The resilience of a feature to the curse of dimensionality (Stubbemann, Hille and Hanika 2023).

*Selecting Features by their Resilience to the Curse of Dimensionality*, by authors of the paper, scores every
feature on its own: :math:`\Delta^*_f = \frac1n \sum_{k=2}^n \frac1k \phi_{k,f}`, where the paper's
discriminability has :math:`\frac1n \sum_k \phi_{k,f}`.  Large data sets are scored there between two bounds,
from :math:`\phi_{k,f}` at the elements of a support sequence.
"""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING

from geodim.arguments import real_number
from geodim.paper._checks import as_values, warn_if_quadratic
from geodim.paper.sequences import feature_sequence, window_minima
from geodim.paper.support import check_support

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import ArrayLike

__all__ = ["feature_resilience", "resilience_bounds"]


def feature_resilience(values: ArrayLike, d_max: float = 1.0) -> float:
    r"""Return :math:`\Delta^*_f = \frac1n \sum_{k=2}^n \frac{\phi_{k,f}}{k}` of one feature.

    Small windows count more than large ones: a feature scores high if even few of its values are never close
    together.  The dimension of the feature is :math:`1/(\Delta^*_f)^2`, see
    :func:`geodim.paper.intrinsic_dimension`.

    Parameters
    ----------
    values : array-like of shape (n,)
        The values f(x) of the feature.
    d_max : float
        What the feature is divided by.

    Returns
    -------
    float
        The float64 nearest to it, given the widths: the sum is made in fractions.

    Warns
    -----
    QuadraticCostWarning
        For more than 5,000 points.

    Examples
    --------
    phi_2 = 1, phi_3 = 4 and phi_4 = 6:

    >>> from geodim.paper import feature_resilience
    >>> feature_resilience([6, 0, 1, 4]), (1 / 2 + 4 / 3 + 6 / 4) / 4
    (0.8333333333333334, 0.8333333333333333)
    """
    n = len(as_values(values))
    warn_if_quadratic(n, n)
    phi = _phi(values, range(2, n + 1))
    return _mean(sum((Fraction(phi[k]) / k for k in phi), Fraction(0)), n, d_max)


def resilience_bounds(values: ArrayLike, support: Iterable[int], d_max: float = 1.0) -> tuple[float, float]:
    r"""Return what :math:`\phi_{k,f}` at the elements of a support sequence says about :math:`\Delta^*_f`.

    Between two elements :math:`s_i < k < s_{i+1}` the width is at least :math:`\phi_{s_i,f}` and at most
    :math:`\phi_{s_{i+1},f}`.  The authors rank features by the mean of the two dimensions that follow.

    Parameters
    ----------
    values : array-like of shape (n,)
        The values f(x) of the feature, two at least.
    support : iterable of int
        The support sequence, see :func:`geodim.paper.log_scale_support`.
    d_max : float
        What the feature is divided by.

    Returns
    -------
    tuple of float
        The lower and the upper bound, each the nearest float64.

    Examples
    --------
    >>> from geodim.paper import feature_resilience, resilience_bounds
    >>> resilience_bounds([6, 0, 1, 4], [2, 4]), feature_resilience([6, 0, 1, 4])
    ((0.5833333333333334, 1.0), 0.8333333333333334)
    >>> resilience_bounds([6, 0, 1, 4], [2, 3, 4])
    (0.8333333333333334, 0.8333333333333334)
    """
    n = len(as_values(values))
    sizes = check_support(support, n)
    warn_if_quadratic(n, len(sizes))
    phi = _phi(values, sizes)
    lower, upper = Fraction(0), Fraction(phi[2]) / 2
    for left, right in pairwise(sizes):
        lower += Fraction(phi[left]) * sum(Fraction(1, k) for k in range(left, right))
        upper += Fraction(phi[right]) * sum(Fraction(1, k) for k in range(left + 1, right + 1))
    lower += Fraction(phi[n]) / n
    return _mean(lower, n, d_max), _mean(upper, n, d_max)


def _phi(values: ArrayLike, sizes: Iterable[int]) -> dict[int, float]:
    """Return the width of the narrowest window for every size."""
    sequence = feature_sequence(values)[:, None]
    return {k: float(window_minima(sequence, k)[0]) for k in sizes}


def _mean(total: Fraction, n: int, d_max: float) -> float:
    try:
        return float(total / n / Fraction(real_number(d_max, "d_max", above=0.0, below=math.inf)))
    except OverflowError:
        return math.inf
