"""Masses of points as whole numbers of one unit, so that their sums are exact.

A float64 is a whole number times a power of two.  The unit is the power of two for which all masses together
are 2^121 to 2^122 units.  Then every mass is a whole number of units, unless some weight has a binary digit
2^122 times smaller than the total, which is rare.  Whole numbers of 122 bits are stored in two int64 parts,
``high * 2^62 + low``.  Multiplying all weights by a power of two changes only the unit, and no other bit.

Weights with smaller digits are rounded up to units, so the mass of any set of the n points is off by less
than n units.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from geodim.engine.kernels.masses import LOW_BITS
from geodim.engine.parts import exact_sum
from geodim.engine.steps import MOST_POINTS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Parts = tuple[NDArray[np.int64], NDArray[np.int64]]

BITS = 122  # of all masses together; rounding up adds less than one bit
LOW_MASK = (1 << LOW_BITS) - 1
PART = 1 << 16  # weights converted at a time
CHUNK = 26  # bits: products of two such numbers have less than 53, so float64 does not round them
MOST_FACTOR = (1 << LOW_BITS // 2) - 1  # `products` needs one factor that is no larger
HUGE = 2.0**900  # widths whose products might overflow


@dataclass(frozen=True)
class Measure:
    """The masses of all points that have one.

    Attributes
    ----------
    high, low : array of int64
        High and low parts of every point's mass in units, which is more than 0.
    exponent : int
        A unit is 2^exponent.
    total : int
        Mass of all points together, in units.
    whole : bool
        Whether weights are multiplicities: whole numbers whose sum can be counted.
    rounded : bool
        Whether some weight had to be rounded to a whole number of units.
    size : int
        The number of points.
    """

    high: NDArray[np.int64]
    low: NDArray[np.int64]
    exponent: int
    total: int
    whole: bool
    rounded: bool
    size: int

    @classmethod
    def of(cls, weights: NDArray[Any]) -> Measure:
        """Make a measure of positive, finite weights with a finite sum: float64, int64 or uint64."""
        parts = [slice(at, at + PART) for at in range(0, weights.size, PART)]
        if weights.dtype.kind == "f":
            units = exact_sum(np.ascontiguousarray(weights, np.float64))
            assert units is not None
            exponent = units.bit_length() - 1074 - BITS
            whole = units <= MOST_POINTS << 1074 and all(
                bool(np.all(weights[part] == np.floor(weights[part]))) for part in parts
            )
        else:
            units = sum(_whole_sum(*_digits(weights[part])) for part in parts)
            exponent = units.bit_length() - BITS
            whole = units <= MOST_POINTS
        high, low, rounded = np.empty(weights.size, np.int64), np.empty(weights.size, np.int64), False
        for part in parts:
            high[part], low[part], lost = _shifted(*_digits_and_exponents(weights[part], exponent))
            rounded |= lost
        return cls(high, low, exponent, _whole_sum(high, low), whole, rounded, weights.size)

    def bare(self) -> Measure:
        """Return the measure without the masses of single points, once they are no longer needed."""
        nothing = np.empty(0, np.int64)
        return replace(self, high=nothing, low=nothing)

    @property
    def n_points(self) -> int:
        """The number of points, counted with multiplicity if weights are multiplicities."""
        return self.of_whole(self.total) if self.whole else self.size

    @property
    def mass(self) -> float:
        """The total mass, rounded to the nearest float64."""
        return _times_power(self.total, self.exponent)

    @property
    def grain(self) -> int:
        """The largest power of two (its exponent) that divides the units of every point."""
        low, high = int(np.bitwise_or.reduce(self.low)), int(np.bitwise_or.reduce(self.high))
        together = (high << LOW_BITS) | low
        return (together & -together).bit_length() - 1

    def of_whole(self, units: int) -> int:
        """Convert units of mass to a number of points."""
        return units >> -self.exponent

    def points(self, high: NDArray[np.int64]) -> NDArray[np.int64]:
        """Do the same as `of_whole` for an array of masses, given by their high parts.

        A point is at least 2^70 units, so the high part contains all of them.
        """
        return high >> (-self.exponent - LOW_BITS)

    def masses(self, high: NDArray[np.int64], low: NDArray[np.int64]) -> NDArray[np.float64]:
        """Convert units to masses, each rounded to the nearest float64."""
        return nearest(high, low, self.exponent)

    def counts(self, most: int) -> tuple[NDArray[np.int64], int] | None:
        """Return the masses as multiples of a common divisor, and the divisor; None if they exceed ``most``.

        It is the sum of the multiples that may be at most ``most``.  Equal weights have such a divisor, and
        so do weights with few decimal digits that are fractions of a power of two.
        """
        grain = self.grain
        if int(self.high.max()) >> max(grain - 1, 0):  # the numbers below would not fit
            return None
        if grain < LOW_BITS:
            numbers = (self.high << (LOW_BITS - grain)) | (self.low >> grain)
        else:
            numbers = self.high >> (grain - LOW_BITS)
        divisor = int(np.gcd.reduce(numbers))
        unit = divisor << grain
        return None if self.total // unit > min(most, MOST_FACTOR) else (numbers // divisor, unit)


def nearest(high: NDArray[np.int64], low: NDArray[np.int64], exponent: int) -> NDArray[np.float64]:
    """Return the float64 nearest to each whole number, given in two parts, times a power of two."""
    up = LOW_BITS - np.frexp(high.astype(np.float64))[1].astype(np.int64)  # zeros before the leading digit
    rest = LOW_BITS - up
    leading = (high << up) | (low >> rest)
    # The digits cut off only matter if the rest is half way between two floats.
    leading |= (low & ((np.int64(1) << rest) - 1)) > 0
    return np.ldexp(leading.astype(np.float64), (rest + exponent).astype(np.int32))


def products(numbers: NDArray[np.int64], factor: int) -> Parts:
    """Return numbers times a factor, in two parts; one of the two must be below 2^31, or the factor 1."""
    if factor == 1:
        return numbers >> LOW_BITS, numbers & LOW_MASK
    half = LOW_BITS // 2
    upper, lower = numbers * (factor >> half), numbers * (factor & ((1 << half) - 1))
    low = ((upper & ((1 << half) - 1)) << half) + lower
    return (upper >> half) + (low >> LOW_BITS), low & LOW_MASK


def _times_power(number: int, exponent: int) -> float:
    """Return a whole number times a power of two, rounded once."""
    return float(number << exponent) if exponent >= 0 else number / (1 << -exponent)


def _digits_and_exponents(
    weights: NDArray[Any], exponent: int
) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """Return weights as whole numbers and exponents of two, relative to units of 2^exponent."""
    if weights.dtype.kind != "f":
        return weights.astype(np.uint64), np.full(weights.size, -exponent)
    fractions, exponents = np.frexp(weights)
    return np.ldexp(fractions, 53).astype(np.uint64), exponents.astype(np.int64) - (53 + exponent)


def _digits(weights: NDArray[Any]) -> Parts:
    """Return integers of up to 64 bits in two parts."""
    digits = weights.astype(np.uint64)
    return (digits >> np.uint64(LOW_BITS)).astype(np.int64), (digits & np.uint64(LOW_MASK)).astype(np.int64)


def _shifted(digits: NDArray[np.uint64], shifts: NDArray[np.int64]) -> tuple[Any, Any, bool]:
    """Return ``digits * 2^shifts`` in two parts, rounded up, and whether anything was rounded.

    Shifts are less than `BITS`, and no product reaches 2^`BITS`.
    """
    down = np.clip(-shifts, 0, 63).astype(np.uint64)
    lost = (digits & ((np.uint64(1) << down) - np.uint64(1))) > 0
    digits = (digits >> down) + lost
    up = np.maximum(shifts, 0)
    inside, beyond = (
        np.minimum(up, LOW_BITS).astype(np.uint64),
        np.maximum(up - LOW_BITS, 0).astype(np.uint64),
    )
    kept = (np.uint64(1) << (np.uint64(LOW_BITS) - inside)) - np.uint64(1)  # what stays in the lower part
    low = ((digits & kept) << inside).astype(np.int64)
    high = ((digits >> (np.uint64(LOW_BITS) - inside)) << beyond).astype(np.int64)
    return high, low, bool(lost.any())


def _whole_sum(high: NDArray[np.int64], low: NDArray[np.int64]) -> int:
    """Return the sum of all masses; low parts are added in halves, so that nothing overflows."""
    halves = (int((low >> 31).sum()) << 31) + int((low & ((1 << 31) - 1)).sum())
    return (int(high.sum()) << LOW_BITS) + halves


def parts_of(units: int) -> tuple[int, int]:
    """Split a mass into a high and a low part."""
    return units >> LOW_BITS, units & LOW_MASK


def differences(high: NDArray[np.int64], low: NDArray[np.int64]) -> Parts:
    """Return the differences between successive ascending masses, the first of them from 0."""
    apart_high, apart_low = np.diff(high, prepend=0), np.diff(low, prepend=0)
    borrowed = apart_low < 0
    return apart_high - borrowed, apart_low + (borrowed.astype(np.int64) << LOW_BITS)


def integral(widths: NDArray[np.float64], apart: Parts) -> int | None:
    """Return the exact sum of widths times masses in units of 2^-1074; None if a width is infinite.

    Both factors are cut into parts short enough for float64 to multiply exactly.
    """
    if not np.all(np.isfinite(widths)):
        return None
    if widths.max(initial=0.0) > HUGE:
        return _slowly(widths, apart)
    coarse = (widths.view(np.int64) & ~((1 << CHUNK) - 1)).view(np.float64)
    fine = widths - coarse
    total = 0
    for part, first in ((apart[1], 0), (apart[0], LOW_BITS)):
        for shift in range(0, LOW_BITS, CHUNK):
            times = ((part >> shift) & ((1 << CHUNK) - 1)).astype(np.float64)
            if times.any():
                for piece in (coarse, fine):
                    found = exact_sum(piece * times)
                    assert found is not None
                    total += found << (first + shift)
    return total


def _slowly(widths: NDArray[np.float64], apart: Parts) -> int:
    """Compute the same sum as `integral`, one product after the other, with Python's integers."""
    total = 0
    for width, high, low in zip(widths.tolist(), apart[0].tolist(), apart[1].tolist(), strict=True):
        top, bottom = width.as_integer_ratio()
        total += ((high << LOW_BITS) + low) * top * ((1 << 1074) // bottom)
    return total


def mean_over_mass(widths: NDArray[np.float64], apart: Parts, total: int, scale: float) -> float:
    """Return the integral divided by total and scale, rounded once, as in `geodim.paper`."""
    area = integral(widths, apart)
    if area is None:
        return math.inf
    numerator, denominator = float(scale).as_integer_ratio()
    try:
        return (area * denominator) / ((total * numerator) << 1074)
    except OverflowError:  # widths beyond 1e308 times the scale
        return math.inf
