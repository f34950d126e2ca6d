"""All windows between extreme departures: every start so high, with every end so low, and no others.

A window from i to j exceeds the line by u_j - u_i.  So if all pairs with u_i - u_j > t are tried, and one of
them has the size d, the narrowest window of size d is among them (F28 in docs/mathematics.md).  Which t gives
a few pairs of every size depends on the noise, on how many windows of these sizes there are, and, if a
pattern repeats, on the phase of d.  Values fall into classes by zone and phase.  The starts of a class are
cut into levels, from the greatest departures down; the ends likewise, from the least up.  The starts of a
level are joined with as many levels of ends as t asks for, whether in this class or in that.
"""

from __future__ import annotations

import numpy as np

from geodim.compiled import njit
from geodim.engine.kernels.lanes import element, put

FEW_WINDOWS, FEW_SHIFT = 4096, 3  # from one zone to another, and a part of them, see `likely_share`
WANTED, MOST_WANTED = 24.0, 400.0  # windows that are tried of each size, at first and at most
ROW = 0.25  # of a window that is one of a row: many of them are as good as one pair
BISECTIONS, MOST_TURNS = 8, 60  # once a threshold is known to lie between two, and in all
SMALLEST = 2.0**-1000
STEEP = 8  # times as many: then bisection finds the next one sooner than a walk does


@njit(nogil=True, cache=True, counts_references=False)
def work_of(kind, to, t, firsts, out, levels, end_firsts, end_out, end_levels):
    """Return how many pairs of two classes are joined for a threshold t, and how many rows it takes besides.

    Rows are starts or ends of which all windows are tried.  Infinitely many are needed if values outside of
    both ladders matter.
    """
    deepest = end_levels[to]
    b = deepest
    pairs, rows = 0.0, 0.0
    for a in range(levels[kind]):
        high = out[kind, a]
        if high + end_out[to, 0] <= t:
            return pairs, rows
        while b > 0 and high + end_out[to, b - 1] <= t:
            b -= 1
        count = firsts[kind, a + 1] - firsts[kind, a]
        if high + end_out[to, b] > t:
            rows += count
        else:
            pairs += np.float64(count) * (end_firsts[to, b] - end_firsts[to, b - 1])
    high = out[kind, levels[kind]]
    while b > 0 and high + end_out[to, b - 1] <= t:
        b -= 1
    if high + end_out[to, b] > t:
        rows = np.inf
    elif b > 0:
        rows += end_firsts[to, b] - end_firsts[to, b - 1]
    return pairs, rows


@njit(nogil=True, cache=True, counts_references=False)
def join(places, heights, a, a_stop, end_places, end_heights, b, b_stop, d0, sizes, best):
    """Lower ``best[e]`` by all windows of size d0 + e from one of some starts to one of some ends.

    Returns their number.  Positions ascend from a to a_stop, and from b to b_stop.
    """
    count = 0
    if b < b_stop:
        a_stop = first_from(places, a, a_stop, np.int64(element(end_places, b_stop - 1)) - d0 + 1)
    if a < a_stop:
        b = first_from(end_places, b, b_stop, np.int64(element(places, a)) + d0)
    if a_stop - a <= b_stop - b:
        steep = b_stop - b > STEEP * (a_stop - a)
        for at in range(a, a_stop):
            first = np.int64(element(places, at)) + d0
            if steep:
                b = first_from(end_places, b, b_stop, first)
            else:
                while b < b_stop and element(end_places, b) < first:
                    b += 1
            value = element(heights, at)
            k = b
            while k < b_stop and element(end_places, k) < first + sizes:
                width = element(end_heights, k) - value
                e = element(end_places, k) - first
                put(best, e, min(element(best, e), width))
                k += 1
            count += k - b
        return count
    steep = a_stop - a > STEEP * (b_stop - b)
    for at in range(b, b_stop):
        last = np.int64(element(end_places, at)) - d0
        if steep:
            a = first_from(places, a, a_stop, last - sizes + 1)
        else:
            while a < a_stop and element(places, a) <= last - sizes:
                a += 1
        value = element(end_heights, at)
        k = a
        while k < a_stop and element(places, k) <= last:
            width = value - element(heights, k)
            e = last - element(places, k)
            put(best, e, min(element(best, e), width))
            k += 1
        count += k - a
    return count


