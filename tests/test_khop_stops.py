"""Hop passes stopped anywhere, on graphs of all kinds: the bounds hold the true dimension."""

from __future__ import annotations

import warnings
from decimal import Decimal

import numpy as np
import pytest
import scipy.sparse as sp

import geodim
from engine.oracle import assert_encloses
from exact_hops import exact_dimensions, exact_hops
from geodim.data.graphs import as_graph
from geodim.errors import DegenerateDataWarning, InterruptedWarning
from khop_cases import EDGES, X64, stopped

N, D, HOPS = 11, 4, 2
OPERATORS = {
    "sym": ("sym", {}),
    "rw": ("rw", {}),
    "ppr": ("ppr", {"alpha": 0.3, "order": 2}),
    "ppr of rw": ("ppr", {"alpha": 0.6, "order": 1, "transition": "rw"}),
    "heat": ("heat", {"t": 0.7, "order": 2}),
    "matrix": ("matrix", {}),
}


def some_graph(rng):
    """Edges with loops and repetitions over the first nodes, with weights of which many are 0, or without."""
    edges = [tuple(pair) for pair in rng.integers(0, N - 2, (rng.integers(1, 25), 2)).tolist()]
    edges += [(i, i) for i in range(N) if rng.random() < 0.3]
    if rng.random() < 0.3:
        return edges, None
    return edges, rng.random(len(edges)) * 10.0 ** rng.integers(-3, 4, len(edges)) * (
        rng.random(len(edges)) < 0.5
    )


def some_values(rng):
    """Columns far from 0 on either side, around it, sparse, or constant."""
    kinds = [
        lambda: 100.0 + rng.random(N),
        lambda: -5.0 + rng.random(N),
        lambda: rng.normal(size=N),
        lambda: (rng.random(N) < 0.3) * 1.0,
        lambda: np.full(N, rng.choice([-2.0, 0.0, 3.0])),
    ]
    return np.stack([kinds[rng.integers(5)]() for _ in range(D)], axis=1).astype(rng.choice(["f4", "f8"]))


def interrupted(X, graph, blocks, **options):
    """Stop after so many blocks of one attribute, and a part of the next."""

    def press_a_key(done, *_):
        if done >= blocks:
            raise KeyboardInterrupt

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", InterruptedWarning)
        warnings.simplefilter("ignore", DegenerateDataWarning)
        limit = {"time_limit": 0} if blocks < 0 else {}
        return geodim.khop_dimensions(X, graph, HOPS, progress=press_a_key, **limit, **options)


@pytest.mark.turns(5)
@pytest.mark.parametrize("name", OPERATORS)
@pytest.mark.parametrize("seed", range(12))
def test_bounds_hold_wherever_it_stops(name, seed, monkeypatch):
    monkeypatch.setattr("geodim.planning.hops.default_columns", lambda *_: 1)
    rng = np.random.default_rng([seed, len(name)])
    X = some_values(rng)
    operator, parameters = OPERATORS[name]
    if operator == "matrix":
        matrix = sp.csr_array(rng.normal(size=(N, N)) * (rng.random((N, N)) < 0.4))
        graph, exact = None, exact_hops(X, HOPS, "matrix", matrix=matrix)
        options = {"operator": matrix}
    else:
        edges, weights = some_graph(rng)
        graph = as_graph(edges, N, edge_weights=weights, orientation="rows")
        exact = exact_hops(X, HOPS, operator, n=N, edges=edges, weights=weights, **parameters)
        options = {"operator": operator, "operator_parameters": parameters}
    if np.ptp(X, axis=0).max() == 0.0:
        options["normalize"] = False
    true = exact_dimensions(exact)
    for rtol in (0.0, 0.05):
        for blocks in range(-1, D + 1):
            result = interrupted(X, graph, blocks, rtol=rtol, **options)
            for one, dimension in zip(result, true, strict=True):
                assert Decimal(one.lower) * (1 - Decimal("1e-15")) <= dimension
                assert dimension <= Decimal(one.upper) * (1 + Decimal("1e-15"))
                assert one.lower <= one.dimension <= one.upper


