r"""The definitions of Section 3: partial diameter, observable diameter, discriminability.

Twice, on purpose. The functions ending in ``_by_subsets`` go through all subsets M of size :math:`c_\alpha`,
as the paper's Lemma "partdiam" states the definition for finite data; the others use the sorted feature
sequences of Lemma "k". That both agree is the first thing the tests check.
"""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from geodim.arguments import whole_number
from geodim.errors import InputValueError
from geodim.paper._checks import as_matrix, as_values, exact_multiple, mean_over_points
from geodim.paper.sequences import feature_sequence, phi_k, phi_kf

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

__all__ = [
    "c_alpha",
    "discriminability_by_definition",
    "is_geometric_dataset",
    "observable_diameter",
    "observable_diameter_by_subsets",
    "partial_diameter",
    "partial_diameter_by_subsets",
]

MAX_SUBSET_POINTS = 20


def is_geometric_dataset(X: ArrayLike) -> bool:
    r"""Return whether F discriminates all points.

    That is, :math:`d_F(x,y) = \max_f |f(x) - f(y)| > 0` for all :math:`x \neq y`. The paper asks this of a
    finite geometric data set. The intrinsic dimension itself does not need it.

    Parameters
    ----------
    X : array-like of shape (n, d)
        The data; its columns are the features.

    Returns
    -------
    bool
        True if no two rows are equal.

    Examples
    --------
    >>> from geodim.paper import is_geometric_dataset
    >>> is_geometric_dataset([[0, 1], [0, 2]]), is_geometric_dataset([[0, 1], [0, 1]])
    (True, False)
    """
    matrix = as_matrix(X)
    return len(np.unique(matrix, axis=0)) == len(matrix)


def c_alpha(n: int, alpha: float | Fraction) -> int:
    r"""Return :math:`c_\alpha = \lceil |X| (1 - \alpha) \rceil`, the least size of measure 1 - alpha.

    Parameters
    ----------
    n : int
        The number of points.
    alpha : float or fractions.Fraction
        In the open interval (0, 1). The product is formed without rounding. A fraction is exact; a float is
        taken as j/n if it is the float64 nearest to j/n for some integer j, and as the binary fraction it is
        otherwise. So ``alpha=0.7`` and ten points give 3, where ``math.ceil(10 * (1 - 0.7))`` would give 4.

    Returns
    -------
    int
        A number from 1 to n.

    Examples
    --------
    >>> from fractions import Fraction
    >>> from geodim.paper import c_alpha
    >>> c_alpha(10, 0.7), c_alpha(10, Fraction(69, 100)), c_alpha(3, Fraction(1, 3))
    (3, 4, 2)
    """
    n = whole_number(n, "n", 1)
    n_alpha = exact_multiple(n, alpha, "alpha")
    if not 0 < n_alpha < n:
        raise InputValueError(f"alpha = {alpha} is not allowed; it must lie strictly between 0 and 1")
    return math.ceil(n - n_alpha)


def partial_diameter_by_subsets(values: ArrayLike, alpha: float | Fraction) -> float:
    r"""Return the partial diameter of one feature, by going through all subsets.

    .. math:: \mathrm{PartDiam}(f_*(\nu), 1-\alpha) = \min_{|M| = c_\alpha} \max_{x,y \in M} |f(x) - f(y)|

    Parameters
    ----------
    values : array-like of shape (n,)
        The values of the feature; at most 20, since the cost is exponential.
    alpha : float or fractions.Fraction
        In (0, 1); see :func:`c_alpha`.

    Returns
    -------
    float
        The partial diameter.

    Examples
    --------
    >>> from geodim.paper import partial_diameter_by_subsets
    >>> partial_diameter_by_subsets([4, 0, 1, 6], 0.25)
    4.0
    """
    f = as_values(values)
    if len(f) > MAX_SUBSET_POINTS:
        raise InputValueError(
            f"{len(f)} points have too many subsets; the definition is for at most {MAX_SUBSET_POINTS} "
            "points: use the function without _by_subsets, which gives the same number"
        )
    subsets = combinations(f.tolist(), c_alpha(len(f), alpha))
    return float(min(max((abs(fx - fy) for fx, fy in combinations(M, 2)), default=0.0) for M in subsets))


