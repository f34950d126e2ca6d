"""The best features by their scores, and features dropped by correlation, against the rule written out."""

from __future__ import annotations

import json

import numpy as np
import pytest

import geodim
from geodim.data.sources import as_source
from geodim.errors import (
    DataFileError,
    DegenerateDataWarning,
    InputTypeError,
    InputValueError,
    NonFiniteError,
)
from geodim.explain import correlated
from geodim.explain.correlated import absolute_correlations, drop_most_correlated

sparse = pytest.importorskip("scipy.sparse")


def table(n=200, d=30, seed=0):
    """Columns in groups that are more or less alike."""
    rng = np.random.default_rng(seed)
    groups = rng.normal(size=(n, d // 3))
    X = groups[:, rng.integers(0, d // 3, d)] + rng.normal(size=(n, d)) * rng.random(d)
    return X * np.exp(rng.normal(size=d))


def by_the_rule(X, count, scores):
    """The rule, with numpy's correlations of whatever is left."""
    left = list(range(X.shape[1]))
    gone = []
    for _ in range(count):
        r = np.abs(np.corrcoef(X[:, left], rowvar=False)).round(9)
        np.fill_diagonal(r, -1.0)
        i, j = np.unravel_index(np.argmax(r), r.shape)
        a, b = sorted((left[i], left[j]))
        gone.append(a if scores[a] < scores[b] else b)
        left.remove(gone[-1])
    return gone


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("weighting", ["resilience", "uniform"])
def test_the_rule(seed, weighting):
    X = table(seed=seed)
    ranking = geodim.feature_ranking(X, weighting=weighting)
    scores = [ranking[str(column)] for column in range(30)]
    top = geodim.top_features(X, 5, weighting=weighting, drop_correlated=0.2)
    assert top.dropped_columns == by_the_rule(X, 6, scores)
    assert top.names == [name for name in ranking if int(name) not in top.dropped_columns][:5]
    assert top.scores == [ranking[name] for name in top.names]
    assert top.dimensions == pytest.approx([1.0 / score**2 for score in top.scores], rel=1e-15)
    plain = geodim.top_features(X, 5, weighting=weighting)
    assert plain.names == list(ranking)[:5]
    assert (plain.dropped, plain.partners, plain.correlations) == ([], [], [])
    for column, partner, r in zip(top.dropped_columns, top.partners, top.correlations, strict=True):
        assert r == pytest.approx(abs(np.corrcoef(X[:, column], X[:, partner])[0, 1]), abs=1e-9)


def test_a_tenth():
    assert len(geodim.top_features(table(d=30)).names) == 3
    assert len(geodim.top_features(table(d=6)).names) == 1
    top = geodim.top_features(table(d=30), drop_correlated=0.1)
    assert (len(top.names), len(top.dropped)) == (3, 3)
    assert len(geodim.top_features(table(d=33), drop_correlated=0.1).dropped) == 4  # 29 of 33 stay


def test_copies_and_constants():
    """Copies correlate by 1 to the last decimal, constants not at all."""
    x = np.random.default_rng(0).normal(size=100)
    X = np.stack([np.full(100, 0.1), x, 3 * x, -x, np.ones(100), x**2], axis=1)
    r = absolute_correlations(as_source(X))
    assert r[1, 2] == r[1, 3] == r[2, 3] == 1.0
    assert r[0, 4] == r[0, 1] == 0.0
    assert np.all(np.diag(r) == -1.0)
    top = geodim.top_features(X, 2, drop_correlated=1 / 3)
    assert top.dropped_columns == [1, 3]  # column 2 has the larger score; then 2 and 3 are alike
    assert top.partners == [2, 2]
    assert top.correlations == [1.0, 1.0]
    with pytest.warns(DegenerateDataWarning, match="no feature tells any two points apart"):
        flat = geodim.top_features(np.ones((4, 3)), 1, drop_correlated=0.5)
    assert (flat.columns, flat.scores) == ([0], [0.0])


def test_equal_scores_keep_the_lower_column():
    x = np.arange(40.0)
    top = geodim.top_features(np.stack([x, -x, x], axis=1), 1, drop_correlated=2 / 3)
    assert (top.columns, top.dropped_columns) == ([0], [1, 2])


def test_extreme_units():
    X = table() * np.logspace(-300, 300, 30)
    np.testing.assert_allclose(
        absolute_correlations(as_source(X)), absolute_correlations(as_source(table())), atol=2e-9
    )


@pytest.mark.parametrize("kind", [np.float32, sparse.csr_array, np.asfortranarray])
def test_every_kind_of_data(kind):
    X = np.round(table()) * (np.random.default_rng(1).random((200, 30)) < 0.5)
    made = kind(X) if kind is not np.float32 else X.astype(np.float32)
    found, known = geodim.top_features(made, drop_correlated=0.1), geodim.top_features(X, drop_correlated=0.1)
    assert (found.columns, found.scores, found.dropped) == (known.columns, known.scores, known.dropped)


def test_in_blocks(monkeypatch):
    whole = absolute_correlations(as_source(table()))
    monkeypatch.setattr(correlated, "HELD", 8 * 200 * 7)
    np.testing.assert_allclose(absolute_correlations(as_source(table())), whole, atol=2e-9)


def test_long_integers():
    near = np.random.default_rng(2).integers(0, 1000, (80, 4))
    near[:, 3] = 2 * near[:, 0] + near[:, 1] % 3
    far = geodim.top_features(near + 2**62, 1, drop_correlated=0.25)
    assert far.dropped_columns == geodim.top_features(near, 1, drop_correlated=0.25).dropped_columns == [0]


def test_weights_repeat_points():
    X = table()
    counts = np.random.default_rng(1).integers(0, 4, len(X))
    weighted = geodim.top_features(X, 4, drop_correlated=0.2, weights=counts)
    repeated = geodim.top_features(np.repeat(X, counts, axis=0), 4, drop_correlated=0.2)
    assert (weighted.columns, weighted.scores) == (repeated.columns, repeated.scores)
    assert weighted.dropped_columns == repeated.dropped_columns
    with pytest.raises(InputTypeError, match="must be integers"):
        geodim.top_features(X, weights=counts + 0.5)


def test_only_so_many_pairs_fit(monkeypatch):
    monkeypatch.setattr("geodim.memory.free_memory", lambda: 1000)
    with pytest.raises(geodim.errors.MachineMemoryError, match=r"correlations between 30 features.*without"):
        absolute_correlations(as_source(table()))


def test_dropping_by_hand():
    r = np.array([[-1.0, 0.9, 0.2, 0.8], [0.9, -1.0, 0.3, 0.1], [0.2, 0.3, -1.0, 0.8], [0.8, 0.1, 0.8, -1.0]])
    gone = drop_most_correlated(r.copy(), 3, np.array([1.0, 2.0, 3.0, 2.5]))
    assert [tuple(one) for one in gone] == [(0, 1, 0.9), (3, 2, 0.8), (1, 2, 0.3)]


def test_distances():
    X = table(n=30, d=3)
    assert len(geodim.top_features(X, 4, features="distances", drop_correlated=0.1).names) == 4


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"weighting": "greedy"}, InputValueError, "weighting must be one of"),
        ({"drop_correlated": 1.0}, InputValueError, "drop_correlated must be at least 0 and below 1"),
        ({"drop_correlated": -0.1}, InputValueError, "drop_correlated"),
        ({"drop_correlated": "some"}, InputTypeError, "drop_correlated must be a number"),
        ({"n_features_to_select": 0}, InputValueError, "must be at least 1"),
        ({"n_features_to_select": 31}, InputValueError, "must be at most 30"),
        ({"n_features_to_select": 28, "drop_correlated": 0.1}, InputValueError, "drop or keep fewer"),
    ],
)
def test_bad_options(options, error, words):
    with pytest.raises(error, match=words):
        geodim.top_features(table(), **options)


