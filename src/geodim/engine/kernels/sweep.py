"""All pieces of a column in one call, so that threads that solve columns side by side need not take turns.

Between two calls a thread needs the interpreter's lock, for which many threads wait longer than they compute.
"""

from __future__ import annotations

import numpy as np

from geodim.compiled import njit
from geodim.engine.kernels._bounds import ranges_fit, require
from geodim.engine.kernels.gaps import solve_gaps
from geodim.engine.kernels.pyramid import BLOCK, BLOCK_SHIFT

GAPS_BOUNDED = 1024  # at most so many gaps of a column are bounded before any is solved,
LOOKS_TO_BOUND = 4  # in the time of so many windows for each size, or else not


@njit(nogil=True, cache=True)
def raise_bar(phi, ranges, n_ranges, step, bar):
    """Raise what others must reach to a column's phi, without a lock, at every ``step``-th size of a range.

    If two threads raise the same size at the same time, the lower of their values may be left.  That is a
    bar, too: each value was attained by some column (F10).

    Parameters
    ----------
    phi : (n,) float64 over d, of one column
    ranges : (m, 2) int64, half-open ranges of d; the first n_ranges count
    n_ranges, step : int
    bar : (n,) float64 over d, raised in place
    """
    require(ranges_fit(ranges, n_ranges, min(phi.size, bar.size)) and step > 0, "raise_bar: ranges")
    for r in range(n_ranges):
        for d in range(ranges[r, 0], ranges[r, 1], step):
            bar[d] = max(bar[d], phi[d])


@njit(nogil=True, cache=True)
def bound_pieces(
    l, n, records, offsets, counts, grain, slack, bar, unit, nearest, span, pieces, known, halted, phi,
    ranges, groups, lows, work,
):  # fmt: skip
    """Let other threads know lower bounds on what this column attains, before anything is solved.

    Of columns that are solved side by side, each would otherwise solve whatever the others have not come to
    yet.  Only every BLOCK-th size is told, since memory is what threads share.  Where bounds do not tell much
    it ends early; parameters are those of `solve_swept`.
    """
    lowest = 0
    while lowest < counts.size and counts[lowest] > GAPS_BOUNDED:
        lowest += 1
    if not 0 < lowest < counts.size:
        return
    for p in range(pieces.shape[0]):
        first, last = pieces[p, 0], pieces[p, 1]
        most = LOOKS_TO_BOUND * ((last - first) << (BLOCK_SHIFT + counts.size - 1))
        count = solve_gaps(
            l, n, records, offsets, counts, grain, slack, bar, unit, nearest, span, first, last, known, 0.0,
            True, lowest, most, phi, ranges, groups, lows, work,
        )  # fmt: skip
        if count < 0 or halted[0] != 0:
            return
        raise_bar(phi, ranges, count, BLOCK, known)


@njit(nogil=True, cache=True)
def solve_swept(
    l, n, records, offsets, counts, grain, slack, bar, unit, nearest, span, pieces, known, skip_smallest,
    most_looks, halted, phi, ranges, groups, lows, work,
):  # fmt: skip
    """Solve pieces, one after the other, and let other threads know after each of them.

    Returns how many were solved, and the number of ranges: all, unless somebody set ``halted``, or the next
    one would take more than ``most_looks`` windows per size.

    Parameters
    ----------
    pieces : (m, 2) int64, half-open ranges of gaps of the top level
    known : (n,) float64 over d, what others reached; raised to what is found here
    most_looks : int
    halted : (1,) uint8, whether to stop
    others
        As for `geodim.engine.kernels.gaps.solve_gaps`.
    """
    require(halted.size > 0 and pieces.shape[1] == 2, "solve_swept: pieces")
    n_ranges = np.int64(0)
    shift = BLOCK_SHIFT + counts.size - 1
    bound_pieces(
        l, n, records, offsets, counts, grain, slack, bar, unit, nearest, span, pieces, known, halted, phi,
        ranges, groups, lows, work,
    )  # fmt: skip
    for p in range(pieces.shape[0]):
        if halted[0] != 0:
            return p, n_ranges
        first, last = pieces[p, 0], pieces[p, 1]
        found = ranges[n_ranges:]
        count = solve_gaps(
            l, n, records, offsets, counts, grain, slack, bar, unit, nearest, span, first, last, known, 0.0,
            skip_smallest, 0, most_looks * ((last - first) << shift), phi, found, groups, lows, work,
        )  # fmt: skip
        if count < 0:
            return p, n_ranges
        raise_bar(phi, found, count, 1, known)
        n_ranges += count
    return pieces.shape[0], n_ranges
