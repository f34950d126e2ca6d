"""Ladders: the greatest departures of every class of values, or the least, in levels.

Values fall into classes by zone and phase.  The departures of a class are cut into levels, from the extreme
ones on, so that `geodim.engine.kernels.joins` finds all pairs above a threshold without looking at others.
"""

from __future__ import annotations

import numpy as np

from geodim.compiled import njit
from geodim.engine.kernels._bounds import require

DEEP_SHIFT = 4  # a ladder holds one value in 16,
DEEP, MANY_PHASES = 4.0, 40.0  # or, if that is more, so many times the root of n; fewer of so many phases
SAMPLES, FINER_SHIFT = 512, 8  # of the values, from which a ladder's depth is estimated, and then corrected
LEVELS = 64  # at most; about every second of them doubles the number of values


@njit(nogil=True, cache=True)
def deep_of(n, period):
    """Return how many values ladders hold at least, if there are as many."""
    return np.int64(DEEP * np.sqrt(n) * min(1.0, MANY_PHASES / period)) + 16


@njit(nogil=True, cache=True)
def rank_of(level):
    """Return how many values the first levels hold: 2, 2, 4, 5, 8, 11, 16, ..."""
    rank = 2 << (level >> 1)
    return rank if level & 1 == 0 else (rank * 181) >> 7


@njit(nogil=True, cache=True)
def exceeded_by(values, count, most):
    """Return a number that at most so many of ``count`` values exceed, and nearly so many unless they tie."""
    stride = max(count // SAMPLES, 1)
    some = np.sort(values[:count:stride])
    at = min(max(int(some.size * (1.0 - np.float64(most) / count)), 0), some.size - 1)
    while at < some.size:
        above = 0
        for i in range(count):
            above += 1 if values[i] > some[at] else 0
        if above <= most:
            return some[at]
        at += 1 + (some.size >> FINER_SHIFT)
    greatest = some[some.size - 1]
    for i in range(count):
        greatest = max(greatest, values[i])
    return greatest


@njit(nogil=True, cache=True)
def gather_extremes(u, n, means, edges, sign, begins, below, at, some):
    """Write the extreme departures of all classes, and what none of the others of a class exceeds.

    Parameters
    ----------
    u : (n,) float64, departures without the pattern
    n : int, points
    means : (p,) float64, the pattern, by phase
    edges : (zones + 1,) int64, positions, from 0 to n
    sign : float64, 1 for starts, of which the greatest departures count, and -1 for ends
    begins : (zones p + 1,) int64, where classes begin in the following, written
    below : (zones p,) float64, written
    at : (room,) int32, positions, ascending in every class, written
    some : (room,) float64, the departures there times the sign, written
    """
    period = means.size
    zones = edges.size - 1
    require(u.size >= n, "gather_extremes: u")
    require(period > 0 and zones > 0, "gather_extremes: classes")
    require(edges[0] >= 0 and edges[zones] <= n, "gather_extremes: edges")
    require(min(begins.size - 1, below.size) >= zones * period, "gather_extremes: classes")
    room = min(at.size, some.size)
    every = np.empty(n)
    used = 0
    for zone in range(zones):
        start, stop = edges[zone], edges[zone + 1]
        require(start <= stop, "gather_extremes: edges")
        for phase in range(period):
            kind = zone * period + phase
            begins[kind] = used
            first = start + (phase - start) % period
            count = 0
            for i in range(first, stop, period):
                every[count] = sign * (u[i] + means[phase])
                count += 1
            depth = max(count >> DEEP_SHIFT, min(count, deep_of(n, period)))
            below[kind] = exceeded_by(every, count, depth) if depth < count else -np.inf
            for m in range(count):
                if every[m] > below[kind]:
                    require(used < room, "gather_extremes: at")
                    at[used], some[used] = first + period * m, every[m]
                    used += 1
    begins[zones * period] = used


@njit(nogil=True, cache=True)
def build_ladder(begins, below, at, some, ordered, cumulative, values, firsts, out, levels, places, heights):
    """Write the ladders of all classes; return how many places they take.

    Parameters
    ----------
    begins, below, at, some
        As `gather_extremes` fills them.
    ordered : (room,) float64, ``some`` ascending in every class
    cumulative : bool, whether a level is to hold all that is higher, too
    values : (n,) float64, to be stored with the positions
    firsts : (zones p, LEVELS + 1) int64, where levels begin and end in places, written; see `level_bounds`
    out : (zones p, LEVELS + 1) float64, the greatest departure outside of the first levels, written
    levels : (zones p,) int64, how many there are, written
    places : (room,) int32, positions, ascending within a level, written
    heights : (room,) float64, the values there, written
    """
    classes = below.size
    require(begins.size >= classes + 1, "build_ladder: classes")
    require(min(firsts.shape[0], out.shape[0], levels.size) >= classes, "build_ladder: classes")
    require(min(firsts.shape[1], out.shape[1]) >= LEVELS + 1, "build_ladder: levels")
    require(begins[0] >= 0 and begins[classes] <= min(at.size, some.size, ordered.size), "build_ladder: some")
    for m in range(begins[0], begins[classes]):
        require(0 <= at[m] < values.size, "build_ladder: at")
    room = min(places.size, heights.size)
    held = np.empty(at.size, np.int32)
    used = 0
    for kind in range(classes):
        begin, end = begins[kind], begins[kind + 1]
        require(begin <= end, "build_ladder: begins")
        firsts[kind, :] = used
        out[kind, :] = -np.inf
        out[kind, 0] = ordered[end - 1] if end > begin else below[kind]
        level, last = 0, 0
        for step in range(LEVELS - 1):
            rank = min(rank_of(step), end - begin)
            while 0 < rank < end - begin and ordered[end - 1 - rank] == ordered[end - rank]:
                rank -= 1
            if rank > last:
                out[kind, level + 1] = ordered[end - 1 - rank] if rank < end - begin else below[kind]
                firsts[kind, level] = used
                used += rank if cumulative else rank - last
                level += 1
                last = rank
            if rank == end - begin:
                break
        require(used <= room, "build_ladder: places")
        levels[kind] = level
        firsts[kind, level:] = used
        count = 0
        for m in range(begin, end):
            if some[m] > out[kind, level]:
                held[count] = m
                count += 1
        while level > 0:  # from all down to the extreme ones, since each level is a part of those so far
            level -= 1
            place, higher = firsts[kind, level], 0
            for h in range(count):
                m = held[h]
                if some[m] > out[kind, level]:
                    held[higher] = m
                    higher += 1
                    if not cumulative:
                        continue
                places[place], heights[place] = at[m], values[at[m]]
                place += 1
            count = higher
    return used


@njit(nogil=True, cache=True)
def require_ladder(n, classes, firsts, out, levels, places, heights):
    """Raise unless the ladders of all classes lie within their arrays, and positions below n."""
    require(min(firsts.shape[0], out.shape[0], levels.size) >= classes, "a ladder: classes")
    for kind in range(classes):
        require(0 <= levels[kind] < min(firsts.shape[1], out.shape[1]), "a ladder: levels")
        for level in range(levels[kind] + 1):
            require(0 <= firsts[kind, level] <= min(places.size, heights.size), "a ladder: firsts")
            require(level == 0 or firsts[kind, level] >= firsts[kind, level - 1], "a ladder: firsts")
    first, last = np.int64(0), np.int64(-1)  # one condition for all positions: they are compared in vectors
    for at in range(places.size):
        first, last = min(first, np.int64(places[at])), max(last, np.int64(places[at]))
    require(first == 0 and last < n, "a ladder: a position")
