"""Decimal commas: 1,5 for one and a half, as spreadsheets in half the world write it.

Such files have semicolons or tabs between the columns, since commas are taken.  A comma is read as decimal
point where the columns are not separated by it, some cell is a number with one comma in it, and no cell is
a number with a point.  When this happens, a note says so.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from geodim.data.ways_out import COMMA
from geodim.text import is_number

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = ["LOOKED_AT", "has_decimal_commas", "with_points"]

LOOKED_AT = 1000  # lines; beyond these a column read as text is refused, with an example
THOUSANDS = re.compile(r"\s*[-+]?[1-9]\d{0,2},\d{3}\s*")


def has_decimal_commas(rows: Iterable[Sequence[str]], delimiter: str) -> bool:
    r"""Return whether commas within the cells of some lines are decimal points.

    Between tabs, 1,234 alone may as well be a thousand and more: only another number decides.

    >>> has_decimal_commas([["a", "b"], ["1,5", "2"]], ";"), has_decimal_commas([["1,5", "2.5"]], ";")
    (True, False)
    >>> has_decimal_commas([["1,234"]], "\t"), has_decimal_commas([["1,234"], ["0,5"]], "\t")
    (False, True)
    """
    found = False
    for row in rows:
        for cell in row:
            if COMMA.fullmatch(cell):
                found = found or delimiter == ";" or not THOUSANDS.fullmatch(cell)
            elif "." in cell and is_number(cell):
                return False
    return found and delimiter != ","


def with_points(cells: Sequence[str]) -> list[str]:
    """Return the cells with decimal commas replaced by points."""
    return [cell.replace(",", ".") if COMMA.fullmatch(cell) else cell for cell in cells]
