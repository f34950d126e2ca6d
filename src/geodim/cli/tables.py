"""What commands on files of points share: options, opening the table, and errors that name the file."""

from __future__ import annotations

import warnings
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from geodim.arguments import MOST_THREADS
from geodim.errors import GeodimWarning, InputTypeError, InputValueError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from geodim.data.tables import Table
    from geodim.data.tables.columns import TableData

Columns = Annotated[
    str | None,
    typer.Option(metavar="SPEC", help="Columns to use: names, numbers from 0, ranges: 0-9,12,age."),
]
Exclude = Annotated[
    str | None, typer.Option(metavar="SPEC", help="Columns to leave out, such as labels and row numbers.")
]
Header = Annotated[
    bool | None,
    typer.Option(
        "--header/--no-header",
        help="Whether the first line of a CSV file holds names; by default, unless all of it are numbers.",
    ),
]
DropMissing = Annotated[
    bool, typer.Option("--drop-missing", help="Leave out points of which a value is missing.")
]
Threads = Annotated[
    int | None,
    typer.Option(
        metavar="N", min=1, max=MOST_THREADS, help="All cores by default. The result does not depend on it."
    ),
]
Rtol = Annotated[
    float, typer.Option(metavar="E", min=0.0, help="Bounds this close will do: 0.01 is 1 %, 0 is exact.")
]
ScaleOption = Annotated[
    str | None,
    typer.Option(
        "--scale",
        metavar="SCALE",
        help="What columns are divided by: global (all by the largest range, the default), range, iqr, std "
        "or rank (each by its own), none, a number, or one for each column: 2,0.5,10.",
    ),
]
NoNormalize = Annotated[bool, typer.Option("--no-normalize", help="The same as --scale none.")]
TimeLimit = Annotated[
    float | None,
    typer.Option(metavar="SECONDS", min=0.0, help="Stop by then, with the bounds known so far."),
]
GiveUp = Annotated[
    float | None,
    typer.Option("--time-limit", metavar="SECONDS", min=0.0, help="Give up by then, without a result."),
]
SAVE_EVERY = 30.0  # as `geodim.engine.checkpoint` has it; importing that takes time
Checkpoint = Annotated[
    Path | None,
    typer.Option(
        metavar="DIR",
        file_okay=False,
        help="Keep the state here; the same command later goes on from there, to the same bits.",
    ),
]
SaveEvery = Annotated[float, typer.Option(metavar="SECONDS", min=0.0, help="Time between two checkpoints.")]


def scale_given(scale: str | None, no_normalize: bool) -> object:
    """The scale that the options name."""
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
        raise typer.BadParameter(str(error), param_hint="--scale") from error
    return given


def told(table: Table) -> Table:
    """The table, after a note of what was decided about it."""
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
    """The data of a file, and names for its columns where it has none itself; errors within name the file.

    ``lazily`` leaves files that a cluster's workers can read themselves to them.
    """
    from geodim.data.tables import open_table
    from geodim.data.unchanged import Watch

    watch = Watch.of(file)
    table = None
    if lazily and drop_missing:
        raise typer.BadParameter("points are left out on this machine only", param_hint="--drop-missing")
    if lazily:
        from geodim.data.tables.lazy import open_lazily

        table = open_lazily(file, columns, exclude=exclude)
    lazily = table is not None
    if table is None:
        table = told(open_table(file, columns, exclude=exclude, header=header, drop_missing=drop_missing))
    chosen = columns is not None or exclude is not None
    array = not hasattr(table.data, "schema")  # frames know the names of their columns
    try:
        with watch if lazily else nullcontext():  # what was opened here watches itself, as long as it is read
            yield table.data, table.names if chosen and array else None
    except (InputValueError, InputTypeError) as error:
        count = " (columns are counted among the chosen ones)" if chosen and array else ""
        msg = f"{file}: {error}{count}"
        raise type(error)(msg) from error
