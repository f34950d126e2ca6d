"""Columns whose windows are all alike, solved to within a tolerance: bounds that hold, whatever the order."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

import geodim
from distributions import COLUMNS
from engine.alike_columns import ALIKE, WAVES, sorted_column
from engine.oracle import assert_same_bits, padded, phi as brute_force
from geodim import paper
from geodim.data.sources import as_source
from geodim.engine import layout, patterns, stepped
from geodim.engine.alike import Bent
from geodim.engine.checkpoint import Checkpoint
from geodim.engine.hard import margin
from geodim.engine.kernels import even_parts, ladders
from geodim.engine.kernels.counters import N_COUNTERS
from geodim.engine.kernels.pyramid import BASE
from geodim.engine.layers import Layers
from geodim.engine.layout import PyramidLayout
from geodim.engine.nested import Nested
from geodim.engine.profile import LOOSE, Profile
from geodim.engine.solve import compute_profile, way_of
from geodim.engine.stepped import Stepped
from geodim.engine.target import Solved
from geodim.engine.tolerant import finest, within_tolerance
from geodim.engine.ways import Way
from geodim.errors import DataFileError
from slow_columns import GOLDEN, clocks


def assert_solved(way, l, n, size, exact):
    """Widths are off by less than is said, and the same, gap by gap, or below what others reached."""
    phi, work = np.append(0.0, np.full(n - 1, np.nan)), np.zeros(N_COUNTERS, np.int64)
    ranges, count = way.solve(l, n, 1, n, np.zeros(n), False, phi, work)
    assert ranges[0, 0] == 1
    assert ranges[count - 1, 1] == n
    assert np.array_equal(ranges[1:count, 0], ranges[: count - 1, 1])
    assert np.all(phi[1:] >= exact[1:])
    assert np.all(phi[1:] - exact[1:] <= way.loose)
    bar = np.maximum.accumulate(np.random.default_rng(n).uniform(0.999, 1.001, n) * phi)
    other = np.full(n, -np.inf)
    for first in range(0, n, size):
        begin, end = max(first, 1), min(first + size, n)
        filled, number = way.solve(l, n, begin, end, bar, False, other, work)
        there = np.zeros(n, np.bool_)
        for a, b in filled[:number].tolist():
            there[a:b] = True
        part = np.arange(begin, end)
        assert_same_bits(other[part[there[part]]], phi[part[there[part]]])
        left_out = part[~there[part]]
        assert np.all(phi[left_out] < bar[left_out])


KINDS = [*ALIKE, *WAVES, *(name for name in COLUMNS if "huge" not in name)]


@pytest.mark.parametrize("name", KINDS)
def test_counts_in_steps_are_off_by_less_than_they_say(name, monkeypatch):
    """Whatever the column: few steps or more than there are values, counted in either type."""
    n = 1100
    l = sorted_column(name, n)
    span = float(l[n - 1] - l[0])
    if not 1e-250 < span < 1e250:
        return
    exact = brute_force(l, n)
    monkeypatch.setattr(stepped, "ENOUGH", 0)
    for many, single in ((0.3, n), (4, 0), (300, n), (9000, 0)):
        monkeypatch.setattr(stepped, "MANY", many)
        monkeypatch.setattr(stepped, "MOST_SINGLE", single)
        way = Stepped.of(l, n)
        assert way.counts.dtype == (np.float32 if single else np.float64)
        assert way.loose == stepped.coarsest(span, n) <= stepped.coarsest_share(n) * span
        assert abs(way.loose / span * way.steps - 2.0) < 1e-6
        edges = l[0] + way.step * np.arange(way.steps + 1)
        there = np.abs(l[:n, np.newaxis] - edges).min(axis=0) > 1e-9 * span  # others may be on either side
        assert np.array_equal(way.counts[: way.steps + 1][there], np.searchsorted(l[:n], edges[there]))
        assert np.all(way.counts[way.steps :] == n)
        assert_solved(way, l, n, 256, exact)


def test_multiples_of_a_step_do_not_round():
    rng = np.random.default_rng(3)
    for n in (1 << 14, 10**6, (1 << 26) - 1):
        for span in rng.lognormal(0.0, 100.0, 50).tolist():
            step, steps = stepped.step_of(span, n), stepped.steps_of(n)
            assert all(Fraction(step) * i == Fraction(step * i) for i in (3, steps // 3, steps - 1, steps))
            assert span < step * steps < span * (1.0 + 2.0**-21)


@pytest.fixture
def many_levels(monkeypatch):
    """Recursions go down as many levels as over a million points."""
    with monkeypatch.context() as patch:
        patch.setattr(layout, "TOP_BLOCKS", 4)
        made = {n: PyramidLayout(n) for n in (700, 1100, 4100)}
    monkeypatch.setattr(PyramidLayout, "of", lambda n: made[n])


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize("n", [700, 4100])
def test_the_recursion_is_off_by_less_than_it_says(name, n, many_levels):
    """Whatever others reached: then widths are the same, or lie below that."""
    l = sorted_column(name, n)
    span = float(l[n - 1] - l[0])
    if not 1e-250 < span < 1e250:
        return
    exact = brute_force(l, n)
    nested = Nested.of(l, n, 0.0)
    for bits in (3, 6, 9, 13, 20, 38):
        way = nested.within(math.ldexp(span, -bits))
        if way.may_be_solved:
            assert_solved(way, l, n, 1 << way.layout.top_shift, exact)


def test_the_larger_the_tolerance_the_less_is_looked_at(many_levels):
    n = 4100
    l = padded(np.sort(WAVES["fifty spacings high"](np.arange(n))))
    nested, span = Nested.of(l, n, 0.0), float(l[n - 1] - l[0])
    looks = [nested.within(math.ldexp(span, -bits)).looks(l, n, 1e9) for bits in range(3, 20, 2)]
    assert looks == sorted(looks)
    assert looks[0] < 0.1 * looks[-1]
    assert nested.within(math.ldexp(span, -19)).looks(l, n, 0.5 * looks[-1]) == math.inf


def test_the_finest_that_suffices_is_approached_from_below():
    for coarse, fine in ((11, 46), (11, 12), (3, 9)):
        for most in range(coarse - 1, fine):
            tried = []

            def suffices(bits, most=most, tried=tried):
                tried.append(bits)
                return bits <= most

            found = finest(suffices, coarse, fine)
            assert found == (most if most >= coarse else 0)
            assert len(tried) < 12
            assert all(coarse <= bits < fine for bits in tried)
            assert sum(bits > most for bits in tried) <= 5


def test_values_far_from_zero_are_counted_in_steps(all_tolerant):
    """There, roundings of the recursion would be larger than a tolerance of its own."""
    n = 3000
    l = padded(np.sort(clocks(n)) + 2.0**44)
    span = float(l[n - 1] - l[0])
    assert not Nested.of(l, n, 2.0 * span / stepped.steps_of(n)).may_be_solved
    way = within_tolerance(l, n, Bent.of(l, n), span, looks=1e9)
    assert isinstance(way, Stepped)
    assert_solved(way, l, n, 64, brute_force(l, n))


@pytest.mark.parametrize("name", [*ALIKE, *WAVES])
def test_what_is_chosen_is_as_fine_as_it_may_be(name, all_tolerant):
    """Steps only where the recursion would take too many looks within two of them, or finer tolerances."""
    n = 3000
    l = sorted_column(name, n)
    found = within_tolerance(l, n, Bent.of(l, n), float(l[n - 1] - l[0]), looks=1e9)
    in_steps = Stepped.of(l, n)
    if isinstance(found, Stepped):
        nested = Nested.of(l, n, 0.9 * in_steps.loose)
        assert not nested.may_be_solved or nested.looks(l, n, stepped.affordable(n) / 2) == math.inf
    else:
        assert found.loose < in_steps.loose
    assert_solved(found, l, n, 1 << PyramidLayout.of(n).top_shift, brute_force(l, n))


def test_ladders_hold_at_most_what_they_have_room_for():
    rng = np.random.default_rng(4)
    for values in (rng.normal(size=9000), np.zeros(9000), np.arange(9000.0), rng.integers(0, 3, 9000) * 1.0):
        for most in (1, 17, 500, 8999):
            at = ladders.exceeded_by(values, values.size, most)
            assert np.count_nonzero(values > at) <= most
    assert np.count_nonzero(values > ladders.exceeded_by(values, 9000, 4000)) > 2000


@pytest.mark.parametrize("name", WAVES)
def test_waves_take_little_work(name):
    """Grids that bend: no part of some of them is even, and all windows are alike."""
    n = 1 << 18
    values = WAVES[name](np.arange(n))
    result = geodim.intrinsic_dimension(values[:, np.newaxis], n_threads=1)
    assert result.evaluations < 1.25 * stepped.affordable(n) / 2 * n
    assert result.exact or 0.0 < result.error < 1e-3
    l = np.sort(values)
    for k in (2, 40, n // 7, n // 2, n - 5):
        low, high = result.phi_bounds(k)
        phi = float((l[k - 1 :] - l[: n - k + 1]).min())
        assert low - 2.0 * result.feature_error <= phi <= high + 2.0 * result.feature_error


def relaxed_profile(X, n_threads=1, width=None):
    source = as_source(X)
    way = way_of(source, None, 0.0, n_threads)
    way = Way(**{**vars(way), "relaxed": True, "width": width or way.width})
    return compute_profile(source, way, n_threads=n_threads)


def alike_columns(n):
    rng = np.random.default_rng(8)
    some = [
        clocks(n),
        clocks(n, GOLDEN + 1e-6) * (1.0 - 1e-4),
        clocks(n)[::-1] * (1.0 + 1e-5),
        0.7 * n * np.sort(rng.random(n)),
        clocks(n, 1.7) / 1.05 + 0.01 * rng.normal(size=n),
        clocks(n) * (1.0 - 2.0**-40),
        0.61 * np.arange(n) + 0.01 * rng.normal(size=n),
        0.8 * WAVES["eight spacings high"](np.arange(n)),
        n * WAVES["multiples of the golden ratio"](np.arange(n)),
    ]
    return np.stack([rng.permutation(values) for values in some], axis=1)


def test_the_same_bits_for_every_order_thread_and_block(all_tolerant):
    n = 3000
    X = alike_columns(n)
    reference = relaxed_profile(X)
    assert reference.loose > 1e-6
    exact = np.max([brute_force(padded(np.sort(values)), n) for values in X.T], axis=0)
    assert np.all(reference.phi[1:] >= exact[1:])
    assert np.all(reference.phi[1:] - exact[1:] <= reference.loose)
    for n_threads, width in itertools.product((1, 2, 3), (1, 3)):
        found = relaxed_profile(X, n_threads, width)
        assert_same_bits(found.phi, reference.phi)
        assert np.array_equal(found.owner, reference.owner)
        assert found.loose == reference.loose
    for seed in range(5):
        order = np.random.default_rng(seed).permutation(X.shape[1])
        found = relaxed_profile(X[:, order])
        assert_same_bits(found.phi, reference.phi)
        assert found.loose == reference.loose


def test_the_same_bits_where_columns_are_dropped_by_counts(all_tolerant):
    """From 64 columns on; some of these lie below others by less than their widths are known."""
    n = 3000
    rng = np.random.default_rng(2)
    some = alike_columns(n)
    scaled = [rng.permutation(some[:, 0]) * (1.0 - k * 1e-4) for k in range(1, 6)]
    X = np.concatenate([some, np.stack(scaled, axis=1), 0.3 * n * rng.random((n, 56))], axis=1)
    reference = relaxed_profile(X)
    assert reference.loose > 1e-6
    exact = np.max([brute_force(padded(np.sort(values)), n) for values in X.T], axis=0)
    assert np.all(reference.phi[1:] >= exact[1:])
    assert np.all(reference.phi[1:] - exact[1:] <= reference.loose)
    assert np.any(reference.phi > exact)
    for seed, n_threads in itertools.product(range(5), (1, 3)):
        order = np.random.default_rng(seed).permutation(X.shape[1])
        found = relaxed_profile(X[:, order], n_threads)
        assert_same_bits(found.phi, reference.phi)
        assert found.loose == reference.loose


def test_what_is_held_never_falls():
    """A width may exceed that of a larger size; then what others attain there may have been left out."""
    phi, owner = np.array([0.0, 1.0, 3.0, 2.9, 2.8, 3.5, 3.5]), np.array([-1, 2, 1, 0, 1, 2, 1], np.int32)
    for loose in (0.0, 0.3):
        profile = Profile.empty(7, 3)
        profile.relax(True)
        profile.phi[:], profile.owner[:] = phi, owner
        profile.notes[LOOSE][1] = loose
        profile.never_fall()
        if loose > 0.0:
            assert profile.phi.tolist() == [0.0, 1.0, 3.0, 3.0, 3.0, 3.5, 3.5]
            assert profile.owner.tolist() == [-1, 2, 1, 1, 1, 2, 1]
        else:
            assert_same_bits(profile.phi, phi)
            assert np.array_equal(profile.owner, owner)


def test_columns_left_out_below_a_width_that_falls_again_change_nothing():
    """One whose widths are known to within a tolerance and fall, before and after one that lies between."""
    n = 4 * BASE
    between = np.append(0.0, np.linspace(1.0, 2.0, n - 1))
    falling = between * 1.001
    falling[2 * BASE :] *= 0.9985
    found = []
    for order in ((0, 1), (1, 0)):
        profile = Profile.empty(n, 2)
        profile.relax(True)
        for which in order:
            widths, loose = ((falling, 0.01), (between, 0.0))[which]
            # What a solver leaves out: sizes at which the column lies below what was reached before.
            there = widths >= np.maximum.accumulate(profile.phi)
            edges = np.flatnonzero(np.diff(np.concatenate([[0], there, [0]])))
            ranges = edges.reshape(-1, 2).astype(np.int64)
            work = np.zeros(N_COUNTERS, np.int64)
            profile.merge(Solved(widths, ranges, which, 0, work, loose=loose))
        profile.never_fall()
        found.append(profile)
    assert_same_bits(found[0].phi, found[1].phi)
    assert np.array_equal(found[0].owner[1:], found[1].owner[1:])


def test_lowered_bars_never_fall():
    bar = np.append(0.0, np.cumsum(np.random.default_rng(0).random(200)))
    lower = even_parts.lowered_bar(bar, 1e-3, 4.0)
    assert np.all(np.diff(lower) >= 0.0)
    assert np.all(lower >= 0.0)
    assert np.all(lower[BASE:] == np.maximum(bar[BASE:] - 4.0, 0.0))
    assert np.all(lower[:BASE] <= np.maximum(bar[:BASE] - 1e-3, 0.0))
    assert lower[BASE - 1] == min(bar[BASE - 1] - 1e-3, lower[BASE])


def test_results_say_so_and_hold_the_exact_value(all_tolerant):
    X = alike_columns(3000)
    found, exact = geodim.intrinsic_dimension(X), geodim.intrinsic_dimension(X, last_bit=True)
    assert exact.exact
    assert_same_bits(exact.phi, paper.phi_all(X))
    assert not found.exact
    assert 0.0 < found.error < 0.05
    assert found.lower < exact.dimension < found.upper
    assert np.all(found.phi >= exact.phi)
    assert np.all(found.phi - exact.phi <= 2.0 * found.feature_error)


def test_exact_as_long_as_that_takes_little():
    """At this length every window may be looked at; what is announced is what is done."""
    n = 1 << 14
    X = np.random.default_rng(9).permutation(clocks(n))[:, np.newaxis]
    found = geodim.intrinsic_dimension(X)
    assert found.exact
    assert_same_bits(found.phi, brute_force(padded(np.sort(X[:, 0])), n)[1:])


@pytest.mark.parametrize("near", [True, False])
def test_lines_are_not_tried_where_they_cannot_save_enough(near, monkeypatch):
    """To find out whether they do would take as long as all the rest; but exact widths may need them."""
    n = 600_000
    l = padded(np.sort(clocks(n)))
    tried = []
    monkeypatch.setattr(patterns, "lines_or_bent", lambda *_: tried.append(1) or Bent.of(l, n))
    found = patterns.pattern_or_bent(l, n, False, margin(l, n) if near else 0.0)
    assert isinstance(found, Nested | Stepped if near else Bent)
    assert len(tried) == (0 if near else 1)


def test_what_was_off_is_known_wherever_a_pass_is_continued(tmp_path):
    """A cluster may solve hops exactly that one machine solves to within a tolerance, and the reverse."""
    for saved_by, read_by, noted in itertools.product((False, True), (False, True), (0.0, 0.5, -1.0)):
        layers, again = (Layers(5, 2, 1) for _ in range(2))
        layers.relax(saved_by)
        again.relax(read_by)
        if saved_by:
            layers.profiles[0].notes[LOOSE][1] = noted
        for profile in layers.profiles:
            profile.phi[1:], profile.owner[1:] = 1.0, 1
        store = Checkpoint(tmp_path, {})
        store.save(layers.profiles)
        if saved_by and noted < 0.0:
            with pytest.raises(DataFileError, match="is not a width"):
                store.load(again.profiles)
            continue
        assert store.load(again.profiles)
        for profile in again.profiles:
            assert profile.loose == (noted if saved_by else 0.0)


@pytest.mark.parametrize("rtol", [1e-300, 1e-15, 1e-14])
def test_a_tolerance_that_is_named_is_kept(all_tolerant, rtol):
    """Below what rounding allows columns are solved exactly, not to within what the engine would choose."""
    values = clocks(20_000)[:, np.newaxis]  # more windows than NumPy looks at
    ring = np.stack([np.arange(values.size), (np.arange(values.size) + 1) % values.size])
    assert geodim.intrinsic_dimension(values).error > 1e-6
    assert geodim.intrinsic_dimension(values, rtol=rtol).exact
    exact = geodim.khop_dimensions(values, ring, 0, last_bit=True)[0]
    assert geodim.khop_dimensions(values, ring, 0, rtol=rtol)[0].error == exact.error
