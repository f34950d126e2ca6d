"""Points with masses: the narrowest windows of every mass, exactly.

A mass is a whole number of units in two parts, ``high * 2^62 + low`` with 0 <= low < 2^62: 122 bits in all,
so that nothing is rounded (see `geodim.engine.masses`).  With distinct values v_1 < ... < v_r and c the
masses up to each of them, a window from v_a to v_b weighs c_b - c_(a-1).  Let M(w) be the most that a window
of width w or less weighs: phi(m) is the least w with M(w) >= m, so the steps of M are those of phi.

They are found between two widths at a time.  Only a start with a window that is heavier than M(lower) and no
wider than the upper width can make a step in between.  So at a width in the middle, which is that of some
window, M is the greatest mass of these few starts, or M(lower); and either half goes on with those of them
that matter there.  Where few windows are left, all of them are looked at.
"""

from __future__ import annotations

import numpy as np

from geodim.compiled import njit
from geodim.engine.kernels._bounds import require

LOW_BITS = 62
DONE, FULL, CROWDED, DEEP, GOES_ON = 0, 1, 2, 3, 4  # what `find_steps` returns
FEW = 32  # windows that are looked at one by one
TRIED = 9  # starts whose middle windows are asked for a width to split at
BELOW = -1.0  # in place of a width: less than what others reached


@njit(nogil=True, cache=True)
def _heavier(high, low, other_high, other_low):
    """Whether one mass is more than another."""
    return high > other_high or (high == other_high and low > other_low)


@njit(nogil=True, cache=True)
def _between(c_high, c_low, first, last):
    """The mass of the values from ``first`` to ``last``."""
    high = c_high[last + 1] - c_high[first]
    low = c_low[last + 1] - c_low[first]
    if low < 0:
        low += np.int64(1) << LOW_BITS
        high -= 1
    return high, low


@njit(nogil=True, cache=True)
def cumulate_masses(values, high, low, distinct, c_high, c_low):
    """The distinct values of an ascending column, and the mass up to each; returns their number.

    Parameters
    ----------
    values : (n,) float64, ascending
    high, low : (n,) int64, the mass of each
    distinct : (n,) float64, written
    c_high, c_low : (n + 1,) int64, masses, written
    """
    n = values.size
    require(high.size >= n and low.size >= n, "cumulate_masses: masses")
    require(distinct.size >= n, "cumulate_masses: distinct")
    require(c_high.size >= n + 1 and c_low.size >= n + 1, "cumulate_masses: sums")
    mask = (np.int64(1) << LOW_BITS) - 1
    sum_high = np.int64(0)
    sum_low = np.int64(0)
    c_high[0] = 0
    c_low[0] = 0
    count = 0
    for i in range(n):
        if count == 0 or values[i] != distinct[count - 1]:
            distinct[count] = values[i] + 0.0  # no -0.0
            count += 1
        sum_low += low[i]
        sum_high += high[i] + (sum_low >> LOW_BITS)
        sum_low &= mask
        c_high[count] = sum_high
        c_low[count] = sum_low
    return count


@njit(nogil=True, cache=True)
def begin_steps(v, c_high, c_low, widths, masses, lists, places, out_width, out_high, out_low, state):
    """Put the first step, of width 0, and everything above it as one gap on the stack.

    Parameters
    ----------
    v, c_high, c_low, widths, masses, lists, places, out_width, out_high, out_low, state
        As for `find_steps`.
    """
    r = v.size
    require(r > 0 and c_high.size >= r + 1 and c_low.size >= r + 1, "begin_steps: masses")
    require(widths.shape[0] > 0 and masses.shape[0] > 0 and lists.shape[0] > 0, "begin_steps: stack")
    require(widths.shape[1] >= 2 and masses.shape[1] >= 4 and lists.shape[1] >= 2, "begin_steps: stack")
    require(places.shape[0] >= r and places.shape[1] >= 4, "begin_steps: places")
    require(out_width.size > 0 and out_high.size > 0 and out_low.size > 0, "begin_steps: out")
    require(state.size >= 3, "begin_steps: state")
    best_high = np.int64(0)
    best_low = np.int64(0)
    for a in range(r):
        high, low = _between(c_high, c_low, a, a)
        if _heavier(high, low, best_high, best_low):
            best_high, best_low = high, low
    out_width[0], out_high[0], out_low[0] = 0.0, best_high, best_low
    state[0], state[1] = 0, 1
    if r < 2:
        return
    count = 0
    for a in range(r - 1):
        high, low = _between(c_high, c_low, a, r - 1)
        if not _heavier(high, low, best_high, best_low):
            break
        places[count, 0], places[count, 1], places[count, 2] = a, a, r - 1  # checked when they are used
        count += 1
    widths[0, 0], widths[0, 1] = 0.0, v[r - 1] - v[0]
    masses[0, 0], masses[0, 1] = best_high, best_low
    masses[0, 2], masses[0, 3] = c_high[r], c_low[r]
    lists[0, 0], lists[0, 1] = 0, count
    state[0] = 1


