"""The pyramid: for aligned blocks of 2^L sorted values, lines that enclose the block (F8).

For a block with first index ``a`` and a slope ``s`` taken from its wider surroundings, every value satisfies

    W0 + s t  <=  l[a + t]  <=  U0 + s t,        0 <= t < B.

Hence for *any* trend ``c``, because a linear function is extremal at an end,

    max_t (l[a+t] - c t) <= max(U0, U1 - c (B-1)),    min_t (l[a+t] - c t) >= min(W0, W1 - c (B-1))

with U1 = U0 + s (B-1) and W1 = W0 + s (B-1).  A window loses nothing by starting at the first of several
equal values (F3), so only first occurrences count as *starts*.  S0 is U0 over these (minus infinity if a
block has none), PEAK the position of the largest residual among them, and HEIGHT the value there.  A parent's
lines enclose its children's, so only the finest level reads the data.
"""

from __future__ import annotations

import numpy as np

from geodim.compiled import njit
from geodim.engine.kernels._bounds import require

U0, U1, W0, W1, S0, SLOPE, PEAK, HEIGHT = 0, 1, 2, 3, 4, 5, 6, 7
RECORD = 8  # one cache line

BLOCK_SHIFT = 6  # the finest blocks have 64 values
BLOCK = 1 << BLOCK_SHIFT
BASE_SHIFT = 5  # elsewhere, sizes are evaluated 32 at a time
BASE = 1 << BASE_SHIFT
SMOOTH = 1024  # half-width, in points, of the chord that gives a block's slope


@njit(nogil=True, cache=True)
def local_slope(l, n, start, size, grain, limit):
    """Return the slope around a block: the median of the chords before it, after it and along it.

    Chords over a thousand points are steadier than the block's own, and the median ignores an outlier on one
    side.  The slope is a multiple of ``grain`` (if positive) and at most ``limit``.

    ``l`` is (n,) float64, ascending; everything but positions is in units of the column per index.
    """
    stop = min(start + size, n) - 1
    reach = max(SMOOTH, 2 * size)
    low = max(0, start - reach)
    high = min(n - 1, stop + reach)
    own = (l[stop] - l[start]) / max(stop - start, 1)
    before = (l[stop] - l[low]) / max(stop - low, 1)
    after = (l[high] - l[start]) / max(high - start, 1)
    slope = max(min(before, after), min(max(before, after), own))
    slope = min(slope, limit)
    if grain > 0.0:
        slope = np.floor(slope / grain) * grain
    return slope


