r"""How far the features of hops, as computed, may lie from their definition.

Exact means exact for the definition on the data given. A hop is a sum that is rounded, so its features come
with a bound on their error, and the bounds of a result include it (``IDResult.feature_error``).

**One application.** Let A be the operator in real arithmetic, u = 2^-53, N the most terms of a row, and S =
(\|A\| \|x\|)_i the sum of the absolute terms of row i, for the values x that the application is given.

*Coefficients.* Weights given as integers are rounded to float64: u. A degree is a sum of weights that are not
negative, and so has a relative error of 2 u + 3 (N u)^2, by the lemma below. The product of two of them adds
u, the root halves what there is and adds u, the division adds u: all in all 5.5 u + 3 (N u)^2 for ``sym``.
Whole degrees, those of a graph without weights, are exact.

*Sums.* Lemma: let t_1, ..., t_N be added in any order, or in pieces, each addition by TwoSum, and let the
errors of the additions be added up in e, in any order with no more than 2 N additions. Then s + e differs
from the sum of the terms by at most 3 (N u)^2 sum \|t\|, if N <= 2^48. Proof: TwoSum is exact, so s plus all
errors d is the sum. A partial sum is at most (1 + u)^N sum \|t\|, an error d at most u times that, and all
N - 1 of them together at most (N - 1) u (1 + u)^N sum \|t\|. Adding these up loses at most
(1 + u)^(2N) - 1 of it, and (N - 1) ((1 + u)^(2N) - 1) u (1 + u)^N < 3 (N u)^2. Then s + e is rounded: u.
Note that this is relative to sum \|t\|, whatever cancels.

*Quotients.* ``rw`` divides: with h + r = s + e without error, q = fl(h / d), and the correction
(h - q d + r) / d at most 3 u of the quotient and good to 2 u of itself, the result is that of (s + e) / d
to u + 6 u^2 < 2 u. The degree counts 2 u + 3 (N u)^2, the weights 2 u.

Together, with the rounding u of each product, an application is off by at most

    eps S + omega,   eps = 8 u + 6 (N u)^2   (+ 2^-24 (1 + eps) if features are float32: rounded once more)

where omega is what underflow adds: half the smallest number of the type for storing, and 2^-1075 for each
product, each coefficient times \|x\|, and each quotient, divided by the least degree d if that is less than
1: less than 2^-1074 (N (1 + max \|x\|) + 3) / min(1, d). Sums do not underflow.

*Series* are Horner's rule in float64, and the definition is the series as truncated, with the parameters as
given. The term of order k passes k <= K applications of T, each followed by a product with a rounded
coefficient and an addition (3 u), and 6 u at the ends: eps = (1 + 8 u + 6 (N u)^2 + 3 u)^K (1 + 6 u) - 1. An
error of underflow at some step is multiplied by what its power of T is multiplied by, which divided by the
first coefficient (alpha, or 1) sums to the row sums of the series: omega is K + 1 times as large as for T,
times these row sums, divided by that coefficient.

**m hops.** Let e_m bound the error of the features of hop m, row by row, eps_0 and omega_0 that of reading X
in the type of the features, and x_m = A^m X. Then e_m <= \|A\| e_(m-1) + eps \|A\| (\|x_(m-1)\| + e_(m-1)) +
omega, and with \|x_m\| <= \|A\|^m \|X\|, by induction,

    e_m <= ((1 + eps)^m (1 + eps_0) - 1) \|A\|^m \|X\| + sum over l <= m of
    (1 + eps)^(m-l) \|A\|^(m-l) omega_l,

at most ((1 + eps)^m (1 + eps_0) - 1) s_m max \|X\| + ..., where s_m = max_i (\|A\|^m 1)_i is the largest sum
of a row of \|A\|^m: 1 for ``rw`` and its series, and otherwise computed, by applying \|A\| to a column of
ones. As computed, r_m >= (1 - eps) \|A\| r_(m-1) - omega, so that s_m <= (max r_m + sum over l < m of omega
s_l) / (1 - eps)^m.

**Delta.** Every width is the difference of two features, so that Phi(k), and Delta with it, is off by twice
the largest error at most. The largest error is that of the hubs, and far above that of most nodes. Where
neither A nor X is negative, \|A\|^m \|X\| is the feature itself, and the error is *relative*: a feature x is
computed as a value between (1 - E) x - F and (1 + E) x + F. These are monotone in x, so the same is true of
the j-th smallest values of a column, x_(j). The narrowest window of k values begins at some x_(j) with j <= n
- k + 1, above which there are k values: x_(j) <= sqrt(Q / k), with Q the sum of squares of the column. Its
width w is thus off by at most E (w + 2 x_(j)) + 2 F <= E (w + 2 sqrt(Q / k)) + 2 F, and so is Phi(k), with
the largest Q of a column. As 1/sqrt(k) summed up to n is less than 2 sqrt(n), Delta is off by at most E
(Delta + 4 sqrt(Q / n)) + 2 F. ``sym`` and its series do not enlarge Q. With Delta as computed in the place of
the true one, this is to be divided by 1 - E.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from geodim.features.operators import Operator

__all__ = ["Arithmetic", "FeatureError", "feature_errors", "growth"]

UNIT = 2.0**-53
TINY = 2.0**-1074
UPWARD = 1.0 + 2.0**-40  # for the roundings of these few formulas themselves


@dataclass(frozen=True)
class Arithmetic:
    """What the rounding of one application depends on.

    Attributes
    ----------
    terms : int
        The most terms of a row.
    least_degree : float
        The least number that a row is divided by; 1 if nothing is.
    means : bool
        Whether the entries of every row are not negative and sum to 1 (of a series: at most), or all are 0.
    contracts : bool
        Whether no entry is negative and the spectral norm is 1 at most.
    order : int or None
        The number of products of a series; None for a matrix.
    first : float
        The coefficient of a series with which Horner's rule begins.
    """

    terms: int
    least_degree: float = 1.0
    means: bool = False
    contracts: bool = False
    order: int | None = None
    first: float = 1.0

    def relative(self, kind: np.dtype[np.floating]) -> float:
        """Return the error of an application, relative to the sums of absolute terms."""
        error = 8.0 * UNIT + 6.0 * (self.terms * UNIT) ** 2
        if self.order is not None:
            error = math.expm1(self.order * math.log1p(error + 3.0 * UNIT) + 6.0 * UNIT)
        if kind == np.float32:
            error += 2.0**-24 * (1.0 + error)
        return error * UPWARD

    def underflow(self, kind: np.dtype[np.floating], magnitude: float, largest_sum: float) -> float:
        """Return what underflow adds, for values up to this magnitude."""
        error = TINY * (self.terms * (1.0 + 2.0 * magnitude) + 3.0) / min(self.least_degree, 1.0)
        if self.order is not None:
            error *= (self.order + 1) * (1.0 + largest_sum) * (1.0 + largest_sum) / min(self.first, 1.0)
        return (stored_underflow(kind) + error) * UPWARD


@dataclass(frozen=True)
class FeatureError:
    """How far computed features, of all hops up to some m, may lie from their definition.

    Attributes
    ----------
    largest : float
        The bound for any feature.
    relative, lost : float
        A feature that is a sum of terms which are not negative is off by at most ``relative``
        times itself, plus ``lost``.
    """

    largest: float
    relative: float = 0.0
    lost: float = 0.0

    def of_delta(self, rms: float, delta: float) -> float:
        """Return how far Delta may be off, given it as computed.

        For terms that are not negative, and columns of no larger root mean square.
        """
        if self.relative >= 0.5:
            return math.inf
        off = self.relative * (delta + 4.0 * rms) + 2.0 * self.lost
        return off / (1.0 - self.relative) * UPWARD


def stored_underflow(kind: np.dtype[np.floating]) -> float:
    """Return how far a value that underflows may be off when it is stored."""
    return 2.0**-150 if kind == np.float32 else TINY


def growth(
    operator: Operator, hops: int, kind: np.dtype[np.floating], threads: int | None = None
) -> list[float]:
    r"""Return upper bounds on the largest sum of a row of :math:`|A|^m`, for m = 0, ..., hops.

    Features of hop m are at most this many times as large as the largest attribute. Takes one
    narrow product per hop, where the operator is; infinite where a sum overflows, and for
    operators that state no arithmetic.

    Examples
    --------
    >>> import numpy as np
    >>> from geodim.features import make_operator
    >>> star = make_operator([(0, 1), (0, 2), (0, 3)], "sym")
    >>> [round(bound, 3) for bound in growth(star, 2, np.dtype(np.float64))]
    [1.0, 1.311, 1.233]
    """
    arithmetic = operator.arithmetic()
    bounds = [1.0]
    if arithmetic is not None and arithmetic.means:
        return bounds * (hops + 1)
    if arithmetic is not None:
        relative = arithmetic.relative(kind)
        for m, largest in enumerate(operator.largest_sums(hops, kind, threads), 1):
            lost = sum(arithmetic.underflow(kind, 2.0 * bound, largest) for bound in bounds)
            bounds.append((largest + lost * max(bounds)) / (1.0 - relative) ** m * UPWARD)
    return bounds + [math.inf] * (hops + 1 - len(bounds))


def feature_errors(
    operator: Operator,
    sums: Sequence[float],
    magnitude: float,
    kind: np.dtype[np.floating],
    *,
    exact_attributes: bool = True,
    divided: bool = False,
) -> list[FeatureError]:
    """Return bounds on the error of computed features, over all hops up to m, for m = 0, 1, ...

    Parameters
    ----------
    operator : Operator
        What one hop does. If it states no arithmetic, what it computes is correct by
        definition.
    sums : sequence of float
        From :func:`growth`, one for each m.
    magnitude : float
        The largest absolute value of the attributes.
    kind : float32 or float64
        The type of the features.
    exact_attributes : bool
        Whether this type holds all attributes exactly, or rounds them first.
    divided : bool
        Whether the attributes are quotients that were already rounded to float64.

    Examples
    --------
    >>> import numpy as np
    >>> from geodim.features import make_operator
    >>> pair = make_operator([(0, 1)], "rw")
    >>> single = np.dtype(np.float32)
    >>> feature_errors(pair, growth(pair, 1, single), 1.0, single)[1].largest < 6e-8
    True
    """
    arithmetic = operator.arithmetic()
    if magnitude == 0.0 or (arithmetic is None and exact_attributes):
        return [FeatureError(0.0)] * len(sums)
    read = 0.0 if exact_attributes else ((2.0**-24 if kind == np.float32 else UNIT) + UNIT * divided) * UPWARD
    underflows = [0.0 if exact_attributes else stored_underflow(kind)]
    errors = [FeatureError((read * magnitude + underflows[0]) * UPWARD, read, underflows[0])]
    if arithmetic is None:
        return errors + [FeatureError(math.inf, math.inf, math.inf)] * (len(sums) - 1)
    once = arithmetic.relative(kind)
    for m in range(1, len(sums)):
        underflows.append(arithmetic.underflow(kind, 2.0 * magnitude * sums[m - 1], sums[m]))
        relative = math.expm1(m * math.log1p(once) + math.log1p(read)) * UPWARD
        lost = sum(one * sums[m - at] for at, one in enumerate(underflows) if one > 0.0)
        lost = max(errors[-1].lost, lost * (1.0 + once) ** m * UPWARD)
        largest = max(errors[-1].largest, (relative * magnitude * sums[m] + lost) * UPWARD)
        errors.append(FeatureError(largest, relative, lost))
    return errors
