"""Masses in two parts, steps of columns, counters of mass: each against plain arithmetic."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from geodim.engine import mass_solve
from geodim.engine.driver import Driver
from geodim.engine.kernels import mass_steps, masses as kernels
from geodim.engine.mass_profile import MassProfile
from geodim.engine.mass_solve import ColumnSteps, counting_unit
from geodim.engine.masses import BITS, Measure, differences, integral, mean_over_mass, parts_of, products
from masses import KINDS, Truth, some_weights

RNG = np.random.default_rng(0)


def whole(high, low):
    """Both parts together."""
    return [(int(a) << 62) + int(b) for a, b in zip(high, low, strict=True)]


def fraction(units, measure):
    return Fraction(units) * Fraction(2) ** measure.exponent


# ---------------------------------------------------------------- masses


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n", [1, 2, 40])
def test_units_are_the_weights(kind, n):
    weights = some_weights(RNG, n, kind)
    weights = weights[weights > 0]
    measure = Measure.of(weights)
    units = whole(measure.high, measure.low)
    exact = [Fraction(weight) for weight in weights.tolist()]
    unit = Fraction(2) ** measure.exponent
    assert all(0 <= one * unit - weight < unit for one, weight in zip(units, exact, strict=True))
    assert measure.rounded == ([one * unit for one in units] != exact)
    assert measure.rounded <= (kind in ("wide", "extreme"))  # more orders of magnitude than units have bits
    assert measure.total == sum(units)
    assert BITS <= measure.total.bit_length() <= BITS + 1
    assert all(one % 2**measure.grain == 0 for one in units)
    assert any(one % 2 ** (measure.grain + 1) for one in units)
    assert measure.whole == (all(weight == int(weight) for weight in exact) and sum(exact) <= 2**52)
    assert measure.n_points == (sum(exact) if measure.whole else len(exact))
    if not measure.rounded:
        assert measure.mass == float(sum(exact))


@pytest.mark.parametrize("bits", [1, 30, 61, 62, 63, 70, 113, 120, 122])
def test_masses_are_the_nearest_floats(bits):
    """Also half way between two floats, and just beside that."""
    measure = Measure.of(np.array([0.3, 7.0]))
    half = (1 << bits) + (1 << max(bits - 53, 0))
    for units in (1 << bits, (1 << bits) - 1, half, half - 1, half + 1, half + (1 << max(bits - 52, 0))):
        if 0 < units < 2**122:
            high, low = (np.array([part]) for part in parts_of(units))
            assert measure.masses(high, low)[0] == float(fraction(units, measure))


@pytest.mark.parametrize("scale", [1.0, 1e-300, 1e305, 5e-324])
def test_integrals_are_not_rounded(scale):
    ends = sorted(int.from_bytes(RNG.bytes(15)) for _ in range(50))
    high, low = (np.array(part) for part in zip(*map(parts_of, ends), strict=True))
    widths = np.sort(RNG.integers(0, 1000, 50) * scale if scale == 5e-324 else RNG.random(50) * scale)
    area = integral(widths, differences(high, low))
    expected = sum(
        (end - before) * Fraction(width)
        for before, end, width in zip([0, *ends], ends, widths.tolist(), strict=False)
    )
    assert Fraction(area, 2**1074) == expected
    assert mean_over_mass(widths, differences(high, low), ends[-1], 3.0) == float(expected / ends[-1] / 3)


def test_a_width_that_is_not_known_has_no_mean():
    apart = np.array([1, 2]), np.array([0, 0])
    assert mean_over_mass(np.array([0.0, np.inf]), apart, 3 << 62, 1.0) == np.inf
    assert mean_over_mass(np.array([0.0, 1e308]), apart, 3 << 62, 1e-10) == np.inf


@pytest.mark.parametrize("factor", [1, 3, 2**31 - 1, 2**31 + 1, 2**53 - 1, 2**61 - 1])
def test_products_are_not_rounded(factor):
    numbers = np.array([0, 1, 2, 12345, 2**31 - 1] + [2**52 - 1] * (factor == 1))
    assert whole(*products(numbers, factor)) == [factor * int(number) for number in numbers]


@pytest.mark.parametrize(
    ("weights", "counts"),
    [
        ([0.1, 0.1], [1, 1]),
        ([0.5, 1.5, 2.0], [1, 3, 4]),
        ([7, 21, 70], [1, 3, 10]),
        ([3e-300, 3e-300], [1, 1]),
        ([10**18, 2 * 10**18], [1, 2]),
        ([0.1, 0.3], None),
        ([1.0, 1e30], None),
        ([1, 101], None),
    ],
)
def test_common_divisors(weights, counts):
    measure = Measure.of(np.array(weights))
    found = measure.counts(100)
    assert (found is None) == (counts is None)
    if found is not None:
        assert found[0].tolist() == counts
        assert [found[1] * count for count in counts] == whole(measure.high, measure.low)


# ---------------------------------------------------------------- steps of a column


def steps_of(X, weights, **room):
    """Phi by the engine, column after column, as masses and widths."""
    measure = Measure.of(weights)
    profile = MassProfile.nothing(measure, X.shape[1])
    for index, column in enumerate(X.T):
        order = np.argsort(column)
        steps = ColumnSteps(column[order], measure.high[order], measure.low[order])
        for name, size in room.items():
            old = getattr(steps, name)
            cut = tuple(array[:size] for array in old) if isinstance(old, tuple) else old[:size]
            setattr(steps, name, cut)
        assert steps.merge(index, profile, lambda: False)
    ends = [fraction(units, measure) for units in whole(profile.high, profile.low)]
    return profile, list(zip(ends, profile.phi.tolist(), strict=True))


def joined(steps):
    """Without ends between equal widths."""
    return [step for step, after in zip(steps, [*steps[1:], (0, -1.0)], strict=True) if step[1] != after[1]]


@pytest.mark.parametrize("d", [1, 3])
@pytest.mark.parametrize("n", [2, 30, 90])
def test_all_steps(n, d):
    X, weights = RNG.normal(size=(n, d)), RNG.random(n)
    profile, found = steps_of(X, weights)
    assert joined(found) == Truth(X, weights).steps
    assert np.array_equal(profile.owner >= 0, profile.phi > 0.0)


@pytest.mark.parametrize(
    "room",
    [{"found": mass_steps.FEW}, {"places": 90}, {"widths": 2}, {"found": 40, "places": 90, "lists": 1}],
)
def test_room_that_is_found_to_be_short(room):
    """Whatever is full is emptied or made longer, and it goes on."""
    X, weights = RNG.normal(size=(90, 2)), RNG.random(90)
    assert steps_of(X, weights, **room)[1] == steps_of(X, weights)[1]


def test_a_column_that_is_stopped_leaves_nothing(monkeypatch):
    monkeypatch.setattr(mass_solve, "PATIENCE", 0)
    X, weights = RNG.normal(size=(90, 1)), RNG.random(90)
    measure = Measure.of(weights)
    profile = MassProfile.nothing(measure, 1)
    order = np.argsort(X[:, 0])
    steps = ColumnSteps(X[order, 0], measure.high[order], measure.low[order])
    assert not steps.merge(0, profile, lambda: True)
    assert profile.phi.tolist() == [0.0]
    assert steps_of(X, weights)[1][-1][1] == np.ptp(X)  # and without haste it finds all


def test_of_equal_columns_the_first_attains_phi():
    column, weights = RNG.normal(size=(40, 1)), RNG.random(40)
    profile, _ = steps_of(np.hstack([column, column]), weights)
    assert set(profile.owner.tolist()) == {-1, 0}
    measure = profile.measure
    again = MassProfile.nothing(measure, 2)
    order = np.argsort(column[:, 0])
    for index in (1, 0):
        ColumnSteps(column[order, 0], measure.high[order], measure.low[order]).merge(
            index, again, lambda: False
        )
    assert np.array_equal(again.owner, profile.owner)


def test_a_column_below_others_is_told_by_few_starts():
    """Nothing is searched where the widest window lies below what others reached."""
    X, weights = np.sort(RNG.normal(size=(2000, 1)), axis=0), RNG.random(2000)
    alone, _ = steps_of(X, weights)
    both, _ = steps_of(np.hstack([X, X * 0.5]), weights)
    assert both.work[0] - alone.work[0] < 0.5 * alone.work[0]
    assert np.array_equal(both.phi, alone.phi)


# ---------------------------------------------------------------- counters


@pytest.mark.turns(4)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("steps", [10, 5000, 2**21])
def test_counters_hold_all_mass(kind, steps):
    weights = some_weights(RNG, 30, kind)
    weights = weights[weights > 0]
    measure = Measure.of(weights)
    shift, rounded = counting_unit(measure, steps)
    assert (measure.total >> shift) * (steps + 2) < 2**53
    assert rounded == any(units % 2**shift for units in whole(measure.high, measure.low))
    at = RNG.integers(0, steps, weights.size)
    high, low = np.zeros((2, steps), np.int64)
    kernels.add_masses(at, measure.high, measure.low, high, low)
    counts = np.empty(steps, np.int64)
    kernels.rounded_counts(high, low, shift, counts)
    assert counts.min() >= 0
    assert counts.sum() == measure.total >> shift
    exact = np.zeros(steps, object)
    np.add.at(exact, at, whole(measure.high, measure.low))
    for first, stop in ((0, steps), (3, 7), (steps // 2, steps)):
        off = Fraction(int(exact[first:stop].sum()), 2**shift) - int(counts[first:stop].sum())
        assert -1 < off < 1
        assert off == 0 or rounded


def test_whole_weights_are_counted_as_they_are():
    weights = np.array([3, 10**9, 5])
    measure = Measure.of(weights)
    shift, rounded = counting_unit(measure, 1000)
    assert (measure.total >> shift, rounded) == (10**9 + 8, False)


def test_a_driver_that_is_late_starts_no_column():
    from geodim.data.checks import scan_ranges
    from geodim.data.measures import weighted_source
    from geodim.data.sources import as_source
    from geodim.engine.ways import mass_way

    source = weighted_source(as_source(RNG.normal(size=(50, 3))), RNG.random(50))
    driver = Driver(deadline=0.0)
    way = mass_way(50, 3, 1, steps=np.inf, leave_out=0)
    profile = mass_solve.mass_profile(
        source, way, step=0.0, ranges=scan_ranges(source), leaders=[], n_threads=1, driver=driver
    )
    assert profile.stopped == "time limit"
    assert not profile.done.any()
