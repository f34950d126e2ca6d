"""The smallest windows, for which all starts are examined: bounds of blocks are wider than they are.

Windows of up to BLOCK values are narrowest wherever values happen to lie close together, so no trend
foretells where.  But few starts come into question.  Sizes are cut into rungs, d in [a, b): if the window of
length a at some start is at least as wide as the narrowest one found for the last length of the rung, that
start is ruled out for the whole rung (F1).  One vector instruction compares many starts with that.
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
    least,
    load,
    load_row,
    put,
    splat,
    splat_row,
    store,
)
from geodim.engine.kernels.pyramid import BLOCK
from geodim.engine.kernels.tiles import PADDING, is_narrow

DENSITIES = (1.03, 1.1, 1.3, 2.0, np.inf)  # stretches up to this many times as wide as the densest are next
CHUNK = 1024  # starts that are examined before checking whether all sizes are settled
# Wider rungs need fewer comparisons, but rule out fewer starts: of random points one in a thousand stays.
RUNGS = (1, 2, 4, 7, 11, 16, 22, 29, 37, 46, 55, BLOCK)


@njit(nogil=True, cache=True, counts_references=False)
def lower_rungs(l, start, stop, d_first, d_stop, rungs, best):
    """Lower ``best[d]`` to ``l[i + d] - l[i]`` for every start i in [start, stop) and d in [d_first, d_stop).

    Only the rungs whose bits are set in ``rungs`` count.  Within a rung, ``best`` must not fall with the
    size: true of the narrowest of any set of starts.

    ``l`` is float64 or float32, ascending, padded; ``best`` (BLOCK,) of the same type; the number of starts
    is a multiple of ROW.
    """
    for rung in range(len(RUNGS) - 1):
        low, high = max(RUNGS[rung], d_first), min(RUNGS[rung + 1], d_stop)
        if low >= high or rungs >> rung & 1 == 0:
            continue
        bar = splat_row(element(best, high - 1))
        for i in range(start, stop, ROW):
            values = load_row(l, i)
            if any_less(load_row(l, i + low) - values, bar):
                for d in range(low, high):
                    widths = load_row(l, i + d) - values
                    if any_less(widths, splat_row(element(best, d))):
                        put(best, d, least(widths))
                bar = splat_row(element(best, high - 1))


@njit(nogil=True, cache=True)
def solve_smallest(l, n, d_first, d_stop, unit, nearest, known, phi, ranges, n_ranges):
    """Solve the sizes [d_first, d_stop), below BLOCK, over all starts.

    The densest stretches come first, since they contain most of the narrowest windows.  A rung ends early
    once all of its sizes have fallen below ``known`` or to 0.  Returns the number of ranges and the number of
    starts examined.

    Arrays are those of `gaps.solve_gaps`; ``unit`` and ``nearest`` are those of `tiles.is_narrow`.
    """
    best, widths = np.full(BLOCK, np.inf), np.full(BLOCK, np.float32(np.inf))
    near = np.empty(CHUNK + PADDING, np.float32)
    densest = np.inf
    for start in range(0, n, CHUNK):
        densest = min(densest, l[min(start + CHUNK, n - 1)] - l[start])
    examined = 0
    above, undecided = -1.0, np.int64(-1)  # a bit for each rung
    for times in DENSITIES:
        below = densest * times if times < np.inf else np.inf
        for start in range(0, n, CHUNK):
            if not (undecided != 0 and above < l[min(start + CHUNK, n - 1)] - l[start] <= below):
                continue
            beyond = start + CHUNK + PADDING - 1
            if beyond < n and is_narrow(l, start, beyond, start, start, unit, nearest):
                origin = splat(l[start])
                for t in range(0, CHUNK + PADDING, LANES):
                    store(near, t, load(l, start + t) - origin)
                lower_rungs(near, np.int64(0), np.int64(CHUNK), d_first, d_stop, undecided, widths)
            else:
                stop = start + ((min(start + CHUNK, n) - start) & ~np.int64(ROW - 1))
                lower_rungs(l, start, stop, d_first, d_stop, undecided, best)
                for i in range(stop, min(start + CHUNK, n)):
                    for d in range(d_first, d_stop):
                        best[d] = min(best[d], l[i + d] - l[i])
            examined += min(start + CHUNK, n) - start
            undecided = np.int64(0)
            for rung in range(len(RUNGS) - 1):
                for d in range(max(RUNGS[rung], d_first), min(RUNGS[rung + 1], d_stop)):
                    best[d] = min(best[d], np.float64(widths[d]))
                    undecided |= np.int64(best[d] >= known[d] and best[d] > 0.0) << rung
        above = below
    for d in range(d_first, d_stop):
        if best[d] >= known[d]:
            phi[d] = best[d]
            n_ranges = note_range(ranges, n_ranges, d, d + 1)
    return n_ranges, examined
