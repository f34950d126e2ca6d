"""The error of computed features is at most what is stated, for every operator and type.

Compared with 60 decimal digits.
"""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import pytest
from scipy import sparse

import geodim
from exact_hops import distance, exact_dimensions, exact_hops, exact_widths
from geodim.data.graphs import as_graph
from geodim.errors import InputTypeError, RangeOverflowError
from geodim.features import hop_features, make_operator
from geodim.features.operators import Operator
from geodim.features.rounding import feature_errors, growth

N, D, HOPS = 26, 3, 3
OPERATORS = {
    "sym": ("sym", {}),
    "rw": ("rw", {}),
    "ppr": ("ppr", {"alpha": 0.2, "order": 4}),
    "heat": ("heat", {"t": 1.5, "order": 5, "transition": "rw"}),
    "long heat": ("heat", {"t": 20.0, "order": 30}),
    "matrix": ("matrix", {}),
}
WEIGHTS = ["none", "some", "disparate", "zeros"]


def graph_of(kind, seed):
    """A hub (node 0), random edges, an isolated node, and weights of some kind."""
    rng = np.random.default_rng([seed, 5])
    edges = [(0, j) for j in range(1, N - 2)] + [
        tuple(pair) for pair in rng.integers(0, N - 1, (30, 2)).tolist()
    ]
    if kind == "none":
        return edges, None
    if kind == "some":
        return edges, rng.random(len(edges)) + 0.1
    if kind == "disparate":
        return edges, 10.0 ** rng.integers(-9, 9, len(edges))
    edges += [(N - 1, N - 1), (N - 1, 1), (2, 2)]  # node N - 1 has the degree 0
    weights = rng.random(len(edges)) * (rng.random(len(edges)) < 0.7)
    weights[-3:-1] = 0.0
    return edges, weights


def values_of(kind, seed, dtype):
    rng = np.random.default_rng([seed, 6])
    X = rng.normal(size=(N, D))
    single = dtype == np.float32
    if kind == "words":
        X = (X > 0.5) * 1.0
    elif kind == "cancelling":  # what the large values leave is what counts
        X = np.where(rng.random(X.shape) < 0.5, rng.choice([-1e17, 1e17], X.shape), X)
    elif kind == "tiny":
        X *= 1e-41 if single else 1e-310
    elif kind == "huge":
        X *= 1e30 if single else 1e280
    return X.astype(dtype)


def case(name, weighted, kind, seed, dtype):
    """The attributes, an operator, and the hops by the definition."""
    X = values_of(kind, seed, dtype)
    operator, parameters = OPERATORS[name]
    if operator == "matrix":
        rng = np.random.default_rng([seed, 7])
        matrix = sparse.csr_array(rng.normal(size=(N, N)) * (rng.random((N, N)) < 0.3) / 4)
        return X, make_operator(None, matrix), exact_hops(X, HOPS, "matrix", matrix=matrix)
    edges, weights = graph_of(weighted, seed)
    made = make_operator(as_graph(edges, N, edge_weights=weights, orientation="rows"), operator, **parameters)
    return X, made, exact_hops(X, HOPS, operator, n=N, edges=edges, weights=weights, **parameters)


def largest_distances(blocks, exact):
    """Over all hops up to m, for every m."""
    return np.maximum.accumulate([distance(a, b) for a, b in zip(blocks, exact, strict=True)]).tolist()


@pytest.mark.turns(5)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kind", ["normal", "words", "cancelling", "tiny", "huge"])
@pytest.mark.parametrize("name", OPERATORS)
def test_features_are_as_close_as_stated(name, kind, dtype):
    for seed, weighted in enumerate(WEIGHTS[: 1 if name == "matrix" else None]):
        X, operator, exact = case(name, weighted, kind, seed, dtype)
        sums = growth(operator, HOPS, X.dtype)
        errors = [one.largest for one in feature_errors(operator, sums, float(np.abs(X).max()), X.dtype)]
        found = largest_distances(hop_features(X, operator, HOPS), exact)
        assert errors[0] == found[0] == 0
        assert all(0 < error < np.inf for error in errors[1:])
        assert all(real <= error for real, error in zip(found, errors, strict=True))


