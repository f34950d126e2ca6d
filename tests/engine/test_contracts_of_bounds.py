"""More of what single parts promise each other: how much is looked at, lines, bounds on Phi, steps.

See `test_contracts`.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from distributions import column
from engine.oracle import phi
from geodim.data.checks import Ranges, scan_ranges
from geodim.data.sources import as_source
from geodim.engine import layout as layout_module
from geodim.engine.column import ColumnSolver
from geodim.engine.kernels import lines
from geodim.engine.kernels.counters import CLOSED, LEAVES, REJECTED, TESTS, WINDOWS
from geodim.engine.kernels.pyramid import BASE
from geodim.engine.patterns import InPieces
from geodim.engine.profile import Profile
from geodim.engine.solve import compute_profile
from geodim.engine.steps import CLOSEST, ROUNDINGS, counter_type, resolution, steps_needed, tolerance, within
from geodim.engine.target import Solved

# ---------------------------------------------------------------- how much is looked at


# Of 4000 points, with 8,000,000 windows and 62 gaps of 64 sizes: blocks tested, eight at a
# time, and windows evaluated, at most.
WORK = {
    "normal": (2500, 950_000),
    "exponential": (1600, 610_000),
    "two_clusters": (2850, 1_800_000),
    "integers_below_n": (2550, 920_000),
    "half_zero": (1500, 490_000),
    "duplicates": (2750, 1_080_000),
}


@pytest.mark.parametrize("name", WORK)
def test_bounds_save_work(monkeypatch, name):
    """With levels as in long columns.

    A feature half as wide, which is below Phi nearly everywhere, takes less.
    """
    monkeypatch.setattr(layout_module, "TOP_BLOCKS", 4)
    values = column(name, 4000).astype(np.float64)
    tests, windows = WORK[name]
    work = compute_profile(as_source(values[:, np.newaxis]), n_threads=1).work
    assert 0 < work[TESTS] <= tests
    assert 0 < work[WINDOWS] <= windows
    assert work[REJECTED] == 0
    assert work[LEAVES] + work[CLOSED] <= 63
    both = compute_profile(as_source(np.stack([values, 0.5 * values], axis=1)), n_threads=1).work
    assert both[TESTS] <= 1.85 * work[TESTS]
    assert both[WINDOWS] <= 1.7 * work[WINDOWS]


def test_the_smallest_sizes_do_not_make_a_column_alike(monkeypatch):
    """All starts are examined for them, which says nothing about the search for larger ones."""
    monkeypatch.setattr(InPieces, "solve", lambda *_: pytest.fail("taken for an alike column"))
    n = 1 << 16
    values = np.random.default_rng(0).standard_normal((n, 1)).astype(np.float32)
    with ThreadPoolExecutor(2) as pool:  # so that every gap is a piece of its own
        solver = ColumnSolver(n, np.dtype(np.float32))
        target = Profile.empty(n, 1)
        assert solver.solve(values[:, 0].copy(), 0, target, lambda: False, pool)
    assert target.phi[-1] == np.ptp(values.astype(np.float64))


def test_lines_that_meet_end_the_search():
    """Whole numbers in a row: phi is known from the bounds alone."""
    # Four lines, so that this is no grid.
    values = np.cumsum(np.where(np.arange(2000) % 500 == 0, 4000.0, 1.0))
    work = compute_profile(as_source(values[:, np.newaxis]), n_threads=1).work
    assert work[CLOSED] >= 6
    assert work[WINDOWS] <= 1_600_000


# ---------------------------------------------------------------- lines


@pytest.mark.parametrize("slope", [1.0, 0.1])
def test_spreads_around_lines(slope):
    rng = np.random.default_rng(5)
    n = 1000
    line = slope * np.arange(n)
    assert lines.spread_around_line(line + 7.0, n) == pytest.approx(0.0, abs=1e-9)
    jitter = np.sort(line + slope * rng.uniform(-0.5, 0.5, n))
    at = np.arange(0, n, BASE)
    trend = np.polyfit(at, jitter[at], 1)[0]
    residual = jitter[at] - trend * at
    expected = (residual.max() - residual.min()) / trend
    assert lines.spread_around_line(jitter, n) == pytest.approx(expected, rel=1e-9)
    assert lines.spread_around_line(np.zeros(n), n) == np.inf


# ---------------------------------------------------------------- bounds on Phi


def test_what_was_left_out_is_bounded_from_below_by_0():
    """With the narrowest widths left out, nothing is known of the sizes that these hold."""
    narrow = np.concatenate([np.full(600, 0.26), np.linspace(0.0, 1.0, 401)])[:, np.newaxis]
    source = as_source(narrow)
    ranges = scan_ranges(source)
    step = 2.0**-6
    for skipped in (1, 4):
        profile = Profile.empty(1001, 1, step=step, n_steps=65, skipped=skipped)
        total = np.append(0, np.cumsum(np.bincount(np.floor(narrow[:, 0] / step).astype(int), minlength=65)))
        profile.phi[:] = [-0.0, *(-float((total[w:] - total[:-w]).max()) for w in range(1, 66))]
        profile.finish(0)
        support, lower, upper = profile.bounds(ranges)
        own = phi(np.sort(narrow[:, 0]), 1001)
        before = 1
        for k, low, high in zip(support.tolist(), lower.tolist(), upper.tolist(), strict=True):
            assert low <= own[before:k].min()
            assert own[k - 1] <= high
            before = k
        assert lower[0] == own[1] == 0.0
        assert np.all((upper - lower)[1:] <= 2.0 * step)  # of the others as much is known as steps allow


@pytest.mark.parametrize("skipped", [0, 1, 3])
def test_steps_name_columns_that_attain_them(skipped):
    """From its first k on, the column named has fewer than k points in so many steps.

    No column has in one step more.
    """
    # One is even, of the other half lies in the middle and the rest at both ends.
    counts = np.full((2, 40), 8)
    counts[1] = np.where(np.arange(40) == 20, 160, np.where(np.abs(np.arange(40) - 19.5) > 17.0, 27, 0))
    counts[1, 0] += counts[0].sum() - counts[1].sum()
    n = int(counts[0].sum())
    totals = np.concatenate([np.zeros((2, 1), int), np.cumsum(counts, axis=1)], axis=1)
    holds = np.array([[0, *((one[w:] - one[:-w]).max() for w in range(1, 41))] for one in totals])
    profile = Profile.empty(n, 2, step=0.5, n_steps=40, skipped=skipped)
    assert np.all(profile.owner == -1)  # nobody's yet
    assert np.all(profile.phi == -n)
    for j in (0, 1):
        work = np.array([1, 2, 3, 4, 5])
        profile.merge(Solved(-holds[j].astype(float), np.array([[1, 41]]), j, 0, work))
        profile.finish(j)
    assert profile.work.tolist() == [2, 4, 6, 8, 10]
    sizes, owners, widths = profile.steps()
    assert sizes[0] == 2
    assert np.all(np.diff(sizes) > 0)
    assert np.all(np.diff(widths) > 0)
    assert {0, 1} <= set(owners.tolist())
    for k, owner, width in zip(sizes.tolist(), owners.tolist(), widths.tolist(), strict=True):
        w = round(width / 0.5)
        assert width == 0.5 * w
        if owner < 0:
            assert (k, w) == (2, 0)  # narrower than what was looked at
            continue
        assert w > skipped
        assert holds[owner, w] < k
        assert holds[:, w + 1].min() >= k if w < 40 else k <= n
    every = np.unique(holds[:, 1 + skipped :].min(axis=0))
    assert set(sizes[1:].tolist()) == set((every[every < n] + 1).tolist())
    empty = Profile.empty(1, 1, step=0.5, n_steps=3)
    empty.finish(0)
    assert [one.tolist() for one in empty.steps()] == [[2], [-1], [0.0]]


def test_bounds_of_a_column_that_was_not_solved():
    """Its range and its spread bound it, where others are below."""
    X = np.random.default_rng(8).normal(size=(50, 2)) * [1.0, 3.0]
    source = as_source(X)
    ranges = scan_ranges(source)
    profile = Profile.empty(50, 2)
    own = phi(np.sort(X[:, 0]), 50)
    profile.phi[:] = own
    profile.finish(0)
    support, lower, upper = profile.bounds(ranges)
    np.testing.assert_array_equal(support, np.arange(2, 51))
    np.testing.assert_array_equal(lower, own[1:])
    other = np.minimum(ranges.at_most(1, np.arange(2, 51)), ranges.widths.max())
    assert np.all(upper >= np.maximum(own, phi(np.sort(X[:, 1]), 50))[1:])
    assert np.all(upper <= np.maximum(np.minimum.accumulate(np.maximum(own[1:], other)[::-1])[::-1], own[1:]))


# ---------------------------------------------------------------- steps


def test_tolerances():
    assert tolerance(CLOSEST) == CLOSEST
    assert tolerance(np.nextafter(CLOSEST, 0.0)) == 0.0
    assert within(1.0, 0.0, 2.0 * ROUNDINGS)
    assert within(1.0, 0.0, ROUNDINGS)
    assert not within(1.0, 0.0, 1e-14)  # less than what bounds are rounded by
    assert not within(1.0, 1.0, 1e9)
    assert not within(1.0, 2.0, 1e9)
    for off in (0.001, 0.1, 0.5):
        exact = ((1.0 + off) / (1.0 - off)) ** 2 - 1.0
        assert within(1.0, off, exact * (1 + 1e-9) + ROUNDINGS)
        assert not within(1.0, off, exact * (1 - 1e-9))
        assert within(7.0, 7.0 * off, exact * (1 + 1e-9) + ROUNDINGS)


def test_counters_hold_all_points():
    for n in (1, 2**31 - 1, 2**31, 2**40):
        assert np.iinfo(counter_type(n)).max >= n
    assert counter_type(2**31 - 1) == np.int32  # half the memory


def test_steps_are_powers_of_two_that_a_tolerance_allows():
    for rtol in (1.0, 0.1, 1e-6):
        for delta in (1e-3, 0.3, 5.0):
            step = resolution(rtol, delta, 1.0)
            assert np.log2(step) % 1.0 == 0.0
            assert step <= 0.25 * rtol * delta < 4.0 * 1.1 * step
            assert within(delta, step, rtol) or rtol == 1.0
    assert resolution(5.0, 1.0, 1.0) == resolution(1.0, 1.0, 1.0)
    assert resolution(0.0, 1.0, 1.0) == resolution(1e-15, 1.0, 1.0) == 0.0
    assert resolution(0.1, 2.0**-899, 1.0) == 0.0
    assert resolution(0.1, 1.0, 2.0**901) == 0.0
    assert resolution(0.1, 2.0**-500, 2.0**500) == 0.0
    assert resolution(0.1, 2.0**-40, 1.0) > 0.0 == resolution(0.1, 2.0**-44, 1.0)  # floats would round


def test_how_many_steps_are_needed():
    least, greatest = np.array([-1.0, 0.3]), np.array([1.0, 0.9])
    first, widest, far = steps_needed(least, greatest, 0.25)
    assert first.tolist() == [-4.0, 1.0]
    assert widest == 9.0  # from the step of -1 to that of 1
    assert not far
    fine = steps_needed(least, greatest, 2.0**-30)
    assert (fine.number, fine.far) == (2.0**31 + 1, True)  # beyond what float32 counts
    assert steps_needed(least, greatest, 2.0**-22)[1:] == (2.0**23 + 1, False)
    for step in (0.0, 2.0**-100, 2.0**100, np.inf):
        assert steps_needed(least, greatest, step)[1:] == (np.inf, True)
        assert steps_needed(least, least, step).number == 0.0
    assert steps_needed(least * 2.0**-90, greatest * 2.0**-90, 2.0**-95)[1:] == (65.0, False)
    assert isinstance(scan_ranges(as_source(np.eye(3))), Ranges)
