"""The definition in rationals: nothing is rounded, nothing is clever, nothing of geodim is used.

Values become fractions as they are given, windows and subsets are all tried, Delta and the dimension are
fractions. The hops of a random walk stay rational; those of the symmetric operator have square roots, taken
to sixty digits. Meant for some tens of points.
"""

from __future__ import annotations

import math
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import chain, combinations, pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    Column = list[Fraction]

DIGITS = 60


def fractions_of(X: Any) -> list[Column]:
    """The columns of an array of any real type, exactly."""
    array = np.asarray(X)
    assert array.ndim == 2
    assert array.dtype.kind in "biuf"
    number = float if array.dtype.kind == "f" else int
    return [[Fraction(number(value)) for value in column] for column in array.T]


# ---------------------------------------------------------------- the definition


def phi_by_windows(column: Column) -> Column:
    """phi_2, ..., phi_n of one feature: for every k, the narrowest of all windows of k sorted values."""
    values = sorted(column)
    n = len(values)
    return [min(values[i + k - 1] - values[i] for i in range(n - k + 1)) for k in range(2, n + 1)]


def phi_by_subsets(column: Column) -> Column:
    """The same by the definition itself: for every k, the least diameter of all subsets of k points."""
    return [
        min(max(subset) - min(subset) for subset in combinations(column, k))
        for k in range(2, len(column) + 1)
    ]


def largest_phi(columns: list[Column], phi: Any = phi_by_windows) -> Column:
    """Phi(2), ..., Phi(n): the maximum over the features."""
    return [max(widths) for widths in zip(*map(phi, columns), strict=True)]


def diameter(columns: list[Column]) -> Fraction:
    """d_max, the largest range of a feature."""
    return max(max(column) - min(column) for column in columns)


def discriminability(columns: list[Column], scale: Fraction | int = 1) -> Fraction:
    """Delta of features that are divided by a number."""
    return sum(largest_phi(columns), Fraction(0)) / len(columns[0]) / scale


def normalised(columns: list[Column]) -> Fraction:
    """Delta of features divided by d_max, and 0 where no feature tells anything apart."""
    return discriminability(columns, diameter(columns) or 1)


def discriminability_of_masses(columns: list[Column], masses: Column, scale: Fraction | int = 1) -> Fraction:
    """Delta of points with masses, by intervals of every length instead of every mass.

    Phi exceeds r at a mass m if, for some feature, no interval of length r holds m: so Delta is the integral
    over r of the part of the mass that the best intervals of the worst feature leave out.
    """
    total = sum(masses, Fraction(0))
    lengths = sorted({abs(x - y) for column in columns for x in column for y in column})
    area = Fraction(0)
    for length, longer in pairwise(lengths):
        held = [
            max(sum(m for x, m in zip(column, masses, strict=True) if 0 <= x - a <= length) for a in column)
            for column in columns
        ]
        area += (total - min(held)) * (longer - length)
    return area / total / scale


# ---------------------------------------------------------------- comparing with floating point


def nearest(number: Fraction) -> float:
    """The nearest float64, ties to even; true division of Python's integers rounds correctly."""
    return number.numerator / number.denominator


def ulps(computed: float, number: Fraction) -> float:
    """How many units in the last place a float64 is away."""
    if computed == number:
        return 0.0
    return float(abs(Fraction(computed) - number) / Fraction(math.ulp(nearest(number))))


def holds(lower: float, number: Fraction, upper: float) -> bool:
    """Whether the bounds hold the number; infinity is above every number."""
    return (lower <= 0.0 or Fraction(lower) <= number) and (upper == math.inf or number <= Fraction(upper))


def holds_dimension(lower: float, delta: Fraction, upper: float) -> bool:
    """Whether the bounds hold 1 / Delta^2, where that is a float64 at all.

    Elsewhere they may be 0 or infinite, too.
    """
    if delta == 0:
        return upper == math.inf
    dimension = 1 / delta**2
    too_large, too_small = dimension > Fraction(1.7e308), dimension < Fraction(2.3e-308)
    below = holds(lower, dimension, math.inf) if lower < math.inf else too_large
    return below and (holds(0.0, dimension, upper) or (too_small and upper < 2.3e-308))


# ---------------------------------------------------------------- hops


def neighbourhoods(n: int, edges: Sequence[tuple[int, int]]) -> list[set[int]]:
    """N(v) of an undirected graph, v itself among them."""
    found = [{node} for node in range(n)]
    for one, other in edges:
        found[one].add(other)
        found[other].add(one)
    return found


def means(columns: list[Column], near: list[set[int]]) -> list[Column]:
    """One hop of the operator "rw": the mean over the neighbourhood."""
    return [[sum((column[j] for j in some), Fraction(0)) / len(some) for some in near] for column in columns]


def symmetric(columns: list[Column], near: list[set[int]]) -> list[Column]:
    """One hop of the operator "sym" to sixty digits: sums over neighbours, divided by sqrt(deg_i deg_j)."""
    with localcontext() as context:
        context.prec = DIGITS
        found = []
        for column in columns:
            terms = [Decimal(value.numerator) / Decimal(value.denominator) for value in column]
            sums = [
                sum((terms[j] / Decimal(len(some) * len(near[j])).sqrt() for j in some), Decimal(0))
                for some in near
            ]
            found.append([Fraction(value) for value in sums])
        return found


def multiplied(columns: list[Column], matrix: list[Column]) -> list[Column]:
    """One hop of any rational matrix, given by rows."""
    return [
        [sum((a * x for a, x in zip(row, column, strict=True)), Fraction(0)) for row in matrix]
        for column in columns
    ]


def hop_columns(columns: list[Column], hops: int, hop: Any, *arguments: Any) -> list[list[Column]]:
    """The features of the k-hop data set for k = 0, ..., hops: all columns of all hops up to k."""
    layers = [columns]
    for _ in range(hops):
        layers.append(hop(layers[-1], *arguments))
    return [list(chain(*layers[: k + 1])) for k in range(hops + 1)]


def never_falls(numbers: Sequence[Fraction]) -> bool:
    """Whether no number is below the one before."""
    return all(one <= other for one, other in pairwise(numbers))
