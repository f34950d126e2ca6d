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
    units.  Runs of equal exponents, which ascending arrays have, are added up first.  Each addition to
    ``low`` is less than 2^32, so that 2^31 of them do not overflow, and each to ``high`` is less than 2^31.

    Parameters
    ----------
    bits : (n,) int64, the bits of float64 numbers
    low, high : (EXPONENTS,) int64, added to
    """
    require(low.size >= EXPONENTS and high.size >= EXPONENTS, "add_by_exponent: sums")
    fraction = (np.int64(1) << FRACTION) - 1
    implicit = np.int64(1) << FRACTION
    mask = (np.int64(1) << LOW) - 1
    i = 0
    strange = False
    while i < bits.size:
        exponent = bits[i] >> FRACTION
        if not 0 <= exponent < EXPONENTS - 1:
            strange = True
            i += 1
            continue
        stop = min(i + TOGETHER, bits.size)
        total = np.int64(0)
        first = i
        while i < stop and bits[i] >> FRACTION == exponent:
            total += bits[i] & fraction
            i += 1
        if exponent > 0:  # below the normal numbers there is no implicit bit
            total += (i - first) * implicit
        low[exponent] += total & mask
        high[exponent] += total >> LOW
    return strange
