"""Patterns of a long period with noise: months, whose leap years follow a rule of centuries.

The period p is so long that every phase has few values.  All sizes of one phase are taken together, those
that are e modulo p: windows lead from each phase r to the phase r + e, and a threshold t is lowered until
every size has a window with u_i - u_j > t.  The values of each phase are sorted, so no other pairs are looked
at, and pairs of phases whose greatest and least value are not that far apart are skipped (F28 in
docs/mathematics.md).
"""

from __future__ import annotations

import numpy as np

from geodim.compiled import njit
from geodim.engine.kernels._bounds import require
from geodim.engine.kernels.alike import CLASSES, TOP_BLOCKS, mark_settled
from geodim.engine.kernels.counters import LEAVES, N_COUNTERS, WINDOWS
from geodim.engine.kernels.lines import FAN_SHIFT, halves, require_lines
from geodim.engine.kernels.pyramid import BASE, BASE_SHIFT
from geodim.engine.kernels.straight import descend_line
from geodim.engine.kernels.tiles import PADDING, evaluate_tile

ROUNDS = 8  # in which a threshold is lowered at most,
WIDER = 1.2  # by this factor
TOO_MANY, ENOUGH = 400, 48  # pairs for each size: no more are tried; fewer were needed
SLIGHTLY = 1.05  # by this factor the next thresholds differ
SOME_SHIFT = 6  # phases may fail, one in so many as a power of two
LEFT_SHIFT = 4  # and gaps be left to a descent, likewise
TOGETHER = 16  # phases of sizes that are looked at together, since their values lie side by side


@njit(nogil=True, cache=True, counts_references=False, fastmath={"nnan", "nsz"})
def greatest_difference(tops, floors):
    """Return the greatest difference of two arrays of one length."""
    most = -np.inf
    for k in range(tops.size):
        most = max(most, tops[k] - floors[k])
    return most


@njit(nogil=True, cache=True, counts_references=False)
def try_phases(phases, number, starts, ends, d_first, d_stop, tops, floors, limits, tried, best):
    """Try all windows above thresholds that lead to ends that are some numbers of phases further on.

    ``phases`` are these numbers, (number or more,) int64; ``starts`` and ``ends`` are tuples of departures,
    positions and values, see `try_long_period`; ``limits`` are the thresholds, by phase, and ``tried``,
    (number or more,) int64, counts windows.
    """
    u, places, values = starts
    end_u, end_places, end_values = ends
    for r in range(u.shape[0]):
        top = tops[r]
        for e in range(number):
            to = r + phases[e]
            t = limits[phases[e]]
            if top - floors[to] <= t:
                continue
            count = 0
            for a in range(u.shape[1] - 1, -1, -1):
                high = u[r, a]
                if high - end_u[to, 0] <= t:
                    break
                for b in range(end_u.shape[1]):
                    if high - end_u[to, b] <= t:
                        break
                    count += 1
                    d = end_places[to, b] - places[r, a]
                    if d_first <= d < d_stop:
                        width = end_values[to, b] - values[r, a]
                        best[d] = min(best[d], width)
            tried[e] += count


@njit(nogil=True, cache=True)
def try_long_period(
    n, u, places, values, end_u, end_places, end_values, d_first, d_stop, distance, best, limits, work
):  # fmt: skip
    """Write the widths of windows of sizes [d_first, d_stop), and what no other window of a phase exceeds.

    Returns whether this was worth it: False, with nothing said, if many sizes were left without a window.

    Parameters
    ----------
    n : int, points
    u, places, values : (p, some), departures, ascending for each phase, positions and values of starts;
        values of which there are fewer are repeated
    end_u, end_places, end_values : (2 p, others), those of ends, all phases twice
    d_first, d_stop : int, half-open range of sizes d
    distance : float64, a guess of how far thresholds lie below the greatest difference of departures
    best : (n,) float64 over d, written
    limits : (p,) float64, the thresholds, by d mod p, written
    work : (N_COUNTERS,) int64, added to
    """
    period = u.shape[0]
    require(period > 0 and u.shape[1] > 0 and end_u.shape[1] > 0, "try_long_period: u")
    require(end_u.shape[0] >= 2 * period, "try_long_period: end_u")
    require(min(places.shape[0], values.shape[0]) >= period, "try_long_period: places")
    require(min(places.shape[1], values.shape[1]) >= u.shape[1], "try_long_period: places")
    require(min(end_places.shape[0], end_values.shape[0]) >= 2 * period, "try_long_period: end_places")
    require(min(end_places.shape[1], end_values.shape[1]) >= end_u.shape[1], "try_long_period: end_places")
    require(0 < d_first <= d_stop <= min(n, best.size), "try_long_period: the sizes")
    require(limits.size >= period, "try_long_period: limits")
    require(work.size >= N_COUNTERS, "try_long_period: work")
    tops, floors = u[:, u.shape[1] - 1].copy(), end_u[:, 0].copy()
    for d in range(d_first, d_stop):
        best[d] = np.inf
    starts, ends = (u, places, values), (end_u, end_places, end_values)
    phases, tried = np.empty(TOGETHER, np.int64), np.empty(TOGETHER, np.int64)
    distances = np.empty(period)
    failed = 0
    for block in range(0, period, TOGETHER):
        number = min(TOGETHER, period - block)
        for e in range(number):
            phases[e] = block + e
            distances[block + e] = distance
            highest = greatest_difference(tops, floors[block + e : block + e + period])
            limits[block + e] = highest - distance
        for turn in range(ROUNDS):
            tried[:] = 0
            try_phases(phases, number, starts, ends, d_first, d_stop, tops, floors, limits, tried, best)
            left, many = 0, 0
            for e in range(number):
                phase = phases[e]
                work[WINDOWS] += tried[e]
                first = d_first + (phase - d_first) % period
                sizes = (d_stop - 1 - first) // period + 1
                many += 1 if tried[e] > ENOUGH * sizes else 0
                missing = 0
                for d in range(first, d_stop, period):
                    missing += 1 if best[d] == np.inf else 0
                if missing > 0 and turn < ROUNDS - 1 and tried[e] <= TOO_MANY * sizes:
                    limits[phase] -= (WIDER - 1.0) * distances[phase]
                    distances[phase] *= WIDER
                    phases[left] = phase
                    left += 1
                elif missing > 0:
                    failed += 1
            if turn == 0 and 4 * left > number:
                distance *= SLIGHTLY
            elif turn == 0 and 2 * many > number:
                distance /= SLIGHTLY
            number = left
            if number == 0:
                break
        if failed > TOGETHER + (block >> SOME_SHIFT):
            return False
    return True


