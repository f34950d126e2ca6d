"""Where the narrowest windows begin, once their widths are known.

A profile says which column attains Phi(k), and the width suffices to skip nearly all starts.  Blocks of
starts are halved from left to right, and a block is dropped as soon as the records of the pyramid, or the
sorted values themselves, show that all of its windows are wider.  The remaining windows are evaluated.  Since
the search goes from left to right, it may end at the first window that is narrow enough, which is the
leftmost one.
"""

from __future__ import annotations

import numpy as np

from geodim.compiled import njit
from geodim.engine.kernels._bounds import require
from geodim.engine.kernels.pyramid import (
    BASE,
    BLOCK,
    BLOCK_SHIFT,
    RECORD,
    S0,
    SLOPE,
    W0,
    W1,
    require_layout,
)
from geodim.engine.kernels.tiles import PADDING

DEPTH = 128  # of the halving: at least twice the levels of a pyramid plus the blocks of its top level


@njit(nogil=True, cache=True)
def narrowest_starts(l, start, stop, d0, best, where):
    """Lower ``best[e]``, and note where, using the windows that start in [start, stop), for every e < BASE.

    ``l`` is float64, padded; ``best`` (BASE,) float64 widths; ``where`` (BASE,) int64 positions.
    """
    for i in range(start, stop):
        value = l[i]
        right = l[i + d0 : i + d0 + BASE]
        for e in range(BASE):
            width = right[e] - value
            narrower = width < best[e]
            best[e] = width if narrower else best[e]
            where[e] = i if narrower else where[e]


@njit(nogil=True, cache=True)
def all_wider(l, n, records, start, shift, j, d0, d_first, c, line, most, slack, off):
    """Return whether every window that starts in block j is wider than ``most``, or than the line.

    Sizes are those of one base gap, from d_first on.  ``line`` is the largest of width - c e over them, so
    the line at e is ``line`` + c e.  The bounds are those of `geodim.engine.kernels.gaps`, where gaps are as
    wide as blocks; a base gap is a part of such a gap.

    ``l`` and ``records`` are as in `find_starts`, and the level begins at ``start``; ``slack`` and ``off``
    are widths.
    """
    size = 1 << shift
    first = j * size
    last_start = min(first + size - 1, n - 1 - d_first)
    if l[first + d_first] - l[last_start] > most + off:
        return True
    g = d0 >> shift
    left, right = start + j, start + j + g
    across = c * (size - 1)
    top = records[S0, left]
    top = max(top, top + records[SLOPE, left] * (size - 1) - across)
    near = min(records[W0, right], records[W1, right] - across)
    far = min(records[W0, right + 1], records[W1, right + 1] - across)
    ends = min(near, far - c * size)
    return ends - top > line - c * (d0 - (g << shift)) + slack + off


@njit(nogil=True, cache=True)
def find_starts(l, n, records, offsets, counts, slack, off, phi, wanted, starts):
    """Write where the leftmost narrowest window begins, for every wanted size.

    Parameters
    ----------
    l : (n + PADDING,) float64, ascending, then infinite
    n : int, points
    records : (RECORD, blocks of all levels) float64, see `geodim.engine.kernels.pyramid`
    offsets, counts : (levels,) int64, first record and number of blocks of each level
    slack : float64, a width that exceeds the error of the trend arithmetic
    off : float64, a width: how far ``phi`` may lie below this column's own
    phi : (n,) float64 over d, never falling
    wanted : (n,) bool over d
    starts : (n,) int64 over d, positions, written where wanted
    """
    require(n > 0 and l.size >= n + PADDING, "find_starts: l")
    require(phi.size >= n, "find_starts: phi")
    require(wanted.size >= n, "find_starts: wanted")
    require(starts.size >= n, "find_starts: starts")
    require_layout(n, offsets, counts, records.shape[1])
    require(records.shape[0] >= RECORD, "find_starts: records")
    top = counts.size - 1
    require(counts[top] + 2 * counts.size <= DEPTH, "find_starts: levels")
    levels, blocks = np.empty(DEPTH, np.int64), np.empty(DEPTH, np.int64)
    best, where = np.empty(BASE), np.empty(BASE, np.int64)
    guess = n >> 1
    for d0 in range(0, n, BASE):
        d_stop = min(d0 + BASE, n)
        d_first, d_last = d_stop, d0
        for d in range(max(d0, 1), d_stop):
            if wanted[d]:
                d_first = min(d_first, d)
                d_last = d
        if d_first == d_stop:
            continue
        best[:] = np.inf
        where[:] = 0
        guess = min(guess, n - 1 - d_first)
        c = 0.5 * (records[SLOPE, guess >> BLOCK_SHIFT] + records[SLOPE, (guess + d_first) >> BLOCK_SHIFT])
        line = -np.inf
        for d in range(d_first, d_last + 1):
            if wanted[d]:
                line = max(line, phi[d] - c * (d - d0))
        depth = 0
        for j in range(counts[top] - 1, -1, -1):
            levels[depth], blocks[depth] = top, j
            depth += 1
        while depth > 0:
            depth -= 1
            level, j = levels[depth], blocks[depth]
            shift = BLOCK_SHIFT + level
            first = j << shift
            if first + d_first >= n:
                continue
            if d0 > 0 and all_wider(
                l, n, records, offsets[level], shift, j, d0, d_first, c, line, phi[d_last], slack, off
            ):
                continue
            if level > 0:
                levels[depth], blocks[depth] = level - 1, 2 * j + 1
                levels[depth + 1], blocks[depth + 1] = level - 1, 2 * j
                depth += 2
                continue
            narrowest_starts(l, first, min(first + BLOCK, n - d_first), d0, best, where)
            found = True
            for d in range(d_first, d_last + 1):
                found = found and (best[d - d0] <= phi[d] or not wanted[d])
            if found:
                break
        for d in range(d_first, d_last + 1):
            if wanted[d]:
                starts[d] = where[d - d0]
        guess = where[d_first - d0]


@njit(nogil=True, cache=True)
def rank_equal_ones(values, order, firsts, cursors):
    """Put the positions of equal values in ascending order; a quicksort leaves them in any order.

    Parameters
    ----------
    values : (n,) floats, ascending
    order : (n,) int64, their positions, changed in place
    firsts, cursors : (n,) int64, scratch
    """
    n = values.size
    require(order.size >= n, "rank_equal_ones: order")
    require(min(firsts.size, cursors.size) >= n, "rank_equal_ones: scratch")
    first = 0
    ties = False
    for rank in range(n):
        require(0 <= order[rank] < n, "rank_equal_ones: positions")
        if rank > 0 and values[rank] == values[first]:
            ties = True
        else:
            first = rank
            cursors[rank] = rank
        firsts[order[rank]] = first
    if not ties:
        return
    for position in range(n):  # each run receives its positions in ascending order
        first = firsts[position]
        order[cursors[first]] = position
        cursors[first] += 1
