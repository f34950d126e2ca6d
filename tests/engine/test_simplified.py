"""Columns that are made simpler before they are solved: the same bits, and far less work."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

from engine.oracle import assert_same_bits, padded, phi as brute_force, solve
from geodim import paper
from geodim.data.sources import as_source
from geodim.engine.kernels.tiles import PADDING
from geodim.engine.simplified import Twins, begin_at_zero, leave_out_outliers
from geodim.engine.solve import compute_profile

floats = st.floats(-1e300, 1e300, allow_nan=False)


@given(st.lists(st.integers(-12, 12), min_size=2, max_size=12), st.booleans())
def test_values_far_away_are_left_out_and_nothing_changes(exponents, both):
    """Powers of two, so that many lie as far from the others as these spread."""
    signs = np.where(np.arange(len(exponents)) % 2, -1.0, 1.0) if both else 1.0
    l = np.sort(signs * np.ldexp(1.0, np.array(exponents)))
    n = l.size
    phi = np.full(n, np.nan)
    first, others = leave_out_outliers(l, n, phi)
    assert 0 <= first <= first + others <= n
    exact = brute_force(padded(l), n)
    assert_same_bits(phi[others:], exact[others:])
    rest = brute_force(padded(l[first : first + others]), others)
    assert_same_bits(rest[1:], exact[1:others])


@given(st.lists(floats, min_size=1, max_size=40))
def test_columns_that_begin_at_zero_have_the_same_widths(values):
    l = np.sort(np.array(values))
    moved = l.copy()
    assert_same_bits(moved, l)
    if begin_at_zero(moved, moved.size):
        assert moved[0] == 0.0
        for d in range(1, l.size):
            assert_same_bits(moved[d:] - moved[:-d], l[d:] - l[:-d])
    else:
        assert_same_bits(moved, l)


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_which_columns_begin_at_zero(sign):
    for least, greatest, moves in ((1.0, 2.0, True), (1.0, np.nextafter(2.0, 3.0), False), (0.0, 1.0, False)):
        assert begin_at_zero(np.sort(sign * np.array([least, 1.0, greatest])), 3) is moves
    assert not begin_at_zero(np.array([-1.0, 1.0]), 2)


@pytest.mark.parametrize("n", [70, 2000])
@pytest.mark.parametrize("far", [[1e300], [-1e300], [-1e300, 1e290], [1e20, 3e20, 9e20], [-4e9, 1e9, 1e20]])
def test_far_values_beside_others(n, far):
    rng = np.random.default_rng(n)
    values = rng.permutation(np.append(rng.normal(size=n), far))
    X = np.stack([values, rng.permutation(np.append(rng.normal(size=n) * 5.0, far))], axis=1)
    for data in (X[:, :1], X, 1e9 + 1e-3 * rng.normal(size=(n, 2))):
        assert_same_bits(solve(data, normalize=False).phi_lower, paper.phi_all(data))


def test_far_values_cost_nothing():
    """A single huge value used to make all windows of the others look alike."""
    n = 20_000
    rng = np.random.default_rng(1)
    values = rng.normal(size=n)
    usual = solve(values[:, np.newaxis]).evaluations
    values[n // 2] = 1e300
    assert solve(values[:, np.newaxis]).evaluations < 1.1 * usual
    assert solve(1e9 + 1e-3 * rng.normal(size=(n, 1))).evaluations < 1.1 * usual


@pytest.mark.parametrize("n_threads", [1, 2])
def test_equal_columns_are_solved_once(n_threads):
    n = 20_000
    rng = np.random.default_rng(2)
    line = np.arange(1, n + 1) / n
    alone = solve(line[:, np.newaxis], n_threads=1)
    others = np.stack([rng.permutation(line) for _ in range(6)] + [rng.random(n) * 1.001], axis=1)
    for order in (np.arange(7), np.arange(7)[::-1], rng.permutation(7)):
        found = compute_profile(as_source(others[:, order]), n_threads=n_threads)
        both = compute_profile(as_source(others[:, 5:]), n_threads=1)  # one of the equal ones, and the other
        assert_same_bits(found.phi, both.phi)
        lowest = int(np.flatnonzero(order < 6)[0])  # ties belong to the lowest
        assert set(found.owner[1:].tolist()) == {lowest, int(np.flatnonzero(order == 6)[0])}
    if n_threads == 1:
        same = solve(others[:, :6], n_threads=1)
        assert same.evaluations < 3 * alone.evaluations
        assert_same_bits(same.phi_lower, alone.phi_lower)
        removal = solve(others[:, :6], n_threads=1, removal=True)  # here all of them count
        assert removal.lower == same.lower


def test_twins_are_equal_columns_of_lower_number():
    l = np.concatenate([np.arange(5.0), np.full(PADDING, np.inf)])
    digest = Twins.digest(l, 5, 0)
    assert digest == Twins.digest(l.copy(), 5, 0)
    assert len({digest, Twins.digest(l, 4, 0), Twins.digest(l, 5, 1), Twins.digest(l + 1.0, 5, 0)}) == 4
    twins = Twins()
    assert not twins.has_lower(digest, 7)
    twins.add(digest, 5)
    assert twins.has_lower(digest, 7)
    assert not twins.has_lower(digest, 5)
    twins.add(digest, 2)
    twins.add(digest, 6)
    assert twins.has_lower(digest, 3)
