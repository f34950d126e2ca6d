"""Windows evaluated, not bounded: the only place where widths are computed for their own sake.

To the right of a start, the sizes of a gap are contiguous in memory.  So one load serves a whole vector of
sizes, and no horizontal reduction is needed.  The column ``l`` is padded with infinity, so windows beyond the
end never win.
"""

from __future__ import annotations

import numpy as np

from geodim.compiled import njit
from geodim.engine.kernels.lanes import (
    LANES,
    ROW,
    element,
    following,
    greatest,
    greatest_of_each,
    larger,
    least_of_each,
    load,
    load_row,
    ones,
    put,
    reaching,
    smaller,
    splat,
    splat_row,
    steps,
    store,
    trailing_zeros,
)
from geodim.engine.kernels.pyramid import BLOCK, BLOCK_SHIFT, GROUP, GROUP_SHIFT, HEIGHT, PEAK

PADDING = 2 * BLOCK + 8  # how far beyond the end a tile may read
LARGEST = np.finfo(np.float64).max
EVERY = (1 << GROUP) - 1  # bits of all blocks of a group
PART = 16
PARTS = BLOCK // PART  # of the starts of a block, and of the sizes of a leaf, that are bounded together
BOUNDS = 2 * LANES  # of the parts of the sizes, and of the parts of the starts
FEW = 16  # starts of a block: for more than these it pays to make its values float32
CACHE_LINE = 8  # float64 on a line of the cache
MANY = 4  # blocks of a leaf that are evaluated before checking again whether the column lies below others


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


@njit(nogil=True, cache=True, counts_references=False, forceinline=True)
def draw_line(c, line):
    """Write c t for all t up to the last right end of a leaf; ``line`` is (2 BLOCK,) float64."""
    slope = splat(c)
    for t in range(0, 2 * BLOCK, LANES):
        store(line, t, slope * (splat(np.float64(t)) + steps()))


@njit(nogil=True, cache=True, counts_references=False, forceinline=True)
def promising_starts(l, first, d0, line, bounds):
    """Return, as bits, which starts of a block may have a window that is narrow enough.

    The sizes are the BLOCK sizes d0 + e, cut into PARTS.  A window of the q-th part is narrow enough if its
    width less c e is at most ``bounds[q]``.  The bounds on windows are those of blocks (F5), but from the
    values themselves: how far a start rises above a line of slope c, and how far the right ends fall below
    it.  PART starts and PART sizes lead to two parts of the right ends.

    ``l`` is float64, padded, with a whole block of starts; ``line`` is that of `draw_line`; ``bounds``
    (BOUNDS,) float64, of which all but the first PARTS are scratch.
    """
    at, ends = np.int64(0), first + d0  # not literals: for each of these Numba would compile everything again
    low = least_of_each(
        _lowest(l, ends, at, line), _lowest(l, ends, at + PART, line),
        _lowest(l, ends, at + 2 * PART, line), _lowest(l, ends, at + 3 * PART, line),
        _lowest(l, ends, at + 4 * PART, line), _lowest(l, ends, at + 5 * PART, line),
        _lowest(l, ends, at + 6 * PART, line), _lowest(l, ends, at + 7 * PART, line),
    )  # fmt: skip
    low = smaller(low, following(low))
    # How high a start of the p-th part must lie for some part of the sizes, in the p-th lane.
    height = low - splat(element(bounds, 0))
    for q in range(1, PARTS):
        low = following(low)
        height = smaller(low - splat(element(bounds, q)), height)
    store(bounds, LANES, height)
    starts = _reaching(l, first, at, line, bounds)
    starts |= _reaching(l, first, at + PART, line, bounds) << PART
    starts |= _reaching(l, first, at + 2 * PART, line, bounds) << 2 * PART
    return starts | _reaching(l, first, at + 3 * PART, line, bounds) << 3 * PART


@njit(nogil=True, cache=True, counts_references=False, forceinline=True)
def _above(values, first, at, line):
    """Return how far eight values, from values[first + at] on, lie above the line; negative if below."""
    return load(values, first + at) - load(line, at)


