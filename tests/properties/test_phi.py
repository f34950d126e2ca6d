"""What must hold for Phi on any data.

Theorems of the paper, and facts 1, 4, 6, 9 and 10 of the notes on the algorithm.  Where arithmetic is exact
(integers, powers of two, reordering) equality is asked for; elsewhere the rounding is bounded.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, strategies as st

from distributions import random_matrix
from engine.oracle import assert_same_bits, engine_phi, solve

EPS = np.finfo(np.float64).eps

seeds = st.integers(0, 2**32 - 1)
sizes = st.integers(1, 300) | st.sampled_from([31, 32, 33, 64, 65, 700, 1100])
widths = st.integers(1, 8)


def real_table(seed, n, d):
    return random_matrix(np.random.default_rng(seed), n, d)


def integer_table(seed, n, d):
    """Integers between few and many, so that every sum and difference of them is exact."""
    rng = np.random.default_rng(seed)
    spread = 10 ** rng.integers(0, 7, d)
    return np.rint(rng.normal(size=(n, d)) * spread)


# ---------------------------------------------------------------- in k


@given(seeds, sizes, widths)
def test_phi_never_falls(seed, n, d):
    phi = engine_phi(real_table(seed, n, d))
    assert np.all(phi >= 0.0)
    assert np.all(np.diff(phi) >= 0.0)


@given(seeds, sizes, widths)
def test_the_last_phi_is_the_widest_range(seed, n, d):
    X = real_table(seed, n, d)
    result = solve(X)
    assert result.d_max == np.ptp(X, axis=0).max()
    if n > 1:
        assert result.phi_lower[-1] == result.d_max


@given(seeds, st.integers(2, 200))
def test_superadditive(seed, n):
    """phi_{p+q-1} >= phi_p + phi_q for one feature: a window of p + q - 1 points is one of p and one of q."""
    phi = np.concatenate([[0.0, 0.0], engine_phi(integer_table(seed, n, 1))])  # indexed by k
    for p in range(1, n + 1):
        q = np.arange(1, n + 2 - p)
        assert np.all(phi[p + q - 1] >= phi[p] + phi[q])


# ---------------------------------------------------------------- order and repetition of points and features


@given(seeds, sizes, widths)
def test_the_order_of_points_and_features_does_not_matter(seed, n, d):
    rng = np.random.default_rng(seed)
    X = real_table(seed, n, d)
    phi = engine_phi(X)
    assert_same_bits(engine_phi(X[rng.permutation(n)]), phi, "rows permuted")
    assert_same_bits(engine_phi(X[:, rng.permutation(d)]), phi, "columns permuted")


@given(seeds, sizes, widths)
def test_features_that_tell_nothing_new(seed, n, d):
    rng = np.random.default_rng(seed)
    X = real_table(seed, n, d)
    phi = engine_phi(X)
    nothing_new = [X, rng.permuted(X, axis=0), np.full((n, 2), [3.5, -1e300]), X[:, :1]]
    order = rng.permutation(2 * d + 3)
    assert_same_bits(engine_phi(np.hstack(nothing_new)[:, order]), phi)


@given(seeds, sizes, widths)
def test_more_features_never_raise_the_dimension(seed, n, d):
    """Antitonicity, and more: Phi rises pointwise, and is the maximum over any two parts of the features."""
    X = real_table(seed, n, d + 3)
    parts = solve(X[:, :d], normalize=False), solve(X[:, d:], normalize=False)
    whole = solve(X, normalize=False)
    assert_same_bits(whole.phi_lower, np.maximum(parts[0].phi_lower, parts[1].phi_lower))
    for part in parts:
        assert whole.discriminability >= part.discriminability
        assert whole.dimension <= part.dimension


@given(seeds, st.integers(1, 150), widths, st.integers(2, 5))
def test_repeating_every_point_changes_nothing(seed, n, d, times):
    X = real_table(seed, n, d)
    once, many = solve(X, normalize=False), solve(np.repeat(X, times, axis=0), normalize=False)
    stretched = np.repeat(np.append(0.0, once.phi_lower), times)[1:]
    assert_same_bits(many.phi_lower, stretched)
    assert many.discriminability == once.discriminability


# ---------------------------------------------------------------- scaling and shifting


@given(seeds, sizes, widths, st.integers(-40, 40))
def test_scaling_by_powers_of_two_is_exact(seed, n, d, exponent):
    X = integer_table(seed, n, d)
    plain, scaled = solve(X, normalize=False), solve(np.ldexp(X, exponent), normalize=False)
    assert_same_bits(scaled.phi_lower, np.ldexp(plain.phi_lower, exponent))
    assert scaled.discriminability == np.ldexp(plain.discriminability, exponent)


@given(seeds, sizes, widths, st.floats(1e-6, 1e6))
def test_scaling_by_other_factors_rounds_by_a_few_ulp(seed, n, d, factor):
    """Each scaled value is off by half an ulp, and so is the difference.

    Widths are off by at most two ulp of the largest value.
    """
    X = real_table(seed, n, d)
    largest = float(np.abs(X).max()) * factor
    assume(1e-280 < largest < 1e300)
    np.testing.assert_allclose(
        engine_phi(X * factor), engine_phi(X) * factor, rtol=4 * EPS, atol=2 * EPS * largest
    )


@given(seeds, sizes, widths)
def test_scaling_float32_by_two(seed, n, d):
    X = np.clip(real_table(seed, n, d), -1e30, 1e30).astype(np.float32)
    X[np.abs(X) < 1e-30] = 0.0
    assert_same_bits(engine_phi(X * np.float32(2.0)), engine_phi(X) * 2.0)


@given(seeds, sizes, widths)
def test_translation(seed, n, d):
    rng = np.random.default_rng(seed)
    X = integer_table(seed, n, d)
    shift = rng.integers(-(2**50), 2**50, d).astype(float)
    assert_same_bits(engine_phi(X + shift), engine_phi(X))


@given(seeds, sizes, widths)
def test_sign_flip(seed, n, d):
    rng = np.random.default_rng(seed)
    X = real_table(seed, n, d)
    assert_same_bits(engine_phi(X * rng.choice([-1.0, 1.0], d)), engine_phi(X))


@given(seeds, st.integers(2, 300), widths, st.floats(1e-6, 1e6))
def test_the_normalised_dimension_has_no_unit(seed, n, d, factor):
    X = integer_table(seed, n, d)
    plain = solve(X)
    assume(plain.d_max > 0.0)
    assert solve(np.ldexp(X, 13)).dimension == plain.dimension
    # a width is off by at most two ulp of the largest value, in units of d_max; then
    # the same for d_max itself
    blur = 4 * EPS * np.abs(X).max() / plain.d_max / plain.discriminability
    assert solve(X * factor).dimension == pytest.approx(plain.dimension, rel=4 * blur + 16 * EPS)
    assert solve(X, normalize=False).dimension == pytest.approx(
        plain.dimension / plain.d_max**2, rel=16 * EPS
    )


# ---------------------------------------------------------------- closed forms


@given(seeds, st.integers(1, 400), st.integers(1, 12))
def test_zero_one_columns(seed, n, d):
    """ID = (n / (n - m))^2 with m = min over columns of max(#0, #1)."""
    rng = np.random.default_rng(seed)
    X = rng.random((n, d)) < rng.random(d)
    ones = X.sum(axis=0)
    m = int(np.maximum(ones, n - ones).min())
    for table in (X, X.astype(np.int8), X.astype(np.float32), X * 17.5 - 3.0):
        result = solve(table)
        assert result.discriminability == (n - m) / n
        if m < n:
            assert result.dimension == pytest.approx((n / (n - m)) ** 2, rel=8 * EPS)


@pytest.mark.parametrize("n", [2, 3, 10, 64, 65, 500])
def test_one_hot_identity(n):
    result = solve(np.eye(n))
    assert result.dimension == pytest.approx(n**2, rel=8 * EPS)
    assert result.phi_lower.tolist() == [0.0] * (n - 2) + [1.0]


@given(seeds, st.integers(2, 3000), st.integers(-30, 30))
def test_evenly_spaced_column(seed, n, exponent):
    """phi_k = (k - 1) h, and Delta = (1/n) * sum (k - 1) h = h (n - 1) / 2."""
    rng = np.random.default_rng(seed)
    h = 2.0**exponent
    result = solve(h * (rng.permutation(n) - 17.0)[:, np.newaxis], normalize=False)
    assert_same_bits(result.phi_lower, h * np.arange(1, n))
    assert result.discriminability == pytest.approx(h * (n - 1) / 2, rel=2 * EPS)


def test_an_evenly_spaced_column_has_dimension_four():
    """Evenly spread values: Delta = h (n - 1) / 2 and d_max = h (n - 1), so that ID = 4 for every n."""
    for n in (2, 11, 1000, 200_000):
        assert solve(np.arange(n)[:, np.newaxis]).dimension == pytest.approx(4.0, rel=8 * EPS)


def test_one_large_cluster_and_one_outlier():
    """Only the window of all points reaches the outlier: Delta = d_max / n."""
    X = np.zeros((1000, 1))
    X[123] = 42.0
    result = solve(X, normalize=False)
    assert result.phi_lower.tolist() == [0.0] * 998 + [42.0]
    assert result.discriminability == 42.0 / 1000


def test_worked_example_of_the_paper_oracle():
    """Windows 1, 4, 6 of the first column and 0, 5, 5 of the second: Phi = 1, 5, 6 and Delta = 12 / 4."""
    result = solve([[0, 5], [1, 5], [4, 0], [6, 0]], normalize=False)
    assert result.phi_lower.tolist() == [1.0, 5.0, 6.0]
    assert result.discriminability == 3.0
    assert result.dimension == pytest.approx(1 / 9)
    assert solve([[0, 5], [1, 5], [4, 0], [6, 0]]).dimension == pytest.approx(4.0)
