"""Columns that hold no numbers, and what to do about them: categories, dates, and numbers kept as text."""

from __future__ import annotations

import re
from datetime import date, time, timedelta
from itertools import islice
from typing import TYPE_CHECKING

from geodim.text import is_number

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

__all__ = ["COMMA", "kind_of_values", "ways_out"]

COMMA = re.compile(r"\s*[-+]?\d*,\d+([eE][-+]?\d+)?\s*")  # a number with a decimal comma
LOOKED_AT = 100_000  # values of a column: a tenth of a second
WAYS = {
    "dates": (
        "turn dates into numbers, such as days since the first: (day - day.min()) / pandas.Timedelta(days=1)"
    ),
    "numbers": "turn numbers that are kept as text or objects into a column of numbers: column.astype(float)",
    "commas": (
        "turn text with decimal commas into numbers: pandas.read_csv(file, decimal=',') when it is read, "
        "or column.str.replace(',', '.').astype(float)"
    ),
    "categories": (
        "encode categories (sklearn.preprocessing.OneHotEncoder, or OrdinalEncoder where they have an order)"
    ),
}


def kind_of_values(values: Iterable[object]) -> str:
    """Return what a column of text or objects holds, by its first values.

    Examples
    --------
    >>> kind_of_values(["1.5", "2"]), kind_of_values(["1,5", "2"]), kind_of_values(["1,5", "many"])
    ('numbers', 'commas', 'categories')
    >>> kind_of_values([date(2024, 2, 29), date(2025, 3, 1)])
    'dates'
    """
    kinds = set()
    for value in islice(values, LOOKED_AT):
        kinds.add(_kind_of(value))
        if "categories" in kinds:  # whatever follows
            break
    if kinds == {"numbers", "commas"}:
        return "commas"
    return kinds.pop() if len(kinds) == 1 else "categories"


def _kind_of(value: object) -> str:
    if isinstance(value, date | time | timedelta):
        return "dates"
    cell = str(value)
    return "commas" if COMMA.fullmatch(cell) else "numbers" if is_number(cell) else "categories"


def ways_out(kinds: Collection[str]) -> str:
    """Return what to do about columns of some kinds, each of them once.

    Examples
    --------
    >>> ways_out(["numbers", "numbers"])
    'turn numbers that are kept as text or objects into a column of numbers: column.astype(float)'
    """
    return ", ".join(way for kind, way in WAYS.items() if kind in kinds)
