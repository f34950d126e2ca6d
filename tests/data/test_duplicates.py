"""Points with a twin, against `numpy.unique`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from hypothesis import given, settings, strategies as st
from hypothesis.extra.numpy import arrays

import geodim
from geodim.data import duplicates
from geodim.data.duplicates import count_indistinguishable_points
from geodim.errors import NonFiniteError, ShapeError

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

FORMS: dict[str, Any] = {
    "rows": np.ascontiguousarray,
    "columns": np.asfortranarray,
    "strided": lambda X: np.repeat(X[::-1], 2, axis=1)[::-1, ::2],
    "csr": sp.csr_array,
    "csc": sp.csc_array,
    "coo": sp.coo_matrix,
    "pandas": pd.DataFrame,
    "polars": pl.DataFrame,
    "list": lambda X: X.tolist(),
}


def naive(X: NDArray[Any], weights: NDArray[np.integer] | None = None) -> int:
    """Sum of the weights of the equivalence classes that weigh at least two."""
    points = np.repeat(np.asarray(X) + 0.0, 1 if weights is None else weights, axis=0)
    _, counts = np.unique(points, axis=0, return_counts=True)
    return int(counts[counts >= 2].sum())


@pytest.mark.turns(3)
@pytest.mark.parametrize("form", FORMS)
@settings(deadline=None, max_examples=40)
@given(data=st.data())
def test_agrees_with_numpy(form: str, data: st.DataObject) -> None:
    n, d = data.draw(st.integers(1, 30)), data.draw(st.integers(1, 4))
    X = data.draw(arrays(np.float64, (n, d), elements=st.sampled_from([0.0, -0.0, 1.0, -1.0, 1e-300])))
    weights = data.draw(arrays(np.int64, n, elements=st.integers(0, 3)))
    weights[0] += 1
    assert count_indistinguishable_points(FORMS[form](X)) == naive(X)
    assert count_indistinguishable_points(FORMS[form](X), weights) == naive(X, weights)


@pytest.mark.parametrize("form", ["rows", "columns", "csr"])
@pytest.mark.parametrize("dtype", [np.bool_, np.int8, np.uint16, np.int64, np.float16, np.float32])
def test_number_types(form: str, dtype: Any) -> None:
    X = np.random.default_rng(1).integers(0, 2, (200, 6)).astype(dtype)
    if form == "csr" and dtype is np.float16:
        pytest.skip("scipy.sparse has no float16")
    assert count_indistinguishable_points(FORMS[form](X)) == naive(X.astype(float))


@pytest.mark.parametrize("form", ["rows", "columns", "csr"])
def test_equal_hashes_are_not_trusted(form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """With multipliers of 0 all rows have the same hash; the comparison alone must sort them out."""
    monkeypatch.setattr(duplicates, "_multipliers", lambda n_features: np.zeros(n_features, np.uint64))
    X = np.random.default_rng(2).integers(0, 4, (150, 3))
    weights = np.random.default_rng(3).integers(0, 3, 150)
    assert count_indistinguishable_points(FORMS[form](X)) == naive(X)
    assert count_indistinguishable_points(FORMS[form](X), weights) == naive(X, weights)


@pytest.mark.parametrize("form", ["rows", "columns", "csr"])
def test_many_chunks(form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(duplicates, "CHUNK_VALUES", 7)
    X = np.random.default_rng(4).integers(0, 3, (300, 4))
    assert count_indistinguishable_points(FORMS[form](X)) == naive(X)


def test_hashes_hardly_collide() -> None:
    """Small integers as floats have almost all bits equal; their hashes must not."""
    X = np.stack(np.meshgrid(np.arange(512.0), np.arange(512.0)), axis=-1).reshape(-1, 2)
    assert np.unique(duplicates._DenseRows(duplicates.as_source(X)).hashes()).size == len(X)


def test_sparse_input_is_left_as_it_was() -> None:
    matrix = sp.csr_array((np.array([1.0, 2.0, 0.0, 3.0]), ([0, 0, 1, 2], [1, 1, 0, 1])), shape=(3, 2))
    before = matrix.copy()
    assert count_indistinguishable_points(matrix) == 2  # 1 + 2 in the same place equals 3
    assert matrix.nnz == before.nnz
    assert np.array_equal(matrix.data, before.data)


def test_memory_map(tmp_path: Path) -> None:
    X = np.random.default_rng(5).integers(0, 9, (5000, 3)).astype(np.float32)
    np.save(tmp_path / "x.npy", X)
    assert count_indistinguishable_points(np.load(tmp_path / "x.npy", mmap_mode="r")) == naive(X)


@pytest.mark.parametrize("form", ["rows", "columns", "csr", "pandas"])
def test_nan_has_no_twin_and_is_refused(form: str) -> None:
    X = np.array([[1.0, 2.0], [3.0, np.nan], [1.0, np.nan]])
    with pytest.raises(NonFiniteError, match="row 1"):
        count_indistinguishable_points(FORMS[form](X))


def test_weights_must_fit() -> None:
    with pytest.raises(ShapeError, match="one entry per point"):
        count_indistinguishable_points(np.eye(3), weights=[1, 2])


def test_asked_for_through_the_main_function() -> None:
    result = geodim.intrinsic_dimension([[0, 1], [0, 1], [2, 3]], count_indistinguishable=True)
    assert result.n_indistinguishable == 2
