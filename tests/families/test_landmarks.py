"""Landmarks: which points, and bounds for all of them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import geodim
from families.cases import POINTS, assert_exact, matrix_of, points
from geodim.errors import InputTypeError, InputValueError, InterruptedWarning, ShapeError
from geodim.families import Distances
from geodim.families.bounds import family_bounds, net_bounds
from geodim.families.solve import family_profile


def test_given_points_are_those_columns():
    X = points("normal", 120)
    every = matrix_of(Distances().source(X))
    source = Distances(landmarks=[7, 3, 99]).source(X, names=[f"p{i}" for i in range(120)])
    np.testing.assert_array_equal(matrix_of(source), every[:, [7, 3, 99]])
    assert source.names == ["p7", "p3", "p99"]
    other = Distances(landmarks=X[[7, 3, 99]]).source(X)
    np.testing.assert_array_equal(matrix_of(other), every[:, [7, 3, 99]])
    assert other.points is None
    assert Distances(landmarks=2).source(X).names is not None


@pytest.mark.parametrize("choice", ["farthest", "random"])
def test_a_number_of_landmarks(choice):
    X = points("clusters", 200)
    source = Distances(landmarks=5, choice=choice, rng=1).source(X)
    assert source.n_features == 5
    np.testing.assert_array_equal(
        source.points, Distances(landmarks=5, choice=choice, rng=1).source(X).points
    )
    solved = family_profile(source)
    assert_exact(solved, matrix_of(source))
    assert solved.radius == matrix_of(source).min(axis=1).max()
    if choice == "farthest":  # five clusters, one landmark in each
        assert solved.radius < 1.0


def test_more_landmarks_than_points_are_all_points():
    source = Distances(landmarks=500).source(points("normal", 40))
    assert source.n_features == 40
    assert family_profile(source).radius == 0.0


@pytest.mark.turns(5)
@pytest.mark.parametrize("name", POINTS)
@pytest.mark.parametrize("landmarks", [1, 5, 60])
def test_the_net_bound_holds(name, landmarks):
    X = points(name, 150)
    every = family_profile(Distances().source(X))
    delta = every.profile.phi.sum() / 150
    source = Distances(landmarks=landmarks).source(X)
    few = family_profile(source)
    assert np.all(few.profile.phi <= every.profile.phi)
    assert np.all(every.profile.phi <= few.profile.phi + 2.0 * few.radius + 1e-9)
    raw = family_bounds(few.source, few.part, normalize=False)
    assert raw.discriminability_lower <= delta <= raw.discriminability_upper
    assert raw.d_max_lower <= every.d_max <= raw.d_max_upper
    if every.d_max > 0.0:
        scaled = family_bounds(few.source, few.part)
        assert scaled.discriminability_lower <= delta / every.d_max <= scaled.discriminability_upper
        assert scaled.lower <= (every.d_max / delta) ** 2 <= scaled.upper


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 40), st.integers(1, 6))
def test_the_net_bound_holds_for_other_points(seed, n, m):
    rng = np.random.default_rng(seed)
    X, others = rng.standard_normal((n, 2)), rng.standard_normal((m, 2))
    every = family_profile(Distances(metric="manhattan").source(X))
    source = Distances(metric="manhattan", landmarks=others).source(X)
    solved = family_profile(source)
    bounds = family_bounds(solved.source, solved.part)
    delta = every.profile.phi.sum() / n / every.d_max
    assert bounds.discriminability_lower <= delta <= bounds.discriminability_upper
    assert bounds.d_max_lower <= every.d_max <= bounds.d_max_upper


def test_stopped_early_the_bounds_are_still_those_of_all_points():
    """A landmark in the middle sees a smaller diameter than other points do."""
    angles = np.linspace(0.0, 2.0 * np.pi, 60, endpoint=False)
    X = np.concatenate([np.zeros((60, 2)), np.stack([np.cos(angles), np.sin(angles)], axis=1)])

    def interrupt(done, total):
        if done == total:
            raise KeyboardInterrupt

    with pytest.warns(InterruptedWarning):
        stopped = geodim.intrinsic_dimension(
            X, features=Distances(landmarks=[0]), progress=interrupt, n_threads=1
        )
    assert stopped.lower <= geodim.intrinsic_dimension(X, features="distances").dimension <= stopped.upper


def test_all_landmarks_leave_nothing_open():
    X = points("lattice", 100)
    source = Distances(metric="manhattan", landmarks=range(100)).source(X)
    solved = family_profile(source)
    assert solved.feature_error == 0.0
    assert source.part_of is None
    bounds = net_bounds(solved.part, solved.radius, among_points=True)
    np.testing.assert_allclose(bounds.upper, bounds.lower, rtol=1e-14)


@pytest.mark.parametrize(
    ("landmarks", "error", "said"),
    [
        (0, InputValueError, "landmarks must be at least 1"),
        (True, InputTypeError, "landmarks must be a whole number"),
        ([], ShapeError, "there are no landmarks"),
        ([3, 30], InputValueError, "landmark 30 is not a point: there are 30"),
        ([-1], InputValueError, "landmark -1"),
        ([4, 4], InputValueError, "point 4 is a landmark more than once"),
        (np.zeros((2, 5)), ShapeError, "landmarks have 5 coordinates and the points 7"),
        (np.full((1, 7), np.nan), InputValueError, "row 0"),
        ([[1, 2], [3]], InputTypeError, "same coordinates"),
        ("many", InputTypeError, "got a str"),
    ],
)
def test_landmarks_that_are_none(landmarks, error, said):
    with pytest.raises(error, match=said):
        Distances(landmarks=landmarks).source(points("normal", 30))


def test_landmarks_of_sets_are_points_of_the_data():
    with pytest.raises(InputTypeError, match="points of the data"):
        Distances(metric="jaccard", landmarks=np.eye(4)).source(np.eye(4))
    with pytest.raises(InputValueError, match="choice must be one of farthest, random"):
        Distances(landmarks=3, choice="nearest").source(points("normal", 30))