@njit(nogil=True, cache=True, counts_references=False, forceinline=True)
def _lowest(l, first, at, line):
    """Return, lane by lane, the lesser departures of PART values, l[first + at] and the following."""
    return smaller(_above(l, first, at, line), _above(l, first, at + LANES, line))


@njit(nogil=True, cache=True, counts_references=False, forceinline=True)
def _reaching(l, first, at, line, bounds):
    """Return, as bits, which of PART starts from ``at`` on lie as high as a start of that part must lie."""
    height = splat(element(bounds, LANES + at // PART))
    low = reaching(_above(l, first, at, line), height)
    return low | reaching(_above(l, first, at + LANES, line), height) << LANES


@njit(nogil=True, cache=True, counts_references=False, forceinline=True)
def is_narrow(l, first, last, ends, beyond, unit, nearest):
    """Return whether float32 can hold the differences between two stretches of values exactly.

    The stretches are l[first..last] and l[ends..beyond], ends included, each measured from its first value.
    Float32 can if together they spread by at most ``unit``, or by no more than the least magnitude among them
    and that is at least ``nearest`` (F27).

    ``l`` is float64, padded; ``unit`` and ``nearest`` are in its units.
    """
    spread = (l[last] - l[first]) + (l[beyond] - l[ends])
    magnitude = min(max(l[first], -l[last]), max(l[ends], -l[beyond]))
    return spread <= unit or (magnitude >= nearest and spread <= magnitude)


@njit(nogil=True, cache=True, counts_references=False, forceinline=True)
def evaluate_starts(l, first, d0, promising, unit, nearest, near, best):
    """Lower ``best[e]`` to ``l[i + d0 + e] - l[i]`` for every e < BLOCK and those starts whose bits are set.

    Bit t stands for the start first + t.  If these are many, it is done in float32 where that is exact, since
    an instruction then handles twice as many windows.  Returns the number of windows.

    ``l`` is float64, padded; ``best`` (BLOCK,) float64 widths; ``near`` (4 BLOCK,) float32, scratch; ``unit``
    and ``nearest`` are as in `is_narrow`.
    """
    ends = first + d0
    evaluated = 0
    if ones(promising) > FEW and is_narrow(
        l, first, first + BLOCK - 1, ends, ends + 2 * BLOCK - 1, unit, nearest
    ):
        origin, end, base = splat(l[first]), splat(l[ends]), splat(l[ends] - l[first])
        for t in range(0, BLOCK, LANES):
            store(near, t, load(l, first + t) - origin)
        for t in range(0, 2 * BLOCK, LANES):
            store(near, BLOCK + t, load(l, ends + t) - end)
        first_row, second_row = splat_row(np.float32(np.inf)), splat_row(np.float32(np.inf))
        while promising:
            i = trailing_zeros(promising)
            promising &= promising - 1
            offset = splat_row(element(near, i))
            first_row = smaller(load_row(near, BLOCK + i) - offset, first_row)
            second_row = smaller(load_row(near, BLOCK + ROW + i) - offset, second_row)
            evaluated += BLOCK
        store(near, 0, first_row)
        store(near, ROW, second_row)
        for e in range(0, BLOCK, LANES):
            store(best, e, smaller(base + load(near, e), load(best, e)))
        return evaluated
    low, high = load_row(best, 0), load_row(best, ROW)
    while promising:
        i = first + trailing_zeros(promising)
        promising &= promising - 1
        value = splat_row(element(l, i))
        low = smaller(load_row(l, i + d0) - value, low)
        high = smaller(load_row(l, i + d0 + ROW) - value, high)
        evaluated += BLOCK
    store(best, 0, low)
    store(best, ROW, high)
    return evaluated


@njit(nogil=True, cache=True, counts_references=False, forceinline=True)
def widest_departures(best, c, line, sizes, bar, bounds):
    """Write the largest of ``best[e] - c e`` less ``bar`` for each PART of the sizes, and return the largest.

    Only e < sizes count.  Where no window was found yet that is a very large number, but not infinity, from
    which right ends beyond the column could not be subtracted.

    ``best`` is (BLOCK,) float64 widths; ``line`` and ``bounds`` are as in `promising_starts`, written.
    """
    if sizes == BLOCK:
        at = np.int64(0)
        first, second = _highest(best, at, line), _highest(best, at + PART, line)
        third, fourth = _highest(best, at + 2 * PART, line), _highest(best, at + 3 * PART, line)
        high = greatest_of_each(first, second, third, fourth, first, second, third, fourth)
        high = smaller(high, splat(LARGEST)) - splat(bar)
        store(bounds, 0, high)
        return greatest(high)
    v = -np.inf
    for q in range(PARTS):
        high = -np.inf
        for e in range(q * PART, min(q * PART + PART, sizes)):
            high = max(high, best[e] - c * e)
        high = min(high, LARGEST)
        bounds[q] = high - bar
        v = max(v, high)
    return v - bar


@njit(nogil=True, cache=True, counts_references=False, forceinline=True)
def _highest(best, at, line):
    """Return, lane by lane, the larger departures of PART widths from ``at`` on."""
    none = np.int64(0)
    return larger(_above(best, none, at, line), _above(best, none, at + LANES, line))


@njit(nogil=True, cache=True, counts_references=False, forceinline=True)
def lies_below(best, known, d0, sizes):
    """Return whether every width is less than what others reached at that size, known[d0 + e].

    ``best`` is (BLOCK,) float64 widths, ``known`` (n,) float64 over d.
    """
    if element(best, 0) >= element(known, d0):  # nearly all of those that lead somewhere do so here
        return False
    if sizes == BLOCK:  # a difference of floats is negative if and only if the first is less
        high = splat(-np.inf)
        for e in range(0, BLOCK, LANES):
            high = larger(load(best, e) - load(known, d0 + e), high)
        return greatest(high) < 0.0
    below = 0
    for e in range(sizes):
        below += 1 if best[e] < known[d0 + e] else 0
    return below == sizes


@njit(nogil=True, cache=True, counts_references=False, forceinline=True)
def list_blocks(group, bits, listed, count):
    """Append the blocks of a group whose bits are set, and return how many are listed then.

    Which they are is hard to predict, so each is written, and the next one overwrites what is left out.

    ``group`` is as in `geodim.engine.kernels.groups.filter_groups`; ``listed`` int64, of which the first
    ``count`` are filled, with room for a whole group more.
    """
    block = (group >> GROUP) << GROUP_SHIFT
    for lane in range(GROUP):
        put(listed, count, block + lane)
        count += bits >> lane & 1
    return count


@njit(nogil=True, cache=True, counts_references=False, forceinline=True)
def evaluate_peaks(l, d0, records, start, listed, count, best):
    """Write the narrowest of the windows that start at the peaks of blocks, for the BLOCK sizes from d0 on.

    ``l`` is float64, padded; ``records`` (RECORD, blocks) float64, of which the level begins at ``start``;
    ``listed`` int64 numbers of blocks, of which the first ``count`` count; ``best`` (BLOCK,) float64 widths,
    written.
    """
    first, second = splat_row(np.inf), splat_row(np.inf)
    row = np.int64(records.shape[1])
    peaks, heights = PEAK * row + start, HEIGHT * row + start  # the values there, which lie side by side
    for t in range(count):
        i = np.int64(element(records, peaks + element(listed, t)))
        value = splat_row(element(records, heights + element(listed, t)))
        first = smaller(load_row(l, i + d0) - value, first)
        second = smaller(load_row(l, i + d0 + ROW) - value, second)
    store(best, 0, first)
    store(best, ROW, second)


@njit(nogil=True, cache=True, counts_references=False, forceinline=True)
def keep_leaf(best, d0, d_stop, phi):
    """Copy the widths of a leaf, ``best[e]``, to ``phi[d0 + e]`` for all d below ``d_stop``.

    ``best`` is (BLOCK,) float64, ``phi`` (d_stop or more,) float64, written.
    """
    if d_stop - d0 == BLOCK:
        for e in range(0, BLOCK, LANES):
            store(phi, d0 + e, load(best, e))
        return
    for d in range(d0, d_stop):
        put(phi, d, element(best, d - d0))


@njit(nogil=True, cache=True)
def leaf_scratch(blocks):
    """Return the scratch arrays of `evaluate_leaf`: best, line, bounds, near and listed.

    All but the last begin where a line of the cache does, so that no vector lies on two of them.
    """
    memory = np.empty(5 * BLOCK + BOUNDS + CACHE_LINE)
    first = (-memory.ctypes.data >> 3) % CACHE_LINE
    best, line = memory[first : first + BLOCK], memory[first + BLOCK : first + 3 * BLOCK]
    near = memory[first + 3 * BLOCK : first + 5 * BLOCK].view(np.float32)
    bounds = memory[first + 5 * BLOCK : first + 5 * BLOCK + BOUNDS]
    return best, line, bounds, near, np.empty(2 * (blocks + GROUP), np.int64)


@njit(nogil=True, cache=True, counts_references=False, forceinline=True)
def evaluate_leaf(
    l, n, d0, d_stop, c, bar, unit, nearest, known, records, groups, lows, start, count, listed, line, bounds,
    near, best,
):  # fmt: skip
    """Write the narrowest windows of one base gap over the remaining blocks.

    Returns the number of windows evaluated, and whether the column attains nothing in this gap.  The windows
    at the peaks of all blocks come first: they are nearly as narrow as any, and bound the gap at each size,
    which discards most of the starts of all blocks.  They also mostly show whether the column lies below
    ``known`` all over the gap (F10).

    ``records`` is (RECORD, blocks) float64; ``groups`` are int64 and ``lows`` float64 widths minus c e, as in
    `geodim.engine.kernels.groups.filter_groups`, of which the first ``count`` groups from ``start`` on count;
    ``best`` is (BLOCK,), ``line`` (2 BLOCK,) and ``bounds`` (BOUNDS,) float64, and ``listed`` int64, twice
    as many as there are blocks and lanes, all scratch; ``known`` is (n,) float64 over d; ``unit``,
    ``nearest`` and ``near`` are as in `evaluate_starts`.
    """
    sizes = d_stop - d0
    here = start >> GROUP_SHIFT
    blocks = np.int64(0)
    for t in range(count):
        group = element(groups, here + t)
        blocks = list_blocks(group, group, listed, blocks)
    evaluate_peaks(l, d0, records, start, listed, blocks, best)
    evaluated = blocks * BLOCK
    if lies_below(best, known, d0, sizes):
        return evaluated, True
    draw_line(c, line)
    bound = splat(widest_departures(best, c, line, sizes, bar, bounds))
    blocks = np.int64(0)
    for t in range(count):
        group, within = element(groups, here + t), reaching(bound, load(lows, start + (t << GROUP_SHIFT)))
        blocks = list_blocks(group, group & within, listed, blocks)
    # All blocks are bounded before any is evaluated: nothing waits for a decision that cannot be foreseen.
    half = listed.size >> 1
    kept = np.int64(0)
    for t in range(blocks):
        i = element(listed, t) << BLOCK_SHIFT
        promising = (np.int64(1) << min(n - i, BLOCK - 1)) - 1
        if i + BLOCK <= n:
            promising = promising_starts(l, i, d0, line, bounds)
        put(listed, kept, i)
        put(listed, half + kept, promising)
        kept += np.int64(promising != 0)
    for t in range(kept):
        i, promising = element(listed, t), element(listed, half + t)
        evaluated += evaluate_starts(l, i, d0, promising, unit, nearest, near, best)
        if t % MANY == MANY - 1 and lies_below(best, known, d0, sizes):
            return evaluated, True
    return evaluated, False
