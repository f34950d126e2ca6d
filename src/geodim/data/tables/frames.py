"""CSV, TSV and Parquet files, read with pyarrow: only the chosen columns, and only if they hold numbers."""

from __future__ import annotations

import csv
import gzip
import itertools
import re
import warnings
from collections import Counter
from dataclasses import replace
from io import TextIOWrapper
from typing import TYPE_CHECKING, TypeAlias

from geodim.data.boundary import boundary
from geodim.data.tables.columns import Table
from geodim.data.tables.decimals import LOOKED_AT, has_decimal_commas, with_points
from geodim.data.ways_out import kind_of_values, ways_out
from geodim.errors import DataFileError, GeodimWarning, InputTypeError, ShapeError
from geodim.memory import check_bytes, free_memory, in_bytes, too_large
from geodim.optional import require
from geodim.text import is_number
from geodim.waiting import Counted, report

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from io import BufferedReader
    from pathlib import Path

    import pyarrow as pa
    from pyarrow.parquet import FileMetaData, ParquetFile

    from geodim.data.tables.columns import Choose

    Values: TypeAlias = pa.Array | pa.ChunkedArray

UNNAMED = "unnamed"
COUNTERS = (UNNAMED, "Unnamed: 0")  # as pandas calls an index that was saved twice
ENOUGH = "choose fewer columns, or fewer points"
PIECE = 1 << 20  # characters of a line at a time
LINE_BYTES = 64  # for each character of the first line, if every other one is a name
CELL_BYTES = 64  # for a number and its delimiter: more than any number needs
TEXT_RATIO = 16  # bytes of a table per byte of text, which at least delimits a cell of 8
GZIP_RATIO = 1032  # the best ratio that deflate reaches
SAFE = 0.75  # part of the free memory: allocators take more than they give out
MANY = 10_000  # columns
MOST_COMMENTS = 100_000  # lines before the first point
EXAMPLE_BYTES = 1 << 20
NEARLY = re.compile(r"[-+]?[$€£]?[\d][\d.,' \u00a0\u202f]*[%$€£]?")  # what people write for a number


