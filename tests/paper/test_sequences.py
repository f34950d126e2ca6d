"""The window function phi: closed forms, monotonicity, signs of zero, input."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from hypothesis.extra import numpy as hnp

from geodim import paper
from geodim.errors import InputTypeError, InputValueError, NonFiniteError, QuadraticCostWarning, ShapeError
from geodim.paper import sequences

data = hnp.arrays(
    np.float64,
    st.tuples(st.integers(2, 12), st.integers(1, 3)),
    elements=st.floats(allow_nan=False, width=32, allow_infinity=False),
)


def no_negative_zero(array):
    return not np.signbit(np.asarray(array)).any()


@pytest.mark.parametrize(("n", "h"), [(2, 1.0), (17, 3.0), (64, 0.125)])
def test_evenly_spaced_values(n, h):
    """phi_k = (k-1) h (ALGORITHM.md, fact 10); h is a multiple of a power of two, so nothing rounds."""
    column = np.random.default_rng(0).permutation(n) * h
    np.testing.assert_array_equal(paper.phi_all(column[:, None]), h * np.arange(1, n))


@given(data)
@settings(max_examples=80, deadline=None)
def test_phi_never_falls_and_nothing_is_minus_zero(X):
    phi = paper.phi_all(X)
    assert (np.diff(phi) >= 0).all()
    assert no_negative_zero(phi)
    per_feature = np.array([paper.phi_k_per_feature(X, k) for k in range(1, len(X) + 1)])
    assert (np.diff(per_feature, axis=0) >= 0).all()
    assert no_negative_zero(per_feature)
    np.testing.assert_array_equal(per_feature[0], 0.0)
    np.testing.assert_array_equal(per_feature[1:].max(axis=1), phi)
    np.testing.assert_array_equal(phi, [paper.phi_k(X, k) for k in range(2, len(X) + 1)])


@given(data)
@settings(max_examples=40, deadline=None)
def test_ends_of_phi(X):
    """phi_2 is the largest of the features' smallest gaps, phi_n the largest range."""
    phi = paper.phi_all(X)
    assert phi[0] == np.diff(np.sort(X, axis=0), axis=0).min(axis=0).max()
    assert phi[-1] == (X.max(axis=0) - X.min(axis=0)).max() == paper.d_max(X)


@given(data)
@settings(max_examples=40, deadline=None)
def test_windows_are_superadditive(X):
    """phi_{p+q-1,f} >= phi_{p,f} + phi_{q,f} (fact 4), up to the rounding of the three differences."""
    sequence = paper.feature_sequence(X[:, 0])
    phi = {k: paper.phi_kf(sequence, k) for k in range(1, len(X) + 1)}
    for p, phi_p in phi.items():
        for q in range(1, len(X) + 2 - p):
            assert phi[p + q - 1] * (1 + 1e-15) >= (phi_p + phi[q]) * (1 - 1e-15)


def test_zeros_of_both_signs():
    for values in ([-0.0, 0.0], [0.0, -0.0], [-0.0, -0.0]):
        assert no_negative_zero(paper.feature_sequence(values))
        assert no_negative_zero(paper.phi_kf(values, 2))
        assert no_negative_zero(paper.phi_all(np.array(values)[:, None]))
        assert no_negative_zero(sequences.window_minima(np.array(values)[:, None], 2))


def test_differences_are_taken_in_float64():
    """In float32 16777216.5 does not exist, and in int8 or uint8 the difference would wrap around."""
    single = np.array([[-0.5], [16777216.0]], dtype=np.float32)
    assert paper.phi_k(single, 2) == 16777216.5
    assert paper.phi_k(np.array([[-128], [127]], dtype=np.int8), 2) == 255.0
    assert paper.phi_k(np.array([[3], [0]], dtype=np.uint8), 2) == 3.0
    assert paper.phi_k([[True], [False]], 2) == 1.0


def test_input_is_left_alone():
    X = np.array([[3.0, -0.0], [1.0, 2.0]])
    before = X.copy()
    paper.phi_all(X)
    paper.feature_sequence(X[:, 0])
    assert X.tobytes() == before.tobytes()


def test_one_point():
    assert paper.phi_all([[5.0, 6.0]]).shape == (0,)
    assert paper.phi_k([[5.0]], 1) == 0.0


@pytest.mark.parametrize("k", [0, 4, -1])
def test_k_outside_its_range(k):
    with pytest.raises(InputValueError, match=r"k must be at (least 1|most 3)"):
        paper.phi_kf([0, 1, 2], k)
    with pytest.raises(InputValueError, match=r"k must be at (least 1|most 3)"):
        paper.phi_k([[0], [1], [2]], k)


@pytest.mark.parametrize("k", [2.0, "2", None, True])
def test_k_of_another_type(k):
    with pytest.raises(InputTypeError, match="k must be a whole number"):
        paper.phi_kf([0, 1, 2], k)


def test_bad_sequences():
    with pytest.raises(InputValueError, match="falls after position 1"):
        paper.phi_kf([0, 2, 1], 2)
    with pytest.raises(ShapeError):
        paper.feature_sequence([])
    with pytest.raises(ShapeError):
        paper.feature_sequence([[1, 2]])
    with pytest.raises(NonFiniteError, match="row 1"):
        paper.feature_sequence([1, np.nan])


def test_warning_points_at_the_caller(monkeypatch):
    monkeypatch.setattr("geodim.paper._checks.QUADRATIC_POINTS", 10)
    X = np.arange(11.0)[:, None]
    support = [2, 11]
    calls = [
        lambda: paper.phi_all(X),
        lambda: paper.algorithm_1(X),
        lambda: paper.algorithm_2(X, support, exact=True),
        lambda: paper.algorithm_2(X, range(2, 12)),
        lambda: paper.normalized_adjacency(11, []),
        lambda: paper.k_hop_features(X, [], 1),
    ]
    for call in calls:
        with pytest.warns(QuadraticCostWarning, match="11 points") as caught:
            call()
        assert [w.filename for w in caught] == [__file__]
    for quiet in (X[:10], X[:9]):  # warnings are errors here
        paper.phi_all(quiet)
        paper.algorithm_1(quiet)
    paper.algorithm_2(X, support)


def test_the_limit_is_5000_points():
    paper.algorithm_2(np.zeros((5000, 1)), [2, 5000], exact=True)
    with pytest.warns(QuadraticCostWarning) as caught:
        paper.algorithm_2(np.zeros((5001, 1)), [2, 5001], exact=True)
    assert len(caught) == 1