@njit(nogil=True, cache=True)
def finish_long_period(
    l, u, ahead, n, slope, rest, pattern, margin, offsets, counts, tops, floors, quanta, beyond, firsts,
    limits, best, work,
):  # fmt: skip
    """Lower the widths of all sizes to the narrowest, where windows that were not tried may be narrower.

    Returns whether these sizes were few; if not, nothing is said.

    Parameters
    ----------
    l, u, ahead, n, slope, rest, pattern, margin, offsets, counts, tops, floors, quanta, beyond
        As in `straight.solve_straight`.
    firsts : (ranges + 1,) int64, sizes: the first of each range, and the first that is in none
    limits : (ranges, p) float64, see `try_long_period`
    best : (n + BASE,) float64 over d, changed in place
    work : (N_COUNTERS,) int64, added to
    """
    require(l.size >= n + PADDING and n > 1, "finish_long_period: l")
    require(min(u.size, ahead.size) >= n, "finish_long_period: departures")
    require_lines(n, offsets, counts, min(tops.size, floors.size, quanta.size, beyond.size))
    require(pattern.size > 0 and limits.shape[1] > 0, "finish_long_period: limits")
    require(0 < firsts.size <= limits.shape[0] + 1, "finish_long_period: firsts")
    require(best.size >= n + BASE, "finish_long_period: best")
    require(work.size >= N_COUNTERS, "finish_long_period: work")
    top = 0
    while counts[top] > TOP_BLOCKS:
        top += 1
    stack = np.empty(counts[top] + (counts.size << FAN_SHIFT) + 1, np.int64)
    bounds, before, settled = np.empty(CLASSES), np.empty(BASE), np.zeros(BASE, np.bool_)
    outside, no_quantum = np.empty((BASE, 1)), np.zeros(1)
    head, tail = halves(slope)
    period = limits.shape[1]
    at = 0
    left = 0
    for d0 in range(0, n, BASE):
        stop = min(d0 + BASE, n)
        found = best[d0 : d0 + BASE]
        if d0 == 0 or stop > firsts[firsts.size - 1]:
            found[:] = np.inf
            evaluate_tile(l, 0, n - d0, d0, found)
            work[WINDOWS] += (n - d0) * BASE
            continue
        for d in range(d0, stop):
            while at + 2 < firsts.size and d >= firsts[at + 1]:
                at += 1
            outside[d - d0, 0] = -limits[at, d % period] - margin
        if mark_settled(found, d0, stop - d0, head, tail, rest, no_quantum, outside, 0.0, settled) > 0:
            work[LEAVES] += 1
            left += 1
            if left > TOGETHER + (d0 >> (BASE_SHIFT + LEFT_SHIFT)):
                return False
            if found[0] == np.inf:
                found[0] = l[d0] - l[0]
            above = ((found[0] - head * d0) - tail * d0) - rest * d0
            descend_line(
                l, u, ahead, n, offsets, counts, tops, floors, quanta, beyond, top, d0, stop - d0,
                slope + rest, pattern, above, margin, 0.0, stack, bounds, before, settled, found, work,
            )  # fmt: skip
    return True
