"""Features of one's own: functions, matrices of values, and families that a user writes."""

from __future__ import annotations

import threading

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import geodim
from geodim import paper
from geodim.data.sources import ArraySource
from geodim.errors import InputTypeError, InputValueError, NonFiniteError, ShapeError
from geodim.features import Coordinates, Family, Values

RNG = np.random.default_rng(3)
X = RNG.normal(size=(80, 3))


def lengths(X):
    return np.linalg.norm(X, axis=1)


def first(x):
    return x[0]


def assert_like(result, matrix, **options):
    """The same as the matrix handed over as columns."""
    reference = geodim.intrinsic_dimension(matrix, **options)
    np.testing.assert_array_equal(result.phi_lower, paper.phi_all(np.asarray(matrix, float)))
    assert (result.d_max, result.discriminability) == (reference.d_max, reference.discriminability)
    assert result.exact
    assert list(result.shares.values()) == list(reference.shares.values())


def test_functions_of_all_data_are_called_once():
    called = []

    def counted(X):
        called.append(len(X))
        return X[:, 2]

    result = geodim.intrinsic_dimension(X, features=Values(functions=[lengths, counted]), rtol=0.0)
    assert called == [80]
    assert_like(result, np.stack([lengths(X), X[:, 2]], axis=1))
    assert set(result.shares) <= {"lengths", "counted"}
    assert result.parameters["features"] == {"family": "values", "functions": 2}
    assert geodim.IDResult.from_json(result.to_json()).parameters == result.parameters


def test_functions_of_single_points():
    features = Values(functions=[first, lambda x: x.sum()], each="point")
    result = geodim.intrinsic_dimension(X, features=features)
    assert_like(result, np.stack([X[:, 0], [x.sum() for x in X]], axis=1))
    assert set(result.shares) == {"first", "function 1"}
    words = ["a", "bcd", "ef", "bcd"]
    by_length = geodim.intrinsic_dimension(words, features=Values(functions=len, each="point"))
    assert_like(by_length, [[1], [3], [2], [3]])


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array, np.float32])
def test_matrices_of_values(kind):
    matrix = kind(np.where(RNG.random((80, 5)) < 0.4, RNG.normal(size=(80, 5)), 0.0))
    result = geodim.intrinsic_dimension(X, features=Values(matrix=matrix), feature_names="abcde")
    assert_like(result, matrix.toarray() if sp.issparse(matrix) else matrix)
    assert set(result.shares) <= set("abcde")
    for nothing in (None, "a path"):
        assert Values(matrix=matrix).source(nothing).n_points == 80
    without = geodim.intrinsic_dimension(None, features=Values(matrix=matrix))
    assert without.dimension == result.dimension


def test_a_memory_map_is_not_copied(tmp_path):
    np.save(tmp_path / "values.npy", X)
    mapped = np.load(tmp_path / "values.npy", mmap_mode="r")
    assert Values(matrix=mapped).source(None).array is mapped


def test_long_integers_are_measured_exactly():
    matrix = np.array([[2**62], [2**62 + 1], [2**62 + 3]])
    result = geodim.intrinsic_dimension(np.zeros((3, 1)), features=Values(matrix=matrix))
    assert result.d_max == 3.0
    assert result.exact


@pytest.mark.parametrize(
    ("values", "error", "said"),
    [
        (Values(), InputValueError, "functions or a matrix"),
        (Values(functions=len, matrix=X), InputValueError, "functions or a matrix"),
        (Values(functions=[]), InputTypeError, "a function or a list"),
        (Values(functions="len"), InputTypeError, "a function or a list"),
        (Values(functions=[lengths, 3]), InputTypeError, r"functions\[1\] is a int"),
        (Values(functions=len, each="row"), InputValueError, "each must be one of data, point"),
        (Values(functions=lambda X: X), ShapeError, r"function 0 gives values of shape \(80, 3\)"),
        (Values(functions=lambda X: X[:, 0] / 0), NonFiniteError, "function 0 gives -?inf for point"),
        (Values(functions=lambda _: "no"), InputTypeError, "function 0 gives a str, not numbers"),
        (Values(functions=lambda X: X.nothing), InputValueError, "function 0 raised AttributeError on the"),
        (Values(functions=lambda x: x, each="point"), InputTypeError, "gives a ndarray for point 0"),
        (Values(functions=lambda _: np.nan, each="point"), NonFiniteError, "gives nan for point 0"),
        (Values(functions=lambda x: x.no, each="point"), InputValueError, "AttributeError for point 0"),
        (Values(matrix=X[:7]), ShapeError, "has 7 rows and the data 80 points"),
    ],
)
def test_bad_values(values, error, said):
    with np.errstate(divide="ignore"), pytest.raises(error, match=said):
        geodim.intrinsic_dimension(X, features=values)


