"""Windows evaluated, not bounded: the only place where widths are computed for their own sake.

To the right of a start, the sizes of a gap are contiguous in memory.  So one load serves a whole vector of
sizes, and no horizontal reduction is needed.  The column ``l`` is padded with infinity, so windows beyond the
end never win.
"""

from __future__ import annotations

import numpy as np

from geodim.compiled import njit
from geodim.engine.kernels.counters import note_range
from geodim.engine.kernels.lanes import (
    LANES,
    ROW,
    any_less,
    element,
    greatest,
    larger,
    least,
    load,
    load_row,
    smaller,
    splat,
    splat_row,
    store,
)
from geodim.engine.kernels.pyramid import BASE, BLOCK, BLOCK_SHIFT, above_line

PADDING = 2 * BLOCK + 8  # how far beyond the end a tile may read
DENSITIES = (1.03, 1.1, 1.3, 2.0, np.inf)  # stretches up to this many times as wide as the densest are next
PART = 16  # starts of a block that are bounded together before they are evaluated, with half of the sizes
PARTS = BLOCK // PART
ALL_PARTS = (1 << PARTS) - 1
MANY = 8  # blocks of a leaf, after which it is worth putting the others in order
FEW = 8  # sizes below this one are evaluated for all starts
CHUNK = 1024  # starts that are evaluated before checking whether the smallest sizes are settled


@njit(nogil=True, cache=True, counts_references=False)
def evaluate_row(l, i, d0, best):
    """Lower ``best[e]`` to ``l[i + d0 + e] - l[i]`` for every e below its size, a multiple of ROW.

    ``l`` is float64, padded; ``best`` (sizes,) float64 widths.
    """
    value = splat_row(element(l, i))
    for e in range(0, best.size, ROW):
        store(best, e, smaller(load_row(l, i + d0 + e) - value, load_row(best, e)))


@njit(nogil=True, cache=True, counts_references=False, forceinline=True)
def lowered_row(l, start, stop, ends, row):
    """Return ``row``, in registers, lowered to ``l[i + ends + e] - l[i]`` for every start i in [start, stop).

    Four starts are compared with each other first, since every comparison with the row waits for the one
    before.

    ``l`` is float64 or float32, padded, and the row has the same type.
    """
    i = start
    while i + 4 <= stop:
        at = i + ends
        first = load_row(l, at) - splat_row(element(l, i))
        second = load_row(l, at + 1) - splat_row(element(l, i + 1))
        third = load_row(l, at + 2) - splat_row(element(l, i + 2))
        fourth = load_row(l, at + 3) - splat_row(element(l, i + 3))
        row = smaller(smaller(smaller(first, second), smaller(third, fourth)), row)
        i += 4
    while i < stop:
        row = smaller(load_row(l, i + ends) - splat_row(element(l, i)), row)
        i += 1
    return row


@njit(nogil=True, cache=True, counts_references=False)
def evaluate_tile(l, start, stop, d0, best):
    """Lower ``best[e]`` to ``l[i + d0 + e] - l[i]`` for every start i in [start, stop) and every e.

    ``l`` is float64 or float32, padded; ``best`` (sizes,) has the same type, and a multiple of ROW sizes.
    """
    for e in range(0, best.size, ROW):
        store(best, e, lowered_row(l, start, stop, d0 + e, load_row(best, e)))


@njit(nogil=True, cache=True, counts_references=False)
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


