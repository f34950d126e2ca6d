"""Bounds enclose, for every support sequence and every tolerance.

Those of a finer tolerance lie inside those of a coarser one.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, strategies as st

from distributions import COLUMNS, column, random_matrix
from engine.oracle import assert_encloses, solve
from geodim import paper

EPS = np.finfo(np.float64).eps
RTOLS = [1e-12, 1e-9, 1e-6, 1e-4, 1e-3, 1e-2, 0.1, 0.5, 1.0, 10.0, 1e6]

seeds = st.integers(0, 2**32 - 1)
sizes = st.integers(2, 300) | st.sampled_from([700, 1023, 1024, 1500])
rtols = st.sampled_from(RTOLS) | st.floats(1e-13, 3.0)


def assert_certified(result, exact, rtol):
    """Valid bounds that are as close as asked for."""
    assert_encloses(result, exact)
    assert result.stopped is None
    assert result.error <= rtol
    assert result.upper <= result.lower * (1.0 + rtol) * (1 + 4 * EPS)


# ---------------------------------------------------------------- tolerances


@given(seeds, sizes, st.integers(1, 8), rtols, st.booleans())
def test_every_tolerance(seed, n, d, rtol, normalize):
    X = random_matrix(np.random.default_rng(seed), n, d)
    exact = solve(X, normalize=normalize)
    assert_certified(solve(X, normalize=normalize, rtol=rtol), exact, rtol)


@pytest.mark.turns(5)
@pytest.mark.parametrize("name", COLUMNS)
def test_every_kind_of_column(name, picked):
    for n in (2, 65, 1500):
        X = column(name, n)[:, np.newaxis]
        exact = solve(X)
        for rtol in picked((1e-9, 1e-4, 0.03, 0.5), 2):
            assert_certified(solve(X, rtol=rtol), exact, rtol)


@pytest.mark.parametrize("rtol", [1e-3, 0.05])
@pytest.mark.parametrize("name", ["normal", "exponential", "grid_jitter_third", "two_clusters", "duplicates"])
def test_long_columns(name, rtol):
    X = np.stack([column(name, 50_000), column("uniform", 50_000)], axis=1)
    exact = solve(X, normalize=False)
    result = solve(X, normalize=False, rtol=rtol)
    assert_certified(result, exact, rtol)


@pytest.mark.turns(4)
@pytest.mark.parametrize("rtol", [1e-5, 1e-3, 0.1])
@pytest.mark.parametrize("d", [2, 5, 12, 40])
def test_alike_columns(d, rtol):
    """Likely leaders are solved first, in an order that is not theirs."""
    for seed in range(6):
        X = np.random.default_rng(seed).normal(size=(400, d))
        assert_certified(solve(X, rtol=rtol), solve(X), rtol)


def test_a_tolerance_saves_work():
    X = column("normal", 200_000)[:, np.newaxis]
    coarse, exact = solve(X, rtol=0.05), solve(X)
    assert 0.0 < coarse.error <= 0.05
    assert not coarse.exact
    assert coarse.evaluations < exact.evaluations


def test_zero_tolerance_is_exact():
    result = solve(column("normal", 500)[:, np.newaxis], rtol=0.0)
    assert result.exact
    assert result.error == 0.0
    assert result.lower == result.dimension == result.upper


@pytest.mark.parametrize("rtol", [1e-3, 0.1, 5.0])
def test_tolerance_on_degenerate_data(rtol):
    """Delta is 0 and no relative error is ever reached but by being exact."""
    result = solve(np.full((40, 3), 2.5), rtol=rtol)
    assert result.dimension == result.lower == result.upper == math.inf
    assert result.error == 0.0
    assert not result.phi_upper.any()


@pytest.mark.parametrize("rtol", [1e-3, 0.1, 5.0])
def test_tolerance_where_a_sample_of_rows_sees_nothing(rtol):
    """Only a single point in 60,000 differs: a look at some rows finds Delta = 0."""
    X = np.zeros((60_000, 2))
    X[12_345, 1] = 1.0
    assert_certified(solve(X, rtol=rtol), solve(X), rtol)


@pytest.mark.parametrize("rtol", [1e-3, 0.1, 5.0])
def test_tolerance_where_a_sample_of_rows_sees_too_much(rtol):
    """One huge outlier among tiny values: Delta is far below d_max."""
    X = np.random.default_rng(0).normal(size=(40_000, 1)) * 1e-9
    X[777] = 1e9
    assert_certified(solve(X, rtol=rtol), solve(X), rtol)


# ---------------------------------------------------------------- support sequences


@st.composite
def support_sequences(draw, n):
    inside = draw(st.sets(st.integers(2, n), max_size=20))
    return sorted({2, n, *inside})


@given(st.data(), seeds, st.integers(2, 150), st.integers(1, 5), st.booleans())
def test_every_support_sequence(data, seed, n, d, normalize):
    X = random_matrix(np.random.default_rng(seed), n, d)
    support = data.draw(support_sequences(n))
    result = solve(X, normalize=normalize)
    lower, upper = result.support_bounds(support)
    assert lower <= result.dimension <= upper
    # the same from the paper's own functions, on the features divided by d_max
    phi = [paper.phi_k(X, k) for k in support]
    bounds = paper.support_bounds(phi, support, n, result.scale)
    assert upper == paper.intrinsic_dimension(bounds.delta_lower)
    assert lower == paper.intrinsic_dimension(bounds.delta_upper)


@given(st.data(), seeds, st.integers(3, 150))
def test_a_longer_support_never_widens_the_bounds(data, seed, n):
    X = random_matrix(np.random.default_rng(seed), n, 3)
    support = data.draw(support_sequences(n))
    more = sorted({*support, data.draw(st.integers(2, n)), data.draw(st.integers(2, n))})
    result = solve(X)
    lower, upper = result.support_bounds(support)
    finer_lower, finer_upper = result.support_bounds(more)
    assert lower <= finer_lower
    assert finer_upper <= upper


@given(seeds, st.integers(2, 200), st.integers(1, 4))
def test_the_full_support_is_exact(seed, n, d):
    X = random_matrix(np.random.default_rng(seed), n, d)
    result = solve(X)
    lower, upper = result.support_bounds(range(2, n + 1))
    assert lower == upper == result.dimension


@given(seeds, st.integers(2, 120), st.integers(1, 4), st.sampled_from([1, 2, 5, 30]))
def test_algorithm_2_of_the_paper(seed, n, d, length):
    X = random_matrix(np.random.default_rng(seed), n, d)
    support = paper.log_scale_support(n, length=length)
    reference = paper.algorithm_2(X, support, exact=True)
    result = solve(X, normalize=False)
    assert result.discriminability == reference.delta
    assert result.dimension == reference.id
    assert result.support_bounds(support) == (reference.id_lower, reference.id_upper)
