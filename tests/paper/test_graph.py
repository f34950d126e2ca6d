"""The k-hop geometric data set: by hand, by matrix powers, and for isomorphic graphs."""

import math

import numpy as np
import pytest

from geodim import paper
from geodim.errors import InputTypeError, InputValueError, RangeOverflowError, ShapeError

PATH = [(0, 1), (1, 2)]


def random_graph(seed, n=12, m=20):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, 3)), rng.integers(0, n, size=(m, 2))


def test_path_of_three_by_hand():
    """Degrees with the vertex itself: 2, 3, 2."""
    root = 1 / math.sqrt(6)
    expected = [[1 / 2, root, 0], [root, 1 / 3, root], [0, root, 1 / 2]]
    np.testing.assert_allclose(paper.normalized_adjacency(3, PATH), expected, rtol=1e-15)


def test_k_hop_features_of_the_path_by_hand():
    """X = (0, 0, 4): d_max = 4, hop 1 = (0, 4/sqrt 6, 2), divided by 4."""
    features = paper.k_hop_features([[0], [0], [4]], PATH, k=1)
    np.testing.assert_allclose(features, [[0, 0], [0, 1 / math.sqrt(6)], [1, 0.5]], rtol=1e-15)
    assert paper.is_geometric_dataset(features)
    assert not paper.is_geometric_dataset(features[:, :1])


@pytest.mark.parametrize("seed", range(4))
def test_matrix_properties(seed):
    X, edges = random_graph(seed)
    A = paper.normalized_adjacency(len(X), edges)
    np.testing.assert_array_equal(A, A.T)
    degrees = (A > 0).sum(axis=1)
    np.testing.assert_allclose(A @ np.sqrt(degrees), np.sqrt(degrees), rtol=1e-14)  # eigenvalue 1
    assert np.abs(np.linalg.eigvalsh(A)).max() == pytest.approx(1.0, rel=1e-12)  # spectral radius 1


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("k", [0, 1, 3])
def test_k_hop_features_are_matrix_powers(seed, k):
    X, edges = random_graph(seed)
    A = paper.normalized_adjacency(len(X), edges)
    features = paper.k_hop_features(X, edges, k)
    d_max = max(abs(a - b) for column in X.T for a in column for b in column)
    assert paper.d_max(X) == d_max
    assert features.shape == (len(X), (k + 1) * 3)
    for m in range(k + 1):
        expected = np.linalg.matrix_power(A, m) @ X / d_max
        np.testing.assert_allclose(features[:, 3 * m : 3 * m + 3], expected, rtol=1e-13, atol=1e-15)


def test_edges_are_a_set_of_unordered_pairs():
    expected = paper.normalized_adjacency(3, PATH)
    for edges in ([(1, 0), (2, 1)], [*PATH, (1, 0), (0, 1)], [*PATH, (2, 2)]):
        np.testing.assert_array_equal(paper.normalized_adjacency(3, edges), expected)


def test_no_edges():
    np.testing.assert_array_equal(paper.normalized_adjacency(3, []), np.eye(3))
    X = np.array([[0.0], [1.0], [4.0]])
    np.testing.assert_array_equal(paper.k_hop_features(X, [], 2), np.hstack([X, X, X]) / 4)


@pytest.mark.parametrize("seed", range(4))
def test_renumbering_the_vertices_permutes_the_rows_to_the_last_bit(seed):
    X, edges = random_graph(seed)
    order = np.random.default_rng(seed).permutation(len(X))
    renumbered = paper.k_hop_features(X[np.argsort(order)], order[edges], 3)
    np.testing.assert_array_equal(renumbered[order], paper.k_hop_features(X, edges, 3))


def test_equal_vertices_are_not_discriminated_by_rounding():
    """In a cycle of two alternating attribute vectors all even vertices are equal, and all odd ones."""
    n = 20
    X = np.where(np.arange(n)[:, None] % 2 == 0, [0.1, 0.7], [0.3, 0.2])
    edges = [(i, (i + 1) % n) for i in range(n)]
    features = paper.k_hop_features(X, edges, 4)
    assert len(np.unique(features, axis=0)) == 2


def test_scaling_the_attributes_leaves_the_dimension():
    X, edges = random_graph(1)
    assert paper.algorithm_1(paper.k_hop_features(8 * X, edges, 2)) == paper.algorithm_1(
        paper.k_hop_features(X, edges, 2)
    )


def test_no_minus_zero():
    features = paper.k_hop_features([[-0.0, -1.0], [0.0, 1.0]], [(0, 1)], 2)
    assert not np.signbit(features[features == 0]).any()
    assert not np.signbit(paper.d_max([[-0.0], [0.0]]))


def test_bad_arguments():
    with pytest.raises(InputValueError, match="d_max = 0"):
        paper.k_hop_features([[1.0], [1.0]], [(0, 1)], 1)
    with pytest.raises(InputValueError, match=r"edges\[1\] = \(1, 3\)"):
        paper.normalized_adjacency(3, [(0, 1), (1, 3)])
    with pytest.raises(InputValueError, match=r"edges\[0\] = \(-1, 0\)"):
        paper.normalized_adjacency(3, [(-1, 0)])
    with pytest.raises(ShapeError, match="transpose"):
        paper.normalized_adjacency(3, [(0, 1, 2), (1, 2, 0)])
    with pytest.raises(ShapeError, match="ragged"):
        paper.normalized_adjacency(3, [(0, 1), (1,)])
    with pytest.raises(InputTypeError, match="edges"):
        paper.normalized_adjacency(3, [(0.0, 1.0)])
    with pytest.raises(InputValueError, match="k must be at least 0"):
        paper.k_hop_features([[1.0], [2.0]], [(0, 1)], -1)
    with pytest.raises(InputValueError, match="n must be at least 1"):
        paper.normalized_adjacency(0, [])


def test_overflow_is_reported():
    with pytest.raises(RangeOverflowError, match="shift"):
        paper.k_hop_features([[1e300, 0.0], [1e300, 1e-20]], [], 0)
    star = [(0, i) for i in range(1, 10)]
    with pytest.raises(RangeOverflowError, match="neighbours"):
        paper.k_hop_features(np.linspace(1.5e308, 1.7e308, 10)[:, None], star, 1)
