"""Algorithm 1: the discriminability by sliding windows, and the intrinsic dimension (Section 3)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from geodim.arguments import real_number
from geodim.paper._checks import as_matrix, mean_over_points, warn_if_quadratic
from geodim.paper.sequences import phi_of_sequences

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

__all__ = ["algorithm_1", "intrinsic_dimension"]


def algorithm_1(X: ArrayLike, d_max: float = 1.0) -> float:
    r"""Return the discriminability of a finite geometric data set (Algorithm 1).

    .. math:: \Delta(\mathcal{D}) = \frac{1}{|X|} \sum_{k=2}^{|X|} \max_{f \in F} \phi_{k,f}(\mathcal{D})

    Parameters
    ----------
    X : array-like of shape (n, d)
        The data; its columns are the features.
    d_max : float
        What the features are divided by: 1, or :func:`geodim.paper.d_max` for the normalised data set. The
        quotient is that of the sum, which is then rounded once.

    Returns
    -------
    float
        The float64 nearest to the discriminability: 0 if every feature is constant, or if there is a single
        point.

    Warns
    -----
    QuadraticCostWarning
        For more than 5,000 points.

    Examples
    --------
    >>> from geodim.paper import algorithm_1
    >>> algorithm_1([[0, 5], [1, 5], [4, 0]])
    2.0
    >>> algorithm_1([[0, 5], [1, 5], [4, 0]], d_max=5)
    0.4
    """
    matrix = as_matrix(X)
    n = len(matrix)
    warn_if_quadratic(n, n)
    sequences = np.sort(matrix, axis=0)  # lines 1-2
    return mean_over_points(
        phi_of_sequences(sequences), n, real_number(d_max, "d_max", least=0.0)
    )  # lines 3-8


def intrinsic_dimension(delta: float) -> float:
    r"""Return the intrinsic dimension :math:`\partial = 1 / \Delta^2`.

    Parameters
    ----------
    delta : float
        The discriminability, at least 0.

    Returns
    -------
    float
        The intrinsic dimension; infinity if no feature discriminates anything (``delta == 0``).

    Examples
    --------
    >>> from geodim.paper import intrinsic_dimension
    >>> intrinsic_dimension(0.5), intrinsic_dimension(0)
    (4.0, inf)
    """
    delta = real_number(delta, "delta", least=0.0)
    if delta == 0.0:
        return math.inf
    inverse = 1.0 / delta
    return inverse * inverse
