"""Integers beyond 2^53: exact wherever their range is not, and otherwise never called so."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp
from hypothesis import given, strategies as st

import geodim
from engine.oracle import solve
from geodim import paper
from geodim.data.duplicates import count_indistinguishable_points
from geodim.errors import InputTypeError, InputValueError

FAR = [[2**53], [2**53 + 1], [2**53 + 3]]  # windows 1 and 3, so that Delta = 4 / 9


def by_integers(rows: list[list[int]], *, normalize: bool) -> Fraction:
    """1 / Delta^2 in whole numbers alone."""
    n = len(rows)
    columns = [sorted(column) for column in zip(*rows, strict=True)]
    total = sum(
        max(min(c[i + k - 1] - c[i] for i in range(n - k + 1)) for c in columns) for k in range(2, n + 1)
    )
    scale = max(c[-1] - c[0] for c in columns) if normalize else 1
    return 1 / Fraction(total, n * scale) ** 2


def test_differences_in_the_last_digit():
    assert by_integers(FAR, normalize=True) == Fraction(81, 16)
    for X in (np.array(FAR), np.array(FAR, np.uint64), FAR, -np.array(FAR), np.array(FAR) - 2**62 - 2**61):
        result = solve(X)
        assert result.exact
        assert result.dimension == 5.0625
        assert result.d_max == 3.0


FORMS = {
    "fortran": np.asfortranarray,
    "strided": lambda X: np.repeat(X, 2, axis=0)[::2],
    "reversed": lambda X: X[:, ::-1],
    "pandas": pd.DataFrame,
    "pandas nullable": lambda X: pd.DataFrame(X).astype("Int64"),
    "polars": pl.DataFrame,
    "pyarrow": lambda X: pa.table({str(j): X[:, j] for j in range(X.shape[1])}),
    "lists": lambda X: X.tolist(),
}


@pytest.mark.turns(4)
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("n", [5, 700])
def test_every_form_of_the_data(form, n):
    rng = np.random.default_rng(n)
    X = rng.integers(0, 10**6, (n, 3)) + np.array([2**60, -(2**62), 5])
    reference = solve(X - X.min(axis=0))
    for options in ({}, {"normalize": False}, {"rtol": 1e-3}, {"weights": rng.integers(0, 3, n) + (n < 6)}):
        result = solve(FORMS[form](X), **options)
        near = solve(X - X.min(axis=0), **options)
        assert result.exact is near.exact
        assert (result.lower, result.dimension, result.upper) == (near.lower, near.dimension, near.upper)
    assert solve(FORMS[form](X)).dimension == paper.intrinsic_dimension(paper.algorithm_1(X, paper.d_max(X)))
    assert reference.dimension == solve(X).dimension


def test_memory_maps(tmp_path):
    X = np.random.default_rng(0).integers(2**60, 2**60 + 1000, (3000, 4))
    np.save(tmp_path / "x.npy", X)
    result = solve(np.load(tmp_path / "x.npy", mmap_mode="r"))
    assert result.exact
    assert result.dimension == solve(X - 2**60).dimension


@given(
    st.integers(2, 12).flatmap(
        lambda n: st.lists(
            st.tuples(*[st.integers(-(2**63), 2**63 - 1) | st.integers(2**60, 2**60 + 50)] * 2),
            min_size=n,
            max_size=n,
        )
    ),
    st.booleans(),
)
def test_bounds_hold_the_value_of_the_integers(rows, normalize):
    rows = [list(row) for row in rows]
    X = np.array(rows, np.int64)
    if np.all(X[0] == X):
        return
    true = by_integers(rows, normalize=normalize)
    result = solve(X, normalize=normalize)
    for source in (X, sp.csr_array(X)):
        result = solve(source, normalize=normalize)
        assert result.lower <= float(true) * (1 + 1e-15)
        assert float(true) * (1 - 1e-15) <= result.upper
    if max(int(column.max()) - int(column.min()) for column in X.T) < 2**53:
        assert solve(X, normalize=normalize).exact
        assert solve(X).dimension == pytest.approx(float(by_integers(rows, normalize=True)), rel=1e-15)
    # The oracle takes differences of integers, and rounds each once.
    phi = paper.phi_all(X)
    columns = [sorted(column) for column in zip(*rows, strict=True)]
    n = len(rows)
    for k in range(2, n + 1):
        assert phi[k - 2] == float(max(min(c[i + k - 1] - c[i] for i in range(n - k + 1)) for c in columns))


def test_a_range_beyond_is_not_called_exact():
    X = np.array([[0], [2**53 + 1], [2**62 + 1]])
    result = solve(X)
    assert not result.exact
    assert result.phi_exact
    assert result.feature_error > 0.0
    assert result.lower < result.dimension < result.upper


def test_far_floats_beside_integers_change_nothing():
    """Only integers are rounded: a column of large floats is what it is."""
    frame = pl.DataFrame({"a": [0.0, 1e300, 2e300], "b": [1, 2, 4]})
    assert solve(frame).exact
    near = pl.DataFrame({"a": [0.0, 0.25, 0.5], "b": [2**60, 2**60 + 1, 2**60 + 3]})
    assert solve(near).exact
    assert solve(near, normalize=False).phi_lower.tolist() == [1.0, 3.0]


def test_explanations_selections_and_questions():
    far = np.array([[0, 7], [1, 7], [3, 0], [4, 2]]) + np.array([2**60, -(2**61)])
    near = far - far.min(axis=0)
    assert geodim.explain_dimension(far).core == geodim.explain_dimension(near).core
    assert geodim.explain_dimension(far).shares == geodim.explain_dimension(near).shares
    assert geodim.select_features(far, 2).curve == geodim.select_features(near, 2).curve
    assert geodim.feature_ranking(far) == geodim.feature_ranking(near)
    asked, other = geodim.WhatIf(far), geodim.WhatIf(near)
    assert asked.remove(1).dimension == other.remove(1).dimension
    assert asked.replace(1, far[:, 0]).dimension == other.replace(1, near[:, 0]).dimension
    assert asked.values(0).tolist() == far[:, 0].astype(float).tolist()


@pytest.mark.parametrize("form", [np.asarray, np.asfortranarray, pd.DataFrame, pl.DataFrame, sp.csr_array])
def test_points_that_differ_in_the_last_digit_are_told_apart(form):
    X = np.array([[2**60, 1], [2**60 + 1, 1], [2**60, 1], [2**60 + 2, 1]])
    assert count_indistinguishable_points(form(X)) == 2
    assert solve(form(X), count_indistinguishable=True).n_indistinguishable == 2
    assert paper.is_geometric_dataset(X[[0, 1, 3]])


@pytest.mark.parametrize("data", [[[2**63 + 1], [-1]], [[2**53 + 1], [0.5]]])
def test_lists_that_numpy_would_round(data):
    for function in (solve, paper.phi_all):
        with pytest.raises(InputValueError, match=rf"^{data[0][0]} at \[0, 0\].*int64"):
            function(data)
    assert solve([[2**53], [0.5]]).exact


def test_other_types_are_refused():
    for data in ([[2**64], [1]], np.array([[1], [2]], object), np.array([[1.0], [2.0]], np.longdouble)):
        for function in (solve, paper.phi_all):
            with pytest.raises(InputTypeError, match="type"):
                function(data)
