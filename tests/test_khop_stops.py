"""Hop passes stopped anywhere, on graphs of all kinds: the bounds hold the true dimension."""

from __future__ import annotations

import warnings
from decimal import Decimal

import numpy as np
import pytest
import scipy.sparse as sp

import geodim
from exact_hops import exact_dimensions, exact_hops
from geodim.backends.hop_pass import HopPass
from geodim.data.graphs import as_graph
from geodim.errors import DegenerateDataWarning, InterruptedWarning

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


@pytest.mark.parametrize("name", OPERATORS)
@pytest.mark.parametrize("seed", range(12))
def test_bounds_hold_wherever_it_stops(name, seed, monkeypatch):
    monkeypatch.setattr(HopPass, "width_for", lambda *_: 1)
    rng = np.random.default_rng([seed, len(name)])
    X = some_values(rng)
    operator, parameters = OPERATORS[name]
    if operator == "matrix":
        matrix = sp.csr_array(rng.normal(size=(N, N)) * (rng.random((N, N)) < 0.4))
        graph, exact = None, exact_hops(X, HOPS, "matrix", matrix=matrix)
        options = {"operator": matrix}
    else:
        edges, weights = some_graph(rng)
        graph = as_graph(edges, N, weights=weights, orientation="rows")
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
    graph = as_graph(edges, 4, weights=weights)
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
