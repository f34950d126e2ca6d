"""Sorting one column: a radix sort of the float bits, several times faster than a comparison sort.

The bits of an IEEE float, with the sign bit flipped for positive numbers and all bits flipped for negative ones, order
like unsigned integers.  Three passes over 11-bit digits sort a float32, six sort a float64; a pass whose digit is the
same everywhere is skipped.  The caller has excluded NaN.
"""

from __future__ import annotations

import numpy as np
from numba import njit

DIGIT = 11
BUCKETS = 1 << DIGIT


@njit(nogil=True, cache=True)
def keys_and_counts_32(bits, keys, counts):
    """Write order-preserving keys of the float32 ``bits`` and count the three digits of each."""
    counts[:] = 0
    for i in range(bits.size):
        b = bits[i]
        key = np.uint32(b ^ (np.uint32(np.int32(b) >> np.int32(31)) | np.uint32(0x80000000)))
        keys[i] = key
        counts[0, key & np.uint32(2047)] += 1
        counts[1, (key >> np.uint32(11)) & np.uint32(2047)] += 1
        counts[2, key >> np.uint32(22)] += 1


@njit(nogil=True, cache=True)
def keys_and_counts_64(bits, keys, counts):
    """Write order-preserving keys of the float64 ``bits`` and count the six digits of each."""
    counts[:] = 0
    for i in range(bits.size):
        b = bits[i]
        key = np.uint64(b ^ (np.uint64(np.int64(b) >> np.int64(63)) | np.uint64(0x8000000000000000)))
        keys[i] = key
        counts[0, key & np.uint64(2047)] += 1
        counts[1, (key >> np.uint64(11)) & np.uint64(2047)] += 1
        counts[2, (key >> np.uint64(22)) & np.uint64(2047)] += 1
        counts[3, (key >> np.uint64(33)) & np.uint64(2047)] += 1
        counts[4, (key >> np.uint64(44)) & np.uint64(2047)] += 1
        counts[5, key >> np.uint64(55)] += 1


@njit(nogil=True, cache=True)
def radix_passes(keys, spare, counts):
    """Sort ``keys`` by all digits, least significant first; return True if the result lies in ``spare``."""
    n = keys.size
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
    """Turn sorted keys back into float32 bits, in place."""
    for i in range(keys.size):
        key = keys[i]
        keys[i] = key ^ (np.uint32(np.int32(~key) >> np.int32(31)) | np.uint32(0x80000000))


@njit(nogil=True, cache=True)
def keys_to_bits_64(keys, bits):
    """Turn sorted keys back into float64 bits."""
    for i in range(keys.size):
        key = keys[i]
        bits[i] = key ^ (np.uint64(np.int64(~key) >> np.int64(63)) | np.uint64(0x8000000000000000))


@njit(nogil=True, cache=True)
def count_steps(column, per_step, first_step, counts):
    """Count the values of each step floor(x * per_step); ``per_step`` is a power of two, so nothing rounds."""
    counts[:] = 0
    for i in range(column.size):
        counts[np.int32(np.floor(column[i] * per_step) - first_step)] += 1


@njit(nogil=True, cache=True)
def expand_steps(counts, step, first_step, values):
    """Write each step's value as often as it was counted: the sorted, quantised column."""
    start = 0
    for at in range(counts.size):
        count = counts[at]
        value = (first_step + at) * step
        for i in range(
            start, start + 4
        ):  # most steps are short: four stores at once, the surplus is overwritten
            values[i] = value
        for i in range(start + 4, start + count):
            values[i] = value
        start += count


@njit(nogil=True, cache=True)
def step_keys(column, per_step, first_step, keys, counts):
    """Number every value's step from 0 and count the two digits of each number; for at most 2**22 steps."""
    counts[:] = 0
    for first in range(0, column.size, 1024):
        stop = min(first + 1024, column.size)
        for i in range(first, stop):
            keys[i] = np.uint32(np.floor(column[i] * per_step) - first_step)
        for i in range(first, stop):
            key = keys[i]
            counts[0, key & np.uint32(2047)] += 1
            counts[1, key >> np.uint32(11)] += 1


@njit(nogil=True, cache=True)
def steps_to_values(keys, step, first_step, values):
    """Turn sorted step numbers into values."""
    for i in range(keys.size):
        values[i] = (first_step + keys[i]) * step
