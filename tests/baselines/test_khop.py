"""MLE after hops: which rows are equal, and the paper's printed values.

Colour refinement and rational numbers tell which are.
"""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from baselines.oracles import fraction_hops, naive_mle, refined_classes
from geodim import errors
from geodim.baselines import PRINTED_MLE, khop_mle, khop_mle_rows, khop_points
from geodim.baselines.mle import mle_of_points
from geodim.baselines.neighbours import nearest
from geodim.baselines.points import Points
from geodim.data.datasets import load_dataset


def random_graph(n, m, seed=0):
    return np.random.default_rng(seed).integers(0, n, size=(2, m))


def both_ways(edges):
    return {(int(i), int(j)) for i, j in edges.T} | {(int(j), int(i)) for i, j in edges.T}


def twins(made, k):
    """Nodes that count as equal to another one after k hops."""
    return set(np.flatnonzero(nearest(made.points(k), 1, None, None).distances[:, 0] == 0.0).tolist())


def shared(classes):
    sizes = Counter(classes)
    return {i for i, name in enumerate(classes) if sizes[name] > 1}


def test_points_are_the_hops_side_by_side():
    X = np.random.default_rng(0).normal(size=(7, 3))
    edges = random_graph(7, 9)
    A = np.eye(7)
    for i, j in both_ways(edges):
        A[i, j] = 1.0
    scale = 1.0 / np.sqrt(A.sum(axis=1))
    T = scale[:, None] * A * scale[None, :]
    expected = np.hstack([X, T @ X, T @ T @ X])
    made = khop_points(X, edges, 2)
    np.testing.assert_allclose(made.matrix(2), expected, rtol=1e-13, atol=1e-14)
    np.testing.assert_allclose(made.matrix(1), expected[:, :6], rtol=1e-13, atol=1e-14)
    absolute = np.hstack([np.abs(X), T @ np.abs(X), T @ T @ np.abs(X)])
    units = made.radii(2) / np.linalg.norm(absolute, axis=1) / 2.0**-53
    np.testing.assert_allclose(units, 20.0, rtol=1e-12)
    assert not made.radii(0).any()


@pytest.mark.parametrize("seed", range(8))
def test_equal_neighbourhoods_are_recognised_and_no_others(seed):
    """Few distinct attributes on a sparse graph: many twins, also among nodes with many neighbours."""
    rng = np.random.default_rng(seed)
    n = 120
    X = rng.choice([0.1, 0.3, -0.7], size=(n, 2), p=[0.9, 0.05, 0.05])
    edges = random_graph(n, 90, seed)
    edges = np.hstack([edges, np.stack([np.zeros(40, int), np.arange(1, 41)])])  # a star
    made = khop_points(X, edges, 4)
    for k, classes in enumerate(refined_classes(X, both_ways(edges), 4)):
        assert shared(classes) <= twins(made, k)
    # Colour refinement may tell nodes apart whose numbers are equal; here generic scales leave
    # no such pair unexplained.
    values = made.matrix(4)
    for i in sorted(twins(made, 4) - shared(refined_classes(X, both_ways(edges), 4)[4])):
        others = np.delete(np.arange(n), i)
        gap = np.abs(values[others] - values[i]).max(axis=1).min()
        assert gap < 1e-13


def test_rows_equal_for_other_reasons():
    """Cliques of different sizes with one value each: A X = X, by sums that round differently."""
    edges, X, first = [], [], 0
    for size in range(2, 40):
        edges += [(first + i, first + j) for i in range(size) for j in range(i)]
        X += [[0.1, 0.7]] * size
        first += size
    made = khop_points(np.array(X), np.array(edges).T, 5)
    values = made.matrix(5)
    assert len(np.unique(values, axis=0)) > 1  # not the same bits
    assert len(twins(made, 5)) == len(X)


def test_means_in_rational_numbers():
    """Operator rw on integers: rows are equal exactly where the fractions are."""
    rng = np.random.default_rng(5)
    n = 60
    X = rng.integers(0, 2, size=(n, 2))
    edges = random_graph(n, 45, 6)
    around = [sorted({i, *(j for a, j in both_ways(edges) if a == i)}) for i in range(n)]
    made = khop_points(X, edges, 3, operator="rw")
    exact = fraction_hops(X.tolist(), around, 3)
    for k in range(4):
        rows = [tuple(value for hop in exact[: k + 1] for value in hop[i]) for i in range(n)]
        assert twins(made, k) == shared(rows)


