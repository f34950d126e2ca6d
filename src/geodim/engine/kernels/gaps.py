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
from geodim.engine.kernels.lanes import element, put
from geodim.engine.kernels.pyramid import (
    BASE,
    BLOCK,
    BLOCK_SHIFT,
    HEIGHT,
    PEAK,
    RECORD,
    S0,
    SLOPE,
    U0,
    U1,
    W0,
    W1,
    require_layout,
)
from geodim.engine.kernels.smallest import solve_smallest
from geodim.engine.kernels.tiles import PADDING, PARTS, evaluate_leaf

MANY = 32  # with more blocks than this, the plain filter pays off
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
def starting_trend(l, records, start, count, shift, g, grain, limit):
    """Return the block of the best window of the gap's first size, and the mean slope at its two ends.

    Only windows that start a block are tried.

    ``l`` is (n,) float64, ascending, padded; ``records`` (start + count + 2, RECORD) float64, of which the
    level begins at ``start``.
    """
    size = 1 << shift
    best = np.inf
    block = 0
    for j in range(count - g):
        width = l[j * size + g * size] - l[j * size]
        if width < best:
            best = width
            block = j
    slope = 0.5 * (records[start + block, SLOPE] + records[start + block + g, SLOPE])
    return block, quantise(slope, grain, limit)


@njit(nogil=True, cache=True, counts_references=False, forceinline=True, fastmath={"nnan", "nsz"})
def reach_of_ends(records, row, last):
    """Return the least and the greatest u among the right ends in a block; arguments as in `bound_starts`."""
    lowest = min(element(records, row + W0), element(records, row + W1) - last)
    return lowest, max(element(records, row + U0), element(records, row + U1) - last)


@njit(nogil=True, cache=True, counts_references=False, forceinline=True, fastmath={"nnan", "nsz"})
def bound_starts(records, row, c, size, first, latest, lowest, highest):
    """Return a lower bound on all windows that start in a block, and an upper bound by its peak window.

    Both have c e subtracted.  Right ends have a u from ``lowest`` to ``highest``, the block starts at
    ``first``, and windows that start before ``latest`` exist for the whole gap.

    ``records`` is (blocks, RECORD) float64, and ``row`` the block's number times RECORD; ``c`` is in units of
    the column per index.
    """
    top = element(records, row + S0)
    top = max(top, top + element(records, row + SLOPE) * (size - 1) - c * (size - 1))
    peak = element(records, row + PEAK)
    upper = highest - (element(records, row + HEIGHT) - c * (peak - first))
    return lowest - top, upper if (top > -np.inf) & (peak < latest) else np.inf


@njit(nogil=True, cache=True, counts_references=False, fastmath={"nnan", "nsz"})
def filter_blocks(
    n, records, start, shift, g, c, roots, parents, n_parents, children, lows, bar, enough
):  # fmt: skip
    """Keep the child blocks of the parents that may contain a narrowest window of gap g, that of V first.

    Returns how many were kept, V, the block of V, the least lower bound, and the number of tests.  Stops
    early (with -1 kept) as soon as V falls below ``enough``: the feature does not matter in this gap.

    ``children`` are int32 block numbers and ``lows`` float64 widths minus c e, both from ``start`` on.  The
    parents are ``children`` from ``parents`` on or, if that is negative, ``roots``, (n_parents,) int32.
    ``records`` and ``start`` are as in `starting_trend`.
    """
    v = np.inf
    owner = np.int64(-1)
    place = start
    size = 1 << shift
    blocks = ((n + size - 1) >> shift) - g
    last, drop = c * (size - 1), c * size
    latest = np.float64(n + 1 - (g + 1) * size)
    for p in range(n_parents):
        j = 2 * np.int64(element(roots, p) if parents < 0 else element(children, parents + p))
        if j >= blocks:
            continue
        row = (start + j) * RECORD
        ends = row + g * RECORD
        low, high = reach_of_ends(records, ends, last)
        middle_low, middle_high = reach_of_ends(records, ends + RECORD, last)
        first = np.float64(j * size)
        lowest, highest = min(low, middle_low - drop), max(high, middle_high - drop)
        lower, upper = bound_starts(records, row, c, size, first, latest, lowest, highest)
        put(children, place, np.int32(j))
        put(lows, place, lower)
        place += 1
        owner = j if upper < v else owner
        v = min(upper, v)
        if j + 1 < blocks:  # both halves read the block between their right ends
            low, high = reach_of_ends(records, ends + 2 * RECORD, last)
            lowest, highest = min(middle_low, low - drop), max(middle_high, high - drop)
            lower, upper = bound_starts(records, row + RECORD, c, size, first + size, latest, lowest, highest)
            put(children, place, np.int32(j + 1))
            put(lows, place, lower)
            place += 1
            owner = j + 1 if upper < v else owner
            v = min(upper, v)
        if v < enough:
            return -1, v, owner, 0.0, place - start
    # Which blocks stay is hard to predict, so each is written, and the next one overwrites what is dropped.
    # Infinities are compared but never subtracted from each other, since NaN is ruled out for the compiler.
    bound = v - bar
    tested, kept, place = place - start, start, start
    least = np.inf
    for t in range(start, start + tested):
        j, low = element(children, t), element(lows, t)
        owns = j == owner
        keep = ((low < np.inf) & (low <= bound)) | owns
        put(children, kept, j)
        put(lows, kept, low)
        place = kept if owns else place
        least = min(least, low if keep else np.inf)
        kept += np.int64(keep)
    if kept > start:
        children[start], children[place] = children[place], children[start]
        lows[start], lows[place] = lows[place], lows[start]
    return kept - start, v, owner, least, tested


