"""The gap recursion to within a tolerance: what cannot be narrower by more than that is left out.

It is that of `geodim.engine.kernels.gaps`, with two differences.  A block stays only if it could be narrower
than V by the tolerance; where none could, V itself is the answer all over the gap, however many sizes it has.
And the block of V may be left out further down, by another one's V that lies higher.  So the lines of all
gaps around a size are kept, and the least of them counts (F32 in docs/mathematics.md).

Waves, merged clocks and other bent grids are solved in this way: a tolerance of some spacings settles gaps of
thousands of sizes at once, where methods that take 32 sizes at a time test every block for each of them.
"""

from __future__ import annotations

import numpy as np

from geodim.compiled import njit
from geodim.engine.kernels._bounds import require
from geodim.engine.kernels.counters import (
    CLOSED,
    LEAVES,
    N_COUNTERS,
    REJECTED,
    TEST_LOOKS,
    TESTS,
    WINDOWS,
    note_range,
)
from geodim.engine.kernels.gaps import enough_below, quantise, starting_trend
from geodim.engine.kernels.groups import filter_groups
from geodim.engine.kernels.pyramid import (
    BASE,
    BLOCK,
    BLOCK_SHIFT,
    GROUP,
    GROUP_SHIFT,
    RECORD,
    SLOPE,
    require_layout,
)
from geodim.engine.kernels.smallest import solve_smallest
from geodim.engine.kernels.tiles import PADDING, evaluate_leaf, leaf_scratch

# Measured on waves, clocks and roundings of 10^6 values, with tolerances that take from 10 to 300 tests for
# each size: a test takes 4 to 7 ns, and a block of a leaf about 100.
LEAF_TESTS = 16  # tests in the time of looking into a block of starts for a leaf


@njit(nogil=True, cache=True, counts_references=False, fastmath={"nnan", "nsz"})
def lower_to_lines(heights, slopes, begins, level, highest, slack, d_first, d_stop, phi):
    """Lower ``phi`` to the lines of the gaps around these sizes, one on each level from ``level`` on.

    What `solve_loosely` compares with what others reached is rounded in the same way, at a gap's last size.

    ``heights`` and ``slopes`` are (levels,) float64, ``begins`` (levels,) int64 the first sizes of gaps;
    ``phi`` (d_stop or more,) float64 over d.
    """
    part = phi[d_first:d_stop]
    for at in range(level, highest + 1):
        v, c, before = heights[at], slopes[at], d_first - begins[at]
        if v < np.inf:
            for e in range(part.size):
                part[e] = min(part[e], (v + c * np.float64(before + e)) + slack)


