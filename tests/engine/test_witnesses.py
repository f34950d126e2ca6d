"""Kernels that look for windows and sizes, against all windows and all sizes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from distributions import COLUMNS, column
from geodim.checker import starts_at
from geodim.engine.kernels.witnesses import choose_sizes, narrow_windows, straighten

NAMES = [name for name in COLUMNS if name not in ("largest", "powers_of_two")]  # sums of widths overflow


def windows(x: Any, k: int) -> Any:
    return x[k - 1 :] - x[: x.size - k + 1]


@pytest.mark.parametrize("name", NAMES)
def test_narrow_windows(name: str) -> None:
    x = np.sort(column(name, 90).astype(np.float64))
    sizes = np.unique(np.random.default_rng(1).integers(2, 91, 40))
    sizes = np.append(sizes[sizes < 90], 90)
    narrowest = np.array([windows(x, k).min() for k in sizes])
    spread = x[-1] - x[0]
    for margin in (0.0, 1e-3 * spread):
        for enough in (np.zeros(sizes.size), narrowest + 0.1 * spread):
            starts, widths = np.empty_like(sizes), np.empty(sizes.size)
            assert narrow_windows(x, sizes, enough, margin, 2**62, starts, widths) <= 2 * 91 * sizes.size
            np.testing.assert_array_equal(widths, x[starts + sizes - 1] - x[starts])
            solved = widths > enough
            assert np.all(widths[solved] - margin <= narrowest[solved])
            assert np.all(widths[~solved] <= enough[~solved])


@pytest.mark.parametrize("name", NAMES)
def test_lines_of_windows_stay_within_the_limit(name: str) -> None:
    x = np.sort(column(name, 120).astype(np.float64))
    sizes = np.arange(2, 121)
    starts, widths = np.empty_like(sizes), np.empty(sizes.size)
    narrow_windows(x, sizes, np.zeros(sizes.size), 0.0, 2**62, starts, widths)
    counts = []
    for room in (0.0, 0.01 * (x[-1] - x[0]), x[-1] - x[0]):
        knots = np.empty((sizes.size, 2), np.int64)
        count = straighten(x, sizes, starts, widths + room, knots)
        lines = knots[:count][::-1]
        first = starts_at(sizes, lines.T, x.size)
        assert np.all((first >= 0) & (first + sizes <= x.size))
        assert np.all(x[first + sizes - 1] - x[first] <= widths + room)
        assert np.all(np.diff(lines[:, 0]) > 0)
        counts.append(count)
    assert counts[-1] == 0  # any windows will do


@pytest.mark.parametrize("name", NAMES)
def test_sizes_leave_no_more_open_than_allowed(name: str) -> None:
    x = np.sort(column(name, 300).astype(np.float64))
    curve = np.array([0.0, *(windows(x, k).min() for k in range(2, 301))])
    for share in (1e-4, 1e-2, 0.5):
        budget = share * curve.sum()
        sizes = np.empty(300, np.int64)
        sizes = sizes[: choose_sizes(curve, budget, sizes)]
        assert sizes[-1] == 300
        before = np.append(1, sizes[:-1])
        assert np.all(sizes > before)
        assert np.sum((sizes - before - 1) * (curve[sizes - 1] - curve[before - 1])) <= budget * (1 + 1e-12)
    if curve[-1] > 0.0 and name == "normal":
        assert sizes.size < 30


def test_one_size_is_enough_where_phi_jumps_once() -> None:
    curve = np.repeat([0.0, 1.0], [600, 400])
    sizes = np.empty(1000, np.int64)
    assert sizes[: choose_sizes(curve, 0.0, sizes)].tolist() == [600, 601, 1000]
    few = np.empty(2, np.int64)
    assert choose_sizes(curve, 0.0, few) == 3  # says how many are needed
