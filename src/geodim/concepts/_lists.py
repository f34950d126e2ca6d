"""Compiled code for lists of attributes: the parser of transactions, and searches that begin with lists."""

from __future__ import annotations

from typing import Any

import numpy as np

from geodim.concepts._kernels import (
    BITS,
    BITS_TOP,
    CANDIDATES,
    COUNTS,
    DONE,
    EXCLUDED,
    EXTENT,
    FIELDS,
    FOUND,
    FULL,
    INTS,
    INTS_TOP,
    ITEMS,
    N_CANDIDATES,
    N_EXCLUDED,
    N_OWN,
    NODES,
    ONE,
    OWN,
    PAIR_PLACE,
    PAIR_SIZE,
    PAUSED,
    ROUNDS,
    SIZE,
    SUPPORT,
    WORDS,
    ZERO,
)
from geodim.data.graphs._jit import kernel
from geodim.engine.kernels._bounds import require

__all__ = ["cut_down", "enter_branch", "parse_transactions"]


@kernel
def cut_down(
    row_starts: Any, row_columns: Any, rows: Any, columns: Any, least_columns: int, floor: int, turns: int
) -> None:
    """Drop rows with too few columns, then columns of too few rows, and so on in turn.

    Parameters
    ----------
    row_starts, row_columns : int64, int32, the columns of each row, one after the other
    rows, columns : bool, which are still there, written
    least_columns : int, columns that a row must have
    floor : int, rows that a column must have more than
    turns : int, at most this many times
    """
    require(row_starts.size == rows.size + 1, "cut_down: rows")
    require(row_starts[rows.size] == row_columns.size, "cut_down: row_columns")
    counts = np.zeros(columns.size, np.int64)
    for _ in range(turns):
        counts[:] = 0
        changed = False
        for row in range(rows.size):
            if not rows[row]:
                continue
            begin, end = row_starts[row], row_starts[row + 1]
            require(0 <= begin <= end <= row_columns.size, "cut_down: row_starts")
            length = 0
            for at in range(begin, end):
                require(0 <= row_columns[at] < columns.size, "cut_down: columns")
                length += columns[row_columns[at]]
            if length < least_columns:
                rows[row] = False
                changed = True
                continue
            for at in range(begin, end):
                counts[row_columns[at]] += 1
        for c in range(columns.size):
            if columns[c] and counts[c] <= floor:
                columns[c] = False
                changed = True
        if not changed:
            return


@kernel
def drop_unpaired(
    rows: Any,
    row_starts: Any,
    row_columns: Any,
    kind: Any,
    place: Any,
    pairs: Any,
    count: Any,
    missing: int,
    floor: int,
) -> Any:
    """Count pairs of candidates, and drop those that go with too few others; return how many are left.

    A set of ``missing`` candidates in more than ``floor`` rows needs every two of them in this many.
    """
    at = 0
    for c in range(kind.size):
        if kind[c] == 1:
            place[c] = at
            at += 1
    pairs[: count * count] = 0
    here = np.empty(count, np.int64)
    for row in rows:
        many = 0
        for at in range(row_starts[row], row_starts[row + 1]):
            if kind[row_columns[at]] == 1:
                here[many] = place[row_columns[at]]
                many += 1
        for a in range(many):
            for b in range(many):
                pairs[here[a] * count + here[b]] += 1
    left = count
    dropped = True
    while dropped and left >= missing:
        dropped = False
        for c in range(kind.size):
            if kind[c] != 1:
                continue
            start, partners = place[c] * count, -1  # it goes with itself
            for other in range(count):
                partners += pairs[start + other] > floor
            if partners < missing - 1:
                dropped = True
                left -= 1
                kind[c] = 3
                for other in range(count):
                    pairs[start + other] = 0
                    pairs[other * count + place[c]] = 0
    return left


