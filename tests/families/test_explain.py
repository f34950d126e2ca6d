"""Explanation and selection of families: what they say of the materialised matrix, with names of points."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import geodim
from cli.running import called
from families.cases import matrix_of, points
from geodim.errors import DegenerateDataWarning, InputValueError
from geodim.families.protocol import opened
from geodim.features import Directions, Distances, Union, Values

X = points("normal", 90)
WORDS = [f"w{i}" for i in range(90)]
FAMILIES = {
    "distances": Distances(),
    "sets": Distances(metric="hamming"),
    "landmarks": Distances(landmarks=25),
    "directions": Directions(random=20),
    "union": Union(["coordinates", Distances(metric="manhattan")]),
    "divided": Union(["coordinates", Distances(metric="manhattan")], by="diameter"),
    "values": Values(functions=[np.linalg.norm, lambda x: x[0] * x[1], lambda x: x[2]], each="point"),
}


def matrix(family):
    source = opened(family, X)
    out = np.empty((source.n_features, source.n_points), source.dtype)
    source.read(range(source.n_features), out)
    return out.T, source.names or [str(i) for i in range(source.n_features)]


@pytest.mark.turns(4)
@pytest.mark.parametrize("normalize", [True, False])
@pytest.mark.parametrize("family", FAMILIES.values(), ids=FAMILIES)
def test_explanation(family, normalize):
    values, names = matrix(family)
    found = geodim.explain_dimension(X, features=family, normalize=normalize)
    reference = geodim.explain_dimension(values, normalize=normalize)
    assert found.core_columns == reference.core_columns
    assert found.core == [names[column] for column in found.core_columns]
    assert found.shares == {names[int(column)]: share for column, share in reference.shares.items()}
    assert list(found.core_shares.values()) == list(reference.core_shares.values())
    whole = geodim.intrinsic_dimension(X, features=family, normalize=normalize)
    assert (found.result.dimension, found.result.lower) == (whole.dimension, whole.lower)
    assert found.result.parameters == whole.parameters
    assert found.to_dict()["features"] == whole.parameters["features"]


def test_points_are_named():
    found = geodim.explain_dimension(X, features="distances", metric="cosine", feature_names=WORDS)
    assert set(found.core) <= set(WORDS)
    assert [WORDS.index(word) for word in found.core] == found.core_columns
    some = geodim.explain_dimension(X, features="distances", landmarks=[4, 7, 50], feature_names=WORDS)
    assert set(some.shares) <= {"w4", "w7", "w50"}


def test_names_that_two_points_share():
    found = geodim.explain_dimension(X, features="distances", feature_names=["same"] * 90)
    assert all(name == f"same (column {column})" for name, column in
               zip(found.core, found.core_columns, strict=True))  # fmt: skip


def test_random_choices_are_made_once():
    for family in (Directions(rng=None, random=30), Distances(landmarks=20, choice="random", rng=None)):
        found = geodim.explain_dimension(X, features=family)
        assert set(found.core) <= set(found.shares)


def test_weights():
    weights = np.arange(90) % 3
    found = geodim.explain_dimension(X, features="distances", metric="manhattan", weights=weights)
    reference = geodim.explain_dimension(matrix_of(Distances(metric="manhattan").source(X)), weights=weights)
    assert found.core_columns == reference.core_columns
    assert found.shares == reference.shares


@pytest.mark.parametrize("family", FAMILIES.values(), ids=FAMILIES)
def test_ranking(family):
    values, names = matrix(family)
    found = geodim.feature_ranking(X, features=family)
    reference = geodim.feature_ranking(values)
    assert found == {names[int(column)]: own for column, own in reference.items()}


@pytest.mark.parametrize("family", FAMILIES.values(), ids=FAMILIES)
def test_selection(family):
    values, names = matrix(family)
    found = geodim.select_features(X, fraction=0.99, features=family)
    reference = geodim.select_features(values, fraction=0.99)
    assert found.columns == reference.columns
    assert found.names == [names[column] for column in found.columns]
    assert (found.curve, found.total, found.d_max) == (reference.curve, reference.total, reference.d_max)
    again = geodim.FeatureSelection.from_dict(found.to_dict())
    assert again.parameters["features"]["family"] == found.parameters["features"]["family"]


def test_landmarks_that_tell_most():
    """The greedy choice among all points reaches more than as many points taken anyhow."""
    best = geodim.select_features(X, 5, features="distances", feature_names=WORDS)
    assert [WORDS.index(name) for name in best.names] == best.columns
    anyhow = geodim.intrinsic_dimension(X, features=Distances(landmarks=5), normalize=False)
    raw = geodim.intrinsic_dimension(
        matrix_of(Distances(landmarks=best.columns).source(X)), normalize=False
    ).discriminability
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DegenerateDataWarning)
        few = geodim.intrinsic_dimension(
            matrix_of(Distances(landmarks=5).source(X)), normalize=False
        ).discriminability
    assert raw >= few
    assert anyhow.discriminability_lower <= few
    assert best.curve[-1] * best.d_max == pytest.approx(raw, rel=1e-12)


@pytest.mark.parametrize("family", [Distances(), Union(["coordinates", "distances"]), FAMILIES["values"]])
def test_what_if(family):
    values, names = matrix(family)
    what_if = geodim.WhatIf(X, features=family)
    whole = geodim.intrinsic_dimension(X, features=family)
    assert (what_if.result.dimension, what_if.result.lower, what_if.result.upper) == (
        whole.dimension, whole.lower, whole.upper,
    )  # fmt: skip
    assert what_if.result.parameters["features"] == whole.parameters["features"]
    gone = what_if.remove(1)
    reference = geodim.intrinsic_dimension(np.delete(values, 1, axis=1))
    assert gone.dimension == reference.dimension
    assert gone.lower <= reference.dimension <= gone.upper
    assert what_if.remove(names[0] if ":" not in names[0] else 0).dimension == (
        geodim.intrinsic_dimension(values[:, 1:]).dimension
    )
    changed = values.copy()
    changed[:, 2] *= 3.0
    assert what_if.rescale(2, 3.0).dimension == geodim.intrinsic_dimension(changed).dimension


@pytest.mark.parametrize(
    ("family", "said"),
    [
        (Distances(landmarks=5), "stand for all points"),
        (Directions(), "stand for all directions"),
        (Union(["coordinates", "distances"], by="diameter"), "what its whole family is divided by"),
        (Union(["coordinates", Union(["distances"], by="diameter")]), "what its whole family is divided by"),
    ],
)
def test_what_cannot_be_asked(family, said):
    with pytest.raises(InputValueError, match=said):
        geodim.WhatIf(X, features=family)


def test_on_the_command_line(tmp_path):
    np.save(tmp_path / "x.npy", X)
    line = ["select", tmp_path / "x.npy", "-m", 3]
    found = called(*line, "--family", "distances", "--metric", "manhattan").json
    reference = geodim.select_features(X, 3, features="distances", metric="manhattan")
    assert (found["names"], found["curve"]) == (reference.names, reference.curve)
    union = called(*line, "--family", "coordinates,distances", "--by", "diameter").json
    assert union["parameters"]["features"]["by"] == "diameter"
    assert called(*line, "--family", "rows").code == 2
    lines = tmp_path / "lines.txt"
    lines.write_text("a b c\na b\nc d\nd\na c\n", encoding="utf-8")
    texts = called("select", lines, "-m", 2, "--family", "distances", "--metric", "jaccard").json
    both = geodim.select_features(
        ["a b c", "a b", "c d", "d", "a c"], 2, features="distances", metric="jaccard"
    )
    assert texts["columns"] == both.columns
    assert called("select", lines, "--family", "terms", "--columns", "1").code == 2
    assert called(*line, "--metric", "cosine").code == 2
