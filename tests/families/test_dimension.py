"""`features=`: families through the front door, with the options and results of columns."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pytest
from scipy.spatial.distance import cdist

import geodim
from families.cases import POINTS, matrix_of, points
from geodim import paper
from geodim.errors import CertificateError, InputTypeError, InputValueError, InterruptedWarning
from geodim.features import Directions, Distances

RNG = np.random.default_rng(2)


def quietly(X, **options):
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", geodim.errors.GeodimWarning)
        return geodim.intrinsic_dimension(X, **options)


@pytest.mark.turns(4)
@pytest.mark.parametrize("name", POINTS)
@pytest.mark.parametrize("metric", ["euclidean", "manhattan"])
def test_distances_are_those_of_the_definition(name, metric):
    X = points(name, 90)
    result = quietly(X, features="distances", metric=metric)
    matrix = matrix_of(Distances(metric=metric).source(X))
    assert np.array_equal(result.phi_lower, paper.phi_all(matrix))
    reference = quietly(matrix)
    assert result.d_max == reference.d_max
    assert result.discriminability == reference.discriminability
    assert result.lower <= reference.dimension <= result.upper
    assert result.shares == reference.shares


def test_the_definition_lies_within_the_bounds():
    """By another program's distances, whose rounding is another."""
    X = RNG.normal(size=(200, 9))
    result = geodim.intrinsic_dimension(X, features="distances")
    assert geodim.intrinsic_dimension(cdist(X, X)).dimension == pytest.approx(result.dimension, rel=1e-12)
    assert result.upper / result.lower - 1.0 < 1e-10
    assert not result.exact
    whole = RNG.integers(0, 9, (100, 4)).astype(float)
    assert geodim.intrinsic_dimension(whole, features="distances", metric="manhattan").exact


def test_both_ways_to_ask():
    X = RNG.normal(size=(120, 6))
    one = geodim.intrinsic_dimension(X, features="distances", metric="cosine")
    other = geodim.intrinsic_dimension(X, features=geodim.features.Distances(metric="cosine"))
    third = geodim.IntrinsicDimension(features="distances", metric="cosine").fit(X)
    assert one.dimension == other.dimension == third.dimension_
    assert one.parameters["features"] == {"family": "distances", "metric": "cosine"}
    assert geodim.IDResult.from_json(one.to_json()).parameters == one.parameters


@pytest.mark.parametrize("n_threads", [1, 2, 3])
def test_threads_change_no_bit(n_threads):
    X = RNG.normal(size=(700, 5))
    result = geodim.intrinsic_dimension(X, features="distances", n_threads=n_threads)
    reference = geodim.intrinsic_dimension(X, features="distances", n_threads=1)
    assert np.array_equal(result.phi_lower, reference.phi_lower)
    assert result.shares == reference.shares


def test_isometries_change_nothing():
    X = RNG.normal(size=(150, 7))
    turned = X @ np.linalg.qr(RNG.normal(size=(7, 7)))[0] + 3.0
    by_distance = [geodim.intrinsic_dimension(Y, features="distances").dimension for Y in (X, turned)]
    assert by_distance[0] == pytest.approx(by_distance[1], rel=1e-10)
    by_column = [geodim.intrinsic_dimension(Y).dimension for Y in (X, turned)]
    assert abs(by_column[0] / by_column[1] - 1.0) > 1e-3


@pytest.mark.parametrize(
    "landmarks", [20, [0, 5, 17], RNG.normal(size=(15, 4))], ids=["some", "these", "others"]
)
def test_landmarks_bound_the_value_for_all_points(landmarks):
    X = RNG.normal(size=(150, 4))
    whole = geodim.intrinsic_dimension(X, features="distances")
    part = geodim.intrinsic_dimension(X, features="distances", landmarks=landmarks)
    assert part.lower <= whole.lower <= whole.upper <= part.upper
    assert part.lower <= part.dimension <= part.upper
    assert not part.exact
    assert part.parameters["features"]["landmarks"] == part.n_features < 150


def test_directions_bound_all_of_them():
    X = RNG.normal(size=(200, 5)) * [3.0, 1.0, 1.0, 0.5, 0.1]
    result = geodim.intrinsic_dimension(X, features="directions", normalize=False)
    some = RNG.normal(size=(5, 40))
    some /= np.linalg.norm(some, axis=0)
    for raw in (X, X @ some):
        assert geodim.intrinsic_dimension(raw, normalize=False).dimension >= result.lower * (1 - 1e-12)
    assert result.lower < result.upper < 20 * result.lower


