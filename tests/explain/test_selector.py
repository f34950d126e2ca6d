"""The scikit-learn transformer: its conventions, pipelines, and the same choice as the function."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import geodim
from geodim import DiscriminabilitySelector
from geodim.errors import InputValueError

if TYPE_CHECKING:
    from collections.abc import Callable

X = np.random.default_rng(11).normal(size=(120, 6))


# A single point is one of the checks.
@pytest.mark.filterwarnings("ignore::geodim.errors.DegenerateDataWarning")
@parametrize_with_checks(
    [
        DiscriminabilitySelector(),
        DiscriminabilitySelector(1, n_threads=1),
        DiscriminabilitySelector(method="resilience"),
    ]
)
def test_scikit_learn_conventions(estimator: Any, check: Callable[[Any], None]) -> None:
    check(estimator)


def test_same_as_the_function() -> None:
    model = DiscriminabilitySelector(3).fit(X)
    selection = geodim.select_features(X, 3)
    assert model.selection_.columns == selection.columns
    assert model.get_support(indices=True).tolist() == sorted(selection.columns)
    assert [model.ranking_[f] for f in selection.columns] == [1, 2, 3]
    assert sorted(model.ranking_.tolist()) == [1, 2, 3, 4, 4, 4]
    np.testing.assert_array_equal(model.transform(X), X[:, sorted(selection.columns)])
    back = model.inverse_transform(model.transform(X))
    np.testing.assert_array_equal(back[:, ~model.support_], 0.0)


def test_options_are_passed_on() -> None:
    most = DiscriminabilitySelector(fraction=0.9999).fit(X).selection_
    assert most.columns == geodim.select_features(X, fraction=0.9999).columns
    assert DiscriminabilitySelector(2, memory=1, n_threads=1).fit(X).selection_.parameters["memory"] == 1
    with pytest.raises(InputValueError, match="number of features, must be at most"):
        DiscriminabilitySelector(7).fit(X)
    with pytest.raises(NotFittedError):
        DiscriminabilitySelector().transform(X)
    assert clone(DiscriminabilitySelector(2, fraction=None)).n_features_to_select == 2


def test_weights_repeat_points() -> None:
    weights = np.random.default_rng(0).integers(0, 3, 120)
    weighted = DiscriminabilitySelector(3).fit(X, sample_weight=weights)
    repeated = DiscriminabilitySelector(3).fit(np.repeat(X, weights, axis=0))
    assert weighted.selection_.curve == repeated.selection_.curve


def test_frames_keep_names() -> None:
    frame = pd.DataFrame(X, columns=list("abcdef"))
    model = DiscriminabilitySelector(2).set_output(transform="pandas").fit(frame)
    assert model.transform(frame).columns.tolist() == sorted(model.selection_.names)
    assert model.get_feature_names_out().tolist() == sorted(model.selection_.names)


def test_sparse_stays_sparse() -> None:
    matrix = sp.random_array((100, 20), density=0.3, rng=np.random.default_rng(1), format="csr")
    chosen = DiscriminabilitySelector(4).fit_transform(matrix)
    assert sp.issparse(chosen)
    assert chosen.shape == (100, 4)


def test_in_a_pipeline_and_a_search() -> None:
    data, labels = load_iris(return_X_y=True)
    pipeline = make_pipeline(DiscriminabilitySelector(), StandardScaler(), LogisticRegression())
    search = GridSearchCV(
        pipeline, {"discriminabilityselector__n_features_to_select": [1, 2, 3]}, cv=3, error_score="raise"
    ).fit(data, labels)
    assert search.best_score_ > 0.8


@pytest.mark.parametrize("method", ["resilience", "uniform"])
def test_other_methods(method):
    data = np.random.default_rng(4).normal(size=(100, 20)) * np.linspace(1, 2, 20)
    weights = np.random.default_rng(5).integers(0, 3, 100)
    model = DiscriminabilitySelector(method=method, drop_correlated=0.1).fit(data, sample_weight=weights)
    top = geodim.top_features(data, weighting=method, drop_correlated=0.1, weights=weights)
    assert model.selection_.columns == top.columns
    assert np.flatnonzero(model.support_).tolist() == sorted(top.columns)
    assert model.ranking_[top.columns].tolist() == [1, 2]
    assert model.transform(data).shape == (100, 2)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"method": "best"}, "method must be one of greedy, resilience, uniform"),
        ({"drop_correlated": 0.1}, "greedy choice passes over"),
        ({"method": "resilience", "fraction": 0.9}, "give n_features_to_select"),
        ({"method": "uniform", "drop_correlated": 2.0}, "below 1"),
    ],
)
def test_options_that_do_not_belong_together(options, words):
    with pytest.raises(InputValueError, match=words):
        DiscriminabilitySelector(**options).fit(X)
