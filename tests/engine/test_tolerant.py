"""Columns whose windows are all alike, solved to within a tolerance: bounds that hold, whatever the order."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest

import geodim
from distributions import COLUMNS
from engine.alike_columns import ALIKE, WAVES, sorted_column
from engine.oracle import assert_same_bits, padded, phi as brute_force
from geodim import paper
from geodim.data.sources import as_source
from geodim.engine import layout, patterns, tolerant
from geodim.engine.alike import Bent, Straight
from geodim.engine.checkpoint import Checkpoint
from geodim.engine.hard import (
    is_straight,
    margin,
)
from geodim.engine.kernels import even_parts, ladders
from geodim.engine.kernels.counters import N_COUNTERS
from geodim.engine.kernels.pyramid import BASE
from geodim.engine.layers import Layers
from geodim.engine.layout import PyramidLayout
from geodim.engine.nested import Nested
from geodim.engine.profile import LOOSE, Profile
from geodim.engine.solve import compute_profile, way_of
from geodim.engine.target import Solved
from geodim.engine.tolerant import Tolerant, finest
from geodim.engine.ways import Way
from geodim.errors import DataFileError
from slow_columns import GOLDEN, clocks


def ways_of(l, n):
    return [Bent.of(l, n), *([Straight.of(l, n)] if is_straight(l, n) else [])]


@pytest.mark.parametrize("name", [*ALIKE, *(name for name in COLUMNS if "huge" not in name)])
def test_widths_exceed_phi_by_less_than_they_say(name):
    n = 1100
    l = sorted_column(name, n)
    span = float(l[n - 1] - l[0])
    if not 1e-250 < span < 1e250:
        return
    exact = brute_force(l, n)
    top = PyramidLayout(n).top_shift
    for way, bits in itertools.product(ways_of(l, n), (5, 9, 13, 20, 45)):
        tolerance = math.ldexp(span, -bits)
        made = Tolerant(replace(way, loose=tolerance), top, tolerance + 2.0 * math.ulp(span))
        phi, work = np.full(n, np.nan), np.zeros(N_COUNTERS, np.int64)
        ranges, count = made.solve(l, n, 1, n, np.zeros(n), False, phi, work)
        assert ranges[:count].tolist()[0][0] == 1
        assert np.all(phi[1:] >= exact[1:])
        assert np.all(phi[1:] - exact[1:] <= made.loose)
        # With a bar, every gap is solved in the same way, or lies below it.
        bar = np.maximum.accumulate(np.random.default_rng(bits).uniform(0.999, 1.001, n) * exact)
        other = np.full(n, -np.inf)
        for first in range(0, n, 1 << top):
            begin, end = max(first, 1), min(first + (1 << top), n)
            filled, number = made.solve(l, n, begin, end, bar, False, other, work)
            there = np.zeros(n, np.bool_)
            for a, b in filled[:number].tolist():
                there[a:b] = True
            part = np.arange(begin, end)
            assert_same_bits(other[part[there[part]]], phi[part[there[part]]])
            left_out = part[~there[part]]
            assert np.all(phi[left_out] < bar[left_out])


@pytest.fixture
def many_levels(monkeypatch):
    """Recursions go down as many levels as over a million points."""
    with monkeypatch.context() as patch:
        patch.setattr(layout, "TOP_BLOCKS", 4)
        made = {n: PyramidLayout(n) for n in (700, 1100, 4100)}
    monkeypatch.setattr(PyramidLayout, "of", lambda n: made[n])


@pytest.mark.parametrize("name", [*ALIKE, *WAVES, *(name for name in COLUMNS if "huge" not in name)])
@pytest.mark.parametrize("n", [700, 4100])
def test_the_recursion_is_off_by_less_than_it_says(name, n, many_levels):
    """Whatever others reached: then widths are the same, or lie below that."""
    l = sorted_column(name, n)
    span = float(l[n - 1] - l[0])
    if not 1e-250 < span < 1e250:
        return
    exact = brute_force(l, n)
    nested = Nested.of(l, n)
    for bits in (3, 6, 9, 13, 20, 38):
        way = replace(nested, loose=math.ldexp(span, -bits))
        if way.loose < way.finest:
            continue
        phi, work = np.zeros(n), np.zeros(N_COUNTERS, np.int64)
        ranges, count = way.solve(l, n, 1, n, np.zeros(n), False, phi, work)
        assert ranges[:count].tolist() == [[1, n]]
        assert np.all(phi[1:] >= exact[1:])
        assert np.all(phi[1:] - exact[1:] <= way.loose + 2.0 * math.ulp(span))
        bar = np.maximum.accumulate(np.random.default_rng(bits).uniform(0.999, 1.001, n) * phi)
        other = np.full(n, -np.inf)
        size = 1 << way.layout.top_shift
        for first in range(0, n, size):
            filled, number = way.solve(l, n, max(first, 1), min(first + size, n), bar, False, other, work)
            there = np.zeros(n, np.bool_)
            for a, b in filled[:number].tolist():
                there[a:b] = True
            part = np.arange(max(first, 1), min(first + size, n))
            assert_same_bits(other[part[there[part]]], phi[part[there[part]]])
            left_out = part[~there[part]]
            assert np.all(phi[left_out] < bar[left_out])


def test_the_larger_the_tolerance_the_less_is_looked_at(many_levels):
    n = 4100
    l = padded(np.sort(WAVES["fifty spacings high"](np.arange(n))))
    nested, span = Nested.of(l, n), float(l[n - 1] - l[0])
    looks = [replace(nested, loose=math.ldexp(span, -bits)).looks(l, n, 1e9) for bits in range(3, 20, 2)]
    assert looks == sorted(looks)
    assert looks[0] < 0.1 * looks[-1]
    assert replace(nested, loose=math.ldexp(span, -19)).looks(l, n, 0.5 * looks[-1]) == math.inf


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


def test_values_far_from_zero_have_lines_of_their_own(all_tolerant, monkeypatch):
    """There, roundings of the recursion would be larger than the tolerance."""
    n = 3000
    l = padded(np.sort(clocks(n)) + 2.0**44)
    span, top = float(l[n - 1] - l[0]), PyramidLayout.of(n).top_shift
    assert Nested.of(l, n).finest > math.ldexp(span, -8)
    monkeypatch.setattr(tolerant, "MANY", 4096)
    made = Tolerant.of(l, n, Bent.of(l, n), top, span, lambda: Bent.of(l, n), looks=1e9)
    assert isinstance(made.way, Bent)
    phi, work = np.zeros(n), np.zeros(N_COUNTERS, np.int64)
    made.solve(l, n, 1, n, np.zeros(n), False, phi, work)
    excess = phi[1:] - brute_force(l, n)[1:]
    assert excess.min() >= 0.0
    assert 0.0 < excess.max() <= made.loose


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
    assert result.evaluations < 1000 * n
    assert result.exact or 0.0 < result.error < 1e-2
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
    top = PyramidLayout.of(n).top_shift
    found = patterns.pattern_or_bent(l, n, top, False, margin(l, n) if near else 0.0)
    assert isinstance(found, Tolerant if near else Bent)
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
