"""Algorithm 1 against closed forms and the invariances that Section 3 proves."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from geodim import paper
from geodim.errors import InputTypeError, InputValueError


@pytest.mark.parametrize("seed", range(4))
def test_zero_one_columns(seed):
    """ID = (n / (n-m))^2 with m = min over columns of max(#0, #1)."""
    rng = np.random.default_rng(seed)
    X = (rng.random((37, 5)) < rng.random(5)).astype(int)
    n, ones = len(X), X.sum(axis=0)
    m = int(np.maximum(ones, n - ones).min())
    delta = paper.algorithm_1(X)
    assert delta == (n - m) / n
    assert paper.intrinsic_dimension(delta) == pytest.approx(float(Fraction(n, n - m) ** 2), rel=1e-15)


@pytest.mark.parametrize("n", [2, 3, 10, 64])
def test_one_hot_identity(n):
    """ID = n^2: every column has n - 1 zeros."""
    delta = paper.algorithm_1(np.eye(n))
    assert delta == 1 / n
    assert paper.intrinsic_dimension(delta) == pytest.approx(n**2, rel=1e-15)


@pytest.mark.parametrize("n", [2, 5, 100])
def test_evenly_spaced_column(n):
    """Delta = (1/n) sum (k-1) = (n-1)/2."""
    assert paper.algorithm_1(np.arange(n)[:, None]) == (n - 1) / 2


def test_worked_example():
    """Windows 1, 4, 6 of the first column and 0, 5, 5 of the second: Phi = 1, 5, 6."""
    assert paper.phi_all([[0, 5], [1, 5], [4, 0], [6, 0]]).tolist() == [1.0, 5.0, 6.0]
    assert paper.algorithm_1([[0, 5], [1, 5], [4, 0], [6, 0]]) == 3.0


@pytest.mark.parametrize("seed", range(4))
def test_constant_and_permuted_features_change_nothing(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(30, 4))
    permuted = rng.permuted(X, axis=0)
    constant = np.full((30, 2), [7.5, -3.0])
    more = np.hstack([constant, X, permuted])
    np.testing.assert_array_equal(paper.phi_all(more), paper.phi_all(X))
    assert paper.algorithm_1(more) == paper.algorithm_1(X)


@given(st.integers(0, 2**32 - 1), st.integers(1, 4))
@settings(max_examples=40, deadline=None)
def test_symmetries(seed, times):
    rng = np.random.default_rng(seed)
    X = rng.integers(-50, 50, size=(12, 3)).astype(float)
    phi, delta = paper.phi_all(X), paper.algorithm_1(X)
    np.testing.assert_array_equal(paper.phi_all(X[rng.permutation(12)]), phi)  # points have no order
    np.testing.assert_array_equal(paper.phi_all(X[:, ::-1]), phi)  # nor have features
    np.testing.assert_array_equal(paper.phi_all(-X + 3), phi)
    assert paper.algorithm_1(4 * X) == 4 * delta
    # Repeating every point leaves Delta unchanged (ALGORITHM.md, fact 9).
    assert paper.algorithm_1(np.repeat(X, times, axis=0)) == delta
    # More features discriminate more (axiom of feature antitonicity).
    assert paper.algorithm_1(np.hstack([X, rng.normal(size=(12, 1))])) >= delta


@pytest.mark.parametrize("seed", range(3))
def test_dual(seed):
    """Fact 7: sum of Phi(k) = integral of (n - min_f N_f(r)), N_f(r) the most points in a length r."""
    X = np.random.default_rng(seed).integers(0, 40, size=(15, 3))
    n = len(X)
    integral = 0
    for r in range(40):  # integers: N_f is constant on [r, r + 1)
        most = [max(((f >= a) & (f <= a + r)).sum() for a in f) for f in X.T]
        integral += n - min(most)
    assert paper.algorithm_1(X) == integral / n


def test_degenerate_data():
    for X in ([[1.0, 2.0]], np.zeros((5, 2)), [[-0.0], [0.0]]):
        delta = paper.algorithm_1(X)
        assert delta == 0.0
        assert not np.signbit(delta)
        assert paper.intrinsic_dimension(delta) == float("inf")


def test_huge_and_tiny_values():
    assert paper.algorithm_1(np.array([[0.0], [1.0], [1.0], [1.0]]) * 1.5e308) == 1.5e308 / 4
    assert paper.algorithm_1([[0.0], [1.5e308], [0.0], [1.5e308]]) == 0.75e308  # the sum itself overflows
    assert paper.algorithm_1([[0.0], [5e-324], [1e-323]]) == pytest.approx(5e-324)
    assert paper.intrinsic_dimension(1e-200) == float("inf")
    assert paper.intrinsic_dimension(1e200) == 0.0


def test_bad_delta():
    for delta in (-1.0, float("nan")):
        with pytest.raises(InputValueError, match="delta"):
            paper.intrinsic_dimension(delta)
    for delta in ("1", None, 1j, True):
        with pytest.raises(InputTypeError, match="delta"):
            paper.intrinsic_dimension(delta)