@njit(nogil=True, cache=True)
def _width_above(known_high, known_low, known_width, high, low):
    """What others reached just above a mass: the width of the first step that ends beyond it."""
    first = 0
    last = known_width.size - 1
    while first < last:
        middle = (first + last) >> 1
        if _heavier(known_high[middle], known_low[middle], high, low):
            last = middle
        else:
            first = middle + 1
    return known_width[first]


@njit(nogil=True, cache=True)
def _last_within(v, a, first, last, width):
    """The last value from ``first``, which is, up to ``last`` that is within ``width`` of value ``a``."""
    while first < last:
        middle = (first + last + 1) >> 1
        if v[middle] - v[a] <= width:
            first = middle
        else:
            last = middle - 1
    return first


@njit(nogil=True, cache=True)
def _middle_width(v, places, start, stop, upper, tried):
    """A width to split at, less than ``upper``; or ``upper`` if all windows are as wide.

    The median of what some starts have in their middle.
    """
    count = 0
    stride = max((stop - start) // TRIED, 1)
    for at in range(start + (stride >> 1), stop, stride):
        if count == TRIED:
            break
        a, low, high = places[at, 0], places[at, 1], places[at, 2]
        width = v[low + ((high - low + 1) >> 1)] - v[a]
        place = count
        while place > 0 and tried[place - 1] > width:
            tried[place] = tried[place - 1]
            place -= 1
        tried[place] = width
        count += 1
    middle = tried[count >> 1]
    if middle < upper:
        return middle
    middle = -1.0
    for at in range(start, stop):
        a, low, high = places[at, 0], places[at, 1], places[at, 2]
        while low < high:  # the last value that is less than the upper width away
            half = (low + high + 1) >> 1
            if v[half] - v[a] < upper:
                low = half
            else:
                high = half - 1
        if low > places[at, 1]:
            middle = max(middle, v[low] - v[a])
    return middle if middle > 0.0 else upper


@njit(nogil=True, cache=True)
def _look_at_all(
    v, c_high, c_low, places, start, stop, least_high, least_low, out_width, out_high, out_low, found
):  # fmt: skip
    """Write the steps of few windows, each heavier than the one before; returns how many there are then."""
    size = 0
    for at in range(start, stop):
        a = places[at, 0]
        for b in range(places[at, 1] + 1, places[at, 2] + 1):
            high, low = _between(c_high, c_low, a, b)
            if not _heavier(high, low, least_high, least_low):
                continue
            width = v[b] - v[a]
            place = size
            while place > 0 and out_width[found + place - 1] > width:
                out_width[found + place] = out_width[found + place - 1]
                out_high[found + place] = out_high[found + place - 1]
                out_low[found + place] = out_low[found + place - 1]
                place -= 1
            out_width[found + place], out_high[found + place], out_low[found + place] = width, high, low
            size += 1
    kept = found
    for at in range(found, found + size):
        high, low = out_high[at], out_low[at]
        if not _heavier(high, low, least_high, least_low):
            continue
        if kept > found and out_width[kept - 1] == out_width[at]:
            kept -= 1  # as wide, but heavier
        out_width[kept], out_high[kept], out_low[kept] = out_width[at], high, low
        kept += 1
        least_high, least_low = high, low
    return kept


@njit(nogil=True, cache=True)
def find_steps(
    v, c_high, c_low, known_high, known_low, known_width, widths, masses, lists, places, out_width, out_high,
    out_low, state, patience,
):  # fmt: skip
    """Go on with the steps of phi, upwards, until all are found or something is in the way.

    Returns DONE; FULL if there is no more room for steps, CROWDED or DEEP if there is none for starts or
    gaps (with more, it goes on where it was); or GOES_ON once more starts than ``patience`` were looked at.
    Where the column lies below what others reached, a step has the width BELOW.

    Parameters
    ----------
    v : (r,) float64, ascending, distinct
    c_high, c_low : (r + 1,) int64, masses up to each value
    known_high, known_low, known_width : (s,) int64, int64, float64, steps that others reached
    widths, masses, lists : (g, 2) float64, (g, 4) int64, (g, 2) int64, stack of gaps: widths and masses at
        both ends, and which starts matter
    places : (p, 4) int32, starts, their last values at both ends, and scratch
    out_width, out_high, out_low : (m,) float64, int64, int64, steps, written
    state : (3,) int64, gaps on the stack, steps written, starts looked at
    patience : int
    """
    r = v.size
    require(c_high.size >= r + 1 and c_low.size >= r + 1, "find_steps: masses")
    require(known_width.size > 0, "find_steps: known")
    require(known_high.size >= known_width.size and known_low.size >= known_width.size, "find_steps: known")
    depth = min(widths.shape[0], masses.shape[0], lists.shape[0])
    require(widths.shape[1] >= 2 and masses.shape[1] >= 4 and lists.shape[1] >= 2, "find_steps: stack")
    require(places.shape[1] >= 4, "find_steps: places")
    room = min(out_width.size, out_high.size, out_low.size)
    require(state.size >= 3 and 0 <= state[0] <= depth and 0 <= state[1] <= room, "find_steps: state")
    for gap in range(state[0]):
        require(0 <= lists[gap, 0] <= lists[gap, 1] <= places.shape[0], "find_steps: lists")
        for at in range(lists[gap, 0], lists[gap, 1]):
            a, low, high = places[at, 0], places[at, 1], places[at, 2]
            require(0 <= a <= low <= high < r, "find_steps: places")
    tried = np.empty(TRIED)
    looked = np.int64(0)
    while state[0] > 0:
        if looked > patience:
            return GOES_ON
        if state[1] + FEW > room:
            return FULL
        top = state[0] - 1
        lower, upper = widths[top, 0], widths[top, 1]
        low_high, low_low = masses[top, 0], masses[top, 1]
        top_high, top_low = masses[top, 2], masses[top, 3]
        start, stop = lists[top, 0], lists[top, 1]
        if not _heavier(top_high, top_low, low_high, low_low):
            state[0] -= 1
            continue
        if _width_above(known_high, known_low, known_width, low_high, low_low) > upper:
            at = state[1]
            out_width[at], out_high[at], out_low[at] = BELOW, top_high, top_low
            state[0] -= 1
            state[1] += 1
            continue
        left = np.int64(0)
        for at in range(start, stop):
            left += places[at, 2] - places[at, 1]
        looked += stop - start
        state[2] += stop - start
        if left <= FEW:
            state[1] = _look_at_all(
                v,
                c_high,
                c_low,
                places,
                start,
                stop,
                low_high,
                low_low,
                out_width,
                out_high,
                out_low,
                state[1],
            )
            state[0] -= 1
            continue
        middle = _middle_width(v, places, start, stop, upper, tried)
        if middle == upper:  # a single step
            at = state[1]
            out_width[at], out_high[at], out_low[at] = upper, top_high, top_low
            state[0] -= 1
            state[1] += 1
            continue
        if top + 1 >= depth:
            return DEEP
        if 2 * stop - start > places.shape[0]:
            return CROWDED
        mid_high, mid_low = low_high, low_low
        before = np.int64(0)
        for at in range(start, stop):
            a = places[at, 0]
            before = _last_within(v, a, max(places[at, 1], min(before, places[at, 2])), places[at, 2], middle)
            places[at, 3] = before
            high, low = _between(c_high, c_low, a, before)
            if _heavier(high, low, mid_high, mid_low):
                mid_high, mid_low = high, low
        # Starts of the lower half go behind all others for a moment, those of the upper half stay in place.
        low_stop = stop
        top_stop = start
        for at in range(start, stop):
            a, first, last, half = places[at, 0], places[at, 1], places[at, 2], places[at, 3]
            high, low = _between(c_high, c_low, a, half)
            if _heavier(high, low, low_high, low_low):
                places[low_stop, 0], places[low_stop, 1], places[low_stop, 2] = a, first, half
                low_stop += 1
            high, low = _between(c_high, c_low, a, last)
            if _heavier(high, low, mid_high, mid_low):
                places[top_stop, 0], places[top_stop, 1], places[top_stop, 2] = a, half, last
                top_stop += 1
        for at in range(stop, low_stop):
            to = top_stop + at - stop
            places[to, 0], places[to, 1], places[to, 2] = places[at, 0], places[at, 1], places[at, 2]
        widths[top, 0] = middle
        masses[top, 0], masses[top, 1] = mid_high, mid_low
        lists[top, 1] = top_stop
        widths[top + 1, 0], widths[top + 1, 1] = lower, middle
        masses[top + 1, 0], masses[top + 1, 1] = low_high, low_low
        masses[top + 1, 2], masses[top + 1, 3] = mid_high, mid_low
        lists[top + 1, 0], lists[top + 1, 1] = top_stop, top_stop + low_stop - stop
        state[0] += 1
    return DONE


@njit(nogil=True, cache=True)
def merge_steps(
    high, low, width, owner, new_high, new_low, new_width, column, out_high, out_low, out_width, out_owner
):  # fmt: skip
    """The greater of two step functions of the mass, and whose it is: of equal ones the lowest column's.

    Returns the number of steps.  Both end at the same mass.

    Parameters
    ----------
    high, low, width, owner : (s,) int64, int64, float64, int32, steps so far
    new_high, new_low, new_width : (t,) int64, int64, float64, those of the column, or BELOW
    column : int
    out_high, out_low, out_width, out_owner : (s + t,) int64, int64, float64, int32, written
    """
    size, new_size = width.size, new_width.size
    require(high.size >= size and low.size >= size and owner.size >= size, "merge_steps: steps")
    require(new_high.size >= new_size and new_low.size >= new_size, "merge_steps: new steps")
    most = min(out_high.size, out_low.size, out_width.size, out_owner.size)
    require(most >= size + new_size, "merge_steps: out")
    i = j = count = 0
    while i < size and j < new_size:
        wide, whose = width[i], owner[i]
        if new_width[j] > wide:
            wide, whose = new_width[j], column
        elif new_width[j] == wide and wide > 0.0:
            whose = min(whose, column)
        to_high, to_low = high[i], low[i]
        one_ends = not _heavier(to_high, to_low, new_high[j], new_low[j])
        other_ends = not _heavier(new_high[j], new_low[j], to_high, to_low)
        if not one_ends:
            to_high, to_low = new_high[j], new_low[j]
        i += 1 if one_ends else 0
        j += 1 if other_ends else 0
        if count > 0 and out_width[count - 1] == wide and out_owner[count - 1] == whose:
            count -= 1
        out_high[count], out_low[count], out_width[count], out_owner[count] = to_high, to_low, wide, whose
        count += 1
    return count


@njit(nogil=True, cache=True)
def add_masses(at, high, low, sum_high, sum_low):
    """Add the masses of points to the counters of their steps.

    Parameters
    ----------
    at : (n,) int64, the step of every point
    high, low : (n,) int64, its mass
    sum_high, sum_low : (steps,) int64, masses, added to
    """
    require(high.size >= at.size and low.size >= at.size, "add_masses: masses")
    require(sum_low.size >= sum_high.size, "add_masses: sums")
    mask = (np.int64(1) << LOW_BITS) - 1
    for i in range(at.size):
        step = at[i]
        require(0 <= step < sum_high.size, "add_masses: a step that is not there")
        total = sum_low[step] + low[i]
        sum_high[step] += high[i] + (total >> LOW_BITS)
        sum_low[step] = total & mask


@njit(nogil=True, cache=True)
def rounded_counts(high, low, shift, counts):
    """Masses in coarser units: what all steps up to each weigh is rounded down, and not each by itself.

    So the windows of any length are off by less than one coarse unit.

    Parameters
    ----------
    high, low : (steps,) int64, masses
    shift : int, from 62 on: a coarse unit is so many bits longer
    counts : (steps,) int64, written
    """
    require(low.size >= high.size and counts.size >= high.size, "rounded_counts: sizes")
    require(LOW_BITS <= shift < LOW_BITS + 62, "rounded_counts: shift")
    coarse = shift - LOW_BITS
    mask = (np.int64(1) << LOW_BITS) - 1
    sum_high = np.int64(0)
    sum_low = np.int64(0)
    before = np.int64(0)
    for step in range(high.size):
        sum_low += low[step]
        sum_high += high[step] + (sum_low >> LOW_BITS)
        sum_low &= mask
        here = sum_high >> coarse
        counts[step] = here - before
        before = here
