"""The resilience of a feature: the definition written out, closed forms, bounds from support sequences."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest

from geodim import paper
from geodim.errors import InputValueError, NonFiniteError


def harmonic(n):
    return sum((Fraction(1, k) for k in range(1, n + 1)), Fraction(0))


def by_subsets(values):
    """phi_k as the least diameter of k points, whichever they are."""
    n = len(values)
    total = Fraction(0)
    for k in range(2, n + 1):
        total += Fraction(min(max(some) - min(some) for some in combinations(values, k))) / k
    return float(total / n)


def test_by_subsets():
    rng = np.random.default_rng(0)
    for n in range(1, 9):
        values = rng.integers(0, 6, n).astype(float).tolist()
        assert paper.feature_resilience(values) == by_subsets(values)


@pytest.mark.parametrize("n", [2, 3, 10, 257])
def test_evenly_spaced(n):
    """phi_k = (k - 1) h, so that the score is h (n - H_n) / n."""
    assert paper.feature_resilience(np.arange(n) * 0.25) == float(Fraction(1, 4) * (n - harmonic(n)) / n)


@pytest.mark.parametrize(("zeros", "ones"), [(1, 1), (7, 3), (3, 7), (50, 50), (99, 1)])
def test_zeros_and_ones(zeros, ones):
    """phi_k is 1 for every k beyond the larger part m: the score is (H_n - H_m) / n."""
    values = np.repeat([0.0, 1.0], [zeros, ones])
    n, m = zeros + ones, max(zeros, ones)
    assert paper.feature_resilience(values) == float((harmonic(n) - harmonic(m)) / n)


def test_small_and_degenerate():
    assert paper.feature_resilience([3.0]) == 0.0
    assert paper.feature_resilience([3.0, 3.0, 3.0]) == 0.0
    assert paper.feature_resilience([0, 2]) == 0.5
    assert paper.feature_resilience([0, 2], d_max=2.0) == 0.25
    with pytest.raises(InputValueError, match="d_max"):
        paper.feature_resilience([0, 2], d_max=0.0)
    with pytest.raises(NonFiniteError):
        paper.feature_resilience([0, np.nan])


@pytest.mark.parametrize("seed", range(5))
def test_bounds(seed):
    rng = np.random.default_rng(seed)
    values = rng.integers(0, 30, 60).astype(float)
    exact = paper.feature_resilience(values)
    for length in (1, 3, 10, 60):
        low, high = paper.resilience_bounds(values, paper.log_scale_support(60, length=length))
        assert low <= exact <= high
    assert paper.resilience_bounds(values, range(2, 61)) == (exact, exact)
    with pytest.raises(InputValueError, match="support ends"):
        paper.resilience_bounds(values, [2, 59])


def test_bounds_by_hand():
    """phi_2 = 1, phi_4 = 6, nothing known of phi_3 but that it lies between."""
    low, high = paper.resilience_bounds([0, 1, 4, 6], [2, 4])
    assert low == float(Fraction(1, 4) * (Fraction(1, 2) + Fraction(1, 3) + Fraction(6, 4)))
    assert high == float(Fraction(1, 4) * (Fraction(1, 2) + Fraction(6, 3) + Fraction(6, 4)))
