"""Files of text: tables for spreadsheets, and JSON read with errors that name the file."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from geodim.errors import DataFileError
from geodim.text import spreadsheet_cell

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence


def csv_text(names: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> str:
    """Rows as CSV with a heading; text that a spreadsheet would take for a formula gets a leading apostrophe.

    Examples
    --------
    >>> print(csv_text(["name", "x"], [{"name": "=A1", "x": -1.5}]), end="")
    name,x
    '=A1,-1.5
    """
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow([spreadsheet_cell(name) for name in names])
    writer.writerows([spreadsheet_cell(row.get(name, "")) for name in names] for row in rows)
    return stream.getvalue()


def read_json(source: str | Path) -> Any:
    """Parse JSON text, or a JSON file if ``source`` is a path."""
    text, where = source, "the text"
    if isinstance(source, Path) or not source.lstrip().startswith(("{", "[")):
        where = str(source)
        try:
            text = Path(source).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            msg = f"cannot read {source}: {error}"
            raise DataFileError(msg) from error
    try:
        return json.loads(str(text))
    except json.JSONDecodeError as error:
        msg = f"{where} is not valid JSON: {error}"
        raise DataFileError(msg) from error
