"""Windows evaluated, not bounded: the only place where widths are computed for their own sake.

To the right of a start, the sizes of a gap are contiguous in memory.  So one load serves a whole vector of
sizes, and no horizontal reduction is needed.  The column ``l`` is padded with infinity, so windows beyond the
end never win.
"""

from __future__ import annotations

import numpy as np

from geodim.compiled import njit
from geodim.engine.kernels.counters import note_range
from geodim.engine.kernels.pyramid import BASE, BLOCK, BLOCK_SHIFT

PADDING = 2 * BLOCK + 8  # how far beyond the end a tile may read
DENSITIES = (1.03, 1.1, 1.3, 2.0, np.inf)  # stretches up to this many times as wide as the densest are next
PART = 16  # starts of a block that are bounded together before they are evaluated
PARTS = BLOCK // PART
ALL_PARTS = (1 << PARTS) - 1
MANY = 8  # blocks of a leaf, after which it is worth putting the others in order
CHUNK = 1024  # starts that are evaluated before checking whether the smallest sizes are settled


@njit(nogil=True, cache=True)
def evaluate_row(l, i, d0, best):
    """Lower ``best[e]`` to ``l[i + d0 + e] - l[i]`` for every e below its size.

    ``l`` is float64, padded; ``best`` (sizes,) float64 widths.
    """
    value = l[i]
    right = l[i + d0 : i + d0 + best.size]
    for e in range(best.size):
        width = right[e] - value
        best[e] = min(best[e], width)


@njit(nogil=True, cache=True, fastmath={"nnan", "nsz"})
def evaluate_tile(l, start, stop, d0, best):
    """Lower ``best[e]`` to ``l[i + d0 + e] - l[i]`` for every start i in [start, stop) and every e.

    Eight starts share a pass over ``best``, which would otherwise wait for its own stores.

    ``l`` is float64 or float32, and goes on for eight values behind the last window; ``best`` (sizes,) has
    the same type.
    """
    i = start
    while i + 8 <= stop:
        a0, a1, a2, a3 = l[i], l[i + 1], l[i + 2], l[i + 3]
        a4, a5, a6, a7 = l[i + 4], l[i + 5], l[i + 6], l[i + 7]
        right = l[i + d0 : i + d0 + best.size + 8]
        for e in range(best.size):
            m = right[e] - a0
            w = right[e + 1] - a1
            m = min(m, w)
            w = right[e + 2] - a2
            m = min(m, w)
            w = right[e + 3] - a3
            m = min(m, w)
            w = right[e + 4] - a4
            m = min(m, w)
            w = right[e + 5] - a5
            m = min(m, w)
            w = right[e + 6] - a6
            m = min(m, w)
            w = right[e + 7] - a7
            m = min(m, w)
            best[e] = min(best[e], m)
        i += 8
    while i < stop:
        evaluate_row(l, i, d0, best)
        i += 1


@njit(nogil=True, cache=True)
def is_narrow(l, first, last, ends, beyond, unit, least):
    """Return whether float32 can hold the differences between two stretches of values exactly.

    The stretches are l[first..last] and l[ends..beyond], ends included, each measured from its first value.
    Float32 can if together they spread by at most ``unit``, or by no more than the least magnitude among them
    and that is at least ``least`` (F27).

    ``l`` is float64, padded; ``unit`` and ``least`` are in its units.
    """
    spread = (l[last] - l[first]) + (l[beyond] - l[ends])
    nearest = min(max(l[first], -l[last]), max(l[ends], -l[beyond]))
    return spread <= unit or (nearest >= least and spread <= nearest)


