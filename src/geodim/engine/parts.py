"""Long arrays processed in parts by several threads: sums, shares, and filling.

Parts have a fixed size and their results are combined in order, so nothing depends on the number of threads.
"""

from __future__ import annotations

import math
import os
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from geodim.arguments import MOST_THREADS, whole_number
from geodim.engine.threads import threads_for

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import DTypeLike, NDArray

T = TypeVar("T")

PART = 1 << 18
SHARED = 1 << 20  # sizes whose shares are added up before they are added to those of others
SHORT = 1 << 15  # up to this many numbers, NumPy adds faster than compiled code is loaded
FRACTION, HALF = 52, 26  # bits of a float64's fraction, and of the lower half of fraction and leading bit


def available_threads() -> int:
    """Return how many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):  # not on macOS and Windows
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def thread_count(threads: object, name: str = "n_threads") -> int:
    """Return how many threads to use: the number that the caller gives, or one per core if it is None.

    Examples
    --------
    >>> thread_count(3)
    3
    """
    return available_threads() if threads is None else whole_number(threads, name, 1, MOST_THREADS)


def in_parts(work: Callable[[slice], T], size: int, n_threads: int = 1, part: int | None = None) -> list[T]:
    """Call ``work`` on every part of 0, ..., size - 1 and return the results in order."""
    part = part or PART
    parts = [slice(at, min(at + part, size)) for at in range(0, size, part)]
    if n_threads == 1 or len(parts) < 2:
        return [work(part) for part in parts]
    with threads_for(n_threads) as pool:
        return list(pool.map(work, parts))


def filled(size: int, value: float, dtype: DTypeLike, n_threads: int = 1) -> NDArray[Any]:
    """Return a filled array, like `numpy.full`, but written by several threads.

    Most of the time goes into touching the memory for the first time.
    """
    array: NDArray[Any] = np.empty(size, dtype)

    def fill(part: slice) -> None:
        array[part] = value

    in_parts(fill, size, n_threads)
    return array


def copied(array: NDArray[Any], n_threads: int = 1) -> NDArray[Any]:
    """Return a copy, made by several threads."""
    copy = np.empty_like(array)

    def fill(part: slice) -> None:
        copy[part] = array[part]

    in_parts(fill, array.size, n_threads)
    return copy


def whole_numbers(first: int, stop: int, n_threads: int = 1) -> NDArray[np.int64]:
    """Return the integers from ``first`` to ``stop`` - 1, like `numpy.arange`, but by several threads."""
    array = np.empty(max(stop - first, 0), np.int64)

    def fill(part: slice) -> None:
        array[part] = np.arange(first + part.start, first + part.stop)

    in_parts(fill, array.size, n_threads)
    return array


def exact_sum(values: NDArray[np.float64], n_threads: int = 1) -> int | None:
    """Return the exact sum of numbers >= 0 as an integer, in units of 2^-1074, the smallest float.

    Returns None if a number is infinite.  Nothing is rounded, so the sum does not depend on the order or on
    the parts.
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
    """Do the same as `exact_sum` with NumPy alone.

    For each exponent, the halves of the fractions add up to less than 2^53, which floats hold exactly.
    """
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
    """Return the divisor of features: ``d_max`` if they are normalised and it is not 0, otherwise 1."""
    return d_max if normalize and d_max > 0.0 else 1.0


def mean(widths: NDArray[np.float64], n_points: int, scale: float, n_threads: int = 1) -> float:
    """Return the sum of the widths over ``n_points`` and ``scale``, rounded once, as in `geodim.paper`.

    It is the float64 nearest to the exact quotient.
    """
    total = exact_sum(widths, n_threads)
    if total is None:  # nothing is known about some column
        return math.inf
    return mean_of(total, n_points, scale)


