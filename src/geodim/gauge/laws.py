r"""Three laws of columns: the limit of the mean of their windows, and their range.

*The mean of the windows.*  For n values of a symmetric law whose density falls on both sides, the narrowest
window of k = pn values is about the interval of the p middle ones, so that

.. math:: \frac1n \sum_k \phi_k \to \int_0^1 2 F^{-1}\bigl(\tfrac{1+p}2\bigr) dp = 2 \, \mathrm E|X|.

*The reach.*  The range R of n independent values has
:math:`P(R \le r) = n \int f(x) \, (F(x + r) - F(x))^{n-1} dx`, and of d columns the largest range is at most
r with the d-th power of that.  Its median is found by bisection; the integrand is smooth and falls off
on both sides, so that equally spaced points give nearly all digits.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Function = Callable[[NDArray[np.float64]], NDArray[np.float64]]

__all__ = ["LAWS", "Law", "median_reach"]

POINTS = 801  # of the integral
HALVINGS = 40


@dataclass(frozen=True)
class Law:
    """A symmetric law.

    Attributes
    ----------
    limit : float
        The limit of the mean of the windows, 2 E|X|.
    density, tail : callable
        The density, and the probability of more than x.
    draw : callable
        Draws values, given a generator and a shape.
    """

    name: str
    limit: float
    density: Function
    tail: Function
    draw: Callable[[np.random.Generator, tuple[int, int]], NDArray[np.float64]]


def _normal_density(x: NDArray[np.float64]) -> NDArray[np.float64]:
    found: NDArray[np.float64] = np.exp(-0.5 * x * x) / math.sqrt(2.0 * math.pi)
    return found


def _normal_tail(x: NDArray[np.float64]) -> NDArray[np.float64]:
    # One by one: they are few, and importing SciPy's function for arrays takes longer than all of this.
    return 0.5 * np.array([math.erfc(value) for value in (x * math.sqrt(0.5)).tolist()])


def _laplace_density(x: NDArray[np.float64]) -> NDArray[np.float64]:
    found: NDArray[np.float64] = 0.5 * np.exp(-np.abs(x))
    return found


def _laplace_tail(x: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.where(x > 0.0, 0.5 * np.exp(-np.abs(x)), 1.0 - 0.5 * np.exp(-np.abs(x)))


LAWS = {
    law.name: law
    for law in (
        Law(
            "uniform",
            1.0,
            lambda x: np.where(np.abs(x) <= 1.0, 0.5, 0.0),
            lambda x: np.clip(0.5 * (1.0 - x), 0.0, 1.0),
            lambda rng, shape: rng.uniform(-1.0, 1.0, shape),
        ),
        Law(
            "normal",
            2.0 * math.sqrt(2.0 / math.pi),
            _normal_density,
            _normal_tail,
            lambda rng, shape: rng.standard_normal(shape),
        ),
        Law("Laplace", 2.0, _laplace_density, _laplace_tail, lambda rng, shape: rng.laplace(size=shape)),
    )
}


def median_reach(law: Law, n_points: int, n_features: int) -> float:
    """Return the median of the largest range of this many columns of this many values."""
    wanted = 2.0 ** (-1.0 / n_features)
    low, high = 0.0, 2.0
    if law.name != "uniform":
        while _within(law, n_points, high) < wanted:
            high *= 2.0
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if _within(law, n_points, middle) < wanted else (low, middle)
    return 0.5 * (low + high)


def _within(law: Law, n: int, reach: float) -> float:
    """Return the probability that the range of n values is at most ``reach``."""
    if law.name == "uniform":  # the closed form: its density has corners
        part = 0.5 * reach
        return math.exp((n - 1) * math.log(part)) * (n - (n - 1) * part) if part > 0.0 else 0.0
    half = 0.5 * reach + 12.0 if law.name == "normal" else 0.5 * reach + 45.0
    x = np.linspace(-0.5 * reach - half, -0.5 * reach + half, POINTS * max(1, round(half / 12.0)))
    outside = law.tail(x + reach) + law.tail(-x)
    inside = np.log1p(-np.minimum(outside, 1.0 - 2.0**-53))
    values = law.density(x) * np.exp(math.log(n) + (n - 1) * inside)
    return min(float(values.sum() * (x[1] - x[0])), 1.0)
