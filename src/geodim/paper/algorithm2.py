r"""Algorithm 2: bounds from a support sequence, and the exact value with fewer features (Section 4).

The pseudocode of the paper has slips. What its lemmas prove is implemented:

* In the exact part the paper computes :math:`\phi_{s_i,f}` inside the loop over j; :math:`\phi_{j,f}` is
  meant. The window index there is called j as well and hides the j of the gap.
* The next line says :math:`F_i` for :math:`F_{s_i}` (and so does the text on costs).
* The exact loop runs over i in {1, ..., l}; there is no :math:`s_{l+1}`, so it ends at l - 1.
* The loop over the support also computes :math:`F_{s_0}` (with :math:`s_0 = 1`), the features with
  :math:`\phi_{2,f} > 0`. No j lies between 1 and 2, so it is never used; neither the lemma nor the costs know
  it. It is left out here, and with it :math:`s_0` and :math:`\phi_{s_0}`.
* The comments call :math:`\Delta_{s,-}` the lower ID and :math:`\Delta_{s,+}` the upper ID. It is the other
  way round: the lower intrinsic dimension is :math:`1/\Delta_{s,+}^2`.
* :math:`\Delta` is used as the name of an unfinished sum, which :math:`\Delta_{s,\pm}` read before it is
  complete. Here :math:`\phi` is collected and summed once.

Slips elsewhere: the overview of Section 4 writes M for S; the proof of Lemma "k" writes :math:`l_{k+1}` for
:math:`l_{1+j}`; the k-hop definition uses k for a vertex too and asks :math:`v_i \neq v_j` where it means
:math:`v_i \neq v_k`; the formula of the MLE baseline in the appendix (not part of this package) lacks the
reciprocal and divides by k - 1 where it sums l - 1 terms.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from geodim.paper._checks import as_matrix, mean_over_points, warn_if_quadratic
from geodim.paper.algorithm1 import intrinsic_dimension
from geodim.paper.bounds import approximation_error, support_bounds
from geodim.paper.costs import naive_costs, saved_costs, support_costs
from geodim.paper.sequences import window_minima
from geodim.paper.support import check_support

if TYPE_CHECKING:
    from collections.abc import Iterable
    from fractions import Fraction

    from numpy.typing import ArrayLike

    from geodim.paper._checks import FloatArray

__all__ = ["Algorithm2Result", "algorithm_2"]


@dataclass(frozen=True, eq=False)
class Algorithm2Result:
    r"""What Algorithm 2 returns.

    Attributes
    ----------
    n_points, n_features : int
        :math:`|X|` and :math:`|F|`.
    support : tuple of int
        The support sequence :math:`s_1, \dots, s_l`.
    phi_on_support : ndarray of float64, shape (l,)
        :math:`\phi_{s_1}, \dots, \phi_{s_l}`.
    feature_sets : tuple of tuples of int
        :math:`F_{s_1}, \dots, F_{s_{l-1}}` as column indices,
        :math:`F_{s_i} = \{f \mid \phi_{s_{i+1},f} > \phi_{s_i}\}`.
    delta_lower, delta_upper : float
        :math:`\Delta_{s,-}` and :math:`\Delta_{s,+}`.
    phi : ndarray of float64, shape (n - 1,), or None
        :math:`\phi_2, \dots, \phi_{|X|}` as :func:`geodim.paper.phi_all` gives them; None unless exact.
    delta : float or None
        :math:`\Delta`; None unless exact.

    Examples
    --------
    >>> from geodim.paper import algorithm_2
    >>> algorithm_2([[0, 5], [1, 5], [4, 0], [6, 0]], [2, 4]).phi_on_support.tolist()
    [1.0, 6.0]
    """

    n_points: int
    n_features: int
    support: tuple[int, ...]
    phi_on_support: FloatArray
    feature_sets: tuple[tuple[int, ...], ...]
    delta_lower: float
    delta_upper: float
    phi: FloatArray | None = None
    delta: float | None = None

    @property
    def id_lower(self) -> float:
        r"""The lower intrinsic dimension :math:`\partial_{s,-} = 1 / \Delta_{s,+}^2`."""
        return intrinsic_dimension(self.delta_upper)

    @property
    def id_upper(self) -> float:
        r"""The upper intrinsic dimension :math:`\partial_{s,+} = 1 / \Delta_{s,-}^2`."""
        return intrinsic_dimension(self.delta_lower)

    @property
    def id(self) -> float | None:
        r"""The intrinsic dimension :math:`\partial = 1 / \Delta^2`; None unless exact."""
        return None if self.delta is None else intrinsic_dimension(self.delta)

    @property
    def error(self) -> float:
        r"""The relative approximation error :math:`E(s, \mathcal{D})`."""
        return approximation_error(self.id_lower, self.id_upper)

    @property
    def costs(self) -> int:
        r"""The naive costs :math:`C(\mathcal{D})`, see :func:`geodim.paper.naive_costs`."""
        return naive_costs(self.n_points, self.n_features)

    @property
    def support_costs(self) -> int:
        r"""The costs :math:`C_s(\mathcal{D})` if exact, see :func:`geodim.paper.support_costs`."""
        return support_costs(self.n_points, self.n_features, self.support, map(len, self.feature_sets))

    @property
    def saved_costs(self) -> Fraction:
        r"""The saved costs :math:`SC_s(\mathcal{D})`, see :func:`geodim.paper.saved_costs`."""
        return saved_costs(self.n_points, self.n_features, self.support, map(len, self.feature_sets))


def algorithm_2(X: ArrayLike, support: Iterable[int], exact: bool = False) -> Algorithm2Result:
    r"""Return bounds of the discriminability from a support sequence, and its value if asked (Algorithm 2).

    The exact part rests on Lemma "order": for :math:`s_i < j < s_{i+1}`

    .. math:: \phi_j = \max(\{\phi_{j,f} \mid f \in F_{s_i}\} \cup \{\phi_{s_i}\}), \quad
              F_{s_i} = \{f \in F \mid \phi_{s_{i+1},f} > \phi_{s_i}\}.

    Parameters
    ----------
    X : array-like of shape (n, d)
        The data; its columns are the features. At least two points.
    support : iterable of int
        The support sequence, for instance from :func:`geodim.paper.log_scale_support`.
    exact : bool
        Whether to compute every :math:`\phi_j`.

    Returns
    -------
    Algorithm2Result
        Bounds, feature sets, costs, and the exact value if asked.

    Warns
    -----
    QuadraticCostWarning
        For more than 5,000 points if exact, and else if the support has so many elements that as many windows
        are taken.

    Examples
    --------
    >>> from geodim.paper import algorithm_2
    >>> result = algorithm_2([[0, 5], [1, 5], [4, 0], [6, 0]], [2, 4], exact=True)
    >>> result.delta_lower, result.delta, result.delta_upper
    (2.0, 3.0, 3.25)
    >>> result.feature_sets, result.support_costs, result.costs
    (((0, 1),), 12, 12)
    """
    matrix = as_matrix(X)
    n, n_features = matrix.shape
    s = check_support(support, n)
    warn_if_quadratic(n, n if exact else len(s))
    sequences = np.sort(matrix, axis=0)  # lines 1-2
    # Lines 6-8: row i holds phi_{s_i,f} for all f.
    phi_sf = np.array([window_minima(sequences, s_i) for s_i in s])
    phi_s: FloatArray = phi_sf.max(axis=1)  # line 9
    feature_sets = [np.flatnonzero(phi_sf[i + 1] > phi_s[i]) for i in range(len(s) - 1)]  # line 10
    bounds = support_bounds(phi_s, s, n)  # lines 11-13
    phi = delta = None
    if exact:  # lines 14-21
        phi = np.empty(n - 1)
        phi[np.array(s) - 2] = phi_s
        for i in range(len(s) - 1):
            phi[s[i] - 1 : s[i + 1] - 2] = phi_s[i]
            if len(feature_sets[i]) > 0:
                sequences_i = sequences[:, feature_sets[i]]
                for j in range(s[i] + 1, s[i + 1]):
                    phi[j - 2] = max(window_minima(sequences_i, j).max(), phi_s[i])
        delta = mean_over_points(phi, n)
    return Algorithm2Result(
        n_points=n,
        n_features=n_features,
        support=s,
        phi_on_support=phi_s,
        feature_sets=tuple(tuple(int(f) for f in features) for features in feature_sets),
        delta_lower=bounds.delta_lower,
        delta_upper=bounds.delta_upper,
        phi=phi,
        delta=delta,
    )
