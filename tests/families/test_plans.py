"""Plans of families: by sizes alone the same as those that run, on the command line, too."""

from __future__ import annotations

import numpy as np
import pytest

import geodim
from cli.running import called, called_on_terminal
from families.cases import points
from geodim.errors import InputValueError
from geodim.features import Directions, Distances, Union, Values
from geodim.plans import calibrate_family, family_problem, plan

X = points("normal", 400)
FAMILIES = {
    "distances": Distances(metric="cosine"),
    "landmarks": Distances(landmarks=30),
    "these points": Distances(landmarks=[1, 5, 7]),
    "all points": Distances(landmarks=range(400)),
    "other points": Distances(landmarks=X[:7] + 1.0),
    "directions": Directions(),
    "few directions": Directions(axes=2, random=1, ascend=False),
    "one direction": Directions(axes=0, random=0),
    "union": Union(["coordinates", "distances", Directions(random=3)]),
    "divided": Union(["coordinates", Distances(landmarks=30)], by="diameter"),
}


@pytest.mark.turns(3)
@pytest.mark.parametrize("family", FAMILIES.values(), ids=FAMILIES)
def test_planned_as_it_runs(family):
    result = geodim.intrinsic_dimension(X, features=family, n_threads=2)
    planned, record = plan(family_problem(family, *X.shape), n_threads=2), result.plan
    assert planned.n_features == result.n_features
    assert planned.way == record.way
    assert planned.memory_added == record.predicted.memory
    assert planned.passes == record.predicted.passes == record.happened.passes == 1
    coarse = geodim.intrinsic_dimension(X, features=family, n_threads=2, rtol=0.1).plan
    planned = plan(family_problem(family, *X.shape, rtol=0.1), n_threads=2)
    assert coarse.predicted.passes == planned.passes == 2


def test_memory_of_many_points_is_not_that_of_their_distances():
    problem = family_problem(Distances(), 100_000, 100, itemsize=4)
    planned = plan(problem, n_threads=2, memory=2 * 10**9)
    assert planned.fits
    assert planned.memory < 5 * 10**8
    assert planned.bytes_read == 8 * 10**10
    assert not plan(problem, n_threads=2, memory=10**8).fits


def test_rates_of_a_family():
    rates = calibrate_family(X, Distances(), "a trial")
    assert rates.made > 0.0
    assert rates.making == 0.0
    seconds = plan(family_problem(Distances(), 10_000, 7), n_threads=1, rates=rates).seconds
    assert seconds == pytest.approx(rates.call + rates.made * 10**8)


def test_families_that_cannot_be_planned():
    with pytest.raises(InputValueError, match="no telling what Values takes"):
        family_problem(Values(functions=len), 10, 10)


@pytest.mark.parametrize(
    ("options", "family"),
    [
        (["distances"], Distances()),
        (["distances", "--landmarks", 20], Distances(landmarks=20)),
        (["coordinates,distances", "--by", "diameter"], Union(["coordinates", "distances"], by="diameter")),
    ],
)
def test_of_a_file(tmp_path, options, family):
    np.save(tmp_path / "x.npy", X)
    found = called("compute", tmp_path / "x.npy", "--dry-run", "--features", *options).json
    planned = plan(family_problem(family, *X.shape), n_threads=found["threads"])
    assert (found["n_points"], found["passes"]) == (400, 1)
    assert (found["n_features"], found["memory_added"]) == (planned.n_features, planned.memory_added)
    assert "of these points" in found["calibrated_on"]


def test_of_a_matrix_of_distances(tmp_path):
    np.save(tmp_path / "d.npy", np.abs(X[:, :1] - X[:, 0]))
    line = ["compute", tmp_path / "d.npy", "--dry-run", "--features", "distances", "--metric", "precomputed"]
    assert called(*line).json["n_features"] == 400


def test_of_sizes_alone(monkeypatch):
    monkeypatch.setattr("geodim.cli.compute_plan.TRIED_POINTS", 200)
    line = ["compute", "--dry-run", "--points", "1e6", "--coordinates", 8, "--features"]
    found = called(*line, "distances", "--memory", "1GB").json
    assert found["fits"]
    assert found["n_features"] == 10**6
    assert "plan for 1,000,000 x 8 points, directions" in called_on_terminal(*line, "directions").err
    assert called(*line, "distances", "--memory", "100MB").code == 3
    device = called(*line, "distances", "--backend", "cuda", "--memory", "139GB").json
    assert device["fits"]
    assert device["bytes_moved"] < 10**8  # the points, not their distances
    cluster = called(*line, "distances", "--workers", 4, "--worker-memory", "8GB").json
    assert 4 * 8 * 8 * 10**6 < cluster["bytes_moved"] < 10**10  # the points to every worker


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (["--dry-run", "--points", 9, "--features", "distances"], "--coordinates"),
        (["--dry-run", "--points", 9, "--features", 3, "--coordinates", 3], "made from points"),
        (["FILE", "--dry-run", "--coordinates", 3, "--features", "distances"], "determines the sizes"),
        (["FILE", "--coordinates", 3, "--features", "distances"], "for --dry-run only"),
        (["FILE", "--features", "distances,rows"], "neither coordinates"),
        (["FILE", "--features", "distances", "--by", "diameter"], "for several families"),
        (["FILE", "--features", "distances,coordinates", "--by", "range"], "the only value is diameter"),
        (["FILE", "--features", "distances", "--certificate", "proof.json"], "columns and hops can be"),
    ],
)
def test_wrong_options(tmp_path, line, said):
    np.save(tmp_path / "x.npy", X)
    ended = called("compute", *(tmp_path / "x.npy" if word == "FILE" else word for word in line))
    assert ended.code == 2
    assert said in " ".join(ended.err.replace("│", " ").split())
