"""Alike columns: grids, jittered or rounded, ranks, time axes with or without gaps.

All blocks of starts look the same there, and a recursion over gaps of many sizes would keep them all.  So
sizes are taken 32 at a time, and for these

1. windows at the most extreme residuals bound phi from above, size by size;
2. a descent over the blocks of starts drops what cannot be narrower, with lines that are as sharp as the
   values (`geodim.engine.kernels.lines`) and with the quantum of the two blocks: a window that is narrower
   than the best so far is narrower by at least one quantum, or one rounding of widths (F20, F21);
3. the few remaining starts are evaluated.

Whatever the descent keeps, the result is the least width of windows that were evaluated.
"""

from __future__ import annotations

import math

import numpy as np

from geodim.compiled import njit
from geodim.engine.kernels._bounds import require
from geodim.engine.kernels.counters import LEAVES, N_COUNTERS, REJECTED, TESTS, WINDOWS, note_range
from geodim.engine.kernels.lanes import (
    LANES,
    element,
    load,
    load_row,
    ones,
    reaching,
    smaller,
    splat,
    splat_row,
    steps,
    store,
    trailing_zeros,
)
from geodim.engine.kernels.lines import (
    FAN_SHIFT,
    HIGH,
    LINE,
    LOW,
    OFF,
    SLOPE,
    difference,
    halves,
    require_lines,
)
from geodim.engine.kernels.pyramid import BASE, BASE_SHIFT
from geodim.engine.kernels.smallest import solve_smallest
from geodim.engine.kernels.tiles import PADDING, evaluate_tile

TOP_BLOCKS = 64  # at most, on the level where the descent begins
BATCH = 16  # gaps whose upper bounds are found together, since extremes are scattered over the memory
CLASSES = 112  # of quanta,
FINER = 44  # this many of them finer than the widths
AROUND = 3  # the level whose slopes are used as trends
EQUAL = 2.0**-40  # relative difference below which widths are taken as equal there
FEW = 8  # up to this many starts of a block are evaluated one by one
LOOK_AGAIN = 8  # blocks evaluated between two updates of the bound
AT_ONCE = 2048  # sizes: their widths stay in the nearest cache while all starts are tried
BEFORE = 1.0 - 2.0**-53  # times a float is the float before it, unless that is subnormal;
LEAST = 2.0**-1074  # then they differ by this
ROUNDINGS = 2.0**-50  # of a bound, relative to the numbers that it is the sum of; see docs/numerics.md


@njit(nogil=True, cache=True, counts_references=False)
def seed(l, n, d0, sizes, positions, best):
    """Lower ``best[e]`` to ``l[i + d0 + e] - l[i]`` for the given starts i and all e < sizes.

    ``l`` is float64, ascending; ``positions`` are starts; ``best`` (sizes or more,) float64 widths.
    """
    for first in range(0, sizes, AT_ONCE):
        some, d = best[first : min(first + AT_ONCE, sizes)], d0 + first
        for at in range(positions.size):
            i = positions[at]
            count = min(some.size, n - i - d)
            if count > 0:
                value, right = l[i], l[i + d : i + d + count]
                for e in range(count):
                    width = right[e] - value
                    some[e] = min(some[e], width)


@njit(nogil=True, cache=True, inline="always")
def below(width, quantum):
    """Return the largest width that rounds to less than ``width``, as a float and what to subtract from it.

    Before they are rounded, widths are multiples of ``quantum``, so those below ``width`` are at most the
    next multiple below it.  If multiples are finer than floats, a width that rounds to less lies at or below
    the middle between ``width`` and the float before it.  A quantum of 0 means that there is none.
    """
    step = width - width * BEFORE  # to the float before it
    if step == 0.0:
        step = LEAST
    if quantum >= step:
        return quantum * (np.ceil(width / quantum) - 1.0), 0.0
    even = 0.5 * (width / step)  # the middle rounds to the even neighbour
    return width, 0.5 * step + (quantum if even == np.floor(even) else 0.0)


