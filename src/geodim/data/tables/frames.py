"""CSV, TSV and Parquet files, read with pyarrow: only the chosen columns, and only if they hold numbers."""

from __future__ import annotations

import csv
import gzip
import re
import warnings
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from geodim.data.tables.columns import Table
from geodim.errors import DataFileError, GeodimWarning, InputTypeError, ShapeError
from geodim.optional import require

if TYPE_CHECKING:
    from pathlib import Path

    from geodim.data.tables.columns import Choose

UNNAMED = "unnamed"
COUNTERS = (UNNAMED, "Unnamed: 0")  # as pandas calls an index that was saved twice
NEARLY = re.compile(r"[-+]?[$€£]?[\d][\d.,' \u00a0\u202f]*[%$€£]?")  # what people write for a number


def read_parquet(file: Path, choose: Choose) -> Table:
    """Read the chosen columns of a Parquet file."""
    parquet = require("pyarrow.parquet", "frames", "reading Parquet files")
    try:
        with parquet.ParquetFile(file) as opened:
            names = list(opened.schema_arrow.names)
            chosen = [names[number] for number in choose(names)]
            table = opened.read(columns=chosen)
    except (require("pyarrow", "frames", "reading Parquet files").ArrowException, OSError) as error:
        msg = f"{file} is no complete Parquet file ({error}): was it cut off while being written or copied?"
        raise DataFileError(msg) from error
    return _checked_frame(table, file)


def column_names(file: Path) -> list[str]:
    """Names of the columns of a Parquet file, or of a folder of them."""
    dataset = require("pyarrow.dataset", "frames", "reading Parquet files")
    try:
        return list(dataset.dataset(file, format="parquet").schema.names)
    except (require("pyarrow", "frames", "reading Parquet files").ArrowException, OSError) as error:
        msg = f"{file} is no complete Parquet file ({error}): was it cut off while being written or copied?"
        raise DataFileError(msg) from error


def read_csv(file: Path, suffix: str, choose: Choose, header: bool | None = None) -> Table:
    """Read the chosen columns of a text file with delimiters; ``header`` says whether the first line holds names (None: see)."""
    reader = require("pyarrow.csv", "frames", "reading CSV files")
    names, skip, delimiter, note = _sniff(file, suffix, header)
    chosen = [names[number] for number in choose(names)]
    if chosen[0] in COUNTERS:
        warnings.warn(
            f"{file}: the first column has no name; if it just counts the rows, leave it out (exclude 0)",
            GeodimWarning,
            stacklevel=4,
        )
    try:
        table = reader.read_csv(
            file,
            read_options=reader.ReadOptions(column_names=names, skip_rows=skip),
            parse_options=reader.ParseOptions(
                delimiter=delimiter,
                newlines_in_values=False,
                ignore_empty_lines=len(names) > 1,  # the only value of a line may be missing
            ),
            convert_options=reader.ConvertOptions(include_columns=chosen),
        )
    except require("pyarrow", "frames", "reading CSV files").ArrowException as error:
        msg = f"{file} is no table of {len(names)} columns: {str(error).splitlines()[0]}"
        raise DataFileError(msg) from error
    return replace(_checked_frame(table, file), note=note)