@pytest.mark.turns(4)
@pytest.mark.parametrize("name", OPERATORS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_row_sums_hold_those_of_the_definition(name, dtype):
    """And are hardly larger; of a matrix, those of its absolute values."""
    for seed, weighted in enumerate(WEIGHTS[: 1 if name == "matrix" else None]):
        _, operator, _ = case(name, weighted, "words", seed, dtype)
        ones = np.ones((N, 1))
        if name == "matrix":
            dense = sparse.csr_array(
                (operator.rows.weights, operator.rows.indices, operator.rows.indptr), shape=(N, N)
            )
            exact = exact_hops(ones, HOPS, "matrix", matrix=abs(dense))
        else:
            edges, weights = graph_of(weighted, seed)
            exact = exact_hops(
                ones, HOPS, OPERATORS[name][0], n=N, edges=edges, weights=weights, **OPERATORS[name][1]
            )
        for bound, hop in zip(growth(operator, HOPS, np.dtype(dtype)), exact, strict=True):
            assert max(hop[0]) - Decimal(bound) <= Decimal("1e-50")
            assert (
                bound <= 1.0 + 1e-5
                if "rw" in (name, OPERATORS[name][1].get("transition"))
                else bound < float(max(hop[0])) * (1 + 1e-5)
            )


@pytest.mark.turns(5)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kind", ["normal", "words", "cancelling", "tiny", "huge"])
@pytest.mark.parametrize("name", OPERATORS)
def test_bounds_hold_the_dimension_of_the_definition(name, kind, dtype, picked):
    for seed, weighted in picked(enumerate(WEIGHTS[: 1 if name == "matrix" else None]), 1):
        X, operator, exact = case(name, weighted, kind, seed, dtype)
        for rtol in (0.0, 1e-3):
            result = geodim.khop_dimensions(X, None, HOPS, operator=operator, rtol=rtol)
            for one, dimension in zip(result, exact_dimensions(exact), strict=True):
                # Delta and the dimension are floats, which round by themselves.
                assert (
                    Decimal(one.lower) * (1 - Decimal("1e-15"))
                    <= dimension
                    <= Decimal(one.upper) * (1 + Decimal("1e-15"))
                )
                assert one.lower <= one.dimension <= one.upper
            for one, widths in zip(result, exact_widths(exact), strict=True):
                for k in range(2, N + 1):
                    low, high = one.phi_bounds(k)
                    assert low <= float(widths[k]) <= high  # widths of columns round by themselves
            if rtol == 0.0:
                assert [one.exact for one in result] == [True] + [False] * HOPS
                assert all(one.phi_exact for one in result)
                assert result[0].phi_bounds(7)[0] == result[0].phi_bounds(7)[1]


def test_float64_features_are_far_closer():
    X, operator, _ = case("sym", "none", "words", 0, np.float32)
    single, double = (
        geodim.khop_dimensions(X, None, 2, operator=operator, dtype=kind) for kind in ("float32", "float64")
    )
    assert [one.parameters["dtype"] for one in (single[1], double[1])] == ["float32", "float64"]
    assert 1e-8 < single[1].error < 1e-5
    assert 0.0 < double[1].error < 1e-13
    assert single[1].lower <= double[1].dimension <= single[1].upper
    assert single.dimensions == geodim.khop_dimensions(X, None, 2, operator=operator).dimensions


@pytest.mark.parametrize("name", ["sym", "rw", "matrix"])
def test_attributes_that_are_rounded_first(name):
    """float64 attributes as float32, and integers that no float64 holds."""
    X, operator, exact = case(name, "none", "normal", 3, np.float64)
    result = geodim.khop_dimensions(X, None, HOPS, operator=operator, dtype=np.float32)
    assert not result[0].exact
    for one, dimension in zip(result, exact_dimensions(exact), strict=True):
        assert Decimal(one.lower) <= dimension <= Decimal(one.upper)
    errors = [one.feature_error for one in result]
    blocks = hop_features(X, operator, HOPS, dtype=np.float32)
    assert all(real <= error for real, error in zip(largest_distances(blocks, exact), errors, strict=True))

    whole = np.random.default_rng(1).integers(2**61, 2**62, (N, 2))
    edges, _ = graph_of("none", 0)
    exact = exact_hops(whole, 1, "rw", n=N, edges=edges)
    result = geodim.khop_dimensions(whole, as_graph(edges, N), 1, operator="rw")
    found = largest_distances(hop_features(whole, make_operator(as_graph(edges, N), "rw"), 1), exact)
    assert 0 < found[0] <= result[0].feature_error
    assert found[1] <= result[1].feature_error
    small = geodim.khop_dimensions(whole // 2**10, as_graph(edges, N), 1, operator="rw")
    assert small[0].exact


def test_attributes_too_large_for_the_type():
    with pytest.raises(
        RangeOverflowError, match=r"up to 1e\+200, too large for float32: use dtype='float64'"
    ):
        geodim.khop_dimensions(np.array([[0.0], [1e200]]), [(0, 1)], 1, dtype="float32")
    for dtype in ("float16", int, "words"):
        with pytest.raises(InputTypeError, match="float32 or float64"):
            geodim.khop_dimensions(np.eye(2), [(0, 1)], 1, dtype=dtype)


def test_sums_that_overflow_leave_no_bound():
    """Entries of 1e200 that cancel: the features are finite, but their error is not known."""
    matrix = sparse.csr_array(np.array([[1e200, -1e200], [1e200, -1e200]]))
    operator = make_operator(None, matrix)
    assert growth(operator, 3, np.dtype(np.float64)) == [1.0, pytest.approx(2e200), np.inf, np.inf]
    X = 1e-210 * np.array([[1.0], [1.0 + 2.0**-52]])
    result = geodim.khop_dimensions(X, None, 2, operator=operator)
    assert result[2].feature_error == np.inf
    assert (result[2].lower, result[2].upper) == (0.0, np.inf)


def test_what_an_operator_of_ones_own_computes_is_the_definition():
    class Twice(Operator):
        n_nodes = 4

        def describe(self):
            return {"operator": "sym", "n_nodes": 4}

        def apply(self, block, out, *, n_threads=None):  # noqa: ARG002
            out[...] = 2 * block

    X = np.arange(4.0)[:, None]
    result = geodim.khop_dimensions(X, None, 2, operator=Twice())
    assert all(one.exact for one in result)
    assert result[1].dimension == result[0].dimension / 4
    assert (
        feature_errors(Twice(), [1.0, np.inf], 1.0, np.dtype(np.float32), exact_attributes=False)[1].largest
        == np.inf
    )


def test_zeros_stay_zero():
    operator = make_operator([(0, 1)], "sym")
    errors = feature_errors(operator, [1.0, 1.0], 0.0, np.dtype(np.float32))
    assert [one.largest for one in errors] == [0.0, 0.0]


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("name", ["sym", "ppr"])
def test_where_nothing_is_negative_hubs_do_not_widen_the_bounds(form, name):
    """A star: the error of its centre is large.

    But the widths of all other windows are relative to themselves.
    """
    n, parameters = 90, OPERATORS[name][1]
    rng = np.random.default_rng(2)
    X = np.where(rng.random((n, 2)) < 0.3, rng.random((n, 2)), 0.0).astype(np.float32)
    star = [(0, j) for j in range(1, n)]
    exact = exact_hops(X, 2, name, n=n, edges=star, **parameters)
    result = geodim.khop_dimensions(
        form(X), as_graph(star, n), 2, operator=name, operator_parameters=parameters
    )
    for k, (one, dimension) in enumerate(zip(result, exact_dimensions(exact), strict=True)):
        assert (
            Decimal(one.lower) * (1 - Decimal("1e-15"))
            <= dimension
            <= Decimal(one.upper) * (1 + Decimal("1e-15"))
        )
        simple = 2.0 * one.feature_error / one.d_max
        assert one.discriminability_upper - one.discriminability <= simple
        if k:
            assert one.discriminability_upper - one.discriminability < 0.7 * simple
    shifted = geodim.khop_dimensions(
        X - np.float32(0.5), as_graph(star, n), 2, operator=name, operator_parameters=parameters
    )
    one = shifted[2]
    assert one.discriminability_upper - one.discriminability > 1.9 * one.feature_error / one.d_max