@njit(nogil=True, cache=True, counts_references=False)
def mark_settled(best, d0, count, head, tail, rest, quanta, outside, settled):
    """Mark the sizes at which no untried window is narrower; return the number of others.

    At the size d = d0 + e, all untried windows whose quantum is quanta[k] are at least
    ``outside[e, k] + c d`` wide, where c is the sum of ``head``, ``tail`` and ``rest``; ``outside`` is
    infinite if there are none.

    ``best`` is (count or more,) float64 widths, ``settled`` (count or more,) bool, written.
    """
    left = 0
    for e in range(count):
        d = d0 + e
        settled[e] = True
        above = ((best[e] - head * d) - tail * d) - rest * d
        surely = above + ROUNDINGS * (abs(above) + 2.0**-25 * head * d)
        for kind in range(quanta.size):
            # Mostly they are wider whatever their quantum, which is sooner seen.
            if outside[e, kind] > surely or best[e] == 0.0:
                continue
            width, less = below(best[e], quanta[kind])
            above = ((width - head * d) - tail * d) - rest * d
            off = ROUNDINGS * (abs(above) + less + 2.0**-25 * head * d)
            if not (above - less) + off < outside[e, kind]:
                settled[e] = False
                left += 1
                break
    return left


@njit(nogil=True, cache=True, counts_references=False)
def trend_at(l, n, d, positions, records, start, shift):
    """Return the mean slope at both ends of the narrowest of some windows; among equal ones, the best fit.

    The best fit is where the lines leave the smallest residuals.  ``positions`` are starts; the lines of
    blocks of 2**shift values begin at ``start``.
    """
    narrowest = np.inf
    for at in range(positions.size):
        i = positions[at]
        if i + d < n:
            narrowest = min(narrowest, l[i + d] - l[i])
    narrowest += EQUAL * narrowest
    closest = np.inf
    slope = records[start, SLOPE]
    for at in range(positions.size):
        i = positions[at]
        if i + d < n and l[i + d] - l[i] <= narrowest:
            left, right = start + (i >> shift), start + ((i + d) >> shift)
            residuals = records[left, HIGH] - records[left, LOW] + records[right, HIGH] - records[right, LOW]
            if residuals < closest:
                closest = residuals
                slope = records[left, SLOPE]
                if records[right, SLOPE] != slope:
                    slope = 0.5 * (slope + records[right, SLOPE])
    return slope


@njit(nogil=True, cache=True, counts_references=False)
def narrower(best, settled, d0, count, around, c, pattern, quantum):
    """Return a T such that windows wider than ``around + T + c e + pattern`` do not lower ``best`` at any e.

    Sizes that are settled are ignored.  ``pattern`` is (p,) float64, by d mod p.  The windows are multiples
    of ``quantum``, see `below`.

    ``best`` is (count or more,) float64 widths, ``settled`` (count or more,) bool.
    """
    highest = -np.inf
    largest = 0.0
    period = pattern.size
    for e in range(count):
        if settled[e]:
            continue
        if best[e] == np.inf:
            return np.inf
        if best[e] > 0.0:
            width, less = below(best[e], quantum)
            more = pattern[(d0 + e) % period]
            highest = max(highest, (((width - around) - less) - c * e) - more)
            largest = max(largest, abs(best[e] - around) + (best[e] - width) + abs(more))
    return highest + ROUNDINGS * (largest + c * count)


@njit(nogil=True, cache=True, counts_references=False)
def least_width(l, records, quanta, start, count, shift, j, d0, c, head, tail, around):
    """Return a lower bound on the widths of a block's windows, minus ``around + c e``, and their quantum.

    ``l`` is (n,) float64, ascending; the ``count`` lines and quanta of one level begin at ``start``; ``head``
    and ``tail`` are the halves of c.
    """
    size = 1 << shift
    first = l[j << shift]
    steeper = max((records[start + j, SLOPE] - c) * (size - 1), 0.0)
    top = records[start + j, HIGH] + steeper
    lowest = np.inf
    quantum = np.int64(quanta[start + j])
    block = ((j << shift) + d0) >> shift
    beyond = (block << shift) - (j << shift) - d0  # from the first right end to the beginning of its block
    for right in range(block, min(block + 2, count)):
        at = start + right
        width, lost = difference(l[right << shift], first)
        near = width - around
        rest = near - head * beyond
        rough = rest - tail * beyond
        flatter = min((records[at, SLOPE] - c) * (size - 1), 0.0)
        low = (rough + lost) + (records[at, LOW] + flatter) - top
        off = abs(rest) + abs(rough) + abs(lost) + abs(records[at, LOW]) + abs(top) + steeper - flatter
        if 2.0 * around < width or 2.0 * width < around:
            off += abs(near)
        lowest = min(lowest, low - ROUNDINGS * off - records[at, OFF])
        quantum = min(quantum, np.int64(quanta[at]))
        beyond += size
    return lowest - records[start + j, OFF], quantum