@njit(nogil=True, cache=True, counts_references=False)
def first_from(places, first, stop, least):
    """Return where ascending positions from ``first`` to ``stop`` reach ``least``."""
    while first < stop:
        middle = (first + stop) >> 1
        if element(places, middle) < least:
            first = middle + 1
        else:
            stop = middle
    return first


@njit(nogil=True, cache=True, counts_references=False)
def windows_between(edges, left, right, d):
    """Return how many windows of size d lead from one zone to another."""
    return max(min(edges[left + 1], edges[right + 1] - d) - max(edges[left], edges[right] - d), 0)


@njit(nogil=True, cache=True, counts_references=False)
def likely_share(edges, left, right, d0, sizes):
    """Return which share of the pairs of two zones are d0 .. d0 + sizes - 1 apart, roughly.

    Returns -1 if none are; and how many windows there are of each size.
    """
    if edges[right] >= edges[left + 1] + d0 + sizes - 1 or edges[right + 1] <= edges[left] + d0:
        return -1.0, 0.0
    number = 0
    for eighth in range(1, 8, 2):
        number += windows_between(edges, left, right, d0 + (eighth * sizes >> 3)) / 4
    size, end_size = edges[left + 1] - edges[left], edges[right + 1] - edges[right]
    return number * sizes / (np.float64(size) * np.float64(end_size)), number


@njit(nogil=True, cache=True, counts_references=False)
def promising(phase, period, pairs, shares, count, top, end_top, least, found):
    """Write which pairs of classes, for windows of one phase, have any pair of values above ``least``.

    Returns their number, and the greatest sum of departures of all.  ``top`` and ``end_top`` are (classes,)
    float64, the greatest of each; ``found`` is (classes zones, 3) int64: two classes and a pair of zones.
    """
    number = 0
    highest = -np.inf
    for at in range(count):
        left, right = pairs[at, 0] * period, pairs[at, 1] * period
        for r in range(period):
            to = r + phase - (period if r + phase >= period else 0)
            high = min(top[left + r] + end_top[right + to], shares[at, 2])
            highest = max(highest, high)
            if high > least:
                found[number, 0], found[number, 1], found[number, 2] = left + r, right + to, at
                number += 1
    return number, highest


@njit(nogil=True, cache=True, counts_references=False)
def threshold(phase, period, pairs, shares, count, below, budget, row, ladder, ends, found):
    """Return the least t found that takes no more work than ``budget``, for windows of one phase.

    ``below`` is a guess of how far it lies below the greatest departure.  Also returned are the guess for the
    next time, and how many pairs of classes were ``found`` that have any windows above t, see `promising`.
    """
    firsts, out, levels, top = ladder
    end_firsts, end_out, end_levels, end_top = ends
    _, highest = promising(phase, period, pairs, shares, count, top, end_top, np.inf, found)
    if not abs(highest) < np.inf:
        return highest, below, 0
    high, low = 0.0, np.inf  # below the highest: little enough work, and too much
    guess = below
    reach = 0.0
    number = 0
    bisected = 0
    for _ in range(MOST_TURNS):
        if bisected >= BISECTIONS:
            break
        if guess > reach:
            reach = 2.0 * guess
            number, _ = promising(phase, period, pairs, shares, count, top, end_top, highest - reach, found)
        t = highest - guess
        work = 0.0
        for at in range(number):
            joined, rows = work_of(
                found[at, 0], found[at, 1], t, firsts, out, levels, end_firsts, end_out, end_levels
            )
            if shares[found[at, 2], 2] <= t:
                continue
            work += joined * shares[found[at, 2], 0] + rows * row * shares[found[at, 2], 1]
            if work > budget:
                break
        if work <= budget:
            high = guess
        else:
            low = guess
        if low == np.inf:
            guess = 4.0 * high
        elif high == 0.0:
            guess = 0.25 * low
        else:
            bisected += 1
            guess = 0.5 * (high + low) if low < 3.0 * high else np.sqrt(high * low)
        if guess == 0.0 or guess == high or guess == low:
            break
    return highest - high, max(high, SMALLEST), number


