"""``geodim binary``: the dimension of binary data, by its formal concepts or by distances."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path  # noqa: TC003 - typer looks at the annotations
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from geodim.arguments import one_of
from geodim.cli.binary_other import asked_for, refuse, show_other
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
from geodim.cli.panels import BINARY, OUTPUT, SCALING
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
    from collections.abc import Callable, Sequence

    from geodim.cli.watching import Watch
    from geodim.result import IDResult

R = TypeVar("R")

FORMAT = "geodim.binary/1"
CURVE = ("support", "phi_lower", "phi_upper", "attained_from", "attained_by")


def binary(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            help="Transactions (FIMI .dat) or a context (Burmeister .cxt), also compressed as .gz; or a "
            "table of 0 and 1 with one object per row: .npy, .npz, .csv, .tsv, .parquet.",
        ),
    ],
    min_support: Annotated[
        str,
        typer.Option(
            metavar="S",
            help="Leave out concepts with fewer objects: 0.01 means 1 % of all objects, 100 means 100 "
            "objects. The bounds still hold for all concepts.",
        ),
    ] = "0.0",
    scale: Annotated[
        str | None,
        typer.Option(
            rich_help_panel=SCALING,
            metavar="SCALE",
            help="What features are divided by: none (the default), or global, the share of objects that "
            "have the most frequent attribute.",
        ),
    ] = None,
    normalize: Annotated[
        bool, typer.Option("--normalize", rich_help_panel=SCALING, help="The same as --scale global.")
    ] = False,
    curve: Annotated[
        bool,
        typer.Option(
            "--curve",
            rich_help_panel=BINARY,
            help="Print bounds for a series of minimum supports, halved from the most frequent attribute "
            "down to 1.",
        ),
    ] = False,
    supports: Annotated[
        str | None,
        typer.Option(
            rich_help_panel=BINARY,
            metavar="S,S,...",
            help="The minimum supports for --curve, each a fraction or a number of objects.",
        ),
    ] = None,
    correlation: Annotated[
        bool,
        typer.Option(
            "--correlation",
            rich_help_panel=BINARY,
            help="Compute the correlation dimension instead: how many independent columns have these "
            "distances.",
        ),
    ] = False,
    pairs: Annotated[
        str,
        typer.Option(
            rich_help_panel=BINARY,
            metavar="N",
            help="For --correlation: how many pairs of objects to draw, or auto, or all.",
        ),
    ] = "auto",
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
            help="No progress bar and no notes; on a terminal, only the number.",
        ),
    ] = False,
) -> None:
    """Compute the dimension of binary data: how hard it is to tell attributes apart by their objects.

    The points are the attributes, and the features come from formal concepts: sets of objects together with
    all attributes that they share. On a terminal the answer is a table. In a pipe it is one line of JSON
    without the curve. **--json** writes everything to a file that IDResult.from_json reads.

    **Examples**

    * `geodim binary retail.dat`
    * `geodim binary retail.dat --min-support 0.001 --time-limit 60`
    * `geodim binary animals.cxt --json animals.json`
    * `geodim binary answers.csv --exclude name | jq .dimension`
    * `geodim binary retail.dat --curve --time-limit 60`
    * `geodim binary retail.dat --correlation | jq .normalized_dimension`
    """
    support, shared = parse_min_support(min_support), _scale(scale, normalize=normalize)
    other = asked_for(curve=curve, supports=supports, correlation=correlation, pairs=pairs, scale=shared)
    if other is not None:
        distances = other.name == "correlation"
        given = {"--scale": distances and scale is not None, "--normalize": distances and normalize}
        refuse(other, {"--min-support": support != 0.0, "--report": report is not None, **given})
    check_report(report)
    check_files({"--json": json, "--report": report}, [file])
    console = err()
    table = Table(file, columns, exclude, header, drop_missing)
    if other is not None:
        with notes(console, quiet=quiet):
            with watching(
                console, quiet=quiet, noun=other.noun, keeps=other.keeps, time_limit=time_limit
            ) as watch:
                found = table.measured(other.measure, watch)
            found = with_provenance(found, str(file))
            json_if_wanted(found, json)
        show_other(found, file, json, quiet=quiet)
        return
    with notes(console, quiet=quiet):
        with watching(console, quiet=quiet, noun="sizes", time_limit=time_limit) as watch:
            result = table.measured(partial(_concepts, min_support=support, scale=shared), watch)
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
    """Return a share where the number has a point or an exponent, else a number of objects."""
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
    """Return the scale that the options name."""
    if scale is not None and normalize:
        raise typer.BadParameter("give --scale or --normalize, which is --scale global, not both")
    with usage():
        return one_of(scale or ("global" if normalize else "none"), "scale", ("none", "global"))


def _concepts(
    data: object, names: Sequence[str] | None, watch: Watch, min_support: float, scale: str
) -> IDResult:
    from geodim.concepts.dimension import binary_dimension

    return binary_dimension(
        data,
        attribute_names=names,
        time_limit=watch.left,
        progress=watch.solving,
        min_support=min_support,
        scale=scale,
    )


@dataclass(frozen=True)
class Table:
    """A file of binary data, and the chosen part of it."""

    file: Path
    columns: str | None
    exclude: str | None
    header: bool | None
    drop_missing: bool

    def measured(self, measure: Callable[[object, Sequence[str] | None, Watch], R], watch: Watch) -> R:
        """Read and measure; concepts are named by the attributes of the file."""
        from geodim.concepts.files import is_context_file

        with readable(self.file) as path:
            if not is_context_file(path):
                chosen = opened(
                    path, self.columns, self.exclude, header=self.header, drop_missing=self.drop_missing
                )
                with chosen as (data, names):
                    return measure(data, names, watch)
            given = {"--columns": self.columns, "--exclude": self.exclude, "--header": self.header}
            given["--drop-missing"] = self.drop_missing or None
            for option, value in given.items():
                if value is not None:
                    raise typer.BadParameter(
                        f"{self.file.name} has no columns to choose from", param_hint=option
                    )
            return measure(path, None, watch)