@kernel
def enter_branch(
    bits: Any,
    ints: Any,
    nodes: Any,
    state: Any,
    found: Any,
    pairs: Any,
    row_starts: Any,
    row_columns: Any,
    column_starts: Any,
    column_rows: Any,
    first: int,
    target: int,
    floor: int,
) -> int:
    """Begin a search among the rows of one column, by lists: if crosses are few, bits would be mostly 0.

    Sets must have this column and none before it; columns are in the order in which they are tried.

    Parameters
    ----------
    bits, ints, nodes, state, found
        As for `enter_root`; nothing needs to be in ``bits`` and ``ints``.
    pairs : int32, counts of pairs of columns, written if there is room for them
    row_starts, row_columns : int64, int32, the columns of each row, one after the other
    column_starts, column_rows : int64, int32, the rows of each column
    first : int, the column
    target, floor : int, as for `enter_root`

    Returns
    -------
    int
        As `enter_root`.
    """
    columns = column_starts.size - 1
    require(
        0 <= first < columns and column_starts[columns] == column_rows.size, "enter_branch: column_starts"
    )
    require(row_starts.size > 1 and row_starts[row_starts.size - 1] == row_columns.size, "enter_branch: rows")
    require(row_columns.size == column_rows.size, "enter_branch: column_rows")
    require(0 <= column_starts[first] <= column_starts[first + 1] <= column_rows.size, "enter_branch: column")
    require(state.size >= 4 and found.size >= columns and nodes.shape[1] == FIELDS, "enter_branch: state")
    state[0] = -1
    rows = column_rows[column_starts[first] : column_starts[first + 1]].copy()
    support = rows.size
    counts = np.zeros(columns, np.int64)
    kind = np.zeros(columns, np.int8)  # 0 barred, 1 candidate, 2 in the set, 3 dropped
    kind[first:] = 1
    size = 0
    for turn in range(ROUNDS + 1):
        counts[:] = 0
        for r in range(support):
            row = rows[r]
            require(0 <= row < row_starts.size - 1, "enter_branch: column_rows")
            begin, end = row_starts[row], row_starts[row + 1]
            require(0 <= begin <= end <= row_columns.size, "enter_branch: row_starts")
            for at in range(begin, end):
                require(0 <= row_columns[at] < columns, "enter_branch: row_columns")
                counts[row_columns[at]] += 1
            state[3] += end - begin
        kept: Any = np.int64(0)  # a literal would be compiled for itself
        barred = 0
        for c in range(columns):
            if kind[c] > 1:
                continue
            if counts[c] == support:
                if kind[c] == 0:
                    return DONE  # all of this was searched with that column
                kind[c] = 2
                found[size] = c
                size += 1
            elif counts[c] <= floor:
                kind[c] = 3
            elif kind[c] == 1:
                kept += 1
            else:
                barred += 1
        missing = target - size
        if missing <= 0:
            state[1], state[2] = size, support
            return FOUND
        if kept < missing:
            return DONE
        if turn == ROUNDS:
            break
        left = 0
        for r in range(support):
            row, long = rows[r], 0
            for at in range(row_starts[row], row_starts[row + 1]):
                long += kind[row_columns[at]] == 1
            if long >= missing:
                rows[left] = row
                left += 1
        if left <= floor:
            return DONE
        if left == support:
            break
        support = left
    place = np.full(columns, -1)
    pair_size = 0
    if kept * kept <= pairs.size and missing > 1:
        pair_size = kept
        kept = drop_unpaired(
            rows[:support], row_starts, row_columns, kind, place, pairs, kept, missing, floor
        )
        state[3] += pair_size * pair_size
        if kept < missing:
            return DONE
    words, used = (support + 63) // 64, kept + barred
    if nodes.shape[0] < 1 or ints.size < size + 4 * used or bits.size < (used + 1) * words:
        state[1] = NODES if nodes.shape[0] < 1 else BITS if bits.size < (used + 1) * words else INTS
        return FULL
    node = nodes[0]
    node[:] = 0
    node[WORDS], node[EXTENT], node[SUPPORT], node[SIZE] = words, used * words, support, size
    node[OWN], node[N_OWN], node[ITEMS] = 0, size, size
    node[CANDIDATES], node[N_CANDIDATES], node[COUNTS] = size + used, kept, size + used + kept
    node[EXCLUDED], node[N_EXCLUDED] = size + used + 2 * kept, barred
    node[PAIR_PLACE], node[PAIR_SIZE] = size + used + 2 * kept + barred, pair_size
    node[BITS_TOP], node[INTS_TOP] = (used + 1) * words, node[PAIR_PLACE] + used
    for i in range(size):
        ints[i] = found[i]
    bits[: (used + 1) * words] = ZERO
    order = np.argsort(-counts, kind="mergesort")
    at_candidate = at_barred = 0
    for o in range(columns):
        c = order[o]
        if kind[c] > 1:
            place[c] = -1
            continue
        at = at_candidate + at_barred
        ints[node[PAIR_PLACE] + at] = place[c]
        place[c] = at
        ints[node[ITEMS] + at] = c
        if kind[c] == 1:
            ints[node[CANDIDATES] + at_candidate] = at
            ints[node[COUNTS] + at_candidate] = counts[c]
            at_candidate += 1
        else:
            ints[node[EXCLUDED] + at_barred] = at
            at_barred += 1
    for r in range(support):
        bit = ONE << np.uint64(r % 64)
        for at in range(row_starts[rows[r]], row_starts[rows[r] + 1]):
            column = place[row_columns[at]]
            if column >= 0:
                bits[column * words + r // 64] |= bit
        bits[node[EXTENT] + r // 64] |= bit
    state[0] = 0
    return PAUSED


@kernel
def parse_transactions(text: Any, starts: Any, items: Any, tallies: Any) -> int:
    """Read lines of item numbers, the first time with empty arrays, to count, the second time to fill them.

    Parameters
    ----------
    text : uint8, the characters of the file, ending with a line end unless it is empty
    starts : int64, where the items of each line begin, and the end; or empty
    items : int64, or empty
    tallies : (2,) int64, written: lines, items

    Returns
    -------
    int
        0, or -1 - p if the character at p does not belong there.
    """
    require(tallies.size >= 2, "parse_transactions: tallies")
    fill = starts.size > 0
    lines = count = digits = 0
    value = np.int64(0)
    if fill:
        starts[0] = 0
    for p in range(text.size):
        character = text[p]
        if 48 <= character <= 57:
            digits += 1
            if digits > 18:
                return -1 - p
            value = 10 * value + np.int64(character - 48)
            continue
        if character not in (32, 9, 10, 13):
            return -1 - p
        if digits:
            if fill:
                require(count < items.size, "parse_transactions: items")
                items[count] = value
            count += 1
            digits = 0
            value = np.int64(0)
        if character == 10:
            lines += 1
            if fill:
                require(lines < starts.size, "parse_transactions: starts")
                starts[lines] = count
    tallies[0], tallies[1] = lines, count
    return 0
