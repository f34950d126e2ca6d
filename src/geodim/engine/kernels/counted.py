"""Passes over a column of counts: sums, its slope, and a first rejection.  See `geodim.engine.counting`."""

from __future__ import annotations

import numpy as np

from geodim.compiled import njit
from geodim.engine.kernels._bounds import ranges_fit, require
from geodim.engine.kernels.lanes import LANES, element, last, load, running, splat, store

PART = 64  # sizes that are tested together, by windows of one start; as many as they tell at once, or these
STARTS, APART = 64, 8  # starts tried on either side of the likely one, and how far apart they are;
COARSE = 1024  # how far apart at first, all over the column


@njit(nogil=True, cache=True)
def open_gaps_by_counts(l, n, shift, slope, best, is_open):
    """Do the same as `open_gaps` for counts.

    N grows with w.  So if some window of a gap's first size holds more points than ``-best`` at its last
    size, the column is beaten in the whole gap, whatever the slope.

    Parameters
    ----------
    l : (n or more,) float64, slope * step - points up to that step, ascending
    n : int, number of entries, one more than the number of steps
    shift : int, a gap has 2**shift sizes
    slope : float64, points per step
    best : (n,) float64 over w, minus the number of points that others hold
    is_open : (gaps,) bool, written
    """
    size = 1 << shift
    count = (n + size - 1) >> shift
    require(l.size >= n, "open_gaps_by_counts: l")
    require(best.size >= n, "open_gaps_by_counts: best")
    require(is_open.size >= count, "open_gaps_by_counts: is_open")
    total = 0
    guess, likely = 0, np.int64(-1)
    for g in range(count - 1, -1, -1):
        first = max(g << shift, 1)
        last = min((g + 1) << shift, n) - 1
        beaten = False
        while not beaten and last >= first:  # the first gap in parts that grow by an eighth
            part = max(last - (last >> 3), first) if g == 0 else first
            beaten = False
            for start in range(-1, n - part, max(size >> 3, 1)):
                at = guess if start < 0 else start
                if at + part < n and slope * part - (l[at + part] - l[at]) > -best[last]:
                    beaten = True
                    guess = at
                    break
            if g > 0 or not beaten:
                break
            last = part - 1
            beaten = last < first
        if not beaten and g > 0:
            beaten, likely = beaten_in_parts(l, n, first, min((g + 1) << shift, n), slope, best, likely)
        else:
            likely = np.int64(-1)
        is_open[g] = not beaten
        total += 0 if beaten else 1
    return total


@njit(nogil=True, cache=True, counts_references=False)
def beaten_in_parts(l, n, first, stop, slope, best, start):
    """Return whether some windows hold more points than ``-best`` at every size of [first, stop).

    Parts are tested one by one, from the largest sizes down, each by the windows of one start: that of the
    part before, moved so that their centre stays, or the densest nearby.  A part is as large as possible if
    its first window alone holds more than is needed at its last size, since N grows with w; otherwise it has
    PART sizes, each of which is tested.  Also returns the next start, or -1 after a failure; ``start`` is
    what it returned for the sizes above.
    """
    if start < 0:
        start = densest_near(l, n, (n - stop) >> 1, (n - stop) // (2 * COARSE) + 1, COARSE, stop)
    length = PART
    while stop > first:
        begin = max(stop - length, first)
        inside = slope * np.float64(begin) - (element(l, start + begin) - element(l, start))
        if inside > -element(best, stop - 1):
            length *= 2
        elif length > PART:
            length //= 2
            continue
        elif not holds_more(l, start, begin, stop, slope, best):
            start = densest_near(l, n, start, STARTS, APART, stop)
            if not holds_more(l, start, begin, stop, slope, best):
                return False, np.int64(-1)
        start = min(start + ((stop - begin) >> 1), n - begin)
        stop = begin
    return True, start


@njit(nogil=True, cache=True, counts_references=False)
def densest_near(l, n, start, count, apart, stop):
    """Return the start at which ``stop`` - 1 steps hold most points: ``start``, or one of some around it."""
    narrowest, found = np.inf, start
    for move in range(-count, count + 1):
        at = start + move * apart
        if 0 <= at <= n - stop:
            width = element(l, at + stop - 1) - element(l, at)
            if width < narrowest:
                narrowest, found = width, at
    return found


@njit(nogil=True, cache=True, counts_references=False)
def holds_more(l, start, begin, stop, slope, best):
    """Return whether windows from ``start`` hold more points than ``-best`` at all sizes [begin, stop)."""
    low = element(l, start)
    fails = 0
    for w in range(begin, stop):
        fails += 0 if slope * np.float64(w) - (element(l, start + w) - low) > -element(best, w) else 1
    return fails == 0


@njit(nogil=True, cache=True)
def tally(counts):
    """Return the sum of all counts and the largest of them.

    Parameters
    ----------
    counts : (steps,) numbers of points, steps >= 1
    """
    require(counts.size > 0, "tally: counts")
    total, most = np.int64(0), counts[0]
    for j in range(counts.size):
        total += np.int64(counts[j])
    for j in range(counts.size):
        most = max(most, counts[j])
    return total, np.int64(most)


@njit(nogil=True, cache=True, counts_references=False)
def cumulate(counts, slope, values):
    """Write ``values[j] = slope j - (number of points in the first j steps)``.

    These are whole numbers that float64 holds, so that they may be added in any order.

    Parameters
    ----------
    counts : (steps,) numbers of points in each step
    slope : float64, points per step
    values : (steps + 1,) float64, written
    """
    require(values.size >= counts.size + 1, "cumulate: values")
    values[0] = 0.0
    whole = counts.size // LANES * LANES
    before, steep = splat(0.0), splat(slope)
    for j in range(0, whole, LANES):
        risen = running(steep - load(counts, j))
        store(values, j + 1, before + risen)
        before = before + last(risen)
    for j in range(whole, counts.size):
        values[j + 1] = values[j] + (slope - np.float64(counts[j]))


@njit(nogil=True, cache=True)
def along_slope(best, slope, first, stop, known):
    """Write ``known[w] = slope w + best[w] - 1/2`` for w in [first, stop).

    It is lowered where needed so that it never falls.  Half a point is subtracted so that ties are not
    rejected.

    Parameters
    ----------
    best : (stop or more,) float64 over w, minus points
    slope : float64, points per step
    first, stop : int, half-open range of w
    known : (stop or more,) float64 over w, written
    """
    require(first >= 0 and stop <= best.size, "along_slope: best")
    require(stop <= known.size, "along_slope: known")
    others, bar = best[first:stop], known[first:stop]
    for i in range(bar.size):  # vectorised
        bar[i] = slope * np.float64(first + i) + others[i] - 0.5
    falls = 0
    for i in range(bar.size - 1):  # seldom
        falls += 1 if bar[i] > bar[i + 1] else 0
    if falls > 0:
        for i in range(bar.size - 2, -1, -1):
            bar[i] = min(bar[i], bar[i + 1])


@njit(nogil=True, cache=True)
def tilt(phi, ranges, n_ranges, slope):
    """Remove the slope again: from ``slope w - N(w)`` to ``-N(w)``.

    Parameters
    ----------
    phi : (n,) float64 over w, changed in place
    ranges : (m, 2) int64, half-open ranges of w; the first n_ranges count
    n_ranges : int
    slope : float64, points per step
    """
    require(ranges_fit(ranges, n_ranges, phi.size), "tilt: ranges")
    for r in range(n_ranges):
        for d in range(ranges[r, 0], ranges[r, 1]):
            phi[d] -= slope * d
