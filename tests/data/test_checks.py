"""The first pass: ranges, and bounds on sums of squares that hold whatever rounds, vanishes or overflows."""

from __future__ import annotations

import warnings
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, strategies as st
from hypothesis.extra import numpy as hnp

import geodim
from distributions import COLUMNS, column
from engine.oracle import bounds_of, solve
from geodim.data.checks import scan_ranges
from geodim.data.sources import as_source
from geodim.engine.kernels.reading import moments
from geodim.errors import InterruptedWarning

TYPES = [np.float16, np.float32, np.float64, np.int8, np.int32, np.uint16, np.int64, np.bool_]


def true_energies(X: np.ndarray) -> list[Fraction]:
    return [sum((Fraction(value) ** 2 for value in values.tolist()), Fraction(0)) for values in X.T]


def assert_energies_are_bounds(X: np.ndarray) -> None:
    ranges = scan_ranges(as_source(X))
    for energy, true in zip(ranges.energies.tolist(), true_energies(X), strict=True):
        assert energy == np.inf or Fraction(energy) >= true
        if X.dtype in (np.float32, np.float64) and 1e-200 < true < 1e200:
            assert Fraction(energy) <= true * (1 + Fraction(1, 10**12))  # and close ones


@pytest.mark.turns(5)
@pytest.mark.parametrize("kind", COLUMNS)
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_energies_of_every_kind_of_column(kind, dtype):
    with np.errstate(over="ignore"):
        X = column(kind, 300).astype(dtype)[:, np.newaxis]
    if np.all(np.isfinite(X)) and np.isfinite(np.ptp(X.astype(np.float64))):
        assert_energies_are_bounds(np.hstack([X, -X]))


@given(
    st.sampled_from(TYPES).flatmap(
        lambda dtype: hnp.arrays(
            dtype,
            hnp.array_shapes(min_dims=2, max_dims=2, max_side=20),
            elements=hnp.from_dtype(np.dtype(dtype), allow_nan=False, allow_infinity=False),
        )
    )
)
def test_energies_of_anything(X):
    with np.errstate(over="ignore"):
        X = X / 2 if X.dtype.kind == "f" else X  # so that ranges are floats
    assert_energies_are_bounds(X)


