"""Counts of pairs of objects by the number of attributes in which they differ: all pairs, or a sample.

Two objects with a and b attributes, i of them in common, differ in a + b - 2 i.  All counts are whole
numbers; products of 0 and 1 are added in float32 only where they stay below 2^24, so that none is rounded.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from geodim.memory import check_bytes
from geodim.waiting import report

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from geodim.concepts.contexts import Context

    Counts = NDArray[np.int64]
    Told = Callable[[int, int], None] | None

MOST_DENSE = 2**24  # attributes, below which float32 counts without rounding
DENSE_BYTES = 1 << 30  # of the data as float32
BLOCK_ENTRIES = 1 << 22  # pairs whose distances are held at a time
DENSE_SPEED = 20  # products that a dense routine adds up in the time of one of a sparse one
DRAWN = 1 << 16  # pairs that are drawn at a time
WAY_OUT = "give pairs=, a number of pairs that are drawn at random"


def all_pairs(context: Context, told: Told = None) -> Counts:
    """Count how many ordered pairs of objects, also with themselves, differ in 0, 1, ... attributes."""
    n, m = context.rows.shape
    sparse_work = float(np.sum(context.attribute_counts.astype(float) ** 2))
    dense = m < MOST_DENSE and 4 * n * m <= DENSE_BYTES and float(n) * n * m < DENSE_SPEED * sparse_work
    step = max(1, min(n, BLOCK_ENTRIES // n))
    check_bytes(48 * step * n, f"distances of {step:,} objects to all others", WAY_OUT)
    counts: Counts = np.zeros(2 * m + 1, np.int64)
    for done, part in (_dense if dense else _sparse)(context, step):
        counts += part
        report("comparing objects", done, n)
        if told is not None:
            told(done, n)
    return counts[: m + 1]


def _dense(context: Context, step: int) -> Iterator[tuple[int, Counts]]:
    """Count pairs by one matrix product of some objects with all others."""
    n, m = context.rows.shape
    table = context.rows.toarray().astype(np.float32)
    lengths = context.object_lengths.astype(np.float32)
    for start in range(0, n, step):
        some = slice(start, start + step)
        apart = np.add.outer(lengths[some], lengths) - 2.0 * (table[some] @ table.T)
        yield min(start + step, n), np.bincount(apart.astype(np.int64).ravel(), minlength=2 * m + 1)


def _sparse(context: Context, step: int) -> Iterator[tuple[int, Counts]]:
    """Count pairs by products of the non-zeros.

    Pairs without a common attribute differ in a + b: all are counted so by their lengths alone, and those
    with a common one moved to where they belong.
    """
    n, m = context.rows.shape
    lengths = context.object_lengths
    by_length = np.bincount(lengths)  # no longer than the longest: what follows grows with its square
    apart = np.convolve(by_length, by_length)
    yield 0, np.pad(apart, (0, 2 * m + 1 - apart.size))
    rows: Any = context.rows.astype(np.int32)
    columns = rows.T.tocsr()
    for start in range(0, n, step):
        product = (rows[start : start + step] @ columns).tocoo()
        both = lengths[start + product.row] + lengths[product.col]
        moved = np.bincount(both - 2 * product.data, minlength=2 * m + 1)
        yield min(start + step, n), moved - np.bincount(both, minlength=2 * m + 1)


def drawn_pairs(context: Context, pairs: int, parts: int, seed: int, told: Told = None) -> Counts:
    """Return distances of pairs that are drawn independently, an object with itself included, in equal parts.

    Returns
    -------
    array of int, shape (parts, attributes + 1)
        For every part, how many of its pairs differ in 0, 1, ... attributes.
    """
    n, m = context.rows.shape
    rng = np.random.default_rng(seed)
    lengths = context.object_lengths
    rows: Any = context.rows.astype(np.int32)
    check_bytes(8 * parts * (m + 1), "the distances of all parts", "take fewer attributes")
    counts: Counts = np.zeros((parts, m + 1), np.int64)
    done = 0
    for part in range(parts):
        left = pairs // parts + (part < pairs % parts)
        while left:
            size = min(left, DRAWN)
            first, second = rng.integers(0, n, (2, size))
            common = np.asarray(rows[first].multiply(rows[second]).sum(axis=1), np.int64).ravel()
            apart = lengths[first] + lengths[second] - 2 * common
            counts[part] += np.bincount(apart, minlength=m + 1)
            left -= size
            done += size
            report("comparing objects", done, pairs)
            if told is not None:
                told(done, pairs)
    return counts


def probability_error(pairs: int, trust: float = 0.99) -> float:
    """Bound, with this probability, the distance of all shares of the drawn pairs from those of all pairs.

    The inequality of Dvoretzky, Kiefer and Wolfowitz with Massart's constant: it holds for every number of
    pairs and all distances at once.

    Examples
    --------
    >>> round(probability_error(1_000_000), 5)
    0.00163
    """
    return math.sqrt(math.log(2.0 / (1.0 - trust)) / (2.0 * pairs))