def test_things_without_points():
    with pytest.raises(InputTypeError, match="has no length"):
        geodim.intrinsic_dimension(object(), features=Values(functions=len))
    with pytest.raises(InputTypeError, match="give an array"):
        geodim.intrinsic_dimension(pd.DataFrame(X), features=Values(functions=len, each="point"))


def test_coordinates_are_the_columns():
    assert geodim.intrinsic_dimension(X, features=Coordinates()).parameters == (
        geodim.intrinsic_dimension(X).parameters
    )


# ---------------------------------------------------------------- families that a user writes


class Cosines:
    """cos(w x) for some frequencies: a matrix."""

    def __init__(self, frequencies):
        self.frequencies = frequencies

    def source(self, X, **_):
        return np.cos(np.asarray(X)[:, :1] * self.frequencies)


class Lazy(ArraySource):
    """Columns that are made when they are read, with a stated error."""

    made = True
    at_once = 4

    def __init__(self, array):
        super().__init__(array)
        self.reads = np.zeros(self.n_features, int)
        self.lock = threading.Lock()

    def read(self, columns, out):
        with self.lock:
            self.reads[columns] += 1
        super().read(columns, out)

    def error(self, greatest):
        return 1e-9 * greatest

    def extents(self):
        return np.stack([self.array.min(axis=0), self.array.max(axis=0)], axis=1)


class Made:
    """As a family with options of its own."""

    def source(self, X, **_):
        self.last = Lazy(np.asfortranarray(X))
        return self.last

    def described(self, source):
        return {"family": "mine", "columns": source.n_features}


def test_a_family_of_ones_own():
    family = Cosines(np.arange(1.0, 6.0))
    assert isinstance(family, Family)
    result = geodim.intrinsic_dimension(X, features=family)
    assert_like(result, np.cos(X[:, :1] * family.frequencies))
    assert result.parameters["features"] == {"family": "cosines"}


@pytest.mark.parametrize("n_features", [3, 100])
def test_columns_that_are_made_are_made_once(n_features):
    family, matrix = Made(), RNG.normal(size=(300, n_features))
    result = geodim.intrinsic_dimension(matrix, features=family, n_threads=2)
    np.testing.assert_array_equal(result.phi_lower, paper.phi_all(matrix))
    assert family.last.reads.tolist() == [1] * n_features
    assert result.feature_error == 1e-9 * np.abs(matrix).max()
    assert not result.exact
    assert result.lower < geodim.intrinsic_dimension(matrix).dimension < result.upper
    assert result.parameters["features"] == {"family": "mine", "columns": n_features}


@pytest.mark.parametrize("options", [{"rtol": 1e-3}, {"weights": np.arange(300) % 4}, {"time_limit": 0.0}])
def test_with_the_options_of_columns(options):
    matrix = RNG.normal(size=(300, 12))
    exact = geodim.intrinsic_dimension(matrix, weights=options.get("weights"))
    with pytest.warns(geodim.errors.InterruptedWarning) if "time_limit" in options else np.errstate():
        result = geodim.intrinsic_dimension(matrix, features=Made(), **options)
    assert result.lower <= exact.dimension <= result.upper


class Nothing:
    def source(self, *_, **__):
        class Source:
            n_points = n_features = 1
            read = None

        return Source()


class Odd(Cosines):
    def described(self, _):
        return {"family": "odd", "of": self}


@pytest.mark.parametrize(
    ("features", "said"),
    [
        (Nothing(), "a Source without dtype"),
        (Odd(np.ones(2)), "Odd.described gives cannot be written"),
        (np.linalg.norm, r"wrap functions in Values\(functions=\[...\]\)"),
        (Values, "must be a name, a family"),
        (3, "must be a name, a family"),
    ],
)
def test_what_is_no_family(features, said):
    with pytest.raises(InputTypeError, match=said):
        geodim.intrinsic_dimension(X, features=features)


def test_a_family_that_gives_nan_is_told_where():
    matrix = X.copy()
    matrix[5, 1] = np.nan
    with pytest.raises(NonFiniteError, match="row 5, column 1"):
        geodim.intrinsic_dimension(X, features=Values(matrix=matrix))
    with pytest.raises(NonFiniteError, match="feature 1 is nan for point 5"):
        geodim.intrinsic_dimension(matrix, features=Made())
