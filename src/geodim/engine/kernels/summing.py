"""Sums without rounding: non-negative numbers, added up as integers, one sum per exponent.

A float64 is an integer of 53 bits times a power of two.  The integers of one exponent are added exactly, in
any order; Python's integers combine the few exponents (see `geodim.engine.parts.exact_sum`).
"""

from __future__ import annotations

import numpy as np

from geodim.compiled import njit
from geodim.engine.kernels._bounds import require

EXPONENTS = 2048
FRACTION = 52
TOGETHER = 1 << 10  # this many numbers of 53 bits add up to less than 2^63
LOW = 32  # bits of a sum that go to one counter; the rest goes to a second one


@njit(nogil=True, cache=True)
def add_by_exponent(bits, low, high):
    """Add numbers, given by their bits, to the sums of their exponents.

    Returns True if a number is infinite, NaN or negative.  The sum of exponent e is ``low[e] + 2^32 high[e]``
    units.  In ascending arrays nearly all neighbours have the same exponent and are added up first, with
    vector instructions.  Each addition to ``low`` is less than 2^32, so that 2^31 of them do not overflow,
    and each to ``high`` is less than 2^31.

    Parameters
    ----------
    bits : (n,) int64, the bits of float64 numbers
    low, high : (EXPONENTS,) int64, added to
    """
    require(low.size >= EXPONENTS and high.size >= EXPONENTS, "add_by_exponent: sums")
    fraction = (np.int64(1) << FRACTION) - 1
    strange = False
    for start in range(0, bits.size, TOGETHER):
        some = bits[start : start + TOGETHER]
        first = some[0]
        total, differing = np.int64(0), np.int64(0)
        for i in range(some.size):
            total += some[i] & fraction
            differing |= some[i] ^ first
        exponent = first >> FRACTION
        if differing >> FRACTION == 0 and 0 <= exponent < EXPONENTS - 1:
            _add_run(exponent, total, some.size, low, high)
        else:
            strange |= _add_runs(some, low, high)
    return strange


@njit(nogil=True, cache=True)
def _add_runs(bits, low, high):
    """Do the same as `add_by_exponent` for at most TOGETHER numbers, one run of equal exponents at a time."""
    fraction = (np.int64(1) << FRACTION) - 1
    i = 0
    strange = False
    while i < bits.size:
        exponent = bits[i] >> FRACTION
        if not 0 <= exponent < EXPONENTS - 1:
            strange = True
            i += 1
            continue
        total = np.int64(0)
        first = i
        while i < bits.size and bits[i] >> FRACTION == exponent:
            total += bits[i] & fraction
            i += 1
        _add_run(exponent, total, i - first, low, high)
    return strange


@njit(nogil=True, cache=True)
def _add_run(exponent, total, count, low, high):
    """Add ``count`` numbers of one exponent, of which the fractions add up to ``total``."""
    if exponent > 0:  # below the normal numbers there is no implicit bit
        total += count * (np.int64(1) << FRACTION)
    low[exponent] += total & ((np.int64(1) << LOW) - 1)
    high[exponent] += total >> LOW
