"""`khop_dimensions`: the same bits in every form of the input, options, bounds, and early stops."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import geodim
from engine.oracle import assert_encloses, assert_same_bits
from geodim import paper
from geodim.backends.hop_pass import HopPass
from geodim.data.graphs import as_graph
from geodim.errors import (
    DegenerateDataWarning,
    InputTypeError,
    InputValueError,
    NonFiniteError,
    ShapeError,
)
from geodim.plans import peak_memory
from khop_cases import EDGES, OPERATORS, X64, D, N, assert_same_result

# ---------------------------------------------------------------- the same bits


@pytest.fixture(scope="module")
def reference():
    return geodim.khop_dimensions(X64, EDGES, hops=3, n_threads=1)


@pytest.mark.parametrize("n_threads", [1, 2, 5])
def test_threads(reference, n_threads):
    assert_same_result(geodim.khop_dimensions(X64, EDGES, hops=3, n_threads=n_threads), reference)


@pytest.mark.parametrize("columns", [8, 16, 32])
def test_memory_and_with_it_the_width_of_blocks(reference, columns):

    budget = peak_memory(N, 2 * len(EDGES), columns, 8, 3, 2)
    seen = []
    result = geodim.khop_dimensions(
        X64,
        EDGES,
        hops=3,
        n_threads=2,
        memory=budget,
        progress=lambda done, total: seen.append((done, total)),
    )
    assert_same_result(result, reference)
    assert sorted({(0, D), *seen}) == [(min(done, D), D) for done in range(0, D + columns, columns)]


@pytest.mark.parametrize("width", [1, 3, 36, 37, 1000])
def test_any_width_of_blocks(reference, width, monkeypatch):
    monkeypatch.setattr("geodim.planning.hops.default_columns", lambda *_: width)
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


@pytest.mark.turns(5)
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


@pytest.mark.parametrize("rtol", [1e-300, 1e-17, 1e-15, 1e-13, 1e-11])
@pytest.mark.parametrize("kind", ["float32", "float64"])
def test_tolerances_that_floats_hardly_express(rtol, kind):
    """What cannot be told from exact is exact, and features that are rounded keep no pass going."""
    X = np.arange(24.0).reshape(8, 3) ** 1.5
    exact = geodim.khop_dimensions(X, [(0, 1), (1, 2), (3, 4)], hops=2, dtype=kind)
    result = geodim.khop_dimensions(X, [(0, 1), (1, 2), (3, 4)], hops=2, dtype=kind, rtol=rtol)
    for one, other in zip(result, exact, strict=True):
        assert 0.0 <= one.error <= max(rtol, 3.0 * other.error)
        assert_encloses(one, other)


@pytest.mark.parametrize("guess", [1e-8, 1.0, 1e8])
def test_the_number_of_passes_is_bounded(guess, monkeypatch):
    """Whatever the pilot guesses; the last pass is exact."""
    from geodim.engine import steps

    monkeypatch.setattr("geodim.khop.resolution", lambda *a: guess * steps.resolution(*a))
    passes = []
    run = HopPass.run
    monkeypatch.setattr(
        HopPass, "run", lambda self, *a: (passes.append(a[0].profiles[0].step), run(self, *a))
    )
    result = geodim.khop_dimensions(X64.astype(np.float32), EDGES, hops=2, rtol=1e-3)
    assert len(passes) <= 7
    assert passes == sorted(passes, reverse=True)
    for one, other in zip(result, geodim.khop_dimensions(X64.astype(np.float32), EDGES, hops=2), strict=True):
        assert one.error <= 1e-3
        assert_encloses(one, other)


def test_a_tolerance_finer_than_the_features_says_what_was_reached():
    result = geodim.khop_dimensions(X64.astype(np.float32), EDGES, hops=2, rtol=1e-9)
    assert result[0].error <= 1e-9
    assert 1e-9 < result[1].error < 1e-5
    assert result[1].error < 4.0 * geodim.khop_dimensions(X64.astype(np.float32), EDGES, hops=2)[1].error


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
    monkeypatch.setattr("geodim.planning.hops.default_columns", lambda *_: 10)
    counts, so_far = [], []
    result = geodim.khop_dimensions(
        X64, EDGES, hops=2, normalize=False, so_far=so_far.append,
        progress=lambda done, total: counts.append((done, total)),
    )  # fmt: skip
    assert counts == sorted(counts)
    assert sorted({(0, D), *counts}) == [(0, D), (10, D), (20, D), (30, D), (37, D)]
    deltas = np.array(so_far)
    assert deltas.shape == (len(counts), 3)
    assert np.all(np.diff(deltas, axis=0) >= 0.0)
    np.testing.assert_allclose(deltas[-1], [one.discriminability for one in result], rtol=1e-12)


def test_what_was_seen_so_far_is_normalised_like_the_result():
    seen = []
    result = geodim.khop_dimensions(X64, EDGES, hops=2, so_far=seen.append)
    np.testing.assert_allclose(seen[-1], [one.discriminability for one in result], rtol=1e-12)


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


@pytest.mark.parametrize(
    ("hops", "kind"),
    [(-1, InputValueError), *((hops, InputTypeError) for hops in (1.5, True, "5", None))],
)
def test_bad_hops(hops, kind):
    with pytest.raises(kind, match="hops"):
        geodim.khop_dimensions(X64, EDGES, hops=hops)


@pytest.mark.parametrize(
    ("memory", "kind"), [(-1, InputValueError), ("8GB", InputTypeError), (1e9, InputTypeError)]
)
def test_bad_memory(memory, kind):
    with pytest.raises(kind, match=r"memory \(bytes\) must be"):
        geodim.khop_dimensions(X64, EDGES, hops=1, memory=memory)


def test_bad_graphs_and_sizes():
    with pytest.raises(InputTypeError, match="there is no graph"):
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


def test_hops_of_integers_that_floats_do_not_hold():
    """What is rounded on reading widens the bounds of every hop.

    d_max is rounded, too: the rational value is inside.
    """
    from fractions import Fraction

    rng = np.random.default_rng(4)
    for trial in range(20):
        X = rng.integers(2**61, 2**61 + 2 ** (11 + 2 * trial), (5, 1))
        result = geodim.khop_dimensions(X, [(0, 1), (1, 2), (3, 4)], 1, operator="rw")
        raw = [Fraction(int(value)) for value in X[:, 0]]
        near = [(0, 1), (0, 1, 2), (1, 2), (3, 4), (3, 4)]
        hop = [sum(raw[j] for j in group) / len(group) for group in near]
        d_max = max(raw) - min(raw)
        for k, columns in enumerate(([raw], [raw, hop])):
            widths = [
                max(
                    min(b - a for a, b in zip(sorted(c), sorted(c)[size - 1 :], strict=False))
                    for c in columns
                )
                for size in range(2, 6)
            ]
            delta = sum(widths, Fraction(0)) / 5 / d_max
            assert not result[k].exact
            assert Fraction(result[k].discriminability_lower) <= delta
            assert result[k].discriminability_upper == np.inf or delta <= Fraction(
                result[k].discriminability_upper
            )


def test_a_tolerance_takes_one_pass_whatever_the_features_are_rounded_by(monkeypatch):
    """The tolerance is about Phi: what the rounding of hubs adds to the bounds is no reason to look again."""
    from geodim.backends.hop_pass import HopPass

    passes = []
    run = HopPass.run
    monkeypatch.setattr(HopPass, "run", lambda self, *given: (passes.append(1), run(self, *given))[1])
    rng = np.random.default_rng(2)
    X = rng.standard_normal((3000, 3)).astype(np.float32)
    star = [(0, other) for other in range(1, 3000)]
    beyond = 0
    for rtol in np.geomspace(2e-5, 1e-4, 9).tolist():
        passes.clear()
        result = geodim.khop_dimensions(X, star, 2, rtol=rtol)
        assert len(passes) == 1
        assert result[0].error <= rtol
        beyond += result[2].error > rtol
    assert beyond > 0
