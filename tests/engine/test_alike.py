"""Columns whose windows are all alike: bounds in rational arithmetic, bits, and how much is looked at."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import geodim.engine.column as column_module
from distributions import COLUMNS, column
from engine.oracle import assert_same_bits, padded, phi as brute_force
from geodim.data.sources import as_source
from geodim.engine.alike import Bent, Lines, Straight, extremes, largest, least_ahead
from geodim.engine.kernels import alike, joins, lines
from geodim.engine.kernels.counters import N_COUNTERS, TESTS, WINDOWS
from geodim.engine.solve import compute_profile

# What is a line but for roundings, in one way or another.
ROUNDED = {
    "ranks over n": lambda n: np.arange(1, n + 1) / n,
    "tenths": lambda n: 0.1 * np.arange(n),
    "float32": lambda n: (np.arange(n) / (n - 1)).astype(np.float32).astype(np.float64),
    "from a date on": lambda n: 1.7e9 + 0.1 * np.arange(n),
    "from below 0": lambda n: np.linspace(-1.0, 2.0, n),
    "angles": lambda n: 2.0 * np.pi * np.arange(n) / n,
    "with gaps": lambda n: 0.1 * np.arange(n) + 100.3 * (7 * np.arange(n) // n),
    "downwards": lambda n: -np.arange(n) / 7.0,
    "tiny": lambda n: np.arange(n) / 7.0 * 1e-300,
    "denormal": lambda n: np.arange(n) * 5e-324,
    "large": lambda n: np.arange(n) / 7.0 * 1e250,
    "a pattern": lambda n: np.arange(n) + 0.25 * (np.arange(n) % 3 == 1),
    "two slopes": lambda n: np.where(np.arange(n) < n // 3, 0.1, 0.7) * np.arange(n),
}
NOISY = ["grid_jitter_hundredth", "grid_jitter_third", "grid_jitter_three", "grid_jitter_uniform"]


def solved(make, l, n):
    phi, work = np.zeros(n), np.zeros(N_COUNTERS, np.int64)
    ranges, count = make(l, n).solve(l, n, 1, n, np.zeros(n), False, phi, work)
    assert ranges[:count].tolist() == [[1, n]]
    return phi, work


# ---------------------------------------------------------------- the bits


@pytest.mark.parametrize("make", [Straight.of, Bent.of], ids=["straight", "bent"])
@pytest.mark.parametrize("name", ROUNDED)
def test_lines_but_for_roundings(name, make):
    for n in (130, 1111):
        l = padded(np.sort(ROUNDED[name](n)))
        assert_same_bits(solved(make, l, n)[0], brute_force(l, n))


@pytest.mark.turns(5)
@pytest.mark.parametrize("name", sorted(set(COLUMNS) - {"constant", "largest", "signed_zeros"}))
def test_any_column_may_be_taken_for_alike(name):
    n = 700
    l = padded(np.sort(column(name, n).astype(np.float64)) + 0.0)
    for make in (Straight.of, Bent.of):
        assert_same_bits(solved(make, l, n)[0], brute_force(l, n))


@pytest.mark.parametrize("name", [*ROUNDED, *NOISY])
def test_the_whole_way_agrees_with_the_oracle(name):
    n = 1500
    values = ROUNDED[name](n) if name in ROUNDED else column(name, n).astype(np.float64)
    X = np.random.default_rng(1).permutation(values)[:, np.newaxis]
    profile = compute_profile(as_source(X), n_threads=1)
    assert_same_bits(profile.phi[1:], brute_force(np.sort(values), n)[1:])


def test_a_recursion_that_looks_too_often_goes_on_the_other_way(monkeypatch):
    """Same bits; the smallest windows, majority runs and what others reached included."""
    rng = np.random.default_rng(2)
    X = np.stack([rng.normal(size=3000), rng.standard_cauchy(3000), rng.integers(0, 900, 3000)], axis=1)
    X[:1400, 1] = 0.25
    expected = compute_profile(as_source(X), n_threads=1)
    monkeypatch.setattr(column_module, "MOST_LOOKS", 1)
    for threads in (1, 2):
        found = compute_profile(as_source(X), n_threads=threads)
        assert_same_bits(found.phi, expected.phi)
        assert np.array_equal(found.owner, expected.owner)


# ---------------------------------------------------------------- the bounds, in rationals


@pytest.mark.parametrize("name", ROUNDED)
def test_lines_enclose_their_values(name):
    n = 1111
    l = padded(np.sort(ROUNDED[name](n)))
    made = Bent.of(l, n)
    for level in range(made.counts.size):
        size = 32 << (2 * level)
        for block in range(0, int(made.counts[level]), 5):
            slope, low, high, off = made.records[made.offsets[level] + block].tolist()
            first = block * size
            for at in range(first, min(first + size, n), 7):
                residual = Fraction(l[at]) - Fraction(l[first]) - Fraction(slope) * (at - first)
                assert Fraction(low) - Fraction(off) <= residual <= Fraction(high) + Fraction(off)


@pytest.mark.parametrize("name", [*ROUNDED, "normal", "cauchy"])
def test_least_widths_and_quanta(name):
    n = 600
    values = ROUNDED[name](n) if name in ROUNDED else column(name, n)
    l = padded(np.sort(values))
    made = Bent.of(l, n)
    exact = [Fraction(value) for value in l[:n].tolist()]
    for d0 in (32, 416):
        around, c = float(l[d0 + 5] - l[5]), float(made.records[0, lines.SLOPE])
        head, tail = lines.halves(c)
        assert Fraction(head) + Fraction(tail) == Fraction(c)
        for level, j in ((0, 0), (0, 3), (1, 0), (1, 1)):
            shift = 5 + 2 * level
            low, exponent = alike.least_width(
                l, made.records, made.quanta, made.offsets[level], made.counts[level], shift, j, d0, c, head,
                tail, around,
            )  # fmt: skip
            widths = [
                (exact[i + d0 + e] - exact[i], e)
                for i in range(j << shift, min((j + 1) << shift, n), 3)
                for e in (0, 1, 13, 30, 31)
                if i + d0 + e < n
            ]
            assert all(width - Fraction(around) - Fraction(c) * e >= Fraction(low) for width, e in widths)
            assert all((width / Fraction(2) ** int(exponent)).denominator == 1 for width, _ in widths)


def test_what_is_not_narrower_lowers_nothing():
    """Around the middle between two floats, where rounding goes to the even one."""
    settled = np.zeros(1, np.bool_)
    rng = np.random.default_rng(3)
    for width in [1.0, 1.0 + 2.0**-52, 1.0 + 2.0**-51, *rng.random(20).tolist(), 2.0**-1022, 3e-310, 5e-324]:
        step = width - math.nextafter(width, 0.0)
        best = np.array([width])
        for quantum in (0.0, step / 8, step / 2, step, 4 * step):
            bound = Fraction(
                alike.narrower(best, settled, 32, 1, width, 0.0, np.zeros(1), quantum)
            ) + Fraction(width)
            grain = Fraction(quantum) or Fraction(step) / 16
            near = Fraction(width) // grain * grain
            for multiple in range(-40, 8):
                exact = near + multiple * grain
                if exact > bound:
                    assert float(exact) >= width
    assert alike.narrower(np.zeros(1), settled, 32, 1, 0.0, 0.0, np.zeros(1), 1.0) == -np.inf
    assert alike.narrower(np.full(1, np.inf), settled, 32, 1, 0.0, 0.0, np.zeros(1), 1.0) == np.inf
    assert alike.narrower(np.ones(1), ~settled, 32, 1, 0.0, 0.0, np.zeros(1), 1.0) == -np.inf


REPEATED = {  # with noise that is small, as large as the pattern, larger, or that of float32
    "weekdays": lambda n, rng: np.arange(n) // 5 * 7 + np.arange(n) % 5 + 0.01 * rng.normal(size=n),
    "weekdays, uniform": lambda n, rng: np.arange(n) // 5 * 7 + np.arange(n) % 5 + 0.9 * rng.random(n),
    "weekdays, blurred": lambda n, rng: np.arange(n) // 5 * 7 + np.arange(n) % 5 + 0.5 * rng.normal(size=n),
    "days without nights": lambda n, rng: (
        np.arange(n) // 16 * 24 + np.arange(n) % 16 + 1e-6 * rng.normal(size=n)
    ),
    "with pauses": lambda n, rng: (
        np.arange(n) + 0.1 * rng.normal(size=n) + 300.0 * (4 * np.arange(n) // n) ** 2
    ),
    "weekdays with a pause": lambda n, rng: (
        np.arange(n) // 5 * 7 + np.arange(n) % 5 + 0.01 * rng.normal(size=n) + 99.0 * (3 * np.arange(n) > n)
    ),
    "with outliers": lambda n, rng: np.append(
        np.arange(n - 9) + rng.random(n - 9), n * (2 + 9 * rng.random(9))
    ),
    "float32": lambda n, rng: (
        (np.arange(n) // 3 * 7 + np.array([0, 1, 5])[np.arange(n) % 3]).astype(np.float32)
        * np.float32(0.1 + 0.01 * rng.random())
    ).astype(np.float64),
}


def units(value):
    """A float as a multiple of the smallest one, whose sums are exact and quicker than those of fractions."""
    numerator, denominator = float(value).as_integer_ratio()
    return numerator * ((1 << 1074) // denominator)


@pytest.mark.parametrize("name", [*ROUNDED, *NOISY, *REPEATED])
def test_departures_and_what_is_left_out(name):
    """Exactly: where values lie, and that windows that are not tried are as wide as zones tell."""
    n = 500
    if name in REPEATED:
        values = REPEATED[name](n, np.random.default_rng(8))
    else:
        values = ROUNDED[name](n) if name in ROUNDED else column(name, n)
    l = padded(np.sort(values))
    made = Straight.of(l, n)
    zones, period = made.zones, made.pattern.size
    slope, margin = units(made.slope) + units(made.rest), units(made.margin)
    departures = [units(l[i]) - units(l[0]) - slope * i for i in range(n)]
    u = [units(made.u[i]) for i in range(n)]
    means = [departures[i] - u[i] for i in range(period)]
    for i in range(n):
        assert 2 * abs(u[i] + means[i % period] - departures[i]) <= margin
    for i, j in np.random.default_rng(n).integers(0, n, (300, 2)).tolist():
        assert departures[j] - departures[i] >= units(made.pattern[(j - i) % period]) + u[j] - u[i] - margin
    phi = brute_force(l, n)
    # A few sizes are fewer than there are phases.
    for d0, sizes in ((32, 96), (160, 96), (n // 2 // 32 * 32, 96), (160, 3)):
        for wanted in (2.0, 24.0):
            best, unsure = np.full(sizes, np.inf), np.ones(sizes, np.bool_)
            outside = np.empty((period, zones.powers.size))
            guess = joins.first_guess(zones.starts.levels.size, zones.starts.out, zones.starts.levels)
            joins.try_extremes(
                l, made.mirrored, n, d0, sizes, period, zones.edges, zones.kinds, zones.trends,
                zones.spreads, zones.starts.arrays, zones.ends.arrays, wanted, np.full(period, guess),
                joins.scratch_for(zones.kinds.size, period), outside, unsure, best,
            )  # fmt: skip
            for d in (d0 + np.flatnonzero(~unsure & (best > phi[d0 : d0 + sizes]))).tolist():
                bound = units(outside[d % period].min()) - margin
                for i in np.flatnonzero(l[d:n] - l[: n - d] < best[d - d0]).tolist():
                    assert departures[i + d] - departures[i] >= bound
    for power, kind in zip(zones.powers[zones.kinds].tolist(), range(zones.kinds.size), strict=True):
        if power > 0.0:
            for value in l[zones.edges[kind] : zones.edges[kind + 1]].tolist():
                assert units(value) % units(power) == 0


@pytest.mark.parametrize("name", REPEATED)
def test_patterns_with_noise(name):
    for n in (150, 1400, 12_000):
        l = padded(np.sort(REPEATED[name](n, np.random.default_rng(n))))
        assert_same_bits(solved(Straight.of, l, n)[0], brute_force(l, n))


SLOPES = {
    "two": [(0.5, 1.7)],
    "falling": [(0.3, 0.6)],
    "three": [(0.25, 3.0), (0.6, 0.5)],
    "with a jump": [(0.5, 1.7), (0.5, 900.0)],
}


@pytest.mark.parametrize("name", SLOPES)
def test_a_few_lines_with_noise(name):
    for n in (4096, 9001):
        steps = np.ones(n)
        for share, slope in SLOPES[name]:
            if slope > 100.0:
                steps[int(share * n)] = slope
            else:
                steps[int(share * n) :] = slope
        for noise in (0.01, 0.3):
            values = np.cumsum(steps) + noise * np.random.default_rng(n).normal(size=n)
            l = padded(np.sort(values))
            made = Lines.of(l, n)
            assert made is not None
            assert_same_bits(solved(lambda *_, made=made: made, l, n)[0], brute_force(l, n))
    assert Lines.of(padded(np.sort(np.random.default_rng(1).normal(size=9000))), 9000) is None
    assert Lines.of(padded(np.arange(3000.0)), 3000) is None


def test_extremes():
    rng = np.random.default_rng(4)
    u = rng.normal(size=40 * 32)
    kinds = np.repeat([3, 3, 3, 7], 10)
    chosen = extremes(u, kinds)
    assert np.unique(chosen // 32).size == chosen.size
    assert all(u[at] == u[at // 32 * 32 : (at // 32 + 1) * 32].max() for at in chosen.tolist())
    assert set(kinds[chosen // 32]) == {3, 7}
    assert largest(u, np.array([0, 640, 1280])).size == 16
    assert u[largest(u, np.array([0, 640, 1280]))].min() > np.quantile(u, 0.6)
    expected = [u[i : i + 32].min() for i in range(u.size)]
    assert_same_bits(least_ahead(u), np.array([*expected, *[np.inf] * 32]))


def test_quanta():
    values = np.concatenate(
        [np.full(32, 0.0), np.full(32, 3.0), np.full(32, -0.75), np.full(31, 1.5), [5e-324]]
    )
    quanta = np.empty(4, np.int32)
    lines.lowest_bits(values.view(np.int64), 128, quanta)
    assert quanta.tolist() == [lines.NO_BIT, 0, -2, -1074]


# ---------------------------------------------------------------- huge values


@pytest.mark.parametrize("scale", [1e305, 2.0**1000, 1e300])
def test_huge_values_are_scaled(scale):
    values = np.random.default_rng(5).uniform(-1.0, 1.0, 1500) * scale
    profile = compute_profile(as_source(values[:, np.newaxis]), n_threads=1)
    assert_same_bits(profile.phi, brute_force(np.sort(values), 1500))
    assert profile.work[TESTS] > 0  # bounds, not every window


def test_huge_columns_beside_others():
    rng = np.random.default_rng(6)
    X = np.stack(
        [rng.normal(size=900) * 1e306, rng.integers(0, 2, 900) * 1e307, rng.normal(size=900)], axis=1
    )
    expected = np.max([brute_force(np.sort(x), 900) for x in X.T], axis=0)
    for order in ([0, 1, 2], [2, 1, 0], [1, 0, 2]):
        profile = compute_profile(as_source(np.ascontiguousarray(X[:, order])), n_threads=1)
        assert_same_bits(profile.phi, expected)


def test_huge_values_beside_the_smallest_are_evaluated():
    values = np.concatenate([np.arange(300) * 5e-324, np.arange(1.0, 301.0) * 1e305])
    profile = compute_profile(as_source(values[:, np.newaxis]), n_threads=1)
    assert_same_bits(profile.phi, brute_force(np.sort(values), 600))


def drawn(rng, n):
    """A column whose windows are alike, of a kind that is drawn: binades, ties, patterns, jumps and noise."""
    kind = rng.integers(6)
    x = np.arange(n) * (1.0 if kind < 3 else rng.choice([0.1, 1.0 / 3.0, 7.0 / n]))
    if rng.random() < 0.4:  # a pattern
        period = int(rng.integers(2, 9))
        x = x + np.resize(rng.integers(0, 4, period) * x[1], n)
    if rng.random() < 0.5:  # noise, of which little may be left after rounding
        x = x + rng.choice([1e-12, 1e-6, 0.01, 0.3]) * x[1] * rng.normal(size=n)
    if rng.random() < 0.3:
        x = x + 40.0 * x[1] * (np.arange(n) > rng.integers(n))
    if rng.random() < 0.3:
        x = x - x[rng.integers(n)]  # values of both signs: quanta differ from place to place
    x = x / 3.0 if kind == 4 else x
    if kind in (1, 5):
        x = x.astype(np.float32).astype(np.float64)
    elif kind == 2:
        x = np.round(x * 16.0) / 16.0
    return np.sort(x) + 0.0


@pytest.mark.parametrize("seed", range(40))
def test_descents_over_sixteen_blocks_miss_nothing(seed):
    """Whatever is dropped together is no narrower; numbers of blocks around powers of sixteen."""
    rng = np.random.default_rng([seed, 16])
    n = int(rng.choice([130, 511, 512, 513, 1000, 2047, 3001]))
    l = padded(drawn(rng, n))
    exact = brute_force(l, n)
    line = Straight.of(l, n)
    without = replace(line, starts=line.starts[:1], ends=line.ends[:1])  # so that descents have much to find
    for way in (line, without, Bent.of(l, n)):
        phi, work = np.zeros(n), np.zeros(N_COUNTERS, np.int64)
        way.solve(l, n, 1, n, np.zeros(n), False, phi, work)
        assert_same_bits(phi, exact)


@pytest.mark.parametrize("size", [1, 2, 7, 8, 9, 31, 32, 33, 128])
def test_residuals_from_two_lines_at_once(size):
    """The same floats as one by one, for every length."""
    l = np.sort(np.random.default_rng(size).normal(size=size + 5))
    slopes = [float(lines.fitted_slope(l, 3, size)), 0.01]
    found = lines.residual_ranges(l, 3, size, *slopes)
    for at, slope in enumerate(slopes):
        head, tail = lines.halves(slope)
        residuals = [0.0]
        for t in range(size):
            width, lost = lines.difference(l[3 + t], l[3])
            residuals.append(((width - head * t) - tail * t) + lost)
        assert found[2 * at : 2 * at + 2] == (min(residuals), max(residuals))
    if size > 1:
        expected = np.polyfit(np.arange(size), l[3 : 3 + size], 1)[0]
        assert slopes[0] == pytest.approx(expected, rel=1e-9)


# ---------------------------------------------------------------- how much is looked at

TEST_LOOKS = 8  # a test takes as long as so many windows
SLOW = {
    **{name: ROUNDED[name] for name in ("ranks over n", "tenths", "float32", "from a date on", "with gaps")},
    **{
        name: (lambda n, name=name: column(name, n))
        for name in (*NOISY, "linspace_32", "tenths_32", "normal")
    },
    "grid": np.arange,
    "powers of two": lambda n: column("powers_of_two", n),
    "huge": lambda n: np.random.default_rng(0).normal(size=n) * 1e305,
}


@pytest.mark.parametrize("name", SLOW)
def test_looks_for_each_value_do_not_grow(name):
    """Twice as many points are looked at twice as often, or little more; a square would double this."""
    looks = []
    for n in (20_000, 40_000):
        work = compute_profile(as_source(SLOW[name](n)[:, np.newaxis]), n_threads=1).work
        looks.append((TEST_LOOKS * int(work[TESTS]) + int(work[WINDOWS])) / n)
    assert looks[1] <= 1.35 * looks[0] + 150.0
    assert looks[1] <= 3000.0
