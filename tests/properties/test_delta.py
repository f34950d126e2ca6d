"""Delta and the dimension: one formula, rounded once from the exact sum.

The engine and the paper have the same bits.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, strategies as st
from hypothesis.extra import numpy as hnp

import geodim
from distributions import COLUMNS, column, random_matrix
from engine.oracle import solve
from geodim import paper

seeds = st.integers(0, 2**32 - 1)
finite = st.floats(-8e307, 8e307)  # so that every range is a float


def assert_one_formula(X: np.ndarray) -> None:
    """To the bit the paper's numbers, and those that fractions give."""
    n, d_max = len(X), paper.d_max(X)
    total = sum(map(Fraction, paper.phi_all(X).tolist()), Fraction(0))
    for normalize, scale in ((False, 1.0), (True, d_max or 1.0)):
        result = solve(X, normalize=normalize)
        delta = paper.algorithm_1(X, scale)
        assert delta == float(total / n / Fraction(scale))
        assert result.discriminability == delta
        assert result.discriminability_lower == result.discriminability_upper == delta
        assert result.dimension == result.lower == result.upper == paper.intrinsic_dimension(delta)
        if 1e-150 < delta < 1e150:  # five halves of an ulp, see inverse_square
            true = 1 / (total / n / Fraction(scale)) ** 2
            assert abs(Fraction(result.dimension) - true) <= true * Fraction(6, 2**53)


@given(seeds, st.integers(1, 200), st.integers(1, 6))
def test_random_columns_of_all_kinds(seed, n, d):
    assert_one_formula(random_matrix(np.random.default_rng(seed), n, d))


@given(hnp.arrays(np.float64, hnp.array_shapes(min_dims=2, max_dims=2, max_side=9), elements=finite))
def test_any_floats(X):
    assert_one_formula(X)


@pytest.mark.turns(5)
@pytest.mark.parametrize("kind", COLUMNS)
def test_every_kind_of_column(kind):
    assert_one_formula(column(kind, 257)[:, np.newaxis].astype(np.float64))


@pytest.mark.parametrize("unit", [5e-324, 1e-310, 1e-200, 1e200, 4e307])
def test_numbers_near_the_ends_of_the_floats(unit):
    """Sums that overflow, means below the normal numbers: normalised, they are like any other."""
    whole = np.array([[0.0, 0.0], [1.0, 0.0], [3.0, 2.0], [4.0, 4.0]])
    assert_one_formula(whole * unit)
    assert solve(whole * unit).dimension == solve(whole).dimension


@pytest.mark.parametrize("n_threads", [1, 2, 3])
def test_long_columns_sum_the_same_with_any_number_of_threads(n_threads):
    X = np.random.default_rng(3).normal(size=(1_200_000, 1)).astype(np.float32)
    result = solve(X, n_threads=n_threads)
    whole = result.phi_lower * 2.0**80
    assert np.all(whole == np.floor(whole))  # so that this is exact:
    total = Fraction(sum(map(int, whole.tolist())), 2**80)
    assert result.discriminability == float(total / len(X) / Fraction(result.d_max))


def test_selections_end_where_the_dimension_is():
    X = np.random.default_rng(0).normal(size=(300, 5)) * 0.1
    selection = geodim.select_features(X, 5)
    assert selection.curve[-1] == selection.total == paper.algorithm_1(X, paper.d_max(X))
    assert selection.dimension == solve(X).dimension


class TestShares:
    """Whoever attains Phi somewhere has a share, however small it is in units of the largest."""

    X = np.array([[0.0, 0.0], [0.0, 1e-30], [0.0, 3e-30], [1e300, 0.0]])

    def test_a_share_that_is_too_small_for_a_float(self):
        result = solve(self.X)
        assert list(result.shares) == ["0", "1"]
        assert result.shares == {"0": 1.0, "1": 0.0}
        # Two points are alike in both features; three of them only in the first; and all four in neither.
        assert result.attained_from.tolist() == [2, 3, 4]
        assert result.attained_by.tolist() == [-1, 1, 0]

    def test_it_survives_json(self):
        result = solve(self.X)
        again = geodim.IDResult.from_json(result.to_json())
        assert again.shares == result.shares
        assert again.attained_by.tolist() == result.attained_by.tolist()

    def test_explanations_name_it(self):
        explanation = geodim.explain_dimension(self.X)
        assert list(explanation.shares) == ["0", "1"]
        assert explanation.core == ["0"]  # without the other one the dimension is the same to the bit
        assert geodim.WhatIf(self.X).result.shares == {"0": 1.0, "1": 0.0}

    @given(seeds, st.integers(2, 40), st.integers(1, 5))
    def test_shares_are_of_those_who_attain(self, seed, n, d):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(n, d)) * 10.0 ** rng.integers(-300, 300, d) * (rng.random((n, d)) < 0.5)
        phi = np.array([paper.phi_k_per_feature(X, k) for k in range(2, n + 1)])
        attain = {str(row.argmax()) for row in phi if row.max() > 0.0}
        result = solve(X)
        assert set(result.shares) == attain
        assert list(result.shares.values()) == sorted(result.shares.values(), reverse=True)