@njit(nogil=True, cache=True, counts_references=False)
def filter_plainly(l, n, shift, g, owner, children, lows, start, count):
    """Filter blocks a second time, with bounds that use no trend (F9): for ties and heavy tails.

    A window that starts in block j and has d >= gB is at least l[(j+g)B] - l[last of block j] wide.  At every
    size of the gap, the window at the block's last value is at most as wide as at the gap's last size.
    Rounding is monotone, so no slack is needed.  Returns how many blocks stay, V and the least lower bound;
    if these two agree, phi is constant over the gap.

    ``children`` are int32 block numbers and ``lows`` float64 widths, of which [start, start + count) count.
    """
    size = 1 << shift
    d_last = min((g + 1) * size, n) - 1
    v = np.inf
    best = owner
    for t in range(start, start + count):
        j = np.int64(children[t])
        at = min((j + 1) * size, n) - 1
        if at + d_last >= n:
            at = n - 1 - d_last
        # If the value also occurs in the block before, it stands for a window of that block, not of this one.
        own = at >= j * size and (j == 0 or l[at] != l[j * size - 1])
        if own and l[at + d_last] - l[at] < v:
            v = l[at + d_last] - l[at]
            best = j
    kept = start
    least = np.inf
    for t in range(start, start + count):
        j = np.int64(children[t])
        lower = l[(j + g) * size] - l[min((j + 1) * size, n) - 1]
        if lower < v or j == owner or j == best:
            children[kept] = children[t]
            lows[kept] = lows[t]
            least = min(least, lower)
            kept += 1
    return kept - start, v, least


@njit(nogil=True, cache=True, counts_references=False)
def promising_first(roots, count, block):
    """List the parents of ``count`` blocks, that of ``block`` first, since a good V allows early rejection.

    Returns their number.  ``roots`` is (m,) int32, block numbers, written.
    """
    roots[0] = block >> 1
    listed = 1
    for parent in range((count + 1) >> 1):
        if parent != block >> 1:
            roots[listed] = parent
            listed += 1
    return listed


