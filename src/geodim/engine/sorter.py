"""Sorting one column into float64: by radix, by counting steps, or by numpy where that is faster.

A few distinct values are counted instead.  All methods give the same ascending values; only the order of -0.0
and 0.0, which does not affect any width, may differ.
"""

from __future__ import annotations

import math
import threading
import time
from collections import Counter, defaultdict
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from geodim.engine.kernels import dealing, runs, sorting
from geodim.engine.kernels.glances import sampled_values
from geodim.engine.steps import counter_type
from geodim.errors import InternalError

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

RADIX_FROM = 1024  # shorter columns sort faster by comparison
TRY_FROM = 1 << 13  # from this length on it is worth measuring which way is the fastest here
TRIES = 3  # of every way that count, with columns that are sorted anyway; the best one decides
TRIAL = 1 << 16  # values to see how numpy compares with digits:
CLEARLY_FASTER, CLEARLY_SLOWER = 0.8, 1.5  # beyond these ratios nothing else, or not numpy, is tried
DEAL_OUT_FROM = 1 << 21  # bytes; longer columns outgrow the cache, and may be dealt out first,
DIGITS_UP_TO = 1 << 24  # which float32 columns surely are from this one on
DEAL_OUT_UP_TO = 1 << 31  # counters of shares have 32 bits
HANDFUL = 16  # up to this many distinct values are counted one by one
SAMPLE, MOST_SAMPLED = 512, 400  # of so many values so many may be distinct where they are few
MOST_COMBINATIONS = 4096  # of digits that are counted without sorting
TWO_DIGITS = 1 << 2 * sorting.DIGIT
MOST_STEPS = 1 << 20  # this many counters still fit the cache well enough