def _sniff(file: Path, suffix: str, header: bool | None) -> tuple[list[str], int, str, str]:
    """Names of the columns, lines before the first point, the delimiter, and what was decided about the first line."""
    opener: Any = gzip.open if suffix.endswith(".gz") else open
    try:
        with opener(file, "rt", encoding="utf-8-sig", newline="") as stream:
            line = next((line for line in stream if line.strip() and not line.startswith("#")), "")
            delimiter = "\t" if suffix.startswith(".tsv") or "\t" in line else ";" if ";" in line else ","
            stream.seek(0)
            rows = csv.reader(stream, delimiter=delimiter)
            comment: list[str] = []
            skip = 0
            for row in rows:
                if row and not row[0].startswith("#"):
                    break
                comment, skip = row or comment, rows.line_num
            else:
                msg = f"{file} is empty: it has no row of values"
                raise DataFileError(msg)
            names = [cell.strip() for cell in row]
            named = _is_header(names, file) if header is None else header
            note = ""  # where all names are words nothing is in doubt
            if named:
                skip = rows.line_num
                if any(map(_is_number, names)):
                    note = f"{file}: the first line holds the names of the columns"
            elif len(comment) == len(names):  # as written by numpy.savetxt(header=...)
                names = [cell.strip("# ") for cell in comment]
                note = f"{file}: the comment above the first line holds the names of the columns"
            else:
                note = f"{file}: the first line is a point; columns are numbered from 0"
                names = [str(number) for number in range(len(names))]
    except (UnicodeDecodeError, csv.Error) as error:
        msg = f"{file} is no UTF-8 text table ({error}): convert it to UTF-8 first"
        raise DataFileError(msg) from error
    return _named(names, file), skip, delimiter, "" if header is not None else note


def _is_header(cells: list[str], file: Path) -> bool:
    """Whether the cells of the first line are names: not all of them numbers; raises where that cannot be told.

    pandas names columns without a name 0, 1, 2, ..., after an index without a name; but so may a point begin.
    """
    count = [str(number) for number in range(len(cells))]
    which = "say which: header=True or header=False (--header or --no-header)"
    if cells == count:
        msg = f"{file}: the first line, {_few(cells)}, may be names or a point; {which}"
        raise DataFileError(msg)
    if len(cells) > 1 and cells == ["", *count[:-1]]:
        return True
    if all(cell in {"", "NA"} or _is_number(cell) for cell in cells):
        return False
    odd = next((cell for cell in cells if NEARLY.fullmatch(cell) and not _is_number(cell)), None)
    if odd is not None:
        msg = f"{file}: {odd!r} in the first line may be a name, or a number with separators or units; write plain numbers, or {which}"
        raise DataFileError(msg)
    return True


def _few(cells: list[str]) -> str:
    return ",".join(cells) if len(cells) < 5 else f"{cells[0]},{cells[1]},...,{cells[-1]}"


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _named(names: list[str], file: Path) -> list[str]:
    if names[0] == "":
        names = [UNNAMED, *names[1:]]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        msg = f"{file} has several columns named {twice[0]!r}: give every column a name of its own"
        raise DataFileError(msg)
    return names


def _checked_frame(table: Any, file: Path) -> Table:
    """Refuse columns that hold no numbers, all in one message."""
    if table.num_rows == 0:
        msg = f"{file} has no points: there are names of columns, but no values"
        raise ShapeError(msg)
    types = require("pyarrow", "frames", "reading tables").types
    numeric = (types.is_integer, types.is_floating, types.is_boolean, types.is_decimal)
    wrong = [field.name for field in table.schema if not any(is_kind(field.type) for is_kind in numeric)]
    if wrong:
        few = ", ".join(repr(name) for name in wrong[:8]) + (
            f" and {len(wrong) - 8} more" if len(wrong) > 8 else ""
        )
        columns = "column" if len(wrong) == 1 else "columns"
        msg = (
            f"{file}: no numbers in {columns} {few} ({_example(table, wrong[0])}): "
            "leave out what is no feature (exclude), encode the rest as numbers"
        )
        raise InputTypeError(msg)
    return Table(table, list(table.schema.names))


def _example(table: Any, name: str) -> str:
    """Where a column shows that it is not numeric."""
    first: tuple[int, Any] | None = None
    for row, scalar in enumerate(table[name]):
        if scalar.is_valid:
            first = first or (row, scalar.as_py())
            if not _is_number(str(scalar)):
                first = (row, scalar.as_py())
                break
    return f"{name!r} is {first[1]!r} in row {first[0]}" if first else f"{name!r} has no values at all"
