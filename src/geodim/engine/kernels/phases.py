"""Patterns of a long period with noise: months, whose leap years follow a rule of centuries.

The period p is so long that every phase has few values.  All sizes of one phase are taken together, those
that are e modulo p: windows lead from each phase r to the phase r + e, and a threshold t is lowered until
nearly every size has a window with u_i - u_j > t; the few others are tried one by one.  The values of each
phase are sorted, so no other pairs are looked at, and pairs of phases whose greatest and least value are not
that far apart are skipped (F28 in docs/mathematics.md).
"""

from __future__ import annotations

import numpy as np

from geodim.compiled import njit
from geodim.engine.kernels._bounds import require
from geodim.engine.kernels.alike import CLASSES, ROUNDINGS, mark_settled
from geodim.engine.kernels.counters import LEAVES, N_COUNTERS, WINDOWS
from geodim.engine.kernels.lanes import (
    LANES,
    ROW,
    element,
    greatest,
    larger,
    load,
    load_row,
    magnitude,
    ones,
    prefetch,
    put,
    reaching,
    splat,
    splat_row,
    steps,
    trailing_zeros,
)
from geodim.engine.kernels.lines import halves
from geodim.engine.kernels.pyramid import BASE, BASE_SHIFT
from geodim.engine.kernels.straight import FAMILY, descend_line, require_blocks
from geodim.engine.kernels.tiles import PADDING, evaluate_tile

FEW_SHIFT = 7  # one in so many sizes, as a power of two, may be left without a pair, to be tried one by one
ROUNDS = 24  # in which a threshold is lowered at most, by
WIDER = 1.1  # this factor of its distance from the greatest difference
AHEAD = 4  # pairs of phases from now: what is known of them is fetched
AT_ONCE, BEYOND = 4, np.int64(1 << ROW)  # phases that are listed together; a bit beyond those of a row
STEPS = 4  # windows that are tried together: fewer branches that cannot be foreseen
A_LITTLE = 0.01  # of that distance: a narrowest window is certain if all that come so close were tried
LIKELY = 42  # times the values of a phase: pairs that leave few sizes without one
TOO_MANY = 400  # pairs for each size: no more are tried
GUESSES, NEARLY, POWER = 6, 1.15, 0.15  # until the number is nearly this, as it grows with about this power
SLOWLY = 0.1  # the prediction is corrected by this part of what it is off
SAMPLES, BINS, FARTHEST = 64, 256, 3.0  # of phases and distances, from which the number of pairs is predicted
SOME, SOME_SHIFT = 16, 6  # phases may fail, and one in so many more, as a power of two,
FIRST = 4  # but not all of the first ones, since to fail takes longest
FAR_TOO_MANY = 1600  # pairs for each size: no noise tells windows apart, as in a wave, so this is given up
LEFT_SHIFT = 4  # and gaps be left to a descent, likewise


@njit(nogil=True, cache=True, counts_references=False)
def greatest_difference(tops, floors, first, count):
    """Return the greatest tops[r] - floors[first + r], r below ``count``, a multiple of LANES."""
    most = splat(-np.inf)
    for r in range(0, count, LANES):
        most = larger(load(tops, r) - load(floors, first + r), most)
    return greatest(most)


@njit(nogil=True, cache=True, counts_references=False)
def differing(tops, floors, first, count, t, found, differences):
    """Write which r have differences tops[r] - floors[first + r] > t, and these; return their number.

    Most rows have a few, and how many is hard to predict: so AT_ONCE are written for any row, of which the
    next one overwrites those that are none.

    ``count`` is a multiple of ROW; ``found`` is (count + AT_ONCE,) int64, ``differences`` (count,) float64.
    """
    number = 0
    least = splat_row(np.nextafter(t, np.inf))
    for r in range(0, count, ROW):
        bits = reaching(load_row(tops, r) - load_row(floors, first + r), least)
        several = ones(bits)
        for k in range(AT_ONCE):
            bits |= BEYOND
            put(found, number + k, r + trailing_zeros(bits))
            bits &= bits - 1
        bits &= BEYOND - 1
        for k in range(AT_ONCE, several):
            put(found, number + k, r + trailing_zeros(bits))
            bits &= bits - 1
        number += several
    for k in range(number):
        r = element(found, k)
        put(differences, k, element(tops, r) - element(floors, first + r))
    return number