@pytest.mark.parametrize("value", [1e-25, 1e-40, 1e20, 3e38])
@pytest.mark.parametrize("shape", [(1 << 17, 1), (100_003, 1), (3000, 40)])
def test_squares_that_float32_cannot_hold(value, shape):
    X = np.full(shape, value, np.float32)
    X[::2] *= np.float32(-0.5)
    n = shape[0]
    true = -(-n // 2) * Fraction(float(X[0, 0])) ** 2 + n // 2 * Fraction(float(X[1, 0])) ** 2
    for array in (X, np.asfortranarray(X), X[:, ::-1]):
        for energy in scan_ranges(as_source(array)).energies.tolist():
            assert true <= Fraction(energy) <= true * (1 + Fraction(1, 10**9))


def test_sums_that_a_float32_can_no_longer_add_to():
    """From 2^24 on, float32 does not grow by ones."""
    ones = np.ones(((1 << 24) + 101, 1), np.float32)
    assert scan_ranges(as_source(ones)).energies[0] >= len(ones)
    found = ones[0].copy(), ones[0].copy(), np.zeros(1), np.zeros(1)
    moments(ones, *found)
    assert found[2][0] == found[3][0] == len(ones)


@pytest.mark.parametrize("kind", [np.float32, np.float64, np.int32])
@pytest.mark.parametrize("shape", [(1, 70_000), (300, 1001), (5001, 40), (65_537, 3), (262_147, 1)])
def test_ranges_do_not_depend_on_the_layout(shape, kind):
    """Rows that are not as many as are added up side by side; short columns, of which several are a chunk."""
    X = (1000 * np.random.default_rng(3).standard_normal(shape)).astype(kind)
    whole = X.astype(np.float64)
    for array in (X, np.asfortranarray(X), np.repeat(X, 2, axis=0)[::2], np.repeat(X, 2, axis=1)[:, ::2]):
        found = scan_ranges(as_source(array))
        np.testing.assert_array_equal(found.least, X.min(axis=0))
        np.testing.assert_array_equal(found.greatest, X.max(axis=0))
        if kind is not np.int32:  # whose squares are not added up
            np.testing.assert_allclose(found.spreads, whole.var(axis=0), rtol=1e-9, atol=1e-6)
            squares = (whole**2).sum(axis=0)
            assert np.all((squares <= found.energies) & (found.energies <= squares * (1 + 1e-9)))


def test_short_columns_are_looked_at_together():
    """Else a first pass over many of them would be spent between them."""
    X = np.zeros((300, 20_000), order="F")
    assert len(as_source(X).chunks()) < 100
    assert len(as_source(np.zeros((1 << 16, 5), order="F")).chunks()) == 5


def stopped(X, **options) -> geodim.IDResult:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", InterruptedWarning)
        result = geodim.intrinsic_dimension(X, time_limit=0.0, **options)
    assert result.stopped
    return result


def assert_holds(result: geodim.IDResult, exact: geodim.IDResult) -> None:
    lower, upper = bounds_of(result)
    assert np.all(lower <= exact.phi_lower)
    assert np.all(exact.phi_lower <= upper)
    assert result.discriminability_lower <= exact.discriminability <= result.discriminability_upper
    assert result.lower <= exact.dimension <= result.upper


@pytest.mark.turns(5)
@pytest.mark.parametrize("kind", COLUMNS)
def test_bounds_of_what_was_never_looked_at_closely(kind, picked):
    """Chebyshev's bound from the first pass alone, for every type that holds the values."""
    for n in (2, 3, 64, 501):
        values = column(kind, n)
        for dtype in (values.dtype, *picked((np.float16, np.float32, np.float64), 1)):
            with np.errstate(over="ignore"):
                X = values.astype(dtype)[:, np.newaxis]
            if X.dtype.kind == "f" and not np.all(np.isfinite(X)):
                continue
            for normalize in (True, False):
                assert_holds(stopped(X, normalize=normalize), solve(X, normalize=normalize))


@given(
    hnp.arrays(
        np.float64,
        hnp.array_shapes(min_dims=2, max_dims=2, min_side=2, max_side=12),
        elements=st.floats(-1e300, 1e300),
    )
)
def test_bounds_of_anything(X):
    assert_holds(stopped(X), solve(X))
    assert_holds(stopped(sp.csr_array(X)), solve(X))
    weights = np.arange(1, len(X) + 1)
    assert_holds(stopped(X, weights=weights), solve(X, weights=weights))


def test_the_bound_is_attained():
    """Points at -1 and 1 alone: n - 1 of n of them fit no narrower window than 2, and k of them 0 or 2."""
    X = np.repeat([-1.0, 1.0], 500)[:, np.newaxis]
    ranges = scan_ranges(as_source(X))
    k = np.arange(2, 1001)
    bounds = ranges.at_most(0, k)
    assert bounds[-1] == 2.0
    assert np.all(bounds >= np.where(k > 500, 2.0, 0.0))
    single = np.zeros((1000, 1))
    single[0] = 1.0
    # Of all points but one, none is away from 0; Chebyshev says 2 / sqrt(2), and for all of them the range.
    assert scan_ranges(as_source(single)).at_most(0, np.array([999, 1000])).tolist() == [1.0, 1.0]


def test_the_foremost_columns_bound_all_others():
    rng = np.random.default_rng(8)
    values = rng.uniform(-1.0, 1.0, (300, 40)) * rng.uniform(1.0, 3.0, 40)
    values[0] = rng.uniform(5.0, 20.0, 40)  # ranges and sums of squares in different orders
    ranges = scan_ranges(as_source(values))
    k = np.arange(1, 301)
    some = np.arange(3, 37)
    best = np.max([ranges.at_most(int(column), k) for column in some], axis=0)
    foremost = ranges.foremost(some)
    assert set(foremost) <= set(some.tolist())
    assert 1 < len(foremost) < 20
    np.testing.assert_array_equal(np.max([ranges.at_most(one, k) for one in foremost], axis=0), best)
    assert ranges.foremost([]) == []
