"""Windows of some values of a column, in proofs that it is dominated: gathered, sorted and examined.

See `geodim.engine.kernels.dominated`, which chooses the values; ``bar`` and K are explained there.
"""

from __future__ import annotations

import numpy as np

from geodim.compiled import njit
from geodim.engine.kernels.lanes import (
    ROW,
    element,
    load_row,
    prefetch,
    put,
    reaching,
    splat_row,
    trailing_zeros,
)
from geodim.engine.kernels.pyramid import BASE
from geodim.engine.kernels.sorting import AHEAD, LINE
from geodim.engine.kernels.tiles import evaluate_tile

LANES = 64  # independent minima, so that loops are vectorised without reassociation
CHUNK = 1024
FEW_INSIDE = 8  # values are few if less than one in so many
STARTS = 256  # of windows, between checks of whether they suffice
AT_ONCE = 4  # one pass for all of the smallest sizes takes a quarter of the time of one pass for each
SHORT_RUN = 32  # up to this many values of one cell are sorted by insertion


@njit(nogil=True, cache=True)
def first_at_least(bar, stop, width):
    """Return the first d with bar[d] >= width, or ``stop`` if there is none below; searched downwards."""
    high, step = stop, 1
    while high - step >= 0 and bar[high - step] >= width:
        high -= step
        step *= 2
    low = max(high - step + 1, 0)
    while low < high:
        middle = (low + high) >> 1
        if bar[middle] >= width:
            high = middle
        else:
            low = middle + 1
    return low


@njit(nogil=True, cache=True)
def first_above(bar, stop, width):
    """Return the first d with bar[d] > width, or ``stop`` if there is none below."""
    return first_at_least(bar, stop, np.nextafter(width, np.inf))


@njit(nogil=True, cache=True)
def gather_between(column, low, high, held, gathered):
    """Copy the values in [low, high), at most ``held`` of them; return how many there are.

    Which values these are is hard to predict.  If they are few, rows of values are compared at once, and
    those that lie inside are picked by their bits; otherwise each value is written, and the next one
    overwrites it unless it lies inside.
    """
    inside = np.empty(CHUNK, np.uint8)
    count = np.int64(0)
    i = 0
    if held < column.size // FEW_INSIDE:
        least, limit = splat_row(not_below(low, column)), splat_row(not_below(high, column))
        while i + ROW <= column.size and count + ROW <= gathered.size:
            for at in range(i + AHEAD, i + AHEAD + ROW, LINE):
                prefetch(column, min(at, column.size - 1))
            values = load_row(column, i)
            bits = reaching(values, least) & ~reaching(values, limit)
            while bits != 0:
                put(gathered, count, np.float64(element(column, i + trailing_zeros(bits))))
                count += 1
                bits &= bits - 1
            i += ROW
    while i + CHUNK <= column.size and count + CHUNK <= gathered.size:  # room for them, whatever was counted
        some = column[i : i + CHUNK]
        for at in range(CHUNK):  # vectorised
            x = np.float64(some[at])
            inside[at] = np.uint8((low <= x) & (x < high))
        for at in range(CHUNK):
            put(gathered, count, np.float64(element(column, i + at)))
            count += np.int64(element(inside, at))
        i += CHUNK
    for at in range(i, column.size):
        x = np.float64(column[at])
        if count < held:
            gathered[count] = x
        count += 1 if low <= x < high else 0
    return count


@njit(nogil=True, cache=True)
def not_below(limit, column):
    """Return the least number of the column's type that is not below ``limit``, finite and within its range.

    No value of the column lies between the two, so that comparisons with either are the same.
    """
    kind = column.dtype.type
    near = kind(limit)
    return near if near >= limit else np.nextafter(near, kind(np.inf))


