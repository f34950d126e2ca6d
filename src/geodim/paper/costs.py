r"""How many subtractions the two algorithms take (Section 4.2), in exact integers and fractions.

By Lemma "k" one :math:`\phi_{k,f}` takes :math:`|X| - k + 1` subtractions. Sorting is not counted.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING

from geodim.arguments import whole_number
from geodim.errors import ShapeError
from geodim.paper.support import check_support

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["naive_costs", "saved_costs", "support_costs"]


def naive_costs(n: int, n_features: int) -> int:
    r"""Return the naive computation costs :math:`C(\mathcal{D}) = |F| \frac{|X|^2 - |X|}{2}` of Algorithm 1.

    Parameters
    ----------
    n : int
        The number of points.
    n_features : int
        The number of features.

    Returns
    -------
    int
        The number of subtractions.

    Examples
    --------
    >>> from geodim.paper import naive_costs
    >>> naive_costs(10, 3)
    135
    """
    n = whole_number(n, "n", 1)
    return whole_number(n_features, "n_features", 1) * (n * n - n) // 2


def support_costs(n: int, n_features: int, support: Iterable[int], f_sizes: Iterable[int]) -> int:
    r"""Return the computation costs of Algorithm 2 with ``exact=True``.

    .. math::

        C_s(\mathcal{D}) = |F| \sum_{k=1}^{l} (|X| - s_k + 1)
            + \sum_{k=1}^{l-1} |F_{s_k}| \sum_{s_k < j < s_{k+1}} (|X| - j + 1)

    Parameters
    ----------
    n : int
        The number of points.
    n_features : int
        The number of features.
    support : iterable of int
        The support sequence, of length l.
    f_sizes : iterable of int
        :math:`|F_{s_1}|, \dots, |F_{s_{l-1}}|`.

    Returns
    -------
    int
        The number of subtractions.

    Examples
    --------
    >>> from geodim.paper import support_costs
    >>> support_costs(4, 2, [2, 4], [1])  # 2 * (3 + 1) on the support, 1 * 2 for j = 3
    10
    """
    s = check_support(support, n)
    n_features = whole_number(n_features, "n_features", 1)
    sizes = [whole_number(size, f"f_sizes[{i}]", 0, n_features) for i, size in enumerate(f_sizes)]
    if len(sizes) != len(s) - 1:
        raise ShapeError(
            f"f_sizes has {len(sizes)} entries for {len(s)} support elements; it needs one for each gap"
        )
    n = s[-1]
    on_support = n_features * sum(n - s_k + 1 for s_k in s)
    # The inner sum runs over the consecutive integers n - s_{k+1} + 2, ..., n - s_k.
    in_gaps = sum(
        size * (right - left - 1) * ((n - right + 2) + (n - left)) // 2
        for size, (left, right) in zip(sizes, pairwise(s), strict=True)
    )
    return on_support + in_gaps


def saved_costs(n: int, n_features: int, support: Iterable[int], f_sizes: Iterable[int]) -> Fraction:
    r"""Return the saved costs :math:`SC_s(\mathcal{D}) = 1 - C_s(\mathcal{D}) / C(\mathcal{D})`.

    Parameters
    ----------
    n : int
        The number of points.
    n_features : int
        The number of features.
    support : iterable of int
        The support sequence, of length l.
    f_sizes : iterable of int
        :math:`|F_{s_1}|, \dots, |F_{s_{l-1}}|`.

    Returns
    -------
    fractions.Fraction
        Between 0 (nothing is saved) and 1.

    Examples
    --------
    >>> from geodim.paper import saved_costs
    >>> saved_costs(4, 2, [2, 4], [1])
    Fraction(1, 6)
    """
    return 1 - Fraction(support_costs(n, n_features, support, f_sizes), naive_costs(n, n_features))
