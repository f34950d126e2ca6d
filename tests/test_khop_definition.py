"""`khop_dimensions` against the paper: its definition, its figure on one-hot attributes, equal nodes."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import geodim
from engine.oracle import assert_same_bits
from geodim import paper
from geodim.data.graphs import as_graph
from geodim.errors import (
    InputValueError,
)
from geodim.features import hop_features, make_operator
from geodim.plans import peak_memory
from khop_cases import EDGES, OPERATORS, X64, attributes, random_graph


@pytest.mark.parametrize(
    ("n", "d", "m", "seed"),
    [(2, 1, 1, 0), (5, 2, 4, 1), (17, 3, 20, 2), (40, 7, 90, 3), (64, 20, 60, 4), (90, 4, 700, 5)],
)
def test_the_paper(n, d, m, seed):
    X, edges = attributes(seed, n, d), random_graph(seed, n, m)
    result = geodim.khop_dimensions(X, edges, hops=4)
    assert [one.exact for one in result] == [True] + [False] * 4  # sums of hops are rounded
    assert all(one.phi_exact and one.stopped is None for one in result)
    for k, one in enumerate(result):
        features = paper.k_hop_features(X, edges, k)
        assert one.n_features == features.shape[1]
        assert one.dimension == pytest.approx(1.0 / paper.algorithm_1(features) ** 2, rel=1e-12)
        np.testing.assert_allclose(
            one.phi / one.d_max, np.asarray(paper.phi_all(features))[-(n - 1) :], rtol=1e-12, atol=1e-14
        )


@pytest.mark.turns(3)
@pytest.mark.parametrize("operator", OPERATORS)
@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_every_layer_has_the_bits_of_its_features(operator, kind):
    """The same values in give the same bits out, and the same owners."""
    X, edges = attributes(7, 150, 21).astype(kind), random_graph(7, 150, 300)
    result = geodim.khop_dimensions(X, edges, hops=3, operator=operator, normalize=False)
    hops = hop_features(X, make_operator(as_graph(edges, len(X)), operator), 3)
    for k, one in enumerate(result):
        dense = np.concatenate(hops[: k + 1], axis=1)
        assert dense.dtype == kind
        alone = geodim.intrinsic_dimension(dense, normalize=False)
        assert_same_bits(one.phi, alone.phi)
        assert one.dimension == alone.dimension
        assert list(one.shares.values()) == list(alone.shares.values())
        labels = [f"hop {m}: {j}" if m else str(j) for m in range(k + 1) for j in range(X.shape[1])]
        assert list(one.shares) == [labels[int(name)] for name in alone.shares]


def test_one_hot_attributes_edge_by_edge():
    """The figure of the paper on synthetic data: 100 nodes, X the identity, up to all 4,950 edges.

    Every 100th step where the curves fall and turn, every 900th where they rise; the experiment
    ``one-hot`` has them all.
    """
    n = 100
    X = np.eye(n)
    edges = np.random.default_rng(0).permutation(random_graph(0, n, n * n))
    assert len(edges) == 4950
    steps = [*range(0, 500, 100), *range(500, 4950, 900), 4950]
    dimensions = []
    for step in steps:
        listed = edges[:step] if step else np.empty((0, 2), np.int64)
        result = geodim.khop_dimensions(X, listed, hops=5)
        assert result.dimensions[0] == n * n
        dimensions.append(result.dimensions)
        features = paper.k_hop_features(X, listed, 5)
        for k in range(1, 6):
            expected = 1.0 / paper.algorithm_1(features[:, : (k + 1) * n]) ** 2
            assert result.dimensions[k] == pytest.approx(expected, rel=1e-12), f"{step} edges, k = {k}"
    for k in range(1, 6):
        curve = np.array([one[k] for one in dimensions])
        lowest = int(curve.argmin())
        assert curve[0] == n * n  # no edge: every hop is X again
        assert 0 < lowest < len(curve) - 1
        assert curve[lowest] < 0.5 * curve[0]
        assert curve[lowest] < 0.5 * curve[-1]


@pytest.mark.parametrize("kind", ["dense", "sparse", "small blocks"])
def test_indistinguishable_nodes_are_counted_for_every_k(kind):
    """Against the rows of the dense hop features, on attributes of few values, where twins are common."""
    rng = np.random.default_rng(5)
    X = (rng.random((120, 6)) < 0.2).astype(np.float32)
    edges = random_graph(2, 120, 150)
    form = sp.csr_array(X) if kind == "sparse" else X
    options = {"memory": peak_memory(120, 400, 8, 4, 3, 2)} if kind == "small blocks" else {}
    result = geodim.khop_dimensions(form, edges, 3, n_threads=2, count_indistinguishable=True, **options)
    hops = hop_features(X, make_operator(as_graph(edges, len(X)), "sym"), 3)
    for k, one in enumerate(result):
        _, sizes = np.unique(np.concatenate(hops[: k + 1], axis=1), axis=0, return_counts=True)
        assert one.n_indistinguishable == sizes[sizes > 1].sum()
    assert result[0].n_indistinguishable > result[1].n_indistinguishable > 0
    assert geodim.khop_dimensions(form, edges, 1)[0].n_indistinguishable is None


def test_counting_nodes_needs_a_pass_without_checkpoint(tmp_path):
    with pytest.raises(InputValueError, match="separate run"):
        geodim.khop_dimensions(X64, EDGES, 1, count_indistinguishable=True, checkpoint=tmp_path)


def test_no_edges_no_change():
    X = attributes(3, 30, 4)
    result = geodim.khop_dimensions(X, np.empty((2, 0), np.int64), hops=3)
    assert result.dimensions == [geodim.intrinsic_dimension(X).dimension] * 4
    assert result.drops == [0.0] * 3


def test_dimensions_never_rise_with_k():
    result = geodim.khop_dimensions(attributes(5, 80, 6), random_graph(5, 80, 200), hops=6)
    assert np.all(np.diff(result.dimensions) <= 0.0)
    for before, after in zip(result, list(result)[1:], strict=False):
        assert np.all(before.phi <= after.phi)