@njit(nogil=True, cache=True, counts_references=False)
def try_row(l, n, i, d0, sizes, best):
    """Lower ``best[e]`` to the width of the window of size d0 + e that starts at i, for all e < sizes.

    Returns how many there are.
    """
    count = min(sizes, n - i - d0)
    if count > 0:
        value = l[i]
        right = l[i + d0 : i + d0 + count]
        for e in range(count):
            width = right[e] - value
            best[e] = min(best[e], width)
    return max(count, 0)


@njit(nogil=True, cache=True, counts_references=False)
def leave_out_few(edges, pairs, shares, count, period, out, end_out, d0, sizes, unsure):
    """Leave out pairs of zones with few windows that may be narrower than all others; return how many stay.

    The greatest departures of such zones say little of these windows, and would prevent thresholds that tell
    the others apart.  Sizes that have any are ``unsure``.
    """
    highest = -np.inf
    for few in range(2):
        kept = 0
        for at in range(count):
            left, right = pairs[at, 0], pairs[at, 1]
            size, end_size = edges[left + 1] - edges[left], edges[right + 1] - edges[right]
            top, end_top = -np.inf, -np.inf
            for r in range(period):
                top = max(top, out[left * period + r, 0])
                end_top = max(end_top, end_out[right * period + r, 0])
            high = min(top + end_top, shares[at, 2])
            number = shares[at, 1] * size
            if number >= min(FEW_WINDOWS, min(size, end_size) >> FEW_SHIFT):
                highest = max(highest, high)
            elif few == 1 and high > highest:
                least = max(edges[right] - edges[left + 1] + 1 - d0, 0)
                for e in range(least, min(edges[right + 1] - edges[left] - d0, sizes)):
                    unsure[e] = True
                continue
            if few == 1:
                pairs[kept, 0], pairs[kept, 1] = left, right
                for k in range(3):
                    shares[kept, k] = shares[at, k]
                kept += 1
    return kept


@njit(nogil=True, cache=True)
def scratch_for(zones, period):
    """Return the scratch that `try_extremes` takes."""
    classes = zones * period
    return (
        np.empty((zones * zones, 2), np.int64), np.empty((zones * zones, 3)), np.empty(classes, np.int64),
        np.empty(classes, np.int64), np.empty(classes), np.empty(classes),
        np.empty((zones * classes, 3), np.int64),
    )  # fmt: skip


@njit(nogil=True, cache=True, counts_references=False)
def first_guess(classes, out, levels):
    """Return how far the greatest departures differ in a class that has many, where that is least."""
    most = 0
    for kind in range(classes):
        most = max(most, levels[kind])
    least = np.inf
    for kind in range(classes):
        differ = out[kind, 0] - out[kind, levels[kind]]
        if 2 * levels[kind] >= most and differ > 0.0:
            least = min(least, differ)
    return least if least < np.inf else SMALLEST


