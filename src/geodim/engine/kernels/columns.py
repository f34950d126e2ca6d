"""Small passes over one sorted column: lattice, majority run, first rejection, and merging into the result."""

from __future__ import annotations

import numpy as np
from numba import njit

from geodim.engine.kernels.counters import note_range
from geodim.engine.kernels.pyramid import BASE, BASE_SHIFT
from geodim.engine.kernels.tiles import evaluate_tile


@njit(nogil=True, cache=True)
def on_lattice(l, n, grain):  # noqa: ANN001, ANN201
    """Whether every value is a multiple of ``grain``: then sums and differences of values and trends are exact."""
    for first in range(0, n, 4096):
        misses = 0
        for i in range(first, min(first + 4096, n)):
            scaled = l[i] / grain
            misses += 1 if scaled != np.floor(scaled) else 0
        if misses > 0:
            return False
    return True


@njit(nogil=True, cache=True)
def median_run(l, n):  # noqa: ANN001, ANN201
    """First and one-past-last position of the run of values equal to the median: the only run that can be a majority."""
    value = l[n >> 1]
    low, high = 0, n >> 1
    while low < high:
        middle = (low + high) >> 1
        if l[middle] < value:
            low = middle + 1
        else:
            high = middle
    first = low
    low, high = n >> 1, n
    while low < high:
        middle = (low + high) >> 1
        if l[middle] <= value:
            low = middle + 1
        else:
            high = middle
    return first, low


@njit(nogil=True, cache=True)
def one_sided(l, n, first, stop, phi):  # noqa: ANN001, ANN201
    """phi of a column whose majority run [first, stop) lies at one end: each window holds the run and grows outwards."""
    weight = stop - first
    for extra in range(1, n - weight + 1):
        if first == 0:
            phi[weight - 1 + extra] = l[stop - 1 + extra] - l[0]
        else:
            phi[weight - 1 + extra] = l[n - 1] - l[first - extra]


@njit(nogil=True, cache=True)
def open_gaps(l, n, shift, known, is_open):  # noqa: ANN001, ANN201
    """Mark the gaps of 2**shift sizes in which this column may still exceed what others reached.

    One window per block of starts is tried, at the gap's last size: if it is narrower than ``known`` at the gap's first
    size, phi stays below the others all over the gap (monotonicity).  Returns the number of open gaps.
    """
    size = 1 << shift
    count = (n + size - 1) >> shift
    total = 0
    best = 0
    for g in range(count):
        floor = known[max(g << shift, 1)]
        d_last = min((g + 1) << shift, n) - 1
        beaten = best + d_last < n and l[best + d_last] - l[best] < floor
        start = 0
        while not beaten and start + d_last < n:
            if l[start + d_last] - l[start] < floor:
                beaten = True
                best = start
            start += size
        is_open[g] = not beaten
        total += 0 if beaten else 1
    return total


@njit(nogil=True, cache=True)
def solve_plainly(l, n, d_first, d_stop, phi, ranges):  # noqa: ANN001, ANN201
    """Every window evaluated, nothing bounded: for values so large that sums of them would overflow."""
    best = np.empty(BASE)
    for g in range(d_first >> BASE_SHIFT, ((d_stop - 1) >> BASE_SHIFT) + 1):
        d0 = g << BASE_SHIFT
        best[:] = np.inf
        evaluate_tile(l, 0, max(n - d0, 0), d0, best)
        for d in range(max(d0, d_first), min(d0 + BASE, d_stop)):
            phi[d] = best[d - d0]
    return note_range(ranges, 0, d_first, d_stop)


@njit(nogil=True, cache=True)
def merge(phi, ranges, n_ranges, column, best, owner):  # noqa: ANN001, ANN201
    """Elementwise maximum of one column's phi into the result; the lowest column index owns a tie."""
    for r in range(n_ranges):
        for d in range(ranges[r, 0], ranges[r, 1]):
            if phi[d] > best[d]:
                best[d] = phi[d]
                owner[d] = column
            elif phi[d] == best[d] and column < owner[d]:
                owner[d] = column


@njit(nogil=True, cache=True)
def accurate_sum(values):  # noqa: ANN001, ANN201
    """Sum in one fixed order with a running compensation (Neumaier): within an ulp or so of the true sum."""
    total = 0.0
    correction = 0.0
    for i in range(values.size):
        value = values[i]
        after = total + value
        if abs(total) >= abs(value):
            correction += (total - after) + value
        else:
            correction += (value - after) + total
        total = after
    return total + correction


@njit(nogil=True, cache=True)
def share_sums(phi, owner, sums):  # noqa: ANN001, ANN201
    """Add each phi to the sum of the column that owns it; columns below 0 own nothing."""
    for i in range(phi.size):
        if owner[i] >= 0:
            sums[owner[i]] += phi[i]
