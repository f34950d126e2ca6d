"""The pyramid: for aligned blocks of 2^L sorted values, lines that enclose the block (F8).

For a block with first index ``a`` and a slope ``s`` taken from its wider surroundings, every value satisfies

    W0 + s t  <=  l[a + t]  <=  U0 + s t,        0 <= t < B.

Hence for *any* trend ``c``, because a linear function is extremal at an end,

    max_t (l[a+t] - c t) <= max(U0, U1 - c (B-1)),    min_t (l[a+t] - c t) >= min(W0, W1 - c (B-1))

with U1 = U0 + s (B-1) and W1 = W0 + s (B-1).  A window loses nothing by starting at the first of several
equal values (F3), so only first occurrences count as *starts*.  S0 is U0 over these (minus infinity if a
block has none), PEAK the position of the largest residual among them, and HEIGHT the value there.  FIRST is
the first value of the block: no value of it is less, and no value of the block before is greater, which says
more than lines do where values are sparse.  A parent's lines enclose its children's, so only the finest level
reads the data.

Each of these numbers has a row of its own in the records, over the blocks of all levels: so neighbouring
blocks are tested together, GROUP of them at a time.
"""

from __future__ import annotations

import numpy as np

from geodim.compiled import njit
from geodim.engine.kernels._bounds import require
from geodim.engine.kernels.lanes import (
    LANES,
    chosen,
    element,
    greatest,
    larger,
    least,
    load,
    put,
    smaller,
    splat,
    steps,
)

U0, U1, W0, W1, S0, SLOPE, PEAK, HEIGHT, FIRST = 0, 1, 2, 3, 4, 5, 6, 7, 8
RECORD = 9  # numbers of a block
GROUP_SHIFT = 3
GROUP = LANES  # neighbouring blocks that are tested together; levels begin with a whole group
SPARE = GROUP + 1  # empty blocks after those of a level, which its last group reads

BLOCK_SHIFT = 6  # the finest blocks have 64 values
BLOCK = 1 << BLOCK_SHIFT
BASE_SHIFT = 5  # elsewhere, sizes are evaluated 32 at a time
BASE = 1 << BASE_SHIFT
SMOOTH = 1024  # half-width, in points, of the chord that gives a block's slope


@njit(nogil=True, cache=True, counts_references=False, forceinline=True)
def above_line(l, first, at, slope):
    """Return l[first + t] - c t for the eight t from ``at`` on; ``slope`` has c in every lane."""
    return load(l, first + at) - slope * (splat(np.float64(at)) + steps())


@njit(nogil=True, cache=True, counts_references=False, forceinline=True)
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
    at_start, at_stop = element(l, start), element(l, stop)
    own = (at_stop - at_start) / np.float64(max(stop - start, 1))
    before = (at_stop - element(l, low)) / np.float64(max(stop - low, 1))
    after = (element(l, high) - at_start) / np.float64(max(high - start, 1))
    slope = max(min(before, after), min(max(before, after), own))
    slope = min(slope, limit)
    if grain > 0.0:
        slope = np.floor(slope / grain) * grain
    return slope


@njit(nogil=True, cache=True, counts_references=False)
def build_base(l, n, records, count, grain, span):
    """Write the records of the finest level, with SPARE empty ones beyond the end.

    Parameters
    ----------
    l : (n or more,) float64, ascending
    n : int, points
    records : (RECORD, count + SPARE or more) float64, written
    count : int, ceil(n / BLOCK)
    grain, span : float64, the lattice of the slopes or 0, and the range of the column
    """
    require(l.size >= n, "build_base: l")
    require(count == (n + BLOCK - 1) >> BLOCK_SHIFT, "build_base: count")
    require(records.shape[0] == RECORD and records.shape[1] >= count + SPARE, "build_base: records")
    row = np.int64(records.shape[1])
    limit = span / BLOCK
    for block in range(count):
        start = block << BLOCK_SHIFT
        slope = local_slope(l, n, start, BLOCK, grain, limit)
        if start + BLOCK <= n and (start == 0 or element(l, start) != element(l, start - 1)):
            high, low, peak = _residuals_of_a_block(l, start, slope)
            top = high
        else:
            high, low, top, peak = _residuals_one_by_one(l, n, start, slope)
        put(records, S0 * row + block, top)
        put(records, U0 * row + block, high)
        put(records, U1 * row + block, high + slope * (BLOCK - 1))
        put(records, W0 * row + block, low)
        put(records, W1 * row + block, low + slope * (BLOCK - 1))
        put(records, SLOPE * row + block, slope)
        put(records, PEAK * row + block, np.float64(peak))
        put(records, HEIGHT * row + block, element(l, min(peak, n - 1)))
        put(records, FIRST * row + block, element(l, start))
    close_level(records, 0, count)


