"""The gap recursion: the narrowest window for every size that matters.

A node is a gap of sizes d = k - 1 in [gB, (g+1)B) together with the blocks of starts that may still contain a
narrowest window for some size of the gap.  With t, e < B, the window that starts at jB + t and has d = gB + e
ends in block j+g or j+g+1, so the records of three blocks bound all B^2 windows at once.  For a trend c and
every e of the gap

    width - c e  >=  min(right ends of u) - max(starts of u)    (the block's lower bound)
    width - c e  <=  max(right ends of u) - u(peak)             (for the window that starts at the peak)

where u subtracts c per index (F5).  The least upper bound over the blocks, V, discards every block whose
lower bound is not below it: the window behind V is at most as wide at every size of the gap (F6).  The block
of V itself always stays.

A node is finished if the feature cannot exceed what other features reached (``known``), if the lower and
upper lines meet (F7), if phi is constant over the gap, or if the gap is one base block wide and its windows
are simply evaluated.
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
    TESTS,
    WINDOWS,
    note_range,
)
from geodim.engine.kernels.groups import filter_groups, filter_plainly
from geodim.engine.kernels.lanes import chosen, element, least, load, prefetch, smaller, splat, steps
from geodim.engine.kernels.pyramid import (
    BASE,
    BLOCK,
    BLOCK_SHIFT,
    FIRST,
    GROUP,
    GROUP_SHIFT,
    RECORD,
    SLOPE,
    U0,
    W0,
    require_layout,
)
from geodim.engine.kernels.smallest import solve_smallest
from geodim.engine.kernels.tiles import PADDING, evaluate_leaf, keep_leaf, leaf_scratch
from geodim.engine.rounding import SLACK_BITS

KNOWN_PARTS = 8  # of a gap, in each of which the feature is compared with what others reached
AHEAD = 8 * BLOCK  # sizes of which `reached` fetches what it will be asked for
MANY = 32  # with more blocks than this, the plain filter pays off,
STEPS = 2.0  # if so many times their departure from lines is what values rise within a block
TEST_LOOKS = 8  # windows that can be evaluated in the time of a test


@njit(nogil=True, cache=True, inline="always")
def quantise(c, grain, limit):
    """Return the trend, limited to ``limit`` and rounded down to a multiple of ``grain`` (0: any).

    This keeps trend arithmetic exact.  All arguments are float64, in units of the column per index.
    """
    c = min(c, limit)
    if grain > 0.0:
        c = np.floor(c / grain) * grain
    return c


@njit(nogil=True, cache=True, counts_references=False)
def starting_trend(records, start, count, g, grain, limit):
    """Return the block of the best window of the gap's first size, and the mean slope at its two ends.

    Only windows that start a block are tried.  Their values stand side by side in the records, whereas in the
    column each is on a line of its own.

    ``records`` is (RECORD, start + count + SPARE) float64, of which the level begins at ``start``.
    """
    firsts = FIRST * np.int64(records.shape[1]) + start
    best, blocks = splat(np.inf), splat(0.0)
    for j in range(0, count - g, GROUP):
        # Beyond the end of the level this is infinite, or no number at all, and neither is less.
        width = load(records, firsts + j + g) - load(records, firsts + j)
        blocks = chosen(width, best, splat(np.float64(j)) + steps(), blocks)
        best = smaller(width, best)
    block = np.int64(least(chosen(splat(least(best)), best, splat(np.inf), blocks)))
    slope = 0.5 * (records[SLOPE, start + block] + records[SLOPE, start + block + g])
    return block, quantise(slope, grain, limit)


@njit(nogil=True, cache=True, counts_references=False, forceinline=True)
def reached(known, d, n):
    """Return what others reached at size d of n, and fetch that of a gap further on.

    Each gap looks at a line of memory that nobody has needed before, and would wait for it.
    """
    prefetch(known, min(d + AHEAD, n - 1))
    return element(known, d)


@njit(nogil=True, cache=True, counts_references=False, forceinline=True)
def enough_below(known, d0, d_stop, c, slack):
    """Return what V must fall below for the feature to lie below others all over a gap.

    What they reached at the first size of a part of the gap, they reach at all of its sizes, and there the
    line of V is highest at the last one (F10, part by part).

    ``known`` is (n,) float64 over d; ``c`` and ``slack`` are in units of the column (per index).
    """
    enough = np.inf
    step = max((d_stop - d0) // KNOWN_PARTS, 1)
    for first in range(d0, d_stop, step):
        last = min(first + step, d_stop) - 1
        enough = min(enough, element(known, max(first, 1)) - c * (last - d0))
    return enough - slack


@njit(nogil=True, cache=True, counts_references=False, forceinline=True)
def has_steps(records, block, g, size):
    """Return whether values rise by steps where the best window begins or ends, see `filter_plainly`.

    Then they depart from a line by about as much as they rise within a block, or more.  Elsewhere lines
    mostly say more than what `filter_plainly` uses.

    ``records`` is (RECORD, blocks) float64; ``block`` the place of the window's first block of ``size``
    values, and ``g`` how many blocks later the window ends.
    """
    spread, rise = 0.0, 0.0
    for at in (block, block + g):
        spread += records[U0, at] - records[W0, at]
        rise += records[SLOPE, at] * size
    return spread * STEPS >= rise


@njit(nogil=True, cache=True)
def solve_gaps(
    l, n, records, offsets, counts, grain, slack, bar, unit, nearest, span, first_gap, last_gap, known, tilt,
    skip_smallest, lowest, most, phi, ranges, groups, lows, work,
):  # fmt: skip
    """Solve the top-level gaps [first_gap, last_gap) of one sorted column, depth first.

    ``known[d]`` is what other features reached; it never falls, and ``known[d] - tilt d`` never rises if
    ``tilt`` is positive (see `geodim.engine.counting`).  A block stays only if it could be narrower than V by
    ``bar``.  For a column on a lattice, ``bar`` is the quantum, since widths differ by at least that;
    otherwise it is minus the slack.  ``phi`` receives this feature's values at the sizes that matter, listed
    in ``ranges`` as half-open intervals.  Returns their number, or -1 if the work exceeded ``most``.

    If ``lowest`` is positive, it ends at the gaps of that level, whose windows are bounded, not evaluated:
    then ``phi`` receives lower bounds on this feature's values at every BLOCK-th size, and nothing for sizes
    within one block.

    Parameters
    ----------
    l : (n + PADDING,) float64, ascending, then infinite
    n : int, points
    records : (RECORD, blocks of all levels) float64, see `geodim.engine.kernels.pyramid`
    offsets, counts : (levels,) int64, first record and number of blocks of each level
    grain : float64, the lattice of the trends, or 0
    slack, bar, span : float64, in the units of the column; span is its range
    unit, nearest : float64, in the units of the column, see `geodim.engine.kernels.tiles.is_narrow`
    first_gap, last_gap : int, half-open range of gaps of the top level
    known : (n,) float64 over d, never falling
    tilt : float64, points per step, or 0
    skip_smallest : bool, whether sizes below BASE are left out
    lowest : int, the level at which to end
    most : int, the most windows evaluated plus TEST_LOOKS times the blocks tested before this gives up
    phi : (n,) float64 over d, written on ``ranges``
    ranges : (m, 2) int64, half-open ranges of d, written
    groups : (groups of all levels,) int64, scratch
    lows : (blocks of all levels,) float64, scratch
    work : (N_COUNTERS,) int64, added to
    """
    require(l.size >= n + PADDING, "solve_gaps: l")
    require(known.size >= n, "solve_gaps: known")
    require(phi.size >= n, "solve_gaps: phi")
    require(work.size >= N_COUNTERS, "solve_gaps: work")
    require_layout(n, offsets, counts, min(records.shape[1], GROUP * groups.size, lows.size))
    require(records.shape[0] == RECORD, "solve_gaps: records")
    require(first_gap >= 0 and last_gap <= counts[counts.size - 1], "solve_gaps: the gaps")
    n_levels = counts.size
    top = n_levels - 1
    gap = np.zeros(n_levels, np.int64)  # per level: the gap on the path from the root,
    child = np.zeros(n_levels, np.int64)  # which of its halves comes next,
    kept = np.zeros(n_levels, np.int64)  # how many groups it kept,
    slope = np.zeros(n_levels)  # the trend for its halves,
    caps = np.zeros(n_levels)  # and a width that phi does not exceed in it.
    best, line, bounds, near, listed = leaf_scratch(counts[0])
    n_ranges, block = np.int64(0), np.int64(0)
    most += work[WINDOWS] + TEST_LOOKS * work[TESTS]
    for root in range(first_gap, last_gap):
        level = top
        gap[top] = root
        entering = True
        while level <= top:
            if not entering:  # continue with the other half of this node, or leave it
                if child[level] == 2:
                    level += 1
                    continue
                g = 2 * gap[level] + child[level]
                child[level] += 1
                if (g << (BLOCK_SHIFT + level - 1)) >= n:
                    continue
                parents, n_parents, cap = offsets[level] >> GROUP_SHIFT, kept[level], caps[level]
                level -= 1
                gap[level] = g
                c = quantise(slope[level + 1], grain, span / (BLOCK << level))
            shift = BLOCK_SHIFT + level
            g = gap[level]
            d0 = g << shift
            d_first, d_stop = max(d0, 1), min(d0 + (1 << shift), n)
            start = offsets[level]
            if g == 0:  # windows within one block: bounds are of no use, so go down and evaluate
                if level == lowest and lowest > 0:
                    level += 1
                elif level == 0:
                    d_first = np.int64(BASE) if skip_smallest else d_first
                    n_ranges, looked_at = solve_smallest(
                        l, n, d_first, d_stop, unit, nearest, known, phi, ranges, n_ranges
                    )
                    work[WINDOWS] += looked_at * (d_stop - d_first)
                    most += looked_at * (d_stop - d_first)  # every column needs these, whether alike or not
                    level += 1
                else:
                    kept[level], child[level], caps[level] = 0, 0, np.inf
                entering = False
                continue
            if entering or g == 1:  # nothing to inherit: take all blocks, and a new trend
                limit = span / (BLOCK << level)
                block, c = starting_trend(records, start, counts[level], g, grain, limit)
                parents, n_parents, cap = -1, 0, np.inf
            entering = False
            floor = reached(known, d_first, n)
            rise = c * (d_stop - 1 - d0)
            enough = enough_below(known, d0, d_stop, c, slack) if floor > 0.0 else -np.inf
            # Known rises by at most the tilt per size, so its value at the gap's end serves as well.
            if tilt > 0.0:
                enough = max(
                    enough, known[d_stop - 1] - c * (d_first - d0) - tilt * (d_stop - 1 - d_first) - slack
                )
            k, blocks, v, owner, low, tested = filter_groups(
                n, records, start, shift, g, c, parents, n_parents, block >> GROUP_SHIFT, groups, lows, bar,
                enough,
            )  # fmt: skip
            work[TESTS] += tested
            if work[WINDOWS] + TEST_LOOKS * work[TESTS] > most:
                return -1
            cap = min(cap, v + rise + slack)
            if k < 0 or cap < floor:
                work[REJECTED] += 1
                level += 1
                continue
            if slack == 0.0 and low == v:  # the lines meet, and nothing was rounded (F7)
                work[CLOSED] += 1
                for d in range(d_first, d_stop):
                    phi[d] = v + c * (d - d0)
            else:
                flat = np.inf
                flat_low = -np.inf
                if blocks > MANY and (owner < 0 or has_steps(records, start + owner, g, 1 << shift)):
                    k, flat, flat_low = filter_plainly(l, n, shift, g, owner, groups, lows, start, k)
                    cap = min(cap, flat)
                if flat == flat_low:  # constant over the gap
                    work[CLOSED] += 1
                    phi[d_first:d_stop] = flat
                elif cap < floor:
                    work[REJECTED] += 1
                    level += 1
                    continue
                elif level == lowest and lowest > 0:
                    # If sums round at all, it is by less than this.
                    off = low - max(abs(l[0]), abs(l[n - 1])) * 2.0**-SLACK_BITS
                    for d in range(d_first, d_stop, BLOCK):
                        phi[d] = off + c * (d - d0)
                elif level == 0:
                    work[LEAVES] += 1
                    evaluated, below = evaluate_leaf(
                        l, n, d0, d_stop, c, bar, unit, nearest, known, records, groups, lows, start, k,
                        listed, line, bounds, near, best,
                    )  # fmt: skip
                    work[WINDOWS] += evaluated
                    if below:
                        work[REJECTED] += 1
                        level += 1
                        continue
                    keep_leaf(best, d0, d_stop, phi)
                else:
                    kept[level], child[level], caps[level] = k, 0, cap
                    slope[level] = c
                    if owner >= 0:
                        slope[level] = 0.5 * (
                            records[SLOPE, start + owner] + records[SLOPE, start + owner + g]
                        )
                    continue
            n_ranges = note_range(ranges, n_ranges, d_first, d_stop)
            level += 1
    return n_ranges