@njit(nogil=True, cache=True, counts_references=False)
def evaluate_block(l, n, records, j, d0, c, lowest, bound, best):
    """Evaluate those starts of a base block whose windows can be narrower; return their number.

    ``l`` is padded, and ``best`` (BASE or more,) float64 widths.
    ``lowest`` is the bound for a start with the block's largest residual.  For any other start, the bound is
    higher by as much as its residual is smaller.
    """
    line = records[j]
    first = j << BASE_SHIFT
    base = l[first]
    top = line[HIGH] + max((line[SLOPE] - c) * (BASE - 1), 0.0)
    width = l[min(first + BASE, n) - 1] - base
    needed = top - (bound - lowest) - ROUNDINGS * (width + c * BASE + abs(top) + abs(bound - lowest))
    count = min(BASE, n - d0 - first)
    bits = np.int64(0)
    begin, slope, least = splat(base), splat(c), splat(needed)
    t = steps()
    for at in range(0, BASE, LANES):
        bits |= reaching((load(l, first + at) - begin) - slope * t, least) << at
        t = t + splat(np.float64(LANES))
    bits &= (1 << count) - 1
    promising = ones(bits)
    if promising > FEW:
        evaluate_tile(l, first, first + count, d0, best)
        return count
    if promising > 0:
        row = load_row(best, 0)
        while bits:
            i = first + trailing_zeros(bits)
            row = smaller(load_row(l, i + d0) - splat_row(element(l, i)), row)
            bits &= bits - 1
        store(best, 0, row)
    return promising


@njit(nogil=True, cache=True, counts_references=False)
def lowered(best, before, count):
    """Return whether any width is less than before, and copy the widths to ``before``.

    Both are (count or more,) float64.
    """
    less = 0
    for e in range(count):
        less += 1 if best[e] < before[e] else 0
        before[e] = best[e]
    return less > 0


@njit(nogil=True, cache=True, counts_references=False)
def descend(
    l, n, offsets, counts, records, quanta, top, d0, sizes, c, pattern, stack, bounds, before, settled, best,
    work,
):  # fmt: skip
    """Lower ``best`` to the narrowest widths of the sizes d0 .. d0 + sizes - 1.

    ``stack`` is (4 levels + blocks of level top,) int64, ``bounds`` (CLASSES,) and ``before`` (BASE,)
    float64: scratch.  Sizes that are ``settled``, (BASE,) bool, need not be lowered, though they may be.
    """
    around = best[0] if best[0] < np.inf else 0.0
    finest = -1075  # finer powers of two are not distinguished as quanta
    if around > 0.0:
        finest = math.frexp(around - np.nextafter(around, 0.0))[1] - 1 - FINER
    bounds[:] = np.nan
    head, tail = halves(c)
    depth = 0
    for j in range(min(counts[top], ((n - d0 - 1) >> (BASE_SHIFT + FAN_SHIFT * top)) + 1) - 1, -1, -1):
        stack[depth] = (j << 5) | top
        depth += 1
    evaluated = 0
    for e in range(sizes):  # to assign slices, Numba compiles a second of error messages
        before[e] = best[e]
    while depth > 0:
        depth -= 1
        level = stack[depth] & 31
        j = stack[depth] >> 5
        shift = BASE_SHIFT + FAN_SHIFT * level
        start = offsets[level]
        lowest, exponent = least_width(
            l, records, quanta, start, counts[level], shift, j, d0, c, head, tail, around
        )
        work[TESTS] += 1
        kind = min(max(exponent - finest, 0), CLASSES - 1)
        if np.isnan(bounds[kind]):
            quantum = math.ldexp(1.0, int(finest + kind)) if kind > 0 else 0.0
            bounds[kind] = narrower(best, settled, d0, sizes, around, c, pattern, quantum)
        if lowest > bounds[kind]:
            continue
        if level > 0:
            last = min(((j + 1) << FAN_SHIFT), ((n - d0 - 1) >> (shift - FAN_SHIFT)) + 1) - 1
            for child in range(last, (j << FAN_SHIFT) - 1, -1):
                stack[depth] = (child << 5) | (level - 1)
                depth += 1
            continue
        rows = evaluate_block(l, n, records, j, d0, c, lowest, bounds[kind], best)
        work[WINDOWS] += rows * BASE
        evaluated += 1
        if evaluated % LOOK_AGAIN == 0 and lowered(best, before, sizes):
            bounds[:] = np.nan


