"""Lines around blocks, measured from the block's own first value: as sharp as the values themselves.

The pyramid holds lines in the units of the column, so each of them may be off by a rounding of the largest
value.  Where windows differ only by such roundings (float grids, ranks over n, time axes), those lines are of
no use.  Here a block of B values with first index a and a slope s keeps the extremes of the residuals

    r_t = (l[a + t] - l[a]) - s t,        0 <= t < B,

which are small numbers, off only by roundings of the residuals themselves.  The slope is inherited from the
parent, so that straight stretches have one slope throughout, unless a slope fitted to the block leaves
clearly smaller residuals.  Every block also has a quantum, the largest power of two that divides all its
values.  Widths between two blocks are multiples of the smaller quantum, so a narrower window is narrower by
at least that (F20, F21).
"""

from __future__ import annotations

import math

import numpy as np

from geodim.compiled import njit
from geodim.engine.kernels._bounds import require
from geodim.engine.kernels.lanes import (
    LANES,
    greatest,
    larger,
    last,
    least,
    load,
    running,
    smaller,
    splat,
    steps,
)
from geodim.engine.kernels.pyramid import BASE, BASE_SHIFT

SLOPE, LOW, HIGH, OFF = 0, 1, 2, 3
LINE = 4  # numbers per block
FAN_SHIFT = 2  # a parent has four children
SAMPLES = 1 << 16  # values that a slope is fitted to
BENT = 8.0  # the fewer values a block has, the more a fitted slope reduces its residuals by chance
CURVED = 1024.0  # spacings; a column that bends more than this is far from any line
NO_BIT = 2000  # the quantum of zeros: any power of two divides them


@njit(nogil=True, cache=True, counts_references=False)
def spread_around_line(l, n):
    """Return the spread of every 32nd value around their best-fitting line, in units of its slope.

    Returns infinity if three values already show that it is too large to matter: around no line is the spread
    less than their bend, and the least-squares slope of ascending values is at most 3/2 of the range divided
    by the length.

    Parameters
    ----------
    l : (n or more,) float64, ascending
    n : int, points, at least 1
    """
    require(0 < n <= l.size, "spread_around_line: l")
    count = (n + BASE - 1) >> BASE_SHIFT
    quarter = (count - 1) >> 2
    if quarter > 0:
        middle = quarter << BASE_SHIFT
        bend = abs(l[middle] - 0.5 * (l[0] + l[2 * middle]))
        steepest = 2.0 * (l[n - 1] - l[0]) / ((count - 1) << BASE_SHIFT)
        if bend > CURVED * steepest:
            return np.inf
    mean = 0.0
    for block in range(count):
        mean += l[block << BASE_SHIFT] / count
    products = 0.0
    squares = 0.0
    for block in range(count):
        x = (block - 0.5 * (count - 1)) * BASE
        products += x * (l[block << BASE_SHIFT] - mean)
        squares += x * x
    c = products / max(squares, 1.0)
    if c <= 0.0:
        return np.inf
    low = np.inf
    high = -np.inf
    for block in range(count):
        residual = l[block << BASE_SHIFT] - c * (block << BASE_SHIFT)
        high = max(high, residual)
        low = min(low, residual)
    return (high - low) / c


@njit(nogil=True, cache=True, counts_references=False)
def lowest_bits(bits, n, quanta):
    """Write for every base block the exponent of the largest power of two that divides all its values.

    Parameters
    ----------
    bits : (n or more,) int64, the values as bits of float64
    n : int, points
    quanta : (ceil(n / BASE) or more,) int32, exponents, written
    """
    count = (n + BASE - 1) >> BASE_SHIFT
    require(bits.size >= n, "lowest_bits: bits")
    require(quanta.size >= count, "lowest_bits: quanta")
    for block in range(count):
        least = NO_BIT
        for i in range(block << BASE_SHIFT, min((block + 1) << BASE_SHIFT, n)):
            exponent = (bits[i] >> 52) & 0x7FF
            mantissa = bits[i] & 0xFFFFFFFFFFFFF
            if exponent > 0:
                mantissa |= 1 << 52
            else:
                exponent = 1
            if mantissa != 0:
                least = min(least, exponent - 1075 + math.frexp(np.float64(mantissa & -mantissa))[1] - 1)
        quanta[block] = least


