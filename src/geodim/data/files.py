"""Files: which can be read at all, tables for spreadsheets, and JSON read with errors that name the file."""

from __future__ import annotations

import csv
import io
import json
import os
import stat
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from geodim.errors import DataFileError
from geodim.memory import check_bytes
from geodim.text import spreadsheet_cell

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence


JSON_TIMES = (
    20  # bytes of Python objects made of one byte of JSON: a digit and a comma become a number in a list
)


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


def is_path(source: str | Path) -> bool:
    """Whether JSON is to be read from a file of this name, rather than from the text itself."""
    return isinstance(source, Path) or not source.lstrip().startswith(("{", "["))


def regular_file(path: str | os.PathLike[str]) -> Path:
    """The path, if it can be read to an end: a file, or a pipe that another program fills, as in ``<(command)``.

    Folders, devices and named pipes, on which a reader might wait for ever, are refused.
    """
    place = Path(path)
    try:
        mode = place.stat().st_mode
        # A pipe between two programs has no place among the files: what its name leads to is no path.
        named = stat.S_ISFIFO(mode) and Path(os.path.realpath(place)).exists()
    except FileNotFoundError:
        raise DataFileError(f"there is no file {place}") from None
    except (OSError, ValueError) as error:  # ValueError: a name with a NUL
        raise DataFileError(f"cannot read {place}: {getattr(error, 'strerror', None) or error}") from error
    if stat.S_ISREG(mode) or (stat.S_ISFIFO(mode) and not named):
        return place
    what = "a folder" if stat.S_ISDIR(mode) else "a named pipe" if named else "a device"
    raise DataFileError(f"cannot read {place}: it is {what}, not a file")


def read_bytes(path: str | os.PathLike[str], times: float, what: str) -> bytes:
    """The content of a file; refused where what is made of it, ``times`` as large, would not fit the memory."""
    place = regular_file(path)
    content = bytearray()
    try:
        with place.open("rb") as stream:
            size = os.fstat(stream.fileno()).st_size
            check_bytes(size * times, f"{place}: {size:,} bytes of {what}")
            while piece := stream.read(1 << 20):
                content += piece  # a pipe has no size
                check_bytes(len(content) * times, f"{place}: {len(content):,} bytes or more of {what}")
    except OSError as error:
        raise DataFileError(f"cannot read {place}: {error.strerror or error}") from error
    return bytes(content)


def read_json(source: str | Path) -> Any:
    """Parse JSON text, or a JSON file if ``source`` is a path; no name may occur twice in an object, and NaN is no number."""
    where: str | Path = "the text"
    text: str | bytes = str(source)
    if is_path(source):
        where = source
        text = read_bytes(source, JSON_TIMES, "JSON")
    try:
        decoded = text if isinstance(text, str) else text.decode("utf-8")
        return json.loads(decoded, parse_constant=_no_number, object_pairs_hook=_without_repeats)
    except RecursionError:
        raise DataFileError(f"{where} is not valid JSON: nested too deeply") from None
    except ValueError as error:  # also of numbers of thousands of digits
        msg = f"{where} is not valid JSON: {error}"
        raise DataFileError(msg) from error


def _no_number(word: str) -> Any:
    raise ValueError(f"{word} is no number of JSON")


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    table = dict(pairs)
    if len(table) != len(pairs):
        repeated = next(name for name, count in Counter(name for name, _ in pairs).items() if count > 1)
        raise ValueError(f"the name {repeated!r:.80} occurs twice in one object")
    return table
