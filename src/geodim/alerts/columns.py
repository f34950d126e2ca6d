"""Findings about single columns and rows: numbers of rows, times, constants, repetitions.

All but the constants are found in a sample of rows.  If that is all of the data, findings are worded as
facts; otherwise columns and rows only "look" equal.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from geodim.alerts.alert import NOTE, WARNING, Alert
from geodim.words import counted, percent

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable

    from numpy.typing import NDArray

    from geodim.alerts.view import View

MATTERS = 0.01  # with a smaller share, a column that counts rows does no harm unless it determines d_max
ENOUGH = 8  # rows that distinguish a pattern from chance
MANY = 0.1  # part of the rows
TELLING = 8  # different values of a row or column: fewer may be equal by chance
NAMED = 20  # columns that the evidence names
ID_NAME = re.compile(
    r"(^|[^a-z])(id|ids|idx|uuid|guid|rowid|rownum|row[ _-]?(id|nr|no|num|number)?)$|^(unnamed: 0|index)$"
)
SECOND = (6.3e8, 2.6e9)  # since 1970: from 1989 to 2052
UNITS = {"seconds": 1.0, "milliseconds": 1e3, "microseconds": 1e6, "nanoseconds": 1e9}


def counting_columns(view: View) -> list[Alert]:
    """Find columns that number the rows or hold times, and that dominate the result."""
    matters = {view.widest} if view.result.normalized else set()
    matters |= {column for column, share in view.shares.items() if share >= MATTERS}
    found = []
    for column in sorted(matters):
        values = view.sample.column(column)
        if values is None or values.size < ENOUGH or view.ranges.widths[column] == 0.0:
            continue
        time = _time(view, column, values)
        kind = None if time else _counts(view, column, values)
        if time or kind:
            found.append(_counting(view, column, time, kind))
    return found


def _counting(view: View, column: int, time: str | None, kind: str | None) -> Alert:
    share = view.shares.get(column, 0.0)
    does = "sets the range by which everything is divided" if column == view.widest else ""
    carries = f"carries {percent(share)} of the discriminability" if share >= MATTERS else ""
    what = " and ".join(filter(None, (does, carries)))
    return Alert(
        "timestamp" if time else "row-number",
        WARNING,
        f"{view.called(column)} {time or kind}, and it {what}.",
        {
            "column": view.name(column),
            "least": float(view.given.least[column]),
            "greatest": float(view.given.greatest[column]),
            "share": share,
        },
        "If it is not a measurement, leave it out (--exclude on the command line): it decides the number.",
    )


def _time(view: View, column: int, values: NDArray[np.float64]) -> str | None:
    """Return whether a column holds times, judging by its ends and a few values."""
    low, high = float(view.given.least[column]), float(view.given.greatest[column])
    values = values + (low - view.ranges.least[column])  # long integers are solved from their least on
    if low < 19000101 or not _whole(values) or np.unique(values).size < ENOUGH:
        return None
    for unit, per_second in UNITS.items():
        if SECOND[0] * per_second <= low and high <= SECOND[1] * per_second:
            return f"looks like times in {unit} since 1970"
    if high > 21001231:
        return None
    dates = values.astype(np.int64)
    month, day = dates // 100 % 100, dates % 100
    if np.all((month >= 1) & (month <= 12) & (day >= 1) & (day <= 31)):
        return f"looks like dates ({low:.0f} to {high:.0f})"
    return None


def _counts(view: View, column: int, values: NDArray[np.float64]) -> str | None:
    """Return whether a column numbers or identifies the rows; with weights, points are no longer rows."""
    if view.weighted:
        return None
    rows, width = view.sample.rows, float(view.ranges.widths[column])
    slope = (values[-1] - values[0]) / float(rows[-1] - rows[0])
    line = values[0] + slope * (rows - rows[0])
    if slope != 0.0 and np.all(np.abs(values - line) <= 1e-9 * width):
        return f"{'rises' if slope > 0 else 'falls'} by the same amount from row to row, as a row number does"
    if not _whole(values):
        return None
    steps = np.diff(values)
    if np.all(steps > 0.0) or np.all(steps < 0.0):
        return "holds whole numbers that go one way from row to row, as ids and times do"
    in_a_row = width == view.result.n_points - 1
    named = view.names is not None and ID_NAME.search(view.names[column].strip().lower())
    if not (in_a_row or named) or np.unique(values).size < values.size:
        return None
    if in_a_row:
        return "holds as many different whole numbers in a row as there are points, as ids do"
    return "is named like an id, and holds a different whole number in every row looked at"


def _whole(values: NDArray[np.float64]) -> bool:
    return bool(np.all(values == np.rint(values)))


def constant_columns(view: View) -> Alert | None:
    """Find columns that hold a single value."""
    constant = np.flatnonzero(view.ranges.widths == 0.0).tolist()
    total = view.ranges.widths.size
    if not constant or len(constant) == total:
        return None
    them = "it has" if len(constant) == 1 else "they have"
    return Alert(
        "constant-columns",
        NOTE,
        f"{len(constant):,} of {counted(total, 'column')} "
        f"{'is' if len(constant) == 1 else 'are'} constant ({view.listed(constant)}): {them} no effect on "
        "the number.",
        {"count": len(constant), "columns": [view.name(j) for j in constant[:NAMED]]},
    )


def equal_columns(view: View) -> Alert | None:
    """Find columns that repeat another one, which changes nothing except which of them gets the share."""
    sample, ranges = view.sample, view.ranges
    if sample.rows.size < ENOUGH:
        return None
    ends = zip(ranges.least[sample.columns].tolist(), ranges.greatest[sample.columns].tolist(), strict=True)
    later: list[int] = []
    first: list[int] = []
    for alike in _groups(enumerate(ends)):  # few columns have both ends in common
        for group in _groups((at, sample.values[:, at].tobytes()) for at in alike):
            telling = sample.all_rows or np.unique(sample.values[:, group[0]]).size >= TELLING
            if telling and ranges.widths[sample.columns[group[0]]] > 0.0:
                columns = sorted(sample.columns[group].tolist())
                first.append(columns[0])
                later += columns[1:]
    if not later:
        return None
    verb = "look like copies of" if not sample.all_rows else "equals" if len(later) == 1 else "equal"
    return Alert(
        "equal-columns",
        NOTE,
        f"{counted(len(later), 'column')} {verb} another: {view.listed(later)}. The dimension is the "
        "same without, but the first of equal columns gets the share.",
        {
            "count": len(later),
            "columns": [view.name(j) for j in later[:NAMED]],
            "equal_to": [view.name(j) for j in first[:NAMED]],
            "certain": sample.all_rows,
        },
        "Leave out the repeated columns.",
    )


def equal_rows(view: View) -> Alert | None:
    """Find many points that no feature tells apart."""
    sample, result = view.sample, view.result
    if view.weighted or sample.rows.size < ENOUGH or result.discriminability_upper == 0.0:
        return None
    leading = sample.column(next(iter(view.shares), view.widest))
    if leading is None:
        return None
    _, which, often = np.unique(leading, return_inverse=True, return_counts=True)
    again = np.flatnonzero(often[which] > 1).tolist()  # the leading column tells all others apart
    groups = _groups((row, sample.values[row].tobytes()) for row in again)
    if not sample.all_columns:
        groups = [group for group in groups if np.unique(sample.values[group[0]]).size >= TELLING]
    count = sum(map(len, groups))
    part = count / sample.rows.size
    if part < MANY:
        return None
    among = f"{count:,} of {'the' if sample.all_rows else 'the looked-at'} {sample.rows.size:,} points"
    verb = "equal" if sample.all_columns else f"look the same, in {sample.columns.size} columns, as"
    return Alert(
        "equal-rows",
        NOTE,
        f"{among} {verb} another ({percent(part)}): nothing tells these apart, which raises the dimension.",
        {"looked_at": int(sample.rows.size), "equal": int(count), "certain": sample.all_columns},
        "If they are repeated by mistake, measure each once; if each should count, nothing needs to be done.",
    )


def _groups(keys: Iterable[tuple[int, Hashable]]) -> list[list[int]]:
    """Return positions whose keys are equal, two or more together."""
    found: dict[Hashable, list[int]] = {}
    for at, key in keys:
        found.setdefault(key, []).append(at)
    return [group for group in found.values() if len(group) > 1]


def row_normalised(sums: NDArray[np.float64], *, n_attributes: int) -> Alert | None:
    """Find attributes of a graph whose rows add up to one, none negative, from the sums of some rows."""
    sums = sums[sums != 0.0]
    if sums.size < ENOUGH or n_attributes < 2 or not np.all(np.abs(sums - 1.0) <= 1e-4):
        return None
    return Alert(
        "row-normalised",
        WARNING,
        "The attributes of every node looked at add up to 1: they were divided by their sum. A node with a "
        "single attribute then sets the range by which everything is divided, and the number is about how "
        "many attributes nodes have, as much as about which.",
        {"looked_at": int(sums.size)},
        "Measure the attributes as they were before; in PyTorch Geometric, without NormalizeFeatures.",
    )
