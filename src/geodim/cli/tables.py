"""What commands on files of points share: options, opening the table, and errors that name the file."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path  # noqa: TC003 - typer looks at the annotations
from typing import TYPE_CHECKING, Annotated, Any

import typer

from geodim.errors import InputTypeError, InputValueError

if TYPE_CHECKING:
    from collections.abc import Iterator

Columns = Annotated[
    str | None,
    typer.Option(metavar="SPEC", help="Columns to use: names, numbers from 0, ranges: 0-9,12,age."),
]
Exclude = Annotated[
    str | None, typer.Option(metavar="SPEC", help="Columns to leave out, such as labels and row numbers.")
]
Threads = Annotated[
    int | None,
    typer.Option(metavar="N", min=1, help="All cores by default. The result does not depend on it."),
]
Rtol = Annotated[
    float, typer.Option(metavar="E", min=0.0, help="Bounds this close will do: 0.01 is 1 %, 0 is exact.")
]
TimeLimit = Annotated[
    float | None,
    typer.Option(metavar="SECONDS", min=0.0, help="Stop by then, with the bounds known so far."),
]


@contextmanager
def opened(
    file: Path, columns: str | None, exclude: str | None, *, lazily: bool = False
) -> Iterator[tuple[Any, list[str] | None]]:
    """The data of a file, and names for its columns where it has none itself; errors within name the file.

    ``lazily`` leaves files that a cluster's workers can read themselves to them.
    """
    from geodim.data.tables import open_table

    table = None
    if lazily:
        from geodim.data.tables.lazy import open_lazily

        table = open_lazily(file, columns, exclude=exclude)
    if table is None:
        table = open_table(file, columns, exclude=exclude)
    chosen = columns is not None or exclude is not None
    array = not hasattr(table.data, "schema")  # frames know the names of their columns
    try:
        yield table.data, table.names if chosen and array else None
    except (InputValueError, InputTypeError) as error:
        count = " (columns are counted among the chosen ones)" if chosen and array else ""
        msg = f"{file}: {error}{count}"
        raise type(error)(msg) from error
