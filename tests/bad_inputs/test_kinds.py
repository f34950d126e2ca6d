"""Every kind of thing that holds numbers: measured rightly, or refused by a typed error."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal

import numpy as np
import pytest
import scipy.sparse as sp

import geodim
from geodim.errors import GeodimError, InputTypeError, InputValueError

pa = pytest.importorskip("pyarrow")
pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")
torch = pytest.importorskip("torch")

X = np.array([[0.0, 1, 5], [1, 2, 7], [2, 2, 2], [3, 8, 1]])
EXPECTED = geodim.intrinsic_dimension(X).discriminability


class Subclass(np.ndarray):
    pass


class Raises:
    def __array__(self, *args, **kwargs):
        raise ZeroDivisionError


GOOD = {
    "matrix": lambda: np.asmatrix(X),
    "masked, no mask": lambda: np.ma.array(X),
    "masked, nothing masked": lambda: np.ma.array(X, mask=np.zeros(X.shape, bool)),
    "subclass": lambda: X.view(Subclass),
    "memoryview": lambda: memoryview(X),
    "big-endian": lambda: X.astype(">f8"),
    "bfloat16": lambda: torch.tensor(X).bfloat16(),
    "float8": lambda: torch.tensor(X).to(torch.float8_e4m3fn),
    "negative view": lambda: torch._neg_view(torch.tensor(-X)),
    "with gradient": lambda: torch.tensor(X, requires_grad=True),
    "record batch": lambda: pa.record_batch(list(X.T), names=list("abc")),
    "nullable": lambda: pd.DataFrame(X, columns=list("abc")).astype("Int64"),
    "pandas of arrow": lambda: pd.DataFrame(X, columns=list("abc")).astype("double[pyarrow]"),
    "names of two levels": lambda: pd.DataFrame(
        X, columns=pd.MultiIndex.from_tuples([("a", 1), ("a", 2), ("b", 1)])
    ),
    "decimals of polars": lambda: pl.DataFrame(
        {str(j): [Decimal(str(x)) for x in X[:, j]] for j in range(3)}
    ),
    "decimals of pyarrow": lambda: pa.table({str(j): [Decimal(str(x)) for x in X[:, j]] for j in range(3)}),
    "lazy": lambda: pl.DataFrame(X).lazy(),
    "sparse": lambda: sp.csr_matrix(X),
}  # fmt: skip


@pytest.mark.filterwarnings("ignore:the matrix subclass:PendingDeprecationWarning")
@pytest.mark.parametrize("name", GOOD)
def test_numbers_are_measured(name):
    assert geodim.intrinsic_dimension(GOOD[name]()).discriminability == EXPECTED


BAD = {
    "masked entries": lambda: np.ma.array(X, mask=X == 3),
    "records": lambda: np.zeros((4, 3), dtype=[("a", "f8")]),
    "longdouble": lambda: X.astype(np.longdouble) if np.longdouble(1).itemsize > 8 else X.astype(str),
    "words": lambda: X.astype(str),
    "bytes": lambda: X.astype("S8"),
    "objects": lambda: X.astype(object),
    "times": lambda: X.astype("M8[s]"),
    "no axes": lambda: np.float64(3),
    "three axes": lambda: np.zeros((2, 2, 2)),
    "no points": lambda: np.zeros((0, 3)),
    "sparse coo tensor": lambda: torch.tensor(X).to_sparse(),
    "sparse csr tensor": lambda: torch.tensor(X).to_sparse_csr(),
    "meta": lambda: torch.empty((4, 3), device="meta"),
    "conjugate": lambda: torch.tensor(X).cfloat().conj(),
    "size": lambda: torch.Size([3]),
    "layer": lambda: torch.nn.Linear(2, 2),
    "type": lambda: torch.float32,
    "arrow array": lambda: pa.array([1, 2]),
    "arrow scalar": lambda: pa.scalar(1),
    "arrow lists": lambda: pa.table({"a": [[1, 2], [3]]}),
    "arrow dictionary": lambda: pa.table({"a": pa.array([1, 2, 1]).dictionary_encode()}),
    "arrow nothing": lambda: pa.table({"a": pa.nulls(3)}),
    "missing": lambda: pd.DataFrame({"a": pd.array([1, None], dtype="Int64")}),
    "categories": lambda: pd.DataFrame({"a": pd.Categorical([1, 2, 1])}),
    "sparse columns": lambda: pd.DataFrame({"a": pd.arrays.SparseArray([0.0, 0, 1])}),
    "dates": lambda: pd.DataFrame({"a": pd.date_range("2020", periods=3)}),
    "periods": lambda: pd.DataFrame({"a": pd.period_range("2020", periods=3, freq="D")}),
    "index": lambda: pd.Index([1, 2, 3]),
    "timestamp": lambda: pd.Timestamp("2020"),
    "pandas array": lambda: pd.array([1, 2, 3]),
    "128 bits": lambda: pl.DataFrame(
        {"a": [1, 2]}, schema={"a": getattr(pl, "Int128", pl.String)}, strict=False
    ),
    "polars dates": lambda: pl.DataFrame({"a": [dt.date(2020, 1, 1)] * 2}),
    "polars structs": lambda: pl.DataFrame({"a": [{"x": 1}]}),
    "a query that fails": lambda: pl.DataFrame({"a": [1, 2]}).lazy().select("zzz"),
    "expression": lambda: pl.col("a"),
    "sparse of one axis": lambda: sp.coo_array(X[0]),
    "what raises": Raises,
    "nothing": lambda: None,
    "deep": lambda: [[[[1]]]],
}


@pytest.mark.filterwarnings("ignore:Sparse:UserWarning")
@pytest.mark.parametrize("name", BAD)
def test_what_is_no_table_of_numbers_is_refused(name):
    with pytest.raises((InputTypeError, InputValueError)) as found:
        geodim.intrinsic_dimension(BAD[name]())
    assert isinstance(found.value, GeodimError)
