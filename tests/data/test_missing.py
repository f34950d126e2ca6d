"""Missing values: counted by column in errors, and left out on demand, in every kind of container."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import geodim
from geodim.errors import InputTypeError, NonFiniteError, ShapeError

X = np.array(
    [[0.0, 1.0, 2.0], [np.nan, 3.0, 4.0], [5.0, 6.0, 7.0], [8.0, np.nan, np.nan], [1.0, 1.0, np.nan]]
)
KEPT = X[[0, 2]]


def frame_of(module):
    library = pytest.importorskip(module)
    columns = {
        name: [None if np.isnan(value) else float(value) for value in X[:, at]]
        for at, name in enumerate("abc")
    }
    return library.table(columns) if module == "pyarrow" else library.DataFrame(columns)


def masked():
    return np.ma.masked_array(np.nan_to_num(X), mask=np.isnan(X))


def tensor():
    return pytest.importorskip("torch").tensor(X)


MAKE = {
    "array": lambda: X,
    "fortran": lambda: np.asfortranarray(X),
    "float32": lambda: X.astype(np.float32),
    "list": X.tolist,
    "masked": masked,
    "sparse": lambda: sp.csc_array(X),
    "tensor": tensor,
    **{module: lambda module=module: frame_of(module) for module in ("pandas", "polars", "pyarrow")},
}


@pytest.mark.parametrize("kind", MAKE)
def test_points_are_left_out_in_every_kind(kind):
    data = MAKE[kind]()
    kept = geodim.drop_missing(data)
    if kind not in ("list", "masked", "sparse"):
        assert type(kept) is type(data)
    assert geodim.intrinsic_dimension(kept).dimension == geodim.intrinsic_dimension(KEPT).dimension
    assert geodim.drop_missing(kept) is kept  # nothing is copied where nothing is missing


def test_nan_of_polars_and_pyarrow_is_missing_too():
    for module in ("polars", "pyarrow"):
        library = pytest.importorskip(module)
        make = library.table if module == "pyarrow" else library.DataFrame
        kept = geodim.drop_missing(make({"a": [1.0, float("nan"), None, 2.0], "b": [1, 2, 3, 4]}))
        assert geodim.intrinsic_dimension(kept).n_points == 2


def test_rows_of_pandas_keep_their_index():
    assert geodim.drop_missing(frame_of("pandas")).index.tolist() == [0, 2]


def test_categories_and_dates_may_miss_as_well():
    pd = pytest.importorskip("pandas")
    days = pd.to_datetime(["2024", "2025", None])
    frame = pd.DataFrame({"a": [1.0, 2.0, 3.0], "b": ["x", None, "y"], "c": days})
    assert geodim.drop_missing(frame).index.tolist() == [0]


def test_whole_numbers_and_infinity_are_there():
    assert geodim.drop_missing(np.arange(6).reshape(3, 2)).shape == (3, 2)
    assert len(geodim.drop_missing(np.array([[np.inf], [1.0]]))) == 2


def test_nothing_left():
    with pytest.raises(ShapeError, match=r"no point is left.*'1' 2.*SimpleImputer"):
        geodim.drop_missing([[0.0, np.nan], [1.0, np.nan]])


def test_no_table():
    with pytest.raises(ShapeError, match="1 axes"):
        geodim.drop_missing(np.arange(3.0))
    with pytest.raises(InputTypeError, match=r"read_table"):
        geodim.drop_missing("points.csv")


@pytest.mark.parametrize("kind", [kind for kind in MAKE if kind != "masked"])
def test_the_error_counts_by_column_and_names_ways_out(kind):
    with pytest.raises(NonFiniteError) as caught:
        geodim.intrinsic_dimension(MAKE[kind]())
    names = "abc" if kind in ("pandas", "polars", "pyarrow") else "012"
    told = str(caught.value)
    assert told.startswith("row 1, column 0")
    assert f"missing in 3 of 3 columns: '{names[2]}' 2, '{names[0]}' 1, '{names[1]}' 1" in told
    assert "geodim.drop_missing(X) (--drop-missing)" in told
    assert "sklearn.impute.SimpleImputer" in told


def test_the_error_of_points_with_weights_counts_those_that_are_there():
    with pytest.raises(NonFiniteError, match=r"in 2 of 3 columns: '1' 1, '2' 1"):
        geodim.intrinsic_dimension(X, weights=[1, 0, 1, 1, 0])


def test_much_data_is_not_counted_for_a_message(monkeypatch):
    monkeypatch.setattr("geodim.data.missing.MOST_COUNTED", 14)
    with pytest.raises(NonFiniteError, match=r"values are missing; geodim"):
        geodim.intrinsic_dimension(X)


def test_infinity_is_not_said_to_be_missing():
    with pytest.raises(NonFiniteError, match="contains infinity; drop these points or fill the values in"):
        geodim.intrinsic_dimension([[np.inf], [1.0]])


def test_masked_arrays_say_so():
    with pytest.raises(InputTypeError, match=r"geodim\.drop_missing\(X\)"):
        geodim.intrinsic_dimension(masked())
