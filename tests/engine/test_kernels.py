"""All kernels on data small enough to be interpreted.

Thresholds are lowered so that short columns take the ways of long ones.  Compiled, these are some of many
tests; with NUMBA_DISABLE_JIT=1 they are what coverage of the kernels, and mutants of them, are measured with.
"""

from __future__ import annotations

import os
import warnings

import numpy as np
import pytest
import scipy.sparse as sp

import geodim
from distributions import COLUMNS, column, random_matrix
from engine.oracle import assert_same_bits
from geodim.data.graphs import as_graph
from geodim.engine import column as column_module, pieces, sorter, ways
from geodim.errors import DegenerateDataWarning, InterruptedWarning
from geodim.features import hop_features, make_operator
from oracles import brute
from oracles.comparing import Truth, compare
from oracles.drawing import InterruptAt

SIZES = (33, 64, 130, 321)


def solved(X, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DegenerateDataWarning)
        warnings.simplefilter("ignore", InterruptedWarning)
        return geodim.intrinsic_dimension(X, n_threads=1, **options)


def check(X, **options):
    """Everything that the result says."""
    dense = X.toarray() if sp.issparse(X) else X
    weights = options.get("weights")
    dense = dense if weights is None else np.repeat(dense, weights, axis=0)
    result = solved(X, **options)
    compare(result, Truth.of(dense, normalize=True), options.get("rtol", 0.0))
    return result


@pytest.mark.turns(5)
@pytest.mark.parametrize("name", sorted(set(COLUMNS) - {"unsigned_64", "denormals"}))
def test_every_kind_of_column(name):
    for n in SIZES:
        X = column(name, n)[:, np.newaxis]
        check(X)
        check(X, rtol=1e-6)
        check(X, rtol=0.05)
        check(X, time_limit=0)


def test_several_columns():
    for seed in range(4):
        rng = np.random.default_rng(seed)
        X = random_matrix(rng, 150, 6)
        check(X)
        check(X, rtol=1e-3)
        check(np.where(rng.random(X.shape) < 0.3, X, 0.0))


def test_alike_columns():
    """Each raises what others have reached a little."""
    X = np.random.default_rng(1).normal(size=(400, 8))
    check(X)
    check(X.astype(np.float32))
    check(X, rtol=1e-4)


def test_sparse_and_weighted():
    rng = np.random.default_rng(2)
    X = np.where(rng.random((90, 4)) < 0.3, rng.normal(size=(90, 4)), 0.0)
    check(sp.csr_array(X))
    check(sp.csr_array(X), weights=rng.integers(0, 5, 90), rtol=1e-3)
    check(X, weights=rng.integers(0, 9, 90))
    check(rng.integers(0, 4, (60, 3)), weights=rng.integers(0, 90, 60))


@pytest.mark.turns(2)
@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_radix_sort_of_short_columns(monkeypatch, kind):
    """Also dealt out by leading bits, and few values counted."""
    monkeypatch.setattr(column_module, "FEW_FROM", 2)
    for way in ("digits", "shares"):
        monkeypatch.setattr(sorter.Sorter, "ways", lambda _, way=way: [way])
        for name in (
            "normal_32",
            "few_integers",
            "hundred_integers",
            "denormals_32",
            "signed_zeros_32",
            "rounded",
        ):
            X = column(name, 200).astype(kind)[:, np.newaxis]
            check(X)
            check(X, rtol=1e-3)


@pytest.mark.parametrize(
    "name", ["normal", "grid_jitter_third", "exponential", "two_clusters", "normal_quantiles"]
)
def test_every_gap_a_piece(monkeypatch, name):
    """As in long columns, which several threads share, and which may be stopped in between."""
    monkeypatch.setattr(pieces, "LONG", 64)
    monkeypatch.setattr(ways, "LONG_FROM", 64)
    X = np.stack([column(name, 500), column("uniform", 500)], axis=1)
    check(X)
    for at in (1, 2, 3):
        result = solved(X, progress=InterruptAt(at))
        compare(result, Truth.of(X, normalize=True))


def test_grid_like_columns():
    """Many points close to a line, bent or not, where starts are looked at in groups."""
    rng = np.random.default_rng(3)
    line = np.arange(1500.0)
    for X in (
        line + rng.normal(0, 3.0, 1500),
        line + rng.random(1500),
        line + 1e-4 * line**2 + rng.normal(0, 0.5, 1500),
    ):
        check(X[:, np.newaxis])


# ---------------------------------------------------------------- hops


