"""Long arrays in parts, by several threads: sums, shares, and arrays to be filled.

Parts have a fixed size and their results are put together in order, so that nothing depends
on the number of threads.
"""

from __future__ import annotations

import math
import os
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from geodim.arguments import MOST_THREADS, whole_number

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import DTypeLike, NDArray

T = TypeVar("T")

PART = 1 << 20
SHORT = 1 << 15  # up to this many numbers are added up by NumPy: compiled code takes longer to load
FRACTION, HALF = 52, 26  # bits of a float64's fraction, and of the lower half of it with the leading bit


def available_threads() -> int:
    """Cores this process may use."""
    if hasattr(os, "sched_getaffinity"):  # not on macOS and Windows
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def thread_count(threads: object, name: str = "n_threads") -> int:
    """How many threads to use: as many as a caller says, or one for each core.

    Examples
    --------
    >>> thread_count(3)
    3
    """
    return available_threads() if threads is None else whole_number(threads, name, 1, MOST_THREADS)


def in_parts(work: Callable[[slice], T], size: int, n_threads: int = 1) -> list[T]:
    """What ``work`` returns for every part of 0, ..., size - 1, in order."""
    parts = [slice(at, min(at + PART, size)) for at in range(0, size, PART)]
    if n_threads == 1 or len(parts) < 2:
        return [work(part) for part in parts]
    with ThreadPoolExecutor(min(n_threads, len(parts)), thread_name_prefix="geodim") as pool:
        return list(pool.map(work, parts))


def filled(size: int, value: float, dtype: DTypeLike, n_threads: int = 1) -> NDArray[Any]:
    """Like `numpy.full`: most of the time goes into memory that is touched for the first time."""
    array: NDArray[Any] = np.empty(size, dtype)

    def fill(part: slice) -> None:
        array[part] = value

    in_parts(fill, size, n_threads)
    return array


def whole_numbers(first: int, stop: int, n_threads: int = 1) -> NDArray[np.int64]:
    """Like `numpy.arange`."""
    array = np.empty(max(stop - first, 0), np.int64)

    def fill(part: slice) -> None:
        array[part] = np.arange(first + part.start, first + part.stop)

    in_parts(fill, array.size, n_threads)
    return array


def exact_sum(values: NDArray[np.float64], n_threads: int = 1) -> int | None:
    """The sum of numbers >= 0 as a whole number of units of 2^-1074, the smallest float.

    None if a number is infinite.  Nothing is rounded, so it does not depend on the order or on the parts.
    """
    if values.size <= SHORT:
        return _short_sum(values)
    from geodim.engine.kernels.summing import EXPONENTS, LOW, add_by_exponent  # noqa: PLC0415 - imports Numba

    def add(part: slice) -> int | None:
        low, high = np.zeros((2, EXPONENTS), np.int64)
        if add_by_exponent(values[part].view(np.int64), low, high):
            return None
        there = np.flatnonzero(low | high).tolist()
        return sum((int(low[e]) + (int(high[e]) << LOW)) << max(e - 1, 0) for e in there)

    sums = in_parts(add, values.size, n_threads)
    return None if None in sums else sum(sums)  # type: ignore[arg-type]


def _short_sum(values: NDArray[np.float64]) -> int | None:
    """The same by NumPy: halves of fractions add up, by exponent, to less than 2^53: floats hold that."""
    bits = values.view(np.int64)
    exponents = bits >> FRACTION
    if exponents.size and not 0 <= exponents.min() <= exponents.max() < 2047:  # negative, infinite or NaN
        return None
    fractions = (bits & ((1 << FRACTION) - 1)) + (np.minimum(exponents, 1) << FRACTION)
    low = np.bincount(exponents, fractions & ((1 << HALF) - 1))
    high = np.bincount(exponents, fractions >> HALF)
    there = np.flatnonzero((low > 0.0) | (high > 0.0)).tolist()
    return sum((int(low[e]) + (int(high[e]) << HALF)) << max(e - 1, 0) for e in there)


def divisor(d_max: float, normalize: bool) -> float:
    """What features are divided by: the largest range if they are normalised and it is not 0, else 1."""
    return d_max if normalize and d_max > 0.0 else 1.0


def mean(widths: NDArray[np.float64], n_points: int, scale: float, n_threads: int = 1) -> float:
    """The sum over n and the scale, rounded once, as `geodim.paper` has it.

    It is the float64 nearest to the quotient.
    """
    total = exact_sum(widths, n_threads)
    if total is None:  # nothing is known of some column
        return math.inf
    return mean_of(total, n_points, scale)


def mean_of(total: int, n_points: int, scale: float) -> float:
    """The same for a sum in units of 2^-1074, as `exact_sum` gives it."""
    numerator, denominator = float(scale).as_integer_ratio()
    # Python divides whole numbers correctly rounded, however large they are, and down to the smallest floats.
    try:
        return (total * denominator) / ((n_points * numerator) << 1074)
    except OverflowError:  # widths beyond 1e308 times the scale
        return math.inf


def sums_by_owner(
    phi: NDArray[np.float64], owner: NDArray[np.int32], n_features: int, n_threads: int = 1
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """The sum of phi over what each feature owns, in units of the largest phi; and whether it owns anything.

    What is less than the smallest float, in these units, has the sum 0, and still an owner.
    """
    sums, attains = np.zeros(n_features), np.zeros(n_features, np.bool_)
    largest = max(in_parts(lambda part: float(phi[part].max()), phi.size, n_threads), default=0.0)
    if largest == 0.0:
        return sums, attains

    def add(part: slice) -> tuple[int, NDArray[np.float64], NDArray[np.bool_]]:
        owned = owner[part]
        first = max(int(owned.min()), 0)
        size = max(int(owned.max()) + 1 - first, 0)
        return first, *_share_sums(phi[part], owned, largest, first, size)

    for first, own, there in in_parts(add, phi.size, n_threads):
        sums[first : first + own.size] += own
        attains[first : first + own.size] |= there
    return sums, attains


def _share_sums(
    phi: NDArray[np.float64], owner: NDArray[np.int32], largest: float, first: int, size: int
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """The sums of columns first, ..., first + size - 1, and which of them own anything.

    Runs of one owner are added up by themselves, from left to right: the bits are the same either way.
    """
    sums, there = np.zeros(size), np.zeros(size, np.bool_)
    if phi.size > SHORT:
        from geodim.engine.kernels.columns import share_sums  # noqa: PLC0415 - imports Numba

        share_sums(phi, owner, largest, first, sums, there)
        return sums, there
    starts = np.flatnonzero(np.append(True, owner[1:] != owner[:-1]))
    run = np.repeat(np.arange(starts.size), np.diff(starts, append=owner.size))
    totals = np.bincount(run, phi / largest)  # which adds one after the other
    owned = (owner[starts] >= 0) & (np.maximum.reduceat(phi, starts) > 0.0)
    columns = owner[starts][owned] - first
    sums += np.bincount(columns, totals[owned], size)
    there[columns] = True
    return sums, there