@njit(nogil=True, cache=True)
def solve_gaps(
    l, n, records, offsets, counts, grain, slack, bar, unit, least, span, first_gap, last_gap, known, tilt,
    skip_smallest, most, phi, ranges, blocks, lows, work,
):  # fmt: skip
    """Solve the top-level gaps [first_gap, last_gap) of one sorted column, depth first.

    ``known[d]`` is what other features reached; it never falls, and ``known[d] - tilt d`` never rises if
    ``tilt`` is positive (see `geodim.engine.counting`).  A block stays only if it could be narrower than V by
    ``bar``.  For a column on a lattice, ``bar`` is the quantum, since widths differ by at least that;
    otherwise it is minus the slack.  ``phi`` receives this feature's values at the sizes that matter, listed
    in ``ranges`` as half-open intervals.  Returns their number, or -1 if the work exceeded ``most``.

    Parameters
    ----------
    l : (n + PADDING,) float64, ascending, then infinite
    n : int, points
    records : (blocks of all levels, RECORD) float64, see `geodim.engine.kernels.pyramid`
    offsets, counts : (levels,) int64, first record and number of blocks of each level
    grain : float64, the lattice of the trends, or 0
    slack, bar, span : float64, in the units of the column; span is its range
    unit, least : float64, in the units of the column, see `geodim.engine.kernels.tiles.is_narrow`
    first_gap, last_gap : int, half-open range of gaps of the top level
    known : (n,) float64 over d, never falling
    tilt : float64, points per step, or 0
    skip_smallest : bool, whether sizes below BASE are left out
    most : int, the most windows evaluated plus TEST_LOOKS times the blocks tested before this gives up
    phi : (n,) float64 over d, written on ``ranges``
    ranges : (m, 2) int64, half-open ranges of d, written
    blocks : (blocks of all levels,) int32, scratch
    lows : (blocks of all levels,) float64, scratch
    work : (N_COUNTERS,) int64, added to
    """
    require(l.size >= n + PADDING, "solve_gaps: l")
    require(known.size >= n, "solve_gaps: known")
    require(phi.size >= n, "solve_gaps: phi")
    require(work.size >= N_COUNTERS, "solve_gaps: work")
    require_layout(n, offsets, counts, min(records.shape[0], blocks.size, lows.size))
    require(records.shape[1] == RECORD, "solve_gaps: records")
    require(first_gap >= 0 and last_gap <= counts[counts.size - 1], "solve_gaps: the gaps")
    n_levels = counts.size
    top = n_levels - 1
    gap = np.zeros(n_levels, np.int64)  # per level: the gap on the path from the root,
    child = np.zeros(n_levels, np.int64)  # which of its halves comes next,
    kept = np.zeros(n_levels, np.int64)  # how many blocks it kept,
    slope = np.zeros(n_levels)  # the trend for its halves,
    caps = np.zeros(n_levels)  # and a width that phi does not exceed in it.
    roots = np.empty(counts[0] + 2, np.int32)
    best, bounds, near = np.empty(BLOCK), np.empty(PARTS), np.empty(4 * BLOCK, np.float32)
    n_ranges = np.int64(0)
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
                parents, n_parents, cap = offsets[level], kept[level], caps[level]
                level -= 1
                gap[level] = g
                c = quantise(slope[level + 1], grain, span / (BLOCK << level))
            shift = BLOCK_SHIFT + level
            g = gap[level]
            d0 = g << shift
            d_first, d_stop = max(d0, 1), min(d0 + (1 << shift), n)
            start = offsets[level]
            if g == 0:  # windows within one block: bounds are of no use, so go down and evaluate
                if level == 0:
                    d_first = np.int64(BASE) if skip_smallest else d_first
                    n_ranges, looked_at = solve_smallest(
                        l, n, d_first, d_stop, unit, least, known, phi, ranges, n_ranges
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
                block, c = starting_trend(l, records, start, counts[level], shift, g, grain, limit)
                parents, n_parents, cap = -1, promising_first(roots, counts[level] - g, block), np.inf
            entering = False
            floor = known[d_first]
            rise = c * (d_stop - 1 - d0)
            enough = floor - rise - slack
            # Known rises by at most the tilt per size, so its value at the gap's end serves as well.
            if tilt > 0.0:
                enough = max(
                    enough, known[d_stop - 1] - c * (d_first - d0) - tilt * (d_stop - 1 - d_first) - slack
                )
            k, v, owner, low, tested = filter_blocks(
                n, records, start, shift, g, c, roots, parents, n_parents, blocks, lows, bar, enough
            )
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
                if k > MANY:
                    k, flat, flat_low = filter_plainly(l, n, shift, g, owner, blocks, lows, start, k)
                    cap = min(cap, flat)
                if flat == flat_low:  # constant over the gap
                    work[CLOSED] += 1
                    phi[d_first:d_stop] = flat
                elif cap < floor:
                    work[REJECTED] += 1
                    level += 1
                    continue
                elif level == 0:
                    work[LEAVES] += 1
                    evaluated, below = evaluate_leaf(
                        l,
                        n,
                        d0,
                        d_stop,
                        c,
                        bar,
                        unit,
                        least,
                        known,
                        records,
                        blocks,
                        lows,
                        start,
                        k,
                        bounds,
                        near,
                        best,
                    )
                    work[WINDOWS] += evaluated
                    if below:
                        work[REJECTED] += 1
                        level += 1
                        continue
                    for d in range(d_first, d_stop):
                        phi[d] = best[d - d0]
                else:
                    kept[level], child[level], caps[level] = k, 0, cap
                    slope[level] = c
                    if owner >= 0:
                        slope[level] = 0.5 * (
                            records[start + owner, SLOPE] + records[start + owner + g, SLOPE]
                        )
                    continue
            n_ranges = note_range(ranges, n_ranges, d_first, d_stop)
            level += 1
    return n_ranges
