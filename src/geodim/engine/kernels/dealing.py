"""Sorting one long column, which fits no cache: dealt out into shares, each of which is sorted in the cache.

Shares are told by the leading bits of the float32 nearest to a value: its sign, its exponent and five bits of
the mantissa.  Rounding keeps the order, so this serves float64 as well.  Two passes over digits sort a share:
of a float32 these are all the other bits; of a float64 the leading bits of what sets its keys apart, after
which mostly few values are out of order, and these are moved.  Keys are those of
`geodim.engine.kernels.sorting`.
"""

from __future__ import annotations

import numpy as np

from geodim.compiled import njit
from geodim.engine.kernels._bounds import require
from geodim.engine.kernels.lanes import element, put
from geodim.engine.kernels.sorting import (
    BUCKETS,
    DIGIT,
    bits_of_key,
    bits_of_key_64,
    key_of_bits,
    key_of_bits_64,
)
from geodim.errors import DataChangedError

LEADING = 14  # bits by which a long column is dealt out
SHARES = 1 << LEADING
HALF_REST = (32 - LEADING) // 2  # the other bits of a float32 form two digits of this many bits
HALF_BUCKETS = 1 << HALF_REST
INSERT = 32  # shares up to this size are sorted by insertion
CHUNK = 1024
LARGEST = np.finfo(np.float32).max
LARGE = 1 << 15  # a share of so many float64 has longer digits, so that few values have both in common
MOST_MOVED = 8  # places for each value of a share: what digits leave in disorder is not sorted by insertion
CHANGED = "the values of a column changed while it was sorted"


@njit(nogil=True, cache=True)
def deal_out(bits, keys, stops):
    """Write the keys of the float32 ``bits``, ordered only by their leading bits.

    ``stops`` receives the end of each share.  The bits are read twice, and another thread may have changed
    them in between, so each position is checked before it is written.

    Parameters
    ----------
    bits, keys : (n,) uint32, keys written
    stops : (SHARES,) int64, positions, written
    """
    n = bits.size
    require(keys.size >= n, "deal_out: keys")
    require(stops.size >= SHARES, "deal_out: stops")
    shift = np.uint32(32 - LEADING)
    stops[:] = 0
    for i in range(bits.size):
        stops[key_of_bits(bits[i]) >> shift] += 1
    total = 0
    for share in range(SHARES):
        count = stops[share]
        stops[share] = total
        total += count
    for i in range(bits.size):
        key = key_of_bits(bits[i])
        share = key >> shift
        at = stops[share]
        if at < n:
            keys[at] = key
            stops[share] = at + 1


@njit(nogil=True, cache=True)
def sort_shares(keys, spare, stops, floats, values):
    """Sort each share by its remaining bits and write its values, while it is in the cache.

    ``floats`` is the memory of ``keys`` viewed as float32.  The column must have fewer than 2**31 points.

    Parameters
    ----------
    keys, spare : (n,) uint32, both written
    stops : (SHARES,) int64, as `deal_out` writes it
    floats : (n,) float32
    values : (n,) float64, ascending, written
    """
    n = keys.size
    require(spare.size >= n, "sort_shares: spare")
    require(floats.size >= n, "sort_shares: floats")
    require(values.size >= n, "sort_shares: values")
    require(stops.size >= SHARES, "sort_shares: stops")
    low_counts = np.empty(HALF_BUCKETS, np.int32)
    high_counts = np.empty(HALF_BUCKETS, np.int32)
    start = 0
    for share in range(SHARES):
        stop = stops[share]
        if stop < start or stop > n:
            raise DataChangedError(CHANGED)
        if stop - start > INSERT:
            sort_share(keys[start:stop], spare[start:stop], low_counts, high_counts)
        else:
            inserted(keys, start, stop, np.int64(INSERT * INSERT))
            for i in range(start, stop):
                keys[i] = bits_of_key(keys[i])
        sorted_floats, share_values = floats[start:stop], values[start:stop]  # from 0, so that it vectorises
        for i in range(stop - start):
            share_values[i] = sorted_floats[i]
        start = stop
    if start != n:
        raise DataChangedError(CHANGED)


