"""The roundings of the bounds, step by step as docs/numerics.md argues, checked in rational arithmetic."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
import pytest

from distributions import COLUMNS, column
from geodim.engine.kernels import gaps, groups as groups_module, pyramid
from geodim.engine.kernels.pyramid import BLOCK, BLOCK_SHIFT, GROUP, S0, SLOPE, U0, U1, W0, W1
from geodim.engine.kernels.tiles import PADDING
from geodim.engine.lattices import lattice
from geodim.engine.layout import PyramidLayout
from geodim.engine.rounding import SLACK_BITS

if TYPE_CHECKING:
    from numpy.typing import NDArray

UNIT = Fraction(1, 1 << 53)
SIZE = 8192  # 128 blocks of 64, so that there is a level of parents at least
HUGE = {"largest", "huge"}  # beyond 2^1000 there are no trends
GENTLE = sorted(set(COLUMNS) - HUGE)


def sorted_column(kind: str, seed: int, n: int = SIZE) -> NDArray[np.float64]:
    values = np.sort(column(kind, n, seed).astype(np.float64))
    return np.concatenate([values, np.full(PADDING, np.inf)])


def records_of(
    l: NDArray[np.float64], n: int
) -> tuple[PyramidLayout, NDArray[np.float64], float, float, float]:
    layout = PyramidLayout(n)
    records = np.zeros((pyramid.RECORD, layout.total))
    magnitude = max(abs(float(l[0])), abs(float(l[n - 1])))
    grain, slack, _ = lattice(l, n, magnitude)
    span = float(l[n - 1] - l[0])
    pyramid.build_base(l, n, records, layout.counts[0], grain, span)
    pyramid.build_parents(l, n, records, layout.offsets, layout.counts, grain, span)
    return layout, records, magnitude, slack, span


def jump(n: int) -> NDArray[np.float64]:
    """One point far below the others: in the first block of every level the line rises by the whole range."""
    values = np.random.default_rng(3).uniform(0.99999, 1.0, n)
    values[0] = -1.0
    return np.sort(values)


def jumps(n: int) -> NDArray[np.float64]:
    """The same at both ends, and where blocks of every level begin."""
    steps = np.random.default_rng(5).uniform(0.0, 1e-9, n)
    for power in range(5, int(math.log2(n))):
        steps[1 << power] += 1.0 / power
    steps[[1, n - 1]] += 5.0
    return np.cumsum(steps) - 5.0


CASES = [*[(kind, None) for kind in GENTLE], ("jump", jump), ("jumps", jumps)]


@pytest.mark.turns(5)
@pytest.mark.parametrize(("kind", "made"), CASES)
def test_records_enclose_the_values_to_within_twelve_roundings_a_level(kind, made) -> None:
    """The lemma: l <= U0 + s t + delta and l <= U1 - s (B - 1 - t) + delta, and likewise from below."""
    n = SIZE if made is None else 8 * SIZE
    l = sorted_column(kind, 1) if made is None else np.concatenate([made(n), np.full(PADDING, np.inf)])
    layout, records, magnitude, _, _ = records_of(l, n)
    for level in range(layout.counts.size):
        size = BLOCK << level
        off = 12 * (level + 1) * UNIT * Fraction(magnitude)
        for block in np.unique(np.linspace(0, layout.counts[level] - 1, 24).astype(int)).tolist():
            row = records[:, layout.offsets[level] + block]
            slope = Fraction(row[SLOPE])
            first = block * size
            assert 0 <= slope * size <= Fraction(l[n - 1]) - Fraction(l[0])
            for t in np.unique(np.linspace(0, min(size, n - first) - 1, 40).astype(int)).tolist():
                value = Fraction(l[first + t])
                rise, fall = slope * t, slope * (size - 1 - t)
                assert value <= Fraction(row[U0]) + rise + off
                assert value <= Fraction(row[U1]) - fall + off
                assert value >= Fraction(row[W0]) + rise - off
                assert value >= Fraction(row[W1]) - fall - off
                if first + t == 0 or l[first + t] != l[first + t - 1]:
                    assert value <= Fraction(row[S0]) + rise + off
                    assert value <= Fraction(row[S0] + row[SLOPE] * (size - 1)) - fall + off


def test_lines_do_grow_beyond_the_values() -> None:
    """Why the lemma needs its second case: lines over lines leave the data behind."""
    heights = []
    for made in (jump, jumps):
        l = np.concatenate([made(1 << 16), np.full(PADDING, np.inf)])
        layout, records, magnitude, _, _ = records_of(l, 1 << 16)
        used = np.concatenate(
            [records.T[at : at + count] for at, count in zip(layout.offsets, layout.counts, strict=True)]
        )
        lines = np.abs(used[:, [U0, U1, W0, W1]])
        heights.append(float(lines.max()) / magnitude)
    assert max(heights) > 4.0


@pytest.mark.turns(5)
@pytest.mark.parametrize(("kind", "made"), CASES)
def test_block_bounds_hold_to_within_the_slack(kind, made) -> None:
    """For any gap, block and trend.

    No window is narrower than the lower bound by half the slack, and so on.
    """
    n = SIZE
    rng = np.random.default_rng(7)
    l = sorted_column(kind, 2) if made is None else np.concatenate([made(n), np.full(PADDING, np.inf)])
    layout, records, magnitude, slack, span = records_of(l, n)
    half = Fraction(math.ldexp(magnitude, -SLACK_BITS)) / 2
    assert slack in (0.0, math.ldexp(magnitude, -SLACK_BITS))
    for level in range(layout.counts.size):
        size = BLOCK << level
        shift = BLOCK_SHIFT + level
        offset = int(layout.offsets[level])
        rows = records.T[offset:]
        for _ in range(30):
            g = int(rng.integers(1, max(layout.counts[level] - 1, 2)))
            if g * size >= n - 1:
                continue
            j = int(rng.integers(0, max((n - 1 - g * size) // size, 1)))
            grain = 0.0 if slack > 0.0 else lattice(l, n, magnitude)[0]
            c = gaps.quantise(
                float(rng.choice([0.0, rows[j, SLOPE], rows[j + g, SLOPE], span / size])), grain, span / size
            )
            groups, lows = np.empty(layout.total // GROUP + 1, np.int64), np.empty(layout.total)
            groups[-1] = j // 2 // GROUP << GROUP | 1 << j // 2 % GROUP
            kept, _, upper, owner, _, _ = groups_module.filter_groups(
                n, records, offset, shift, g, c, groups.size - 1, 1, 0, groups, lows, -math.inf, -math.inf
            )
            # A group without first occurrences has no bound, and is dropped.
            lower = float(lows[offset + j % GROUP]) if kept else math.inf
            peak = int(rows[owner, pyramid.PEAK])
            for _ in range(10):
                e = int(rng.integers(0, size))
                start = j * size + int(rng.integers(0, size))
                if start + g * size + e < n and (start == 0 or l[start] != l[start - 1]):
                    width = Fraction(l[start + g * size + e]) - Fraction(l[start])
                    assert math.isinf(lower) or width - Fraction(c) * e >= Fraction(lower) - half
                if upper < math.inf:
                    width = Fraction(l[peak + g * size + e]) - Fraction(l[peak])
                    assert width - Fraction(c) * e <= Fraction(upper) + half