class Sorter:
    """Sorts columns; holds the buffers of one thread.

    Parameters
    ----------
    n_points : int
        Length of the columns.
    dtype : numpy.dtype
        float32 or float64, the type of the columns.
    memory : two arrays of uint8, optional
        As many bytes as a column has each, to sort in; free again once a column is sorted.
    """

    def __init__(
        self,
        n_points: int,
        dtype: np.dtype[np.floating],
        memory: tuple[NDArray[np.uint8], NDArray[np.uint8]] | None = None,
    ) -> None:
        if dtype not in (np.float32, np.float64):  # the size of every buffer depends on it
            msg = f"columns are sorted as float32 or float64, not {dtype}"
            raise InternalError(msg)
        self.n = n_points
        self.dtype = dtype
        self.key_type = np.dtype(f"u{dtype.itemsize}")
        keys, spare = memory or np.empty((2, n_points * dtype.itemsize), np.uint8)
        self.keys, self.spare = keys.view(self.key_type), spare.view(self.key_type)
        self.digit_counts = np.empty((3 if dtype.itemsize == 4 else 6, sorting.BUCKETS), np.int64)
        self.stops = np.empty(dealing.SHARES, np.int64)
        self.step_counts: NDArray[np.signedinteger[Any]] | None = None

    def sort(
        self, column: NDArray[np.floating], values: NDArray[np.float64], *, overwrite: bool = False
    ) -> None:
        """Write the column to ``values`` in ascending order; it may be overwritten if nobody needs it."""
        by: dict[str, Callable[[], None]] = {
            "numpy": lambda: self.by_numpy(column, values, overwrite=overwrite),
            "digits": lambda: self.by_radix(column, values),
            "shares": lambda: self.by_shares(column, values),
        }
        ways = self.ways()
        if len(ways) == 1:
            by[ways[0]]()
        else:
            trials[self.dtype, self.n.bit_length()].run({way: by[way] for way in ways})

    def ways(self) -> list[str]:
        """Return the ways that may be the fastest; which one is depends on the processor and its caches."""
        if self.n < RADIX_FROM:
            return ["numpy"]
        ratio = numpy_to_digits(self.dtype) if self.n >= TRY_FROM else math.inf
        if ratio < CLEARLY_FASTER:
            return ["numpy"]
        nbytes = self.n * self.dtype.itemsize
        shares = nbytes >= DEAL_OUT_FROM and self.n < DEAL_OUT_UP_TO
        digits = not shares or (self.dtype.itemsize == 4 and nbytes < DIGITS_UP_TO)
        candidates = (("numpy", ratio < CLEARLY_SLOWER), ("digits", digits), ("shares", shares))
        return [way for way, is_one in candidates if is_one]

    def by_numpy(
        self, column: NDArray[np.floating], values: NDArray[np.float64], *, overwrite: bool = False
    ) -> None:
        """Sort by comparison; with vector instructions, this is the fastest method on some processors."""
        if self.dtype.itemsize == 8:
            values[: self.n] = column
            values[: self.n].sort()
            return
        if not overwrite:
            column, given = self.keys.view(self.dtype), column
            column[:] = given
        column.sort()
        values[: self.n] = column

    def by_radix(self, column: NDArray[np.floating], values: NDArray[np.float64]) -> None:
        """Sort by digits, all of the column at a time."""
        self._keys_and_counts(column.view(self.key_type))
        swapped = sorting.radix_passes(self.keys, self.spare, self.digit_counts)
        keys = self.spare if swapped else self.keys
        if self.key_type.itemsize == 4:
            sorting.keys_to_values_32(keys, values)
        else:
            sorting.keys_to_bits_64(keys, values[: self.n].view(np.uint64))

    def by_shares(self, column: NDArray[np.floating], values: NDArray[np.float64]) -> None:
        """Sort by digits; the column is dealt out by its leading bits first."""
        bits = column.view(self.key_type)
        if self.key_type.itemsize == 4:
            dealing.deal_out(bits, self.keys, self.stops)
            dealing.sort_shares(self.keys, self.spare, self.stops, self.keys.view(np.float32), values)
        else:
            dealing.deal_out_64(column, bits, self.keys, self.stops)
            dealing.sort_shares_64(self.keys, self.spare, self.stops, values[: self.n].view(np.uint64))

    def by_steps(self, column: NDArray[np.floating], step: float, values: NDArray[np.float64]) -> bool:
        """Round down to steps and sort by step number, or count the steps if they are few.

        Returns False if there are too many steps.
        """
        if self.n < RADIX_FROM or not 1e-30 < step < 1e30:
            return False
        first = math.floor(float(column.min()) / step)
        steps = math.floor(float(column.max()) / step) - first + 1
        if steps > TWO_DIGITS:
            return False
        kind = column.dtype.type
        per_step = kind(1.0 / step)
        if steps <= min(MOST_STEPS, 2 * self.n):
            if self.step_counts is None or self.step_counts.size < steps:
                self.step_counts = np.empty(steps, counter_type(self.n))
            counts = self.step_counts[:steps]
            counts[:] = 0
            sorting.count_steps(column, per_step, kind(first), counts)
            sorting.expand_steps(counts, step, float(first), values)
        else:  # step numbers have two digits, whereas floats have three or six
            keys, spare = self.keys.view(np.uint32)[: self.n], self.spare.view(np.uint32)[: self.n]
            sorting.step_keys(column, per_step, kind(first), keys, self.digit_counts[:2])
            swapped = sorting.radix_passes(keys, spare, self.digit_counts[:2])
            sorting.steps_to_values(spare if swapped else keys, step, float(first), values)
        return True

    def few_values(
        self, column: NDArray[np.floating]
    ) -> tuple[NDArray[np.float64], NDArray[np.int64]] | None:
        """Return the distinct values of a column and their counts if they are few, otherwise None."""
        sampled = np.empty(MOST_SAMPLED, column.dtype)
        count = sampled_values(column, max(self.n // SAMPLE, 1), sampled)
        if 0 < count <= HANDFUL:
            values = np.sort(sampled[:count])
            counts = np.array([runs.count_value(column, value) for value in values])
            if counts.sum() == self.n:
                return values.astype(np.float64), counts
        if count < 0:
            return None
        self._keys_and_counts(column.view(self.key_type))
        present = [np.flatnonzero(row) for row in self.digit_counts]
        widths = np.array([digits.size for digits in present])
        if math.prod(widths.tolist()) > MOST_COMBINATIONS:
            return None
        tables = np.zeros(self.digit_counts.shape, np.int64)
        for table, digits in zip(tables, present, strict=True):
            table[digits] = np.arange(digits.size)
        counts = np.empty(int(widths.prod()), np.int64)
        runs.joint_counts(self.keys, tables, widths, counts)
        used = np.flatnonzero(counts)
        places = np.unravel_index(used, widths.tolist())
        keys = np.zeros(used.size, self.key_type)
        for digit, (which, where) in enumerate(zip(present, places, strict=True)):
            keys |= (which[where].astype(np.uint64) << np.uint64(digit * sorting.DIGIT)).astype(self.key_type)
        order = np.argsort(keys)
        keys, counts = keys[order], counts[used][order]
        if self.key_type.itemsize == 4:
            sorting.keys_to_bits_32(keys)
            return keys.view(np.float32).astype(np.float64), counts
        values = np.empty(keys.size)
        sorting.keys_to_bits_64(keys, values.view(np.uint64))
        return values, counts

    def _keys_and_counts(self, bits: NDArray[np.unsignedinteger]) -> None:
        four = self.key_type.itemsize == 4
        kernel = sorting.keys_and_counts_32 if four else sorting.keys_and_counts_64
        kernel(bits, self.keys, self.digit_counts)


class Trials:
    """Times of several ways to do the same, of which the fastest is taken.

    They take turns, and the first turn does not count: it touches memory for the first time, and compiles.
    Once the fastest is known nothing is timed, since the best of many times is below the best of a few.
    Threads may disturb each other here, which costs time and changes nothing else.
    """

    def __init__(self) -> None:
        self.tried: Counter[str] = Counter()
        self.best: dict[str, float] = {}  # seconds

    def run(self, ways: dict[str, Callable[[], None]]) -> None:
        """Take the one that was tried least, or the fastest."""
        way = min(ways, key=lambda way: self.tried[way])
        turn = self.tried[way]
        if turn > TRIES:
            ways[min(ways, key=lambda way: self.best.get(way, math.inf))]()
            return
        self.tried[way] += 1  # at once, so that threads that begin together try different ones
        started = time.perf_counter()
        ways[way]()
        if turn > 0:
            self.best[way] = min(self.best.get(way, math.inf), time.perf_counter() - started)


trials: defaultdict[tuple[np.dtype[Any], int], Trials] = defaultdict(Trials)  # by type and bits of length
_trial = threading.Lock()


def numpy_to_digits(dtype: np.dtype[np.floating]) -> float:
    """Return how many times as long numpy takes to sort this type on this processor as digits do.

    That is seen once, in milliseconds.  Whether numpy is fast with AVX-512 depends on the manufacturer and
    cannot be told from the names of instruction sets.
    """
    with _trial:  # simultaneous trials would disturb each other
        return _compare(dtype)


@cache
def _compare(dtype: np.dtype[np.floating]) -> float:
    column = np.random.default_rng(0).standard_normal(TRIAL).astype(dtype)
    sorter, values = Sorter(TRIAL, dtype), np.empty(TRIAL)
    digits = _best_time(lambda: sorter.by_radix(column, values))
    return _best_time(lambda: sorter.by_numpy(column, values)) / digits


def _best_time(work: Callable[[], None]) -> float:
    work()  # compiles, and touches the memory for the first time
    seconds = []
    for _ in range(3):
        started = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - started)
    return min(seconds)