@pytest.mark.parametrize("operator", ["sym", "rw", "ppr", "heat"])
def test_equals_the_definition(operator):
    X = np.random.default_rng(1).normal(size=(50, 4))
    edges = random_graph(50, 80)
    results = khop_mle(X, edges, 2, operator=operator)
    made = khop_points(X, edges, 2, operator=operator)
    assert [result.parameters["k"] for result in results] == [0, 1, 2]
    for k, result in enumerate(results):
        assert result.dimension == pytest.approx(naive_mle(made.matrix(k), 5)[0], rel=1e-9)
    if operator != "sym":
        assert results[1].dimension != khop_mle(X, edges, 1)[1].dimension


def test_the_order_of_nodes_does_not_matter():
    """It does for float32 sums: that is the noise in the printed values."""
    data = load_dataset("digits")
    rng = np.random.default_rng(0)
    X = np.round(data.x[:300] / data.x.max() * 2).astype(np.float32) * np.float32(0.1)
    X[150:] = X[:150]
    inside = data.edge_index[:, (data.edge_index < 150).all(axis=0)]
    edges = np.hstack([inside, inside + 150])  # two copies of one graph: every node has a twin
    order = rng.permutation(300)
    place = np.argsort(order)
    here = khop_mle(X, edges, 3)
    there = khop_mle(X[order], place[edges], 3)
    for one, other in zip(here, there, strict=True):
        assert one.n_zero == other.n_zero >= 300
        assert one.dimension == pytest.approx(other.dimension, rel=1e-9)
    noisy = khop_mle(X[order], place[edges], 3, variant="paper")
    assert noisy[3].n_zero < here[3].n_zero
    assert noisy[3].dimension < here[3].dimension


def test_rows_for_the_report():
    X = np.random.default_rng(1).normal(size=(50, 4)).astype(np.float32)
    edges = random_graph(50, 80)
    calls = []
    rows = khop_mle_rows(X, edges, 2, printed=[1.0, 2.0], progress=lambda *at: calls.append(at))
    assert calls == [(1, 3), (2, 3), (3, 3)]
    assert [row["printed"] for row in rows] == [1.0, 2.0, None]
    exact, paper = khop_mle(X, edges, 2), khop_mle(X, edges, 2, variant="paper")
    assert [row["sound"] for row in rows] == [result.dimension for result in exact]
    assert [row["paper_like"] for row in rows] == [result.dimension for result in paper]
    assert [row["paper_like_zero"] for row in rows] == [result.n_zero for result in paper]
    assert khop_mle_rows(X, edges, 0, published=False)[0]["paper_like"] is None


@pytest.mark.slow
def test_cora():
    """The printed value at k = 1; and twins are those that colour refinement finds, for k = 0, ..., 3."""
    data = load_dataset("cora", offline=True)
    made = khop_points(data.x, data.edge_index, 3)
    found = mle_of_points(made.points(1), 5, variant="exact")
    assert found.dimension == pytest.approx(PRINTED_MLE["cora"][1], abs=0.5e-4, rel=0)
    classes = refined_classes(data.x.toarray(), both_ways(data.edge_index), 3)
    alike = np.array(sorted(shared(classes[0])))  # hops tell more nodes apart, never fewer
    for k in range(4):
        points = made.points(k)
        some = Points(points.values[alike], points.radii[alike])
        zero = nearest(some, 1, None, None).distances[:, 0] == 0.0
        assert set(alike[zero].tolist()) == shared(classes[k])
        assert len(shared(classes[k])) > 0


class TestBadInput:
    X = np.ones((4, 2))
    edges = ((0, 1), (1, 2))

    @pytest.mark.parametrize(
        ("options", "kind", "text"),
        [
            ({"hops": -1}, errors.InputValueError, "hops must be at least 0"),
            ({"hops": 1.5}, errors.InputTypeError, "hops must be a whole number"),
            ({"operator": np.eye(4)}, errors.InputTypeError, "operator must be a name"),
            ({"variant": "mine"}, errors.InputValueError, "variant must be one of"),
            ({"variant": "paper", "operator": "rw"}, errors.InputValueError, "operator 'sym' without"),
        ],
    )
    def test_options(self, options, kind, text):
        with pytest.raises(kind, match=text):
            khop_mle(self.X, self.edges, **options)

    @pytest.mark.parametrize("factor", [1e200, 1e-200])
    def test_magnitudes(self, factor):
        with pytest.raises(errors.RangeOverflowError, match="rescale"):
            khop_mle(self.X * factor, self.edges)

    def test_sizes(self):
        with pytest.raises(errors.GeodimError):
            khop_mle(self.X, [(0, 9)])
