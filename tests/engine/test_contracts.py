"""What single kernels promise each other: bounds hold, and are as tight as they say.

Columns have a few hundred points.  A bound that is too wide, or a block that is looked at in vain, changes no
result: such changes are found here alone.  Small enough to be interpreted, as `tests/mutants.py` does.
"""

from __future__ import annotations

import numpy as np
import pytest

from distributions import column
from engine.oracle import KINDS, padded, phi
from engine.pyramids import levels, pyramid_of
from geodim.engine.kernels import columns, counted, gaps, pyramid, reading, tiles
from geodim.engine.kernels.pyramid import (
    BASE,
    BLOCK,
    FIRST,
    HEIGHT,
    PEAK,
    S0,
    SLOPE,
    SMOOTH,
    U0,
    U1,
    W0,
    W1,
)
from geodim.errors import InternalError

# ---------------------------------------------------------------- the pyramid


@pytest.mark.parametrize("n", [321, 512, 700])
@pytest.mark.parametrize("name", KINDS)
def test_lines_enclose_blocks_and_touch_them(name, n):
    """No value lies outside of the lines.

    At the finest level some value lies on either line, above it some line of a half does.
    """
    l, layout, records, _, _, _ = pyramid_of(name, n)
    near = 1e-12 * max(abs(l[0]), abs(l[n - 1]))
    for level, size, blocks, offset in levels(layout):
        for block in blocks:
            row, start = records[:, offset + block], block * size
            slope = row[SLOPE]
            assert row[FIRST] == l[start]
            values = l[start : min(start + size, n)]
            at = np.arange(values.size)
            residual = values - slope * at
            assert np.all(row[W0] <= residual + near)
            assert np.all(residual <= row[U0] + near)
            assert row[U1] == pytest.approx(row[U0] + slope * (size - 1), abs=near)
            assert row[W1] == pytest.approx(row[W0] + slope * (size - 1), abs=near)
            first_of = np.flatnonzero(
                values
                != (l[start - 1 : start + values.size - 1] if start else np.append(-np.inf, values[:-1]))
            )
            if first_of.size:  # starts: the first of equal values
                assert np.all(residual[first_of] <= row[S0] + near)
                assert row[S0] <= row[U0] + near
                assert int(row[PEAK]) - start in first_of
                assert row[HEIGHT] == l[int(row[PEAK])]
            else:
                assert row[S0] == -np.inf
            if level == 0:
                assert row[U0] == pytest.approx(residual.max(), abs=near)
                assert row[W0] == pytest.approx(residual.min(), abs=near)
                if first_of.size:
                    assert row[S0] == pytest.approx(residual[first_of].max(), abs=near)
                    assert residual[int(row[PEAK]) - start] == pytest.approx(row[S0], abs=near)
                continue
            below = layout.offsets[level - 1] + 2 * block
            halves = records.T[below : below + 2]
            for best, chosen in ((U0, np.max), (S0, np.max), (W0, np.min)):
                ends = [
                    halves[half, best] + halves[half, SLOPE] * last - slope * (half * size // 2 + last)
                    for half in (0, 1)
                    for last in (0, size // 2 - 1)
                ]
                assert row[best] == pytest.approx(chosen(ends), abs=near)


@pytest.mark.parametrize("name", KINDS)
def test_blocks_past_the_end_are_neutral(name):
    _, layout, records, _, _, _ = pyramid_of(name, 321)
    for _, _, blocks, offset in levels(layout):
        for row in records.T[offset + len(blocks) : offset + len(blocks) + pyramid.SPARE]:
            assert row[[U0, U1, S0]].tolist() == [-np.inf] * 3
            assert row[[W0, W1]].tolist() == [np.inf] * 2
            assert row[[SLOPE, PEAK, HEIGHT]].tolist() == [0.0] * 3
            assert row[FIRST] == np.inf


def test_slopes():
    """The median of three chords, a multiple of the grain, and no steeper than the whole column allows."""
    n = 4 * SMOOTH
    line = np.arange(float(n))
    for start in (0, BLOCK, 2 * SMOOTH, n - BLOCK, n - 5):
        assert pyramid.local_slope(line, n, start, BLOCK, 0.0, np.inf) == 1.0
        assert pyramid.local_slope(0.3 * line, n, start, BLOCK, 0.25, np.inf) == 0.25
        assert pyramid.local_slope(line, n, start, BLOCK, 0.0, 0.5) == 0.5
        assert pyramid.local_slope(np.zeros(n), n, start, BLOCK, 0.0, np.inf) == 0.0
    start = 2 * SMOOTH
    # An outlier on one side stays out.
    for side in (
        slice(None, start - 100),
        slice(start + BLOCK + 100, None),
    ):
        bent = line.copy()
        bent[side] += 1e6 * (-1.0 if side.stop else 1.0)
        assert pyramid.local_slope(bent, n, start, BLOCK, 0.0, np.inf) == 1.0
    knee = np.where(line < start + BLOCK - 1, 0.0, line - (start + BLOCK - 1))  # flat, then rising
    expected = SMOOTH / (SMOOTH + BLOCK - 1)  # from the block's first value on; the other two chords are flat
    assert pyramid.local_slope(knee, n, start, BLOCK, 0.0, np.inf) == 0.0
    steep = knee.copy()
    steep[:start] -= 1e6  # and steep before: the median is what comes after
    assert pyramid.local_slope(steep, n, start, BLOCK, 0.0, np.inf) == pytest.approx(expected, rel=1e-15)
    wide = 2 * SMOOTH  # a large block looks as far as it is long, twice
    cubic = (np.arange(8.0 * wide) - 4.5 * wide + 0.5) ** 3  # as steep before as after, and less in between
    start, stop = 4 * wide, 5 * wide - 1
    chord = (cubic[stop] - cubic[start - 2 * wide]) / (stop - start + 2 * wide)
    assert pyramid.local_slope(cubic, cubic.size, start, wide, 0.0, np.inf) == pytest.approx(chord, rel=1e-12)


@pytest.mark.parametrize("n", [321, 512, 1300])
@pytest.mark.parametrize("name", KINDS)
def test_a_gap_begins_with_the_best_of_the_windows_that_start_a_block(name, n):
    """The first of them where several are as narrow, and none that reaches beyond the end."""
    l, layout, records, grain, _, span = pyramid_of(name, n)
    for _, size, blocks, offset in levels(layout):
        limit = span / size
        for g in range(len(blocks)):
            starts = range(len(blocks) - g)
            best = min(starts, key=lambda j: l[(j + g) * size] - l[j * size])
            slope = 0.5 * (records[SLOPE, offset + best] + records[SLOPE, offset + best + g])
            expected = best, gaps.quantise(slope, grain, limit)
            assert gaps.starting_trend(records, offset, len(blocks), g, grain, limit) == expected


@pytest.mark.parametrize("sizes", [1, BLOCK - 1, BLOCK])
def test_the_widths_of_a_leaf_go_where_they_belong(sizes):
    best, phi_of_leaf = np.arange(1.0, BLOCK + 1.0), np.zeros(3 * BLOCK)
    tiles.keep_leaf(best, BLOCK, BLOCK + sizes, phi_of_leaf)
    expected = np.zeros(3 * BLOCK)
    expected[BLOCK : BLOCK + sizes] = best[:sizes]
    assert phi_of_leaf.tolist() == expected.tolist()


def test_no_line_is_steeper_than_the_column_allows():
    """Trends times sizes stay below the range, which the bound on roundings rests on."""
    n = 640
    l = padded(np.append(-1000.0, np.linspace(0.0, 1e-3, n - 1)))
    records = np.empty((pyramid.RECORD, 40))
    pyramid.build_base(l, n, records, 10, 0.0, 1000.001)
    assert records[SLOPE, 0] == pytest.approx(1000.001 / BLOCK, rel=1e-12)
    offsets, counts = np.array([0, 24]), np.array([10, 5])
    pyramid.build_parents(l, n, records, offsets, counts, 0.0, 1000.001)
    assert records[SLOPE, 24] == pytest.approx(1000.001 / (2 * BLOCK), rel=1e-12)


# ---------------------------------------------------------------- passes over a column


@pytest.mark.parametrize("grain", [1.0, 0.25])
@pytest.mark.parametrize("n", [1, 2, 700, 5000])
def test_the_quantum_is_the_largest_that_divides_all(n, grain):
    rng = np.random.default_rng(n)
    for unit in (1, 2, 8, 12, 64):
        for least in (-1000, 0, 1, -5000):
            values = np.sort(rng.integers(least, least + 3000, n) * unit)
            bits = int(np.bitwise_or.reduce(values))
            expected = grain * (bits & -bits)
            for single in (False, True):  # all of these are float32, too
                assert columns.lattice_quantum(values * grain, n, grain, single) == expected
    values = np.sort(rng.integers(-3000, 3000, n) * 4.0)
    for at in {0, n // 2, n - 1, min(4095, n - 1), min(4096, n - 1)}:
        other = values.copy()
        other[at] += 0.5 * grain
        assert columns.lattice_quantum(np.sort(other), n, grain, False) == 0.0


@pytest.mark.parametrize("exponent", [-40, -24, -12, 0, 12])
def test_the_quantum_of_float32_is_found_around_zero(exponent):
    """As fine as the finest fraction, wherever that lies."""
    rng = np.random.default_rng(0)
    near = rng.standard_normal(3000) * 2.0**exponent
    far = rng.integers(-(2**20), 2**20, 5000).astype(np.float64)
    values = np.sort(np.concatenate([near, far]).astype(np.float32).astype(np.float64))
    grain = 2.0 ** (21 - 48)
    assert columns.lattice_quantum(values, values.size, grain, True) == columns.lattice_quantum(
        values, values.size, grain, False
    )


@pytest.mark.parametrize("n", [1, 2, 3, 7, 40])
def test_the_run_of_the_median(n):
    rng = np.random.default_rng(n)
    for most in (1, 2, 3, 10):
        l = np.sort(rng.integers(0, most, n).astype(float))
        same = np.flatnonzero(l == l[n // 2])
        assert columns.median_run(l, n) == (same[0], same[-1] + 1)


@pytest.mark.parametrize("weight", [4, 6])
def test_columns_whose_majority_lies_at_an_end(weight):
    tail = np.array([0.5, 0.75, 2.0])
    for l in (np.append(np.zeros(weight), tail), np.append(-tail[::-1], np.zeros(weight))):
        n = l.size
        first, stop = columns.median_run(l, n)
        found = np.zeros(n)
        columns.one_sided(l, n, first, stop, found)
        np.testing.assert_array_equal(found, phi(l, n))


@pytest.mark.parametrize("shift", [5, 7])
@pytest.mark.parametrize("name", KINDS)
def test_gaps_are_closed_only_where_the_column_stays_below(name, shift):
    """And all of them where it stays below by far, or its windows are all of width 0."""
    n = 321
    l = padded(column(name, n))
    own = phi(l, n)
    count = -(-n >> shift) if n % (1 << shift) == 0 else (n >> shift) + 1
    for skip in (False, True):
        for share in (0.0, 0.5, 0.9, 1.0, 1.1, 2.0, 10.0):
            known = np.maximum.accumulate(share * own)
            is_open = np.ones(count, np.bool_)
            opened = columns.open_gaps(l, n, shift, known, skip, is_open)
            assert opened == is_open.sum()
            for gap in np.flatnonzero(~is_open).tolist():
                d = np.arange(max(gap << shift, BASE if skip and gap == 0 else 1), min((gap + 1) << shift, n))
                assert np.all((own[d] < known[d]) | (own[d] == 0.0))
        far = np.full(n, 2.0 * own[-1] + 1.0)
        assert columns.open_gaps(l, n, shift, far, skip, is_open) == 0
        assert not is_open.any()
    level = padded(np.append(np.zeros(320), 5.0))
    assert columns.open_gaps(level, n, shift, np.zeros(n), False, is_open) == 2
    assert np.flatnonzero(is_open).tolist() == [0, count - 1]  # the last size, and what is looked at with it


@pytest.mark.parametrize("n", [20, 33, 34, 50, 64])
def test_every_size_of_the_first_gap_is_looked_at(n):
    """A single one at which the column reaches as far as others keeps it open."""
    l = padded(np.random.default_rng(n).normal(size=n))
    own = phi(l, n)
    for d in range(1, n):
        known = np.nextafter(own, np.inf)
        known[d] = own[d]
        is_open = np.zeros(1, np.bool_)
        assert columns.open_gaps(l, n, 6, known, False, is_open) == 1
        assert is_open[0]


def test_a_window_that_beats_a_gap_is_found():
    """Wherever it lies, and near a guess without looking further."""
    n, d_first, d_last = 1000, 64, 127
    for place in (0, 1, 400, n - d_last - 1):
        l = np.arange(float(n)) * 10.0
        l[place : place + d_last + 1] = l[place] + 0.01 * np.arange(d_last + 1)
        l[place + d_last + 1 :] = np.maximum(l[place + d_last + 1 :], l[place + d_last])
        width = l[place + d_last] - l[place]
        beaten, start = columns.beaten_at(l, n, d_first, d_last, 1, np.nextafter(width, 9e9), n // 2)
        assert beaten
        assert start == place
        assert not columns.beaten_at(l, n, d_first, d_last, 1, width, n // 2)[0]  # as wide is not narrower
        beaten, start = columns.beaten_at(l, n, d_first, d_last, n, np.nextafter(width, 9e9), place)
        assert (beaten, start) == (True, place)
    steps = np.arange(float(n))
    assert columns.beaten_at(steps, n, 1, 5, 1, 5.0, 7) == (False, 7)
    assert columns.beaten_at(steps, n, 900, n, 1, 1e9, 7) == (False, 7)  # there are no such windows
    assert columns.beaten_at(steps, n, 900, n - 1, 1, 1e9, 7) == (True, 0)
    assert columns.beaten_at(np.zeros(n), n, 1, 5, 1, 0.0, 7)[0]  # a width of 0 attains nothing
    # Around a guess, starts half a gap apart are looked at, 32 to either side.
    nearby = np.arange(float(n)) * 10.0
    nearby[505 : 505 + 6] = nearby[505] + np.arange(6.0)
    for guess in (505 - 32 * 2, 505 + 32 * 2, 505 - 2):
        assert columns.beaten_at(nearby, n, 1, 5, n, 6.0, guess) == (True, 505)


def test_the_smallest_sizes():
    n = 3000
    rng = np.random.default_rng(1)
    l = padded(rng.normal(size=n))
    own = phi(l, n)[:BASE]
    assert columns.smallest_beaten(l, n, BASE, np.nextafter(own, 9.0))
    for d in (1, 2, BASE - 1):
        known = np.nextafter(own, 9.0)
        known[d] = own[d]
        assert not columns.smallest_beaten(l, n, BASE, known)
        assert columns.smallest_beaten(l, n, d, known)  # which that size is not among
    assert columns.smallest_beaten(padded(np.zeros(n)), n, BASE, np.zeros(BASE))
    ranges = np.empty((1, 2), np.int64)
    found = np.full(n, np.nan)
    for first, stop in ((1, 50), (32, 64), (33, 40), (2900, n)):
        assert columns.solve_plainly(l, n, first, stop, found, ranges) == 1
        assert ranges.tolist() == [[first, stop]]
        np.testing.assert_array_equal(found[first:stop], phi(l, n)[first:stop])


@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize("shape", [(50, 4), (1, 16), (130, 16), (67, 33), (200, 47), (9, 5000)])
def test_moments(kind, shape):
    """In vectors, and the columns that are left; in more rows than are added up at a time, and fewer."""
    values = np.random.default_rng(2).normal(3.0, 2.0, shape).astype(kind)
    least, greatest, total, square = values[0].copy(), values[0].copy(), *np.zeros((2, shape[1]))
    reading.moments(values, least, greatest, total, square)
    np.testing.assert_array_equal(least, values.min(axis=0))
    np.testing.assert_array_equal(greatest, values.max(axis=0))
    np.testing.assert_allclose(total, values.astype(float).sum(axis=0), rtol=1e-13, atol=1e-11)
    np.testing.assert_allclose(square, (values.astype(float) ** 2).sum(axis=0), rtol=1e-13)


def test_moments_of_values_that_are_not_finite():
    """Whoever asks sees it from the sum, wherever the value lies."""
    for at in ((0, 0), (3, 17), (69, 15), (40, 34)):
        for value in (np.nan, np.inf, -np.inf):
            values = np.ones((70, 35), np.float32)
            values[at] = value
            found = values[0].copy(), values[0].copy(), *np.zeros((2, 35))
            with np.errstate(invalid="ignore"):
                reading.moments(values, *found)
            assert np.flatnonzero(~np.isfinite(found[2])).tolist() == [at[1]]


def test_moments_refuse_rows_with_gaps():
    found = np.ones(16), np.ones(16), *np.zeros((2, 16))
    for values in (np.ones((64, 32))[:, :16], np.ones((64, 16), order="F"), np.ones((64, 16))[::2]):
        with pytest.raises(InternalError, match="moments: array"):
            reading.moments(values, *found)


def test_merging():
    best, owner = np.array([0.0, 1.0, 2.0, 3.0, 4.0]), np.array([-1, 5, 5, 5, 5], np.int32)
    mine = np.array([9.0, 1.0, 2.5, 3.0, 9.0])
    columns.merge(mine, np.array([[1, 3], [3, 4], [9, 9]]), 2, 3, best, owner)
    assert best.tolist() == [0.0, 1.0, 2.5, 3.0, 4.0]
    assert owner.tolist() == [-1, 3, 3, 3, 5]
    columns.merge(mine, np.array([[1, 4]]), 1, 4, best, owner)  # the lowest column owns a tie
    assert owner.tolist() == [-1, 3, 3, 3, 5]


def test_counts_along_a_slope():
    counts = np.array([3, 0, 5, 1])
    values = np.empty(5)
    counted.cumulate(counts, 2.0, values)
    np.testing.assert_array_equal(values, 2.0 * np.arange(5) - np.append(0, np.cumsum(counts)))
    best = np.array([-9.0, -9.0, -5.0, -9.0, -1.0])
    known = np.full(5, np.nan)
    counted.along_slope(best, 2.0, 1, 4, known)
    np.testing.assert_array_equal(
        known[1:4], np.minimum.accumulate((2.0 * np.arange(1, 4) + best[1:4] - 0.5)[::-1])[::-1]
    )
    assert np.isnan(known[[0, 4]]).all()
    tilted = np.arange(5.0)
    counted.tilt(tilted, np.array([[1, 2], [3, 5]]), 2, 0.5)
    assert tilted.tolist() == [0.0, 0.5, 2.0, 1.5, 2.0]


def test_gaps_of_counts_are_closed_by_windows_of_single_starts():
    """Where a column holds more points than another at every size, but not more than it a few sizes on."""
    rng = np.random.default_rng(5)
    n, shift, closed = 3001, 8, 0
    for narrower in (1.0, 0.97, 0.9):
        holds, l, slope = [], np.empty(n), 0.0
        for spread in (1.0, narrower):
            points = rng.standard_normal(40_000) * spread * 300 + 1500
            counts = np.bincount(np.clip(points, 0, n - 2).astype(int), minlength=n - 1)
            total, slope = np.append(0, np.cumsum(counts)), float(counts.max())
            counted.cumulate(counts, slope, l)
            holds.append(np.array([0, *((total[w:] - total[:-w]).max() for w in range(1, n))]))
        is_open = np.ones((n >> shift) + 1, np.bool_)
        best = -holds[0].astype(np.float64)
        assert counted.open_gaps_by_counts(l, n, shift, slope, best, is_open) == is_open.sum()
        for gap in np.flatnonzero(~is_open).tolist():
            w = np.arange(max(gap << shift, 1), min((gap + 1) << shift, n))
            assert np.all(holds[1][w] > holds[0][w])
            closed += int(holds[1][w[0]] <= holds[0][w[-1]])  # which no single window proves
    assert closed >= 2


@pytest.mark.parametrize("shift", [5, 6])
def test_gaps_of_counts_are_closed_only_where_others_hold_less(shift):
    """N(w), the most points in w neighbouring steps, exceeds -best there.

    So this column attains no width.
    """
    rng = np.random.default_rng(4)
    counts = rng.poisson(3.0 + 20.0 * np.exp(-(((np.arange(200) - 90) / 30.0) ** 2)))
    slope = float(counts.max())
    l = np.empty(201)
    counted.cumulate(counts, slope, l)
    total = np.append(0, np.cumsum(counts))
    holds = np.array([0, *((total[w:] - total[:-w]).max() for w in range(1, 201))])
    count = (201 + (1 << shift) - 1) >> shift
    closed = 0
    for share in (0.3, 0.8, 0.95, 1.0, 1.2):
        best = -np.maximum.accumulate(np.floor(share * holds))
        is_open = np.ones(count, np.bool_)
        assert counted.open_gaps_by_counts(l, 201, shift, slope, best, is_open) == is_open.sum()
        for gap in np.flatnonzero(~is_open).tolist():
            w = np.arange(max(gap << shift, 1), min((gap + 1) << shift, 201))
            assert np.all(holds[w] > -best[w])
            closed += 1
    assert closed >= 2
    narrow = np.where(np.abs(np.arange(200) - 90) < 10, counts, 0)  # as many points in all wider windows
    slope = float(narrow.max())
    counted.cumulate(narrow, slope, l)
    best = np.full(201, -float(narrow.sum()))
    # Who holds as many may own a tie.
    assert counted.open_gaps_by_counts(l, 201, shift, slope, best, is_open) == count
    assert counted.open_gaps_by_counts(l, 201, shift, slope, best + 1.0, is_open) == 1
    assert is_open[0]
    assert counted.open_gaps_by_counts(l, 201, shift, slope, np.full(201, -0.5), is_open) == 0
    for w in (1, 2, (1 << shift) - 1):  # one size that is not settled keeps its gap open
        best = np.full(201, -0.5)
        best[w] = -1e9
        assert counted.open_gaps_by_counts(l, 201, shift, slope, best, is_open) == 1
        assert is_open[0]
    assert counted.open_gaps_by_counts(l, 201, shift, slope, np.full(201, -1e9), is_open) == count