@pytest.mark.parametrize("options", [{"rtol": 1e-2}, {"weights": np.arange(150) % 3}, {"rtol": 1e-6}])
def test_tolerances_and_weights(options):
    X = RNG.normal(size=(150, 4))
    result = geodim.intrinsic_dimension(X, features="distances", **options)
    reference = geodim.intrinsic_dimension(matrix_of(Distances().source(X)), **{**options, "rtol": 0.0})
    assert result.lower <= reference.lower * (1 + 1e-12)
    assert reference.upper * (1 - 1e-12) <= result.upper
    assert result.error <= options.get("rtol", 1e-9) * (1 + 1e-9)


def test_no_time():
    X = RNG.normal(size=(300, 4))
    whole = geodim.intrinsic_dimension(X, features="distances")
    with pytest.warns(InterruptedWarning, match="stopped early"):
        stopped = geodim.intrinsic_dimension(X, features="distances", time_limit=0.0)
    assert stopped.stopped == "time limit"
    assert stopped.lower <= whole.lower <= whole.upper <= stopped.upper


def test_progress_and_plan():
    seen = []
    X = RNG.normal(size=(300, 4))
    result = geodim.intrinsic_dimension(X, features="distances", progress=lambda *how: seen.append(how))
    assert seen[-1] == (300, 300)
    assert result.plan.way.drops
    assert result.plan.happened.seconds > 0.0


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"features": "rows"}, InputValueError, "choose one of coordinates, distances, directions"),
        ({"features": 3}, InputTypeError, "must be a name"),
        ({"metric": "cosine"}, InputValueError, "metric is for features='distances'"),
        ({"features": "directions", "landmarks": 3}, InputValueError, "landmarks is for"),
        ({"features": Distances(), "metric": "cosine"}, InputValueError, "give metric and landmarks to it"),
        ({"features": "distances", "count_indistinguishable": True}, InputValueError, "equal rows"),
        ({"features": Directions(), "feature_names": ["a"]}, InputValueError, "names of their own"),
        ({"features": "distances", "metric": "sqeuclidean"}, InputValueError, "metric"),
    ],
)
def test_bad_questions(options, error, words):
    with pytest.raises(error, match=words):
        geodim.intrinsic_dimension(RNG.normal(size=(30, 3)), **options)


def test_no_certificate():
    result = geodim.intrinsic_dimension(np.eye(5), features="distances")
    with pytest.raises(CertificateError, match="measure its columns, and certify"):
        result.certificate(np.eye(5))
    matrix = np.abs(np.arange(6.0) - np.arange(6.0)[:, None])
    same = geodim.intrinsic_dimension(matrix)  # the way out
    assert (
        same.dimension == geodim.intrinsic_dimension(np.arange(6.0)[:, None], features="distances").dimension
    )
    low, high = same.certificate(rtol=0.1).verify(matrix)[0]
    assert low <= same.dimension <= high


def test_what_the_bounds_are_about_is_said():
    X = RNG.normal(size=(80, 3))
    some = geodim.intrinsic_dimension(X, features="distances", landmarks=20)
    assert dict(some.summary())["bounds for all points"].startswith(f"{some.lower:.6g} .. {some.upper:.6g}")
    assert "rounding of features" not in dict(some.summary())
    every = geodim.intrinsic_dimension(X, features="distances")
    assert "rounding of features" in dict(every.summary())
    assert every.part_of is None
    again = geodim.IDResult.from_json(some.to_json())
    assert again.part_of == some.part_of == "all points"
    from geodim.display.html.text import describe_dimension, kind_text

    assert "bounds for all points" in kind_text(some)
    assert "with the features of all points" in describe_dimension(some)[0]
    both = geodim.intrinsic_dimension(X, features=["directions", Distances(landmarks=9)])
    assert both.part_of == "all directions and all points"


def test_on_the_command_line(tmp_path):
    X = RNG.normal(size=(60, 3))
    np.save(tmp_path / "x.npy", X)
    command = [sys.executable, "-m", "geodim", "compute", str(tmp_path / "x.npy"), "--features", "distances"]
    found = json.loads(
        subprocess.run([*command, "--metric", "chord"], check=True, capture_output=True).stdout
    )
    expected = geodim.intrinsic_dimension(X, features="distances", metric="chord")
    assert found["dimension"] == expected.dimension
    assert found["parameters"]["features"] == {"family": "distances", "metric": "chord"}
    wrong = subprocess.run([*command[:-1], "rows"], check=False, capture_output=True, text=True)
    assert wrong.returncode == 2
    assert "neither coordinates" in wrong.stderr