@njit(nogil=True, cache=True, counts_references=False)
def differing_more(found, differences, number, t):
    """Keep those of the first ``number`` that `differing` wrote whose differences are > t; likewise."""
    kept = 0
    for at in range(number):
        difference = element(differences, at)
        put(found, kept, element(found, at))
        put(differences, kept, difference)
        kept += 1 if difference > t else 0
    return kept


@njit(nogil=True, cache=True, counts_references=False)
def count_pairs(u, end_u, reach, counts):
    """Write how many pairs of values of two phases differ nearly as much as any, on average of some phases.

    ``counts[k]`` is for pairs whose difference is less than the greatest of two phases by at most k of the
    parts of ``reach``, of which there is one less than there are ``counts``.
    """
    counts[:] = 0.0
    parts = (counts.size - 1) / reach
    stride = max(u.shape[0] // SAMPLES, 1)
    phases = 0
    for r in range(0, u.shape[0], stride):
        to = (r + stride // 2) % u.shape[0]
        phases += 1
        for a in range(u.shape[1] - 1, -1, -1):
            less = u[r, u.shape[1] - 1] - u[r, a]
            if less >= reach:
                break
            for b in range(end_u.shape[1]):
                at = (less + (end_u[to, b] - end_u[to, 0])) * parts + 1.0
                if at >= counts.size:
                    break
                counts[int(at)] += 1.0
    total = 0.0
    for k in range(counts.size):
        total += counts[k] / phases
        counts[k] = total


@njit(nogil=True, cache=True, counts_references=False, fastmath={"reassoc", "nsz"})
def predicted(differences, number, t, reach, counts):
    """Return how many pairs of values probably differ by more than t, see `count_pairs`."""
    pairs = 0.0
    parts, last = (counts.size - 1) / reach, counts.size - 1.0
    for at in range(number):
        place = (element(differences, at) - t) * parts + 1.0
        pairs += element(counts, np.int64(min(max(place, 0.0), last)))
    return pairs


@njit(nogil=True, cache=True, counts_references=False)
def try_phase(e, found, number, starts, ends, before, t, middle, best):
    """Lower ``best`` by all windows with departures u_i - u_j in (t, before] that lead e phases further on.

    Returns their number.  They start in the phases ``found``, (number or more,) int64; ``starts`` and
    ``ends`` are tuples of departures, turns and values, see `try_long_period`.  The entry ``middle + q`` of
    ``best`` is for the size e + q p.  Windows that would end before they start are written, too: they lie
    below ``middle``, and it would take longer to leave them out.
    """
    u, turns, values = starts
    end_u, end_turns, end_values = ends
    period, some, others = u.shape[0], u.shape[1], end_u.shape[1]
    tried = 0
    for at in range(number):
        if at + AHEAD < number:
            r = element(found, at + AHEAD)
            high = r * some + some - 1
            low = (r + e if r + e < period else r + e - period) * others
            prefetch(u, high)
            prefetch(values, high)
            prefetch(turns, high)
            prefetch(end_u, low)
            prefetch(end_values, low)
            prefetch(end_turns, low)
        r = element(found, at)
        to, center = r + e, middle
        if to >= period:
            to, center = to - period, middle - 1
        first, stop = to * others, to * others + others
        old = first
        while old < stop and element(u, r * some + some - 1) - element(end_u, old) > before:
            old += 1
        floor = element(end_u, first)
        for a in range(r * some + some - 1, r * some - 1, -1):
            high = element(u, a)
            if high - floor <= t:
                break
            while old > first and high - element(end_u, old - 1) <= before:
                old -= 1
            value, origin = element(values, a), center - element(turns, a)
            b = old
            while b + STEPS <= stop and high - element(end_u, b) > t:
                for step in range(STEPS):
                    width = element(end_values, b + step) - value
                    q = origin + element(end_turns, b + step)
                    put(best, q, min(element(best, q), width))
                b += STEPS
            while b < stop and high - element(end_u, b) > t:
                width = element(end_values, b) - value
                q = origin + element(end_turns, b)
                put(best, q, min(element(best, q), width))
                b += 1
            tried += b - old
    return tried


@njit(nogil=True, cache=True, counts_references=False)
def try_size(l, every, n, e, d, found, number, floors, u, turns, t, best):
    """Return the greatest u_i - u_j > t of windows of size d, the least width, and how many were tried.

    The difference is minus infinity if there is none, and the width at most ``best``.  ``every`` are the
    departures, (n,) float64; all else is as in `try_phase`: any such window starts in a phase ``found``.
    """
    period, last = u.shape[0], u.shape[1] - 1
    most, tried = -np.inf, 0
    for at in range(number):
        r = found[at]
        for a in range(last, -1, -1):
            high = u[r, a]
            if high - floors[r + e] <= t:
                break
            i = turns[r, a] * period + r
            tried += 1
            if i + d < n and high - every[i + d] > t:
                most = max(most, high - every[i + d])
                best = min(best, l[i + d] - l[i])
    return most, best, tried


@njit(nogil=True, cache=True)
def try_long_period(
    l, every, n, u, turns, values, end_u, end_turns, end_values, slope, d_first, d_stop, distance, best,
    limits, work,
):  # fmt: skip
    """Write the widths of windows of sizes [d_first, d_stop), and which differences of no other are greater.

    Returns whether this was worth it: False, with nothing said, if many sizes were left without a window.

    Parameters
    ----------
    l : (n or more,) float64, ascending
    every : (n,) float64, their departures from a line
    n : int, points
    u, turns, values : (p, some), departures, ascending for each phase, the number of periods before them, and
        values of starts; values of which there are fewer are repeated
    end_u, end_turns, end_values : (p or more, others), those of ends
    slope : float64, of the line from which the values depart
    d_first, d_stop : int, half-open range of sizes d
    distance : float64, a guess of how far thresholds lie below the greatest difference of departures
    best : (n,) float64 over d, written
    limits : (n,) float64 over d: all windows with u_i - u_j above this were tried; written
    work : (N_COUNTERS,) int64, added to
    """
    period = u.shape[0]
    require(period > 0 and u.shape[1] > 0 and end_u.shape[1] > 0, "try_long_period: u")
    require(end_u.shape[0] >= period, "try_long_period: end_u")
    require(turns.shape == u.shape and values.shape == u.shape, "try_long_period: turns")
    require(end_turns.shape == end_u.shape and end_values.shape == end_u.shape, "try_long_period: end_turns")
    require(min(l.size, every.size) >= n, "try_long_period: l")
    require(0 < d_first <= d_stop <= n, "try_long_period: the sizes")
    require(min(best.size, limits.size) >= n, "try_long_period: best")
    require(work.size >= N_COUNTERS, "try_long_period: work")
    contiguous = u.flags.c_contiguous and turns.flags.c_contiguous and values.flags.c_contiguous
    require(contiguous, "try_long_period: rows of starts are not contiguous")
    contiguous = end_u.flags.c_contiguous and end_turns.flags.c_contiguous and end_values.flags.c_contiguous
    require(contiguous, "try_long_period: rows of ends are not contiguous")
    middle = n // period + 2  # more than any number of turns
    for some in (turns, end_turns):
        for r in range(period):
            for a in range(some.shape[1]):
                require(0 <= some[r, a] < middle, "try_long_period: a turn")
    count = (period + ROW - 1) // ROW * ROW
    tops, floors = np.full(count, -np.inf), np.full(period + count, np.inf)
    for r in range(period):
        tops[r] = u[r, u.shape[1] - 1]
        floors[r] = floors[r + period] = end_u[r, 0]
    starts, ends = (u, turns, values), (end_u, end_turns, end_values)
    found, differences = np.empty(count + AT_ONCE, np.int64), np.empty(count)
    widths, missing = np.empty(2 * middle), np.empty(middle, np.int64)
    counts, reach = np.empty(BINS), FARTHEST * distance
    if reach > 0.0:
        count_pairs(u, end_u, reach, counts)
    wanted = LIKELY * min(u.shape[1], end_u.shape[1])
    failed = 0
    ratio = 1.0  # of the number of pairs to its prediction, by experience
    for phase in range(period):
        first = (d_first - phase + period - 1) // period  # of the sizes phase + q p
        stop = (d_stop - phase + period - 1) // period
        sizes = max(stop - first, 1)
        widths[:] = np.inf
        highest = greatest_difference(tops, floors, phase, count)
        below, before, tried, left = distance, np.inf, 0, 0
        listed, pairs, number = np.inf, 0.0, 0
        for _ in range(GUESSES if reach > 0.0 else 0):
            if highest - below < listed:
                listed = highest - NEARLY * below
                number = differing(tops, floors, phase, count, listed, found, differences)
            pairs = ratio * predicted(differences, number, highest - below, reach, counts)
            if wanted <= NEARLY * pairs and pairs <= NEARLY * wanted:
                break
            below *= min(max((wanted / max(pairs, 1.0)) ** POWER, 0.5), 2.0)
        distance = below
        for turn in range(ROUNDS):
            t = highest - below
            if t < listed:
                number = differing(tops, floors, phase, count, t, found, differences)
            else:
                number = differing_more(found, differences, number, t)
            listed = t
            tried += try_phase(phase, found, number, starts, ends, before, t, middle, widths)
            left = 0
            for q in range(first, stop):
                # Some windows were tried that are not above the threshold: others may be narrower.
                if widths[middle + q] - slope * (phase + q * period) >= -t:
                    missing[left] = q
                    left += 1
            before = t
            if turn == 0 and pairs > 0.0:
                ratio *= min(max(1.0 + SLOWLY * (tried / pairs - 1.0), 0.5), 2.0)
            if left << FEW_SHIFT <= sizes or tried > TOO_MANY * sizes:
                break
            below *= WIDER
        for q in range(first, stop):
            best[phase + q * period] = widths[middle + q]
            limits[phase + q * period] = before
        for at in range(left if tried <= TOO_MANY * sizes else 0):
            d = phase + missing[at] * period
            most = slope * d - best[d]
            t = max(most - A_LITTLE * below, highest - WIDER * below)
            for _ in range(ROUNDS):
                if t < listed:
                    listed = t
                    number = differing(tops, floors, phase, count, t, found, differences)
                most, best[d], looked = try_size(
                    l, every, n, phase, d, found, number, floors, u, turns, t, best[d]
                )
                tried += looked
                if tried > FAR_TOO_MANY * sizes:
                    work[WINDOWS] += tried
                    return False
                limits[d] = t
                if most > t:
                    left -= 1
                    break
                t -= (WIDER - 1.0) * below
        work[WINDOWS] += tried
        failed += 1 if left > 0 else 0
        if failed > SOME + (phase >> SOME_SHIFT) or (phase + 1 == FIRST and failed == FIRST):
            return False
    return True


@njit(nogil=True, cache=True)
def least_rises(means, rise):
    """Write the least rise of a pattern over d steps, by d modulo its period.

    ``means`` and ``rise`` are (p,) float64.
    """
    period = means.size
    require(0 < period <= rise.size, "least_rises: rise")
    count = (period + LANES - 1) // LANES * LANES
    tops, floors = np.full(count, -np.inf), np.full(period + count, np.inf)
    for r in range(period):
        tops[r] = floors[r] = floors[r + period] = means[r]
    for d in range(period):
        rise[d] = -greatest_difference(tops, floors, d, count)


@njit(nogil=True, cache=True, counts_references=False, forceinline=True)
def surely_settled(best, limits, d0, head, tail, rest, margin):
    """Return whether `mark_settled` would mark all BASE sizes from d0 on at its first look, as nearly always.

    ``best`` and ``limits`` are float64 over d, all else is as in `finish_long_period`.
    """
    for d in range(d0, d0 + BASE, LANES):
        sizes = splat(np.float64(d)) + steps()
        above = ((load(best, d) - splat(head) * sizes) - splat(tail) * sizes) - splat(rest) * sizes
        surely = above + splat(ROUNDINGS) * (magnitude(above) + splat(2.0**-25 * head) * sizes)
        if reaching(surely, splat(-margin) - load(limits, d)) != 0:
            return False
    return True


@njit(nogil=True, cache=True)
def finish_long_period(
    l, u, ahead, n, slope, rest, pattern, margin, offsets, counts, tops, floors, quanta, beyond, d_stop,
    limits, best, work,
):  # fmt: skip
    """Lower the widths of all sizes to the narrowest, where windows that were not tried may be narrower.

    Returns whether these sizes were few; if not, nothing is said.

    Parameters
    ----------
    l, u, ahead, n, slope, rest, pattern, margin, offsets, counts, tops, floors, quanta, beyond
        As in `straight.solve_straight`.
    d_stop : int, all windows of this size and larger are evaluated
    limits : (n,) float64 over d, see `try_long_period`
    best : (n + BASE,) float64 over d, changed in place
    work : (N_COUNTERS,) int64, added to
    """
    require(l.size >= n + PADDING and n > 1, "finish_long_period: l")
    require(u.size >= n and ahead.size >= n + BASE, "finish_long_period: departures")
    require_blocks(n, offsets, counts, tops, floors, quanta, beyond)
    require(pattern.size > 0 and limits.size >= n, "finish_long_period: limits")
    require(best.size >= n + BASE, "finish_long_period: best")
    require(work.size >= N_COUNTERS, "finish_long_period: work")
    stack = np.empty(FAMILY * (counts.size + 2), np.int64)
    bounds, before, settled = np.empty(CLASSES), np.empty(BASE), np.zeros(BASE, np.bool_)
    outside, no_quantum = np.empty((BASE, 1)), np.zeros(1)
    head, tail = halves(slope)
    left = 0
    for d0 in range(0, n, BASE):
        stop = min(d0 + BASE, n)
        found = best[d0 : d0 + BASE]
        if d0 == 0 or stop > d_stop:
            found[:] = np.inf
            evaluate_tile(l, 0, n - d0, d0, found)
            work[WINDOWS] += (n - d0) * BASE
            continue
        if stop - d0 == BASE and surely_settled(best, limits, d0, head, tail, rest, margin):
            continue
        for d in range(d0, stop):
            outside[d - d0, 0] = -limits[d] - margin
        if mark_settled(found, d0, stop - d0, head, tail, rest, no_quantum, outside, settled) > 0:
            work[LEAVES] += 1
            left += 1
            if left > SOME + (d0 >> (BASE_SHIFT + LEFT_SHIFT)):
                return False
            if found[0] == np.inf:
                found[0] = l[d0] - l[0]
            above = ((found[0] - head * d0) - tail * d0) - rest * d0
            descend_line(
                l, u, ahead, n, offsets, counts, tops, floors, quanta, beyond, d0, stop - d0,
                slope + rest, pattern, above, margin, stack, bounds, before, settled, found, work,
            )  # fmt: skip
    return True
