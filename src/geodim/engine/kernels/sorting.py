"""Sorting one column: a radix sort of the float bits, several times faster than a scalar comparison sort.

If the sign bit of positive numbers and all bits of negative numbers are flipped, IEEE floats are ordered like
unsigned integers.  Three passes over 11-bit digits sort a float32, six sort a float64; a pass whose digit is
the same everywhere is skipped.  Long columns fit no cache: see `geodim.engine.kernels.dealing`.  The caller
has excluded NaN.
"""

from __future__ import annotations

import numpy as np

from geodim.compiled import njit
from geodim.engine.kernels._bounds import require
from geodim.engine.kernels.lanes import element, prefetch, put
from geodim.errors import DataChangedError

DIGIT = 11
BUCKETS = 1 << DIGIT
STEPS_OF_TWO_DIGITS = 1 << 2 * DIGIT
OUTSIDE = (
    "a value lies outside of the range that an earlier pass over the data found: "
    "did the data change in between?"
)
AHEAD = 2048  # values fetched ahead of those that are counted, a line of the cache at a time:
LINE = 16  # values


@njit(nogil=True, cache=True)
def key_of_bits(bits):
    """Return the order-preserving key of a float32, both as uint32."""
    return np.uint32(bits ^ (np.uint32(np.int32(bits) >> np.int32(31)) | np.uint32(0x80000000)))


@njit(nogil=True, cache=True)
def bits_of_key(key):
    """Return the bits of the float32 that has this order-preserving key, both as uint32."""
    return np.uint32(key ^ (np.uint32(np.int32(~key) >> np.int32(31)) | np.uint32(0x80000000)))


@njit(nogil=True, cache=True)
def key_of_bits_64(bits):
    """Return the order-preserving key of a float64, both as uint64."""
    return np.uint64(bits ^ (np.uint64(np.int64(bits) >> np.int64(63)) | np.uint64(0x8000000000000000)))


@njit(nogil=True, cache=True)
def bits_of_key_64(key):
    """Return the bits of the float64 that has this order-preserving key, both as uint64."""
    return np.uint64(key ^ (np.uint64(np.int64(~key) >> np.int64(63)) | np.uint64(0x8000000000000000)))


@njit(nogil=True, cache=True)
def keys_and_counts_32(bits, keys, counts):
    """Write order-preserving keys of the float32 ``bits`` and count the three digits of each.

    Parameters
    ----------
    bits, keys : (n,) uint32, keys written
    counts : (3, BUCKETS) int64, written
    """
    require(keys.size >= bits.size, "keys_and_counts_32: keys")
    require(counts.shape[0] >= 3 and counts.shape[1] >= BUCKETS, "keys_and_counts_32: counts")
    counts[:] = 0
    for i in range(bits.size):
        key = key_of_bits(bits[i])
        keys[i] = key
        counts[0, key & np.uint32(2047)] += 1
        counts[1, (key >> np.uint32(11)) & np.uint32(2047)] += 1
        counts[2, key >> np.uint32(22)] += 1


@njit(nogil=True, cache=True)
def keys_and_counts_64(bits, keys, counts):
    """Write order-preserving keys of the float64 ``bits`` and count the six digits of each.

    Parameters
    ----------
    bits, keys : (n,) uint64, keys written
    counts : (6, BUCKETS) int64, written
    """
    require(keys.size >= bits.size, "keys_and_counts_64: keys")
    require(counts.shape[0] >= 6 and counts.shape[1] >= BUCKETS, "keys_and_counts_64: counts")
    counts[:] = 0
    for i in range(bits.size):
        key = key_of_bits_64(bits[i])
        keys[i] = key
        counts[0, key & np.uint64(2047)] += 1
        counts[1, (key >> np.uint64(11)) & np.uint64(2047)] += 1
        counts[2, (key >> np.uint64(22)) & np.uint64(2047)] += 1
        counts[3, (key >> np.uint64(33)) & np.uint64(2047)] += 1
        counts[4, (key >> np.uint64(44)) & np.uint64(2047)] += 1
        counts[5, key >> np.uint64(55)] += 1


@njit(nogil=True, cache=True)
def radix_passes(keys, spare, counts):
    """Sort ``keys`` by all digits, least significant first; return True if the result is in ``spare``.

    ``counts`` must belong to exactly these keys: `keys_and_counts_32` and its siblings write both in one
    pass.

    Parameters
    ----------
    keys, spare : (n,) uint32 or uint64, n >= 1, both written
    counts : (digits, BUCKETS) int64
    """
    n = keys.size
    require(n > 0 and spare.size >= n, "radix_passes: spare")
    require(counts.shape[1] >= BUCKETS, "radix_passes: counts")
    source, target = keys, spare
    swapped = False
    for digit in range(counts.shape[0]):
        shift = keys.dtype.type(digit * DIGIT)
        mask = keys.dtype.type(BUCKETS - 1)
        offsets = counts[digit]
        if offsets[(source[0] >> shift) & mask] == n:
            continue
        total = 0
        for bucket in range(BUCKETS):
            count = offsets[bucket]
            offsets[bucket] = total
            total += count
        require(total == n, "radix_passes: counts of other keys")
        for i in range(n):
            key = source[i]
            bucket = (key >> shift) & mask
            target[offsets[bucket]] = key
            offsets[bucket] += 1
        source, target = target, source
        swapped = not swapped
    return swapped