@njit(nogil=True, cache=True)
def sort_share(keys, spare, low_counts, high_counts):
    """Make two radix passes over the bits that the keys of a share do not have in common.

    Leaves float32 bits in ``keys``.  ``keys`` and ``spare`` are (m,) uint32; the counts are scratch.
    """
    shift = np.uint32(HALF_REST)
    mask = np.uint32(HALF_BUCKETS - 1)
    low_counts[:] = 0
    high_counts[:] = 0
    for i in range(keys.size):
        key = keys[i]
        low_counts[key & mask] += 1
        high_counts[(key >> shift) & mask] += 1
    low_total, high_total = np.int32(0), np.int32(0)
    for bucket in range(HALF_BUCKETS):
        count = low_counts[bucket]
        low_counts[bucket] = low_total
        low_total += count
        count = high_counts[bucket]
        high_counts[bucket] = high_total
        high_total += count
    for i in range(keys.size):
        key = keys[i]
        bucket = key & mask
        at = low_counts[bucket]
        spare[at] = key
        low_counts[bucket] = at + np.int32(1)
    for i in range(keys.size):
        key = spare[i]
        bucket = (key >> shift) & mask
        at = high_counts[bucket]
        keys[at] = bits_of_key(key)
        high_counts[bucket] = at + np.int32(1)


@njit(nogil=True, cache=True, counts_references=False)
def inserted(keys, start, stop, most):
    """Sort keys[start:stop] by insertion; return False if keys would have to move by more than ``most``.

    Then they are the same keys still, in some order.  ``keys`` is (n,) uint32 or uint64.
    """
    moved = np.int64(0)
    for i in range(start + 1, stop):
        key, at = element(keys, i), i
        while at > start and element(keys, at - 1) > key:
            put(keys, at, element(keys, at - 1))
            at -= 1
        put(keys, at, key)
        moved += i - at
        if moved > most:
            return False
    return True


@njit(nogil=True, cache=True)
def deal_out_64(column, bits, keys, stops):
    """Do the same as `deal_out` for float64; values beyond float32 all go into the first or last share.

    Parameters
    ----------
    column, bits : (n,) float64, and the same memory as uint64
    keys : (n,) uint64, written
    stops : (SHARES,) int64, positions, written
    """
    n = column.size
    require(bits.size >= n, "deal_out_64: bits")
    require(keys.size >= n, "deal_out_64: keys")
    require(stops.size >= SHARES, "deal_out_64: stops")
    near = np.empty(CHUNK, np.float32)
    near_bits = near.view(np.uint32)
    stops[:] = 0
    for first in range(0, n, CHUNK):
        some = min(CHUNK, n - first)
        for i in range(some):  # vectorised
            near[i] = np.float32(min(max(column[first + i], -LARGEST), LARGEST))
        for i in range(some):
            share = share_of(near_bits, i)
            put(stops, share, element(stops, share) + 1)
    total = 0
    for share in range(SHARES):
        count = stops[share]
        stops[share] = total
        total += count
    for first in range(0, n, CHUNK):
        some = min(CHUNK, n - first)
        for i in range(some):
            near[i] = np.float32(min(max(column[first + i], -LARGEST), LARGEST))
        for i in range(some):
            share = share_of(near_bits, i)
            at = element(stops, share)
            if at < n:
                put(keys, at, key_of_bits_64(element(bits, first + i)))
                put(stops, share, at + 1)


@njit(nogil=True, cache=True, counts_references=False)
def share_of(bits, i):
    """Return the share of the float32 with ``bits[i]``, uint32."""
    return np.int64(key_of_bits(element(bits, i)) >> np.uint32(32 - LEADING))


