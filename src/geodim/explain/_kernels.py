"""Compiled loops of the explanations: counts in bins, upper bounds on gains.

Arrays over sizes are indexed by d = k - 1, as in the engine, and index 0 (a window of
one point) is never used.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from geodim.data.graphs._jit import kernel
from geodim.engine.kernels._bounds import ranges_fit, require
from geodim.engine.kernels.sorting import OUTSIDE
from geodim.errors import DataChangedError

__all__ = [
    "coarse_sum",
    "count_values",
    "draw_lines",
    "excess_over",
    "gain_over",
    "list_excess",
    "raise_to",
    "reach_of",
    "reaches",
]


@kernel
def count_values(values: Any, weights: Any, low: float, per_bin: float, cumulative: Any) -> None:
    """Write the cumulative number of points in the bins [low + b / per_bin, low + (b + 1) / per_bin).

    ``weights`` is how often each value occurs, or empty for once each.  Values lie where the first pass found
    them, except for roundings of the greatest.

    Parameters
    ----------
    values : (n,) floats, in any order
    weights : (n,) or (0,) int64, points
    low : float64, where the first bin begins
    per_bin : float64, bins per unit of the data
    cumulative : (bins + 1,) integers, points, written
    """
    require(cumulative.size > 1, "count_values: cumulative")
    require(weights.size == 0 or weights.size >= values.size, "count_values: weights")
    bins = cumulative.size - 1
    cumulative[:] = 0
    outside = 0
    for i in range(values.size):
        place = (np.float64(values[i]) - low) * per_bin
        if place >= 0.0 and place < bins + 1.0:
            cumulative[min(np.int64(place), bins - 1) + 1] += 1 if weights.size == 0 else weights[i]
        else:
            outside += 1
    if outside > 0:
        raise DataChangedError(OUTSIDE)
    for b in range(bins):
        cumulative[b + 1] += cumulative[b]


@kernel
def reach_of(cumulative: Any, ladder: Any, reach: Any) -> None:
    """Write to ``reach[i]`` the largest number of points in ``ladder[i]`` neighbouring bins.

    Parameters
    ----------
    cumulative : (bins + 1,) integers, points, as `count_values` writes them
    ladder : (m,) integers, widths in bins
    reach : (m,) integers, points, written
    """
    bins = cumulative.size - 1
    require(reach.size >= ladder.size, "reach_of: reach")
    for i in range(ladder.size):
        w = ladder[i]
        require(0 < w <= bins, "reach_of: cumulative")
        left, right = cumulative[: bins - w + 1], cumulative[w:]
        most = right[0] - left[0]
        for j in range(left.size):
            most = max(most, right[j] - left[j])
        reach[i] = most


@kernel
def raise_to(phi: Any, ranges: Any, n_ranges: int, best: Any) -> None:
    """Take the elementwise maximum on the listed ranges.

    Parameters
    ----------
    phi : (n,) float64 over d
    ranges : (m, 2) int64, half-open ranges of d; the first n_ranges count
    n_ranges : int
    best : (n,) float64 over d, raised in place
    """
    require(ranges_fit(ranges, n_ranges, min(phi.size, best.size)), "raise_to: ranges")
    for r in range(n_ranges):
        for d in range(ranges[r, 0], ranges[r, 1]):
            best[d] = max(best[d], phi[d])


@kernel
def coarse_sum(reach: Any, ladder: Any, width: float, span: float, n: int) -> Any:
    """Return an upper bound on the sum of phi over all sizes, given how many points some widths hold.

    An interval of width c = ladder[i] * width holds reach[i] points, so phi <= c up to that size.

    Parameters
    ----------
    reach : (m,) integers, points
    ladder : (m,) integers, widths in bins, ascending
    width : float64, of a bin, in the units of the data
    span : float64, the range of the column
    n : int, points
    """
    require(reach.size >= ladder.size, "coarse_sum: reach")
    total = 0.0
    start = np.int64(1)
    for i in range(ladder.size):
        stop = min(np.int64(reach[i]), np.int64(n))
        if stop > start:
            total += min(ladder[i] * width, span) * (stop - start)
            start = stop
    return total + span * (n - start)


@kernel
def reaches(reach: Any, ladder: Any, width: float, span: float, phi: Any, following: Any) -> Any:
    """Return whether a feature may attain ``phi`` at one of the sizes in question.

    ``following[d]`` is the next such size.

    Parameters
    ----------
    reach, ladder, width, span
        As for `coarse_sum`.
    phi : (n,) float64 over d
    following : (n,) integers, sizes d
    """
    n = phi.size
    require(reach.size >= ladder.size, "reaches: reach")
    require(following.size >= n, "reaches: following")
    start = np.int64(1)
    for i in range(ladder.size + 1):
        stop = np.int64(n)
        c = span
        if i < ladder.size:
            stop = min(np.int64(reach[i]), stop)
            c = min(ladder[i] * width, span)
        if stop <= start:
            continue
        if 0 <= following[start] < stop and phi[following[start]] <= c:
            return True
        start = stop
    return False


@kernel
def draw_lines(phi: Any, base: Any, block: int, blocks: Any, first: Any, last: Any) -> Any:
    """Draw lines above ``phi``, in the blocks of ``block`` sizes where it exceeds ``base``.

    A line is given by its first and last values.  Returns the sum of phi - base, which is nowhere negative,
    and the number of lines.

    Parameters
    ----------
    phi, base : (n,) float64 over d
    block : int, sizes in a block
    blocks : (m,) int32, block numbers, written
    first, last : (m,) float64, widths, written
    """
    n = phi.size
    require(block > 0 and base.size >= n, "draw_lines: base")
    most = -(-n // block)
    require(blocks.size >= most and first.size >= most and last.size >= most, "draw_lines: the lines")
    total = 0.0
    count = 0
    for b in range(-(-n // block)):
        start, stop = max(b * block, 1), min((b + 1) * block, n)
        gain = 0.0
        for d in range(start, stop):
            gain += phi[d] - base[d]
        if gain > 0.0:
            total += gain
            slope = (phi[stop - 1] - phi[start]) / max(stop - 1 - start, 1)
            rise = 0.0
            for d in range(start, stop):
                rise = max(rise, phi[d] - (phi[start] + slope * (d - start)))
            # Above every rounding of this line and of its later use, denormal ones included.
            blocks[count] = b
            first[count] = (phi[start] + rise) * (1.0 + 2.0**-48) + 1e-315
            last[count] = (phi[start] + slope * (stop - 1 - start) + rise) * (1.0 + 2.0**-48) + 1e-315
            count += 1
    return total, count


@kernel
def gain_over(phi: Any, block: int, blocks: Any, first: Any, last: Any, count: int) -> Any:
    """Return the sum over d of max(0, line - phi), with the lines of `draw_lines`.

    Lines below ``phi`` are removed from the lists: phi of the chosen features never falls.  Returns
    the sum and how many stay.

    Parameters
    ----------
    phi : (n,) float64 over d
    block, blocks, first, last
        As for `draw_lines`; the lists are shortened in place.
    count : int, lines in the lists
    """
    n = phi.size
    require(0 <= count <= min(blocks.size, first.size, last.size), "gain_over: the lines")
    if count > 0:  # they ascend
        require(blocks[0] >= 0 and max(blocks[count - 1] * block, 1) < n, "gain_over: phi")
    total = 0.0
    kept = 0
    for i in range(count):
        start, stop = max(blocks[i] * block, 1), min((blocks[i] + 1) * block, n)
        if last[i] <= phi[start]:
            continue
        slope = (last[i] - first[i]) / max(stop - 1 - start, 1)
        gain = 0.0
        for d in range(start, stop):
            gain += max(first[i] + slope * (d - start) - phi[d], 0.0)
        if gain > 0.0:
            total += gain
            blocks[kept], first[kept], last[kept] = blocks[i], first[i], last[i]
            kept += 1
    return total, kept


@kernel
def list_excess(phi: Any, base: Any, sizes: Any, values: Any) -> Any:
    """List the sizes at which ``phi`` exceeds ``base``, and phi there.

    Returns their number, or -1 if there is not enough room.

    Parameters
    ----------
    phi, base : (n,) float64 over d
    sizes : (m,) int32, sizes d, written
    values : (m,) float64, widths, written
    """
    require(base.size >= phi.size, "list_excess: base")
    require(values.size >= sizes.size, "list_excess: values")
    count = 0
    for d in range(1, phi.size):
        if phi[d] > base[d]:
            if count == sizes.size:
                return -1
            sizes[count], values[count] = d, phi[d]
            count += 1
    return count


@kernel
def excess_over(phi: Any, sizes: Any, values: Any, count: int) -> Any:
    """Return the sum by which listed values exceed ``phi``; those that do not are removed.

    Returns the sum and how many stay.

    Parameters
    ----------
    phi : (n,) float64 over d
    sizes, values
        As for `list_excess`; the lists are shortened in place.
    count : int, entries of the lists
    """
    require(0 <= count <= min(sizes.size, values.size), "excess_over: sizes or values")
    if count > 0:  # they ascend
        require(sizes[0] >= 0 and sizes[count - 1] < phi.size, "excess_over: phi")
    total = 0.0
    kept = 0
    for i in range(count):
        gain = values[i] - phi[sizes[i]]
        if gain > 0.0:
            total += gain
            sizes[kept], values[kept] = sizes[i], values[i]
            kept += 1
    return total, kept