@njit(nogil=True, cache=True, counts_references=False)
def promising_parts(l, first, d0, c, v_first, v_second, bar):
    """Return, as bits, which parts of a tile may contain a window narrower than V by ``bar``.

    A tile is a block of starts with the BLOCK sizes from d0 on.  The bits from 0 on stand for PART starts
    each with the first half of the sizes, those from PARTS on for the same with the second; either has a
    V of its own.  The bounds are those of blocks (F5), but from the values themselves: how far the starts
    rise above a line of slope c, and the right ends fall below it.  PART starts and half of the sizes lead to
    three parts of the right ends.

    ``l`` is float64, padded, with a whole block of starts.
    """
    slope = splat(c)
    bound, other = v_first - bar, v_second - bar
    at, ends = np.int64(0), first + d0  # not literals: for each of these Numba would compile everything again
    second, third = _lowest(l, ends, at + PART, slope), _lowest(l, ends, at + 2 * PART, slope)
    fourth, fifth = _lowest(l, ends, at + 3 * PART, slope), _lowest(l, ends, at + 4 * PART, slope)
    sixth, seventh = _lowest(l, ends, at + 5 * PART, slope), _lowest(l, ends, at + 6 * PART, slope)
    second_third, fourth_fifth, sixth_seventh = (
        smaller(second, third), smaller(fourth, fifth), smaller(sixth, seventh),
    )  # fmt: skip
    low = least(smaller(_lowest(l, ends, at, slope), second_third))
    near_low = least(smaller(second_third, fourth))
    middle_low = least(smaller(third, fourth_fifth))
    further_low = least(smaller(fourth_fifth, sixth))
    far_low = least(smaller(fifth, sixth_seventh))
    last_low = least(smaller(sixth_seventh, _lowest(l, ends, at + 7 * PART, slope)))
    high = _highest(l, first, at, slope)
    promising = (low - high <= bound) | (middle_low - high <= other) << PARTS
    high = _highest(l, first, at + PART, slope)
    promising |= (near_low - high <= bound) << 1 | (further_low - high <= other) << (PARTS + 1)
    high = _highest(l, first, at + 2 * PART, slope)
    promising |= (middle_low - high <= bound) << 2 | (far_low - high <= other) << (PARTS + 2)
    high = _highest(l, first, at + 3 * PART, slope)
    return promising | (further_low - high <= bound) << 3 | (last_low - high <= other) << (PARTS + 3)


@njit(nogil=True, cache=True, counts_references=False, forceinline=True)
def _highest(l, first, at, slope):
    """Return the greatest departure of PART values, l[first + at] and the following."""
    return greatest(larger(above_line(l, first, at, slope), above_line(l, first, at + LANES, slope)))


@njit(nogil=True, cache=True, counts_references=False, forceinline=True)
def _lowest(l, first, at, slope):
    """Return, lane by lane, the lesser departures of PART values, l[first + at] and the following."""
    return smaller(above_line(l, first, at, slope), above_line(l, first, at + LANES, slope))


@njit(nogil=True, cache=True, counts_references=False)
def evaluate_starts(l, first, stop, d0, promising, unit, least, near, best):
    """Lower ``best[e]`` to ``l[i + d0 + e] - l[i]`` for the starts i of a block and every e < BLOCK.

    Starts and sizes are those of the parts whose bits are set in ``promising``, see `promising_parts`.  This
    is done in float32 if that is exact, since an instruction then handles twice as many windows.  Returns the
    number of windows.

    ``l`` is float64, padded; ``best`` (BLOCK,) float64 widths; ``near`` (3 BLOCK + ROW,) float32, scratch.
    """
    ends, row_at = first + d0, np.int64(3 * BLOCK)
    evaluated = 0
    narrow = is_narrow(l, first, first + BLOCK - 1, ends, ends + 2 * BLOCK - 1, unit, least)
    origin, end, base = splat(l[first]), splat(l[ends]), splat(l[ends] - l[first])
    if narrow:
        for t in range(0, BLOCK, LANES):
            store(near, t, load(l, first + t) - origin)
    for half in range(2):
        bits, e = promising >> (half * PARTS) & ALL_PARTS, half * ROW
        if bits == 0:
            continue
        if narrow:
            done = np.int64(0)
            for part in range(PARTS):
                if bits & (1 << part):  # its right ends
                    begin = done if done > part * PART else np.int64(part * PART)
                    for t in range(begin, part * PART + PART + ROW, LANES):
                        store(near, BLOCK + t, load(l, ends + e + t) - end)
                    done = np.int64(part * PART + PART + ROW)
            row = splat_row(np.float32(np.inf))
            for part in range(PARTS):
                if bits & (1 << part):
                    begin, beyond = np.int64(part * PART), min(np.int64(part * PART + PART), stop - first)
                    row = lowered_row(near, begin, beyond, np.int64(BLOCK), row)
                    evaluated += max(beyond - begin, 0)
            store(near, row_at, row)
            for t in range(0, ROW, LANES):
                store(best, e + t, smaller(base + load(near, row_at + t), load(best, e + t)))
        else:
            widths = load_row(best, e)
            for part in range(PARTS):
                if bits & (1 << part):
                    begin, beyond = first + part * PART, min(first + part * PART + PART, stop)
                    widths = lowered_row(l, begin, beyond, d0 + e, widths)
                    evaluated += max(beyond - begin, 0)
            store(best, e, widths)
    return evaluated * ROW


