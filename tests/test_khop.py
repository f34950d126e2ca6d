"""`khop_dimensions`: the paper's definition, the same bits in every form of the input, bounds, and early stops."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import geodim
from engine.oracle import assert_encloses, assert_same_bits
from geodim import paper
from geodim.data.graphs import as_graph
from geodim.errors import (
    DegenerateDataWarning,
    InputTypeError,
    InputValueError,
    InterruptedWarning,
    NonFiniteError,
    ShapeError,
)
from geodim.features import hop_features, make_operator
from geodim.plan import peak_memory

OPERATORS = ["sym", "rw", "ppr", "heat"]


def random_graph(seed, n, m):
    """Undirected edges (m, 2), without loops and duplicates."""
    rng = np.random.default_rng(seed)
    pairs = np.array([(i, j) for i in range(n) for j in range(i + 1, n)])
    return pairs[np.sort(rng.choice(len(pairs), min(m, len(pairs)), replace=False))]


def attributes(seed, n, d):
    """Columns of which several attain Phi somewhere; the wide ones are sparse, so that hops lower the dimension."""
    rng = np.random.default_rng([seed, 1])
    kinds = [
        lambda: rng.normal(size=n) * 0.1,
        lambda: np.where(rng.random(n) < 0.1, rng.random(n) * 8.0, 0.0),
        lambda: rng.integers(0, 4, n) * 0.2,
        lambda: np.where(rng.random(n) < 0.3, rng.random(n) * 5.0, 0.0),
    ]
    return np.stack([kinds[j % len(kinds)]() for j in range(d)], axis=1)


def assert_same_result(result, reference):
    assert len(result) == len(reference)
    for one, other in zip(result, reference, strict=True):
        assert_same_bits(one.phi_lower, other.phi_lower)
        assert_same_bits(one.phi_upper, other.phi_upper)
        assert one.dimension == other.dimension
        assert one.shares == other.shares
        assert one.d_max == other.d_max


def stopped(*arguments, **options):
    with pytest.warns(InterruptedWarning, match="valid but wide bounds"):
        return geodim.khop_dimensions(*arguments, **options)


# ---------------------------------------------------------------- the definition


@pytest.mark.parametrize(
    ("n", "d", "m", "seed"),
    [(2, 1, 1, 0), (5, 2, 4, 1), (17, 3, 20, 2), (40, 7, 90, 3), (64, 20, 60, 4), (90, 4, 700, 5)],
)
def test_the_paper(n, d, m, seed):
    X, edges = attributes(seed, n, d), random_graph(seed, n, m)
    result = geodim.khop_dimensions(X, edges, hops=4)
    assert all(one.exact and one.stopped is None for one in result)
    for k, one in enumerate(result):
        features = paper.k_hop_features(X, edges, k)
        assert one.n_features == features.shape[1]
        assert one.dimension == pytest.approx(1.0 / paper.algorithm_1(features) ** 2, rel=1e-12)
        np.testing.assert_allclose(
            one.phi / one.d_max, np.asarray(paper.phi_all(features))[-(n - 1) :], rtol=1e-12, atol=1e-14
        )


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
    """The figure of the paper on synthetic data: 100 nodes, X the identity, all 4,950 edges one after the other."""
    n = 100
    X = np.eye(n)
    edges = np.random.default_rng(0).permutation(random_graph(0, n, n * n))
    assert len(edges) == 4950
    steps = range(0, 4951, 10)
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
    with pytest.raises(InputValueError, match="run of its own"):
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


# ---------------------------------------------------------------- the same bits

N, D = 300, 37
X64 = attributes(9, N, D)
EDGES = random_graph(9, N, 700)


@pytest.fixture(scope="module")
def reference():
    return geodim.khop_dimensions(X64, EDGES, hops=3, n_threads=1)


@pytest.mark.parametrize("n_threads", [1, 2, 5])
def test_threads(reference, n_threads):
    assert_same_result(geodim.khop_dimensions(X64, EDGES, hops=3, n_threads=n_threads), reference)


@pytest.mark.parametrize("columns", [8, 16, 32])
def test_memory_and_with_it_the_width_of_blocks(reference, columns):
    from geodim.plan import peak_memory

    budget = peak_memory(N, 2 * len(EDGES), columns, 8, 3, 2)
    seen = []
    result = geodim.khop_dimensions(
        X64,
        EDGES,
        hops=3,
        n_threads=2,
        memory=budget,
        progress=lambda done, total, _: seen.append((done, total)),
    )
    assert_same_result(result, reference)
    assert sorted({(0, D), *seen}) == [(min(done, D), D) for done in range(0, D + columns, columns)]


@pytest.mark.parametrize("width", [1, 3, 36, 37, 1000])
def test_any_width_of_blocks(reference, width, monkeypatch):
    monkeypatch.setattr(geodim.khop._Pass, "width_for", lambda *_: width)
    assert_same_result(geodim.khop_dimensions(X64, EDGES, hops=3, n_threads=2), reference)


@pytest.mark.parametrize(
    "form", ["csr", "csc", "csr_matrix", "fortran", "strided", "memmap", "memmap_fortran", "list", "pandas"]
)
def test_forms_of_the_attributes(reference, form, tmp_path):
    if form.startswith("memmap"):
        values = np.asfortranarray(X64) if form == "memmap_fortran" else X64
        np.save(tmp_path / "x.npy", values)
        X = np.load(tmp_path / "x.npy", mmap_mode="r")
    else:
        X = {
            "csr": sp.csr_array,
            "csc": sp.csc_array,
            "csr_matrix": sp.csr_matrix,
            "fortran": np.asfortranarray,
            "strided": lambda values: np.repeat(values, 2, axis=1)[:, ::2],
            "list": lambda values: values.tolist(),
            "pandas": lambda values: pd.DataFrame(values, columns=[str(j) for j in range(D)]),
        }[form](X64)
    assert_same_result(geodim.khop_dimensions(X, EDGES, hops=3), reference)


@pytest.mark.parametrize("form", ["csr", "fortran", "int8"])
def test_forms_of_float32_attributes(form):
    values = np.random.default_rng(2).integers(0, 3, (N, 10))
    reference = geodim.khop_dimensions(values.astype(np.float32), EDGES, hops=2)
    X = {
        "csr": lambda: sp.csr_array(values.astype(np.float32)),
        "fortran": lambda: np.asfortranarray(values.astype(np.float32)),
        "int8": lambda: values.astype(np.int8),
    }[form]()
    assert_same_result(geodim.khop_dimensions(X, EDGES, hops=2), reference)


@pytest.mark.parametrize(
    "form",
    [
        "edge_index",
        "tuple",
        "pairs",
        "flipped",
        "both",
        "shuffled",
        "repeated",
        "loops",
        "csr",
        "coo",
        "upper",
        "graph",
    ],
)
def test_forms_of_the_graph(reference, form):
    rng = np.random.default_rng(1)
    both = np.concatenate([EDGES, EDGES[:, ::-1]])
    ones = np.ones(len(both))
    loops = np.stack([np.arange(0, N, 3)] * 2, axis=1)
    graph = {
        "edge_index": EDGES.T,
        "tuple": (EDGES[:, 0], EDGES[:, 1]),
        "pairs": [tuple(pair) for pair in EDGES.tolist()],
        "flipped": EDGES[:, ::-1],
        "both": both.T,
        "shuffled": rng.permutation(both),
        "repeated": np.concatenate([EDGES, EDGES[::2], both]),
        "loops": np.concatenate([loops, EDGES, loops]),
        "csr": sp.csr_array((ones, both.T), shape=(N, N)),
        "coo": sp.coo_array((ones * 7.0, both.T), shape=(N, N)),
        "upper": sp.csc_array((ones[: len(EDGES)], EDGES.T), shape=(N, N)),
        "graph": as_graph(EDGES, N),
    }[form]
    result = geodim.khop_dimensions(X64, graph, hops=3)
    assert_same_result(result, reference)
    assert result.graph["n_nodes"] == N


# ---------------------------------------------------------------- options


def test_operators_differ(reference):
    found = {name: geodim.khop_dimensions(X64, EDGES, hops=2, operator=name) for name in OPERATORS}
    for name, result in found.items():
        assert result.operator["operator"] == name
        assert result.dimensions[0] == reference.dimensions[0]
        others = [other.dimensions[2] for key, other in found.items() if key != name]
        assert result.dimensions[2] not in others


def test_a_matrix_is_taken_as_it_is(reference):
    normalised = sp.csr_array(paper.normalized_adjacency(N, EDGES))
    for graph in (None, EDGES):
        result = geodim.khop_dimensions(X64, graph, hops=3, operator=normalised)
        assert result.operator["operator"] == "matrix"
        np.testing.assert_allclose(result.dimensions, reference.dimensions, rtol=1e-9)
    twice = geodim.khop_dimensions(X64, None, hops=1, operator=sp.csr_array(2.0 * np.eye(N)))
    np.testing.assert_allclose(twice.dimensions[1], reference.dimensions[0] / 4.0, rtol=1e-12)


def test_operator_parameters():
    near, far = (
        geodim.khop_dimensions(X64, EDGES, hops=1, operator="ppr", operator_parameters={"alpha": alpha})
        for alpha in (0.9, 0.1)
    )
    assert (near.operator["alpha"], far.operator["alpha"]) == (0.9, 0.1)
    assert near.dimensions[1] != far.dimensions[1]
    with pytest.raises(InputValueError, match="alpha"):
        geodim.khop_dimensions(X64, EDGES, operator_parameters={"alpha": 0.5})


@pytest.mark.parametrize("hops", [0, 1, 6, np.int64(2)])
def test_hops(reference, hops):
    result = geodim.khop_dimensions(X64, EDGES, hops=hops)
    assert result.hops == hops
    both = min(hops, 3) + 1
    assert result.dimensions[:both] == reference.dimensions[:both]


def test_normalize(reference):
    raw = geodim.khop_dimensions(X64, EDGES, hops=3, normalize=False)
    d_max = paper.d_max(X64)
    assert d_max != 1.0
    for one, other in zip(raw, reference, strict=True):
        assert_same_bits(one.phi, other.phi)
        assert one.d_max == other.d_max == d_max
        assert one.dimension == pytest.approx(other.dimension / d_max**2, rel=1e-12)


@pytest.mark.parametrize("operator", OPERATORS)
@pytest.mark.parametrize("rtol", [0.3, 0.02, 1e-3])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array, np.float32])
def test_rtol_is_reached_and_bounds_enclose(rtol, operator, form):
    X = form(X64[:, :9])
    exact = geodim.khop_dimensions(X, EDGES, hops=3, operator=operator)
    result = geodim.khop_dimensions(X, EDGES, hops=3, operator=operator, rtol=rtol)
    for one, other in zip(result, exact, strict=True):
        assert one.error <= rtol
        assert one.stopped is None
        assert_encloses(one, other)


def test_rtol_is_reached_when_the_first_resolution_was_too_coarse(monkeypatch):
    from geodim.engine import steps

    monkeypatch.setattr("geodim.khop.resolution", lambda *a: 64.0 * steps.resolution(*a))
    exact = geodim.khop_dimensions(X64, EDGES, hops=2)
    for one, other in zip(geodim.khop_dimensions(X64, EDGES, hops=2, rtol=0.01), exact, strict=True):
        assert one.error <= 0.01
        assert_encloses(one, other)


def test_edge_weights(reference):
    ones = geodim.khop_dimensions(X64, EDGES, hops=3, edge_weights=np.ones(len(EDGES)))
    np.testing.assert_allclose(ones.dimensions, reference.dimensions, rtol=1e-12)
    weights = np.random.default_rng(4).random(len(EDGES)) * 3.0
    weighted = geodim.khop_dimensions(X64, EDGES, hops=3, edge_weights=weights)
    assert weighted.dimensions[0] == reference.dimensions[0]
    assert weighted.dimensions[1] != reference.dimensions[1]
    matrix = sp.coo_array((weights, EDGES.T), shape=(N, N)).tocsr()
    assert_same_result(geodim.khop_dimensions(X64, matrix, hops=3, edge_weights=True), weighted)
    dense = matrix.toarray() + matrix.toarray().T + np.eye(N)
    scale = 1.0 / np.sqrt(dense.sum(axis=1))
    by_hand = np.concatenate([X64, (scale[:, None] * dense * scale) @ X64], axis=1)
    hand = geodim.intrinsic_dimension(by_hand, normalize=False)
    np.testing.assert_allclose(weighted[1].phi, hand.phi, rtol=1e-9, atol=1e-12)


def test_feature_names():
    names = [f"word {j}" for j in range(D)]
    result = geodim.khop_dimensions(X64, EDGES, hops=1, feature_names=names)
    assert set(result[0].shares) <= set(names)
    assert any(name.startswith("hop 1: word ") for name in result[1].shares)


def test_progress_counts_attributes(monkeypatch):
    monkeypatch.setattr(geodim.khop._Pass, "width_for", lambda *_: 10)
    seen = []
    result = geodim.khop_dimensions(
        X64, EDGES, hops=2, normalize=False, progress=lambda *state: seen.append(state)
    )
    counts = [(done, total) for done, total, _ in seen]
    assert counts == sorted(counts)
    assert sorted({(0, D), *counts}) == [(0, D), (10, D), (20, D), (30, D), (37, D)]
    deltas = np.array([state[2] for state in seen])
    assert deltas.shape == (len(seen), 3)
    assert np.all(np.diff(deltas, axis=0) >= 0.0)
    np.testing.assert_allclose(deltas[-1], [one.discriminability for one in result], rtol=1e-12)


def test_progress_is_normalised_like_the_result():
    seen = []
    result = geodim.khop_dimensions(X64, EDGES, hops=2, progress=lambda *state: seen.append(state))
    np.testing.assert_allclose(seen[-1][2], [one.discriminability for one in result], rtol=1e-12)


# ---------------------------------------------------------------- stopped early


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
    monkeypatch.setattr(geodim.khop._Pass, "width_for", lambda *_: 10)

    def press_a_key(done, *_):
        if done >= 10 * blocks:
            raise KeyboardInterrupt

    result = stopped(X64, EDGES, hops=3, rtol=rtol, progress=press_a_key)
    for one, other in zip(result, reference, strict=True):
        assert one.stopped == "interrupted"
        assert np.isfinite(one.upper)
        assert_encloses(one, other)


def test_a_star_lengthens_columns_but_not_beyond_the_bounds():
    """The centre of a star collects far more than the range of X: bounds must not use the ranges of X for hops."""
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


# ---------------------------------------------------------------- edges of the domain


def test_constant_attributes():
    with pytest.warns(DegenerateDataWarning, match="hop 0"):
        result = geodim.khop_dimensions(np.ones((4, 1)), [(0, 1), (1, 2), (2, 3), (3, 0)], hops=2)
    assert result.dimensions == [np.inf] * 3  # a regular graph
    assert result.drops == [0.0, 0.0]
    with pytest.warns(DegenerateDataWarning, match="hop 0"):
        result = geodim.khop_dimensions(np.ones((4, 1)), [(0, 1), (1, 2), (2, 3)], hops=1)
    assert result.dimensions[0] == np.inf
    assert np.isfinite(result.dimensions[1])  # degrees differ
    assert result.drops == [1.0]


def test_a_single_node():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DegenerateDataWarning)
        result = geodim.khop_dimensions(np.ones((1, 2)), np.empty((2, 0), np.int64), hops=2)
    assert result.dimensions == [np.inf] * 3


@pytest.mark.parametrize("hops", [-1, 1.5, True, "5", None])
def test_bad_hops(hops):
    with pytest.raises(InputValueError, match="hops"):
        geodim.khop_dimensions(X64, EDGES, hops=hops)


def test_bad_graphs_and_sizes():
    with pytest.raises(InputTypeError, match="NoneType"):
        geodim.khop_dimensions(X64, None)
    with pytest.raises(InputValueError, match=f"{N - 1} nodes: edge 0 "):
        geodim.khop_dimensions(X64[:-1], [(0, N - 1), *EDGES.tolist()])
    with pytest.raises(ShapeError, match=f"{N}"):
        geodim.khop_dimensions(X64, sp.csr_array((N + 1, N + 1)))
    with pytest.raises(ShapeError, match=f"{N} rows"):
        geodim.khop_dimensions(X64, None, operator=sp.csr_array(np.eye(N + 1)))
    with pytest.raises(InputValueError, match="operator"):
        geodim.khop_dimensions(X64, EDGES, operator="laplace")


def test_values_that_are_not_finite_are_named():
    X = X64.copy()
    X[17, 3] = np.nan
    with pytest.raises(NonFiniteError, match="row 17, column 3"):
        geodim.khop_dimensions(X, EDGES)


@pytest.mark.parametrize(
    "options", [{"rtol": -1.0}, {"n_threads": 0}, {"time_limit": -1.0}, {"memory": 10}], ids=str
)
def test_bad_options(options):
    with pytest.raises(InputValueError):
        geodim.khop_dimensions(X64, EDGES, **options)


def test_memory_in_words():
    with pytest.raises((InputTypeError, InputValueError)):
        geodim.khop_dimensions(X64, EDGES, memory="1GB")
