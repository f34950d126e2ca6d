"""Values of distances: a function of two points, near the metric by no more than is stated."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import sparse
from scipy.spatial.distance import cdist

from families.cases import matrix_of, points
from geodim.families import Distances

SCIPY = {"euclidean": "euclidean", "manhattan": "cityblock", "chebyshev": "chebyshev", "hamming": "hamming"}


def root(value: Fraction, digits: int = 60) -> Fraction:
    """A square root to so many digits."""
    scale = 10**digits
    return Fraction(math.isqrt(value.numerator * scale * scale // value.denominator), scale)


@pytest.mark.parametrize("metric", SCIPY)
@pytest.mark.parametrize("name", ["normal", "lattice", "clusters"])
def test_same_as_scipy(metric, name):
    X = points(name, 45)
    np.testing.assert_allclose(
        matrix_of(Distances(metric=metric).source(X)), cdist(X, X, SCIPY[metric]), rtol=1e-13, atol=1e-13
    )


def test_minkowski():
    X = points("normal", 40)
    for p in (1.5, 3, 40.0):
        np.testing.assert_allclose(
            matrix_of(Distances(metric="minkowski", p=p).source(X)), cdist(X, X, "minkowski", p=p), rtol=1e-13
        )
    huge = matrix_of(Distances(metric="minkowski", p=50).source(1e-7 * X))
    np.testing.assert_allclose(huge, 1e-7 * cdist(X, X, "minkowski", p=50), rtol=1e-12)
    np.testing.assert_array_equal(
        matrix_of(Distances(metric="minkowski", p=2).source(X)), matrix_of(Distances().source(X))
    )


def test_angle_and_chord():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 3))
    X = np.vstack([X, -X[:10] + 1e-9, 5.0 * X[:10], 1e300 * X[:5], 1e-300 * X[:5]])
    with np.errstate(over="ignore"):
        unit = X / np.abs(X).max(axis=1, keepdims=True)
    unit /= np.linalg.norm(unit, axis=1, keepdims=True)
    sums, differences = (np.linalg.norm(unit[:, None] + sign * unit[None], axis=2) for sign in (1, -1))
    angle = matrix_of(Distances(metric="cosine").source(X))
    np.testing.assert_allclose(angle, 2.0 * np.arctan2(differences, sums), rtol=0, atol=1e-14)
    np.testing.assert_allclose(matrix_of(Distances(metric="chord").source(X)), differences, atol=1e-14)
    assert np.all(angle <= math.pi)


@pytest.mark.parametrize("wrap", [np.asarray, sparse.csr_array, sparse.csc_array])
def test_jaccard(wrap):
    X = (np.random.default_rng(0).random((40, 30)) < 0.2).astype(float)
    X[3] = X[7] = 0.0  # two empty sets are the same
    found = matrix_of(Distances(metric="jaccard").source(wrap(X)))
    np.testing.assert_allclose(found, cdist(X > 0, X > 0, "jaccard"), atol=1e-15)
    assert found[3, 7] == 0.0


@pytest.mark.parametrize(
    "options",
    [
        *({"metric": m} for m in ("euclidean", "manhattan", "chebyshev", "hamming", "angle", "chord")),
        {"metric": "minkowski", "p": 3.5},
    ],
)
def test_a_function_of_two_points(options):
    """Symmetric, 0 on the diagonal and between equal points, whatever is made beside it."""
    X = np.vstack([points("normal", 50), points("normal", 50)[:9]])
    source = Distances(**options).source(X)
    matrix = matrix_of(source)
    np.testing.assert_array_equal(matrix, matrix.T)
    np.testing.assert_array_equal(matrix[:9], matrix[50:])
    assert not matrix.diagonal().any()
    for width in (1, 3, 4, 5, 17):
        for first in range(0, 59, width):
            block = np.empty((min(width, 59 - first), 59))
            source.read(range(first, first + len(block)), block)
            np.testing.assert_array_equal(block, matrix[first : first + width])
    rows, columns = np.array([3, 17, 40, 58]), np.array([50, 2])
    np.testing.assert_array_equal(source.sample(columns, rows), matrix[np.ix_(rows, columns)])
    values, counts = source.read_runs(5)
    np.testing.assert_array_equal(np.repeat(values, counts), np.sort(matrix[5]))


@pytest.mark.parametrize("name", ["normal", "clusters", "outlier", "lattice"])
def test_no_value_is_farther_off_than_stated(name):
    X = points(name, 24)
    exact = [[Fraction(x) for x in row] for row in X.tolist()]
    for metric in ("euclidean", "manhattan", "chebyshev"):
        source = Distances(metric=metric).source(X)
        matrix = matrix_of(source)
        error = Fraction(source.error(float(matrix.max())))
        for i, j in np.argwhere(np.tri(24, k=-1)).tolist():
            t = [abs(a - b) for a, b in zip(exact[i], exact[j], strict=True)]
            true = {"manhattan": sum(t), "chebyshev": max(t)}.get(metric)
            true = root(sum(x * x for x in t)) if true is None else true
            assert abs(Fraction(float(matrix[i, j])) - true) <= error + Fraction(1, 10**50)
        assert error < Fraction(1, 10**12) * Fraction(float(matrix.max()))


def test_whole_numbers_are_exact():
    X = points("lattice", 50)
    for metric in ("manhattan", "chebyshev"):
        assert Distances(metric=metric).source(X).error(9.0) == 0.0
    euclidean = Distances().source(X)
    assert euclidean.error(9.0) < 1.1 * 9.0 * 2.0**-53
    assert Distances().source(X + 0.5).error(9.0) > euclidean.error(9.0)


@pytest.mark.parametrize("scale", [1e250, 1e-250])
def test_squares_that_no_float_holds(scale):
    X = points("normal", 30)
    reference = matrix_of(Distances().source(X))
    np.testing.assert_allclose(matrix_of(Distances().source(scale * X)), scale * reference, rtol=1e-14)
    landmarks = matrix_of(Distances(landmarks=scale * X[:4]).source(scale * X))
    np.testing.assert_allclose(landmarks, scale * reference[:, :4], rtol=1e-14)


def test_frames_sparse_and_lists():
    pd = pytest.importorskip("pandas")
    X = points("lattice", 40)
    reference = matrix_of(Distances().source(X))
    for data in (pd.DataFrame(X), sparse.csr_array(X), X.tolist(), np.asfortranarray(X), X.astype(np.int8)):
        np.testing.assert_array_equal(matrix_of(Distances().source(data)), reference)