def partial_diameter(values: ArrayLike, alpha: float | Fraction) -> float:
    r"""Return the partial diameter of one feature, from its feature sequence.

    .. math:: \mathrm{PartDiam}(f_*(\nu), 1-\alpha) = \phi_{c_\alpha, f}

    Parameters
    ----------
    values : array-like of shape (n,)
        The values of the feature.
    alpha : float or fractions.Fraction
        In (0, 1); see :func:`c_alpha`.

    Returns
    -------
    float
        The partial diameter.

    Examples
    --------
    >>> from geodim.paper import partial_diameter
    >>> partial_diameter([4, 0, 1, 6], 0.25)
    4.0
    """
    sequence = feature_sequence(values)
    return phi_kf(sequence, c_alpha(len(sequence), alpha))


def observable_diameter_by_subsets(X: ArrayLike, alpha: float | Fraction) -> float:
    r"""Return the observable diameter, by going through all subsets.

    .. math:: \mathrm{ObsDiam}(\mathcal{D}, -\alpha) = \sup_{f \in F} \mathrm{PartDiam}(f_*(\nu), 1-\alpha)

    Parameters
    ----------
    X : array-like of shape (n, d)
        The data; at most 20 points.
    alpha : float or fractions.Fraction
        In (0, 1); see :func:`c_alpha`.

    Returns
    -------
    float
        The observable diameter.

    Examples
    --------
    >>> from geodim.paper import observable_diameter_by_subsets
    >>> observable_diameter_by_subsets([[0, 5], [1, 5], [4, 0]], 0.5)
    1.0
    """
    return max(partial_diameter_by_subsets(column, alpha) for column in as_matrix(X).T)


def observable_diameter(X: ArrayLike, alpha: float | Fraction) -> float:
    r"""Return the observable diameter :math:`\mathrm{ObsDiam}(\mathcal{D}, -\alpha) = \phi_{c_\alpha}`.

    Parameters
    ----------
    X : array-like of shape (n, d)
        The data; its columns are the features.
    alpha : float or fractions.Fraction
        In (0, 1); see :func:`c_alpha`.

    Returns
    -------
    float
        The observable diameter.

    Examples
    --------
    >>> from geodim.paper import observable_diameter
    >>> observable_diameter([[0, 5], [1, 5], [4, 0]], 0.5)
    1.0
    """
    matrix = as_matrix(X)
    return phi_k(matrix, c_alpha(len(matrix), alpha))


def discriminability_by_definition(X: ArrayLike) -> float:
    r"""Return the discriminability, as the integral that defines it.

    .. math:: \Delta(\mathcal{D}) = \int_0^1 \mathrm{ObsDiam}(\mathcal{D}, -\alpha)\, d\alpha

    The integrand is constant on each of the n intervals between neighbouring multiples of 1/n, so the
    integral is the mean of its values at their midpoints. (The paper writes the step function with open
    intervals, which is enough: the end points have measure zero.)

    Parameters
    ----------
    X : array-like of shape (n, d)
        The data; at most 20 points.

    Returns
    -------
    float
        The discriminability.

    Examples
    --------
    >>> from geodim.paper import discriminability_by_definition
    >>> discriminability_by_definition([[0, 5], [1, 5], [4, 0]])
    2.0
    """
    matrix = as_matrix(X)
    n = len(matrix)
    midpoints = [Fraction(2 * i + 1, 2 * n) for i in range(n)]
    widths = [observable_diameter_by_subsets(matrix, alpha) for alpha in midpoints]
    return mean_over_points(np.array(widths), n)
