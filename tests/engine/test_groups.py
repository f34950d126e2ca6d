"""Groups of blocks: their bounds, what is kept of them, and bounds of gaps."""

from __future__ import annotations

import numpy as np
import pytest

from distributions import column
from engine.oracle import KINDS, padded, phi
from engine.pyramids import blocks_of, levels, listed, pyramid_of
from geodim.engine.kernels import gaps, groups as kernels, pyramid
from geodim.engine.kernels.counters import LEAVES, N_COUNTERS, WINDOWS
from geodim.engine.kernels.pyramid import BASE, BLOCK, BLOCK_SHIFT, GROUP, PEAK, S0, SLOPE
from geodim.engine.lattices import lattice


@pytest.mark.parametrize("name", ["integers_below_n", "duplicates", "half_zero", "rounded", "exponential"])
def test_filters_keep_a_narrowest_window_of_every_size(name):
    """Of the blocks kept, some start is as good as the best of all, at every size of the gap."""
    n, shift, size = 321, 5, BASE
    for seed in range(3):
        l = padded(column(name, n, seed))
        for g in range(1, n >> shift):
            blocks = [j for j in range(n // size + 1) if (j + g) * size < n]
            sizes = range(g * size, min((g + 1) * size, n))
            groups = listed(blocks)
            lows = np.zeros(GROUP * groups.size)
            kept, v, least = kernels.filter_plainly(l, n, shift, g, -1, groups, lows, 0, groups.size)
            starts = np.concatenate(
                [np.arange(j * size, min((j + 1) * size, n)) for j in blocks_of(groups[:kept])]
            )
            best = [(l[starts + d] - l[starts]).min() for d in sizes]
            own = [(l[d:n] - l[: n - d]).min() for d in sizes]
            assert best == own
            assert least <= min(own)
            assert max(own) <= v


def test_filters_without_an_upper_bound_drop_blocks_without_starts():
    """No peak window exists for the whole gap, and the second block repeats the last value of the first."""
    n = 200
    bent = 500.0 * np.sqrt(np.arange(64.0) / 63.0)  # far above its chord in the middle
    values = np.concatenate([bent, np.full(64, 500.0), 600.0 + np.arange(72.0)])
    l = padded(values)
    records = np.empty((pyramid.RECORD, 4 + pyramid.SPARE))
    pyramid.build_base(l, n, records, 4, 0.0, float(values[-1]))
    assert records[S0, 1] == -np.inf
    groups, lows = np.empty(1, np.int64), np.empty(GROUP)
    kept, blocks, v, owner, least, tested = kernels.filter_groups(
        n, records, 0, 6, 2, 0.0, -1, 0, 0, groups, lows, -1e-12, -np.inf
    )
    assert (kept, blocks, blocks_of(groups), owner, tested) == (1, 1, [0], -1, GROUP)
    assert v == np.inf
    assert least == lows[0] <= l[128] - l[0]


def test_filters_keep_a_block_of_ties_that_is_as_narrow_as_the_bound():
    """Its narrowest windows start at its first value, from where the block before must not take its bound."""
    l = padded(
        np.concatenate(
            [np.linspace(-9e6, -1e6, 32), np.full(32, 100.0), np.full(32, 105.0), np.linspace(1e6, 9e6, 32)]
        )
    )
    groups = listed([0, 1, 2])
    kept, _, least = kernels.filter_plainly(l, 128, 5, 1, -1, groups, np.zeros(GROUP), 0, 1)
    assert 1 in blocks_of(groups[:kept])
    assert least <= 5.0


def test_values_that_rise_by_steps_are_told_from_others():
    """Steps as long as a block or longer are; not shorter ones, nor values apart."""
    n, size, g = 4096, BLOCK, 20
    rng = np.random.default_rng(5)
    for values, steps in (
        (np.arange(n) // 200, True),
        (np.arange(n) // 64, True),
        (np.arange(n) // 8, False),
        (np.arange(n), False),
        (rng.random(n), False),
        (rng.standard_normal(n), False),
    ):
        l = padded(np.sort(values.astype(float)))
        records = np.empty((pyramid.RECORD, n // size + pyramid.SPARE))
        pyramid.build_base(l, n, records, n // size, 0.0, float(l[n - 1] - l[0]))
        # Near either end the chords that give slopes are shorter.
        assert {gaps.has_steps(records, block, g, size) for block in range(17, 27)} == {steps}


@pytest.mark.parametrize("name", KINDS)
def test_groups_bound_every_window_of_their_blocks(name):
    """Every gap of every level, all blocks or the halves of some: bounds, what is kept, and what is least."""
    n = 1500
    l, layout, records, grain, slack, span = pyramid_of(name, n)
    rng = np.random.default_rng(n)
    for level, size, blocks, start in levels(layout):
        for g in range(1, len(blocks)):
            c = gaps.quantise(float(records[SLOPE, start + rng.integers(len(blocks))]), grain, span / size)
            groups, lows = np.zeros(layout.total // GROUP, np.int64), np.empty(layout.total)
            starting = len(blocks) - g
            wanted = set(range(starting))
            parents, n_parents = -1, 0
            if level + 1 < layout.counts.size:
                some = [j for j in range(int(layout.counts[level + 1])) if rng.random() < 0.4] or [0]
                above = listed(some)
                parents, n_parents = int(layout.offsets[level + 1]) // GROUP, above.size
                groups[parents : parents + n_parents] = above
                wanted = {j for parent in some for j in (2 * parent, 2 * parent + 1) if j < starting}
            kept, count, v, owner, least, tested = kernels.filter_groups(
                n,
                records,
                start,
                BLOCK_SHIFT + level,
                g,
                c,
                parents,
                n_parents,
                0,
                groups,
                lows,
                -slack,
                -np.inf,
            )
            here = start // GROUP
            stay = blocks_of(groups[here : here + kept])
            assert len(stay) == count <= tested
            lower = {
                (int(groups[here + t]) >> GROUP) * GROUP + lane: lows[start + t * GROUP + lane]
                for t in range(kept) for lane in range(GROUP)
            }  # fmt: skip
            if stay:
                assert least == min(lower[j] for j in stay)
            e = np.arange(min(size, n - g * size))
            for j in range(starting):
                first = np.arange(j * size, min((j + 1) * size, n - g * size))
                first = first[[i == 0 or l[i] != l[i - 1] for i in first]]
                ends = np.minimum(np.add.outer(first, g * size + e), n)  # beyond the end is infinity
                widths = l[ends] - l[first, np.newaxis] - c * e
                if j in lower and widths.size:
                    assert lower[j] <= widths.min() + slack
                if j in wanted and widths.size and widths.min() < v - slack - abs(v) * 1e-12:
                    assert j in stay
            if v < np.inf:
                assert owner in stay
                peak = int(records[PEAK, start + owner])
                assert np.all(l[peak + g * size + e] - l[peak] - c * e <= v + slack)


@pytest.mark.parametrize("name", KINDS)
def test_bounds_of_gaps_lie_below_phi(name):
    """And mostly not by much, where windows differ: they shall drop other columns."""
    n = 3000
    l, layout, records, grain, slack, span = pyramid_of(name, n)
    own = phi(l, n)
    quantum = lattice(l, n, max(abs(l[0]), abs(l[n - 1])))[2]
    for lowest in range(1, layout.counts.size):
        found, ranges = np.full(n, np.nan), np.empty((n, 2), np.int64)
        groups, lows = np.empty(layout.total // GROUP, np.int64), np.empty(layout.total)
        work = np.zeros(N_COUNTERS, np.int64)
        count = gaps.solve_gaps(
            l, n, records, layout.offsets, layout.counts, grain, slack, quantum or -slack, 0.0, np.inf, span,
            0, int(layout.counts[-1]), np.zeros(n), 0.0, False, lowest, 1 << 40, found, ranges, groups, lows,
            work,
        )  # fmt: skip
        bounded = np.concatenate([np.arange(*one) for one in ranges[:count]])
        assert bounded.tolist() == list(range(BLOCK << lowest, n))
        bounded = bounded[bounded % BLOCK == 0]
        assert np.all(found[bounded] <= own[bounded])
        if name in ("normal", "uniform") and lowest == 1:
            assert np.median(found[bounded] / own[bounded]) > 0.7
    assert not work[[LEAVES, WINDOWS]].any()