@njit(nogil=True, cache=True, counts_references=False, forceinline=True)
def _residuals_of_a_block(l, start, slope):
    """Return the largest and the least residual of a whole block, and where the largest comes first."""
    trend = splat(slope)
    high = above_line(l, start, np.int64(0), trend)
    low, place = high, splat(0.0)
    for t in range(LANES, BLOCK, LANES):
        residuals = above_line(l, start, t, trend)
        place = chosen(high, residuals, splat(np.float64(t)), place)
        high = larger(residuals, high)
        low = smaller(residuals, low)
    highest = greatest(high)
    place = chosen(high, splat(highest), splat(np.inf), place + steps())
    return highest, least(low), start + np.int64(least(place))


@njit(nogil=True, cache=True, counts_references=False)
def _residuals_one_by_one(l, n, start, slope):
    """Return the same for the last block, or one whose first value occurs before it.

    Its third result is the largest residual among first occurrences, minus infinity if there are none; the
    fourth is the place of that one.
    """
    stop = min(start + BLOCK, n)
    high = low = l[start]
    for i in range(start, stop):
        residual = l[i] - slope * (i - start)
        high = max(high, residual)
        low = min(low, residual)
    peak = start
    while start > 0 and peak < stop and l[peak] == l[start - 1]:
        peak += 1
    top = -np.inf
    for i in range(peak, stop):
        top = max(top, l[i] - slope * (i - start))
    while peak < stop - 1 and l[peak] - slope * (peak - start) < top:
        peak += 1
    return high, low, top, peak


@njit(nogil=True, cache=True, counts_references=False)
def close_level(records, start, count):
    """Write empty blocks after the end of a level: no window starts or ends there.

    ``records`` is (RECORD, start + count + SPARE) float64, of which the level begins at ``start``.
    """
    for block in range(start + count, start + count + SPARE):
        records[U0, block] = -np.inf
        records[U1, block] = -np.inf
        records[W0, block] = np.inf
        records[W1, block] = np.inf
        records[S0, block] = -np.inf
        records[SLOPE, block] = 0.0
        records[PEAK, block] = 0.0
        records[HEIGHT, block] = 0.0
        records[FIRST, block] = np.inf


@njit(nogil=True, cache=True)
def require_layout(n, offsets, counts, room):
    """Raise unless the levels halve from ceil(n / BLOCK) blocks on and fit into ``room`` places.

    Each level begins with a group and is followed by SPARE empty blocks.

    ``offsets`` and ``counts`` are (levels,) int64.
    """
    require(counts.size > 0 and offsets.size >= counts.size, "the pyramid: offsets")
    blocks = (n + BLOCK - 1) >> BLOCK_SHIFT
    place = 0
    for level in range(counts.size):
        require(counts[level] == blocks, "the pyramid: counts")
        require(offsets[level] >= place and offsets[level] % GROUP == 0, "the pyramid: offsets")
        place = offsets[level] + blocks + SPARE
        blocks = (blocks + 1) >> 1
    require(place <= room, "the pyramid: records or lists of blocks")


@njit(nogil=True, cache=True, counts_references=False)
def build_parents(l, n, records, offsets, counts, grain, span):
    """Write the records of every coarser level from the level below it.

    Parameters
    ----------
    l : (n or more,) float64, ascending
    n : int, points
    records : (RECORD, blocks of all levels) float64, given for the finest level, written for the others
    offsets, counts : (levels,) int64, first record and number of blocks of each level
    grain, span : float64, as for `build_base`
    """
    require(l.size >= n, "build_parents: l")
    require_layout(n, offsets, counts, records.shape[1])
    require(records.shape[0] >= RECORD, "build_parents: records")
    for level in range(1, counts.size):
        size = BLOCK << level
        half = size >> 1
        limit = span / size
        below = offsets[level - 1]
        here = offsets[level]
        for block in range(counts[level]):
            start = block * size
            slope = local_slope(l, n, start, size, grain, limit)
            first, second = below + 2 * block, below + 2 * block + 1  # an empty one at the end is neutral
            high = max(
                max(records[U0, first], records[U1, first] - slope * (half - 1)),
                max(records[U0, second] - slope * half, records[U1, second] - slope * (size - 1)),
            )
            top, rise = records[S0, first], records[SLOPE, first]
            from_first = max(top, top + rise * (half - 1) - slope * (half - 1))
            top, rise = records[S0, second], records[SLOPE, second]
            from_second = max(top - slope * half, top + rise * (half - 1) - slope * (size - 1))
            low = min(
                min(records[W0, first], records[W1, first] - slope * (half - 1)),
                min(records[W0, second] - slope * half, records[W1, second] - slope * (size - 1)),
            )
            higher = first if from_first >= from_second else second
            row = here + block
            records[U0, row] = high
            records[U1, row] = high + slope * (size - 1)
            records[W0, row] = low
            records[W1, row] = low + slope * (size - 1)
            records[S0, row] = max(from_first, from_second)
            records[SLOPE, row] = slope
            records[PEAK, row] = records[PEAK, higher]
            records[HEIGHT, row] = records[HEIGHT, higher]
            records[FIRST, row] = records[FIRST, first]
        close_level(records, here, counts[level])
