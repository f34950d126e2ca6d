"""Columns of which only counts in steps are looked at, all windows of steps (F12 in docs/mathematics.md).

Whatever the column, its widths are then known to within two steps, in a time that depends on nothing but the
number of steps: a window of steps takes a hundredth of a nanosecond or two.
"""

from __future__ import annotations

import numpy as np

from geodim.compiled import njit
from geodim.engine.kernels._bounds import require
from geodim.engine.kernels.counters import N_COUNTERS, REJECTED, WINDOWS, note_range
from geodim.engine.kernels.lanes import ROW, greatest, larger, load_row, splat_row
from geodim.engine.kernels.pyramid import BASE, BLOCK
from geodim.engine.kernels.smallest import solve_smallest
from geodim.engine.kernels.tiles import PADDING

WIDTHS = 4  # that are looked at together, so that counts are loaded once for all of them
SPARE = ROW + WIDTHS  # counts beyond the last step


@njit(nogil=True, cache=True, counts_references=False)
def count_below(l, n, step, counts):
    """Write how many values are less than so many steps above the first one.

    Parameters
    ----------
    l : (n or more,) float64, ascending
    n : int, points
    step : float64, such that its multiples do not round
    counts : (steps + SPARE,) float32 or float64, written; beyond the last value they are n
    """
    require(0 < n <= l.size, "count_below: l")
    at = 0
    for number in range(counts.size):
        above = number * step
        while at < n and l[at] - l[0] < above:
            at += 1
        counts[number] = at


@njit(nogil=True, cache=True, counts_references=False)
def most_points(counts, steps, width):
    """Return the largest number of points in ``width`` neighbouring steps; arrays as in `solve_in_steps`."""
    most = splat_row(counts[0])
    for first in range(0, steps + 1 - width, ROW):  # beyond the last step there are no further points
        most = larger(load_row(counts, first + width) - load_row(counts, first), most)
    return greatest(most)


@njit(nogil=True, cache=True, counts_references=False)
def most_points_of_each(counts, steps, width, most):
    """Write the same for WIDTHS widths from ``width`` on; ``most`` is (WIDTHS,) of the type of the counts."""
    one = two = three = four = splat_row(counts[0])
    for first in range(0, steps + 1 - width, ROW):
        before = load_row(counts, first)
        one = larger(load_row(counts, first + width) - before, one)
        two = larger(load_row(counts, first + width + 1) - before, two)
        three = larger(load_row(counts, first + width + 2) - before, three)
        four = larger(load_row(counts, first + width + 3) - before, four)
    most[0], most[1], most[2], most[3] = greatest(one), greatest(two), greatest(three), greatest(four)


@njit(nogil=True, cache=True, counts_references=False)
def steps_for(counts, steps, points):
    """Return the least number of neighbouring steps in which there are so many points."""
    too_few, enough = 0, steps
    while enough - too_few > 1:
        middle = (too_few + enough) // 2
        if most_points(counts, steps, middle) < points:
            too_few = middle
        else:
            enough = middle
    return enough


@njit(nogil=True, cache=True)
def solve_in_steps(
    l, n, counts, steps, step, off, span, d_first, d_stop, known, skip_smallest, phi, ranges, work
):
    """Solve the sizes [d_first, d_stop) of one sorted column, those from BLOCK on to within two steps.

    ``phi`` receives widths that are no less than this feature's, unless all of them lie below ``known``; they
    depend on nothing but the column.  Returns the number of ranges; these are as in `gaps.solve_gaps`.

    Parameters
    ----------
    l : (n + PADDING,) float64, ascending, then infinite
    n : int, points
    counts : (steps + SPARE,) float32 or float64, see `count_below`
    steps : int, so many that all values lie in them
    step, off, span : float64, in the units of the column: the step, what is added for roundings, the range
    d_first, d_stop : int, half-open range of sizes d
    known : (n,) float64 over d, never falling
    skip_smallest : bool, whether sizes below BASE are left out
    phi : (n,) float64 over d, written on ``ranges``
    ranges : (m, 2) int64, half-open ranges of d, written
    work : (N_COUNTERS,) int64, added to
    """
    require(l.size >= n + PADDING, "solve_in_steps: l")
    require(known.size >= n, "solve_in_steps: known")
    require(phi.size >= n, "solve_in_steps: phi")
    require(work.size >= N_COUNTERS, "solve_in_steps: work")
    require(steps > 0 and counts.size >= steps + SPARE, "solve_in_steps: counts")
    require(counts[0] == 0 and counts[steps] == n, "solve_in_steps: the steps")
    require(d_first > 0 and d_stop <= n, "solve_in_steps: the sizes")
    n_ranges = 0
    if d_first < BLOCK:
        stop = min(BLOCK, d_stop)
        first = max(d_first, BASE) if skip_smallest else d_first
        n_ranges, looked_at = solve_smallest(l, n, first, stop, 0.0, np.inf, known, phi, ranges, n_ranges)
        work[WINDOWS] += looked_at * (stop - first)
        d_first = stop
    if d_first == d_stop:
        return n_ranges
    if min(steps_for(counts, steps, d_stop) * step + off, span) < known[d_first]:
        work[REJECTED] += 1
        return n_ranges
    n_ranges = note_range(ranges, n_ranges, d_first, d_stop)
    width = steps_for(counts, steps, d_first + 1)
    most = np.empty(WIDTHS, counts.dtype)
    while d_first < d_stop:
        most_points_of_each(counts, steps, width, most)
        work[WINDOWS] += WIDTHS * (steps + 1 - width)
        for points in most:
            at_most = min(width * step + off, span)
            stop = min(np.int64(points), d_stop)  # so many points are one length more
            for d in range(d_first, stop):
                phi[d] = at_most
            d_first = max(d_first, stop)
            width += 1
    return n_ranges