@njit(nogil=True, cache=True, fastmath={"nnan", "nsz"})
def promising_parts(l, first, d0, c, v, bar, scratch):
    """Return, as bits, which parts of a block of starts may contain a window narrower than V by ``bar``.

    The bounds are those of blocks (F5), but for PART starts each and from the values themselves: how far the
    starts rise above a line of slope c, and the right ends fall below it, is found by folding all parts at
    once.

    ``l`` is float64, padded, with a whole block of starts; ``scratch`` is (6 BLOCK,) float64.
    """
    values = l[first : first + BLOCK]
    for t in range(BLOCK):
        scratch[t] = values[t] - c * t
    values = l[first + d0 : first + d0 + 2 * BLOCK]
    for t in range(2 * BLOCK):
        scratch[BLOCK + t] = c * t - values[t]
    once, twice = scratch[3 * BLOCK : 9 * BLOCK // 2], scratch[9 * BLOCK // 2 : 21 * BLOCK // 4]
    for part in range(3 * PARTS):
        some, half = scratch[part * PART : (part + 1) * PART], once[part * PART // 2 : (part + 1) * PART // 2]
        for t in range(PART // 2):
            half[t] = max(some[t], some[t + PART // 2])
    for part in range(3 * PARTS):
        some, half = (
            once[part * PART // 2 : (part + 1) * PART // 2],
            twice[part * PART // 4 : (part + 1) * PART // 4],
        )
        for t in range(PART // 4):
            half[t] = max(some[t], some[t + PART // 4])
    for part in range(3 * PARTS):
        at = part * PART // 4
        scratch[part] = max(max(twice[at], twice[at + 1]), max(twice[at + 2], twice[at + 3]))
    promising = 0
    for part in range(PARTS):
        below = scratch[PARTS + part]
        for t in range(1, PARTS + 1):
            below = max(below, scratch[PARTS + part + t])
        lower = -(below + scratch[part])  # infinite if there are no right ends; V may be infinite, too
        promising |= 1 << part if lower <= v - bar else 0
    return promising


@njit(nogil=True, cache=True, fastmath={"nnan", "nsz"})
def evaluate_starts(l, first, stop, d0, promising, unit, least, near, best):
    """Lower ``best[e]`` to ``l[i + d0 + e] - l[i]`` for the starts i of a block and every e < BLOCK.

    Starts are those of the parts whose bits are set in ``promising``.  This is done in float32 if that is
    exact, since an instruction then handles twice as many windows.  Returns the number of windows.

    ``l`` is float64, padded; ``best`` (BLOCK,) float64 widths; ``near`` (4 BLOCK + 8,) float32, scratch.
    """
    ends = first + d0
    evaluated = 0
    narrow = is_narrow(l, first, first + BLOCK - 1, ends, ends + 2 * BLOCK - 1, unit, least)
    widths = near[3 * BLOCK + 8 :]
    if narrow:
        values = l[first : first + BLOCK]
        for t in range(BLOCK):
            near[t] = np.float32(values[t] - l[first])
        values = l[ends : ends + 2 * BLOCK]
        for t in range(2 * BLOCK):
            near[BLOCK + t] = np.float32(values[t] - l[ends])
        near[3 * BLOCK :] = np.float32(np.inf)
    for part in range(PARTS):
        begin, end = np.int64(part * PART), min(np.int64(part * PART + PART), stop - first)
        if not promising & (1 << part) or begin >= end:
            continue
        evaluated += (end - begin) * BLOCK
        if narrow:
            evaluate_tile(near, begin, end, np.int64(BLOCK), widths)
        else:
            evaluate_tile(l, first + begin, first + end, d0, best)
    if narrow:
        base = l[ends] - l[first]
        for e in range(BLOCK):
            width = base + np.float64(widths[e])
            best[e] = min(best[e], width)
    return evaluated


@njit(nogil=True, cache=True, fastmath={"nnan", "nsz"})
def greatest_departure(best, c, sizes, scratch):
    """Return the largest of ``best[e] - c e`` over e < sizes.

    In a plain loop each maximum would wait for the one before, so the array is folded in halves first.

    ``best`` is (BLOCK,) float64 widths, ``scratch`` (BLOCK,) float64.
    """
    for e in range(BLOCK):
        scratch[e] = best[e] - c * e
    scratch[sizes:BLOCK] = -np.inf
    for e in range(BLOCK // 2):
        scratch[e] = max(scratch[e], scratch[e + BLOCK // 2])
    for e in range(BLOCK // 4):
        scratch[e] = max(scratch[e], scratch[e + BLOCK // 4])
    for e in range(BLOCK // 8):
        scratch[e] = max(scratch[e], scratch[e + BLOCK // 8])
    v = scratch[0]
    for e in range(1, BLOCK // 8):
        v = max(v, scratch[e])
    return v


@njit(nogil=True, cache=True)
def put_lower_first(blocks, lows, first, count, middle):
    """Reorder the blocks [first, count) so that those with lower bounds below ``middle`` come first."""
    place = first
    for t in range(first, count):
        if lows[t] < middle:
            blocks[place], blocks[t] = blocks[t], blocks[place]
            lows[place], lows[t] = lows[t], lows[place]
            place += 1


@njit(nogil=True, cache=True)
def lies_below(best, known):
    """Return whether every width is less than what others reached at that size."""
    below = 0
    for e in range(known.size):
        below += 1 if best[e] < known[e] else 0
    return below == known.size


@njit(nogil=True, cache=True, fastmath={"nnan", "nsz"})
def evaluate_leaf(l, n, d0, d_stop, c, bar, unit, least, known, blocks, lows, count, near, line, best):
    """Write the narrowest windows of one base gap over the remaining blocks, most promising first.

    Returns the number of windows evaluated, and whether the column attains nothing in this gap.  After a
    block has been evaluated, its windows bound the gap at each size, which discards most of the others; and
    the first ones mostly show whether the column lies below ``known`` all over the gap (F10).

    ``blocks`` and ``lows`` are (count,), int32 numbers and float64 widths minus c e; ``near`` is
    (4 BLOCK + 8,) float32 and ``line`` (6 BLOCK,) float64, both scratch; ``best`` is (BLOCK,) float64;
    ``known`` is (n,) float64 over d; ``unit`` and ``least`` are as in `is_narrow`.
    """
    best[:] = np.inf
    evaluated = 0
    sizes = d_stop - d0
    v = np.inf
    for turn in range(count):
        pick = turn
        if turn == 1:  # block 0 gave V; next comes the block with the least lower bound
            for t in range(2, count):
                if lows[t] < lows[pick]:
                    pick = t
            blocks[1], blocks[pick] = blocks[pick], blocks[1]
            lows[1], lows[pick] = lows[pick], lows[1]
        elif turn == MANY:  # where many are left, those that lie lowest come first
            put_lower_first(blocks, lows, turn, count, 0.5 * (lows[1] + v))
        if turn > 1 and lows[turn] > v - bar:
            continue
        i = np.int64(blocks[turn]) << BLOCK_SHIFT
        stop = min(i + BLOCK, n)
        promising = ALL_PARTS
        if turn > 0 and i + BLOCK <= n:
            promising = promising_parts(l, i, d0, c, v, bar, line)
        if promising == 0:
            continue
        evaluated += evaluate_starts(l, i, stop, d0, promising, unit, least, near, best)
        v = greatest_departure(best, c, sizes, line)
        if (turn < 2 or turn % MANY == 0) and lies_below(best, known[d0:d_stop]):
            return evaluated, True
    return evaluated, False


@njit(nogil=True, cache=True)
def solve_smallest(l, n, d_first, d_stop, unit, least, known, phi, ranges, n_ranges):
    """Solve the sizes [d_first, d_stop), all within one BASE, over all starts.

    The densest stretches come first, since they contain most of the narrowest windows.  Ends early once every
    size has fallen below ``known`` or to 0.  Returns the number of ranges and the number of starts examined.

    Arrays are those of `gaps.solve_gaps`; ``unit`` and ``least`` are as in `is_narrow`.
    """
    best, widths = np.full(BASE, np.inf), np.full(BASE, np.float32(np.inf))
    near = np.empty(CHUNK + PADDING, np.float32)
    d0 = d_first & ~np.int64(BASE - 1)
    densest = np.inf
    for start in range(0, n, CHUNK):
        densest = min(densest, l[min(start + CHUNK, n - 1)] - l[start])
    examined = 0
    above, undecided = -1.0, True
    for times in DENSITIES:
        below = densest * times if times < np.inf else np.inf
        for start in range(0, n, CHUNK):
            if not (undecided and above < l[min(start + CHUNK, n - 1)] - l[start] <= below):
                continue
            stop, beyond = min(start + CHUNK, n), start + CHUNK + PADDING - 1
            if beyond < n and is_narrow(l, start, beyond, start, start, unit, least):
                values = l[start : start + CHUNK + PADDING]
                for t in range(CHUNK + PADDING):
                    near[t] = np.float32(values[t] - l[start])
                evaluate_tile(near, np.int64(0), np.int64(CHUNK), d0, widths)
            else:
                evaluate_tile(l, start, stop, d0, best)
            examined += stop - start
            undecided = False
            for d in range(d_first, d_stop):
                best[d - d0] = min(best[d - d0], np.float64(widths[d - d0]))
                undecided = undecided or (best[d - d0] >= known[d] and best[d - d0] > 0.0)
        above = below
    for d in range(d_first, d_stop):
        if best[d - d0] >= known[d]:
            phi[d] = best[d - d0]
            n_ranges = note_range(ranges, n_ranges, d, d + 1)
    return n_ranges, examined