@njit(nogil=True, cache=True, counts_references=False)
def greatest_departures(best, c, sizes):
    """Return the largest of ``best[e] - c e`` over e < sizes, for either half of BLOCK sizes.

    ``best`` is (BLOCK,) float64 widths.
    """
    if sizes == BLOCK:
        slope, origin = splat(c), np.int64(0)
        first, second = splat(-np.inf), splat(-np.inf)
        for e in range(0, ROW, LANES):
            first = larger(above_line(best, origin, e, slope), first)
            second = larger(above_line(best, origin, e + ROW, slope), second)
        return greatest(first), greatest(second)
    v_first, v_second = -np.inf, -np.inf
    for e in range(min(sizes, ROW)):
        v_first = max(v_first, best[e] - c * e)
    for e in range(ROW, sizes):
        v_second = max(v_second, best[e] - c * e)
    return v_first, v_second


@njit(nogil=True, cache=True, counts_references=False)
def put_lower_first(blocks, lows, first, stop, middle):
    """Reorder the blocks [first, stop) so that those with lower bounds below ``middle`` come first."""
    place = first
    for t in range(first, stop):
        if lows[t] < middle:
            blocks[place], blocks[t] = blocks[t], blocks[place]
            lows[place], lows[t] = lows[t], lows[place]
            place += 1


@njit(nogil=True, cache=True, counts_references=False)
def lies_below(best, known, d0, sizes):
    """Return whether every width is less than what others reached at that size, known[d0 + e].

    ``best`` is (BLOCK,) float64 widths, ``known`` (n,) float64 over d.
    """
    if sizes == BLOCK:  # a difference of floats is negative if and only if the first is less
        high = splat(-np.inf)
        for e in range(0, BLOCK, LANES):
            high = larger(load(best, e) - load(known, d0 + e), high)
        return greatest(high) < 0.0
    below = 0
    for e in range(sizes):
        below += 1 if best[e] < known[d0 + e] else 0
    return below == sizes


@njit(nogil=True, cache=True, counts_references=False)
def evaluate_leaf(
    l, n, d0, d_stop, c, bar, unit, least, known, blocks, lows, start, count, near, best
):  # fmt: skip
    """Write the narrowest windows of one base gap over the remaining blocks, most promising first.

    Returns the number of windows evaluated, and whether the column attains nothing in this gap.  After a
    block has been evaluated, its windows bound the gap at each size, which discards most of the others; and
    the first ones mostly show whether the column lies below ``known`` all over the gap (F10).

    ``blocks`` are int32 numbers and ``lows`` float64 widths minus c e, of which [start, start + count) count;
    ``near`` is as in `evaluate_starts`; ``best`` is (BLOCK,) float64; ``known`` is (n,)
    float64 over d; ``unit`` and ``least`` are as in `is_narrow`.
    """
    for e in range(0, BLOCK, ROW):
        store(best, e, splat_row(np.inf))
    evaluated = 0
    sizes = d_stop - d0
    v = v_first = v_second = np.inf
    for turn in range(start, start + count):
        pick = turn
        if turn == start + 1:  # the first block gave V; next comes the one with the least lower bound
            for t in range(turn + 1, start + count):
                if lows[t] < lows[pick]:
                    pick = t
            blocks[turn], blocks[pick] = blocks[pick], blocks[turn]
            lows[turn], lows[pick] = lows[pick], lows[turn]
        elif turn == start + MANY:  # where many are left, those that lie lowest come first
            put_lower_first(blocks, lows, turn, start + count, 0.5 * (lows[start + 1] + v))
        if turn > start + 1 and lows[turn] > v - bar:
            continue
        i = np.int64(blocks[turn]) << BLOCK_SHIFT
        stop = min(i + BLOCK, n)
        promising = ALL_PARTS | ALL_PARTS << PARTS
        if turn > start and i + BLOCK <= n:
            promising = promising_parts(l, i, d0, c, v_first, v_second, bar)
        if promising == 0:
            continue
        evaluated += evaluate_starts(l, i, stop, d0, promising, unit, least, near, best)
        v_first, v_second = greatest_departures(best, c, sizes)
        v = max(v_first, v_second)
        if (turn < start + 2 or (turn - start) % MANY == 0) and lies_below(best, known, d0, sizes):
            return evaluated, True
    return evaluated, False