@njit(nogil=True, cache=True)
def keys_to_bits_32(keys):
    """Turn sorted keys back into float32 bits, in place.

    Parameters
    ----------
    keys : (n,) uint32, changed in place
    """
    for i in range(keys.size):
        keys[i] = bits_of_key(keys[i])


@njit(nogil=True, cache=True)
def keys_to_values_32(keys, values):
    """Turn sorted keys back into float32 values, as float64.

    Parameters
    ----------
    keys : (n,) uint32
    values : (n or more,) float64, written
    """
    require(values.size >= keys.size, "keys_to_values_32: values")
    for i in range(keys.size):
        values[i] = np.uint32(bits_of_key(keys[i])).view(np.float32)


@njit(nogil=True, cache=True)
def keys_to_bits_64(keys, bits):
    """Turn sorted keys back into float64 bits.

    Parameters
    ----------
    keys, bits : (n,) uint64, bits written
    """
    require(bits.size >= keys.size, "keys_to_bits_64: bits")
    for i in range(keys.size):
        bits[i] = bits_of_key_64(keys[i])


@njit(nogil=True, cache=True)
def count_steps(column, per_step, first_step, counts):
    """Add up the values in each step floor(x * per_step); ``per_step`` is a power of two: nothing rounds.

    The steps cover the range that an earlier pass found; a value outside of it raises an error.

    Parameters
    ----------
    column : (n,) floats, in any order
    per_step : of the type of the column, steps per unit of the data
    first_step : of the type of the column, a whole number
    counts : (steps,) integers, points, added to
    """
    require(counts.size > 0, "count_steps: counts")
    steps = column.dtype.type(counts.size)
    places = np.empty(1024, np.int32)
    outside = 0
    for first in range(0, column.size, places.size):
        some = column[first : first + places.size]
        for i in range(some.size):  # vectorised; a value outside gets a harmless position
            at = np.floor(some[i] * per_step) - first_step
            inside = at >= 0 and at < steps
            places[i] = np.int32(at) if inside else np.int32(0)
            outside += 0 if inside else 1
        for begin in range(0, some.size, LINE):
            prefetch(column, min(first + AHEAD + begin, column.size - 1))
            for i in range(begin, min(begin + LINE, some.size)):
                at = np.int64(element(places, i))
                put(counts, at, counts.dtype.type(element(counts, at) + 1))
    if outside > 0:
        raise DataChangedError(OUTSIDE)


@njit(nogil=True, cache=True)
def expand_steps(counts, step, first_step, values):
    """Write the value of each step as often as it was counted, which gives the sorted, rounded column.

    Every step writes at least four entries, so up to four entries after the last value are overwritten.

    Parameters
    ----------
    counts : (steps,) integers, n points in all
    step : float64, in the units of the data
    first_step : float64, a whole number
    values : (up to n + 4,) float64, ascending, written
    """
    start = 0
    for at in range(counts.size):
        count = counts[at]
        require(count >= 0 and start + max(count, 4) <= values.size, "expand_steps: values")
        value = (first_step + at) * step
        # Most steps are short: four stores at once; the next step overwrites the surplus.
        for i in range(start, start + 4):
            values[i] = value
        for i in range(start + 4, start + count):
            values[i] = value
        start += count


@njit(nogil=True, cache=True)
def step_keys(column, per_step, first_step, keys, counts):
    """Number the step of every value from 0, and count both digits of these numbers; at most 2**22 steps.

    As in `count_steps`, no value may lie outside of the steps.  One that does gets the number 0, so that it
    is safe as an index.

    Parameters
    ----------
    column : (n,) floats, in any order
    per_step, first_step : of the type of the column, as for `count_steps`
    keys : (n,) uint32, written
    counts : (2, BUCKETS) int64, written
    """
    require(keys.size >= column.size, "step_keys: keys")
    require(counts.shape[0] >= 2 and counts.shape[1] >= BUCKETS, "step_keys: counts")
    counts[:] = 0
    outside = 0
    for first in range(0, column.size, 1024):
        stop = min(first + 1024, column.size)
        for i in range(first, stop):
            at = np.floor(column[i] * per_step) - first_step
            inside = at >= 0 and at < STEPS_OF_TWO_DIGITS
            keys[i] = np.uint32(at) if inside else np.uint32(0)
            outside += 0 if inside else 1
        for i in range(first, stop):
            key = keys[i]
            counts[0, key & np.uint32(2047)] += 1
            counts[1, key >> np.uint32(11)] += 1
    if outside > 0:
        raise DataChangedError(OUTSIDE)


@njit(nogil=True, cache=True)
def steps_to_values(keys, step, first_step, values):
    """Turn sorted step numbers into values.

    Parameters
    ----------
    keys : (n,) uint32, numbers of steps
    step, first_step : float64, as for `expand_steps`
    values : (n,) float64, written
    """
    require(values.size >= keys.size, "steps_to_values: values")
    for i in range(keys.size):
        values[i] = (first_step + keys[i]) * step