@njit(nogil=True, cache=True)
def put_in_order(gathered, held, low, width, starts, ordered):
    """Sort values of [low, low + width): deal them out to two cells per value, then sort within cells.

    Positions come from one multiplication, which keeps the order: despite rounding, a cell is one run.
    """
    cells = 2 * held
    per_cell = cells / width
    starts[: cells + 2] = 0
    for i in range(held):
        at = min(max(np.int64((element(gathered, i) - low) * per_cell), 0), cells - 1) + 2
        put(starts, at, element(starts, at) + np.int32(1))
    longest = np.int32(0)
    for c in range(cells):
        count = element(starts, c + 1)
        longest = max(longest, count)
        put(starts, c + 1, count + element(starts, c))
    longest = max(longest, element(starts, cells + 1))
    # Now starts[c + 1] is where cell c begins, and after the next loop where it stops.
    for i in range(held):
        x = element(gathered, i)
        at = min(max(np.int64((x - low) * per_cell), 0), cells - 1) + 1
        place = element(starts, at)
        put(ordered, np.int64(place), x)
        put(starts, at, place + np.int32(1))
    if longest <= SHORT_RUN:  # nearly every value is in its place, so that cells need not be told apart
        insert_in_order(ordered, np.int64(0), np.int64(held))
        return
    for c in range(cells):
        begin, stop = np.int64(starts[c]), np.int64(starts[c + 1])
        if stop - begin > SHORT_RUN:
            ordered[begin:stop].sort()
        else:
            insert_in_order(ordered, begin, stop)


@njit(nogil=True, cache=True, counts_references=False)
def insert_in_order(ordered, begin, stop):
    """Sort ``ordered[begin:stop]`` by insertion."""
    for i in range(begin + 1, stop):
        x = element(ordered, i)
        at = i - 1
        while at >= begin and element(ordered, at) > x:
            put(ordered, at + 1, element(ordered, at))
            at -= 1
        put(ordered, at + 1, x)


@njit(nogil=True, cache=True)
def narrowest_of(ordered, held, points, best):
    """Return the narrowest width of ``points`` ascending values; ``best`` is (LANES,) scratch."""
    best[:] = np.inf
    count = held - points + 1
    low, high = ordered[:count], ordered[points - 1 : held]
    whole = count // LANES * LANES
    for first in range(0, whole, LANES):
        some, others = low[first : first + LANES], high[first : first + LANES]
        for i in range(LANES):
            width = others[i] - some[i]
            best[i] = min(best[i], width)
    narrowest = np.inf
    for i in range(LANES):
        narrowest = min(narrowest, best[i])
    for i in range(whole, count):
        narrowest = min(narrowest, high[i] - low[i])
    return narrowest


@njit(nogil=True, cache=True)
def smallest_of(ordered, held, bar, left, best):
    """Write to ``best`` the narrowest windows of all sizes d < ``left``, or any that lie below the bar.

    ``left`` is at most BASE.  Returns the number of starts examined.
    """
    best[:BASE] = np.inf
    start = np.int64(0)
    undecided = True
    while start < held and undecided:
        stop = min(start + STARTS, np.int64(held))
        evaluate_tile(ordered, start, stop, np.int64(0), best[:BASE])
        undecided = False
        for d in range(1, left):
            undecided = undecided or (best[d] >= bar[d] and best[d] > 0.0)
        start = stop
    return start


@njit(nogil=True, cache=True)
def settle_by_values(ordered, held, bar, by, index, left, budget):
    """Settle sizes from ``left`` down, by windows of some of the values; return K and the windows examined.

    Windows of some of the points are windows of the column.  A tie with the bar settles a size as well if a
    lower column reached it: wherever it is still a tie in the end, that column attains Phi(k) too.
    ``ordered`` is padded with infinity.
    """
    looks = 0
    best = np.empty(LANES)
    smallest = False  # whether ``best`` holds the narrowest windows of all sizes d < BASE
    while 2 <= left <= held and looks < budget:
        if smallest:
            width = best[left - 1]
        elif left <= BASE:  # one pass for all of them
            smallest = True
            looks += smallest_of(ordered, held, bar, left, best) * BASE // AT_ONCE
            width = best[left - 1]
        else:
            width = narrowest_of(ordered, held, left, best)
            looks += held
        if width == 0.0:  # a width of 0 attains nothing
            return 0, looks
        if width < bar[left - 1]:
            left = first_above(bar, left, width)
        elif width == bar[left - 1] and by.size > 0:
            tied = first_at_least(bar, left, width)
            if not 0 <= by[tied] < index:
                return left, looks
            left = tied
        else:
            return left, looks
    return left, looks
