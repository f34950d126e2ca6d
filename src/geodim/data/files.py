"""Reading files whole, CSV tables for spreadsheets, and JSON read with errors that name the file."""

from __future__ import annotations

import csv
import io
import json
import os
import stat
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from geodim.data.boundary import boundary, check_regular
from geodim.errors import DataFileError
from geodim.memory import check_bytes
from geodim.text import spreadsheet_cell
from geodim.waiting import report

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence


JSON_TIMES = (
    20  # bytes of Python objects made of one byte of JSON: a digit and a comma become a number in a list
)


TOO_LARGE = "ours are far smaller"


def csv_text(names: Sequence[str], rows: Iterable[Mapping[str, object]]) -> str:
    """Return rows as CSV with a heading; text that a spreadsheet would run as a formula gets an apostrophe.

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


def is_path(source: str | Path) -> bool:
    """Return whether JSON is to be read from a file of this name, rather than from the text itself."""
    return isinstance(source, Path) or not source.lstrip().startswith(("{", "["))


def read_bytes(path: str | os.PathLike[str], times: float, what: str) -> bytes:
    """Return the content of a file; raise if what is made of it, ``times`` as large, would not fit in memory.

    Pipes that another program fills, as in ``<(command)``, are read as well; a named pipe, which
    nobody may ever fill, is not.
    """
    place, content = Path(path), bytearray()
    if not _is_filled(place):
        check_regular(place)
    with boundary(place, what), place.open("rb") as stream:
        check_bytes(int(os.fstat(stream.fileno()).st_size * times), f"the {what} {place}", TOO_LARGE)
        size = os.fstat(stream.fileno()).st_size
        while piece := stream.read(1 << 20):
            content += piece  # a pipe has no size beforehand
            report(f"reading {place}", len(content), size)
            check_bytes(int(len(content) * times), f"the {what} {place}", TOO_LARGE)
    return bytes(content)


def _is_filled(place: Path) -> bool:
    """Return whether this is a pipe from a program.

    Such a pipe is not a file in any folder: its name resolves to something that is not a path.
    """
    try:
        return stat.S_ISFIFO(place.stat().st_mode) and not Path(os.path.realpath(place)).exists()
    except (OSError, ValueError):
        return False


def read_json(source: str | Path) -> object:
    """Parse JSON text, or a JSON file if ``source`` is a path.

    No name may occur twice in an object, and NaN is not accepted.
    """
    where: str | Path = "the text"
    text: str | bytes = str(source)
    if is_path(source):
        where = source
        text = read_bytes(source, JSON_TIMES, "JSON file")
    try:
        decoded = text if isinstance(text, str) else text.decode("utf-8")
        return json.loads(decoded, parse_constant=_no_number, object_pairs_hook=_without_repeats)
    except RecursionError:
        raise DataFileError(f"{where} is not valid JSON: nested too deeply") from None
    except ValueError as error:  # also raised for numbers with thousands of digits
        msg = f"{where} is not valid JSON: {error}"
        raise DataFileError(msg) from error


def _no_number(word: str) -> NoReturn:
    raise ValueError(f"{word} is not a JSON number")


def _without_repeats(pairs: list[tuple[str, object]]) -> dict[str, object]:
    table = dict(pairs)
    if len(table) != len(pairs):
        repeated = next(name for name, count in Counter(name for name, _ in pairs).items() if count > 1)
        raise ValueError(f"the name {repeated!r:.80} occurs twice in one object")
    return table
