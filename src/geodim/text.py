r"""Names from untrusted sources, made safe to show: what a terminal would obey is escaped, never sent.

Control characters, overrides of the writing direction and separators of lines in a file name, a column name
or a message can move the cursor, recolour, retitle or forge lines.  Everything that geodim prints passes
through `visible`: errors and warnings by their ``str``, the command line by its consoles.
"""

from __future__ import annotations

import re
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = ["boxed", "html_list", "html_table", "is_number", "spreadsheet_cell", "visible", "visible_lines"]

# C0, DEL and C1; line and paragraph separators; bidirectional embeddings, overrides and
# isolates; lone surrogates.
_OBEYED = "\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff"
_ANY = re.compile(f"[{_OBEYED}]")
_ANY_BUT_LINES = re.compile(f"(?![\n\t])[{_OBEYED}]")
_SHORT = {"\n": r"\n", "\r": r"\r", "\t": r"\t"}
LEFT = "style='text-align:left'"
FORMULA = ("=", "+", "-", "@")  # a tab or the end of a line would count too, but are escaped


def visible(text: str) -> str:
    r"""Return the text on one line, with everything that a terminal would obey escaped.

    Examples
    --------
    >>> print(visible("red\x1b[31m\nline"))
    red\x1b[31m\nline
    >>> visible("größe ✓")
    'größe ✓'
    """
    return text if text.isprintable() else _ANY.sub(_escape, text)


def first_names(names: Sequence[str], most: int = 5) -> str:
    """Return the first of some names, on one line.

    Examples
    --------
    >>> first_names(["a", "b", "c"], 2)
    'a, b, ...'
    """
    return ", ".join(map(visible, names[:most])) + (", ..." if len(names) > most else "")


def visible_lines(text: str) -> str:
    """Do the same as `visible`, but keep line ends and tabs."""
    return text if text.isprintable() else _ANY_BUT_LINES.sub(_escape, text)


def boxed(text: str) -> str:
    """Do the same as `visible_lines` for HTML pages: a box replaces each such character.

    HTML allows none of them, and escapes would be taken for text.
    """
    return text if text.isprintable() else _ANY_BUT_LINES.sub("\ufffd", text)


def html_table(caption: str, rows: Iterable[Sequence[str]], head: Sequence[str] = ()) -> str:
    """Return an HTML table for a notebook, with all texts escaped; no package is needed.

    Without a head, the first cell of every row is its heading.

    Examples
    --------
    >>> html_table("<b>", [])
    '<table><caption>&lt;b&gt;</caption></table>'
    """

    def line(texts: Sequence[str], first: str, others: str) -> str:
        cells = [(others if at else first, escape(boxed(text))) for at, text in enumerate(texts)]
        return f"<tr>{''.join(f'<{kind} {LEFT}>{text}</{kind}>' for kind, text in cells)}</tr>"

    lines = [line(row, "td" if head else "th", "td") for row in rows]
    if head:
        lines.insert(0, line(head, "th", "th"))
    return f"<table><caption>{escape(boxed(caption))}</caption>{''.join(lines)}</table>"


def html_list(lines: Iterable[str]) -> str:
    """Return an HTML list for a notebook, with all texts escaped; empty if there are none.

    Examples
    --------
    >>> html_list(["<b>"]), html_list([])
    ('<ul><li>&lt;b&gt;</li></ul>', '')
    """
    items = "".join(f"<li>{escape(boxed(line))}</li>" for line in lines)
    return f"<ul>{items}</ul>" if items else ""


def _escape(found: re.Match[str]) -> str:
    character = found[0]
    code = ord(character)
    return _SHORT.get(character) or (f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}")


def spreadsheet_cell(value: object) -> object:
    """Return a cell of a CSV file, its text made visible.

    It gets a leading apostrophe where a spreadsheet would run it as a formula.  Numbers
    stay numbers, even as text.

    Examples
    --------
    >>> spreadsheet_cell("=1+1"), spreadsheet_cell("-1.5"), spreadsheet_cell(-1.5), spreadsheet_cell("a=b")
    ("'=1+1", '-1.5', -1.5, 'a=b')
    """
    if not isinstance(value, str):
        return value
    text = visible(value)
    return f"'{text}" if text.startswith(FORMULA) and not is_number(text) else text


def is_number(text: str) -> bool:
    """Return whether a text is a number as Python reads it."""
    try:
        float(text)
    except ValueError:
        return False
    return True
