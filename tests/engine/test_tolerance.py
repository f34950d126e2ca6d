"""A tolerance, solved by rounding or by counting.

Within the bounds, within the tolerance, the same bits in any order.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, strategies as st

import geodim
from distributions import COLUMNS, column
from engine.oracle import assert_encloses, solve
from geodim import paper
from geodim.data.checks import scan_ranges
from geodim.data.sources import as_source
from geodim.engine.solve import compute_profile, way_of
from geodim.engine.steps import (
    SAMPLED,
    SMALL,
    SMALLEST,
    may_leave_out,
    negligible,
    resolution,
    tolerance,
    within,
)
from geodim.plans import Problem

KINDS = [
    "normal",
    "exponential",
    "mixture",
    "arcsine",
    "grid_jitter_three",
    "two_clusters",
    "sparse_both_signs",
]


def scaled(values: np.ndarray) -> np.ndarray:
    """Values of a range of about 1: every kind may lead somewhere."""
    return values / np.ptp(values)


def table(n: int) -> np.ndarray:
    """Columns of many shapes and scales: majority runs, grids and smooth ones."""
    return np.column_stack([scaled(column(kind, n)) * 2.0**-at for at, kind in enumerate(KINDS)])


@pytest.mark.parametrize("rtol", [1e-2, 1e-3, 1e-5])
@pytest.mark.parametrize("n", [2500, 20_000])
def test_same_bits_in_any_order(n, rtol):
    X = table(n)
    exact = solve(X)
    results = [
        solve(X, rtol=rtol, n_threads=1),
        solve(X, rtol=rtol, n_threads=2),
        solve(X[:, ::-1], rtol=rtol),
        solve(np.asfortranarray(X[::-1]), rtol=rtol, n_threads=2),
    ]
    for result in results:
        assert_encloses(result, exact)
        assert result.error <= rtol
        for name in ("support", "phi_lower", "phi_upper", "dimension", "lower", "upper"):
            np.testing.assert_array_equal(getattr(result, name), getattr(results[0], name))


@pytest.mark.parametrize(
    ("n", "step", "left_out"),
    [(4000, 2.0**-16, SMALLEST), (4000, 2.0**-11, SMALLEST), (20000, 2.0**-13, SMALL)],
)
def test_what_is_left_out_is_bounded(n, step, left_out):
    """The smallest windows are not solved: at least 0, and at most what the next larger one is."""
    X = table(n)
    counted = step > 2.0**-16
    source = as_source(X)
    ranges = scan_ranges(source)
    exact = solve(X, normalize=False)
    way = way_of(source, ranges, step, 2)
    way = replace(way, left_out=may_leave_out(way.steps or source.n_points, left_out))
    profile = compute_profile(source, way, step=step, ranges=ranges)
    assert profile.skipped == left_out
    assert profile.counted is counted
    support, lower, upper = profile.bounds(ranges)
    at = support - 2
    assert np.all(lower <= exact.phi_lower[at])
    assert np.all(exact.phi_lower[at] <= upper)
    if not counted:
        assert np.all(lower[:SMALLEST] == 0.0)
        assert np.all(upper[:SMALLEST] == upper[SMALLEST])
    delta, off = profile.rounded_mean()
    assert abs(delta - exact.discriminability) <= off


RTOLS = [1e-16, 1e-15, 5e-15, 9e-14, 1e-13, 3e-13, 1e-10, 1e-4, 0.3, 10.0]
SCALES = [1.0, 1e-300, 1e-155, 1e-100, 1e155, 1e100, 1e290]


@pytest.mark.turns(5)
@pytest.mark.parametrize("kind", COLUMNS)
def test_every_tolerance_is_kept_at_every_scale(kind, picked):
    """What was asked for is what is reported.

    The error is at most rtol, and the exact value lies between the bounds.
    """
    rng = np.random.default_rng(5)
    values = column(kind, 700)
    for turn, rtol in picked(enumerate(RTOLS), 4):
        scale = SCALES[(turn + len(kind)) % len(SCALES)]
        X = np.column_stack([values.astype(np.float64), rng.permutation(values) * 0.75])
        if np.abs(X).max() < 1e308 / scale:
            X = X * scale
        for normalize in (True, False):
            result = solve(X, rtol=rtol, normalize=normalize)
            exact = solve(X, normalize=normalize)
            assert result.stopped is None
            assert result.error <= rtol
            assert result.lower <= exact.dimension <= result.upper
            assert result.lower <= result.dimension <= result.upper
            if rtol < 1e-13:
                assert result.exact
                assert result.discriminability == exact.discriminability


@pytest.mark.parametrize("scale", [3e-155, 7e-155, 2e-154, 1e154, 3e155, 1e161])
def test_a_dimension_that_floats_hardly_hold_is_one_number(scale):
    """1 / Delta^2 overflows, or is one of the few numbers below the normal ones.

    Bounds cannot be so close, so it is exact.
    """
    X = np.random.default_rng(0).random((3000, 3)) * scale
    result = solve(X, rtol=1e-6, normalize=False)
    assert result.error <= 1e-6
    assert result.lower <= solve(X, normalize=False).dimension <= result.upper


@given(st.floats(0.0, 1e300), st.floats(0.0, 1e300), st.floats(0.0, 10.0))
def test_what_is_within_a_tolerance_is_so_whatever_rounds(delta, off, rtol):
    """Against fractions: bounds on Delta, each widened twice over, are still within rtol."""
    if within(delta, off, rtol):
        wide = 1 + Fraction(1, 2**49)
        low, high = (Fraction(delta) - Fraction(off)) / wide, (Fraction(delta) + Fraction(off)) * wide
        assert (high / low) ** 2 - 1 <= Fraction(rtol)


def test_tolerances_that_floats_cannot_express_are_exact():
    assert [tolerance(rtol) for rtol in (0.0, 1e-300, 9.9e-14, 1e-13, 2, 1e300)] == [0, 0, 0, 1e-13, 2, 1e300]
    assert resolution(1e-14, 1.0, 1.0) == 0.0
    assert resolution(1e-13, 1.0, 1.0) > 0.0
    assert Problem(1000, 3, rtol=1e-15).rtol == 0.0


@pytest.mark.parametrize("seed", [1, 15, 22, 42, 53, 99, 104, 390])
@pytest.mark.parametrize("rtol", [1e-12, 1e-13])
def test_no_step_is_so_fine_that_widths_are_rounded(seed, rtol):
    """With values far out, a small tolerance asked for steps of which floats cannot hold a whole range.

    Then a difference of two rounded values is rounded once more, by as much as a step, and bounds were none.
    """
    rng = np.random.default_rng(seed)
    X = rng.standard_cauchy((60, 3)) ** rng.choice([1, 3])
    result, phi = geodim.intrinsic_dimension(X, rtol=rtol, normalize=False), paper.phi_all(X)
    k = np.arange(2, 61)
    lower = np.append(0.0, result.phi_lower)[np.searchsorted(result.support, k, side="right")]
    assert np.all(lower <= phi)
    assert np.all(phi <= result.phi_upper[np.searchsorted(result.support, k)])
    assert result.error <= rtol


@given(st.floats(1e-12, 1.0), st.floats(1e-3, 1e3), st.floats(1e-5, 1.0))
def test_what_is_left_out_leaves_the_tolerance_intact(rtol, delta, part):
    """Unless windows of so few steps hold more points than half as many again as a sample shows."""
    step, smallest = resolution(rtol, delta, 10.0 * delta), part * delta
    left_out = negligible(step, rtol, delta, smallest)
    if left_out == 0:
        assert smallest <= 128 * step
        return
    points = SAMPLED * (left_out + 1) * step / smallest
    assert within(delta, step * (1.0 + 0.5 * left_out * 1.5 * points), rtol) or left_out == SMALLEST


def test_one_pass_suffices_for_normal_columns():
    """Whatever is left out: a second pass would take twice as long."""
    X = np.random.default_rng(5).standard_normal((300_000, 2))
    found = set()
    for rtol in (1.8e-4, 2.2e-4, 2.7e-4, 3.3e-4, 4e-4):
        result = solve(X, rtol=rtol, n_threads=1)
        assert result.error <= rtol
        assert result.plan.happened.passes == result.plan.predicted.passes
        found.add(result.plan.way.left_out)
    assert {SMALL, SMALLEST} <= found
