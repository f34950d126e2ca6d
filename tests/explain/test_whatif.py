"""What-if questions: the same bits as measuring the changed data from the start."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given, settings, strategies as st
from hypothesis.extra import numpy as hnp

import geodim
from distributions import random_matrix
from explain.brute import measure
from geodim.errors import (
    DegenerateDataWarning,
    InputTypeError,
    InputValueError,
    NonFiniteError,
    RangeOverflowError,
    ShapeError,
)


def assert_same(answer: geodim.IDResult, reference: geodim.IDResult) -> None:
    np.testing.assert_array_equal(answer.phi, reference.phi)
    assert answer.exact
    assert answer.dimension == reference.dimension
    assert (answer.d_max, answer.n_features) == (reference.d_max, reference.n_features)
    assert list(answer.shares) == list(reference.shares)
    assert list(answer.shares.values()) == pytest.approx(list(reference.shares.values()), rel=1e-12)


def removed(X: np.ndarray, gone: list[int], **options: Any) -> geodim.IDResult:
    kept = [f for f in range(X.shape[1]) if f not in gone]
    return measure(X[:, kept], feature_names=[str(f) for f in kept], **options)


def ask(X: Any, **options: Any) -> geodim.WhatIf:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DegenerateDataWarning)
        return geodim.WhatIf(X, **options)


class TestAnswers:
    @pytest.mark.turns(4)
    @pytest.mark.parametrize("seed", range(20))
    def test_columns_of_all_kinds(self, seed: int) -> None:
        rng = np.random.default_rng(seed)
        n, d = int(rng.choice([1, 2, 3, 40, 300, 5000])), int(rng.integers(2, 8))
        X = random_matrix(rng, n, d)
        if seed % 3 == 0:
            X[:, -1] = X[:, 0]
        options = {"normalize": bool(seed % 2), "n_threads": 1 + seed % 3}
        what_if = ask(X, **options)
        assert_same(what_if.result, measure(X, **options))
        for f in range(d):
            assert_same(what_if.remove(f), removed(X, [f], **options))
        gone = rng.choice(d, int(rng.integers(1, d)), replace=False).tolist()
        assert_same(what_if.remove(*gone), removed(X, gone, **options))
        f = int(rng.integers(d))
        for factor in (-0.37, 0.0, 0.9):
            Y = X.copy()
            Y[:, f] *= factor
            assert_same(what_if.rescale(f, factor), measure(Y, **options))
        low, high = np.quantile(X[:, f], [0.2, 0.7])
        Y = X.copy()
        Y[:, f] = np.clip(Y[:, f], low, high)
        assert_same(what_if.clip(f, low, high), measure(Y, **options))
        assert_same(what_if.result, measure(X, **options))

    @settings(max_examples=60)
    @given(
        hnp.arrays(np.int8, st.tuples(st.integers(2, 15), st.integers(2, 7)), elements=st.integers(0, 5)),
        st.data(),
    )
    def test_ties_everywhere(self, X: np.ndarray, data: Any) -> None:
        what_if = ask(X)
        gone = data.draw(
            st.lists(st.integers(0, X.shape[1] - 1), min_size=1, max_size=X.shape[1] - 1, unique=True)
        )
        assert_same(what_if.remove(*gone), removed(X, gone))

    def test_many_removed_at_once(self) -> None:
        """Enough alike features that the third and later places matter, on several threads."""
        X = np.random.default_rng(0).standard_normal((5000, 40))
        what_if = ask(X, n_threads=2)
        for gone in (list(what_if.result.shares)[:5], list(what_if.result.shares)[::2]):
            columns = [int(name) for name in gone]
            assert_same(what_if.remove(*gone), removed(X, columns))

    def test_the_widest_feature_sets_the_scale(self) -> None:
        X = np.column_stack([np.arange(10.0), 100.0 * (np.arange(10) == 9)])
        what_if = ask(X)
        assert what_if.result.d_max == 100.0
        assert what_if.remove(1).d_max == 9.0
        assert what_if.rescale(1, 10.0).d_max == 1000.0
        assert what_if.clip(1, high=5.0).d_max == 9.0

    def test_only_one_column_is_read_again(self) -> None:
        """Nothing else is recomputed: the other columns may even be gone."""
        X = np.random.default_rng(0).normal(size=(50, 3))
        what_if = ask(X)
        expected = removed(X.copy(), [1])
        Y = X.copy()
        Y[:, 1] *= 2.0
        reference = measure(Y)
        X[:, [0, 2]] = np.nan
        assert_same(what_if.remove(1), expected)
        assert_same(what_if.rescale(1, 2.0), reference)


class TestForms:
    def test_names(self) -> None:
        X = np.random.default_rng(1).normal(size=(60, 3))
        what_if = ask(pd.DataFrame(X, columns=["a", "b", "c"]))
        assert what_if.remove("b").dimension == what_if.remove(1).dimension
        assert set(what_if.remove("b").shares) <= {"a", "c"}
        assert what_if.column("c") == 2
        np.testing.assert_array_equal(what_if.values("c"), X[:, 2])

    def test_weights(self) -> None:
        rng = np.random.default_rng(2)
        X, weights = rng.normal(size=(100, 4)), rng.integers(0, 3, 100)
        what_if, repeated = ask(X, weights=weights), ask(np.repeat(X, weights, axis=0))
        assert_same(what_if.remove(0, 2), repeated.remove(0, 2))
        assert_same(what_if.rescale(1, 3.0), repeated.rescale(1, 3.0))
        assert_same(what_if.clip(1, 0.0), repeated.clip(1, 0.0))

    def test_sparse_and_float32(self) -> None:
        X = sp.random_array((200, 10), density=0.2, rng=np.random.default_rng(3), format="csr")
        X = X.astype(np.float32)
        sparse, dense = ask(X), ask(X.toarray())
        assert_same(sparse.result, dense.result)
        assert_same(sparse.remove(0, 1), dense.remove(0, 1))
        Y = X.toarray().astype(np.float64)
        Y[:, 4] *= 1.7
        assert_same(sparse.rescale(4, 1.7), measure(Y))
        assert_same(dense.rescale(4, 1.7), measure(Y))

    def test_replace(self) -> None:
        X = np.random.default_rng(4).random((80, 3))
        Y = X.copy()
        Y[:, 0] = np.log1p(X[:, 0])
        assert_same(ask(X).replace(0, np.log1p(X[:, 0])), measure(Y))


class TestErrors:
    X = np.random.default_rng(0).normal(size=(10, 3))

    def test_features(self) -> None:
        what_if = ask(self.X, feature_names=["a", "a", "b"])
        for feature, match in (
            ("x", "no feature"),
            ("a", "several"),
            (3, "no column 3"),
            (-1, "no column -1"),
            (True, "no feature"),
        ):
            with pytest.raises(InputValueError, match=match):
                what_if.remove(feature)
        with pytest.raises(InputValueError, match="leave at least one"):
            what_if.remove(0, 1, 2)

    def test_numbers(self) -> None:
        what_if = ask(self.X)
        with pytest.raises(InputTypeError, match="factor"):
            what_if.rescale(0, "2")
        for factor in (np.nan, np.inf):
            with pytest.raises(InputValueError, match="factor must be finite"):
                what_if.rescale(0, factor)
        with pytest.raises((NonFiniteError, RangeOverflowError)):
            what_if.rescale(0, 1.7e308)
        with pytest.raises(InputValueError, match="exceed"):
            what_if.clip(0, 1.0, 0.0)
        with pytest.raises(ShapeError, match="one value per point"):
            what_if.replace(0, [1.0])
        with pytest.raises(NonFiniteError, match="row 2"):
            what_if.replace(0, np.where(np.arange(10) == 2, np.nan, 0.0))