def mean_of(total: int, n_points: int, scale: float) -> float:
    """Do the same as `mean` for a sum in units of 2^-1074, as `exact_sum` returns it."""
    numerator, denominator = float(scale).as_integer_ratio()
    # Python rounds quotients of integers correctly, however large they are, and down to the smallest floats.
    try:
        return (total * denominator) / ((n_points * numerator) << 1074)
    except OverflowError:  # widths beyond 1e308 times the scale
        return math.inf


def sums_by_owner(
    phi: NDArray[np.float64], owner: NDArray[np.int32], n_features: int, n_threads: int = 1
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Return for each feature the sum of phi over the sizes it owns, and whether it owns any.

    Sums are in units of the largest phi, or of the whole sum if there is only one feature.  A sum below the
    smallest float becomes 0, but the feature still counts as an owner.
    """
    sums, attains = np.zeros(n_features), np.zeros(n_features, np.bool_)
    if n_features == 1:  # whatever the sum, it is all there is
        sums[0] = attains[0] = bool(phi[-1:].any() or phi.any())
        return sums, attains
    largest = max(in_parts(lambda part: float(phi[part].max()), phi.size, n_threads), default=0.0)
    if largest == 0.0:
        return sums, attains

    if n_threads > 1 and SHORT < phi.size <= n_threads * SHARED:
        return _sums_by_run(phi, owner, largest, n_features, n_threads)

    def add(part: slice) -> tuple[int, NDArray[np.float64], NDArray[np.bool_]]:
        owned = owner[part]
        first = max(int(owned.min()), 0)
        size = max(int(owned.max()) + 1 - first, 0)
        return first, *_share_sums(phi[part], owned, largest, first, size)

    for first, own, there in in_parts(add, phi.size, n_threads, SHARED):
        sums[first : first + own.size] += own
        attains[first : first + own.size] |= there
    return sums, attains


def _sums_by_run(
    phi: NDArray[np.float64], owner: NDArray[np.int32], largest: float, n_features: int, n_threads: int
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Do the same as `sums_by_owner` with more threads than there are parts: they take a few runs each."""
    from geodim.engine.kernels.columns import run_sums  # noqa: PLC0415 - imports Numba

    def add(part: slice) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        begin = part.start // SHARED * SHARED  # no run goes on into the next of these
        some = slice(begin, begin + SHARED)
        columns, totals = np.empty(part.stop - part.start, np.int64), np.empty(part.stop - part.start)
        count = run_sums(
            phi[some], owner[some], largest, part.start - begin, part.stop - begin, columns, totals
        )
        return columns[:count].copy(), totals[:count].copy()

    found = in_parts(add, phi.size, n_threads, SHARED // 8)
    sums, attains = np.zeros(n_features), np.zeros(n_features, np.bool_)
    for at in range(0, len(found), 8):
        columns, totals = (np.concatenate(arrays) for arrays in zip(*found[at : at + 8], strict=True))
        sums += np.bincount(columns, totals, n_features)  # which adds one number after the other
        attains[columns] = True
    return sums, attains


def _share_sums(
    phi: NDArray[np.float64], owner: NDArray[np.int32], largest: float, first: int, size: int
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Return the sums of columns first, ..., first + size - 1, and which of them own anything.

    Each run of sizes with one owner is added up separately, from left to right, so that NumPy and compiled
    code give the same bits.
    """
    sums, there = np.zeros(size), np.zeros(size, np.bool_)
    if phi.size > SHORT:
        from geodim.engine.kernels.columns import share_sums  # noqa: PLC0415 - imports Numba

        share_sums(phi, owner, largest, first, sums, there)
        return sums, there
    starts = np.flatnonzero(np.append(True, owner[1:] != owner[:-1]))
    run = np.repeat(np.arange(starts.size), np.diff(starts, append=owner.size))
    totals = np.bincount(run, phi / largest)  # bincount adds one number after the other
    owned = (owner[starts] >= 0) & (np.maximum.reduceat(phi, starts) > 0.0)
    columns = owner[starts][owned] - first
    sums += np.bincount(columns, totals[owned], size)
    there[columns] = True
    return sums, there
