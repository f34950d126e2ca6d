"""Proofs that columns attain Phi nowhere: counts in cells first, then windows of the densest values.

A column is compared with ``bar``, which is at most Phi for every d = k - 1 and never falls.  All kernels
below lower one number, K: for every k > K the column is known to lie below the bar.  Since phi never falls in
k either, one window of K points that is narrower than bar[d] settles all k from d + 1 to K at once, and K = d
is next.  A column is dominated once K is less than 2.
"""

from __future__ import annotations

import numpy as np

from geodim.compiled import njit
from geodim.engine.kernels._bounds import require
from geodim.engine.kernels.dense_values import (
    CHUNK,
    LANES,
    first_above,
    first_at_least,
    gather_between,
    put_in_order,
    settle_by_values,
)
from geodim.engine.kernels.even_parts import cells_of, even_in_counts, lowered_bar
from geodim.engine.kernels.lanes import element, prefetch, put
from geodim.engine.kernels.sorting import AHEAD, LINE
from geodim.engine.kernels.tiles import PADDING

NEARBY = 32  # this many starts on either side of the last window that held enough points are tried first
FINEST = 8  # windows of fewer cells are too coarse, and values are examined instead
HOPELESS = 64  # cells; where windows of so many hold too few points, the column probably leads
MOST_ROUNDS = 512
LOOKS = 64  # windows of values examined per point of the column before giving up
DENSE = 8  # at first, only the densest 1 / DENSE of the values are examined, and
FEW = 1 << 14  # no more than this unless cells leave larger windows open;
MORE = 3  # next, this many times as many
ATTEMPTS = 5  # at choosing values of a column that is too long to be sorted, see `_some_values`
SMALL, TINY = 1024, 64  # points; ties may settle windows of up to this many, and few sizes are left below
EVEN = 60.0  # points, see `_is_line`
SMALLEST_CELL, LARGEST_CELL = 2.0**-900, 2.0**900
SMALLEST_NARROW, MOST_NARROW = 2.0**-100, 1 << 22  # cells, and their numbers, with which float32 is exact


@njit(nogil=True, cache=True)
def running_best(phi, owner, bar, by):
    """Write the largest phi up to every d, and the lowest column that reached it.

    Phi never falls, so what was reached at a smaller d is reached here as well.

    Parameters
    ----------
    phi : (n,) float64 over d
    owner : (n,) int32, columns
    bar, by : (n,) float64 and int32, written
    """
    n = phi.size
    require(owner.size >= n, "running_best: owner")
    require(bar.size >= n and by.size >= n, "running_best: bar, by")
    best, whose = 0.0, np.int32(-1)
    for d in range(n):
        if phi[d] > best or (phi[d] == best and 0 <= owner[d] < whose):
            best, whose = phi[d], owner[d]
        bar[d], by[d] = best, whose


@njit(nogil=True, cache=True)
def dominated_columns(
    values, columns, bar, by, test, coarsest, roundings, n_cells, before, gathered, ordered, starts, known,
    ends, rejected,
):  # fmt: skip
    """Find the columns that at every d lie strictly below the bar, or tie where a lower column attains it.

    Parameters
    ----------
    values : (c, n) float32 or float64
    columns : (c,) int64, their numbers
    bar : (n,) float64 over d, never falling, at most Phi
    by : (n,) int32, a column that attains bar[d] at d or below; of size 0 if that is unknown
    test : bool, False to find only the extremes
    coarsest, roundings : float, by which shares of its range and of its largest value the widths of a column
        may exceed phi if it is even anywhere; 0 if widths are exact
    n_cells : int, a power of two: at most this many cells, plus two, are counted
    before : (n_cells + 3,) int32, scratch
    gathered, ordered : (m,) and (m + PADDING,) float64, scratch: m values of a column may be sorted
    starts : (2 m + 3,) int32, scratch
    known : bool, whether ``ends`` holds what an earlier pass found: no column with other extremes is rejected
    ends : (c, 2) float64, the extremes of every column, written unless they are known
    rejected : (c,) bool, written: True only if domination is proved
    """
    count, n = values.shape
    require(n > 0 and columns.size >= count, "dominated_columns: columns")
    require(bar.size >= n, "dominated_columns: bar")
    require(by.size == 0 or by.size >= n, "dominated_columns: by")
    require(n_cells > 0 and before.size >= n_cells + 3, "dominated_columns: before")
    require(ordered.size == gathered.size + PADDING, "dominated_columns: ordered")
    require(starts.size >= 2 * gathered.size + 3, "dominated_columns: starts")
    require(ends.shape[0] >= count and ends.shape[1] >= 2, "dominated_columns: ends")
    require(rejected.size >= count, "dominated_columns: rejected")
    for c in range(count):
        column = values[c]
        if not known:
            ends[c, 0], ends[c, 1] = _extremes(column)
        rejected[c] = test and _dominated(
            column, ends[c, 0], ends[c, 1], columns[c], bar, by, coarsest, roundings, n_cells, before,
            gathered, ordered, starts,
        )  # fmt: skip


