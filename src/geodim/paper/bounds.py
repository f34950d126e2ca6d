r"""What a support sequence says (Section 4.1): bounds, error, and what one more element changes.

By monotonicity :math:`\phi_{s_i} \leq \phi_j \leq \phi_{s_{i+1}}` for :math:`s_i < j < s_{i+1}`. The sums are
correctly rounded, which keeps :math:`\Delta_{s,-} \leq \Delta \leq \Delta_{s,+}` true of the float64 results,
without tolerance.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from geodim.arguments import real_number, whole_number
from geodim.errors import InputValueError, ShapeError
from geodim.paper._checks import as_values, mean_over_points
from geodim.paper.support import check_support, support_elements

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import ArrayLike

    from geodim.paper._checks import FloatArray

__all__ = ["DeltaBounds", "approximation_error", "insert_support_element", "support_bounds"]


class DeltaBounds(NamedTuple):
    r"""The two bounds of the discriminability, :math:`\Delta_{s,-} \leq \Delta \leq \Delta_{s,+}`.

    Attributes
    ----------
    delta_lower : float
        :math:`\Delta_{s,-}`; it gives the *upper* intrinsic dimension.
    delta_upper : float
        :math:`\Delta_{s,+}`; it gives the *lower* intrinsic dimension.

    Examples
    --------
    >>> from geodim.paper import DeltaBounds
    >>> lower, upper = DeltaBounds(delta_lower=0.5, delta_upper=1.0)
    """

    delta_lower: float
    delta_upper: float


def support_bounds(
    phi_on_support: ArrayLike, support: Iterable[int], n: int, d_max: float = 1.0
) -> DeltaBounds:
    r"""Return the bounds of the discriminability that a support sequence gives.

    .. math::

        \Delta_{s,-} &= \frac{1}{|X|} \Big( \sum_{i=1}^{l} \phi_{s_i}
            + \sum_{i=1}^{l-1} \sum_{s_i < j < s_{i+1}} \phi_{s_i} \Big) \\
        \Delta_{s,+} &= \frac{1}{|X|} \Big( \sum_{i=1}^{l} \phi_{s_i}
            + \sum_{i=1}^{l-1} \sum_{s_i < j < s_{i+1}} \phi_{s_{i+1}} \Big)

    Parameters
    ----------
    phi_on_support : array-like of shape (l,)
        :math:`\phi_{s_1}, \dots, \phi_{s_l}`.
    support : iterable of int
        The support sequence.
    n : int
        The number of points.
    d_max : float
        What the features are divided by, as for :func:`geodim.paper.algorithm_1`.

    Returns
    -------
    DeltaBounds
        The pair :math:`(\Delta_{s,-}, \Delta_{s,+})`.

    Examples
    --------
    >>> from geodim.paper import support_bounds
    >>> support_bounds([1, 4], [2, 4], 4)  # (1 + 4 + 1) / 4 and (1 + 4 + 4) / 4
    DeltaBounds(delta_lower=1.5, delta_upper=2.25)
    """
    s = check_support(support, n)
    phi = _check_phi(phi_on_support, s)
    gaps = np.diff(s).tolist()  # an element and the j strictly between it and its neighbour
    scale = real_number(d_max, "d_max", least=0.0)
    return DeltaBounds(
        delta_lower=mean_over_points(phi, n, scale, [*gaps, 1]),
        delta_upper=mean_over_points(phi, n, scale, [1, *gaps]),
    )


def approximation_error(id_lower: float, id_upper: float) -> float:
    r"""Return the approximation error :math:`E = (\partial_{s,+} - \partial_{s,-}) / \partial_{s,-}`.

    Parameters
    ----------
    id_lower : float
        The lower intrinsic dimension :math:`\partial_{s,-} = 1 / \Delta_{s,+}^2`.
    id_upper : float
        The upper intrinsic dimension :math:`\partial_{s,+} = 1 / \Delta_{s,-}^2`.

    Returns
    -------
    float
        The error: 0 if both are equal (even if both are infinite), infinity if only the upper one is.

    Examples
    --------
    >>> from geodim.paper import approximation_error
    >>> approximation_error(4.0, 5.0)
    0.25
    """
    lower = real_number(id_lower, "id_lower", least=0.0)
    upper = real_number(id_upper, "id_upper", least=0.0)
    if lower > upper:
        raise InputValueError(
            f"id_lower = {lower} exceeds id_upper = {upper}; were they given in the wrong order?"
        )
    if lower == upper:
        return 0.0
    return (upper - lower) / lower if lower > 0.0 else float("inf")


def insert_support_element(
    bounds: DeltaBounds | tuple[float, float],
    phi_on_support: ArrayLike,
    support: Iterable[int],
    p: int,
    phi_p: float,
) -> DeltaBounds:
    r"""Return the bounds for :math:`\hat{s} = (s_1, \dots, s_i, p, s_{i+1}, \dots, s_l)`, given those for s.

    .. math::

        \Delta_{\hat{s},-} &= \Delta_{s,-} + \frac{1}{|X|} \sum_{p \leq j < s_{i+1}} (\phi_p - \phi_{s_i}) \\
        \Delta_{\hat{s},+} &= \Delta_{s,+} + \frac{1}{|X|} \sum_{s_i < j \leq p} (\phi_p - \phi_{s_{i+1}})

    The update costs O(log l), and rounds: after many insertions the bounds may differ from
    :func:`support_bounds` in the last digits.

    Parameters
    ----------
    bounds : DeltaBounds
        :math:`(\Delta_{s,-}, \Delta_{s,+})`.
    phi_on_support : array-like of shape (l,)
        :math:`\phi_{s_1}, \dots, \phi_{s_l}`.
    support : iterable of int
        The support sequence s; its last element is the number of points.
    p : int
        The new element, strictly between 2 and the number of points and not in s.
    phi_p : float
        :math:`\phi_p`, between its two neighbours.

    Returns
    -------
    DeltaBounds
        The pair :math:`(\Delta_{\hat{s},-}, \Delta_{\hat{s},+})`.

    Examples
    --------
    >>> from geodim.paper import insert_support_element, support_bounds
    >>> before = support_bounds([1, 4], [2, 4], 4)
    >>> insert_support_element(before, [1, 4], [2, 4], 3, 2)  # (1 + 2 + 4) / 4, for both
    DeltaBounds(delta_lower=1.75, delta_upper=1.75)
    """
    s = support_elements(support)
    n = s[-1]
    s = check_support(s, n)
    phi = _check_phi(phi_on_support, s)
    p = whole_number(p, "p", 2, n)
    if p in s:
        raise InputValueError(f"p = {p} is in the support sequence already")
    right = int(np.searchsorted(s, p))
    left = right - 1
    phi_p = real_number(phi_p, "phi_p", least=0.0)
    if not phi[left] <= phi_p <= phi[right]:
        raise InputValueError(
            f"phi_p = {phi_p} does not lie between phi_{s[left]} = {phi[left]} "
            f"and phi_{s[right]} = {phi[right]}; phi never falls"
        )
    delta_lower, delta_upper = (real_number(bound, "bounds", least=0.0) for bound in bounds)
    return DeltaBounds(
        delta_lower=delta_lower + (s[right] - p) * (phi_p - float(phi[left])) / n,
        delta_upper=delta_upper + (p - s[left]) * (phi_p - float(phi[right])) / n,
    )


def _check_phi(phi_on_support: ArrayLike, s: tuple[int, ...]) -> FloatArray:
    """Check phi on the support: a value for each element, none negative, none below the one before."""
    phi = as_values(phi_on_support, "phi_on_support").astype(np.float64)
    if len(phi) != len(s):
        raise ShapeError(f"phi_on_support has {len(phi)} values for {len(s)} support elements")
    falls = np.flatnonzero(np.diff(phi, prepend=0.0) < 0.0)
    if falls.size:
        i = int(falls[0])
        raise InputValueError(
            f"phi_on_support[{i}] = {phi[i]} is too small; phi is at least 0 and never falls"
        )
    return phi
