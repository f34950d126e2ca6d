"""Bounds on the dimension from a support sequence, in time and memory of the sequence alone.

`geodim.paper.support_bounds` writes out every term of the two sums; for 10^8 points that is a list
of 10^8 numbers.  Here a gap is one product, rounded once, and the products are summed correctly
rounded: the same to some 1e-16.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from geodim.lookup import inverse_square

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

__all__ = ["SupportBounds", "bounds_on_support", "expected_error"]


class SupportBounds(NamedTuple):
    """The paper's lower and upper intrinsic dimension for a support sequence, and its error E."""

    lower: float
    upper: float
    error: float


def bounds_on_support(
    phi: NDArray[np.float64], support: Sequence[int] | NDArray[np.int64], n_points: int, scale: float = 1.0
) -> SupportBounds:
    r"""Return bounds from Phi at the elements of a support sequence.

    .. math:: \Delta_{s,-} = \frac1n \sum_{i<l} (s_{i+1} - s_i) \phi_{s_i} + \frac{\phi_{s_l}}{n}, \qquad
              \Delta_{s,+} = \frac1n \sum_{i<l} (s_{i+1} - s_i) \phi_{s_{i+1}} + \frac{\phi_{s_1}}{n}

    Parameters
    ----------
    phi : array
        Phi at the elements of ``support``.
    support : sequence of int
        From 2 to ``n_points``, strictly ascending.
    n_points : int
        The number of points.
    scale : float
        What the features are divided by.

    Examples
    --------
    The bounds on Delta are 1.5 and 2.25, see `geodim.paper.support_bounds`:

    >>> bounds_on_support(np.array([1.0, 4.0]), [2, 4], 4)
    SupportBounds(lower=0.19753086419753085, upper=0.4444444444444444, error=1.25)
    """
    gaps = np.diff(np.asarray(support, np.int64)).astype(np.float64)
    low = math.fsum([*(phi[:-1] * gaps).tolist(), float(phi[-1])]) / n_points / scale
    high = math.fsum([*(phi[1:] * gaps).tolist(), float(phi[0])]) / n_points / scale
    if low == 0.0:
        return SupportBounds(inverse_square(high), math.inf, 0.0 if high == 0.0 else math.inf)
    # E = (high / low)^2 - 1, without the cancellation.
    return SupportBounds(inverse_square(high), inverse_square(low), (high - low) * (high + low) / (low * low))


def expected_error(n_points: int, length: int) -> float:
    r"""Return the approximate error of a long log-scale support sequence: :math:`2 \ln(n/2) / (l - 1)`.

    The gap behind s is about :math:`(n + 2 - s) \ln(n/2) / (l - 1)` long, and summation by parts turns
    :math:`\sum_k (n + 1 - k)(\Phi(k + 1) - \Phi(k))` into :math:`\sum_k \Phi(k)`; so
    :math:`\Delta_{s,+} - \Delta_{s,-}` is about :math:`\Delta \ln(n/2) / (l - 1)`, and E twice that share.

    Two conditions.  The share must be small: in general :math:`\Delta_{s,+} / \Delta_{s,-}` is about
    :math:`(n/2)^{1/(l-1)}`, which makes E larger for short sequences.  And Phi must grow where gaps are
    longer than one: the last :math:`(l - 1) / \ln(n/2)` sizes are all in the sequence, and what Phi gains
    there costs nothing.  Where that is most of Delta (heavy tails, outliers, sparse columns) the error is
    smaller, down to 0.

    Examples
    --------
    >>> f"{expected_error(10**8, 100_000):.3g}"
    '0.000355'
    """
    return 2.0 * math.log(n_points / 2.0) / (length - 1) if length > 1 and n_points > 2 else math.inf