def test_a_node_of_degree_0_leaves_the_range_of_its_attribute():
    """Its mean over nothing is 0, while all attributes are near 1.

    The widest window of hop 1 is four times as wide.
    """
    edges, weights = [(0, 1), (2, 3), (3, 3)], [1.0, 0.0, 0.0]
    X = np.array([[1.0], [1.1], [1.2], [1.25]])
    graph = as_graph(edges, 4, edge_weights=weights)
    exact = geodim.khop_dimensions(X, graph, 1, operator="rw")
    assert exact[1].phi[-1] > 4 * exact[0].phi[-1]
    with pytest.warns(InterruptedWarning):
        bounds = geodim.khop_dimensions(X, graph, 1, operator="rw", time_limit=0)
    assert bounds[1].discriminability_upper >= exact[1].discriminability
    # Without such nodes means stay within the range.
    with pytest.warns(InterruptedWarning):
        bounds = geodim.khop_dimensions(X, [(0, 1), (2, 3)], 1, operator="rw", time_limit=0)
    assert bounds[1].phi_upper[-1] == pytest.approx(0.25)


def test_a_limit_that_is_not_reached_changes_nothing() -> None:
    X, edges = (
        np.random.default_rng(0).normal(size=(30, 3)),
        np.random.default_rng(1).integers(0, 30, (2, 50)),
    )
    free = geodim.khop_dimensions(X, edges, 2)
    limited = geodim.khop_dimensions(X, edges, 2, time_limit=1e6)
    assert limited.dimensions == free.dimensions
    assert [one.stopped for one in limited.results] == [None] * 3


def test_nodes_are_not_counted_in_a_pass_that_was_stopped() -> None:
    """Those that no feature tells apart so far may be told apart by the next."""
    X, edges = np.eye(6), np.array([[0, 1, 2], [1, 2, 3]])
    with pytest.warns(InterruptedWarning):
        stopped = geodim.khop_dimensions(X, edges, 1, time_limit=0, count_indistinguishable=True)
    assert [one.n_indistinguishable for one in stopped.results] == [None, None]


@pytest.fixture(scope="module")
def reference():
    return geodim.khop_dimensions(X64, EDGES, hops=3, n_threads=1)


@pytest.mark.parametrize("n_threads", [1, 2])
def test_no_time_at_all(reference, n_threads):
    result = stopped(X64, EDGES, hops=3, time_limit=0, n_threads=n_threads)
    for one, other in zip(result, reference, strict=True):
        assert one.stopped == "time limit"
        assert not one.exact
        assert_encloses(one, other)


@pytest.mark.parametrize(
    ("form", "operator"),
    [(np.asarray, "rw"), (np.asarray, "ppr"), (np.asarray, "heat"), (sp.csr_array, "sym"), (np.int64, "sym")],
)
def test_no_time_at_all_in_other_forms(form, operator):
    X = form(X64)
    exact = geodim.khop_dimensions(X, EDGES, hops=2, operator=operator)
    result = stopped(X, EDGES, hops=2, operator=operator, time_limit=0)
    for one, other in zip(result, exact, strict=True):
        assert one.stopped == "time limit"
        assert one.lower <= other.dimension <= one.upper
        assert not np.isnan(one.dimension)


@pytest.mark.parametrize("rtol", [0.0, 0.05])
@pytest.mark.parametrize("blocks", [1, 2, 3])
def test_interrupted_after_some_blocks(reference, blocks, rtol, monkeypatch):
    monkeypatch.setattr("geodim.planning.hops.default_columns", lambda *_: 10)

    def press_a_key(done, *_):
        if done >= 10 * blocks:
            raise KeyboardInterrupt

    result = stopped(X64, EDGES, hops=3, rtol=rtol, progress=press_a_key)
    for one, other in zip(result, reference, strict=True):
        assert one.stopped == "interrupted"
        assert np.isfinite(one.upper)
        assert_encloses(one, other)


def test_a_star_lengthens_columns_but_not_beyond_the_bounds():
    """The centre of a star collects far more than the range of X.

    Bounds must not use the ranges of X for hops.
    """
    n = 200
    X = np.ones((n, 2))
    X[:5] = 0.0
    star = np.stack([np.zeros(n - 1, np.int64), np.arange(1, n)])
    exact = geodim.khop_dimensions(X, star, hops=2)
    assert exact[1].phi[-1] > 5.0 * exact[0].phi[-1]
    for one, other in zip(stopped(X, star, hops=2, time_limit=0), exact, strict=True):
        assert_encloses(one, other)
    for one, other in zip(geodim.khop_dimensions(X, star, hops=2, rtol=0.01), exact, strict=True):
        assert_encloses(one, other)
