"""The scikit-learn estimator of k-hop dimensions: its conventions, and the same numbers as the function."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone

import geodim
from geodim.errors import InputTypeError, InputValueError, InterruptedWarning, NonFiniteError, ShapeError
from geodim.khop_estimator import KHopIntrinsicDimension

RNG = np.random.default_rng(41)
X = np.where(RNG.random((100, 5)) < 0.3, RNG.random((100, 5)), 0.0)
EDGES = RNG.integers(0, 100, (2, 250))


def test_same_numbers_as_the_function():
    estimator = KHopIntrinsicDimension(EDGES, hops=3)
    assert estimator.fit(X) is estimator
    result = geodim.khop_dimensions(X, EDGES, hops=3)
    assert estimator.dimensions_.tolist() == result.dimensions
    assert estimator.drops_.tolist() == result.drops
    assert estimator.result_.dimensions == result.dimensions
    assert estimator.n_features_in_ == 5
    assert not hasattr(estimator, "feature_names_in_")


@pytest.mark.parametrize(
    "options",
    [
        {"hops": 1},
        {"operator": "rw"},
        {"operator": "ppr", "operator_parameters": {"alpha": 0.4}},
        {"rtol": 0.1},
        {"normalize": False},
        {"edge_weights": np.linspace(1.0, 2.0, 250)},
        {"n_threads": 1},
        {"memory": 10**8},
    ],
    ids=lambda options: next(iter(options)),
)
def test_every_parameter_reaches_the_function(options):
    fitted = KHopIntrinsicDimension(EDGES, **options).fit(X)
    assert fitted.dimensions_.tolist() == geodim.khop_dimensions(X, EDGES, **options).dimensions


def test_a_matrix_needs_no_graph():
    operator = sp.csr_array(np.eye(100) * 2.0)
    fitted = KHopIntrinsicDimension(operator=operator, hops=1).fit(X)
    assert fitted.dimensions_[1] == pytest.approx(fitted.dimensions_[0] / 4.0)


@pytest.mark.parametrize("form", [sp.csr_array, sp.csc_matrix, np.asfortranarray, np.ndarray.tolist])
def test_forms_of_x(form):
    fitted = KHopIntrinsicDimension(EDGES, hops=2).fit(form(X))
    assert fitted.dimensions_.tolist() == geodim.khop_dimensions(X, EDGES, hops=2).dimensions
    assert fitted.n_features_in_ == 5


def test_a_frame_brings_names():
    frame = pd.DataFrame(X, columns=list("abcde"))
    fitted = KHopIntrinsicDimension(EDGES, hops=1).fit(frame)
    assert fitted.feature_names_in_.tolist() == list("abcde")
    assert set(fitted.result_[0].shares) <= set("abcde")


def test_conventions_of_parameters():
    estimator = KHopIntrinsicDimension(EDGES, hops=2, operator="rw")
    parameters = estimator.get_params()
    assert parameters["graph"] is EDGES  # no logic in __init__
    assert (parameters["hops"], parameters["operator"]) == (2, "rw")
    assert not [name for name in vars(estimator) if name.endswith("_")]
    copy = clone(estimator.fit(X))
    assert not hasattr(copy, "result_")
    assert copy.fit(X).dimensions_.tolist() == estimator.dimensions_.tolist()
    assert estimator.set_params(hops=1).fit(X, np.zeros(100)).dimensions_.shape == (2,)
    assert repr(estimator).startswith("KHopIntrinsicDimension(")
    assert estimator.__sklearn_tags__().input_tags.sparse
    assert KHopIntrinsicDimension().get_params().keys() == parameters.keys()


def test_fit_does_not_change_parameters():
    estimator = KHopIntrinsicDimension(EDGES.copy(), hops=2)
    before = {name: repr(value) for name, value in estimator.get_params().items()}
    estimator.fit(X)
    assert {name: repr(value) for name, value in estimator.get_params().items()} == before
    np.testing.assert_array_equal(estimator.graph, EDGES)


def test_stopped_early():
    with pytest.warns(InterruptedWarning):
        fitted = KHopIntrinsicDimension(EDGES, time_limit=0).fit(X)
    assert fitted.result_[0].stopped == "time limit"


def test_errors():
    with pytest.raises(InputTypeError, match="graph"):
        KHopIntrinsicDimension().fit(X)
    with pytest.raises(InputValueError, match="hops"):
        KHopIntrinsicDimension(EDGES, hops=-1).fit(X)
    with pytest.raises(ShapeError):
        KHopIntrinsicDimension(sp.csr_array((7, 7))).fit(X)
    with pytest.raises(ValueError, match="2D array"):
        KHopIntrinsicDimension(EDGES).fit(X[:, 0])
    bad = X.copy()
    bad[3, 1] = np.inf
    with pytest.raises(NonFiniteError, match="row 3, column 1"):
        KHopIntrinsicDimension(EDGES).fit(bad)


def test_the_type_of_the_features():
    single, double = (
        KHopIntrinsicDimension(EDGES, hops=1, dtype=kind).fit(X).result_ for kind in ("float32", "float64")
    )
    assert [one[1].parameters["dtype"] for one in (single, double)] == ["float32", "float64"]
    assert double[1].error < 1e-6 * single[1].error