@njit(nogil=True, cache=True, counts_references=False)
def try_extremes(
    l, mirrored, n, d0, sizes, period, edges, kinds, trends, spreads, starts, ends, wanted, below, scratch,
    outside, unsure, best,
):  # fmt: skip
    """Try all windows of sizes d0 .. d0 + sizes - 1 between extremes; return their number.

    Parameters
    ----------
    l, mirrored, n
        As in `straight.solve_straight`.
    d0, sizes : int, which sizes
    period : int, of the pattern
    edges, kinds, trends, spreads : the zones, see `straight.solve_straight`
    starts, ends : tuples of firsts, out, levels, places, heights, as `build_ladder` fills them; ``ends`` is
        cumulative
    wanted : float64, about how many windows are to be tried of each size
    below : (period,) float64, guesses, written for the next call
    scratch : as `scratch_for` returns it
    outside : (period, quanta) float64, by d mod period: how much wider than the line all windows that were
        not tried are, by their quantum; written, infinite if there are none
    unsure : (sizes or more,) bool, sizes of which nothing is said, written
    best : (sizes or more,) float64 widths
    """
    for e in range(sizes):
        unsure[e] = False
    firsts, out, levels, places, heights = starts
    end_firsts, end_out, end_levels, end_places, end_heights = ends
    pairs, shares, rows, columns, top, end_top, found = scratch
    count = 0
    for left in range(kinds.size):
        for right in range(left, kinds.size):
            share, number = likely_share(edges, left, right, d0, sizes)
            if share >= 0.0:
                pairs[count, 0], pairs[count, 1] = left, right
                shares[count, 0], shares[count, 1] = share, number / (edges[left + 1] - edges[left])
                shares[count, 2] = np.inf
                if left == right:
                    steepest = d0 if trends[left] > 0.0 else d0 + sizes - 1
                    shares[count, 2] = spreads[left] - trends[left] * steepest
                count += 1
    count = leave_out_few(edges, pairs, shares, count, period, out, end_out, d0, sizes, unsure)
    outside[:, :] = np.inf
    for kind in range(kinds.size * period):
        rows[kind] = columns[kind] = 0
        top[kind], end_top[kind] = out[kind, 0], end_out[kind, 0]
    windows = 0
    of_phase = max(sizes / period, 1.0)
    for e in range(min(period, sizes)):
        phase = (d0 + e) % period
        t, below[phase], number = threshold(
            phase, period, pairs, shares, count, below[phase], wanted * of_phase, ROW * of_phase,
            (firsts, out, levels, top), (end_firsts, end_out, end_levels, end_top), found,
        )  # fmt: skip
        for at in range(count):
            quantum = min(kinds[pairs[at, 0]], kinds[pairs[at, 1]])
            left, right = pairs[at, 0] * period, pairs[at, 1] * period
            most = -np.inf
            for r in range(period):
                to = r + phase - (period if r + phase >= period else 0)
                high = min(top[left + r] + end_top[right + to], shares[at, 2])
                most = max(most, high if high <= t else -np.inf)
            outside[phase, quantum] = min(outside[phase, quantum], -most)
        for at in range(number):
            kind, to = found[at, 0], found[at, 1]
            if shares[found[at, 2], 2] <= t:
                continue
            quantum = min(kinds[pairs[found[at, 2], 0]], kinds[pairs[found[at, 2], 1]])
            b = end_levels[to]
            most = -np.inf
            for a in range(levels[kind] + 1):
                high = out[kind, a]
                while b > 0 and high + end_out[to, b - 1] <= t:
                    b -= 1
                if high + end_out[to, b] > t:
                    rows[kind] = max(rows[kind], a + 1)
                    continue
                most = max(most, high + end_out[to, b])
                if b == 0:
                    break
                if a == levels[kind]:
                    columns[to] = max(columns[to], b)
                else:
                    windows += join(
                        places, heights, firsts[kind, a], firsts[kind, a + 1], end_places, end_heights,
                        end_firsts[to, b - 1], end_firsts[to, b], d0, sizes, best,
                    )  # fmt: skip
            outside[phase, quantum] = min(outside[phase, quantum], -most)
    for kind in range(kinds.size * period):
        for at in range(firsts[kind, 0], firsts[kind, min(rows[kind], levels[kind])]):
            windows += try_row(l, n, np.int64(places[at]), d0, sizes, best)
        if columns[kind] > 0:
            for at in range(end_firsts[kind, columns[kind] - 1], end_firsts[kind, columns[kind]]):
                windows += try_row(mirrored, n, n - 1 - np.int64(end_places[at]), d0, sizes, best)
    return windows
