"""Masses of points: sums, comparisons, step functions of the mass, and counters.

A mass is a whole number of units in two parts, ``high * 2^62 + low`` with 0 <= low < 2^62.  That makes 122
bits, so nothing is rounded (see `geodim.engine.masses`).
"""

from __future__ import annotations

import numpy as np

from geodim.compiled import njit
from geodim.engine.kernels._bounds import require

LOW_BITS = 62
BELOW = -1.0  # instead of a width: less than what others reached


@njit(nogil=True, cache=True)
def heavier(high, low, other_high, other_low):
    """Return whether the first mass is more than the second."""
    return high > other_high or (high == other_high and low > other_low)


@njit(nogil=True, cache=True)
def between(c_high, c_low, first, last):
    """Return the mass of the values from ``first`` to ``last``."""
    high = c_high[last + 1] - c_high[first]
    low = c_low[last + 1] - c_low[first]
    if low < 0:
        low += np.int64(1) << LOW_BITS
        high -= 1
    return high, low


@njit(nogil=True, cache=True)
def outweighs(c_high, c_low, first, last, high, low):
    """Return whether the values from ``first`` to ``last`` weigh more than a given mass.

    The low parts, worth less than one unit of the high parts, are examined only if those are close.
    """
    apart = c_high[last + 1] - c_high[first] - high
    if apart > 1 or apart < 0:
        return apart > 1
    low -= c_low[last + 1] - c_low[first]
    return (apart == 1 and low < np.int64(1) << LOW_BITS) or low < 0


@njit(nogil=True, cache=True)
def cumulate_masses(values, high, low, distinct, c_high, c_low):
    """Write the distinct values of an ascending column and the mass up to each; return their number.

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
def merge_steps(
    high, low, width, owner, new_high, new_low, new_width, column, out_high, out_low, out_width, out_owner
):  # fmt: skip
    """Write the greater of two step functions of the mass and its owner; the lowest column owns ties.

    Returns the number of steps.  Both functions end at the same mass.

    Parameters
    ----------
    high, low, width, owner : (s,) int64, int64, float64, int32, the steps so far
    new_high, new_low, new_width : (t,) int64, int64, float64, the steps of the column; a width may be BELOW
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
        one_ends = not heavier(to_high, to_low, new_high[j], new_low[j])
        other_ends = not heavier(new_high[j], new_low[j], to_high, to_low)
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
    """Convert masses to coarser units, rounding down the cumulative mass rather than each mass.

    So every window, of any length, is off by less than one coarse unit.

    Parameters
    ----------
    high, low : (steps,) int64, masses
    shift : int, at least 62: a coarse unit is 2^shift units
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
