"""Points of any mass against the definition in fractions, and what must not change anything."""

from __future__ import annotations

from unittest.mock import patch

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings, strategies as st

from distributions import random_matrix
from engine.oracle import assert_same_bits, solve
from geodim.data import measures
from masses import KINDS, Truth, check, some_weights

seeds = st.integers(0, 2**32 - 1)
kinds = st.sampled_from(KINDS)
SAME = ("d_max", "dimension", "lower", "upper", "discriminability", "exact")


def assert_same_result(one, other):
    """Every number but the mass and the sizes."""
    for name in SAME:
        assert getattr(one, name) == getattr(other, name), name
    assert_same_bits(one.phi_lower, other.phi_lower)
    assert_same_bits(one.phi_upper, other.phi_upper)
    assert one.shares == other.shares


def ties(rng, n, d):
    """Values many of which are equal, some in all columns."""
    return rng.integers(0, rng.integers(2, 9), (n, d)) * 0.1


@given(seeds, kinds, st.integers(1, 24), st.integers(1, 4), st.booleans(), st.booleans())
def test_the_definition(seed, kind, n, d, tied, normalize):
    rng = np.random.default_rng(seed)
    X = ties(rng, n, d) if tied else random_matrix(rng, n, d)
    check(X, some_weights(rng, n, kind), normalize=normalize)


@given(seeds, kinds, st.integers(1, 24), st.sampled_from([0.02, 0.1, 0.5]))
@settings(max_examples=60)
def test_bounds_hold_the_definition(seed, kind, n, rtol):
    """So few points are not worth counting, but can be."""
    rng = np.random.default_rng(seed)
    X = random_matrix(rng, n, 2)
    with patch("geodim.engine.ways.worth_counting", lambda steps, _: steps <= 4096):
        result = check(X, some_weights(rng, n, kind), rtol=rtol)
    assert result.error <= rtol or result.d_max == 0.0 or kind == "extreme"


@given(seeds, st.integers(2, 60), st.integers(1, 4), st.sampled_from([0.0, 0.05]))
@settings(max_examples=40)
def test_whole_weights_are_repetitions_also_as_masses(seed, n, d, rtol):
    """Whatever way they are measured."""
    rng = np.random.default_rng(seed)
    X, weights = random_matrix(rng, n, d), rng.integers(0, 40, n)
    weights[0] = 3
    reference = solve(np.repeat(X, weights, axis=0), rtol=rtol)
    with patch.multiple(measures, TIMES=0, FEW_POINTS=0):
        result = solve(X, weights=weights, rtol=rtol)
    assert result.n_points == reference.n_points
    if result.exact == reference.exact:
        assert_same_result(result, reference)
        assert np.array_equal(result.support, reference.support)
    assert reference.lower <= result.dimension <= reference.upper
    if rtol == 0.0:
        assert np.array_equal(result.attained_from, reference.attained_from)
        assert np.array_equal(result.attained_by, reference.attained_by)


@given(seeds, kinds, st.integers(2, 40), st.integers(-300, 300))
@settings(max_examples=40)
def test_a_power_of_two_changes_no_bit(seed, kind, n, power):
    rng = np.random.default_rng(seed)
    X, weights = random_matrix(rng, n, 3), np.asarray(some_weights(rng, n, kind), np.float64)
    weights[0] = 0.3 * weights.max()
    scaled = np.ldexp(weights, power)
    if not np.array_equal(np.ldexp(scaled, -power), weights) or scaled.sum() > 1e300:
        return
    one, other = solve(X, weights=weights), solve(X, weights=scaled)
    assert one.discriminability == other.discriminability
    if one.measured and other.measured:
        assert_same_result(one, other)
        assert_same_bits(np.ldexp(one.support, power), other.support)


@given(seeds, st.integers(1, 20))
def test_equal_points_may_be_one_point_of_their_mass(seed, n):
    """Their masses are added here, which rounds; in quarters it does not."""
    rng = np.random.default_rng(seed)
    X, weights = ties(rng, n, 2), rng.integers(1, 9, n) / 4
    distinct, where = np.unique(X, axis=0, return_inverse=True)
    together = np.bincount(where.ravel(), weights=weights)
    one, other = solve(X, weights=weights), solve(distinct, weights=together)
    assert one.discriminability == other.discriminability
    if one.measured and other.measured:  # together they may be whole
        assert_same_result(one, other)
    weights = rng.random(n) + 0.01
    together = np.bincount(where.ravel(), weights=weights)
    one, other = solve(X, weights=weights), solve(distinct, weights=together)
    assert one.discriminability == pytest.approx(other.discriminability, rel=1e-13, abs=1e-13 * one.d_max)


@given(seeds, kinds, st.integers(2, 30))
@settings(max_examples=40)
def test_order_of_points_and_columns_and_threads(seed, kind, n):
    rng = np.random.default_rng(seed)
    X, weights = random_matrix(rng, n, 5), some_weights(rng, n, kind)
    rows, columns = rng.permutation(n), rng.permutation(5)
    one = solve(X, weights=weights, n_threads=1)
    other = solve(X[np.ix_(rows, columns)], weights=weights[rows], n_threads=3)
    assert one.discriminability == other.discriminability
    assert_same_bits(one.phi_lower, other.phi_lower)
    assert one.shares == solve(X, weights=weights, n_threads=3).shares


@given(seeds, kinds, st.integers(1, 25))
@settings(max_examples=40)
def test_sparse_data(seed, kind, n):
    rng = np.random.default_rng(seed)
    X = np.where(rng.random((n, 3)) < 0.3, rng.normal(size=(n, 3)), 0.0)
    weights = some_weights(rng, n, kind)
    Truth(X, weights).check_exact(solve(sp.csr_array(X), weights=weights))


@given(seeds, st.integers(300, 1500), st.sampled_from([0.3, 0.05, 0.01]))
@settings(max_examples=20)
def test_a_tolerance_is_kept(seed, n, rtol):
    rng = np.random.default_rng(seed)
    X, weights = random_matrix(rng, n, 3), rng.gamma(0.5, size=n) + 1e-12
    exact, bounded = solve(X, weights=weights), solve(X, weights=weights, rtol=rtol)
    assert exact.exact
    assert bounded.lower <= exact.dimension <= bounded.upper
    assert bounded.error <= rtol or exact.d_max == 0.0
    assert np.all(np.diff(bounded.phi_lower) >= 0.0)
    assert np.all(bounded.phi_lower <= bounded.phi_upper)
