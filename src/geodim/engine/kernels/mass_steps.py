"""The narrowest windows of every mass, exactly.

With distinct values v_1 < ... < v_r and c the masses up to each of them, a window from v_a to v_b weighs
c_b - c_(a-1).  Let M(w) be the largest mass of a window of width at most w.  Then phi(m) is the least w with
M(w) >= m, so the steps of M are those of phi.

They are found by halving ranges of widths.  A start matters between two widths only if it has a window that
is heavier than M(lower) and no wider than the upper width.  At a middle width, which is that of some window,
M is therefore the greatest mass of these few starts, or M(lower).  Either half continues with the starts that
matter there.  Once few windows are left, all of them are examined.
"""

from __future__ import annotations

import numpy as np

from geodim.compiled import njit
from geodim.engine.kernels._bounds import require
from geodim.engine.kernels.masses import BELOW, between, heavier, outweighs

DONE, FULL, CROWDED, DEEP, GOES_ON = 0, 1, 2, 3, 4  # what `find_steps` returns
FEW = 32  # up to this many windows are examined one by one
TRIED = 9  # starts whose middle windows suggest a width to split at


@njit(nogil=True, cache=True)
def begin_steps(v, c_high, c_low, widths, masses, lists, places, out_width, out_high, out_low, state):
    """Write the first step, of width 0, and put everything above it on the stack as one gap.

    Parameters
    ----------
    v, c_high, c_low, widths, masses, lists, places, out_width, out_high, out_low, state
        As for `find_steps`.
    """
    r = v.size
    require(r > 0 and c_high.size >= r + 1 and c_low.size >= r + 1, "begin_steps: masses")
    require(widths.shape[0] > 0 and masses.shape[0] > 0 and lists.shape[0] > 0, "begin_steps: stack")
    require(widths.shape[1] >= 2 and masses.shape[1] >= 4 and lists.shape[1] >= 3, "begin_steps: stack")
    require(places.shape[0] >= r and places.shape[1] >= 4, "begin_steps: places")
    require(out_width.size > 0 and out_high.size > 0 and out_low.size > 0, "begin_steps: out")
    require(state.size >= 3, "begin_steps: state")
    best_high = np.int64(0)
    best_low = np.int64(0)
    for a in range(r):
        if outweighs(c_high, c_low, a, a, best_high, best_low):
            best_high, best_low = between(c_high, c_low, a, a)
    out_width[0], out_high[0], out_low[0] = 0.0, best_high, best_low
    state[0], state[1] = 0, 1
    if r < 2:
        return
    count = 0
    left = np.int64(0)
    for a in range(r - 1):
        if not outweighs(c_high, c_low, a, r - 1, best_high, best_low):
            break
        left += r - 1 - a
        places[count, 0], places[count, 1], places[count, 2] = a, a, r - 1  # checked on use
        count += 1
    widths[0, 0], widths[0, 1] = 0.0, v[r - 1] - v[0]
    masses[0, 0], masses[0, 1] = best_high, best_low
    masses[0, 2], masses[0, 3] = c_high[r], c_low[r]
    lists[0, 0], lists[0, 1], lists[0, 2] = 0, count, left
    state[0] = 1


@njit(nogil=True, cache=True)
def _width_above(known_high, known_low, known_width, high, low):
    """Return what others reached just above a mass: the width of the first step that ends beyond it."""
    first = 0
    last = known_width.size - 1
    while first < last:
        middle = (first + last) >> 1
        if heavier(known_high[middle], known_low[middle], high, low):
            last = middle
        else:
            first = middle + 1
    return known_width[first]


@njit(nogil=True, cache=True)
def _last_within(v, a, first, last, width):
    """Return the last value from ``first`` to ``last`` that lies within ``width`` of value ``a``.

    ``first`` itself does.  The result is usually close to it, so the search begins with small strides.
    """
    step = 1
    while first + step <= last and v[first + step] - v[a] <= width:
        first += step
        step *= 2
    last = min(last, first + step - 1)
    while first < last:
        middle = (first + last + 1) >> 1
        if v[middle] - v[a] <= width:
            first = middle
        else:
            last = middle - 1
    return first


