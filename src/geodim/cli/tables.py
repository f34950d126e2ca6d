"""Common parts of commands on files of points: options, opening the table, errors that name the file."""

from __future__ import annotations

import warnings
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from geodim.arguments import MOST_THREADS
from geodim.cli.completing import SCALES, among
from geodim.cli.dash import TABLE, readable
from geodim.cli.panels import COLUMNS, RUNNING, SCALING
from geodim.cli.wording import as_typed
from geodim.errors import GeodimWarning, InputTypeError, InputValueError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from geodim.data.tables import Table
    from geodim.data.tables.columns import TableData

Columns = Annotated[
    str | None,
    typer.Option(
        rich_help_panel=COLUMNS,
        metavar="SPEC",
        help="Columns to use: names, numbers counted from 0, or ranges, such as 0-9,12,age.",
    ),
]
Exclude = Annotated[
    str | None,
    typer.Option(
        rich_help_panel=COLUMNS, metavar="SPEC", help="Columns to leave out, such as labels and row numbers."
    ),
]
Header = Annotated[
    bool | None,
    typer.Option(
        "--header/--no-header",
        rich_help_panel=COLUMNS,
        help="Whether the first line of a CSV file holds names; by default yes, unless all are numbers.",
    ),
]
DropMissing = Annotated[
    bool,
    typer.Option(
        "--drop-missing", rich_help_panel=COLUMNS, help="Leave out points that have a missing value."
    ),
]
Threads = Annotated[
    int | None,
    typer.Option(
        rich_help_panel=RUNNING,
        metavar="N",
        min=1,
        max=MOST_THREADS,
        help="Number of threads; by default, all cores. The result is the same for any number.",
    ),
]


def _finite(value: float) -> float:
    if value == float("inf"):
        raise typer.BadParameter("bounds that far apart say nothing: 0.01 is 1 %, 0 is exact")
    return value


Rtol = Annotated[
    float,
    typer.Option(
        rich_help_panel=SCALING,
        metavar="E",
        min=0.0,
        callback=_finite,
        help="How close the bounds must be: 0.01 means 1 %, and 0 means exact.",
    ),
]
LastBit = Annotated[
    bool,
    typer.Option(
        "--last-bit",
        rich_help_panel=SCALING,
        help="Exact to the last bit, also for columns that are lines or patterns apart from rounding; by "
        "default these have bounds about 1e-14 apart. This takes about a minute for each such column of "
        "10^6 points, and a hundred times as long for ten times as many points.",
    ),
]
ScaleOption = Annotated[
    str | None,
    typer.Option(
        "--scale",
        rich_help_panel=SCALING,
        metavar="SCALE",
        autocompletion=among(*SCALES),
        help="What columns are divided by: global (the default: all by the largest range); range, iqr, std "
        "or rank (each by its own); none; one number; or one number per column, such as 2,0.5,10.",
    ),
]
NoNormalize = Annotated[
    bool, typer.Option("--no-normalize", rich_help_panel=SCALING, help="The same as --scale none.")
]
TimeLimit = Annotated[
    float | None,
    typer.Option(
        rich_help_panel=RUNNING,
        metavar="SECONDS",
        min=0.0,
        help="Stop after this time and print the bounds found so far.",
    ),
]
GiveUp = Annotated[
    float | None,
    typer.Option(
        "--time-limit",
        rich_help_panel=RUNNING,
        metavar="SECONDS",
        min=0.0,
        help="Give up after this time, without a result.",
    ),
]
SAVE_EVERY = 30.0  # as in `geodim.engine.checkpoint`, whose import takes time
Checkpoint = Annotated[
    Path | None,
    typer.Option(
        rich_help_panel=RUNNING,
        metavar="DIR",
        file_okay=False,
        help="Save the state in this folder. The same command continues from it, to the same bits.",
    ),
]
SaveEvery = Annotated[
    float,
    typer.Option(rich_help_panel=RUNNING, metavar="SECONDS", min=0.0, help="Time between two checkpoints."),
]


def scale_given(scale: str | None, no_normalize: bool) -> object:
    """Return the scale that the options name."""
    if scale is None:
        return "none" if no_normalize else None
    if no_normalize:
        raise typer.BadParameter("give --scale or --no-normalize, which is --scale none, not both")
    from geodim.data.scales import Scale

    given: object = scale
    with suppress(ValueError):
        numbers = [float(part) for part in scale.split(",")]
        given = numbers if "," in scale else numbers[0]
    try:
        Scale.of(given)  # before the data is read
    except InputValueError as error:
        raise typer.BadParameter(as_typed(str(error)), param_hint="--scale") from error
    return given


def told(table: Table) -> Table:
    """Return the table, after a note of what was decided about it."""
    if table.note:
        warnings.warn(table.note, GeodimWarning, stacklevel=2)
    return table


@contextmanager
def opened(
    file: Path,
    columns: str | None,
    exclude: str | None,
    *,
    header: bool | None = None,
    drop_missing: bool = False,
    lazily: bool = False,
) -> Iterator[tuple[TableData, list[str] | None]]:
    """Provide the data of a file, and names for its columns if it has none; errors within name the file.

    ``lazily`` leaves files that a cluster's workers can read themselves to them.
    """
    with (
        readable(file, TABLE) as path,
        _opened(
            path, columns, exclude, header=header, drop_missing=drop_missing, lazily=lazily and path is file
        ) as found,
    ):
        yield found


@contextmanager
def _opened(
    file: Path,
    columns: str | None,
    exclude: str | None,
    *,
    header: bool | None,
    drop_missing: bool,
    lazily: bool,
) -> Iterator[tuple[TableData, list[str] | None]]:
    from geodim.data.tables import open_table
    from geodim.data.unchanged import Watch

    watch = Watch.of(file)
    table = None
    if lazily and drop_missing:
        raise typer.BadParameter("points can be left out on this machine only", param_hint="--drop-missing")
    if lazily:
        from geodim.data.tables.lazy import open_lazily

        table = open_lazily(file, columns, exclude=exclude)
    lazily = table is not None
    if table is None:
        table = told(open_table(file, columns, exclude=exclude, header=header, drop_missing=drop_missing))
    chosen = columns is not None or exclude is not None
    array = not hasattr(table.data, "schema")  # frames know the names of their columns
    try:
        with watch if lazily else nullcontext():  # data opened here is watched by its source while it is read
            yield table.data, table.names if chosen and array else None
    except (InputValueError, InputTypeError) as error:
        count = " (columns are counted among the chosen ones)" if chosen and array else ""
        msg = f"{file}: {error}{count}"
        raise type(error)(msg) from error