def read_parquet(file: Path, choose: Choose) -> Table:
    """Read the chosen columns of a Parquet file."""
    parquet = require("pyarrow.parquet", "frames", "reading Parquet files")
    with boundary(file, "Parquet file"), parquet.ParquetFile(file) as opened:
        schema = opened.schema_arrow
        names = list(schema.names)
        _check_unique(names, file)
        chosen = choose(names)
        fields = [schema.field(number) for number in chosen]
        _check_numbers(fields, file, lambda wrong: _example_of(opened, schema.get_field_index(wrong)))
        rows = max(opened.metadata.num_rows, _rows_of_groups(opened.metadata))
        # The file may be far smaller: a column with a single value takes a few bytes, whatever its length.
        check_bytes(rows * sum(field.type.bit_width for field in fields) // 8, str(file), ENOUGH)
        table = _groups(opened, [names[number] for number in chosen], file)
    return _checked_frame(table, file)


def _groups(opened: ParquetFile, names: list[str], file: Path) -> pa.Table:
    """Read all groups of rows, one after the other, which is as finely as progress can be reported."""
    count = opened.metadata.num_row_groups
    if count < 2:
        return opened.read(columns=names)
    parts = []
    for number in range(count):
        parts.append(opened.read_row_group(number, columns=names))
        report(f"reading {file}", number + 1, count)
    return require("pyarrow", "frames", "reading Parquet files").concat_tables(parts)


def _rows_of_groups(metadata: FileMetaData) -> int:
    return sum(metadata.row_group(group).num_rows for group in range(metadata.num_row_groups))


def _example_of(opened: ParquetFile, column: int) -> pa.Array | None:
    """Return the first values of a column of a Parquet file, or None if their size is not known."""
    metadata = opened.metadata
    if column < 0 or not metadata.num_row_groups or metadata.num_columns != len(opened.schema_arrow):
        return None
    chunk = metadata.row_group(0).column(column)
    if not 0 <= chunk.total_uncompressed_size < EXAMPLE_BYTES:
        return None
    names = [opened.schema_arrow.names[column]]
    return next(opened.iter_batches(64, row_groups=[0], columns=names))[0]


def column_names(file: Path) -> list[str]:
    """Return the names of the columns of a Parquet file, or of a folder of them."""
    dataset = require("pyarrow.dataset", "frames", "reading Parquet files")
    with boundary(file, "Parquet file"):
        return list(dataset.dataset(file, format="parquet").schema.names)


def read_csv(file: Path, suffix: str, choose: Choose, header: bool | None = None) -> Table:
    """Read the chosen columns of a text file with delimiters.

    ``header`` says whether the first line holds names; None decides by looking at it.
    """
    reader = require("pyarrow.csv", "frames", "reading CSV files")
    with boundary(file, "text table"):
        names, skip, delimiter, comma, note = _sniff(file, suffix, header)
    chosen = [names[number] for number in choose(names)]
    if chosen[0] in COUNTERS:
        warnings.warn(
            f"{file}: the first column has no name; if it just counts the rows, leave it out (exclude 0)",
            GeodimWarning,
            stacklevel=4,
        )
    if comma:
        warnings.warn(
            f"{file}: commas within numbers are read as decimal points, 1,5 as 1.5",
            GeodimWarning,
            stacklevel=4,
        )
    arrow = require("pyarrow", "frames", "reading CSV files")
    with boundary(file, "text table"):
        _check_text(file, suffix, len(names), len(chosen))
        packed = "gzip" if suffix.endswith(".gz") else None
        counted = Counted(file)
        try:
            table = reader.read_csv(
                arrow.input_stream(counted, compression=packed),
                read_options=reader.ReadOptions(
                    column_names=names,
                    skip_rows=skip,
                    block_size=min(max(1 << 20, CELL_BYTES * len(names)), 1 << 30),  # holds a line
                    use_threads=len(names) < MANY,  # threads cost more than they save if there are few lines
                ),
                parse_options=reader.ParseOptions(
                    delimiter=delimiter,
                    newlines_in_values=False,
                    ignore_empty_lines=len(names) > 1,  # the only value of a line may be missing
                ),
                convert_options=reader.ConvertOptions(
                    include_columns=chosen, decimal_point="," if comma else "."
                ),
            )
        except arrow.ArrowInvalid as error:
            msg = f"{file} is not a table of {len(names)} columns: {str(error).splitlines()[0][:300]}"
            raise DataFileError(msg) from error
        finally:
            counted.close()
    return replace(_checked_frame(table, file), note=note)


def _check_text(file: Path, suffix: str, n_columns: int, n_chosen: int) -> None:
    """Raise if the table in a text, or the unpacked text, does not fit in memory.

    If it might not, it is read twice, first to count lines.  The size is declared nowhere: a few megabytes
    may unpack to gigabytes, and a column of text takes as much memory as its text.
    """
    free = free_memory()
    most = file.stat().st_size * (GZIP_RATIO if suffix.endswith(".gz") else 1) * TEXT_RATIO
    if free is None or most < free:
        return
    lines = size = 0
    with _opened(file, suffix) as stream:
        while block := stream.read(PIECE):
            lines, size = lines + block.count(b"\n"), size + len(block)
            need = 8 * lines * n_chosen
            if size > CELL_BYTES * (lines + 1) * n_columns:  # not numbers, which would be shorter
                need = max(need, size)
            if need > SAFE * free:
                raise too_large(f"the part of {file} read so far", need, ENOUGH)


def _opened(file: Path, suffix: str) -> gzip.GzipFile | BufferedReader:
    return gzip.open(file, "rb") if suffix.endswith(".gz") else file.open("rb")


def _lines(stream: TextIOWrapper, file: Path) -> Iterator[str]:
    """Yield the lines of a text, none of them longer than could be parsed in memory."""
    while piece := stream.readline(PIECE):
        if len(piece) == PIECE:
            pieces = [piece]
            while len(pieces[-1]) == PIECE and not pieces[-1].endswith("\n"):
                size = PIECE * len(pieces)
                check_bytes(LINE_BYTES * size, f"{file}: a line of more than {in_bytes(size)}", ENOUGH)
                pieces.append(stream.readline(PIECE))
            piece = "".join(pieces)
        yield piece


def _sniff(file: Path, suffix: str, header: bool | None) -> tuple[list[str], int, str, bool, str]:
    """Return column names, lines before the first point, and separators of cells and decimals.

    The last value is a note on how the first line was read.
    """
    try:
        with _opened(file, suffix) as raw, TextIOWrapper(raw, encoding="utf-8-sig", newline="") as stream:
            lines = itertools.islice(_lines(stream, file), MOST_COMMENTS)
            line = next((line for line in lines if line.strip() and not line.startswith("#")), "")
            delimiter = "\t" if suffix.startswith(".tsv") or "\t" in line else ";" if ";" in line else ","
            stream.seek(0)
            rows = csv.reader(_lines(stream, file), delimiter=delimiter)
            comment: list[str] = []
            skip = 0
            for row in itertools.islice(rows, MOST_COMMENTS):
                if row and not row[0].startswith("#"):
                    break
                comment, skip = row or comment, rows.line_num
            else:
                msg = f"{file} is empty: it has no row of values"
                raise DataFileError(msg)
            names = [cell.strip() for cell in row]
            first_line = rows.line_num
            comma = has_decimal_commas(itertools.chain([names], itertools.islice(rows, LOOKED_AT)), delimiter)
            names = with_points(names) if comma else names
            named = _is_header(names, file) if header is None else header
            note = ""  # if all names are words, there is no doubt
            if named:
                skip = first_line
                if any(map(is_number, names)):
                    note = f"{file}: the first line holds the names of the columns"
            elif len(comment) == len(names):  # as written by numpy.savetxt(header=...)
                names = [cell.strip("# ") for cell in comment]
                note = f"{file}: the comment above the first line holds the names of the columns"
            else:
                note = f"{file}: the first line is a point; columns are numbered from 0"
                names = [str(number) for number in range(len(names))]
    except (UnicodeDecodeError, csv.Error) as error:
        msg = f"{file} is not a UTF-8 text table ({error}): convert it to UTF-8 first"
        raise DataFileError(msg) from error
    return _named(names, file), skip, delimiter, comma, "" if header is not None else note


def _is_header(cells: list[str], file: Path) -> bool:
    """Return whether the cells of the first line are names, that is, not all of them numbers.

    Raises if that cannot be decided.  pandas names columns without a name 0, 1, 2, ..., after an index
    without a name; but a point may begin like this, too.
    """
    count = [str(number) for number in range(len(cells))]
    which = "say which: header=True or header=False (--header or --no-header)"
    if cells == count:
        msg = f"{file}: the first line, {_few(cells)}, may be names or a point; {which}"
        raise DataFileError(msg)
    if len(cells) > 1 and cells == ["", *count[:-1]]:
        return True
    if all(cell in {"", "NA"} or is_number(cell) for cell in cells):
        return False
    odd = next((cell for cell in cells if NEARLY.fullmatch(cell) and not is_number(cell)), None)
    if odd is not None:
        msg = (
            f"{file}: {odd!r} in the first line may be a name, or a number with separators or units; "
            f"write plain numbers, or {which}"
        )
        raise DataFileError(msg)
    return True


def _few(cells: list[str]) -> str:
    return ",".join(cells) if len(cells) < 5 else f"{cells[0]},{cells[1]},...,{cells[-1]}"


def _named(names: list[str], file: Path) -> list[str]:
    if names[0] == "":
        names = [UNNAMED, *names[1:]]
    _check_unique(names, file)
    return names


def _check_unique(names: list[str], file: Path) -> None:
    twice = min((name for name, count in Counter(names).items() if count > 1), default=None)
    if twice is not None:
        msg = f"{file} has several columns named {twice!r}: give every column a name of its own"
        raise DataFileError(msg)


def _checked_frame(table: pa.Table, file: Path) -> Table:
    """Refuse a table without points, or with columns that hold no numbers."""
    if table.num_rows == 0:
        msg = f"{file} has no points: there are names of columns, but no values"
        raise ShapeError(msg)
    _check_numbers(list(table.schema), file, lambda wrong: table[wrong])
    return Table(table, list(table.schema.names))


def _check_numbers(fields: list[pa.Field], file: Path, values_of: Callable[[str], Values | None]) -> None:
    """Refuse columns that hold no numbers, all in one message with an example.

    The values of a column may be examined to find the example.
    """
    types = require("pyarrow", "frames", "reading tables").types
    numeric = (types.is_floating, types.is_integer, types.is_boolean, types.is_decimal)
    wrong = [field.name for field in fields if not any(is_kind(field.type) for is_kind in numeric)]
    if not wrong:
        return
    few = ", ".join(repr(name) for name in wrong[:8]) + (
        f" and {len(wrong) - 8} more" if len(wrong) > 8 else ""
    )
    columns = "column" if len(wrong) == 1 else "columns"
    values = values_of(wrong[0])
    example = "" if values is None else f" ({_example(values, wrong[0])})"
    kinds = {_kind_of(field, values_of) for field in fields if field.name in wrong[:8]}
    msg = (
        f"{file}: no numbers in {columns} {few}{example}: "
        f"leave out what is not a feature (--exclude), {ways_out(kinds)}"
    )
    raise InputTypeError(msg)


def _kind_of(field: pa.Field, values_of: Callable[[str], Values | None]) -> str:
    """Return what a column without numbers holds, as `geodim.data.ways_out` names it."""
    types = require("pyarrow", "frames", "reading tables").types
    if types.is_temporal(field.type):
        return "dates"
    values = (
        values_of(field.name) if types.is_string(field.type) or types.is_large_string(field.type) else None
    )
    return kind_of_values(value.as_py() for value in values or () if value.is_valid)


def _example(values: Values, name: str) -> str:
    """Return where a column shows that it is not numeric."""
    first: tuple[int, object] | None = None
    for row, scalar in enumerate(values):
        if scalar.is_valid:
            first = first or (row, scalar.as_py())
            if not is_number(str(scalar)):
                first = (row, scalar.as_py())
                break
    if first is None:
        return f"{name!r} has no values at all"
    shown = repr(first[1])
    return f"{name!r} is {shown if len(shown) < 100 else shown[:100] + '...'} in row {first[0]}"