@njit(nogil=True, cache=True, fastmath={"nnan", "nsz"})
def build_base(l, n, records, count, grain, span):
    """Write the records of the finest level; ``records`` has two spare rows for blocks beyond the end.

    Parameters
    ----------
    l : (n or more,) float64, ascending
    n : int, points
    records : (count + 2 or more, RECORD) float64, written
    count : int, ceil(n / BLOCK)
    grain, span : float64, the lattice of the slopes or 0, and the range of the column
    """
    require(l.size >= n, "build_base: l")
    require(count == (n + BLOCK - 1) >> BLOCK_SHIFT, "build_base: count")
    require(records.shape[0] >= count + 2 and records.shape[1] >= RECORD, "build_base: records")
    limit = span / BLOCK
    residuals, highs, lows = np.empty(BLOCK), np.empty(BLOCK // 2), np.empty(BLOCK // 2)
    for block in range(count):
        start = block << BLOCK_SHIFT
        size = min(BLOCK, n - start)
        slope = local_slope(l, n, start, BLOCK, grain, limit)
        high = l[start]
        low = l[start]
        peak = 0
        tied = start > 0 and l[start] == l[start - 1]
        if size == BLOCK and not tied:
            values = l[start : start + BLOCK]
            for t in range(BLOCK):
                residuals[t] = values[t] - slope * t
            # Folded in halves: in a plain loop, each extreme would wait for the one before.
            for t in range(BLOCK // 2):
                highs[t] = max(residuals[t], residuals[t + BLOCK // 2])
                lows[t] = min(residuals[t], residuals[t + BLOCK // 2])
            for t in range(BLOCK // 4):
                highs[t] = max(highs[t], highs[t + BLOCK // 4])
                lows[t] = min(lows[t], lows[t + BLOCK // 4])
            for t in range(BLOCK // 8):
                highs[t] = max(highs[t], highs[t + BLOCK // 8])
                lows[t] = min(lows[t], lows[t + BLOCK // 8])
            for t in range(BLOCK // 8):
                high = max(high, highs[t])
                low = min(low, lows[t])
            while residuals[peak] < high:
                peak += 1
            top = high
        else:
            for t in range(size):
                residual = l[start + t] - slope * t
                high = max(high, residual)
                low = min(low, residual)
            top = high
            if tied:
                while peak < size and l[start + peak] == l[start - 1]:
                    peak += 1
                top = -np.inf
                for t in range(peak, size):
                    top = max(top, l[start + t] - slope * t)
            while peak < size - 1 and l[start + peak] - slope * peak < top:
                peak += 1
        row = records[block]
        row[S0] = top
        row[U0] = high
        row[U1] = high + slope * (BLOCK - 1)
        row[W0] = low
        row[W1] = low + slope * (BLOCK - 1)
        row[SLOPE] = slope
        row[PEAK] = start + peak
        row[HEIGHT] = l[start + min(peak, size - 1)]
    close_level(records, count)


@njit(nogil=True, cache=True)
def close_level(records, count):
    """Write two empty blocks after the end of a level: no window starts or ends there.

    ``records`` is (count + 2, RECORD) float64.
    """
    for block in range(count, count + 2):
        records[block, U0] = -np.inf
        records[block, U1] = -np.inf
        records[block, W0] = np.inf
        records[block, W1] = np.inf
        records[block, S0] = -np.inf
        records[block, SLOPE] = 0.0
        records[block, PEAK] = 0.0
        records[block, HEIGHT] = 0.0


@njit(nogil=True, cache=True)
def require_layout(n, offsets, counts, room):
    """Raise unless the levels halve from ceil(n / BLOCK) blocks on and fit into ``room`` places.

    Each level is followed by two empty blocks.

    ``offsets`` and ``counts`` are (levels,) int64.
    """
    require(counts.size > 0 and offsets.size >= counts.size, "the pyramid: offsets")
    blocks = (n + BLOCK - 1) >> BLOCK_SHIFT
    place = 0
    for level in range(counts.size):
        require(counts[level] == blocks, "the pyramid: counts")
        require(offsets[level] >= place, "the pyramid: offsets")
        place = offsets[level] + blocks + 2
        blocks = (blocks + 1) >> 1
    require(place <= room, "the pyramid: records or lists of blocks")


@njit(nogil=True, cache=True)
def build_parents(l, n, records, offsets, counts, grain, span):
    """Write the records of every coarser level from the level below it.

    Parameters
    ----------
    l : (n or more,) float64, ascending
    n : int, points
    records : (blocks of all levels, RECORD) float64, given for the finest level, written for the others
    offsets, counts : (levels,) int64, first record and number of blocks of each level
    grain, span : float64, as for `build_base`
    """
    require(l.size >= n, "build_parents: l")
    require_layout(n, offsets, counts, records.shape[0])
    require(records.shape[1] >= RECORD, "build_parents: records")
    for level in range(1, counts.size):
        size = BLOCK << level
        half = size >> 1
        limit = span / size
        below = offsets[level - 1]
        here = offsets[level]
        for block in range(counts[level]):
            start = block * size
            slope = local_slope(l, n, start, size, grain, limit)
            first = records[below + 2 * block]
            second = records[below + 2 * block + 1]  # an empty block at the very end is neutral
            high = max(
                max(first[U0], first[U1] - slope * (half - 1)),
                max(second[U0] - slope * half, second[U1] - slope * (size - 1)),
            )
            from_first = max(first[S0], first[S0] + first[SLOPE] * (half - 1) - slope * (half - 1))
            from_second = max(
                second[S0] - slope * half, second[S0] + second[SLOPE] * (half - 1) - slope * (size - 1)
            )
            top = max(from_first, from_second)
            low = min(
                min(first[W0], first[W1] - slope * (half - 1)),
                min(second[W0] - slope * half, second[W1] - slope * (size - 1)),
            )
            row = records[here + block]
            row[U0] = high
            row[U1] = high + slope * (size - 1)
            row[W0] = low
            row[W1] = low + slope * (size - 1)
            row[S0] = top
            row[SLOPE] = slope
            higher = first if from_first >= from_second else second
            row[PEAK] = higher[PEAK]
            row[HEIGHT] = higher[HEIGHT]
        close_level(records[here:], counts[level])