def test_bad_data():
    X = table()
    X[3, 4] = np.nan
    with pytest.raises(NonFiniteError):
        geodim.top_features(X)


def test_progress():
    told = []
    geodim.top_features(table(), progress=lambda done, total: told.append((done, total)))
    assert told[-1] == (30, 30)


@pytest.mark.parametrize(
    "change",
    [
        {"columns": [1, 1, 2]},
        {"scores": [1.0, 2.0, 0.5]},
        {"partners": [40]},
        {"dropped": []},
        {"names": ["a"]},
    ],
)
def test_edited_files(change):
    values = geodim.top_features(table(), 3, drop_correlated=1 / 30).to_dict()
    assert geodim.TopFeatures.from_dict(json.loads(json.dumps(values))).to_dict() == values
    with pytest.raises(DataFileError):
        geodim.TopFeatures.from_dict({**values, **change})


def test_shown():
    top = geodim.top_features(table(d=300), drop_correlated=0.1)
    assert repr(top).startswith("TopFeatures(30 of 300 features by resilience: ")
    assert "30 dropped by correlation" in repr(top)
    assert "and 20 more" in top._repr_html_()


def test_names_are_those_of_the_data():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(table(d=6), columns=list("abcdef"))
    top = geodim.top_features(frame, 2, drop_correlated=0.2)
    assert top.names == ["abcdef"[column] for column in top.columns]
    assert top.dropped == ["abcdef"[column] for column in top.dropped_columns]