@njit(nogil=True, cache=True)
def _extremes(column):
    """Return the least and greatest value of a column, in float64."""
    low, high = np.full(LANES, np.float64(column[0])), np.full(LANES, np.float64(column[0]))
    whole = column.size // LANES * LANES
    for first in range(0, whole, LANES):
        some = column[first : first + LANES]
        for i in range(LANES):
            x = np.float64(some[i])
            low[i] = min(low[i], x)
            high[i] = max(high[i], x)
    least, greatest = low.min(), high.max()
    for i in range(whole, column.size):
        least, greatest = min(least, np.float64(column[i])), max(greatest, np.float64(column[i]))
    return least, greatest


@njit(nogil=True, cache=True)
def _dominated(
    column, least, greatest, index, bar, by, coarsest, roundings, n_cells, before, gathered, ordered, starts
):  # fmt: skip
    """Try the whole proof for one column, with the arrays of `dominated_columns`; return whether it holds.

    It does not if the extremes are not those of the column.
    """
    n = column.size
    span = greatest - least
    if not 0.0 < span < np.inf:  # constant columns attain nothing; the solver judges infinite ranges
        return span == 0.0 and _extremes(column) == (least, greatest)
    if span > bar[n - 1]:
        return False
    cell, first, cells = cells_of(least, greatest, n_cells)
    if not SMALLEST_CELL < cell < LARGEST_CELL:
        return False
    if cells > n_cells + 2 or not _counted(column, cell, first, least, greatest, before[: cells + 1]):
        return False
    if roundings > 0.0 and (_is_line(before, cells) or even_in_counts(before, cells, n)):
        small = roundings * max(abs(least), abs(greatest))
        bar, by = lowered_bar(bar[:n], small, max(small, coarsest * span)), by[:0]
        if span > bar[n - 1]:
            return False
    left, start, width = _settle_by_cells(before, cells, cell, span, bar, n)
    if left >= 2 and bar[left - 1] > HOPELESS * cell:
        return False
    looks, attempt = 0, 0
    wanted = max(min(n // DENSE, FEW), 4 * left)
    while left >= 2:
        if gathered.size >= n:
            wanted = n if 2 * wanted > n else wanted
            start, width = begin, many = _widen(before, cells, start, width, wanted)
        elif attempt < ATTEMPTS:
            begin, many = _some_values(
                before, cells, cell, first, start, width, attempt, left, wanted, gathered.size,
                column.itemsize == 4,
            )  # fmt: skip
            attempt += 1
        else:
            return False
        held = before[begin + many] - before[begin]
        if not left <= held <= gathered.size:  # another attempt follows, unless the column is short
            if gathered.size >= n:
                return False
            continue
        low, high = (first + begin) * cell, (first + begin + many) * cell
        if gather_between(column, low, high, held, gathered) != held:
            return False
        put_in_order(gathered, held, low, high - low, starts, ordered)
        ordered[held : held + PADDING] = np.inf
        left, more = settle_by_values(ordered, held, bar, by, index, left, LOOKS * n - looks)
        looks += more
        if left >= 2 and (held == n or looks >= LOOKS * n):
            return False
        wanted = MORE * held
    return True


@njit(nogil=True, cache=True)
def _some_values(before, cells, cell, first, start, width, attempt, left, wanted, room, narrow):
    """Return start and width of cells whose values are examined next, if a column is too long to be sorted.

    The width is 0 if this attempt is left out.  Ties settle the smallest windows, of which float32 columns
    mostly hold enough among few values; otherwise the densest values may, and then more of either.
    """
    if attempt == 1 and (left > TINY or not narrow):
        return _widen(before, cells, start, width, wanted)
    if attempt == 0 and narrow and left <= SMALL:
        return _where_ties_are(before, cells, cell, first, room // 8)
    if attempt == 2 and left <= TINY:
        return _where_ties_are(before, cells, cell, first, room // 2)
    if attempt == 3 and left <= TINY:
        return _widen(before, cells, start, width, room - room // 4)
    if attempt == 4 and left <= TINY and narrow:
        return _where_ties_are(before, cells, cell, first, room)
    return start, 0


@njit(nogil=True, cache=True)
def _is_line(before, cells):
    """Return whether counts stay within 24 + 32 points of a line, as those of hard columns always do."""
    rise = (before[cells - 1] - before[1]) / max(cells - 2, 1)
    c = 1
    while c < cells and abs(before[c] - before[1] - rise * (c - 1)) <= EVEN:
        c += 1
    return 2 < cells == c


@njit(nogil=True, cache=True)
def _where_ties_are(before, cells, cell, first, most):
    """Return start and width of cells that probably hold most ties, with at most ``most`` points.

    Floats lie furthest apart just above a power of two, or just below its negative.  The number of ties grows
    with the square of the number of points, and with that distance divided by the width.
    """
    best, start, width = 0.0, 0, 0
    for sign in (1.0, -1.0):
        edge = cell
        while edge < LARGEST_CELL and edge / cell < 2.0 * (abs(first) + cells):
            begin = int(min(max(sign * edge / cell - first, 0.0), float(cells)))
            step = 1 if sign > 0.0 else -1
            stop = begin
            # Add cells, in ever smaller steps, unless they hold too many points or reach the next power of 2.
            reach = max(int(edge / cell), 1)
            while reach > 0:
                further = min(max(stop + step * reach, 0), cells)
                held = abs(before[further] - before[begin])
                if held <= most and abs(further - begin) <= edge / cell:
                    stop = further
                reach >>= 1
            held = abs(before[stop] - before[begin])
            pairs = float(held) ** 2 * edge / max(abs(stop - begin), 1)
            if pairs > best:
                best, start, width = pairs, min(begin, stop), abs(stop - begin)
            edge *= 2.0
    return start, width


@njit(nogil=True, cache=True)
def _counted(column, cell, first, least, greatest, before):
    """Count the points before each cell floor(x / cell) - first; return False if the extremes are others.

    In the type of the column, which is quicker for float32, if that is exact: cells have small numbers, and
    no quotient underflows, or only to 0 from above.  Otherwise in float64.  ``before`` is (cells + 1,) int32.
    """
    kind = column.dtype.type
    if abs(first) + before.size < MOST_NARROW and cell > SMALLEST_NARROW and (cell <= 1.0 or least >= 0.0):
        return _count(column, kind(1.0 / cell), kind(first), kind(least), kind(greatest), before)
    return _count(column, 1.0 / cell, first, least, greatest, before)


@njit(nogil=True, cache=True)
def _count(column, per_cell, first, least, greatest, before):
    """Do what `_counted` says, in the type of the numbers given.

    Rounding down keeps the order, so that values between the extremes lie in cells between theirs.
    """
    before[:] = 0
    places = np.empty(CHUNK, np.int32)
    outside, lowest, highest = 0, 0, 0
    for begin in range(0, column.size, CHUNK):
        some = column[begin : min(begin + CHUNK, column.size)]
        for i in range(some.size):  # vectorised; a value outside gets a harmless position
            x = some[i]
            inside = x >= least and x <= greatest
            places[i] = np.int32(np.floor(x * per_cell) - first) if inside else np.int32(0)
            outside += 0 if inside else 1
            lowest += 1 if x == least else 0
            highest += 1 if x == greatest else 0
        for line in range(0, some.size, LINE):
            prefetch(column, min(begin + AHEAD + line, column.size - 1))
            for i in range(line, min(line + LINE, some.size)):
                at = np.int64(element(places, i)) + 1
                put(before, at, element(before, at) + np.int32(1))
    for c in range(before.size - 1):
        before[c + 1] += before[c]
    return outside == 0 and lowest > 0 and highest > 0


@njit(nogil=True, cache=True)
def _most_points(before, begin, stop, width):
    """Return the largest number of points in ``width`` cells that start in [begin, stop)."""
    low, high = before[begin:stop], before[begin + width : stop + width]
    most = np.int32(0)
    for i in range(low.size):
        held = np.int32(high[i] - low[i])
        most = max(most, held)
    return most


@njit(nogil=True, cache=True)
def _start_of(before, begin, stop, width, points):
    """Return the first start in [begin, stop) from which ``width`` cells hold at least ``points`` points."""
    while begin + 16 < stop and _most_points(before, begin, begin + 16, width) < points:
        begin += 16
    for start in range(begin, stop):
        if before[start + width] - before[start] >= points:
            return start
    return begin


@njit(nogil=True, cache=True)
def _window_near(before, cells, width, points, centre):
    """Return the start near ``centre`` where ``width`` cells hold most, or -1 if less than ``points``."""
    starts = cells - width + 1
    begin = max(min(centre - NEARBY, starts - 2 * NEARBY), 0)
    stop = min(begin + 2 * NEARBY, starts)
    most = _most_points(before, begin, stop, width)
    return _start_of(before, begin, stop, width, most) if most >= points else -1


@njit(nogil=True, cache=True)
def _settle_by_cells(before, cells, cell, span, bar, n):
    """Settle sizes from the largest down, as far as cells allow; return K and the last window used.

    Two values in w neighbouring cells are less than w cells apart.  So if w cells, together no wider than
    bar[d], hold K points, phi lies strictly below the bar from d + 1 to K.  Windows somewhat narrower than
    needed are tried first, since they settle more at once; how much narrower is adapted on the way.
    """
    left = first_above(bar, n, span)  # no window is wider than all points together
    start, width, shift = 0, cells, 3
    for _ in range(MOST_ROUNDS):
        if left < 2:
            break
        widest = min(int(bar[left - 1] / cell), cells)
        if widest < FINEST:
            break
        narrower = widest - (widest >> shift)
        found = -1
        if narrower < widest:
            found = _window_near(before, cells, narrower, left, start + ((width - narrower) >> 1))
            shift = min(shift + 1, 20) if found < 0 else max(shift - 1, 2)
        if found < 0:
            narrower = widest
            found = _window_near(before, cells, widest, left, start + ((width - widest) >> 1))
        if found < 0:
            stop = cells - widest + 1
            most = _most_points(before, 0, stop, widest)
            if most < left:
                break
            found = _start_of(before, 0, stop, widest, most)
        start, width = found, narrower
        left = first_at_least(bar, left, narrower * cell)
    return left, start, width


@njit(nogil=True, cache=True)
def _widen(before, cells, start, width, points):
    """Grow a window of cells on both sides until it holds ``points`` points; return its start and width."""
    stop = start + width
    while before[stop] - before[start] < points and stop - start < cells:
        more = max((stop - start) >> 3, 1)
        start, stop = max(start - more, 0), min(stop + more, cells)
    return start, stop - start
