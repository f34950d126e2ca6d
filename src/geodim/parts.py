"""Long arrays in parts, by several threads: sums, shares, and arrays to be filled.

Parts have a fixed size and their results are put together in order, so that nothing depends on the number of threads.
"""

from __future__ import annotations

import math
import os
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import DTypeLike, NDArray

T = TypeVar("T")

PART = 1 << 20


def available_threads() -> int:
    """Cores this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on every system
        return os.cpu_count() or 1


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


def mean(widths: NDArray[np.float64], n_points: int, scale: float, n_threads: int = 1) -> float:
    """Sum over n and the scale, summed accurately in one fixed order, without overflow."""
    from geodim.engine.kernels.columns import accurate_sum  # noqa: PLC0415 - imports Numba

    largest = max(in_parts(lambda part: float(widths[part].max()), widths.size, n_threads), default=0.0)
    if largest == math.inf:  # nothing is known of some column
        return math.inf
    unit = largest if largest > 1e290 or 0.0 < largest < 1e-290 else 1.0

    def add(part: slice) -> tuple[float, float]:
        total, rest = accurate_sum(widths[part] if unit == 1.0 else widths[part] / unit)
        return float(total), float(rest)

    total = math.fsum(number for pair in in_parts(add, widths.size, n_threads) for number in pair)
    return total / n_points / scale if unit == 1.0 else total / n_points * (unit / scale)


def sums_by_owner(
    phi: NDArray[np.float64], owner: NDArray[np.int32], n_features: int, n_threads: int = 1
) -> NDArray[np.float64]:
    """The sum of phi over what each feature owns, in units of the largest phi."""
    from geodim.engine.kernels.columns import share_sums  # noqa: PLC0415 - imports Numba

    sums = np.zeros(n_features)
    largest = max(in_parts(lambda part: float(phi[part].max()), phi.size, n_threads), default=0.0)
    if largest == 0.0:
        return sums

    def add(part: slice) -> tuple[int, NDArray[np.float64]]:
        owned = owner[part]
        first = max(int(owned.min()), 0)
        own = np.zeros(max(int(owned.max()) + 1 - first, 0))
        share_sums(phi[part], owned, largest, first, own)
        return first, own

    for first, own in in_parts(add, phi.size, n_threads):
        sums[first : first + own.size] += own
    return sums
