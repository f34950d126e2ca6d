"""Binary data in any form becomes the same context, and what is none is refused with its place."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp

import geodim
from geodim.concepts import Context, as_context
from geodim.errors import InputTypeError, InputValueError, ShapeError

X = np.random.default_rng(0).random((50, 6)) < 0.4
NAMES = tuple("abcdef")


def same(context: Context) -> bool:
    return np.array_equal(context.rows.toarray(), X)


@pytest.mark.parametrize("dtype", [bool, np.int8, np.uint64, np.float32, np.float64])
def test_arrays(dtype):
    for array in (X.astype(dtype), np.asfortranarray(X.astype(dtype)), X.astype(dtype).tolist()):
        assert same(as_context(array))


def test_arrays_in_blocks(monkeypatch):
    monkeypatch.setattr("geodim.concepts.contexts.BLOCK_BYTES", 40)
    assert same(as_context(X))
    with pytest.raises(InputValueError, match="row 33, column 2 is 7, neither 0 nor 1: state what"):
        as_context(np.where(np.arange(300).reshape(50, 6) == 200, 7, X))


@pytest.mark.parametrize("kind", ["csr", "csc", "coo", "bsr", "dia", "lil", "dok"])
def test_sparse(kind):
    for matrix in (sp.csr_array(X).asformat(kind), sp.csr_matrix(X.astype(float)).asformat(kind)):
        assert same(as_context(matrix))


def test_sparse_with_zeros_that_are_stored_and_entries_twice():
    matrix = sp.coo_array(X.astype(np.int8))
    matrix = sp.coo_array(
        (np.append(matrix.data, 0), (np.append(matrix.row, 3), np.append(matrix.col, 3))), shape=X.shape
    )
    before = matrix.copy()
    assert same(as_context(matrix))
    assert matrix.nnz == before.nnz
    twice = sp.coo_array(([1, 1], ([2, 2], [1, 1])), shape=(3, 2))
    with pytest.raises(InputValueError, match="row 2, column 1 is 2, neither"):
        as_context(twice)


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table, pl.LazyFrame])
def test_frames(make):
    for values in (X, X.astype(int)):
        context = as_context(make({name: values[:, at] for at, name in enumerate(NAMES)}))
        assert same(context)
        assert context.attribute_names == NAMES


def test_frames_that_are_not_binary():
    with pytest.raises(InputValueError, match=r"row 1, column 'b' \(1\) is 3, neither 0 nor 1"):
        as_context(pd.DataFrame({"a": [0, 1], "b": [0, 3]}))
    with pytest.raises(InputTypeError, match="column 'b' has type"):
        as_context(pd.DataFrame({"a": [True, False], "b": ["x", "y"]}))
    with pytest.raises(InputValueError, match=r"column 'b' has 1 missing value: .*drop_missing"):
        as_context(pl.DataFrame({"a": [True, False], "b": [True, None]}))
    with pytest.raises(InputValueError, match="same name"):
        as_context(pd.DataFrame([[1, 0]], columns=["a", "a"]))


def test_tensors():
    torch = pytest.importorskip("torch")
    assert same(as_context(torch.tensor(X)))


@pytest.mark.parametrize(
    ("data", "error", "words"),
    [
        ([1, 0], ShapeError, "2 axes"),
        (np.zeros((0, 3)), ShapeError, "0 objects and 3 attributes"),
        (np.zeros((3, 0)), ShapeError, "3 objects and 0 attributes"),
        ([[0, np.nan]], InputValueError, "row 0, column 1 is nan"),
        ([[0, 2]], InputValueError, "row 0, column 1 is 2"),
        ([["x", "y"]], InputTypeError, "type"),
        (np.zeros((2, 2), complex), InputTypeError, "complex"),
        (sp.csr_array([[0.5, 1.0]]), InputValueError, "row 0, column 0 is 0.5"),
    ],
)
def test_what_is_refused(data, error, words):
    with pytest.raises(error, match=words):
        geodim.binary_dimension(data)


def test_names():
    assert as_context(X, attribute_names=list(NAMES)).attribute_name(2) == "c"
    assert as_context(X).attribute_name(2) == "2"
    with pytest.raises(InputValueError, match="the attributes 1 and 3 have the same name, 'b'"):
        as_context(X, attribute_names=list("abcbef"))
    with pytest.raises(ShapeError, match="6 attributes and 2 names"):
        as_context(X, attribute_names=["a", "b"])
    with pytest.raises(InputTypeError, match="the name of attribute 1 is 7"):
        as_context(X, attribute_names=["a", 7, *"cdef"])
