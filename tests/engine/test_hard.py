"""Hard columns: bounds that hold, the same bits in whatever order, and the last bit where it is asked for."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import geodim
from distributions import COLUMNS, column
from engine.oracle import assert_same_bits, padded, phi as brute_force
from geodim import paper
from geodim.data.sources import as_source
from geodim.engine import hard, stepped
from geodim.engine.alike import Bent, Straight
from geodim.engine.column import ColumnSolver
from geodim.engine.dominated import Dominance
from geodim.engine.hard import is_dear, margin, relaxed
from geodim.engine.segments import Segmented, may_be_segments
from geodim.engine.skeleton import nearly_a_period
from geodim.engine.solve import compute_profile, way_of
from geodim.engine.ways import Way
from geodim.errors import DataFileError
from geodim.result import IDResult

PATTERN = np.array([0, 1, 5])


def pattern(n):
    return (np.arange(n) // 3 * 7 + PATTERN[np.arange(n) % 3]).astype(np.float64)


HARD = {  # periods and values
    "angles": (1, lambda n: (2.0 * np.pi * np.arange(n)) / n),
    "thirds of tenths": (1, lambda n: np.arange(n) * 0.1 / 3.0),
    "from below 0": (1, lambda n: np.linspace(-1.0, 2.0, n)),
    "below 0": (1, lambda n: -np.arange(n) * 0.7 / 3.0),
    "from far away": (1, lambda n: 1e3 + np.arange(n) * 0.7 / 3.0),
    "pattern in tenths": (3, lambda n: pattern(n) * 0.1),
    "pattern in thirds of tenths": (3, lambda n: pattern(n) * 0.1 / 3.0),
    "tiny": (1, lambda n: np.arange(n) / 7.0 * 1e-200 / 3.0),
    "large": (1, lambda n: np.arange(n) / 7.0 * 1e200 / 3.0),
    "two grids": (4, lambda n: np.where(np.arange(n) % 2, 0.1, 0.3) * np.arange(n)),
    "two slopes": (1, lambda n: np.where(np.arange(n) < n // 2, 0.1 / 3.0, 0.3 / 7.0) * np.arange(n)),
    "with gaps": (1, lambda n: (0.1 * np.arange(n) + 100.3 * (4 * np.arange(n) // n) ** 2) / 3.0),
    "every tenth missing": (9, lambda n: (np.arange(n) // 9 * 10 + np.arange(n) % 9) * 0.1 / 3.0),
    "with outliers": (
        1,
        lambda n: np.append(np.arange(n - 3) * 0.1 / 3.0, n * np.array([0.0, 0.5, 3.3]) + 7.7),
    ),
}


@pytest.fixture
def all_hard(monkeypatch):
    """Whatever is a line or repeats but for roundings counts as hard, however short it is."""
    monkeypatch.setattr(hard, "HARD_FROM", 200)
    monkeypatch.setattr(hard, "DEAR", 0)


def relaxed_profile(X, n_threads=1, width=None):
    source = as_source(X)
    way = way_of(source, None, 0.0, n_threads)
    way = Way(**{**vars(way), "relaxed": True, "width": width or way.width})
    return compute_profile(source, way, n_threads=n_threads)


@pytest.mark.parametrize("name", HARD)
@pytest.mark.parametrize("n", [700, 1601])
def test_widths_exceed_phi_by_less_than_they_say(name, n):
    period, make = HARD[name]
    l = padded(np.sort(make(n)))
    made = relaxed(l, n)
    assert made is not None
    assert made.segments[0][2] == period
    assert made.segments[0][0] == 0
    assert made.segments[-1][1] == n
    assert all(before[1] == after[0] for before, after in itertools.pairwise(made.segments))
    exact = brute_force(l, n)
    assert np.all(made.widths[1:] >= exact[1:])
    assert np.all(made.widths[1:] - exact[1:] <= made.loose)
    assert np.all(np.diff(made.widths[1:]) >= 0.0)
    assert made.widths[n - 1] == l[n - 1] - l[0]
    assert made.loose <= 64 * np.spacing(np.abs(l[:n]).max())
    assert made.loose <= 2.0**-42 * np.mean(exact[1:])


@pytest.mark.parametrize("n", [800, 1501])
def test_segments_that_repeat_exactly_are_exact(n):
    """Whole numbers, so that every difference is: pauses, other patterns, and values that belong to none."""
    at = np.arange(n)
    weekdays = at // 5 * 7 + at % 5
    pause = np.where(at > n // 3, 0.5 * n, 0.0)
    for values in (
        weekdays + pause,
        np.where(at < n // 2, weekdays, n + 3 * at),
        np.where(at < n // 2, weekdays, n + pattern(n)),
        np.append(weekdays[:-3], 7 * n + np.array([1, 3, 10])),
    ):
        l = padded(values.astype(np.float64))
        made = Segmented.of(l, n, 0.0)
        assert made is not None
        assert made.loose == 0.0
        assert_same_bits(made.widths[1:], brute_force(l, n)[1:])
        profile = compute_profile(as_source(values[:, np.newaxis].astype(np.float64)), n_threads=1)
        assert_same_bits(profile.phi[1:], brute_force(l, n)[1:])


def test_what_does_not_repeat_has_no_segments():
    rng = np.random.default_rng(7)
    n = 3000
    for values in (rng.normal(size=n), np.arange(n) + 0.1 * rng.normal(size=n), np.arange(n) ** 2.0):
        l = padded(np.sort(values))
        assert not may_be_segments(l, n, 1e-12)
        assert Segmented.of(l, n, 1e-12) is None
    assert Segmented.of(padded(np.arange(300.0) * 1000 + np.arange(300) % 7 % 5), 300, 0.0) is not None


@pytest.mark.parametrize("name", sorted(name for name in COLUMNS if "signed_zeros" not in name))
def test_what_is_told_apart_by_more_than_roundings_stays_exact(name, all_hard):
    n = 1000
    values = column(name, n).astype(np.float64)
    X = np.random.default_rng(1).permutation(values)[:, np.newaxis]
    profile = relaxed_profile(X)
    exact = brute_force(np.sort(values), n)
    if profile.loose == 0.0:
        assert_same_bits(profile.phi[1:], exact[1:])
    else:
        assert name.startswith(("linspace", "tenths", "two_very_far")), name
        assert np.all(np.abs(profile.phi[1:] - exact[1:]) <= profile.loose)


def test_exact_as_long_as_that_costs_little():
    n = 30_000
    for values, way, dear in (
        (np.arange(1, n + 1) / n, Straight, False),
        (np.arange(n) + 0.1 * np.random.default_rng(1).normal(size=n), Straight, False),
        (HARD["two grids"][1](n), Bent, True),
    ):
        l = padded(np.sort(values))
        assert margin(l, n) > 0.0
        assert is_dear(l, n, way.of(l, n)) is dear
    normal = padded(np.sort(np.random.default_rng(0).normal(size=n)))
    assert margin(normal, n) == 0.0
    assert margin(padded(np.sort(values)), n // 2) == 0.0  # as few as that are looked at in any case


def test_periods_are_the_least():
    rng = np.random.default_rng(3)
    noise = 1e-9 * rng.random(8192)
    for period in (1, 2, 5, 12):
        u = rng.random(period)[np.arange(8192) % period] + noise
        assert nearly_a_period(u) == period


# ---------------------------------------------------------------- whatever the order


def alike_columns(n):
    """Near ties among hard columns and with others: closer together than they are known."""
    rng = np.random.default_rng(5)
    angles = HARD["angles"][1](n)
    some = [
        angles,
        angles * (1.0 + 2.0**-50),
        angles[::-1] * (1.0 - 2.0**-51),
        np.linspace(-1.0, 2.0 * np.pi - 1.0, n),
        rng.normal(size=n),
        2.0 * np.pi * np.arange(n) / (n - 1),
        2.0 * np.pi / (0.3 * n) * HARD["two grids"][1](n),
    ]
    return np.stack([rng.permutation(values) for values in some], axis=1)


def test_the_same_bits_for_every_order_thread_and_block(all_hard):
    n = 900
    X = alike_columns(n)
    reference = relaxed_profile(X)
    assert reference.loose > 0.0
    exact = np.max([brute_force(np.sort(values), n) for values in X.T], axis=0)
    assert np.all(reference.phi[1:] >= exact[1:])
    assert np.all(reference.phi[1:] - exact[1:] <= reference.loose)
    for n_threads, width in itertools.product((1, 2, 3), (1, 3)):
        found = relaxed_profile(X, n_threads, width)
        assert_same_bits(found.phi, reference.phi)
        assert np.array_equal(found.owner, reference.owner)
        assert found.loose == reference.loose
    for order in ([6, 5, 4, 3, 2, 1, 0], [3, 1, 6, 4, 0, 5, 2], [2, 5, 0, 4, 1, 6, 3]):
        assert_same_bits(relaxed_profile(X[:, order]).phi, reference.phi)


def test_columns_are_rejected_only_below_what_they_may_be_taken_for(all_hard):
    """What others reached lies above phi, by less than phi is known."""
    n = 900
    values = HARD["angles"][1](n)
    alone = relaxed_profile(values[:, np.newaxis])
    exact = brute_force(values, n)
    profile = relaxed_profile(values[:, np.newaxis])
    profile.phi[:] = np.append(0.0, np.nextafter(exact[1:], np.inf))
    profile.owner[:] = 1
    others = profile.phi.copy()
    solver = ColumnSolver(n, np.dtype(np.float64))
    solver.relaxed = True
    assert solver.solve(values, 0, profile, lambda: False)
    assert np.any(alone.phi > others)
    assert_same_bits(profile.phi, np.maximum(others, alone.phi))


def test_what_may_be_hard_is_dropped_by_counts_only_far_below_the_bar(monkeypatch):
    """Its widths may exceed phi: where they may, it must lie below others by as much."""
    n = 1 << 14
    monkeypatch.setattr(stepped, "ENOUGH", n / 16)  # 32 steps: two of them are more than counts may be off by
    monkeypatch.setattr(stepped, "MANY", 0)
    rng = np.random.default_rng(0)
    line, normal = rng.permutation(pattern(n)), rng.normal(size=n)
    for values, may_be_hard in ((line, True), (normal, False)):
        exact, span = brute_force(padded(np.sort(values)), n), np.ptp(values)
        near = stepped.coarsest_share(n) * span
        for above, dropped in ((0.5 * near, not may_be_hard), (1.5 * near, True)):
            bar = np.append(0.0, exact[1:] + above)
            for may_exceed in (False, True):
                dominance = Dominance(n, relaxed=may_exceed)
                dominance.rise(bar)
                found, _ = dominance.test(values[np.newaxis], [0])
                assert found[0] == (dropped or not may_exceed)


def test_the_same_bits_where_columns_are_dropped_by_counts(all_hard):
    """From 64 columns on; here hard ones lie below others by less than they are known."""
    n = 1 << 14
    rng = np.random.default_rng(6)
    line = pattern(n) * 0.1
    X = np.stack([rng.permutation(line * (1.0 - k * 2.0**-53)) for k in range(6)], axis=1)
    X = np.concatenate([X, rng.integers(0, 3, (n, 60)).astype(np.float64)], axis=1)
    reference = relaxed_profile(X)
    assert reference.loose > 0.0
    for order in (np.arange(66)[::-1], rng.permutation(66)):
        assert_same_bits(relaxed_profile(X[:, order], 2).phi, reference.phi)


def test_the_same_bits_where_segments_are_dropped_by_counts(all_hard):
    """The same for columns that are no line as a whole, so that counts do not show one."""
    n = 1 << 14
    rng = np.random.default_rng(7)
    slopes = HARD["two slopes"][1](n)
    X = np.stack([rng.permutation(slopes * (1.0 - k * 2.0**-53)) for k in range(12)], axis=1)
    X = np.concatenate([X, rng.integers(0, 3, (n, 60)).astype(np.float64)], axis=1)
    reference = relaxed_profile(X)
    assert reference.loose > 0.0
    for order in (np.arange(72)[::-1], *(rng.permutation(72) for _ in range(4))):
        assert_same_bits(relaxed_profile(X[:, order]).phi, reference.phi)


# ---------------------------------------------------------------- what results say


def test_results_say_so_and_hold_the_exact_value(all_hard):
    X = alike_columns(900)
    found, exact = geodim.intrinsic_dimension(X), geodim.intrinsic_dimension(X, last_bit=True)
    assert exact.exact
    assert_same_bits(exact.phi, paper.phi_all(X))
    assert exact.parameters["last_bit"] is True
    assert not found.exact
    assert 0.0 < found.error < 1e-12
    assert found.lower < exact.dimension < found.upper
    assert found.discriminability_lower < exact.discriminability < found.discriminability_upper
    assert np.all(np.abs(found.phi - exact.phi) <= 2.0 * found.feature_error)
    assert found.one_number
    again = IDResult.from_dict(found.to_dict())
    assert (again.exact, again.error, again.feature_error) == (False, found.error, found.feature_error)
    older = found.to_dict()
    assert older["plan"]["way"].pop("relaxed")
    assert IDResult.from_dict(older).error == found.error
    removal = geodim.intrinsic_dimension(X, removal=True)
    assert (removal.lower, removal.upper) == (found.lower, found.upper)
    certificate = found.certificate(X)
    assert certificate is not None


def test_two_grids_are_solved_to_within_roundings():
    n = 1 << 14
    X = np.random.default_rng(9).permutation(HARD["two grids"][1](n))[:, np.newaxis]
    found, exact = geodim.intrinsic_dimension(X), geodim.intrinsic_dimension(X, last_bit=True)
    assert exact.exact
    assert not found.exact
    assert 0.0 < found.error < 1e-12
    assert found.lower < exact.dimension < found.upper
    assert np.all(np.abs(found.phi - exact.phi) <= 2.0 * found.feature_error)


def test_a_pass_that_is_continued_knows_what_was_loose(all_hard, tmp_path):
    X = alike_columns(900)
    reference = geodim.intrinsic_dimension(X)
    for _ in range(2):  # the second time all is read from the checkpoint
        found = geodim.intrinsic_dimension(X, checkpoint=tmp_path)
        assert (found.lower, found.upper, found.exact) == (reference.lower, reference.upper, False)
    with pytest.raises(DataFileError, match="another computation"):
        geodim.intrinsic_dimension(X, checkpoint=tmp_path, last_bit=True)


def test_tolerances_are_met_as_before(all_hard):
    X = alike_columns(900)
    exact = geodim.intrinsic_dimension(X, last_bit=True)
    for rtol in (1e-3, 1e-12):
        found = geodim.intrinsic_dimension(X, rtol=rtol)
        assert found.lower <= exact.dimension <= found.upper
        assert found.error <= rtol
