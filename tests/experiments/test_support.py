"""The support study and the fast sums against the paper's own algorithm."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from geodim import paper
from geodim.data.datasets.synthetic import rmat, sbm
from geodim.data.graphs import as_graph
from geodim.experiments.experiment import Context, Options
from geodim.experiments.support_study import EQUAL, SCALED, SIZES, TENTH, claims, draw, generated, study
from geodim.experiments.support_sums import bounds_on_support, expected_error
from geodim.features import hop_features, make_operator


def graphs():
    yield rmat(nodes=400, edges=2000, attributes=9, seed=1)
    yield sbm(nodes=333, blocks=3, attributes=5, seed=2)
    sparse = rmat(nodes=250, edges=600, attributes=12, seed=3)
    yield type(sparse)(**{**vars(sparse), "x": (sparse.x > 1.2).astype(np.float32)})  # many equal values


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("data", list(graphs()), ids=["rmat", "sbm", "zeros and ones"])
def test_study_is_algorithm_2(data, threads, tmp_path):
    rows = study(data, Context(Options(threads=threads), tmp_path))
    hops = hop_features(data.x, make_operator(as_graph(data.edge_index, data.n_nodes), "sym"), 2)
    features = np.concatenate(hops, axis=1)
    d_max = float(np.ptp(data.x.astype(np.float64), axis=0).max())
    sizes = [size for size in SIZES if int(size * data.n_nodes) >= 1]
    assert [row["relative_size"] for row in rows] == [float(size) for size in sizes]
    for size, row in zip(sizes, rows, strict=True):
        support = paper.log_scale_support(data.n_nodes, relative_size=size)
        expected = paper.algorithm_2(features, support)
        assert row["support"] == len(support)
        assert row["saved_costs"] == float(expected.saved_costs)
        assert row["lower"] == pytest.approx(expected.id_lower * d_max**2, rel=1e-12)
        assert row["error"] == pytest.approx(min(expected.error, 1e300), rel=1e-9)


def test_sizes_are_the_papers():
    assert SIZES[0] == Fraction(1, 1000)
    assert SIZES[-1] == Fraction(1, 20)
    assert len(SIZES) == 50


@pytest.mark.parametrize(("n", "length"), [(3, 2), (50, 7), (1000, 30), (5000, 2000)])
def test_bounds_on_support(n, length):
    rng = np.random.default_rng(n)
    phi = np.sort(rng.random(n - 1)) * 7.0
    support = paper.log_scale_support(n, length=length)
    some = phi[np.array(support) - 2]
    expected = paper.support_bounds(some / 2.0, support, n)
    found = bounds_on_support(some, support, n, 2.0)
    assert found.lower == pytest.approx(expected.delta_upper**-2, rel=1e-14)
    assert found.upper == pytest.approx(expected.delta_lower**-2, rel=1e-14)
    error = paper.approximation_error(expected.delta_upper**-2, expected.delta_lower**-2)
    assert found.error == pytest.approx(error, rel=1e-9, abs=1e-13)


def test_bounds_of_nothing():
    nothing = bounds_on_support(np.zeros(2), [2, 4], 4)
    assert (nothing.lower, nothing.upper, nothing.error) == (np.inf, np.inf, 0.0)
    half = bounds_on_support(np.array([0.0, 1.0]), [2, 9], 9)
    assert half.error > 0.0


@pytest.mark.parametrize(
    ("n", "error"),
    [(10**7, 3.08e-4), (10**8, 3.55e-4), (111_059_956, (282.3387 - 282.2380) / 282.2380)],
)
def test_expected_error_is_what_the_paper_prints(n, error):
    """Random data, and ogbn-papers100M at k = 0: data that have nothing in common but their size."""
    assert expected_error(n, 100_000) == pytest.approx(error, rel=3e-3)


def test_generated_graphs_differ_in_their_columns_only():
    small = {**TENTH, "nodes": 2000, "edges": 9000}
    equal, scaled = generated(EQUAL, small), generated(SCALED, small)
    assert equal.x.dtype == scaled.x.dtype == np.float32
    np.testing.assert_array_equal(equal.edge_index, scaled.edge_index)
    deviations = scaled.x.std(axis=0) / equal.x.std(axis=0)
    assert deviations.max() > 1.5 * deviations.min()


def test_claims_and_figure(tmp_path):
    rows = [
        {"dataset": name, **row}
        for name, data in zip(("Cora", SCALED), graphs(), strict=False)
        for row in study(data, Context(Options(), tmp_path))
    ]
    first, second, third = claims(rows)
    assert first.holds is False  # both graphs are small
    assert first.sentence == "holds on 0 of 2 data sets"
    assert "Cora" in second.evidence
    assert SCALED in third.evidence
    assert all(claim.holds is None for claim in claims([]))
    figure = draw(rows)["support"]
    assert len(figure.axes) == 2
    assert draw([]) == {}