@njit(nogil=True, cache=True, counts_references=False)
def evaluate_densely(l, start, stop, d0, best, few):
    """Lower ``best`` as `evaluate_tile` does, and ``few[d]`` for the sizes d < FEW if d0 is 0.

    Four starts i, ..., i + 3 are left out together if l[i + d] - l[i + 3] is at least ``best`` for every size
    (F9): of many starts, few contain a narrowest window.  That says nothing about sizes below FEW,
    for which ``best`` must be minus infinity.

    ``l`` is float64 or float32, padded; ``best`` (ROW,) of the same type, ``few`` (FEW,) float64; the number
    of starts is a multiple of ROW.
    """
    if d0 == 0:
        for d in range(1, FEW):
            low = load_row(l, start + d) - load_row(l, start)
            for i in range(start + ROW, stop, ROW):
                low = smaller(load_row(l, i + d) - load_row(l, i), low)
            few[d] = min(few[d], np.float64(least(low)))
    row = load_row(best, 0)
    for i in range(start, stop, 4):
        if any_less(load_row(l, i + d0) - splat_row(element(l, i + 3)), row):
            row = lowered_row(l, i, i + 4, d0, row)
    store(best, 0, row)


@njit(nogil=True, cache=True)
def solve_smallest(l, n, d_first, d_stop, unit, least, known, phi, ranges, n_ranges):
    """Solve the sizes [d_first, d_stop), all within one BASE, over all starts.

    The densest stretches come first, since they contain most of the narrowest windows.  Ends early once every
    size has fallen below ``known`` or to 0.  Returns the number of ranges and the number of starts examined.

    Arrays are those of `gaps.solve_gaps`; ``unit`` and ``least`` are as in `is_narrow`.
    """
    best, widths = np.full(BASE, np.inf), np.full(BASE, np.float32(np.inf))
    near, few = np.empty(CHUNK + PADDING, np.float32), np.full(FEW, np.inf)
    d0 = d_first & ~np.int64(BASE - 1)
    if d0 == 0:
        best[:FEW], widths[:FEW] = -np.inf, -np.inf
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
            beyond = start + CHUNK + PADDING - 1
            if beyond < n and is_narrow(l, start, beyond, start, start, unit, least):
                origin = splat(l[start])
                for t in range(0, CHUNK + PADDING, LANES):
                    store(near, t, load(l, start + t) - origin)
                evaluate_densely(near, np.int64(0), np.int64(CHUNK), d0, widths, few)
            else:
                stop = start + ((min(start + CHUNK, n) - start) & ~np.int64(ROW - 1))
                if stop > start:
                    evaluate_densely(l, start, stop, d0, best, few)
                for i in range(stop, min(start + CHUNK, n)):
                    evaluate_row(l, i, d0, best)
                    for d in range(1, FEW if d0 == 0 else 1):
                        few[d] = min(few[d], l[i + d] - l[i])
            examined += min(start + CHUNK, n) - start
            undecided = False
            for d in range(d_first, d_stop):
                best[d - d0] = min(best[d - d0], np.float64(widths[d - d0]))
                found = few[d] if d < FEW else best[d - d0]
                undecided = undecided or (found >= known[d] and found > 0.0)
        above = below
    for d in range(d_first, d_stop):
        found = few[d] if d < FEW else best[d - d0]
        if found >= known[d]:
            phi[d] = found
            n_ranges = note_range(ranges, n_ranges, d, d + 1)
    return n_ranges, examined
