"""Directions: exact for those taken, and bounds that hold all of them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from families.cases import POINTS, assert_exact, matrix_of, points
from geodim import paper
from geodim.engine.driver import Driver
from geodim.errors import InputTypeError, InputValueError, NonFiniteError
from geodim.families import Directions
from geodim.families.bounds import family_bounds
from geodim.families.solve import family_profile
from geodim.families.spread import chain_bound, largest_squares, spread_bound


@pytest.mark.turns(3)
@pytest.mark.parametrize("name", POINTS)
def test_definition(name):
    source = Directions(random=70).source(points(name, 280))
    assert_exact(family_profile(source, n_threads=2), matrix_of(source))


def test_values_are_products_to_what_is_stated():
    X = points("normal", 50)
    source = Directions().source(X)
    true = np.asarray(X - X.mean(axis=0), np.longdouble) @ np.asarray(source.vectors.T, np.longdouble)
    assert np.abs(matrix_of(source) - true).max() <= source.error(0.0)
    np.testing.assert_allclose(np.linalg.norm(source.vectors, axis=1), 1.0, rtol=1e-15)
    assert source.names[:2] == ["axis 0", "axis 1"]
    assert source.names[-1].startswith("ascent")


def test_ascent_reaches_more_than_it_began_with():
    rng = np.random.default_rng(5)
    u = rng.standard_normal(30)
    u /= np.linalg.norm(u)
    # Two clumps along u, which no random direction is near.
    X = 0.1 * rng.standard_normal((400, 30)) + np.outer(rng.choice([-1.0, 1.0], 400), u)
    begun = family_profile(Directions(axes=0, random=16, ascend=False).source(X)).profile.phi.sum()
    reached = family_profile(Directions(axes=0, random=16).source(X)).profile.phi.sum()
    assert reached > 2.0 * begun


def on_circle(m):
    angles = np.pi * np.arange(m) / m
    return np.column_stack([np.cos(angles), np.sin(angles)])


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 40), st.sampled_from(["normal", "cauchy", "lattice", "clump"]))
def test_the_bounds_hold_every_direction(seed, n, kind):
    """In the plane, by a fine grid of directions."""
    rng = np.random.default_rng(seed)
    X = {
        "normal": lambda: rng.standard_normal((n, 2)),
        "cauchy": lambda: rng.standard_cauchy((n, 2)),
        "lattice": lambda: rng.integers(0, 3, (n, 2)).astype(float),
        "clump": lambda: np.repeat(rng.standard_normal((3, 2)), n, axis=0)[rng.permutation(3 * n)[:n]],
    }[kind]()
    source = Directions(random=4).source(X)
    bounds = family_bounds(source, family_profile(source).part, normalize=False)
    every = paper.phi_all(X @ on_circle(400).T)
    above = np.minimum(spread_bound(source.panels), bounds.d_max_upper)
    assert np.all(every <= above * (1.0 + 1e-12) + 1e-300)
    assert every.sum() / n <= bounds.discriminability_upper * (1.0 + 1e-12)
    assert bounds.discriminability_lower <= bounds.discriminability_upper
    diameter = max(float(np.hypot(*(a - b))) for a in X for b in X)
    assert bounds.d_max_lower <= diameter <= bounds.d_max_upper


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 60), st.integers(0, 2))
def test_chains(seed, n, power):
    """No values of a sum of squares have all windows wider than the bound; evenly spaced ones tie."""
    rng = np.random.default_rng(seed)
    values = np.sort(rng.standard_normal(n) ** (2 * power + 1))
    squares = float(np.square(values - values.mean()).sum())
    k = np.arange(2, n + 1)
    assert np.all(paper.phi_all(values[:, np.newaxis]) <= chain_bound(n, k, squares))
    even = np.arange(n, dtype=float)
    tied = chain_bound(n, np.array([2]), float(np.square(even - even.mean()).sum()))
    assert tied[0] == pytest.approx(1.0, rel=1e-12)


def test_the_bound_is_below_that_of_chebyshev():
    X = points("normal", 500)
    source = Directions().source(X)
    k = np.arange(2, 501)
    most = np.linalg.eigvalsh(np.cov(X.T, bias=True))[-1]
    chebyshev = 2.0 * np.sqrt(500 * most / (500 - k + 1))
    assert np.all(spread_bound(source.panels) < 0.7072 * chebyshev)


def test_largest_squares():
    rng = np.random.default_rng(0)
    for X in (rng.standard_normal((30, 5)), np.ones((4, 3)), np.zeros((3, 2)), 1e-160 * rng.random((5, 2))):
        most = largest_squares(X)
        u = rng.standard_normal((X.shape[1], 200))
        u /= np.linalg.norm(u, axis=0)
        assert np.all(np.square(X @ u).sum(axis=0) <= most)
        true = np.linalg.svd(X, compute_uv=False)[0] ** 2
        assert true <= most <= true * (1.0 + 1e-9) + 1e-300


def test_rotations_and_shifts_change_nothing_beyond_rounding():
    X = points("outlier", 300)
    Q = np.linalg.qr(np.random.default_rng(1).standard_normal((4, 4)))[0]
    one, other = (Directions(random=0).source(Y) for Y in (X, X @ Q + 5.0))
    a, b = (family_bounds(s, family_profile(s).part) for s in (one, other))
    assert a.lower == pytest.approx(b.lower, rel=1e-6)
    assert a.d_max_upper == pytest.approx(b.d_max_upper, rel=1e-9)


@pytest.mark.parametrize(
    ("options", "error", "said"),
    [
        ({"axes": 9}, InputValueError, "axes must be at most 7"),
        ({"random": -1}, InputValueError, "random must be at least 0"),
        ({"random": 2.5}, InputTypeError, "whole number"),
    ],
)
def test_bad_options(options, error, said):
    with pytest.raises(error, match=said):
        Directions(**options).source(points("normal", 20))


def test_points_must_be_finite():
    with pytest.raises(NonFiniteError, match="row 1"):
        Directions().source(np.array([[1.0, 2.0], [np.inf, 0.0]]))


def test_no_time_gives_bounds_that_hold():
    source = Directions().source(points("normal", 300))
    exact, stopped = family_profile(source), family_profile(source, driver=Driver(0.0))
    _, lower, upper = stopped.profile.bounds(stopped.ranges)
    assert stopped.profile.stopped == "time limit"
    assert np.all(lower <= exact.profile.phi[1:])
    assert np.all(exact.profile.phi[1:] <= upper)


def test_given_directions_are_taken_besides():
    X = np.random.default_rng(0).normal(size=(60, 3))
    u = np.array([[3.0, 0.0, 4.0]])
    source = Directions(axes=1, random=2, ascend=False, given=u).source(X)
    assert source.names == ["axis 0", "random 0", "random 1", "given 0"]
    block = np.empty((1, 60))
    source.read([3], block)
    assert np.allclose(block[0], (X - X.mean(axis=0)) @ u[0] / 5.0)
    alone = Directions(axes=0, random=0, ascend=False, given=1e200 * u).source(X)
    assert alone.names == ["given 0"]


@pytest.mark.parametrize(
    ("given", "message"),
    [([[1.0, 0.0]], "rows of 3"), ([[0.0, 0.0, 0.0]], "0 or not"), ([[np.inf, 0, 0]], "0 or not")],
)
def test_given_directions_that_are_none(given, message):
    with pytest.raises(InputValueError, match=message):
        Directions(given=given).source(np.eye(3))