@njit(nogil=True, cache=True)
def _middle_width(v, places, start, stop, upper, tried):
    """Return a width below ``upper`` to split at, or ``upper`` if all windows are that wide.

    It is the median width of the middle windows of some starts.
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
    """Write the steps of a few windows, each heavier than the one before; return the new number of steps."""
    size = 0
    for at in range(start, stop):
        a = places[at, 0]
        for b in range(places[at, 1] + 1, places[at, 2] + 1):
            if not outweighs(c_high, c_low, a, b, least_high, least_low):
                continue
            high, low = between(c_high, c_low, a, b)
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
        if not heavier(high, low, least_high, least_low):
            continue
        if kept > found and out_width[kept - 1] == out_width[at]:
            kept -= 1  # equally wide, but heavier
        out_width[kept], out_high[kept], out_low[kept] = out_width[at], high, low
        kept += 1
        least_high, least_low = high, low
    return kept


@njit(nogil=True, cache=True)
def _split(v, c_high, c_low, places, start, stop, low_high, low_low, middle, upper_list, lower_list):
    """Distribute the starts of a gap to its two halves, one after the other, and return M(middle).

    Both lists receive their first place, last place, and number of windows left.  Starts of the lower half
    are stored after all others until those of the upper half, which stay in place, are known.
    """
    mid_high, mid_low = low_high, low_low
    before = np.int64(0)
    low_stop = stop
    low_left = np.int64(0)
    for at in range(start, stop):
        a, first, last = places[at, 0], places[at, 1], places[at, 2]
        before = _last_within(v, a, max(first, min(before, last)), last, middle)  # from the preceding start
        places[at, 3] = before
        if outweighs(c_high, c_low, a, before, low_high, low_low):
            places[low_stop, 0], places[low_stop, 1], places[low_stop, 2] = a, first, before
            low_stop += 1
            low_left += before - first
            if outweighs(c_high, c_low, a, before, mid_high, mid_low):
                mid_high, mid_low = between(c_high, c_low, a, before)
    top_stop = start
    top_left = np.int64(0)
    for at in range(start, stop):
        a, last, half = places[at, 0], places[at, 2], places[at, 3]
        if outweighs(c_high, c_low, a, last, mid_high, mid_low):
            places[top_stop, 0], places[top_stop, 1], places[top_stop, 2] = a, half, last
            top_stop += 1
            top_left += last - half
    for at in range(stop, low_stop):
        to = top_stop + at - stop
        places[to, 0], places[to, 1], places[to, 2] = places[at, 0], places[at, 1], places[at, 2]
    upper_list[0], upper_list[1], upper_list[2] = start, top_stop, top_left
    lower_list[0], lower_list[1], lower_list[2] = top_stop, top_stop + low_stop - stop, low_left
    return mid_high, mid_low


@njit(nogil=True, cache=True)
def find_steps(
    v, c_high, c_low, known_high, known_low, known_width, widths, masses, lists, places, out_width, out_high,
    out_low, state, patience,
):  # fmt: skip
    """Continue finding the steps of phi, upwards, until all are found or an array is full.

    Returns DONE; FULL if there is no room for more steps; CROWDED or DEEP if there is none for starts or gaps
    (given larger arrays, it continues where it was); or GOES_ON after examining more than ``patience``
    starts.  Where the column lies below what others reached, a step has the width BELOW.

    Parameters
    ----------
    v : (r,) float64, ascending, distinct
    c_high, c_low : (r + 1,) int64, masses up to each value
    known_high, known_low, known_width : (s,) int64, int64, float64, steps that others reached
    widths, masses, lists : (g, 2) float64, (g, 4) int64, (g, 3) int64, the stack of gaps: widths and masses
        at both ends; the range of ``places`` with the starts that matter, and their number of windows
    places : (p, 4) int32, starts, the last values of their windows at both ends of the gap, and scratch
    out_width, out_high, out_low : (m,) float64, int64, int64, steps, written
    state : (3,) int64, gaps on the stack, steps written, starts examined
    patience : int
    """
    r = v.size
    require(c_high.size >= r + 1 and c_low.size >= r + 1, "find_steps: masses")
    require(known_width.size > 0, "find_steps: known")
    require(known_high.size >= known_width.size and known_low.size >= known_width.size, "find_steps: known")
    depth = min(widths.shape[0], masses.shape[0], lists.shape[0])
    require(widths.shape[1] >= 2 and masses.shape[1] >= 4 and lists.shape[1] >= 3, "find_steps: stack")
    require(places.shape[1] >= 4, "find_steps: places")
    room = min(out_width.size, out_high.size, out_low.size)
    require(state.size >= 3 and 0 <= state[0] <= depth and 0 <= state[1] <= room, "find_steps: state")
    for gap in range(state[0]):
        require(0 <= lists[gap, 0] <= lists[gap, 1] <= places.shape[0], "find_steps: lists")
        left = np.int64(0)
        for at in range(lists[gap, 0], lists[gap, 1]):
            a, low, high = places[at, 0], places[at, 1], places[at, 2]
            require(0 <= a <= low <= high < r, "find_steps: places")
            left += high - low
        require(left == lists[gap, 2], "find_steps: lists")
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
        if not heavier(top_high, top_low, low_high, low_low):
            state[0] -= 1
            continue
        if _width_above(known_high, known_low, known_width, low_high, low_low) > upper:
            at = state[1]
            out_width[at], out_high[at], out_low[at] = BELOW, top_high, top_low
            state[0] -= 1
            state[1] += 1
            continue
        looked += stop - start
        state[2] += stop - start
        if lists[top, 2] <= FEW:
            state[1] = _look_at_all(
                v, c_high, c_low, places, start, stop, low_high, low_low, out_width, out_high, out_low,
                state[1],
            )  # fmt: skip
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
        mid_high, mid_low = _split(
            v, c_high, c_low, places, start, stop, low_high, low_low, middle, lists[top], lists[top + 1]
        )
        widths[top, 0] = middle
        masses[top, 0], masses[top, 1] = mid_high, mid_low
        widths[top + 1, 0], widths[top + 1, 1] = lower, middle
        masses[top + 1, 0], masses[top + 1, 1] = low_high, low_low
        masses[top + 1, 2], masses[top + 1, 3] = mid_high, mid_low
        state[0] += 1
    return DONE
