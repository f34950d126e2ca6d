"""Windows evaluated, not bounded: the only place where widths are computed for their own sake.

To the right of a start, the sizes of a gap are contiguous in memory.  So one load serves a whole vector of
sizes, and no horizontal reduction is needed.  The column ``l`` is padded with infinity, so windows beyond the
end never win.
"""

from __future__ import annotations

import numpy as np

from geodim.compiled import njit
from geodim.engine.kernels.counters import note_range
from geodim.engine.kernels.pyramid import BASE, BASE_SHIFT

PADDING = 2 * BASE + 8  # how far beyond the end a tile may read


@njit(nogil=True, cache=True)
def evaluate_row(l, i, d0, best):
    """Lower ``best[e]`` to ``l[i + d0 + e] - l[i]`` for every e < BASE.

    ``l`` is float64, padded; ``best`` (BASE,) float64 widths.
    """
    value = l[i]
    right = l[i + d0 : i + d0 + BASE]
    for e in range(BASE):
        width = right[e] - value
        best[e] = min(best[e], width)


@njit(nogil=True, cache=True)
def evaluate_tile(l, start, stop, d0, best):
    """Lower ``best[e]`` to ``l[i + d0 + e] - l[i]`` for every start i in [start, stop) and e < BASE.

    Eight starts share a pass over ``best``, which would otherwise wait for its own stores.

    ``l`` is float64, padded; ``best`` (BASE,) float64 widths.
    """
    i = start
    while i + 8 <= stop:
        a0, a1, a2, a3 = l[i], l[i + 1], l[i + 2], l[i + 3]
        a4, a5, a6, a7 = l[i + 4], l[i + 5], l[i + 6], l[i + 7]
        right = l[i + d0 : i + d0 + BASE + 8]
        for e in range(BASE):
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


@njit(nogil=True, cache=True, fastmath={"nnan", "nsz"})
def evaluate_leaf(l, n, d0, d_stop, c, bar, blocks, lows, count, best):
    """Write the narrowest windows of one base gap over the remaining blocks, most promising first.

    Returns the number of windows evaluated.  After a block has been evaluated, its windows bound the gap at
    each size, which discards most of the others.

    ``blocks`` and ``lows`` are (count,), int32 numbers and float64 widths minus c e; ``best`` is (BASE,)
    float64.
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
        elif turn > 0 and v - lows[turn] < bar:
            continue
        i = np.int64(blocks[turn]) << BASE_SHIFT
        stop = min(i + BASE, n)
        evaluate_tile(l, i, stop, d0, best)
        evaluated += (stop - i) * BASE
        v = -np.inf
        for e in range(sizes):
            v = max(v, best[e] - c * e)
    return evaluated


@njit(nogil=True, cache=True)
def solve_smallest(l, n, d_stop, known, phi, ranges, n_ranges):
    """Solve the sizes [1, d_stop), d_stop <= BASE, over all starts.

    Ends early once every size has fallen below ``known`` or to 0.  Returns the number of ranges and the
    number of starts examined.

    Arrays are those of `gaps.solve_gaps`.
    """
    best = np.full(BASE, np.inf)
    start = np.int64(0)
    d0 = np.int64(0)  # a literal would make Numba compile another version
    undecided = True
    while start < n and undecided:
        stop = min(start + 2048, n)
        evaluate_tile(l, start, stop, d0, best)
        undecided = False
        for d in range(1, d_stop):
            undecided = undecided or (best[d] >= known[d] and best[d] > 0.0)
        start = stop
    for d in range(1, d_stop):
        if best[d] >= known[d]:
            phi[d] = best[d]
            n_ranges = note_range(ranges, n_ranges, d, d + 1)
    return n_ranges, start
