"""Operators against dense matrices and dense series."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from scipy import sparse
from scipy.linalg import expm

from features.naive_hops import dense_adjacency, dense_operator, random_edges
from geodim.data.graphs import as_graph
from geodim.errors import InputTypeError, InputValueError, NonFiniteError, RangeOverflowError, ShapeError
from geodim.features import make_operator

RNG = np.random.default_rng(5)
N = 30
EDGES = random_edges(RNG, N, 70)
WEIGHTS = RNG.random(len(EDGES))
X = RNG.normal(size=(N, 11))
GRAPH = as_graph(EDGES, N)


def applied(operator, block=X):
    out = np.empty_like(block)
    operator.apply(block, out)
    return out


@pytest.mark.parametrize("name", ["sym", "rw"])
@pytest.mark.parametrize("weighted", [False, True])
def test_normalised(name, weighted):
    weights = WEIGHTS if weighted else None
    operator = make_operator(as_graph(EDGES, N, edge_weights=weights), name)
    expected = dense_operator(name, dense_adjacency(N, EDGES, weights)) @ X
    np.testing.assert_allclose(applied(operator), expected, rtol=1e-13, atol=1e-15)
    assert operator.describe()["operator"] == name
    assert operator.describe()["weighted"] is weighted


def test_names_mean_different_things():
    results = [applied(make_operator(GRAPH, name)) for name in ("sym", "rw", "ppr", "heat")]
    for i, a in enumerate(results):
        for b in results[:i]:
            assert np.abs(a - b).max() > 0.01


@pytest.mark.parametrize("transition", ["sym", "rw"])
@pytest.mark.parametrize("order", [0, 1, 4, 9])
def test_ppr_is_its_truncated_series(transition, order):
    T = dense_operator(transition, dense_adjacency(N, EDGES))
    alpha = 0.2
    series = sum(alpha * (1 - alpha) ** k * np.linalg.matrix_power(T, k) for k in range(order + 1))
    operator = make_operator(GRAPH, "ppr", alpha=alpha, order=order, transition=transition)
    np.testing.assert_allclose(applied(operator), series @ X, rtol=1e-12, atol=1e-14)
    assert operator.truncation_error == pytest.approx(0.8 ** (order + 1))
    # The bound holds against the whole series, in the norm it is stated for.
    whole = alpha * np.linalg.inv(np.eye(N) - (1 - alpha) * T)
    norm = 2 if transition == "sym" else np.inf
    assert np.linalg.norm(whole - series, norm) <= operator.truncation_error * (1 + 1e-9)


@pytest.mark.parametrize("transition", ["sym", "rw"])
@pytest.mark.parametrize("t", [0.0, 0.5, 5.0])
@pytest.mark.parametrize("order", [0, 1, 6])
def test_heat_is_its_truncated_series(transition, t, order):
    T = dense_operator(transition, dense_adjacency(N, EDGES))
    terms = [t**k / math.factorial(k) * np.linalg.matrix_power(T, k) for k in range(order + 1)]
    series = math.exp(-t) * sum(terms)
    operator = make_operator(GRAPH, "heat", t=t, order=order, transition=transition)
    np.testing.assert_allclose(applied(operator), series @ X, rtol=1e-12, atol=1e-14)
    norm = 2 if transition == "sym" else np.inf
    error = np.linalg.norm(expm(t * (T - np.eye(N))) - series, norm)
    assert error <= operator.truncation_error * (1 + 1e-9) + 1e-14


@pytest.mark.parametrize(
    ("name", "parameter"), [("ppr", {"alpha": 0.1}), ("ppr", {"alpha": 1.0}), ("heat", {"t": 4.0})]
)
@pytest.mark.parametrize("tolerance", [0.5, 1e-2, 1e-6])
def test_tolerance_chooses_the_smallest_order(name, parameter, tolerance):
    operator = make_operator(GRAPH, name, tolerance=tolerance, **parameter)
    assert operator.truncation_error <= tolerance
    if operator.order:
        shorter = make_operator(GRAPH, name, order=operator.order - 1, **parameter)
        assert shorter.truncation_error > tolerance


def test_series_say_what_they_cut_off():
    operator = make_operator(GRAPH, "ppr", alpha=0.25, order=3)
    described = json.loads(json.dumps(operator.to_dict()))
    assert described["truncation_error"] == 0.75**4
    assert described["order"] == 3
    assert described["alpha"] == 0.25
    assert described["truncation_norm"] == "spectral"
    assert "truncation_error=0.31640625" in repr(operator)
    assert operator.products == 3
    assert operator.scratch_itemsize == 16
    assert "'sym'" in repr(make_operator(GRAPH))


@pytest.mark.parametrize("kind", ["csr", "csc", "coo"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64, bool])
def test_a_matrix_is_used_as_it_is(kind, dtype):
    dense = (RNG.random((N, N)) < 0.2) * RNG.integers(-3, 4, (N, N))
    matrix = sparse.csr_array(dense.astype(dtype)).asformat(kind)
    operator = make_operator(None, matrix)
    np.testing.assert_allclose(
        applied(operator), dense.astype(dtype).astype(float) @ X, rtol=1e-12, atol=1e-13
    )
    assert operator.describe()["operator"] == "matrix"
    assert matrix.data.flags.writeable
    assert make_operator(GRAPH, matrix).n_nodes == N


def test_weights_of_zero():
    # Node 1 has only edges of weight 0 and a loop of weight 0: its row is 0, and nothing is divided by 0.
    graph = as_graph([[0, 1], [1, 1]], 3, edge_weights=[0.0, 0.0])
    for name in ("sym", "rw"):
        assert applied(make_operator(graph, name), np.ones((3, 1))).ravel().tolist() == [1.0, 0.0, 1.0]


@pytest.mark.parametrize("name", ["sym", "rw", "ppr", "heat"])
@pytest.mark.parametrize(
    ("edges", "weights", "message"),
    [
        ([(0, 1), (1, 2)], [1e308, 1e308], "node 0 add up to 1e.308"),
        ([(0, 0), (0, 1), (0, 2)], [1e308, 1e308, 1e308], "node 0 add up to inf"),
        ([(0, 1), (2, 3)], [1.0, 1e151], "node 2 add up to 1e.151"),
        ([(0, 1), (0, 0)], [1e-300, 0.0], "node 0 add up to 1e-300"),
    ],
)
def test_degrees_that_cannot_be_divided_by(name, edges, weights, message):
    with pytest.raises(RangeOverflowError, match=message):
        make_operator(as_graph(edges, edge_weights=weights, orientation="rows"), name)


@pytest.mark.parametrize("size", [1e-149, 1e-20, 1e20, 1e149])
def test_weights_of_any_other_size(size):
    """Loops included, a common factor of the weights changes nothing."""
    edges = [*EDGES, *[(i, i) for i in range(N)]]
    weights = np.concatenate([WEIGHTS, np.ones(N)])
    for name in ("sym", "rw"):
        expected = applied(make_operator(as_graph(edges, N, edge_weights=weights), name))
        comp = applied(make_operator(as_graph(edges, N, edge_weights=weights * size), name))
        np.testing.assert_allclose(comp, expected, rtol=1e-13, atol=1e-15)


def test_weights_are_not_negative():
    with pytest.raises(InputValueError, match=r"non-negative: edge 1 .* has weight -1"):
        as_graph([(0, 1), (1, 2)], edge_weights=[1.0, -1.0])


@pytest.mark.parametrize(
    ("operator", "parameters", "message"),
    [
        ("gcn", {}, "sym, rw, ppr, heat"),
        ("sym", {"alpha": 0.1}, "takes no parameters, but got alpha"),
        ("ppr", {"t": 1.0}, "takes alpha, order, tolerance, transition, but got t"),
        ("ppr", {"alpha": 0.0}, "alpha"),
        ("ppr", {"alpha": 1.5}, "alpha"),
        ("ppr", {"alpha": 1e-6}, "products per hop"),
        ("ppr", {"order": -1}, "order"),
        ("ppr", {"tolerance": 0.0}, "tolerance"),
        ("ppr", {"transition": "heat"}, "transition"),
        ("heat", {"t": -1.0}, "t must be at least 0 and at most 500"),
        ("heat", {"t": 1e6}, "repeatedly"),
        (sparse.identity(N), {"order": 2}, "takes no parameters"),
    ],
)
def test_bad_parameters(operator, parameters, message):
    with pytest.raises(InputValueError, match=message):
        make_operator(GRAPH, operator, **parameters)


@pytest.mark.parametrize("parameters", [{"order": 2.5}, {"alpha": "0.5"}, {"tolerance": None}])
def test_parameters_of_another_kind(parameters):
    with pytest.raises(InputTypeError, match=f"{next(iter(parameters))} must be a"):
        make_operator(GRAPH, "ppr", **parameters)


def test_bad_matrices():
    with pytest.raises(InputTypeError, match="ndarray"):
        make_operator(GRAPH, np.eye(N))
    with pytest.raises(ShapeError, match="2 x 3"):
        make_operator(None, sparse.csr_array((2, 3)))
    with pytest.raises(ShapeError, match="4 rows, but the graph has 30"):
        make_operator(GRAPH, sparse.identity(4))
    with pytest.raises(InputTypeError, match="complex"):
        make_operator(None, sparse.identity(3).astype(complex))
    bad = sparse.identity(3).tocsr()
    bad.data[1] = np.nan
    with pytest.raises(NonFiniteError, match=r"\(1, 1\) is nan"):
        make_operator(None, bad)
    broken = sparse.identity(3).tocsr()
    broken.indices[2] = 7
    with pytest.raises(InputValueError, match="not a valid sparse matrix"):
        make_operator(None, broken)


def test_bad_blocks():
    operator = make_operator(GRAPH)
    good = np.zeros((N, 4))
    for block, out, error, message in [
        (np.zeros((N + 1, 4)), good, ShapeError, r"\(30, c\)"),
        (np.zeros(N), good, ShapeError, r"\(30, c\)"),
        (np.zeros((N, 0)), np.zeros((N, 0)), ShapeError, "columns"),
        (good, np.zeros((N, 5)), ShapeError, "agree"),
        (good.astype(np.float32), good, InputTypeError, "float32 and float64"),
        (good.astype(int), good, InputTypeError, "int64"),
        (np.asfortranarray(good), good.copy(), InputTypeError, "contiguous"),
        (good, good, InputTypeError, "overlap"),
    ]:
        with pytest.raises(error, match=message):
            operator.apply(block, out)


@pytest.mark.parametrize("width", [1, 20])
def test_overflow_is_an_error(width):
    matrix = make_operator(None, sparse.csr_array(np.full((3, 3), 2.0)))
    for dtype in (np.float32, np.float64):
        block = np.zeros((3, width), dtype)
        block[:, -1] = np.finfo(dtype).max / 2
        with pytest.raises(RangeOverflowError, match=f"node 0, column {width - 1} .* {np.dtype(dtype)}"):
            matrix.apply(block, np.empty_like(block))


def test_against_pyg():
    torch = pytest.importorskip("torch", reason="torch is not installed")
    norm = pytest.importorskip(
        "torch_geometric.nn.conv.gcn_conv", reason="torch_geometric is not installed"
    ).gcn_norm
    utils = pytest.importorskip("torch_geometric.utils", reason="torch_geometric is not installed")
    index = utils.to_undirected(torch.tensor(EDGES).T, num_nodes=N)
    index, weight = norm(index, None, N, dtype=torch.float64)
    dense = utils.to_dense_adj(index, edge_attr=weight, max_num_nodes=N)[0].numpy()
    np.testing.assert_allclose(applied(make_operator(GRAPH)), dense @ X, rtol=1e-13, atol=1e-15)
