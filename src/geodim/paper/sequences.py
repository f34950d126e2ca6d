r"""Feature sequences and the window function phi (Section 3.2, Definition "Feature Sequence" and Lemma "k").

The proof of the lemma in the paper writes :math:`l_{k+j} - l_{k+1}` three times where
:math:`l_{k+j} - l_{1+j}` is meant; the statement is right, and is what is implemented.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from geodim.arguments import whole_number
from geodim.errors import InputValueError
from geodim.paper._checks import as_matrix, as_values, difference, warn_if_quadratic

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from geodim.paper._checks import FloatArray, Numbers

__all__ = ["feature_sequence", "phi_all", "phi_k", "phi_k_per_feature", "phi_kf"]


def feature_sequence(values: ArrayLike) -> Numbers:
    r"""Return the feature sequence :math:`l_f = (l_1 \leq \dots \leq l_{|X|})`: the values of f, ascending.

    Parameters
    ----------
    values : array-like of shape (n,)
        The values f(x) of one feature.

    Returns
    -------
    ndarray of float64, shape (n,)
        The sorted values; ``-0.0`` becomes ``0.0``. Integers beyond 2^53, which float64 does not hold, stay
        integers.

    Examples
    --------
    >>> from geodim.paper import feature_sequence
    >>> feature_sequence([3, 1, 2]).tolist()
    [1.0, 2.0, 3.0]
    """
    return np.sort(as_values(values))


def window_minima(sequences: Numbers, k: int) -> FloatArray:
    """Return phi_{k,f} for every column f, given sorted columns: the minimum over j of l[k+j] - l[1+j]."""
    n = len(sequences)
    minima: FloatArray = difference(sequences[k - 1 :], sequences[: n - k + 1]).min(axis=0)
    return minima + 0.0


def phi_kf(sequence: ArrayLike, k: int) -> float:
    r"""Return :math:`\phi_{k,f} = \min\{l_{k+j} - l_{1+j} \mid j \in \{0, \dots, |X|-k\}\}` (Lemma "k").

    It is the width of the narrowest window of k consecutive values of the feature sequence, and equals
    :math:`\min_{|M|=k} \max_{x,y \in M} |f(x)-f(y)|`.

    Parameters
    ----------
    sequence : array-like of shape (n,)
        A feature sequence, see :func:`feature_sequence`.
    k : int
        The window size, 1 to n. (The paper starts at 2; :math:`\phi_{1,f} = 0`.)

    Returns
    -------
    float
        The narrowest window.

    Examples
    --------
    >>> from geodim.paper import phi_kf
    >>> phi_kf([0, 1, 4, 6], 2), phi_kf([0, 1, 4, 6], 3), phi_kf([0, 1, 4, 6], 4)
    (1.0, 4.0, 6.0)
    """
    l_f = as_values(sequence, "sequence")
    k = whole_number(k, "k", 1, len(l_f))
    falls = np.flatnonzero(l_f[1:] < l_f[:-1])
    if falls.size:
        raise InputValueError(
            f"sequence falls after position {int(falls[0])}: sort it with feature_sequence first"
        )
    return float(window_minima(l_f[:, np.newaxis], k)[0])


def phi_k_per_feature(X: ArrayLike, k: int) -> FloatArray:
    r"""Return :math:`\phi_{k,f}` for every feature f.

    Parameters
    ----------
    X : array-like of shape (n, d)
        The data; its columns are the features.
    k : int
        The window size, 1 to n.

    Returns
    -------
    ndarray of float64, shape (d,)
        One value per column of ``X``.

    Examples
    --------
    >>> from geodim.paper import phi_k_per_feature
    >>> phi_k_per_feature([[0, 5], [1, 5], [4, 0]], 2).tolist()
    [1.0, 0.0]
    """
    matrix = as_matrix(X)
    k = whole_number(k, "k", 1, len(matrix))
    return window_minima(np.sort(matrix, axis=0), k)


def phi_k(X: ArrayLike, k: int) -> float:
    r"""Return :math:`\phi_k = \max_{f \in F} \phi_{k,f}`.

    Parameters
    ----------
    X : array-like of shape (n, d)
        The data; its columns are the features.
    k : int
        The window size, 1 to n.

    Returns
    -------
    float
        The widest of the features' narrowest windows.

    Examples
    --------
    >>> from geodim.paper import phi_k
    >>> phi_k([[0, 5], [1, 5], [4, 0]], 2), phi_k([[0, 5], [1, 5], [4, 0]], 3)
    (1.0, 5.0)
    """
    return float(phi_k_per_feature(X, k).max())


def phi_all(X: ArrayLike) -> FloatArray:
    r"""Return :math:`(\phi_2, \phi_3, \dots, \phi_{|X|})`, the function Phi that all of geodim computes.

    Parameters
    ----------
    X : array-like of shape (n, d)
        The data; its columns are the features.

    Returns
    -------
    ndarray of float64, shape (n - 1,)
        :math:`\phi_k` at index k - 2. It never falls as k grows (Theorem on monotonicity). Empty for one
        point.

    Warns
    -----
    QuadraticCostWarning
        For more than 5,000 points.

    Examples
    --------
    >>> from geodim.paper import phi_all
    >>> phi_all([[0, 5], [1, 5], [4, 0]]).tolist()
    [1.0, 5.0]
    """
    matrix = as_matrix(X)
    warn_if_quadratic(len(matrix), len(matrix))
    return phi_of_sequences(np.sort(matrix, axis=0))


def phi_of_sequences(sequences: Numbers) -> FloatArray:
    """Return (phi_2, ..., phi_n), given sorted columns."""
    n = len(sequences)
    return np.array([window_minima(sequences, k).max() for k in range(2, n + 1)], dtype=np.float64)