@njit(nogil=True, cache=True)
def solve_alike(
    l, mirrored, n, offsets, counts, records, quanta, starts, ends, d_first, d_stop, known, skip_smallest,
    phi, ranges, work,
):  # fmt: skip
    """Solve the sizes [d_first, d_stop) of one sorted column, d_first being a multiple of BASE (or 1).

    Returns the number of ranges; results are as in `gaps.solve_gaps`.

    Parameters
    ----------
    l : (n + PADDING,) float64, ascending, then infinite
    mirrored : (n,) float64, the negated values in reverse order
    n : int, points
    offsets, counts, records, quanta
        As `lines.build_lines` fills them.
    starts, ends : (m,) int64, positions: windows of all sizes that start or end there are tried; ends are
        counted from the last value
    d_first, d_stop : int, half-open range of sizes d
    known : (n,) float64 over d, never falling
    skip_smallest : bool, whether sizes below BASE are left out
    phi : (n,) float64 over d, written on ``ranges``
    ranges : (m, 2) int64, half-open ranges of d, written
    work : (N_COUNTERS,) int64, added to
    """
    require(l.size >= n + PADDING, "solve_alike: l")
    require(mirrored.size >= n, "solve_alike: mirrored")
    require_lines(n, offsets, counts, min(records.shape[0], quanta.size))
    require(records.shape[1] >= LINE, "solve_alike: records")
    require(d_first > 0 and d_stop <= n, "solve_alike: the sizes")
    require(known.size >= n, "solve_alike: known")
    require(phi.size >= n, "solve_alike: phi")
    require(work.size >= N_COUNTERS, "solve_alike: work")
    for positions in (starts, ends):
        for at in range(positions.size):
            require(0 <= positions[at] < n, "solve_alike: a position")
    top = 0
    while counts[top] > TOP_BLOCKS:
        top += 1
    around = min(AROUND, counts.size - 1)
    stack = np.empty(counts[top] + (counts.size << FAN_SHIFT) + 1, np.int64)
    bounds, before, settled = np.empty(CLASSES), np.empty(BASE), np.zeros(BASE, np.bool_)
    best, no_pattern = np.empty(BATCH * BASE), np.zeros(1)
    n_ranges = np.int64(0)
    first_gap, last_gap = d_first >> BASE_SHIFT, ((d_stop - 1) >> BASE_SHIFT) + 1
    if first_gap == 0:
        if not skip_smallest:
            stop = min(BASE, d_stop)
            n_ranges, looked_at = solve_smallest(
                l, n, np.int64(1), stop, 0.0, np.inf, known, phi, ranges, n_ranges
            )
            work[WINDOWS] += looked_at * (stop - 1)
        first_gap = 1
    for batch in range(first_gap, last_gap, BATCH):
        d_batch = batch << BASE_SHIFT
        sizes = min(BATCH << BASE_SHIFT, d_stop - d_batch)
        best[:] = np.inf
        seed(l, n, d_batch, sizes, starts, best)
        seed(mirrored, n, d_batch, sizes, ends, best)
        work[WINDOWS] += (starts.size + ends.size) * sizes
        c = trend_at(l, n, d_batch, starts, records, offsets[around], BASE_SHIFT + FAN_SHIFT * around)
        for g in range(batch, min(batch + BATCH, last_gap)):
            d0 = g << BASE_SHIFT
            stop = min(d0 + BASE, d_stop)
            found = best[d0 - d_batch : d0 - d_batch + BASE]
            if found[stop - 1 - d0] < known[d0]:  # phi is monotone: the last size bounds them all
                work[REJECTED] += 1
                continue
            work[LEAVES] += 1
            descend(
                l, n, offsets, counts, records, quanta, top, d0, stop - d0, c, no_pattern, stack, bounds,
                before, settled, found, work,
            )  # fmt: skip
            for d in range(d0, stop):
                phi[d] = found[d - d0]
            n_ranges = note_range(ranges, n_ranges, d0, stop)
    return n_ranges
