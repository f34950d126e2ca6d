"""Few vertices, chosen by error: groups are small in both directions, whatever the curve looks like."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

from geodim.display.thinning import group_ends


def spans(ends, values):
    starts = np.r_[0, ends[:-1] + 1]
    return values[ends] - values[starts]


@pytest.mark.parametrize(
    "shape", [lambda t: t, lambda t: t**8, lambda t: t**0.05, lambda t: np.floor(5 * t), np.zeros_like,
              lambda t: t > 0.999]
)  # fmt: skip
@pytest.mark.parametrize("n", [2, 10, 900, 1000, 100_000])
def test_groups_are_small(shape, n):
    support = np.arange(2, n + 1)
    phi = shape(np.linspace(0.0, 1.0, n - 1)).astype(np.float64)
    ends = group_ends(support, phi, phi, n)
    assert len(ends) <= 902
    assert ends[-1] == n - 2
    assert np.all(np.diff(ends) > 0)
    if n > 1000:
        step = 2.0 / 898 + 1e-12
        assert np.all(spans(ends, support / n) <= step)
        assert np.all(spans(ends, phi) <= step * max(phi[-1], 1e-300))


def test_few_steps_are_left_alone():
    assert group_ends(np.arange(2, 12), np.zeros(10), np.zeros(10), 11).tolist() == list(range(10))


def test_bounds_count_too():
    n = 50_000
    support = np.arange(2, n + 1)
    low = np.where(support < 30_000, 0.0, 1.0)
    high = np.where(support < 10_000, 0.5, 1.0)
    ends = group_ends(support, low, high, n)
    for values in (low, high):
        assert np.all(spans(ends, values) <= 2 * 2.0 / 898)


@given(st.integers(0, 2**32 - 1), st.integers(1000, 5000))
def test_random_steps(seed, n):
    rng = np.random.default_rng(seed)
    support = np.unique(np.r_[rng.integers(2, n, n), n])
    phi = np.cumsum(rng.exponential(size=support.size) ** 4)
    ends = group_ends(support, phi, phi, n, 100)
    assert len(ends) <= 102
    assert np.all(spans(ends, phi) <= 2.0 / 98 * phi[-1] + 1e-9 * phi[-1])


def test_no_upper_bound():
    support = np.arange(2, 5001)
    low = np.linspace(0.0, 1.0, support.size)
    assert group_ends(support, low, np.full(support.size, np.inf), 5000)[-1] == support.size - 1