@njit(nogil=True, cache=True, inline="always")
def halves(slope):
    """Split a float into a sum of two with 26 bits each, whose products with positions are exact."""
    wide = slope * 134217729.0  # 2^27 + 1
    head = wide - (wide - slope)
    return head, slope - head


@njit(nogil=True, cache=True, inline="always")
def difference(a, b):
    """Return a - b as a float, and its rounding error: together they are exactly the difference."""
    width = a - b
    back = width - a
    return width, (a - (width - back)) - (b + back)


@njit(nogil=True, cache=True, counts_references=False)
def fitted_slope(l, first, size):
    """Return the least-squares slope of a block, fitted around its chord to at most `SAMPLES` values.

    ``l`` is (first + size or more,) float64, ascending.
    """
    if size < 2:
        return 0.0
    base = l[first]
    slope = (l[first + size - 1] - base) / (size - 1)
    stride = max(size // SAMPLES, 1)
    count = (size + stride - 1) // stride
    middle = 0.5 * stride * (count - 1)
    products = 0.0
    m = 0
    if stride == 1:
        sums, t, begin, chord, half = splat(0.0), steps(), splat(base), splat(slope), splat(middle)
        while m + LANES <= count:
            sums = sums + (t - half) * ((load(l, first + m) - begin) - chord * t)
            t = t + splat(np.float64(LANES))
            m += LANES
        products = least(last(running(sums)))
    for rest in range(m, count):
        t = rest * stride
        products += (t - middle) * ((l[first + t] - base) - slope * t)
    squares = np.float64(stride) ** 2 * count * (np.float64(count) ** 2 - 1.0) / 12.0
    return max(slope + products / squares, 0.0) if squares > 0.0 else slope


@njit(nogil=True, cache=True, counts_references=False)
def residual_ranges(l, first, size, slope, other):
    """Return the least and greatest residual of a block from two lines through its first value.

    ``l`` is (first + size or more,) float64, ascending; ``slope`` and ``other`` in its units per index.
    """
    base = l[first]
    head, tail = halves(slope)
    other_head, other_tail = halves(other)
    begin, t = splat(base), steps()
    heads, tails, other_heads, other_tails = splat(head), splat(tail), splat(other_head), splat(other_tail)
    lows, highs, other_lows, other_highs = splat(0.0), splat(0.0), splat(0.0), splat(0.0)
    m = 0
    while m + LANES <= size:
        value = load(l, first + m)
        width = value - begin  # and what is lost, as `difference` finds it
        back = width - value
        lost = (value - (width - back)) - (begin + back)
        residual = ((width - heads * t) - tails * t) + lost
        lows, highs = smaller(residual, lows), larger(residual, highs)
        residual = ((width - other_heads * t) - other_tails * t) + lost
        other_lows, other_highs = smaller(residual, other_lows), larger(residual, other_highs)
        t = t + splat(np.float64(LANES))
        m += LANES
    low, high, other_low, other_high = least(lows), greatest(highs), least(other_lows), greatest(other_highs)
    for rest in range(m, size):
        far, gone = difference(l[first + rest], base)
        departs = ((far - head * rest) - tail * rest) + gone
        low, high = min(low, departs), max(high, departs)
        departs = ((far - other_head * rest) - other_tail * rest) + gone
        other_low, other_high = min(other_low, departs), max(other_high, departs)
    return low, high, other_low, other_high


@njit(nogil=True, cache=True, counts_references=False)
def require_lines(n, offsets, counts, room):
    """Raise unless each level has a quarter of the blocks below it, down to one, and all fit ``room``.

    ``offsets`` and ``counts`` are (levels,) int64, the finest level first.
    """
    require(counts.size > 0 and offsets.size >= counts.size, "the lines: offsets")
    blocks = (n + BASE - 1) >> BASE_SHIFT
    place = 0
    for level in range(counts.size):
        require(counts[level] == blocks, "the lines: counts")
        require(offsets[level] >= place, "the lines: offsets")
        place = offsets[level] + blocks
        blocks = (blocks + (1 << FAN_SHIFT) - 1) >> FAN_SHIFT
    require(place <= room, "the lines: records")
    require(counts[counts.size - 1] == 1, "the lines: counts")


@njit(nogil=True, cache=True, counts_references=False)
def build_lines(l, n, offsets, counts, records, quanta):
    """Write the lines of all levels, coarsest first, and the quanta of all levels but the finest.

    Parameters
    ----------
    l : (n or more,) float64, ascending
    n : int, points
    offsets, counts : (levels,) int64, first record and number of blocks of each level, the finest first
    records : (blocks of all levels, LINE) float64, written
    quanta : (blocks of all levels,) int32, given for the finest level, written for the others
    """
    require(0 < n <= l.size, "build_lines: l")
    require_lines(n, offsets, counts, min(records.shape[0], quanta.size))
    require(records.shape[1] >= LINE, "build_lines: records")
    top = counts.size - 1
    for level in range(1, counts.size):
        below, here = offsets[level - 1], offsets[level]
        for block in range(counts[level]):
            least = np.int64(NO_BIT)
            for child in range(block << FAN_SHIFT, min((block + 1) << FAN_SHIFT, counts[level - 1])):
                least = min(least, np.int64(quanta[below + child]))
            quanta[here + block] = least
    for level in range(top, -1, -1):
        size = BASE << (FAN_SHIFT * level)
        for block in range(counts[level]):
            first = block * size
            points = min(size, n - first)
            slope = fitted_slope(l, first, points)
            inherited = records[offsets[level + 1] + (block >> FAN_SHIFT), SLOPE] if level < top else slope
            low, high, other_low, other_high = residual_ranges(l, first, points, slope, inherited)
            if other_high - other_low <= (1.0 + BENT / math.sqrt(points)) * (high - low):
                slope, low, high = inherited, other_low, other_high
            row = records[offsets[level] + block]
            row[SLOPE], row[LOW], row[HIGH] = slope, low, high
            width = (l[first + points - 1] - l[first]) + slope * size
            row[OFF] = 2.0**-50 * (max(high, -low) + 2.0**-25 * width)


@njit(nogil=True, cache=True, counts_references=False)
def departures(l, n, shift, slopes, u):
    """Write how far every value departs from the line around it; this shows which window ends are promising.

    With a single slope, it is the line through the first value.  Otherwise every block has its own line,
    centred on the block's mean.

    Parameters
    ----------
    l : (n or more,) float64, ascending
    n : int, points
    shift : int, a block has 2**shift values
    slopes : (1,) or (blocks,) float64
    u : (n,) float64, written
    """
    require(0 < n <= l.size, "departures: l")
    require(u.size >= n, "departures: u")
    blocks = (n + (1 << shift) - 1) >> shift
    require(slopes.size == 1 or slopes.size >= blocks, "departures: slopes")
    if slopes.size == 1:
        head, tail = halves(slopes[0])
        for i in range(n):
            width, lost = difference(l[i], l[0])
            u[i] = ((width - head * i) - tail * i) + lost
        return
    for block in range(blocks):
        first, stop = block << shift, min((block + 1) << shift, n)
        mean = 0.0
        for i in range(first, stop):
            u[i] = (l[i] - l[first]) - slopes[block] * (i - first)
            mean += u[i] / (stop - first)
        for i in range(first, stop):
            u[i] -= mean
