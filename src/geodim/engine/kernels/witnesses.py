"""Witnesses of Phi at chosen sizes: a narrow window of a sorted column for each, on few straight lines.

A window of k points that starts at a rank from p to q is at least x[p+k-1] - x[q] wide, because the column is
sorted (F18).  So the narrowest window is found by halving ranges of starts, and most of them are skipped at
once.
"""

from __future__ import annotations

import numpy as np

from geodim.compiled import njit
from geodim.engine.kernels._bounds import require

DEPTH = 128  # of the halving: more than twice the bits of a rank


@njit(nogil=True, cache=True)
def sizes_ascend(sizes, n):
    """Return whether sizes ascend from at least 1 to at most n, since positions are derived from them.

    ``sizes`` is (m,) int64.
    """
    before = 0
    ascend = True
    for size in sizes:
        ascend = ascend and before < size <= n
        before = size
    return ascend


@njit(nogil=True, cache=True)
def narrow_windows(x, sizes, enough, margin, allowed, starts, widths):
    """Write start and width of a window for every size: at most ``enough``, or nearly the narrowest.

    "Nearly" means within ``margin``: where ``widths`` exceeds ``enough``, no window is narrower than
    ``widths - margin``, in float64 arithmetic exactly as computed here.  Returns how many ranges of starts
    were compared; after more than ``allowed`` comparisons it gives up.

    Parameters
    ----------
    x : (n,) float64, ascending
    sizes : (m,) int64, ascending k
    enough : (m,) float64, widths
    margin : float64, a width
    allowed : int, the most comparisons
    starts : (m,) int64, positions, written
    widths : (m,) float64, written
    """
    n = x.size
    require(sizes_ascend(sizes, n), "narrow_windows: sizes")
    require(min(enough.size, starts.size, widths.size) >= sizes.size, "narrow_windows: windows")
    firsts = np.empty(DEPTH, np.int64)
    lasts = np.empty(DEPTH, np.int64)
    start, size, work = 0, n, 0
    for at in range(sizes.size - 1, -1, -1):
        k = sizes[at]
        # The previous window is too large by this many points: drop them on either side, or half on both.
        shrunk = size - k
        size = k
        best = x[start + k - 1] - x[start]
        for other in (start + shrunk, start + shrunk // 2):
            width = x[other + k - 1] - x[other]
            if width < best:
                best, start = width, other
        depth = 0
        if best > enough[at]:
            firsts[0], lasts[0] = 0, n - k
            depth = 1
        while depth > 0 and work <= allowed:
            work += 1
            depth -= 1
            p, q = firsts[depth], lasts[depth]
            if x[p + k - 1] - x[q] >= best - margin:
                continue
            middle = (p + q) >> 1
            width = x[middle + k - 1] - x[middle]
            if width < best:
                best, start = width, middle
                if best <= enough[at]:
                    break
            if p < q:
                firsts[depth], lasts[depth] = middle + 1, q
                firsts[depth + 1], lasts[depth + 1] = p, middle
                depth += 2
        starts[at], widths[at] = start, best
    return work


@njit(nogil=True, cache=True)
def _on_line(x, sizes, low, high, k, rank, k_high, rank_high, limit):
    """Return whether the windows on the line between two knots keep the limit at sizes low to high - 1.

    ``low`` and ``high`` are indices of ``sizes``.  ``x`` is (n,) float64, ascending; ``limit`` (m,) float64
    widths, one per size.
    """
    across = max(k_high - k, 1)
    for at in range(high - 1, low - 1, -1):
        size = sizes[at]
        start = rank + (rank_high - rank) * (size - k) // across
        if x[start + size - 1] - x[start] > limit[at]:
            return False
    return True


@njit(nogil=True, cache=True)
def straighten(x, sizes, starts, limit, knots):
    """Write few knots (size, rank) such that the windows on lines between them keep the limit.

    The lines begin at (n, 0); below the last knot, the rank stays the same.  The windows at ``starts`` must
    keep the limit.  Knots are written from the largest size down, and their number is returned.

    Parameters
    ----------
    x : (n,) float64, ascending
    sizes : (m,) int64, ascending k
    starts : (m,) int64, positions
    limit : (m,) float64, widths
    knots : (m - 1 or more, 2) int64, written
    """
    require(sizes_ascend(sizes, x.size), "straighten: sizes")
    require(min(starts.size, limit.size, knots.shape[0] + 1) >= sizes.size, "straighten: windows")
    require(knots.shape[1] == 2, "straighten: knots")
    for at in range(sizes.size):
        require(0 <= starts[at] <= x.size - sizes[at], "straighten: starts")
    zero = np.int64(0)  # a literal would be compiled for itself
    right, count = sizes.size - 1, 0  # the size n, whose window starts at 0
    k_right, rank_right = sizes[right], zero
    while right > 0:
        if _on_line(x, sizes, zero, right, zero, rank_right, zero, rank_right, limit):
            break
        good, step = right - 1, 2
        while right - step >= 0:  # as far as a line reaches, with growing strides,
            at = right - step
            if not _on_line(x, sizes, at, right, sizes[at], starts[at], k_right, rank_right, limit):
                break
            good, step = at, 2 * step
        low = max(right - step, -1)
        while good - low > 1:  # and then by halving
            at = (good + low) >> 1
            if _on_line(x, sizes, at, right, sizes[at], starts[at], k_right, rank_right, limit):
                good = at
            else:
                low = at
        right, k_right, rank_right = good, sizes[good], starts[good]
        knots[count, 0], knots[count, 1] = k_right, rank_right
        count += 1
    return count


@njit(nogil=True, cache=True)
def _cheap_sizes(curve, most, sizes):
    """Write sizes between which (gap - 1) * growth of the curve is at most ``most``.

    Returns their number and the sum of these costs.  ``curve`` is (n,) float64 widths, ``sizes`` (m,) int64,
    written.
    """
    n = curve.size  # curve[k - 1] is Phi(k)
    count, total, k = 0, 0.0, 1
    while k < n:
        here = curve[k - 1]
        good, step = k + 1, 2
        while k + step <= n and (step - 1) * (curve[k + step - 1] - here) <= most:
            good, step = k + step, 2 * step
        stop = min(k + step, n + 1)
        while stop - good > 1:
            middle = (good + stop) >> 1
            if (middle - k - 1) * (curve[middle - 1] - here) <= most:
                good = middle
            else:
                stop = middle
        total += (good - k - 1) * (curve[good - 1] - here)
        k = good
        if count < sizes.size:
            sizes[count] = k
        count += 1
    return count, total


@njit(nogil=True, cache=True)
def choose_sizes(curve, budget, sizes):
    """Write about the fewest sizes up to n that leave at most ``budget`` of an ascending curve open.

    Returns their number.  If it exceeds the length of ``sizes``, only as many as fit were written.

    Parameters
    ----------
    curve : (n,) float64, Phi(k) at k - 1
    budget : float64, a sum of widths
    sizes : (m,) int64, ascending k, written
    """
    count, total = _cheap_sizes(curve, budget, sizes)
    low, high = 0.0, budget
    if total > budget:
        for _ in range(40):  # equal costs for all gaps are nearly optimal; the cost is found by halving
            most = 0.5 * (low + high)
            count, total = _cheap_sizes(curve, most, sizes)
            if total > budget:
                high = most
            else:
                low = most
                if total > 0.98 * budget:
                    break
        count, total = _cheap_sizes(curve, low, sizes)
    return count
