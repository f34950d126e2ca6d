"""``geodim binary``: the dimension of binary data, by its formal concepts."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 - typer looks at the annotations
from typing import TYPE_CHECKING, Annotated, Any

import typer

from geodim.arguments import one_of
from geodim.cli.console import (
    err,
    notes,
    out,
    print_json,
    shares_table,
    summary_table,
)
from geodim.cli.dash import answered, check_files, readable
from geodim.cli.exits import ExitCode
from geodim.cli.panels import OUTPUT, SCALING
from geodim.cli.reporting import (
    Json,
    Report,
    check_report,
    json_if_wanted,
    print_all_written,
    report_if_wanted,
    with_provenance,
)
from geodim.cli.tables import Columns, DropMissing, Exclude, Header, TimeLimit, opened
from geodim.cli.watching import watching
from geodim.cli.wording import as_typed, usage

if TYPE_CHECKING:
    from rich.console import Console

    from geodim.result import IDResult

FORMAT = "geodim.binary/1"
CURVE = ("support", "phi_lower", "phi_upper", "attained_from", "attained_by")


def binary(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            help="Transactions (FIMI .dat), a context (Burmeister .cxt), also with .gz; or a table of 0 and "
            "1 with objects in rows: .npy, .npz, .csv, .tsv, .parquet.",
        ),
    ],
    min_support: Annotated[
        str,
        typer.Option(
            metavar="S",
            help="Leave out concepts of fewer objects: 0.01 is a share, 100 a number of objects. "
            "The bounds hold for all concepts nevertheless.",
        ),
    ] = "0.0",
    scale: Annotated[
        str | None,
        typer.Option(
            rich_help_panel=SCALING,
            metavar="SCALE",
            help="none, the default; or global: by the share of the most frequent attribute.",
        ),
    ] = None,
    normalize: Annotated[
        bool, typer.Option("--normalize", rich_help_panel=SCALING, help="The same as --scale global.")
    ] = False,
    columns: Columns = None,
    exclude: Exclude = None,
    drop_missing: DropMissing = False,
    header: Header = None,
    time_limit: TimeLimit = None,
    json: Json = None,
    report: Report = None,
    quiet: Annotated[
        bool,
        typer.Option(
            "--quiet",
            "-q",
            rich_help_panel=OUTPUT,
            help="No progress bar, no notes; on a terminal only the number.",
        ),
    ] = False,
) -> None:
    """Compute the dimension of binary data: how hard it is to tell attributes apart by their objects.

    The points are the attributes, the features come from formal concepts: sets of objects with all that they
    have in common. On a terminal the answer is a table, in a pipe one line of JSON without the curve;
    **--json** writes everything to a file, which IDResult.from_json reads.

    **Examples**

    * `geodim binary retail.dat`
    * `geodim binary retail.dat --min-support 0.001 --time-limit 60`
    * `geodim binary animals.cxt --json animals.json`
    * `geodim binary answers.csv --exclude name | jq .dimension`
    """
    support, shared = parse_min_support(min_support), _scale(scale, normalize=normalize)
    check_report(report)
    check_files({"--json": json, "--report": report}, [file])
    console = err()
    with notes(console, quiet=quiet):
        result = _measure(
            file,
            columns,
            exclude,
            header,
            console,
            quiet=quiet,
            drop_missing=drop_missing,
            min_support=support,
            scale=shared,
            time_limit=time_limit,
        )
        result = with_provenance(result, str(file))
        json_if_wanted(result, json)
        report_if_wanted(result, report)
    terminal = out()
    if answered(json, report):
        pass
    elif not terminal.is_terminal:
        values = {name: value for name, value in result.to_dict(max_support=1).items() if name not in CURVE}
        print_json({**values, "format": FORMAT, "file": str(file)})
    elif quiet:
        print(f"{result.dimension:.10g}")
    else:
        terminal.print(summary_table(result, str(file)))
        if result.shares:
            terminal.print()
            terminal.print(shares_table(result))
        print_all_written(terminal, json, report)
    if result.stopped:
        raise typer.Exit(int(ExitCode.STOPPED))


def parse_min_support(text: str) -> float:
    """A share where the number has a point or an exponent, else a number of objects."""
    from geodim.concepts.dimension import check_min_support
    from geodim.errors import GeodimError

    try:
        value = int(text) if text.strip().isdecimal() else float(text)
        check_min_support(value)
    except (ValueError, GeodimError) as error:
        said = as_typed(str(error)) if isinstance(error, GeodimError) else f"{text!r} is not a number"
        raise typer.BadParameter(said, param_hint="--min-support") from error
    return value


def _scale(scale: str | None, *, normalize: bool) -> str:
    """The scale that the options name."""
    if scale is not None and normalize:
        raise typer.BadParameter("give --scale or --normalize, which is --scale global, not both")
    with usage():
        return one_of(scale or ("global" if normalize else "none"), "scale", ("none", "global"))


def _measure(
    file: Path,
    columns: str | None,
    exclude: str | None,
    header: bool | None,
    console: Console,
    *,
    quiet: bool,
    drop_missing: bool,
    min_support: float,
    scale: str,
    time_limit: float | None,
) -> IDResult:
    """Read and compute; concepts are named by the attributes of the file."""
    from geodim.concepts.dimension import binary_dimension
    from geodim.concepts.files import is_context_file

    how: dict[str, Any] = {"min_support": min_support, "scale": scale}
    with (
        watching(console, quiet=quiet, noun="sizes", time_limit=time_limit) as watch,
        readable(file) as path,
    ):
        how["progress"] = watch.solving
        if not is_context_file(path):
            with opened(path, columns, exclude, header=header, drop_missing=drop_missing) as (data, names):
                return binary_dimension(data, attribute_names=names, time_limit=watch.left, **how)
        given = {"--columns": columns, "--exclude": exclude, "--header": header}
        given["--drop-missing"] = drop_missing or None
        for option, value in given.items():
            if value is not None:
                raise typer.BadParameter(f"{file.name} has no columns to choose from", param_hint=option)
        return binary_dimension(path, time_limit=watch.left, **how)
