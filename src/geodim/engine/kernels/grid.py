"""Jittered grids: columns that stay close to one straight line.

Ranks, timestamps and quantile-transformed features are such columns.  There every block of starts looks like
every other, so a recursion over blocks only multiplies the tests.  What still tells windows apart is the
residual u_i = l_i - c i from the line.  Windows between the few most extreme residuals bound phi from above
for every size; then one vectorised pass compares, for all base blocks at once,

    min(u over the right ends) - max(u over the block's starts)

with that bound, and only the single starts whose own residual could matter are evaluated.
"""

from __future__ import annotations

import numpy as np

from geodim.compiled import njit
from geodim.engine.kernels._bounds import require
from geodim.engine.kernels.counters import LEAVES, N_COUNTERS, REJECTED, TESTS, WINDOWS, note_range
from geodim.engine.kernels.pyramid import BASE, BASE_SHIFT
from geodim.engine.kernels.tiles import PADDING, evaluate_row, evaluate_tile

EXTREMES = 512  # most extreme starts, and right ends, that give the upper bound
GROUP = 8  # starts that are examined together once their block survives
FEW = 4  # up to this many promising starts in a group are evaluated one by one
CHUNK = 16  # blocks compared at once
CURVED = 1024.0  # spacings; a column that bends by more is no grid
LOOK_AGAIN = 16  # survivors evaluated between two looks at the bound


@njit(nogil=True, cache=True)
def grid_trend(l, n, grain):
    """The least-squares slope over every 32nd value, and the spread around it in units of the slope.

    The spread is infinite if three values tell that it exceeds any that matters: around no line
    is it less than their bend, and the least-squares slope of ascending values is at most 3/2 of
    the range over the length.

    Parameters
    ----------
    l : (n or more,) float64, ascending
    n : int, points, at least 1
    grain : float64, 0 or the lattice of the slope
    """
    require(0 < n <= l.size, "grid_trend: l")
    count = (n + BASE - 1) >> BASE_SHIFT
    quarter = (count - 1) >> 2
    if quarter > 0:
        middle = quarter << BASE_SHIFT
        bend = abs(l[middle] - 0.5 * (l[0] + l[2 * middle]))
        steepest = 2.0 * (l[n - 1] - l[0]) / ((count - 1) << BASE_SHIFT)
        if bend > CURVED * steepest:
            return 0.0, np.inf
    mean = 0.0
    for block in range(count):
        mean += l[block << BASE_SHIFT] / count
    products = 0.0
    squares = 0.0
    for block in range(count):
        x = (block - 0.5 * (count - 1)) * BASE
        products += x * (l[block << BASE_SHIFT] - mean)
        squares += x * x
    c = products / max(squares, 1.0)
    if grain > 0.0:
        c = np.floor(c / grain) * grain
    if c <= 0.0:
        return 0.0, np.inf
    low = np.inf
    high = -np.inf
    for block in range(count):
        residual = l[block << BASE_SHIFT] - c * (block << BASE_SHIFT)
        high = max(high, residual)
        low = min(low, residual)
    return c, (high - low) / c


@njit(nogil=True, cache=True)
def snap_trend(n, c, quantum):
    """Round the slope to the lattice of the values, if that moves the line by less than one spacing.

    On quantised data (a float32 grid) ties are then exact ties, and ties are discarded.

    Parameters
    ----------
    n : int, points
    c, quantum : float64, in units of the column (c: per index)
    """
    if quantum <= 0.0:
        return c
    snapped = np.rint(c / quantum) * quantum
    return snapped if abs(snapped - c) * n < c else c


@njit(nogil=True, cache=True, fastmath={"nnan", "nsz"})
def block_extremes(u, n, size, reach, tops, floors):
    """The largest residual of every block of ``size``, and the least with its right ends.

    The least one is taken over the block and the ``reach`` blocks after it.

    ``u`` is (n,) float64; ``tops`` (blocks,) and ``floors`` (blocks + 1 or more,) float64 are written.
    """
    count = (n + size - 1) // size
    for block in range(count):
        first = block * size
        high = u[first]
        low = u[first]
        for i in range(first, min(first + size, n)):
            high = max(high, u[i])
            low = min(low, u[i])
        tops[block] = high
        floors[block] = low
    floors[count:] = np.inf
    for block in range(count):
        for ahead in range(1, reach + 1):
            floors[block] = min(floors[block], floors[block + ahead])


