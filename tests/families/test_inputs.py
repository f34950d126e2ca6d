"""Matrices, functions and data that are no distances: typed errors that name the place."""

from __future__ import annotations

import numpy as np
import pytest

from families.cases import assert_exact, edit_distance, matrix_of, points
from geodim.errors import (
    DataChangedError,
    GeodimError,
    InputTypeError,
    InputValueError,
    NonFiniteError,
    RangeOverflowError,
    ShapeError,
)
from geodim.families import Distances
from geodim.families.solve import family_profile


def test_any_function_of_any_things():
    words = ["", "cat", "cart", "art", "dog", "dig", "", "carts", "do"]
    source = Distances(metric=edit_distance).source(words, names=[f"{i}:{w}" for i, w in enumerate(words)])
    matrix = matrix_of(source)
    assert matrix[1, 2] == 1.0
    assert matrix[0, 6] == 0.0
    assert source.metric == "edit_distance"
    assert_exact(family_profile(source, n_threads=2), matrix)
    to_others = Distances(metric=edit_distance, landmarks=["cat", "x"]).source(words)
    np.testing.assert_array_equal(matrix_of(to_others)[:, 0], matrix[:, 1])


@pytest.mark.parametrize(
    ("function", "error", "said"),
    [
        (lambda x, y: float(x[0] - y[0]), InputValueError, "not negative|other way round"),
        (lambda x, y: abs(x[0] - y[0]) + (x[0] > y[0]), InputValueError, "the other way round"),
        (lambda _x, _y: 1.0, InputValueError, "to itself, which must be 0"),
        (lambda _x, _y: np.nan, NonFiniteError, "must be finite"),
        (lambda _x, _y: "far", InputTypeError, "gives a str for point"),
        (lambda _x, _y: None, InputTypeError, "NoneType"),
        (lambda _x, _y: 1 / 0, InputValueError, "ZeroDivisionError for point"),
    ],
)
def test_functions_that_give_no_distances(function, error, said):
    with pytest.raises(error, match=said):
        matrix_of(Distances(metric=function).source(points("normal", 20)))


def test_a_matrix(tmp_path):
    X = points("lattice", 90)
    made = Distances(metric="manhattan").source(X)
    matrix = matrix_of(made)
    np.save(tmp_path / "d.npy", matrix)
    for given in (
        matrix,
        np.load(tmp_path / "d.npy", mmap_mode="r"),
        matrix.tolist(),
        matrix.astype(np.int8),
    ):
        source = Distances(metric="precomputed").source(given)
        assert_exact(family_profile(source), matrix)
        assert source.error(5.0) == 0.0
        np.testing.assert_array_equal(
            source.sample(np.array([3, 80]), np.array([7, 2, 89])), matrix[np.ix_([7, 2, 89], [3, 80])]
        )
    some = Distances(metric="precomputed", landmarks=[5, 8]).source(matrix)
    np.testing.assert_array_equal(matrix_of(some), matrix[:, [5, 8]])


def test_a_matrix_that_changes(tmp_path):
    matrix = matrix_of(Distances().source(points("normal", 20)))
    path = tmp_path / "d.npy"
    np.save(path, matrix)
    source = Distances(metric="precomputed").source(np.load(path, mmap_mode="r"))
    np.save(path, np.zeros((25, 25)))
    with pytest.raises(DataChangedError):
        family_profile(source)


@pytest.mark.parametrize(
    ("place", "value", "error", "said"),
    [
        ((70, 3), np.nan, NonFiniteError, r"entry \(3, 70\)|entry \(70, 3\)"),
        ((70, 3), np.inf, NonFiniteError, "finite distance"),
        ((3, 70), -1.0, InputValueError, r"\(3, 70\) .* negative"),
        ((68, 68), 0.5, InputValueError, r"\(68, 68\) .* from itself"),
        ((3, 70), 9.0, InputValueError, r"\(3, 70\) of .*is 9.0, and entry \(70, 3\)"),
    ],
)
def test_matrices_that_are_none_of_distances(place, value, error, said):
    matrix = matrix_of(Distances().source(points("normal", 80)))
    matrix[place] = value
    with pytest.raises(error, match=said):
        Distances(metric="precomputed").source(matrix)


@pytest.mark.parametrize(
    ("data", "options", "error", "said"),
    [
        (np.ones((3, 4)), {"metric": "precomputed"}, ShapeError, "as many rows as columns"),
        (np.ones(3), {"metric": "precomputed"}, ShapeError, "2 axes"),
        (2**60 * (1 - np.eye(3, dtype=int)), {"metric": "precomputed"}, InputValueError, "beyond 2.53"),
        (np.ones((3, 3), complex), {"metric": "precomputed"}, InputTypeError, "complex"),
        (np.array([[1.0, np.nan], [2.0, 3.0]]), {}, NonFiniteError, "row 0"),
        (np.zeros((0, 3)), {}, ShapeError, "no points"),
        (np.array([[1.0], [0.0]]), {"metric": "angle"}, InputValueError, "point 1 is the zero vector"),
        (np.eye(3), {"metric": "sqeuclidean"}, InputValueError, "is not a metric"),
        (np.eye(3), {"metric": "cosine_distance"}, InputValueError, "1 - cos"),
        (np.eye(3), {"metric": "manhatten"}, InputValueError, "unknown metric"),
        (np.eye(3), {"metric": 3}, InputTypeError, "a name or a function"),
        (np.eye(3), {"metric": "minkowski"}, InputValueError, "needs p"),
        (np.eye(3), {"metric": "minkowski", "p": 0.5}, InputValueError, "triangle inequality"),
        (np.eye(3), {"p": 3}, InputValueError, "belongs to metric='minkowski'"),
        (np.array([[0, 2], [1, 1]]), {"metric": "jaccard"}, InputValueError, "row 0, column 1 is"),
        ([[0, 1]], {"metric": "jaccard"}, InputTypeError, "zeros and ones"),
        (np.array([[2**60], [1]]), {}, InputValueError, "column 0 holds integers beyond"),
        ([], {"metric": max}, ShapeError, "no points"),
    ],
)
def test_bad_input(data, options, error, said):
    with pytest.raises(error, match=said):
        Distances(**options).source(data)


def test_names_must_be_as_many_as_points():
    with pytest.raises(ShapeError, match="3 points but 2 names"):
        Distances().source(np.eye(3), names=["a", "b"])


def test_distances_beyond_floats():
    with pytest.raises(GeodimError) as raised:
        family_profile(Distances().source(np.array([[1.7e308, 1.7e308], [0.0, 0.0]])))
    assert isinstance(raised.value, RangeOverflowError)
