"""A tolerance, solved by rounding or by counting: within the bounds, within the tolerance, the same bits in any order."""

from __future__ import annotations

import numpy as np
import pytest

from distributions import column
from engine.oracle import assert_encloses, solve
from geodim.data.checks import scan_ranges
from geodim.data.sources import as_source
from geodim.engine.solve import SMALLEST, compute_profile

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


@pytest.mark.parametrize("counted", [False, True])
def test_what_is_left_out_is_bounded(counted):
    """The smallest windows are not solved: at least 0, and at most what the next larger one is."""
    X = table(4000)
    source = as_source(X)
    ranges = scan_ranges(source)
    exact = solve(X, normalize=False)
    step = 2.0**-11 if counted else 2.0**-16
    profile = compute_profile(source, step=step, ranges=ranges, skip_smallest=True)
    assert profile.skipped == SMALLEST
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