@njit(nogil=True, cache=True)
def require_residuals(n, u, tops, floors, fine_tops, fine_floors):
    """Raise unless there is room for the residuals and for the extremes.

    Of extremes some past the end are examined, too.

    All are float64, shaped as for `residuals`.
    """
    blocks, groups = (n + BASE - 1) >> BASE_SHIFT, (n + GROUP - 1) // GROUP
    require(u.size >= n, "the grid: u")
    require(tops.size >= blocks, "the grid: tops")
    require(floors.size >= blocks + 1, "the grid: floors")
    require(fine_tops.size >= groups, "the grid: fine_tops")
    require(fine_floors.size >= groups + BASE // GROUP, "the grid: fine_floors")


@njit(nogil=True, cache=True)
def residuals(l, n, c, u, tops, floors, fine_tops, fine_floors):
    """Residuals u, and the extremes of base blocks and of groups of eight starts.

    The extremes of a group include those of all its right ends.

    Parameters
    ----------
    l : (n or more,) float64, ascending
    n : int, points
    c : float64, slope in units of the column per index
    u : (n,) float64, in units of the column, written
    tops, floors : (blocks,) and (blocks + 1,) float64, blocks of BASE, written
    fine_tops, fine_floors : (groups,) and (groups + BASE / GROUP,) float64, groups of GROUP, written
    """
    require(l.size >= n, "residuals: l")
    require_residuals(n, u, tops, floors, fine_tops, fine_floors)
    for i in range(n):
        u[i] = l[i] - c * i
    block_extremes(u, n, BASE, 1, tops, floors)
    block_extremes(u, n, GROUP, BASE // GROUP, fine_tops, fine_floors)


@njit(nogil=True, cache=True)
def extremes(u, n, sign, picked):
    """Positions of the largest values of ``sign * u`` (at most one per base block); returns their number.

    ``u`` is (n,) float64, ``picked`` (m,) integers, positions, written.
    """
    count = (n + BASE - 1) >> BASE_SHIFT
    peaks = np.empty(count)
    where = np.empty(count, np.int64)
    for block in range(count):
        best = block << BASE_SHIFT
        for i in range(best, min(best + BASE, n)):
            if sign * u[i] > sign * u[best]:
                best = i
        peaks[block] = sign * u[best]
        where[block] = best
    wanted = min(picked.size, count)
    threshold = np.partition(peaks.copy(), count - wanted)[count - wanted]
    ties = 0
    for block in range(count):
        ties += 1 if peaks[block] >= threshold else 0
    found = 0
    seen = 0
    for block in range(count):
        if peaks[block] >= threshold:  # spread over the column where more qualify than are wanted
            if (seen * wanted) // ties >= found and found < wanted:
                picked[found] = where[block]
                found += 1
            seen += 1
    return found


@njit(nogil=True, cache=True)
def seed_with_extremes(l, n, d0, starts, n_starts, ends, n_ends, best):
    """Upper bounds for the sizes d0 .. d0 + BASE - 1: windows at the extreme starts and the extreme ends.

    ``starts`` and ``ends`` are positions, ``best`` (BASE,) float64 widths, written.
    """
    best[:] = np.inf
    for t in range(n_starts):
        if starts[t] + d0 < n:
            evaluate_row(l, starts[t], d0, best)
    for t in range(n_ends):
        right = ends[t]
        value = l[right]
        for e in range(min(BASE, right - d0 + 1)):
            width = value - l[right - d0 - e]
            best[e] = min(best[e], width)


@njit(nogil=True, cache=True)
def survivors(tops, ends, count, v, found):
    """Blocks whose lower bound ``ends - tops`` is at most v; returns their number.

    ``tops`` and ``ends`` are (count,) float64, ``found`` (count,) integers, block numbers, written.
    """
    kept = 0
    whole = count // CHUNK * CHUNK
    for first in range(0, whole, CHUNK):
        hits = 0
        for j in range(first, first + CHUNK):  # vectorised; the loop below runs only where something survives
            hits += 1 if ends[j] - tops[j] <= v else 0
        if hits > 0:
            for j in range(first, first + CHUNK):
                found[kept] = j
                kept += 1 if ends[j] - tops[j] <= v else 0
    for j in range(whole, count):
        found[kept] = j
        kept += 1 if ends[j] - tops[j] <= v else 0
    return kept


@njit(nogil=True, cache=True)
def highest_line(best, d0, first, stop, c):
    """The least v such that no size d of [first, stop) needs more than v + c d.

    ``best`` is (BASE,) float64 widths, ``c`` in units of the column per index.
    """
    v = -np.inf
    for d in range(first, stop):
        v = max(v, best[d - d0] - c * d)
    return v


@njit(nogil=True, cache=True)
def evaluate_survivors(l, n, u, d0, first_d, stop_d, c, bar, fine_tops, fine_floors, found, kept, best):
    """Evaluate the starts of the surviving blocks that can still win; returns the number of windows.

    ``found`` holds ``kept`` block numbers; ``best`` is (BASE,) float64 widths, lowered in place.
    """
    windows = 0
    groups = (n + GROUP - 1) // GROUP
    v = np.inf
    for t in range(kept):
        if t % LOOK_AGAIN == 0:  # the first survivors lower the bound for the others
            v = highest_line(best, d0, first_d, stop_d, c) - bar
        group = np.int64(found[t]) * (BASE // GROUP)
        for m in range(group, min(group + BASE // GROUP, groups)):
            right = m + d0 // GROUP
            if right >= groups or fine_floors[right] - fine_tops[m] > v:
                continue
            needed = fine_floors[right] - v
            first = m * GROUP
            stop = min(first + GROUP, n)
            promising = 0
            for i in range(first, stop):
                promising += 1 if u[i] >= needed else 0
            if promising > FEW:
                evaluate_tile(l, first, stop, d0, best)
            else:
                for i in range(first, stop):
                    if u[i] >= needed and i + d0 < n:
                        evaluate_row(l, i, d0, best)
            windows += promising * BASE
    return windows


@njit(nogil=True, cache=True)
def solve_grid(
    l, n, u, tops, floors, fine_tops, fine_floors, c, bar, d_first, d_stop, known, phi, ranges, work
):
    """Solve the sizes [d_first, d_stop), d_first a multiple of BASE (or 1).

    The results are as in `gaps.solve_gaps`.

    Parameters
    ----------
    l : (n + PADDING,) float64, ascending, then infinite
    n : int, points
    u, tops, floors, fine_tops, fine_floors
        As `residuals` fills them.
    c, bar : float64, in units of the column (c: per index)
    d_first, d_stop : int, half-open range of sizes d
    known : (n,) float64 over d, never falling
    phi : (n,) float64 over d, written on ``ranges``
    ranges : (m, 2) int64, half-open ranges of d, written
    work : (N_COUNTERS,) int64, added to
    """
    require(l.size >= n + PADDING, "solve_grid: l")
    require_residuals(n, u, tops, floors, fine_tops, fine_floors)
    require(d_first > 0 and d_stop <= n, "solve_grid: the sizes")
    require(known.size >= n, "solve_grid: known")
    require(phi.size >= n, "solve_grid: phi")
    require(work.size >= N_COUNTERS, "solve_grid: work")
    starts = np.empty(EXTREMES, np.int64)
    ends = np.empty(EXTREMES, np.int64)
    n_starts = extremes(u, n, 1.0, starts)
    n_ends = extremes(u, n, -1.0, ends)
    count = (n + BASE - 1) >> BASE_SHIFT
    found = np.empty(count + 1, np.int32)
    best = np.empty(BASE)
    n_ranges = np.int64(0)
    for g in range(d_first >> BASE_SHIFT, ((d_stop - 1) >> BASE_SHIFT) + 1):
        d0 = g << BASE_SHIFT
        first = max(d0, d_first)
        stop = min(d0 + BASE, d_stop)
        seed_with_extremes(l, n, d0, starts, n_starts, ends, n_ends, best)
        work[WINDOWS] += (n_starts + n_ends) * BASE
        if best[stop - 1 - d0] < known[first]:  # phi is monotone: the last size bounds them all
            work[REJECTED] += 1
            continue
        v = highest_line(best, d0, first, stop, c) - bar
        kept = survivors(tops, floors[g:], count - g, v, found)
        work[TESTS] += count - g
        work[LEAVES] += 1
        work[WINDOWS] += evaluate_survivors(
            l, n, u, d0, first, stop, c, bar, fine_tops, fine_floors, found, kept, best
        )
        for d in range(first, stop):
            phi[d] = best[d - d0]
        n_ranges = note_range(ranges, n_ranges, first, stop)
    return n_ranges
