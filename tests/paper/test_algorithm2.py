"""Algorithm 2 against Algorithm 1, Lemma "order" and a count of the subtractions it really takes."""

import dataclasses
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from geodim import paper
from geodim.errors import InputTypeError, InputValueError
from geodim.paper import sequences


def random_data(seed, n=40, d=6):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * rng.lognormal(size=d)
    X[:, 0] = rng.integers(0, 5, size=n)
    X[:, 1] = rng.permutation(n) * 0.1
    return X


def random_support(seed, n):
    rng = np.random.default_rng(seed)
    return sorted({2, n, *rng.integers(2, n + 1, size=rng.integers(0, 12)).tolist()})


@pytest.mark.parametrize("seed", range(20))
def test_exact_equals_algorithm_1_to_the_last_bit(seed):
    X = random_data(seed)
    result = paper.algorithm_2(X, random_support(seed, len(X)), exact=True)
    assert result.phi.tobytes() == paper.phi_all(X).tobytes()
    assert result.delta == paper.algorithm_1(X)
    assert result.id == paper.intrinsic_dimension(result.delta)


@pytest.mark.parametrize("seed", range(20))
def test_bounds_enclose(seed):
    X = random_data(seed)
    result = paper.algorithm_2(X, random_support(seed, len(X)))
    delta = paper.algorithm_1(X)
    dimension = paper.intrinsic_dimension(delta)
    assert result.delta_lower <= delta <= result.delta_upper
    assert result.id_lower <= dimension <= result.id_upper
    assert result.delta is None
    assert result.phi is None
    assert result.id is None
    assert result.error == (result.id_upper - result.id_lower) / result.id_lower


@given(st.integers(0, 10_000), st.integers(2, 25), st.integers(1, 4))
@settings(max_examples=40, deadline=None)
def test_lemma_order(seed, n, d):
    """phi_j = max of phi_{s_i} and of phi_{j,f} over F_{s_i} alone, F_{s_i} by its definition."""
    X = np.random.default_rng(seed).integers(0, 12, size=(n, d))
    s = random_support(seed, n)
    result = paper.algorithm_2(X, s)
    for i, (left, right) in enumerate(pairwise(s)):
        phi_left = paper.phi_k(X, left)
        members = [f for f in range(d) if paper.phi_k_per_feature(X, right)[f] > phi_left]
        assert result.feature_sets[i] == tuple(members)
        for j in range(left + 1, right):
            assert paper.phi_k(X, j) == max([phi_left, *paper.phi_k_per_feature(X, j)[members]])


@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize("seed", range(5))
def test_costs_are_the_subtractions_taken(seed, exact, monkeypatch):
    """Count the windows looked at: on the support |F| each, in the gaps |F_{s_i}| each and no more."""
    counted = 0

    def counting(columns, k):
        nonlocal counted
        n, d = columns.shape
        counted += (n - k + 1) * d
        return sequences.window_minima(columns, k)

    monkeypatch.setattr("geodim.paper.algorithm2.window_minima", counting)
    X = random_data(seed)
    n, d = X.shape
    result = paper.algorithm_2(X, random_support(seed, n), exact=exact)
    assert counted == (result.support_costs if exact else d * sum(n - k + 1 for k in result.support))
    assert result.costs == d * n * (n - 1) // 2
    assert result.saved_costs == 1 - Fraction(result.support_costs, result.costs)


def test_full_support_is_exact():
    X = random_data(0)
    result = paper.algorithm_2(X, range(2, len(X) + 1))
    assert result.delta_lower == result.delta_upper == paper.algorithm_1(X)
    assert result.error == 0.0
    assert result.saved_costs == 0


def test_by_hand():
    """Windows 1, 4, 6 and 0, 5, 5: on s = (2, 4) both features may exceed phi_2 = 1 at k = 3."""
    result = paper.algorithm_2([[0, 5], [1, 5], [4, 0], [6, 0]], [2, 4], exact=True)
    assert result.phi_on_support.tolist() == [1.0, 6.0]
    assert result.feature_sets == ((0, 1),)
    assert (result.delta_lower, result.delta_upper) == ((1 + 1 + 6) / 4, (1 + 6 + 6) / 4)
    assert result.phi.tolist() == [1.0, 5.0, 6.0]
    assert result.delta == 3.0
    # A tenth of the second column has windows 0, 0.5, 0.5, never above phi_2 = 1: it is ruled out.
    small = paper.algorithm_2([[0, 0.5], [1, 0.5], [4, 0], [6, 0]], [2, 4], exact=True)
    assert small.feature_sets == ((0,),)
    assert small.support_costs == 2 * (3 + 1) + 1 * 2


def test_no_feature_set_for_the_gap_before_two():
    """The paper's F_{s_0} is left out: as many sets as gaps."""
    assert paper.algorithm_2([[0], [1], [3]], [2, 3]).feature_sets == ((0,),)
    two = paper.algorithm_2([[0], [1]], [2], exact=True)
    assert two.feature_sets == ()
    assert two.delta == two.delta_lower == two.delta_upper == 0.5


def test_constant_data():
    result = paper.algorithm_2(np.full((5, 2), -0.0), [2, 5], exact=True)
    assert result.feature_sets == ((),)
    assert result.delta == 0.0
    assert result.id_lower == result.id == result.id_upper == float("inf")
    assert result.error == 0.0
    assert not np.signbit(result.phi).any()
    assert result.support_costs == 2 * (4 + 1)


def test_log_scale_support_closes_in():
    X = np.random.default_rng(1).normal(size=(400, 5))
    errors = [
        paper.algorithm_2(X, paper.log_scale_support(400, length=length)).error for length in (2, 10, 50, 250)
    ]
    assert errors == sorted(errors, reverse=True)
    assert errors[-1] < 0.1


def test_result_is_frozen():
    result = paper.algorithm_2([[0], [1]], [2])
    with pytest.raises(dataclasses.FrozenInstanceError):
        result.delta = 1.0


def test_bad_support():
    X = np.zeros((4, 1))
    with pytest.raises(InputValueError, match="end with"):
        paper.algorithm_2(X, [2, 3])
    with pytest.raises(InputTypeError, match="support"):
        paper.algorithm_2(X, None)
    with pytest.raises(InputValueError, match="n must be at least 2"):
        paper.algorithm_2(X[:1], [2])
