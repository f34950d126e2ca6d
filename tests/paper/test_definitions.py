"""The definitions by subsets against the lemma by windows: the paper against itself."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from hypothesis.extra import numpy as hnp

from geodim import paper
from geodim.errors import InputTypeError, InputValueError, NonFiniteError, RangeOverflowError, ShapeError

small_data = hnp.arrays(
    np.float64,
    st.tuples(st.integers(1, 6), st.integers(1, 3)),
    elements=st.floats(-1e3, 1e3) | st.integers(-2, 2).map(float) | st.just(-0.0),
)


def all_alphas(n):
    """One alpha inside each step, and each end of a step inside (0, 1)."""
    return [Fraction(i, 2 * n) for i in range(1, 2 * n)]


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("n", [1, 2, 3, 5, 8])
def test_lemma_equals_definition_for_all_alpha(n, seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    X[:, 2] = rng.integers(0, 3, size=n)
    for alpha in all_alphas(n):
        for f in X.T:
            assert paper.partial_diameter(f, alpha) == paper.partial_diameter_by_subsets(f, alpha)
        assert paper.observable_diameter(X, alpha) == paper.observable_diameter_by_subsets(X, alpha)


@given(small_data)
@settings(max_examples=60, deadline=None)
def test_lemma_equals_definition_on_any_data(X):
    for alpha in all_alphas(len(X)):
        assert paper.observable_diameter(X, alpha) == paper.observable_diameter_by_subsets(X, alpha)


@given(small_data)
@settings(max_examples=60, deadline=None)
def test_algorithm_1_equals_the_integral(X):
    assert paper.algorithm_1(X) == paper.discriminability_by_definition(X)


def test_partial_diameter_needs_no_interval_of_the_real_line():
    """The infimum over Borel sets: three of four values fit into [0, 4], not into anything shorter."""
    assert paper.partial_diameter([0, 1, 4, 6], Fraction(1, 4)) == 4.0


@pytest.mark.parametrize("n", [1, 2, 3, 7, 10, 49, 100, 1000])
def test_c_alpha_is_right_at_every_end_of_a_step(n):
    for j in range(1, n):
        expected = n - j  # ceil(n (1 - j/n))
        assert paper.c_alpha(n, Fraction(j, n)) == expected
        assert paper.c_alpha(n, j / n) == expected
        assert paper.c_alpha(n, Fraction(2 * j - 1, 2 * n)) == expected + 1
        assert paper.c_alpha(n, np.nextafter(j / n, 0.0)) == expected + 1
        assert paper.c_alpha(n, np.nextafter(j / n, 1.0)) == expected


def test_c_alpha_covers_one_to_n():
    assert [paper.c_alpha(4, Fraction(2 * i + 1, 8)) for i in range(4)] == [4, 3, 2, 1]
    assert paper.c_alpha(5, 1e-300) == 5
    assert paper.c_alpha(5, 1 - 2**-53) == 1
    assert paper.c_alpha(4, np.float32(0.5)) == 2


@pytest.mark.parametrize("alpha", [0, 1, 0.0, 1.0, -0.1, 1.1, float("nan"), float("inf"), Fraction(3, 2)])
def test_alpha_outside_the_open_unit_interval_is_refused(alpha):
    with pytest.raises(InputValueError, match="alpha"):
        paper.c_alpha(10, alpha)


@pytest.mark.parametrize("alpha", ["0.5", None, True, 0.5j])
def test_alpha_of_another_type_is_refused(alpha):
    with pytest.raises(InputTypeError, match="alpha"):
        paper.c_alpha(10, alpha)


def test_subsets_of_many_points_are_refused():
    X = np.zeros((21, 1))
    with pytest.raises(InputValueError, match="at most 20"):
        paper.partial_diameter_by_subsets(X[:, 0], 0.5)
    with pytest.raises(InputValueError, match="at most 20"):
        paper.observable_diameter_by_subsets(X, 0.5)
    with pytest.raises(InputValueError, match="at most 20"):
        paper.discriminability_by_definition(X)


def test_is_geometric_dataset():
    assert paper.is_geometric_dataset([[1.0]])
    assert paper.is_geometric_dataset([[0, 0], [0, 1], [1, 0]])
    assert not paper.is_geometric_dataset([[0, 0], [0, 1], [0, 0]])
    assert not paper.is_geometric_dataset([[0.0], [-0.0]])


@pytest.mark.parametrize(
    "function", [paper.algorithm_1, paper.phi_all, paper.d_max, paper.is_geometric_dataset]
)
class TestInput:
    @pytest.mark.parametrize(
        "X", [3.0, [1, 2, 3], np.zeros((2, 2, 2)), np.zeros((0, 3)), np.zeros((3, 0)), [[1], [1, 2]]]
    )
    def test_shapes(self, function, X):
        with pytest.raises(ShapeError, match="X"):
            function(X)

    @pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
    def test_not_finite(self, function, bad):
        X = np.zeros((4, 3))
        X[2, 1] = bad
        with pytest.raises(NonFiniteError, match="row 2, column 1"):
            function(X)

    @pytest.mark.parametrize("X", [[["a"]], [[1j]], [[None]], np.ma.masked_equal([[1.0], [2.0]], 2.0)])
    def test_types(self, function, X):
        with pytest.raises(InputTypeError, match="X"):
            function(X)

    def test_range_overflow(self, function):
        with pytest.raises(RangeOverflowError, match="column 1"):
            function([[0.0, -1e308], [1.0, 1e308]])
