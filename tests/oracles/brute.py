"""The definition by brute force in numpy, and what it takes to compare with it.

It is quick enough for a million comparisons.  Nothing of geodim is used here.  Phi of given values has no
rounding of its own: a width is the correctly rounded difference of two values, and minimum and maximum do not
round.  Hops are computed in extended precision, with an error bound that is carried along.  Both are
themselves compared with `oracles.rational`.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Values = NDArray[Any]

AT_ONCE = 96  # points up to which all windows are held together
LONG = np.longdouble
UNIT = float(np.finfo(LONG).eps)  # twice the rounding error of one operation

DELTA_ULPS = (
    3  # differences, d_max, and the quotient of an exact sum: half an ulp each, and a change of binade
)
DIMENSION_ULPS = 9


def widths(X: Values) -> Values:
    """phi_k,f for k = 2, ..., n (rows) and all features (columns), in the type of X."""
    values = np.sort(X, axis=0)
    n, d = values.shape
    if n > AT_ONCE:
        return np.stack([(values[k:] - values[: n - k]).min(axis=0) for k in range(1, n)]) + 0.0
    beyond = np.concatenate([values, np.full((n, d), np.inf, values.dtype)])
    row, column = beyond.strides
    windows = np.lib.stride_tricks.as_strided(beyond[1:], (n - 1, n, d), (row, row, column))
    return (windows - values).min(axis=1) + 0.0  # no -0.0, which 0.0 - 0.0 may be


def nearest(number: Fraction) -> float:
    """The nearest float64; infinite beyond the largest."""
    try:
        return number.numerator / number.denominator
    except OverflowError:
        return math.inf


def delta_of(phi: Values, n: int, scale: float) -> Fraction:
    """Sum over n and the scale: the sum is rounded once, nothing else is."""
    if phi.size == 0:
        return Fraction(0)
    unit = 2.0 ** max(math.frexp(float(phi.max()))[1] - 900, 0)  # so that the sum does not overflow
    return Fraction(math.fsum((phi / unit).tolist())) * Fraction(unit) / n / Fraction(scale)


def within(computed: float, number: Fraction, ulps: int) -> bool:
    """Whether a float64 is so close to a number; beyond the range of float64, 0 and infinity are."""
    near = nearest(number)
    if computed == near:
        return True
    return math.isfinite(near) and abs(computed - near) <= ulps * math.ulp(near)


def inverse_square(delta: Fraction) -> Fraction | None:
    """1 / Delta^2, None if infinite."""
    return None if delta == 0 else 1 / (delta * delta)


def owners(phi: Values) -> NDArray[np.intp]:
    """For every k the lowest column that attains Phi(k), given all widths; argmax takes the first."""
    return phi.argmax(axis=1)


def equal_rows(X: Values, weights: Values | None) -> int:
    """How many points no feature tells apart from another one."""
    repeated = X if weights is None else np.repeat(X, weights, axis=0)
    _, counts = np.unique(repeated, axis=0, return_counts=True)
    return int(counts[counts > 1].sum())


# ---------------------------------------------------------------- hops


class Hop(NamedTuple):
    """One hop as a dense matrix in extended precision.

    With a bound on the relative error of its entries, in units.
    """

    matrix: Values
    units: float


def adjacency(n: int, edges: Sequence[tuple[int, int]], weights: Sequence[float] | None = None) -> Values:
    """A + I of an undirected graph, whose edges are given once; a loop changes nothing."""
    matrix = np.eye(n, dtype=LONG)
    for at, (one, other) in enumerate(edges):
        if one != other:
            matrix[one, other] = matrix[other, one] = 1.0 if weights is None else weights[at]
    return matrix


def transition(name: str, matrix: Values) -> Hop:
    """ "sym" or "rw" of an adjacency matrix."""
    degrees = matrix.sum(axis=1)
    if name == "rw":
        return Hop(matrix / degrees[:, np.newaxis], len(matrix) + 1.0)
    return Hop(matrix / np.sqrt(np.outer(degrees, degrees)), 2.0 * len(matrix) + 4.0)


def series(coefficients: Values, step: Hop) -> Hop:
    """A polynomial of a matrix without negative entries.

    The coefficients are good to an operation per power.
    """
    n, order = len(step.matrix), len(coefficients) - 1
    total, power = np.zeros((n, n), LONG), np.eye(n, dtype=LONG)
    for coefficient in coefficients:
        total = total + coefficient * power
        power = step.matrix @ power
    return Hop(total, order * (n + step.units + 4.0) + 2.0 * order + 4.0)


def ppr(alpha: float, order: int) -> Values:
    """alpha (1 - alpha)^k for k = 0, ..., order."""
    return LONG(alpha) * (LONG(1.0) - LONG(alpha)) ** np.arange(order + 1)


def heat(t: float, order: int) -> Values:
    """exp(-t) t^k / k! for k = 0, ..., order."""
    factorials = np.array([math.factorial(k) for k in range(order + 1)], LONG)
    return np.exp(-LONG(t)) * LONG(t) ** np.arange(order + 1) / factorials


def hop_layers(X: Values, hop: Hop, hops: int) -> list[tuple[Values, Values]]:
    """The columns of each hop in extended precision, and a bound on the error of each column."""
    n = len(X)
    values, errors = X.astype(LONG), np.zeros(X.shape)
    layers = [(values, np.zeros(X.shape[1]))]
    magnitude = np.abs(hop.matrix).astype(np.float64)
    for _ in range(hops):
        rounding = UNIT * (n + 2.0 + hop.units) * (magnitude @ np.abs(values).astype(np.float64))
        errors = (magnitude @ errors + rounding) * 1.001
        values = hop.matrix @ values
        layers.append((values, errors.max(axis=0)))
    return layers


def hop_phi(layers: list[tuple[Values, Values]]) -> list[tuple[Values, Values]]:
    """Bounds on the true Phi for each number of hops: the width of a window is off by two errors at most."""
    found = []
    low = high = LONG(0.0)
    for values, errors in layers:
        phi = widths(values)
        off = 2.0 * errors + UNIT * np.abs(values).max(axis=0)
        low, high = np.maximum(low, (phi - off).max(axis=1)), np.maximum(high, (phi + off).max(axis=1))
        found.append((low, high))
    return found


def long_delta(phi: Values, n: int, scale: float) -> Fraction:
    """The mean of extended numbers without rounding."""
    return sum((Fraction(*width.as_integer_ratio()) for width in phi), Fraction(0)) / n / Fraction(scale)
