"""Things that are no table of real numbers: a typed error that says what was found and what to do."""

from __future__ import annotations

import datetime as dt
import decimal
from decimal import Decimal

import numpy as np
import pytest
import scipy.sparse as sp

import geodim
from geodim.errors import GeodimError, InputTypeError, InputValueError, ShapeError


def refuses(data, error, match):
    with pytest.raises(error, match=match) as caught:
        geodim.intrinsic_dimension(data)
    assert isinstance(caught.value, GeodimError)
    return caught.value


# ---------------------------------------------------------------- shapes


@pytest.mark.parametrize("data", [np.zeros((0, 3)), sp.csr_array((0, 3)), np.zeros((0, 1), int)])
def test_no_points(data):
    error = refuses(data, ShapeError, r"no points.*\(0, [13]\)")
    assert isinstance(error, InputValueError)
    assert isinstance(error, ValueError)


@pytest.mark.parametrize("data", [np.zeros((3, 0)), sp.csr_array((3, 0)), [[], [], []]])
def test_no_features(data):
    refuses(data, ShapeError, r"no features.*\(3, 0\)")


def test_nothing_at_all():
    refuses([], ShapeError, "axes|no ")
    refuses(np.zeros((0, 0)), ShapeError, r"\(0, 0\)")


def test_one_axis_with_the_way_out():
    refuses(np.arange(5.0), ShapeError, r"1 axes.*\(5,\).*reshape\(-1, 1\)")
    refuses([1.0, 2.0], ShapeError, r"reshape\(-1, 1\)")


@pytest.mark.parametrize("data", [np.zeros((2, 3, 4)), np.zeros((1, 1, 1, 1)), [[[1.0]]]])
def test_more_axes(data):
    refuses(data, ShapeError, "expected a table of points by features")


@pytest.mark.parametrize("data", [3.0, 7, np.float64(1.5), np.array(2.0), True])
def test_single_numbers(data):
    refuses(data, ShapeError, "0 axes")


@pytest.mark.parametrize("module", ["pandas", "polars", "pyarrow"])
def test_empty_frames(module):
    library = pytest.importorskip(module)
    make = library.table if module == "pyarrow" else library.DataFrame
    refuses(make({"a": np.zeros(0), "b": np.zeros(0)}), ShapeError, "no points")
    refuses(make({}), ShapeError, "no ")


def test_ragged_lists():
    refuses([[1.0, 2.0], [3.0]], InputValueError, "table of numbers|ragged|inhomogeneous")


# ---------------------------------------------------------------- types


@pytest.mark.parametrize("dtype", [np.complex64, np.complex128])
def test_complex(dtype):
    X = np.array([[1, 2], [3, 4]], dtype)
    error = refuses(X, InputTypeError, "complex.*real and imaginary parts")
    assert isinstance(error, TypeError)
    refuses(sp.csr_array(X), InputTypeError, "complex")
    refuses(X.tolist(), InputTypeError, "complex")


@pytest.mark.parametrize(
    "data",
    [
        np.array([[1, "a"], [2.5, None]], object),
        [[1, None], [2, 3]],
        [[decimal.Decimal("0.1")], [decimal.Decimal("0.2")]],
        [[{}], [{}]],
        np.array([["a", "b"], ["c", "d"]]),
        [["1.0", "2.0"]],
        np.array([[b"x"], [b"y"]]),
        np.array([["2024-01-01"], ["2024-01-02"]], "datetime64[D]"),
        np.array([[1], [2]], "timedelta64[s]"),
        [[dt.datetime(2024, 1, 1)], [dt.datetime(2024, 1, 2)]],
        np.zeros((2, 2), [("x", float), ("y", float)]),
        np.zeros((2, 2), "V8"),
    ],
    ids=["mixed", "None", "Decimal", "dict", "text", "numbers as text", "bytes", "datetime64", "timedelta64",
         "datetime", "structured", "void"],
)  # fmt: skip
def test_not_numbers(data):
    error = refuses(data, InputTypeError, "has type .*convert it to float32, float64, integers or booleans")
    assert isinstance(error, TypeError)


@pytest.mark.skipif(np.dtype(np.longdouble).itemsize <= 8, reason="longdouble is float64 here")
def test_longdouble_is_not_rounded_silently():
    refuses(np.zeros((3, 2), np.longdouble), InputTypeError, "longdouble|float128|float96")


@pytest.mark.parametrize("data", [None, object(), "a text", {"a": [1, 2]}, {1, 2}, lambda: 0])
def test_no_table_at_all(data):
    refuses(data, (InputTypeError, ShapeError), ".")


