"""Counting, filling, sorting and coalescing of compressed rows.

While a graph is built, an entry of row i is a *key*: twice the neighbour's id, plus 1 if the edge was listed
the other way round (neighbour first). A key takes the memory of an id (uint32 below 2**31 nodes), sorts by
neighbour, and still shows afterwards whether both directions were listed. The ids replace the keys in place.

Arguments: u, v are the int64 ends of a chunk of edges, already checked to lie in [0, n). Rows first..last-1
belong to the caller; other threads own the other rows, so nothing is shared.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from geodim.data.graphs._jit import kernel
from geodim.engine.kernels._bounds import require

__all__ = ["coalesce_rows", "count_entries", "fill_entries", "fill_weighted", "move_down"]

# Insertion sort up to this length, radix sort above: its 256 counters per digit cost about as
# much as sorting 48 keys.
SHORT_ROW = 48


@kernel
def count_entries(u: Any, v: Any, first: int, last: int, counts: Any) -> int:
    """Add each edge to ``counts[row]`` for both of its ends.

    Returns the number of self-loops seen, which are not counted.

    Parameters
    ----------
    u, v : (m,) int64, nodes
    first, last : int, half-open range of rows
    counts : (n,) int64, added to
    """
    require(len(v) >= len(u), "count_entries: v")
    require(first >= 0 and last <= len(counts), "count_entries: counts")
    loops = 0
    for k in range(len(u)):
        a = u[k]
        b = v[k]
        if a == b:
            if first <= a < last:
                loops += 1
            continue
        if first <= a < last:
            counts[a] += 1
        if first <= b < last:
            counts[b] += 1
    return loops


@kernel
def fill_entries(u: Any, v: Any, first: int, last: int, cursor: Any, keys: Any) -> None:
    """Write the keys of a chunk at ``cursor[row]`` and advance the cursors.

    Edges that did not exist when edges were counted advance the cursors, but are not written past the end:
    the caller notices.

    Parameters
    ----------
    u, v : (m,) int64, nodes
    first, last : int, half-open range of rows
    cursor : (n,) int64, positions in keys, advanced
    keys : (entries,) uint32 or uint64, written
    """
    require(len(v) >= len(u), "fill_entries: v")
    require(first >= 0 and last <= len(cursor), "fill_entries: cursor")
    room = len(keys)
    for k in range(len(u)):
        a = u[k]
        b = v[k]
        if a == b:
            continue
        if first <= a < last:
            at = cursor[a]
            if 0 <= at < room:
                keys[at] = 2 * b
            cursor[a] = at + 1
        if first <= b < last:
            at = cursor[b]
            if 0 <= at < room:
                keys[at] = 2 * a + 1
            cursor[b] = at + 1


@kernel
def fill_weighted(
    u: Any, v: Any, w: Any, first: int, last: int, cursor: Any, keys: Any, weights: Any, loops: Any
) -> None:
    """Fill keys and weights; ``loops[i]`` becomes the largest weight of a self-loop listed at i.

    Parameters
    ----------
    u, v, first, last, cursor, keys
        As for `fill_entries`.
    w : (m,) float64, weights of the edges
    weights : (entries,) float64, written
    loops : (n,) float64, raised in place
    """
    require(len(v) >= len(u) and len(w) >= len(u), "fill_weighted: v or w")
    require(first >= 0 and last <= min(len(cursor), len(loops)), "fill_weighted: cursor or loops")
    room = min(len(keys), len(weights))
    for k in range(len(u)):
        a = u[k]
        b = v[k]
        if a == b:
            if first <= a < last:
                loops[a] = max(loops[a], w[k])
            continue
        if first <= a < last:
            at = cursor[a]
            if 0 <= at < room:
                keys[at] = 2 * b
                weights[at] = w[k]
            cursor[a] = at + 1
        if first <= b < last:
            at = cursor[b]
            if 0 <= at < room:
                keys[at] = 2 * a + 1
                weights[at] = w[k]
            cursor[b] = at + 1


@kernel
def _insertion_sort(keys: Any, weights: Any, low: int, high: int) -> None:
    """Sort ``keys[low:high]`` in place and the weights (or None) with them.

    ``keys`` is uint32 or uint64, ``weights`` float64 of the same length.
    """
    for i in range(low + 1, high):
        key = keys[i]
        if weights is not None:
            weight = weights[i]
        j = i
        while j > low and keys[j - 1] > key:
            keys[j] = keys[j - 1]
            if weights is not None:
                weights[j] = weights[j - 1]
            j -= 1
        keys[j] = key
        if weights is not None:
            weights[j] = weight


@kernel
def _radix_sort(
    keys: Any, weights: Any, low: int, high: int, digits: int, spare: Any, spare_weights: Any
) -> None:
    """Sort ``keys[low:high]`` by bytes, least significant first: linear time whatever the order they came in.

    Edges often come sorted by source or target; a row is then a few ascending runs, which is where quicksort
    variants turn quadratic. A hub of a million neighbours must not.

    ``keys`` is uint32 or uint64; the spares have room for the longest row; ``digits`` are bytes.
    """
    length = high - low
    counts = np.empty(256, np.int64)
    for digit in range(digits):
        shift = 8 * digit
        counts[:] = 0
        for i in range(low, high):
            counts[(keys[i] >> shift) & 255] += 1
        total = 0
        for value in range(256):
            count = counts[value]
            counts[value] = total
            total += count
        for i in range(low, high):
            value = (keys[i] >> shift) & 255
            place = counts[value]
            counts[value] += 1
            spare[place] = keys[i]
            if weights is not None:
                spare_weights[place] = weights[i]
        for i in range(length):
            keys[low + i] = spare[i]
            if weights is not None:
                weights[low + i] = spare_weights[i]


@kernel
def coalesce_rows(
    indptr: Any, keys: Any, weights: Any, first: int, last: int, digits: int, stats: Any
) -> None:
    """Sort each row, replace its keys by distinct ids, and pack rows first..last-1 to the left.

    ``indptr[first:last]`` becomes the new starts. ``indptr[last]`` is only read; the owner of the next rows
    writes to it the value it already has. stats receives: kept entries, duplicates, one-way edges,
    conflicting weights, empty rows.

    Parameters
    ----------
    indptr : (n + 1 or more,) int64, changed in place
    keys : (entries,) uint32 or uint64, changed in place
    weights : (entries,) float64 or None, changed in place
    first, last : int, half-open range of rows
    digits : int, bytes that the largest key needs
    stats : (5,) int64, zeros, written
    """
    require(0 <= first <= last < len(indptr), "coalesce_rows: indptr")
    require(weights is None or len(weights) >= len(keys), "coalesce_rows: weights")
    require(len(stats) >= 5, "coalesce_rows: stats")
    require(indptr[first] >= 0 and 0 <= digits <= 8, "coalesce_rows: indptr or digits")
    spare_length = 0
    for row in range(first, last):
        require(indptr[row] <= indptr[row + 1] <= len(keys), "coalesce_rows: keys")
        spare_length = max(spare_length, indptr[row + 1] - indptr[row])
    if spare_length <= SHORT_ROW:
        spare_length = 0
    spare = np.empty(spare_length, keys.dtype)
    spare_weights = np.empty(spare_length if weights is not None else 0, np.float64)
    low = indptr[first]
    out = low
    for row in range(first, last):
        high = indptr[row + 1]
        if high - low > SHORT_ROW:
            _radix_sort(keys, weights, low, high, digits, spare, spare_weights)
        else:
            _insertion_sort(keys, weights, low, high)
        indptr[row] = out
        if low == high:
            stats[4] += 1
        i = low
        while i < high:
            neighbour = keys[i] >> 1
            forward = 0
            backward = 0
            conflict = False
            if weights is not None:
                weight = weights[i]
            while i < high and keys[i] >> 1 == neighbour:
                if keys[i] & 1:
                    backward += 1
                else:
                    forward += 1
                if weights is not None and weights[i] != weight:
                    conflict = True
                    weight = max(weight, weights[i])
                i += 1
            # Each edge is seen from both of its ends; these counts look at it from one of them only.
            stats[1] += max(forward - 1, 0)
            stats[2] += forward > 0 and backward == 0
            stats[3] += conflict and neighbour > row
            keys[out] = neighbour
            if weights is not None:
                weights[out] = weight
            out += 1
        low = high
    stats[0] = out - indptr[first]


@kernel
def move_down(array: Any, source: int, target: int, length: int) -> None:
    """Move ``array[source:source + length]`` to `target` <= `source` without a temporary copy.

    Parameters
    ----------
    array : (n,) of any type, changed in place
    source, target, length : int, positions and a number of entries
    """
    require(0 <= target <= source and source + length <= len(array), "move_down: array")
    for i in range(length):
        array[target + i] = array[source + i]