@pytest.mark.parametrize("operator", ["sym", "rw", "ppr", "heat", "matrix"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("d", [3, 8, 19])
def test_hop_features(operator, dtype, d):
    """Against extended precision: once rounded to the type a hop, and from the rounded values on."""
    if operator == "ppr" and dtype == np.float32 and os.environ.get("NUMBA_DISABLE_JIT") == "1":
        pytest.skip("numpy multiplies float32 by a number of Python in float32, Numba in float64")
    rng = np.random.default_rng(d)
    n = 24
    X = rng.normal(size=(n, d)).astype(dtype)
    edges = np.unique(np.sort(rng.integers(0, n - 2, (40, 2)), axis=1), axis=0)
    weights = None
    if operator == "matrix":
        matrix = np.round(rng.normal(size=(n, n)), 2) * (rng.random((n, n)) < 0.4)
        hop, made = brute.Hop(matrix.astype(brute.LONG), 0.0), make_operator(None, sp.csr_array(matrix))
    elif operator in ("sym", "rw"):
        weights = np.round(rng.uniform(0.5, 3.0, len(edges)), 2) if d == 8 else None
        graph = as_graph(edges.T, n, edge_weights=weights)
        adjacency = brute.adjacency(n, edges.tolist(), None if weights is None else weights.tolist())
        for one, other in edges[edges[:, 0] == edges[:, 1]].tolist():
            adjacency[one, other] = 1.0 if weights is None else weights[(edges == one).all(axis=1)][0]
        hop, made = brute.transition(operator, adjacency), make_operator(graph, operator)
    else:
        adjacency = brute.transition("rw", brute.adjacency(n, edges.tolist()))
        coefficients = brute.ppr(0.2, 5) if operator == "ppr" else brute.heat(1.5, 5)
        hop = brute.series(coefficients, adjacency)
        own = {"alpha": 0.2} if operator == "ppr" else {"t": 1.5}
        made = make_operator(as_graph(edges.T, n), operator, order=5, transition="rw", **own)
    features = hop_features(X, made, 2)
    assert_same_bits(features[0].astype(np.float64), X.astype(np.float64))
    for before, after in ((features[0], features[1]), (features[1], features[2])):
        true = (hop.matrix @ before.astype(brute.LONG)).astype(np.float64)
        scale = (np.abs(hop.matrix) @ np.abs(before.astype(brute.LONG))).astype(np.float64)
        assert np.all(
            np.abs(after - true) <= (np.finfo(dtype).eps / 2 + 8 * np.finfo(np.float64).eps) * scale
        )


def test_means_of_equal_values_are_those_values():
    edges = np.array([(0, i) for i in range(1, 7)])
    for value in (0.1, 1 / 3, 1e300, 5e-324):
        X = np.full((7, 1), value)
        assert np.all(hop_features(X, make_operator(edges.T, "rw"), 3)[3] == value)


@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize("n", [1, 7, 16, 45, 71])
def test_columns_of_a_row_major_array_in_any_order(n, kind):
    """Some of eight neighbours are transposed at once, wherever they go; others are copied one by one."""
    from geodim.engine.kernels.reading import gather_columns

    rng = np.random.default_rng(n)
    X = rng.standard_normal((n, 19)).astype(kind)
    eight = np.arange(8)
    chosen = [[3], eight, eight + 5, eight[::-1], [0, 1, 1, 3, 4, 5, 6, 7], rng.permutation(19), 2 * eight]
    chosen += [rng.permutation(19)[:count] for count in range(2, 19)] + [[18], [16, 18, 17], [0, 9, 10, 12]]
    chosen += [
        np.roll(np.arange(19), shift)[:count] for shift in (1, 3, 6) for count in (2, 4, 8, 11, 12, 16, 18)
    ]
    # With gaps, as the others have: one kernel for all.
    by_columns = np.asfortranarray(np.repeat(X, 2, axis=0))[::2]
    strided = () if os.environ.get("NUMBA_DISABLE_JIT") else (X[:, ::-1], X[::2], by_columns)
    for array in (X, *strided):
        array.flags.writeable = False  # as sources are, so that there is no other kernel to compile
        for columns in map(np.array, chosen):
            out = np.full((columns.size, array.shape[0] + 5), np.nan, kind)
            gather_columns(array, columns, out, 3)
            np.testing.assert_array_equal(out[:, 3:-2], array[:, columns].T)
            assert np.isnan(out[:, [0, 1, 2, -2, -1]]).all()
