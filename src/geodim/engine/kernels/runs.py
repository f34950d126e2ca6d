"""Columns of few distinct values: counted instead of sorted, and solved by pairs of values.

Windows may be assumed to begin with the first and end with the last of equal values.  So with values
v_1 < ... < v_r, whose points are counted, each pair a <= b is one window: it holds all points from v_a to
v_b.  phi_k is the least v_b - v_a over the pairs that hold at least k points.
"""

from __future__ import annotations

import numpy as np

from geodim.compiled import njit
from geodim.engine.kernels._bounds import require
from geodim.engine.kernels.counters import note_range


@njit(nogil=True, cache=True)
def count_value(column, value):
    """Return how often ``value`` occurs.

    Parameters
    ----------
    column : (n,) floats, in any order
    value : of the same type
    """
    total = 0
    for i in range(column.size):
        total += 1 if column[i] == value else 0
    return total


@njit(nogil=True, cache=True)
def joint_counts(keys, tables, widths, counts):
    """Count the combinations of digits that occur.

    ``tables`` maps the digits that occur at each place to 0, 1, ...; ``widths`` says how many there are.

    Parameters
    ----------
    keys : (n,) uint32 or uint64, digits of 11 bits each
    tables : (digits, 2048) int64
    widths : (digits,) int64
    counts : (product of the widths or more,) int64, points, written
    """
    require(tables.shape[0] >= widths.size and tables.shape[1] >= 2048, "joint_counts: tables")
    combinations = np.int64(1)
    for digit in range(widths.size):
        combinations *= widths[digit]
        require(tables[digit].min() >= 0 and tables[digit].max() < widths[digit], "joint_counts: widths")
    require(counts.size >= combinations, "joint_counts: counts")
    counts[:] = 0
    eleven = keys.dtype.type(11)
    mask = keys.dtype.type(2047)
    for i in range(keys.size):
        key = keys[i]
        at = np.int64(0)
        for digit in range(widths.size):
            at = at * widths[digit] + tables[digit, key & mask]
            key = key >> eleven
        counts[at] += 1


@njit(nogil=True, cache=True)
def require_counted(values, counts, n, phi, known):
    """Raise unless the counts add up to n points, and ``phi`` and ``known`` hold n sizes.

    Sums of counts are used as positions.  Shapes and types are those of `solve_pairs`.
    """
    require(values.size > 0 and counts.size == values.size, "solve_pairs: counts")
    total = np.int64(0)
    for a in range(counts.size):
        require(counts[a] >= 0, "solve_pairs: a negative count")
        total += counts[a]
    require(total == n, "solve_pairs: counts of another number of points")
    require(phi.size >= n, "solve_pairs: phi")
    require(known.size >= n, "solve_pairs: known")


@njit(nogil=True, cache=True)
def solve_pairs(values, counts, n, best, phi, known, ranges):
    """Write phi of the column, from its distinct values, where it reaches ``known``.

    Returns the number of ranges written.  ``best[p]`` becomes the narrowest pair that holds exactly p points;
    the running minimum from p = n downwards is phi.

    Parameters
    ----------
    values : (distinct,) float64, ascending
    counts : (distinct,) int64, points at each value, n in all
    n : int, points
    best : (n + 1,) float64, scratch
    phi : (n,) float64 over d, written on ``ranges``
    known : (n,) float64 over d, never falling
    ranges : (m, 2) int64, half-open ranges of d, written
    """
    require_counted(values, counts, n, phi, known)
    require(best.size >= n + 1, "solve_pairs: best")
    best[:] = np.inf
    for a in range(values.size):
        points = 0
        for b in range(a, values.size):
            points += counts[b]
            width = values[b] - values[a]
            best[points] = min(best[points], width)
    narrowest = np.inf
    n_ranges = np.int64(0)
    stop = n  # sizes [d, stop) share a width
    for points in range(n, 0, -1):
        if best[points] < narrowest:
            if stop > points and narrowest >= known[points]:
                phi[points:stop] = narrowest
                n_ranges = note_range(ranges, n_ranges, points, stop)
            stop = min(stop, points)
            narrowest = best[points]
            if narrowest <= 0.0:  # and 0 for all smaller sizes
                break
    return n_ranges


@njit(nogil=True, cache=True)
def solve_few_pairs(values, counts, n, phi, known, ranges):
    """Do the same as `solve_pairs` for a handful of values, without scratch memory.

    Each step down is searched for among all pairs.

    Parameters
    ----------
    values, counts, n, phi, known, ranges
        As for `solve_pairs`.
    """
    require_counted(values, counts, n, phi, known)
    n_ranges = np.int64(0)
    narrowest = values[values.size - 1] - values[0]
    stop = np.int64(n)
    while narrowest > 0.0:
        holds = np.int64(0)  # most points in a pair narrower than the last step
        for a in range(values.size):
            points = np.int64(0)
            for b in range(a, values.size):
                points += counts[b]
                if values[b] - values[a] < narrowest and points > holds:
                    holds = points
        if stop > holds and narrowest >= known[holds]:
            phi[holds:stop] = narrowest
            n_ranges = note_range(ranges, n_ranges, holds, stop)
        stop = holds
        best = np.inf
        for a in range(values.size):
            points = np.int64(0)
            for b in range(a, values.size):
                points += counts[b]
                if points >= holds and values[b] - values[a] < best:
                    best = values[b] - values[a]
        narrowest = best
    return n_ranges
