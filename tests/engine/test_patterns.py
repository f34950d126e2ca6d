"""Columns that repeat: exact periods, and what is solved by them."""

from __future__ import annotations

import numpy as np
import pytest

from engine.kernel_calls import calls
from engine.oracle import assert_same_bits, padded, phi as brute_force
from geodim.data.sources import as_source
from geodim.engine import long_patterns
from geodim.engine.departures import Departures
from geodim.engine.kernels import phases
from geodim.engine.kernels.alike import ROUNDINGS, mark_settled
from geodim.engine.kernels.counters import N_COUNTERS, WINDOWS
from geodim.engine.kernels.lanes import ROW
from geodim.engine.kernels.lines import halves
from geodim.engine.kernels.patterns import exact_period
from geodim.engine.kernels.pyramid import BASE
from geodim.engine.long_patterns import LongPattern
from geodim.engine.patterns import Periodic
from geodim.engine.skeleton import long_period
from geodim.engine.solve import compute_profile
from geodim.errors import InternalError


def weekdays(n):
    return (np.arange(n) // 5 * 7 + np.arange(n) % 5).astype(np.float64)


PATTERNS = {
    "even": (1, lambda n: 3.0 * np.arange(n)),
    "weekdays": (5, weekdays),
    "weekdays of negative dates": (5, lambda n: weekdays(n) - 4000.0),
    "in quarters": (3, lambda n: 0.25 * (np.arange(n) // 3 * 7 + np.array([0, 1, 5])[np.arange(n) % 3])),
    "with ties": (4, lambda n: 10.0 * (np.arange(n) // 4) + np.array([0, 0, 0, 3])[np.arange(n) % 4]),
    "months": (48, lambda n: np.arange(n).astype("M8[M]").astype("M8[D]").astype(np.float64)),
}


@pytest.mark.parametrize("name", PATTERNS)
@pytest.mark.parametrize("n", [193, 700, 1200])
def test_windows_of_one_period_tell_all(name, n):
    period, make = PATTERNS[name]
    l = padded(np.sort(make(n)))
    made = Periodic.of(l, n)
    assert made is not None
    assert made.period == period
    phi = np.zeros(n)
    for first, stop in ((1, 64), (64, n - 40), (n - 40, n)):
        ranges, count = made.solve(l, n, first, stop, np.zeros(n), False, phi, np.zeros(N_COUNTERS, np.int64))
        assert ranges[:count].tolist() == [[first, stop]]
    assert_same_bits(phi, brute_force(l, n))


def test_a_period_must_hold_to_the_end_and_be_short():
    l = padded(weekdays(500))
    assert exact_period(l, 500, 9, 5000) == 5
    assert exact_period(l, 500, 4, 5000) == 0
    assert exact_period(l, 500, 9, 3) == 0  # after so many looks
    l[499] += 1.0
    assert exact_period(l, 500, 9, 5000) == 0
    assert Periodic.of(padded(np.sort(np.random.default_rng(0).normal(size=500))), 500) is None


@pytest.mark.parametrize("name", ["weekdays", "in quarters"])
def test_the_whole_way_takes_a_look_at_each_size_alone(name):
    """In any order of the points, not in time that goes with the square of n."""
    n = 3000
    values = PATTERNS[name][1](n)
    X = np.random.default_rng(1).permutation(values)[:, np.newaxis]
    profile = compute_profile(as_source(X), n_threads=1)
    assert_same_bits(profile.phi[1:], brute_force(np.sort(values), n)[1:])
    assert profile.work[:2].sum() <= 2 * n


def months(n):
    return np.arange(n).astype("M8[M]").astype("M8[D]").astype(np.float64)


@pytest.mark.turns(3)
@pytest.mark.parametrize("noise", [1e-6, 0.1, 0.5])
@pytest.mark.parametrize(("period", "n"), [(100, 12_000), (240, 9000), (131, 16_500), (67, 26_000)])
def test_long_periods_with_noise(period, n, noise, monkeypatch):
    monkeypatch.setattr(long_patterns, "FEW", 64)
    rng = np.random.default_rng(period)
    steps = 1.0 + 3.0 * (rng.random(period) < 0.2)
    values = np.resize(steps, n).cumsum() + noise * rng.normal(size=n)
    l = padded(np.sort(values))
    line = Departures.of(l, n)
    made = LongPattern.of(l, n, line)
    assert made is not None
    assert long_period(line.u + np.resize(line.means, n)) % period == 0
    phi = np.zeros(n)
    ranges, count = made.solve(l, n, 1, n, np.zeros(n), False, phi, np.zeros(N_COUNTERS, np.int64))
    assert ranges[:count].tolist() == [[1, n]]
    assert_same_bits(phi, brute_force(l, n))


def test_noise_has_no_long_period():
    rng = np.random.default_rng(5)
    for n, noise in ((12_000, 0.3), (12_000, 3.0), (500, 0.3)):
        l = padded(np.sort(np.arange(n) + noise * rng.normal(size=n)))
        assert LongPattern.of(l, n, Departures.of(l, n)) is None
    n = 160_000
    u = months(n) + 0.1 * rng.normal(size=n)
    u -= np.linspace(u[0], u[-1], n)
    assert long_period(u) == 4800


@pytest.mark.parametrize("share", [0.0, 0.02, 0.3, 1.0])
def test_phases_that_differ_are_listed(share, rng):
    """However many are side by side, and those that differ by more are kept."""
    count = 5 * ROW
    first = int(rng.integers(count))
    tops, floors = rng.integers(0, 50, count).astype(float), rng.integers(0, 50, 2 * count).astype(float)
    apart = tops - floors[first : first + count]
    t = float(np.quantile(apart, 1.0 - share)) - (share == 1.0)
    found, differences = np.empty(count + phases.AT_ONCE, np.int64), np.empty(count)
    number = phases.differing(tops, floors, first, count, t, found, differences)
    assert found[:number].tolist() == np.flatnonzero(apart > t).tolist()
    assert differences[:number].tolist() == apart[apart > t].tolist()
    number = phases.differing_more(found, differences, number, t + 5.0)
    assert found[:number].tolist() == np.flatnonzero(apart > t + 5.0).tolist()
    assert differences[:number].tolist() == apart[apart > t + 5.0].tolist()


def test_rows_of_phases_must_be_contiguous():
    arguments = list(calls()["try_long_period"][0])
    for at in (3, 4, 5, 6, 7, 8):
        some = [np.asfortranarray(a) if k == at else a for k, a in enumerate(arguments)]
        with pytest.raises(InternalError, match="not contiguous"):
            phases.try_long_period.py_func(*some)


def test_a_long_pattern_that_is_none_is_given_up_soon(monkeypatch):
    """Once all of the first phases fail: to fail takes longest."""
    done, once = [], phases.try_long_period

    def watched(*arguments):
        done.append((once(*arguments), int(arguments[-1][WINDOWS])))
        return done[-1][0]

    monkeypatch.setattr(phases, "try_long_period", watched)
    n = 200_000
    i = np.arange(n)
    l = padded(np.sort(i + np.sin(0.9 * i)))
    assert LongPattern.of(l, n, Departures.of(l, n)) is None
    ((worth, tried),) = done
    assert not worth
    assert 0 < tried < n


def test_sizes_are_settled_at_the_first_look_as_at_the_second(rng):
    """Eight at a time, for each of many margins, most of which leave some size open."""
    slope, rest, d0 = 0.1 + 1e-9, 3e-12, 3 * BASE
    head, tail = halves(slope)
    sizes = np.arange(d0, d0 + BASE)
    best = slope * np.arange(d0 + BASE) - rng.uniform(1.0, 2.0, d0 + BASE)
    limits = slope * np.arange(d0 + BASE) - best - rng.uniform(0.0, 1.0, d0 + BASE)
    outside, settled, said = np.empty((BASE, 1)), np.empty(BASE, np.bool_), []
    for margin in [*rng.uniform(-1.0, 1.0, 100), *(slope * np.arange(d0 + BASE) - best - limits)[d0:]]:
        outside[:, 0] = -limits[d0:] - margin
        left = mark_settled(best[d0:], d0, BASE, head, tail, rest, np.zeros(1), outside, settled)
        surely = phases.surely_settled(best, limits, d0, head, tail, rest, margin)
        assert not (surely and left)
        said.append(surely)
        above = ((best[d0:] - head * sizes) - tail * sizes) - rest * sizes
        off = ROUNDINGS * (np.abs(above) + 2.0**-25 * head * sizes)
        assert surely == bool(np.all(outside[:, 0] > above + off))
    assert 10 < sum(said) < len(said) - 10
