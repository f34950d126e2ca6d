"""The compiled search for one large attribute set of large support.

`search` goes depth first through the closed sets of a context that was cut down to what matters for one
target: rows as bits of columns, 64 to a word.  All its state lies in arrays that the caller owns, so that it
can return at any time (a set was found, its budget is used up, an array is too short) and be called
again.  `geodim.concepts.mining` defines what is searched for and proves why branches may be left out.

A node of the search is a line of ``nodes``; its lists lie on two stacks, ``bits`` for words and ``ints`` for
everything else, and are gone when the node is left.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from geodim.data.graphs._jit import kernel
from geodim.engine.kernels._bounds import require

__all__ = ["FIELDS", "enter_root", "search"]

# What a line of ``nodes`` holds: places on the stacks, and numbers.
MATRIX = 0  # first word of the columns, each of WORDS words
WORDS = 1
EXTENT = 2  # first word of the rows that are left
SUPPORT = 3  # how many these are
SIZE = 4  # attributes in the set
ITEMS = 5  # number of each column's attribute in the whole context
CANDIDATES = 6  # columns by falling count: those the set may grow by
N_CANDIDATES = 7
COUNTS = 8  # rows of each candidate within the extent
EXCLUDED = 9  # columns that sets below this node must not hold: other nodes cover those
N_EXCLUDED = 10
NEXT = 11  # the next candidate to be tried
OWN = 12  # attributes that came into the set at this node
N_OWN = 13
BITS_TOP = 14
INTS_TOP = 15
PAIR_PLACE = 16  # place of each column in the counts of pairs, at the first node
PAIR_SIZE = 17  # columns that have one; 0 if pairs were not counted
FIELDS = 18

DONE, FOUND, PAUSED, FULL = 0, 1, 2, 3
BITS, INTS, NODES = 1, 2, 3  # which array is too short
ROUNDS = 3  # rounds of dropping rows and columns in turn; more rounds find little more
PLANES = 32  # binary digits of the count of a row

M1, M2 = np.uint64(0x5555555555555555), np.uint64(0x3333333333333333)
M4, LOW = np.uint64(0x0F0F0F0F0F0F0F0F), np.uint64(127)
ZERO, ONE, TWO, FOUR, EIGHT = np.uint64(0), np.uint64(1), np.uint64(2), np.uint64(4), np.uint64(8)
SIXTEEN, THIRTY_TWO, ALL = np.uint64(16), np.uint64(32), np.uint64(0xFFFFFFFFFFFFFFFF)


@kernel
def ones(word: Any) -> Any:
    """Return how many bits are set; compilers turn this pattern into the instruction that counts them."""
    word = word - ((word >> ONE) & M1)
    word = (word & M2) + ((word >> TWO) & M2)
    word = (word + (word >> FOUR)) & M4
    word = word + (word >> EIGHT)
    word = word + (word >> SIXTEEN)
    return np.int64((word + (word >> THIRTY_TWO)) & LOW)


@kernel
def common(bits: Any, a: int, b: int, words: int) -> int:
    """Return how many rows two sets of rows have in common."""
    count = 0
    for w in range(words):
        count += ones(bits[a + w] & bits[b + w])
    return count


@kernel
def within(bits: Any, a: int, b: int, words: int) -> bool:
    """Return whether all rows of the first set are in the second."""
    for w in range(words):  # noqa: SIM110 - what Numba compiles
        if bits[a + w] & ~bits[b + w] != ZERO:
            return False
    return True


@kernel
def keep_long_rows(bits: Any, node: Any, extent: int, ints: Any, at: int, count: Any, least: int) -> int:
    """Drop the rows of an extent with fewer than ``least`` of the listed columns; return how many are left.

    The counts of 64 rows are added up in binary, a word for each digit.
    """
    matrix, words = node[MATRIX], node[WORDS]
    planes = np.empty(PLANES, np.uint64)
    left = 0
    for w in range(words):
        rows = bits[extent + w]
        if rows == ZERO:
            continue
        planes[:] = ZERO
        top = 0
        for c in range(count):
            carry = rows & bits[matrix + ints[at + c] * words + w]
            digit = 0
            while carry != ZERO:
                both = planes[digit] & carry
                planes[digit] ^= carry
                carry = both
                digit += 1
            top = max(top, digit)
        enough, equal = ZERO, rows
        for digit in range(max(top, 1), -1, -1):
            if (least >> digit) & 1:
                equal &= planes[digit]
            else:
                enough |= equal & planes[digit]
                equal &= ~planes[digit]
        if least >> (max(top, 1) + 1):  # more digits than any count has
            enough, equal = ZERO, ZERO
        bits[extent + w] = enough | equal
        left += ones(bits[extent + w])
    return left


@kernel
def lacking(nodes: Any, bits: Any, ints: Any, depth: int, columns: int) -> int:
    """Return which array may be too short for a node below this one; 0 if all are certainly long enough."""
    words = nodes[depth, WORDS]
    if nodes[depth, BITS_TOP] + words + 2 * (columns + 1) * (words // 2 + 1) > bits.size:
        return BITS
    if nodes[depth, INTS_TOP] + 6 * columns + 8 > ints.size:
        return INTS
    return 0 if depth + 1 < nodes.shape[0] else NODES


@kernel
def settle(nodes: Any, bits: Any, ints: Any, depth: Any, target: int, floor: int) -> int:
    """Finish a new node, whose candidates are not counted yet; return 0 (nothing below), 1 (found), 2 (open).

    Columns of all rows join the set.  Columns of too few rows are dropped, then rows with too few columns,
    and so on in turn: see `geodim.concepts.mining`.
    """
    node = nodes[depth]
    matrix, words, extent = node[MATRIX], node[WORDS], node[EXTENT]
    cand, counts, excluded = node[CANDIDATES], node[COUNTS], node[EXCLUDED]
    for turn in range(ROUNDS + 1):
        support = node[SUPPORT]
        for e in range(node[N_EXCLUDED]):
            if within(bits, extent, matrix + ints[excluded + e] * words, words):
                return 0  # its closure belongs to a node that was searched before
        kept = np.int64(0)  # a literal would be compiled for itself
        for c in range(node[N_CANDIDATES]):
            column = ints[cand + c]
            count = common(bits, extent, matrix + column * words, words)
            if count == support:
                ints[node[OWN] + node[N_OWN]] = ints[node[ITEMS] + column]
                node[N_OWN] += 1
                node[SIZE] += 1
            elif count > floor:
                ints[cand + kept] = column
                ints[counts + kept] = count
                kept += 1
        node[N_CANDIDATES] = kept
        missing = target - node[SIZE]
        if missing <= 0:
            return 1
        if kept < missing:
            return 0
        if turn == ROUNDS:
            break
        left = keep_long_rows(bits, node, extent, ints, cand, kept, missing)
        if left <= floor:
            return 0
        if left == support:
            break
        node[SUPPORT] = left
    order = np.argsort(-ints[counts : counts + kept], kind="mergesort")
    by_count, columns = ints[counts : counts + kept][order], ints[cand : cand + kept][order]
    for c in range(kept):  # to assign slices, Numba compiles a second of error messages
        ints[counts + c] = by_count[c]
        ints[cand + c] = columns[c]
    return 2


@kernel
def repack(node: Any, bits: Any, ints: Any, floor: int) -> None:
    """Write the rows that are left side by side; they must be at most half of those before.

    What is in ``bits`` above the extent, and in ``ints`` above the top, is free.
    """
    words, support, matrix, extent = node[WORDS], node[SUPPORT], node[MATRIX], node[EXTENT]
    rows = np.empty(support, np.int64)
    at = 0
    for w in range(words):
        word = bits[extent + w]
        while word != ZERO:
            lowest = word & (~word + ONE)
            rows[at] = 64 * w + ones(lowest - ONE)
            word ^= lowest
            at += 1
    fewer = (support + 63) // 64
    start, items, column = node[BITS_TOP], node[INTS_TOP], 0
    for part in range(2):
        first = node[CANDIDATES] if part == 0 else node[EXCLUDED]
        size = node[N_CANDIDATES] if part == 0 else node[N_EXCLUDED]
        kept = 0
        for c in range(size):
            source, out = matrix + ints[first + c] * words, start + column * fewer
            count = 0
            for w in range(fewer):
                word = ZERO
                for r in range(64 * w, min(64 * w + 64, support)):
                    row = rows[r]
                    bit = (bits[source + (row >> 6)] >> np.uint64(row & 63)) & ONE
                    word |= bit << np.uint64(r & 63)
                bits[out + w] = word
                count += ones(word)
            if count <= floor:  # in no set that is searched for, and in no closure of one
                continue
            ints[items + column] = ints[node[ITEMS] + ints[first + c]]
            ints[first + kept] = column
            kept += 1
            column += 1
        if part == 0:
            node[N_CANDIDATES] = kept
        else:
            node[N_EXCLUDED] = kept
    node[MATRIX], node[WORDS], node[EXTENT] = start, fewer, start + column * fewer
    node[ITEMS], node[INTS_TOP] = items, items + column
    for w in range(fewer):
        bits[node[EXTENT] + w] = ALL
    if support % 64:
        bits[node[EXTENT] + fewer - 1] = ALL >> np.uint64(64 - support % 64)
    node[BITS_TOP] = node[EXTENT] + fewer


@kernel
def report(nodes: Any, ints: Any, depth: Any, state: Any, found: Any) -> None:
    """Record the set of a node, its size and support."""
    size = 0
    for d in range(depth + 1):
        for i in range(nodes[d, N_OWN]):
            found[size] = ints[nodes[d, OWN] + i]
            size += 1
    state[1], state[2] = size, nodes[depth, SUPPORT]


@kernel
def enter_root(
    bits: Any, ints: Any, nodes: Any, state: Any, found: Any, rows: int, columns: int, target: int, floor: int
) -> int:
    """Begin a search: the columns lie at the beginning of ``bits``.

    Parameters
    ----------
    bits : uint64, the columns, each of (rows + 63) // 64 words, and room for more
    ints : int64, the attribute of each column, and room for more
    nodes : (depth, FIELDS) int64, written
    state : (4,) int64: the depth of the search (-1: over), size and support of the set found, work done
    found : int64, the attributes of the set found, written
    rows, columns : int, of the context
    target : int, attributes that a set must have
    floor : int, rows that it must have more than

    Returns
    -------
    int
        `DONE`, `FOUND` or `PAUSED`, as `search`; `FULL` if an array is too short, ``state[1]`` says which.
    """
    words = (rows + 63) // 64
    require(rows > 0 and columns > 0 and state.size >= 4, "enter_root: state")
    require(bits.size >= (columns + 1) * words and ints.size >= columns, "enter_root: bits or ints")
    require(found.size >= columns, "enter_root: found")
    require(nodes.shape[1] == FIELDS, "enter_root: nodes")
    if nodes.shape[0] < 1 or ints.size < 6 * columns + 8:
        state[1] = NODES if nodes.shape[0] < 1 else INTS
        return FULL
    node = nodes[0]
    node[:] = 0
    node[WORDS], node[EXTENT], node[SUPPORT] = words, columns * words, rows
    node[OWN], node[CANDIDATES], node[COUNTS] = columns, 2 * columns, 3 * columns
    node[EXCLUDED], node[N_CANDIDATES] = 4 * columns, columns
    node[BITS_TOP], node[INTS_TOP] = (columns + 1) * words, 4 * columns
    for w in range(words):
        bits[node[EXTENT] + w] = ALL
    if rows % 64:
        bits[node[EXTENT] + words - 1] = ALL >> np.uint64(64 - rows % 64)
    for c in range(columns):
        ints[node[CANDIDATES] + c] = c
    state[0] = -1
    state[3] += columns * words
    status = settle(nodes, bits, ints, np.int64(0), target, floor)
    if status == 1:
        report(nodes, ints, np.int64(0), state, found)
        return FOUND
    if status == 2:
        state[0] = 0
        return PAUSED
    return DONE


@kernel
def search(
    bits: Any,
    ints: Any,
    nodes: Any,
    state: Any,
    found: Any,
    pairs: Any,
    target: int,
    most: int,
    floor: int,
    budget: int,
) -> int:
    """Continue a search that `enter_root` or `enter_branch` began.

    Parameters
    ----------
    bits, ints, nodes, state, found
        As they were left; longer, if they were too short.
    pairs : int32, counts of pairs of columns at the first node, as `enter_branch` wrote them
    target : int
        Attributes that a set must have.
    most : int
        Larger sets than this are of no use.
    floor : int
        Rows that a set must have more than; it may rise from call to call.
    budget : int
        Words to examine before it pauses.

    Returns
    -------
    int
        `DONE`; `FOUND`: a set of at least ``target`` attributes in more than ``floor`` rows is in ``found``,
        ``state[1]`` and ``state[2]``; `PAUSED`; `FULL`: an array is too short, ``state[1]`` says which.
        After the last three, call again.
    """
    require(state.size >= 4 and nodes.shape[1] == FIELDS, "search: state")
    depth = state[0]
    require(-1 <= depth < nodes.shape[0], "search: nodes")
    if depth >= 0:
        top = nodes[depth]
        require(top[BITS_TOP] <= bits.size and top[INTS_TOP] <= ints.size, "search: bits or ints")
        require(pairs.size >= nodes[0, PAIR_SIZE] ** 2, "search: pairs")
        require(found.size >= nodes[0, BITS_TOP] // nodes[0, WORDS] - 1, "search: found")
    end = state[3] + budget
    while depth >= 0:
        node = nodes[depth]
        at, missing = node[NEXT], target - node[SIZE]
        last = at + missing - 1  # this many candidates from here on must be in more rows than the floor
        if last >= node[N_CANDIDATES] or ints[node[COUNTS] + last] <= floor:
            depth -= 1
            continue
        state[0] = depth
        if state[3] > end:
            return PAUSED
        left, barred = node[N_CANDIDATES] - at - 1, node[N_EXCLUDED] + at
        short = lacking(nodes, bits, ints, depth, left + barred + 1)
        if short:
            state[1] = short
            return FULL
        node[NEXT] += 1
        child = nodes[depth + 1]
        words, column = node[WORDS], ints[node[CANDIDATES] + at]
        child[MATRIX], child[WORDS], child[EXTENT] = node[MATRIX], words, node[BITS_TOP]
        child[SUPPORT], child[SIZE], child[ITEMS] = ints[node[COUNTS] + at], node[SIZE] + 1, node[ITEMS]
        child[OWN], child[CANDIDATES] = node[INTS_TOP], node[INTS_TOP] + left + 1
        child[COUNTS] = child[CANDIDATES] + left
        child[EXCLUDED] = child[COUNTS] + left
        child[N_EXCLUDED], child[NEXT], child[N_OWN], child[PAIR_SIZE] = barred, 0, 1, 0
        child[BITS_TOP], child[INTS_TOP] = child[EXTENT] + words, child[EXCLUDED] + barred
        ints[child[OWN]] = ints[node[ITEMS] + column]
        kept = 0
        row = ints[node[PAIR_PLACE] + column] * node[PAIR_SIZE]
        for c in range(at + 1, node[N_CANDIDATES]):
            other = ints[node[CANDIDATES] + c]
            if depth > 0 or node[PAIR_SIZE] == 0 or pairs[row + ints[node[PAIR_PLACE] + other]] > floor:
                ints[child[CANDIDATES] + kept] = other
                kept += 1
        state[3] += left
        if kept < missing - 1:  # too few columns go with this one
            continue
        child[N_CANDIDATES] = kept
        source = node[MATRIX] + column * words
        for w in range(words):
            bits[child[EXTENT] + w] = bits[node[EXTENT] + w] & bits[source + w]
        for e in range(node[N_EXCLUDED]):
            ints[child[EXCLUDED] + e] = ints[node[EXCLUDED] + e]
        for e in range(at):
            ints[child[EXCLUDED] + node[N_EXCLUDED] + e] = ints[node[CANDIDATES] + e]
        if child[SUPPORT] <= words:  # a row to a word: cheaper to write than to count where they are
            state[3] += (kept + barred) * child[SUPPORT] + words
            repack(child, bits, ints, floor)
        state[3] += (3 * child[N_CANDIDATES] + child[N_EXCLUDED] + 1) * child[WORDS] + barred
        status = settle(nodes, bits, ints, depth + 1, target, floor)
        if status == 1 and child[SIZE] <= most:
            report(nodes, ints, depth + 1, state, found)
            return FOUND
        if status == 2:
            if child[WORDS] > 1 and 2 * child[SUPPORT] <= 64 * child[WORDS]:
                repack(child, bits, ints, floor)
            depth += 1
    state[0] = -1
    return DONE
