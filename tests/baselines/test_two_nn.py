"""TwoNN: against the published steps word by word, the exact law of the ratios, and scikit-dimension."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from baselines.oracles import naive_two_nn
from geodim import errors
from geodim.baselines import two_nn
from geodim.baselines.two_nn import estimate


@settings(max_examples=30)
@given(
    seed=st.integers(0, 10**6),
    n=st.integers(6, 40),
    d=st.sampled_from([1, 3, 20]),
    discard=st.sampled_from([0.0, 0.1, 0.5]),
    method=st.sampled_from(["fit", "ml"]),
    copies=st.integers(0, 2),
)
def test_equals_the_published_steps(seed, n, d, discard, method, copies):
    X = np.random.default_rng(seed).normal(size=(n, d))
    X = np.vstack([X, X[:copies]])
    value, zeros = naive_two_nn(X, discard, method)
    with warnings.catch_warnings():  # beside equal points the ratio is 1: of few ratios all kept ones may be
        warnings.simplefilter("ignore", errors.DegenerateDataWarning)
        found = two_nn(X, method=method, discard=discard)
    assert found.n_zero == zeros == 2 * copies
    assert found.n_used == len(X) - zeros
    assert found.dimension == pytest.approx(value, rel=1e-9)


@pytest.mark.parametrize("d", [0.5, 3.0, 40.0])
def test_exact_quantiles_give_the_exact_slope(d):
    """With log mu_i = -log(1 - i/N) / d all points lie on the line of slope d."""
    logs = -np.log1p(-np.arange(1, 200) / 200) / d
    logs = np.append(logs, 2.0 * logs[-1])
    for discard in (0.0, 0.1, 0.5):
        assert estimate(logs, "fit", discard) == pytest.approx(d, rel=1e-12)


@pytest.mark.parametrize("method", ["fit", "ml"])
@pytest.mark.parametrize("discard", [0.0, 0.1, 0.4])
def test_ratios_drawn_from_the_law(method, discard):
    """mu is Pareto with exponent d: 10,000 ratios give d = 7, give or take 7 / 100.

    The standard deviation of "fit" is somewhat larger.
    """
    logs = np.sort(np.random.default_rng(1).exponential(1 / 7, 10_000))
    assert estimate(logs, method, discard) == pytest.approx(7.0, abs=0.4)


@pytest.mark.parametrize("d", [1, 2])
@pytest.mark.parametrize("method", ["fit", "ml"])
def test_dimension_of_a_torus(d, method):
    """Uniform on a flat torus, embedded by cosines and sines: locally flat, without a boundary."""
    angles = np.random.default_rng(2).uniform(0, 2 * np.pi, size=(4000, d))
    X = np.hstack([np.cos(angles), np.sin(angles)])
    assert two_nn(X, method=method).dimension == pytest.approx(d, rel=0.08)  # 5 standard deviations


@pytest.mark.parametrize("width", [6, 40])
def test_agrees_with_scikit_dimension(width):
    """1e-6 allows for its expanded squares.

    Its first versions began the empirical distribution at 0 instead of 1/N.
    """
    skdim = pytest.importorskip(
        "skdim", minversion="0.5", reason="scikit-dimension >= 0.5 is not installed"
    ).id
    X = np.random.default_rng(3).normal(size=(400, width))
    assert two_nn(X).dimension == pytest.approx(skdim.TwoNN().fit(X).dimension_, rel=1e-6)
    theirs = skdim.TwoNN(discard_fraction=0.3).fit(X).dimension_
    assert two_nn(X, discard=0.3).dimension == pytest.approx(theirs, rel=1e-6)


def test_samples():
    X = np.random.default_rng(4).normal(size=(60, 3))
    found = two_nn(X, n_samples=30, seed=1)
    assert (found.n_used, found.seed) == (30, 1)
    assert found.dimension != two_nn(X).dimension


def test_degenerate_data():
    with pytest.raises(
        errors.InputValueError, match="0 points have a nearest neighbour at a positive distance"
    ):
        two_nn(np.ones((6, 2)))
    with pytest.warns(errors.DegenerateDataWarning, match="equally far"):
        assert two_nn(np.eye(20)).dimension == math.inf


@pytest.mark.parametrize(
    ("options", "kind", "text"),
    [
        ({"method": "guess"}, errors.InputValueError, "method must be one of fit, ml"),
        ({"discard": 1.0}, errors.InputValueError, "discard must be at least 0 and below 1"),
        ({"discard": "some"}, errors.InputTypeError, "discard must be a number"),
        ({"resolution": -1}, errors.InputValueError, "resolution"),
        ({"n_threads": 0}, errors.InputValueError, "n_threads"),
    ],
)
def test_bad_options(options, kind, text):
    with pytest.raises(kind, match=text):
        two_nn(np.random.default_rng(0).normal(size=(9, 2)), **options)


def test_too_few_points():
    with pytest.raises(errors.InputValueError, match="at least 3 points"):
        two_nn([[0.0], [1.0]])
