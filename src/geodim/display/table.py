"""A table of a report, as plain texts: pages and Markdown write the same one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence, Set as AbstractSet

__all__ = ["ReportTable"]


@dataclass(frozen=True)
class ReportTable:
    """Texts in rows.

    Attributes
    ----------
    head, rows : sequences of str
        The headings of the columns, and the cells.
    numeric : set of int
        Columns of numbers, which are aligned right.
    caption : str
        What the table shows, where no heading says so.
    classes : sequence of str
        A class for each row, which has a colour in the style sheet.
    row_headings : bool
        Whether the first cell of a row names it, and stays in sight when the others scroll.
    stacked : bool
        Whether narrow screens show a block for each row, instead of scrolling.
    """

    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    numeric: AbstractSet[int] = frozenset()
    caption: str = ""
    classes: Sequence[str] = ()
    row_headings: bool = True
    stacked: bool = False
