r"""An upper bound on Phi over all directions at once, from variances.

**Chains.** Let :math:`l_1 \le \dots \le l_s` be s values with variance :math:`\sigma^2`, and let every window
of k = q + 1 of them be at least w wide.  Then :math:`l_{i+q} - l_i \ge w` for all i, so that the values fall
into q chains i, i + q, i + 2q, ... whose neighbours are at least w apart; with s = a q + b, b of them have a
+ 1 members and the others a.  A chain of m such values has a sum of squares about any point of at least that
of m equally spaced ones about their mean, :math:`w^2 m (m^2 - 1) / 12`.  All chains together:

.. math:: s \sigma^2 \ge \frac{w^2}{12} \bigl( b\, a (a+1) (a+2) + (q - b) (a-1) a (a+1) \bigr).

Solved for w this bounds phi_k, for every k, and is tight up to what the shape of the values leaves open: it
is attained by evenly spaced clumps, and for k = s by two far points.  For k > s / 2 it reads :math:`w^2 \le 2
s \sigma^2 / (s - k + 1)`, half of what Chebyshev's inequality gives.

In any direction the variance is at most the largest eigenvalue of the covariance, and any s >= k points will
do, as windows of some points are no narrower than those of all.  So the bound holds for every direction with
S nested sets of points around the mean, the least counts, and so does twice the radius of a ball that holds k
points.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from geodim.families.points import Panels

SHARES = (1.0, 0.98, 0.95, 0.9, 0.8, 0.65, 0.5, 0.35, 0.2, 0.1)
UNIT = 2.0**-53


def chain_bound(s: int, k: NDArray[np.int64], squares: float) -> NDArray[np.float64]:
    """Bound from above the width of the narrowest window of k of s values, given their sum of squares.

    ``squares`` is taken about any point; k, shape (m,), lies between 2 and s.

    >>> chain_bound(4, np.array([2, 4]), 5.0).round(9).tolist()  # 0, 1, 2, 3 about 1.5, and two points apart
    [1.0, 3.16227766]
    """
    q = np.asarray(k, np.int64) - 1
    a, b = (part.astype(np.float64) for part in np.divmod(s, q))
    members = b * a * (a + 1.0) * (a + 2.0) + (q - b) * (a - 1.0) * a * (a + 1.0)
    widest: NDArray[np.float64] = np.sqrt(12.0 * squares / members) * (1.0 + 2.0**-48)
    return widest


def spread_bound(
    panels: Panels,
    moved: float = 0.0,
    *,
    weights: NDArray[np.int64] | None = None,
    sizes: NDArray[np.int64] | None = None,
) -> NDArray[np.float64]:
    """Return upper bounds on Phi(k) over all directions, for k from 2 to n, shape (n - 1,), or for some k.

    Parameters
    ----------
    panels : Panels
        Centred points.
    moved : float
        How far, at most, a point may lie from its place in ``panels``, in their units.
    weights : array of int, optional
        How often each point counts, from 1 on.
    sizes : array of int, optional
        The k that are wanted, ascending.
    """
    rows = panels.rows(np.arange(panels.n_points))
    d = rows.shape[1]
    counts = np.ones(len(rows), np.int64) if weights is None else np.asarray(weights)
    lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows)) * (1.0 + (d + 4.0) * UNIT) + moved
    order = np.argsort(lengths, kind="stable")
    within = np.cumsum(counts[order])  # points, up to each one
    n = int(within[-1])
    k = np.arange(2, n + 1) if sizes is None else sizes
    # All k points of least length lie in a ball.
    bound: NDArray[np.float64] = 2.0 * lengths[order[np.searchsorted(within, k)]] * (1.0 + 2.0**-50)
    for share in SHARES:
        last = int(np.searchsorted(within, math.ceil(share * n)))
        s, some = int(within[last]), order[: last + 1]
        if s < 2:
            continue
        squares = _squares_apart(rows[some], counts[some])
        # If points move by this much, sums of squares grow as lengths of vectors with s entries do.
        squares = (math.sqrt(squares) + math.sqrt(s) * (moved + 8.0 * UNIT * lengths[order[last]])) ** 2
        here = k[k <= s]
        np.minimum(bound[: here.size], chain_bound(s, here, squares), out=bound[: here.size])
    return np.ldexp(np.minimum.accumulate(bound[::-1])[::-1], panels.exponent)


def _squares_apart(rows: NDArray[np.float64], counts: NDArray[np.integer]) -> float:
    """Bound from above the sum of squares of the rows' products with any unit vector, about the mean.

    Rows count several times, and are overwritten.
    """
    times = counts.astype(np.float64)
    rows -= (times @ rows) / times.sum()
    if np.any(times != 1.0):
        rows *= np.sqrt(times)[:, np.newaxis]
    return largest_squares(rows)


def largest_squares(rows: NDArray[np.float64]) -> float:
    """Bound from above the sum of squares of the rows' products with any unit vector.

    That is the largest eigenvalue of M = rows' rows.  Computed sums of products are off by less than (s + 2)
    u times those of the magnitudes, so that M is off by less than that times the sum of all squares, T.  And
    mu I - M has no negative eigenvalue if its Cholesky factorisation runs to the end in floating point, once
    mu is lowered by what that may be off: less than 2 (d + 2) u times its trace (Rump 2006, verification of
    positive definiteness).
    """
    s, d = rows.shape
    with np.errstate(under="ignore"):
        products = rows.T @ rows
    total = float(np.trace(products)) * (1.0 + 2.0**-20)
    if total == 0.0:
        return 0.0
    off = (s + 2.0) * UNIT * total * 2.0
    value = float(np.linalg.eigvalsh(products)[-1])
    margin = 2.0 * (d + 2.0) * UNIT * (d * value + total) + off
    for _ in range(8):
        try:
            np.linalg.cholesky(np.diag(np.full(d, value + margin)) - products)
        except np.linalg.LinAlgError:
            margin *= 8.0
        else:
            return float(value + 2.0 * margin + off) * (1.0 + 2.0**-40)
    return total