@njit(nogil=True, cache=True)
def solve_loosely(
    l, n, records, offsets, counts, slack, tolerance, span, first_gap, last_gap, known, skip_smallest, most,
    phi, ranges, groups, lows, work,
):  # fmt: skip
    """Solve the top-level gaps [first_gap, last_gap) of one sorted column to within a tolerance.

    ``phi`` receives widths that are no less than this feature's, at the sizes that matter, listed in
    ``ranges`` as half-open intervals.  They depend on nothing but the column and the tolerance.  Returns the
    number of ranges, or -1 if the work exceeded ``most``.

    Parameters
    ----------
    l : (n + PADDING,) float64, ascending, then infinite
    n : int, points
    records : (RECORD, blocks of all levels) float64, see `geodim.engine.kernels.pyramid`
    offsets, counts : (levels,) int64, first record and number of blocks of each level
    slack, tolerance, span : float64, in the units of the column; span is its range
    first_gap, last_gap : int, half-open range of gaps of the top level
    known : (n,) float64 over d, never falling
    skip_smallest : bool, whether sizes below BASE are left out
    most : int, the most windows evaluated plus TEST_LOOKS times the blocks tested before this gives up
    phi : (n,) float64 over d, written on ``ranges``
    ranges : (m, 2) int64, half-open ranges of d, written
    groups : (groups of all levels,) int64, scratch
    lows : (blocks of all levels,) float64, scratch
    work : (N_COUNTERS,) int64, added to
    """
    require(l.size >= n + PADDING, "solve_loosely: l")
    require(known.size >= n, "solve_loosely: known")
    require(phi.size >= n, "solve_loosely: phi")
    require(work.size >= N_COUNTERS, "solve_loosely: work")
    require_layout(n, offsets, counts, min(records.shape[1], GROUP * groups.size, lows.size))
    require(records.shape[0] == RECORD, "solve_loosely: records")
    require(first_gap >= 0 and last_gap <= counts[counts.size - 1], "solve_loosely: the gaps")
    require(tolerance > slack, "solve_loosely: the tolerance")
    n_levels = counts.size
    top = n_levels - 1
    gap = np.zeros(n_levels, np.int64)  # per level: the gap on the path from the root,
    child = np.zeros(n_levels, np.int64)  # which of its halves comes next,
    kept = np.zeros(n_levels, np.int64)  # how many groups it kept,
    slope = np.zeros(n_levels)  # the trend for its halves,
    heights, slopes = np.empty(n_levels), np.empty(n_levels)  # the line of V,
    begins = np.zeros(n_levels, np.int64)  # where this begins,
    highest = np.full(n_levels, top)  # and the level of the largest gap around it that has one.
    best, line, bounds, near, listed = leaf_scratch(counts[0])
    n_ranges, block = np.int64(0), np.int64(0)
    most += work[WINDOWS] + TEST_LOOKS * work[TESTS]
    for root in range(first_gap, last_gap):
        level = top
        gap[top] = root
        entering = True
        while level <= top:
            c = 0.0
            parents, n_parents = np.int64(-1), np.int64(0)
            if not entering:  # continue with the other half of this node, or leave it
                if child[level] == 2:
                    level += 1
                    continue
                g = 2 * gap[level] + child[level]
                child[level] += 1
                if (g << (BLOCK_SHIFT + level - 1)) >= n:
                    continue
                parents, n_parents = offsets[level] >> GROUP_SHIFT, kept[level]
                level -= 1
                gap[level] = g
                highest[level] = highest[level + 1]
                c = quantise(slope[level + 1], 0.0, span / (BLOCK << level))
            shift = BLOCK_SHIFT + level
            g = gap[level]
            d0 = g << shift
            d_first, d_stop = max(d0, 1), min(d0 + (1 << shift), n)
            start = offsets[level]
            if g == 0:  # windows within one block: bounds are of no use, so go down and evaluate
                if level == 0:
                    d_first = np.int64(BASE) if skip_smallest else d_first
                    n_ranges, looked_at = solve_smallest(
                        l, n, d_first, d_stop, 0.0, np.inf, known, phi, ranges, n_ranges
                    )
                    work[WINDOWS] += looked_at * (d_stop - d_first)
                    most += looked_at * (d_stop - d_first)  # every column needs these
                    level += 1
                else:
                    kept[level], child[level] = 0, 0
                entering = False
                continue
            if entering or g == 1:  # nothing to inherit: take all blocks, and a new trend
                limit = span / (BLOCK << level)
                block, c = starting_trend(records, start, counts[level], g, 0.0, limit)
                parents, n_parents, highest[level] = np.int64(-1), np.int64(0), level
            entering = False
            # Widths are raised by the slack, so what lies below others must do so by twice as much.
            floor = known[d_first]
            enough = enough_below(known, d0, d_stop, c, 2.0 * slack) if floor > 0.0 else -np.inf
            k, blocks, v, owner, low, tested = filter_groups(
                n, records, start, shift, g, c, parents, n_parents, block >> GROUP_SHIFT, groups, lows,
                tolerance, enough,
            )  # fmt: skip
            work[TESTS] += tested
            if work[WINDOWS] + TEST_LOOKS * work[TESTS] > most:
                return -1
            if k < 0 or (v + c * (d_stop - 1 - d0)) + slack < floor:
                work[REJECTED] += 1
                level += 1
                continue
            heights[level], slopes[level], begins[level] = v, c, d0
            if low > v - tolerance:  # no block could be narrower by more
                work[CLOSED] += 1
                for d in range(d_first, d_stop):
                    phi[d] = np.inf
            elif level == 0:
                work[LEAVES] += 1
                evaluated, below = evaluate_leaf(
                    l, n, d0, d_stop, c, tolerance, 0.0, np.inf, known, records, groups, lows, start, k,
                    listed, line, bounds, near, best,
                )  # fmt: skip
                work[WINDOWS] += evaluated
                work[TESTS] += LEAF_TESTS * blocks
                if below:
                    work[REJECTED] += 1
                    level += 1
                    continue
                for d in range(d_first, d_stop):
                    phi[d] = best[d - d0]
            else:
                kept[level], child[level], slope[level] = k, 0, c
                if owner >= 0:
                    slope[level] = 0.5 * (records[SLOPE, start + owner] + records[SLOPE, start + owner + g])
                continue
            lower_to_lines(heights, slopes, begins, level, highest[level], slack, d_first, d_stop, phi)
            n_ranges = note_range(ranges, n_ranges, d_first, d_stop)
            level += 1
    return n_ranges