@njit(nogil=True, cache=True)
def sort_shares_64(keys, spare, stops, bits):
    """Sort each share and write the bits of its values, while it is in the cache.

    Parameters
    ----------
    keys, spare : (n,) uint64, both written
    stops : (SHARES,) int64, as `deal_out_64` writes it
    bits : (n,) uint64, of ascending float64, written
    """
    n = keys.size
    require(spare.size >= n, "sort_shares_64: spare")
    require(bits.size >= n, "sort_shares_64: bits")
    require(stops.size >= SHARES, "sort_shares_64: stops")
    low_counts, high_counts = np.empty(BUCKETS, np.int32), np.empty(BUCKETS, np.int32)
    start = np.int64(0)
    for share in range(SHARES):
        stop = stops[share]
        if stop < start or stop > n:
            raise DataChangedError(CHANGED)
        if stop - start > INSERT:
            sort_share_64(keys, spare, start, stop, low_counts, high_counts)
        else:
            inserted(keys, start, stop, np.int64(INSERT * INSERT))
        for i in range(start, stop):
            bits[i] = bits_of_key_64(keys[i])
        start = stop
    if start != n:
        raise DataChangedError(CHANGED)


@njit(nogil=True, cache=True, counts_references=False)
def sort_share_64(keys, spare, start, stop, low_counts, high_counts):
    """Sort a share by the two leading digits of what its keys lie above the least, and what is left over.

    ``keys`` and ``spare`` are (n,) uint64, of which [start, stop) is the share; the counts are scratch.
    """
    least = greatest = element(keys, start)
    for i in range(start, stop):
        least, greatest = min(least, element(keys, i)), max(greatest, element(keys, i))
    above, width = greatest - least, 0
    while above > 0:
        above >>= np.uint64(1)
        width += 1
    digit = HALF_REST if stop - start < LARGE else DIGIT
    sort_two_digits(
        keys, spare, start, stop, least, max(width - 2 * digit, 0), digit, low_counts, high_counts
    )
    if inserted(keys, start, stop, MOST_MOVED * (stop - start)):
        return
    for shift in range(0, width, 2 * digit):  # values that stand close together, but not in one place
        sort_two_digits(keys, spare, start, stop, least, shift, digit, low_counts, high_counts)


@njit(nogil=True, cache=True, counts_references=False)
def sort_two_digits(keys, spare, start, stop, least, shift, digit, low_counts, high_counts):
    """Sort the keys of a share by two digits, from bit ``shift`` on, of what they lie above ``least``.

    Keys that have both in common stay in their order.  Arrays are those of `sort_share_64`.
    """
    buckets = np.int64(1) << digit
    mask = np.uint64(buckets - 1)
    low_shift, high_shift = np.uint64(shift), np.uint64(shift + digit)
    for bucket in range(buckets):
        put(low_counts, bucket, np.int32(0))
        put(high_counts, bucket, np.int32(0))
    for i in range(start, stop):
        key = element(keys, i) - least
        low, high = np.int64(key >> low_shift & mask), np.int64(key >> high_shift & mask)
        put(low_counts, low, np.int32(element(low_counts, low) + np.int32(1)))
        put(high_counts, high, np.int32(element(high_counts, high) + np.int32(1)))
    low_total, high_total = np.int32(0), np.int32(0)
    for bucket in range(buckets):
        count = element(low_counts, bucket)
        put(low_counts, bucket, low_total)
        low_total = np.int32(low_total + count)
        count = element(high_counts, bucket)
        put(high_counts, bucket, high_total)
        high_total = np.int32(high_total + count)
    for i in range(start, stop):
        key = element(keys, i)
        low = np.int64((key - least) >> low_shift & mask)
        at = element(low_counts, low)
        put(spare, start + np.int64(at), key)
        put(low_counts, low, np.int32(at + np.int32(1)))
    for i in range(start, stop):
        key = element(spare, i)
        high = np.int64((key - least) >> high_shift & mask)
        at = element(high_counts, high)
        put(keys, start + np.int64(at), key)
        put(high_counts, high, np.int32(at + np.int32(1)))