def test_masked_entries():
    X = np.ma.masked_array(np.arange(6.0).reshape(3, 2), mask=False)
    X[1, 0] = np.ma.masked
    refuses(X, InputTypeError, "masked.*fill them in or drop")


@pytest.mark.parametrize("module", ["pandas", "polars", "pyarrow"])
def test_columns_of_frames_that_are_no_numbers(module):
    """Named by the column, with its type."""
    library = pytest.importorskip(module)
    make = library.table if module == "pyarrow" else library.DataFrame
    day = dt.datetime(2024, 1, 1)
    for values, way in (
        (["x", "y"], r"2 values\).*leave out.*sklearn\.preprocessing\.OneHotEncoder"),
        ([day, day + dt.timedelta(days=1)], "leave out.*turn dates into numbers"),
        ([day.date(), day.date()], "leave out.*turn dates into numbers"),
        (
            ["1.5", "-2e3"],
            r"leave out.*turn numbers that are kept as text or objects.*: column\.astype\(float\)$",
        ),
        (
            ["1,5", "2"],
            r"leave out.*decimal commas into numbers: .*decimal=','.*str\.replace.*astype\(float\)$",
        ),
        (["1,5", "many"], r"leave out what is not a feature, encode categories"),
    ):
        frame = make({"size": [1.0, 2.0], "label": values})
        refuses(frame, InputTypeError, rf"1 of 2 columns holds no numbers: 'label' \(.*{way}")


def test_all_columns_that_are_no_numbers_are_told_at_once():
    """With their types, how many values they have, and what is missing where."""
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(
        {
            "age": [1.0, None, 3.0],
            "size": [1.0, 2.0, 3.0],
            "city": pd.Categorical(["x", "y", None]),
            "day": pd.to_datetime(["2024-01-01", None, None]),
        }
    )
    error = str(refuses(frame, InputTypeError, "2 of 4 columns hold no numbers"))
    assert "'city' (Categorical, 2 values, 1 missing), 'day' (Datetime" in error
    assert "2 missing)" in error
    assert "values are missing, too: 'age' 1 (see geodim.drop_missing)" in error
    assert "OneHotEncoder" in error
    assert "Timedelta" in error
    wide = pd.DataFrame({f"c{i}": ["a"] for i in range(20)})
    assert "'c7' (String, 1 value) and 12 more" in str(refuses(wide, InputTypeError, "20 of 20 columns"))


def test_objects_that_are_numbers_or_dates_or_both():
    pd = pytest.importorskip("pandas")
    day = dt.date(2024, 2, 29)
    for values, way in (
        ([Decimal("1.5"), Decimal(2)], "text or objects into a column"),
        ([1.5, "2,5"], "decimal commas"),
        ([dt.time(3), dt.time(4)], "turn dates"),
        ([day, "1.5"], "encode"),
        ([[1], [2]], "encode"),
    ):
        refuses(
            pd.DataFrame({"c": pd.Series(values, dtype=object)}), InputTypeError, rf"not a feature, .*{way}"
        )


def test_categories_are_no_numbers():
    pd = pytest.importorskip("pandas")
    refuses(pd.DataFrame({"c": pd.Categorical([1, 2, 1])}), InputTypeError, "'c'")


# ---------------------------------------------------------------- the public names


def test_errors_are_found_where_they_are_documented():
    from geodim import errors

    for name in errors.__all__:
        kind = getattr(errors, name)
        assert issubclass(kind, errors.GeodimError | errors.GeodimWarning)
        assert kind.__doc__
    assert issubclass(errors.NonFiniteError, ValueError)
    assert issubclass(errors.DataFileError, OSError)
    assert issubclass(errors.MissingExtraError, ImportError)


def test_a_missing_extra_is_named(monkeypatch):
    """Frames without narwhals: the message says what to install."""
    pd = pytest.importorskip("pandas")
    import sys

    monkeypatch.setitem(sys.modules, "narwhals", None)
    monkeypatch.setitem(sys.modules, "narwhals.stable", None)
    monkeypatch.setitem(sys.modules, "narwhals.stable.v2", None)
    with pytest.raises(geodim.errors.MissingExtraError, match=r"narwhals.*geodim\[frames\]") as caught:
        geodim.intrinsic_dimension(pd.DataFrame({"a": [1.0, 2.0]}))
    assert caught.value.package == "narwhals"
    assert caught.value.extra == "frames"
