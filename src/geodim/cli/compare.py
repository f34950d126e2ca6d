"""``geodim compare``: data sets at equal numbers of points, and what may be concluded."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from geodim.cli.console import err, notes, out, print_alerts, print_json
from geodim.cli.dash import TABLE, answered, check_files, readable, writable
from geodim.cli.families import Landmarks, Metric, TableFeatures, check_family_options, table_features
from geodim.cli.panels import OUTPUT
from geodim.cli.reporting import (
    Json,
    Report,
    check_report,
    json_if_wanted,
    print_all_written,
    with_provenance,
)
from geodim.cli.tables import (
    Columns,
    DropMissing,
    Exclude,
    GiveUp,
    Header,
    NoNormalize,
    Rtol,
    ScaleOption,
    Threads,
    opened,
    scale_given,
)
from geodim.cli.watching import watching
from geodim.text import visible

if TYPE_CHECKING:
    from rich.console import Console

    from geodim.sampling import Comparison
    from geodim.sampling.rows import Options

HIDDEN = typer.Option(hidden=True)

FORMAT = "geodim.compare/2"  # the line in a pipe; a file that --json wrote has the curves, too


def compare(
    files: Annotated[
        list[str],
        typer.Argument(
            metavar="DATA DATA...",
            help="Two or more files with one point per row: .npy, .npz, .csv, .tsv, .parquet.",
        ),
    ],
    points: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=2,
            help="Points in each sample; by default, half as many as the smallest data set has.",
        ),
    ] = None,
    repeats: Annotated[int, typer.Option(metavar="N", min=1, help="Samples drawn from each data set.")] = 20,
    seed: Annotated[int, typer.Option(metavar="N", min=0, help="The seed of the samples.")] = 0,
    features: TableFeatures = "coordinates",
    metric: Metric = None,
    landmarks: Landmarks = None,
    rtol: Rtol = 0.0,
    scale: ScaleOption = None,
    no_normalize: NoNormalize = False,
    columns: Columns = None,
    exclude: Exclude = None,
    drop_missing: DropMissing = False,
    header: Header = None,
    threads: Threads = None,
    time_limit: GiveUp = None,
    json: Json = None,
    report: Report = None,
    quiet: Annotated[
        bool,
        typer.Option(
            "--quiet",
            "-q",
            rich_help_panel=OUTPUT,
            help="No progress and no notes; on a terminal, only the verdicts.",
        ),
    ] = False,
    estimators: Annotated[str | None, HIDDEN] = None,
    neighbors: Annotated[str | None, HIDDEN] = None,
    hops: Annotated[str | None, HIDDEN] = None,
    edges: Annotated[str | None, HIDDEN] = None,
    root: Annotated[str | None, HIDDEN] = None,
) -> None:
    """Compare data sets: what differs, and which has the lower dimension at equal numbers of points.

    The dimension depends on the number of points, on units and on outliers, so two numbers alone say little.
    This command measures each data set as a whole, and then random samples with the same number of points
    from each. It calls one data set lower only if it is lower in 95 % of the draws. If the data sets have the
    same number of rows, it draws the same rows from each, so that two representations of the same points are
    compared in pairs.

    In a pipe the answer is one line of JSON with **verdicts**, **differences** and all draws.

    **Examples**

    * `geodim compare raw.npy embedded.npy`
    * `geodim compare before.csv after.csv --exclude id --scale range --report both.html`
    * `geodim compare a.parquet b.parquet c.parquet --points 500 | jq -r .verdicts[].why`
    * `geodim estimators points.npy` compares geodim with other estimators instead
    """
    _refuse_estimators(files, estimators, neighbors, hops, edges, root)
    for file in files:
        if file.lower().endswith(".json"):
            raise typer.BadParameter(
                f"{file} is not data: results are compared by `geodim report`, data by this command",
                param_hint="DATA",
            )
    check_report(report)
    check_files({"--json": json, "--report": report}, [Path(file) for file in files])
    console = err()
    options: Options = {
        "features": table_features(features, metric, landmarks), "rtol": rtol,
        "scale": scale_given(scale, no_normalize), "n_threads": threads,
    }  # fmt: skip
    check_family_options(options["features"], options["scale"])
    with notes(console, quiet=quiet):
        found = _compared(
            files, columns, exclude, header, options, console,
            quiet=quiet, drop_missing=drop_missing, time_limit=time_limit, points=points, repeats=repeats,
            seed=seed,
        )  # fmt: skip
        json_if_wanted(found, json)
        if report is not None:
            with writable(report, ".html") as page:
                _report(found, page)
    terminal = out()
    if answered(json, report):
        pass
    elif not terminal.is_terminal:
        print_json({**found.scalars(), "format": FORMAT})
    elif quiet:
        print(*(visible(str(verdict)) for verdict in found.verdicts), sep="\n")
    else:
        _show(found, terminal)
        print_all_written(terminal, json, report)


def _refuse_estimators(files: list[str], *options: str | None) -> None:
    """Point to `geodim estimators`, which this command was before, if there is only one data set."""
    if any(option is not None for option in options) or len(files) < 2:
        data = " ".join(files[:1])
        raise typer.BadParameter(
            f"this command compares two or more data sets; to compare geodim with other estimators, use "
            f"`geodim estimators {data}`",
            param_hint="DATA",
        )


def _compared(
    files: list[str],
    columns: str | None,
    exclude: str | None,
    header: bool | None,
    options: Options,
    console: Console,
    *,
    quiet: bool,
    drop_missing: bool,
    time_limit: float | None,
    **draws: Any,  # noqa: ANN401 - handed on
) -> Comparison:
    """Read all data sets and compare them; errors name the file."""
    from geodim.sampling.comparison import compare_points
    from geodim.sampling.rows import Points

    made = options["features"] != "coordinates"
    named: dict[str, Points] = {}
    with (
        watching(console, quiet=quiet, noun="samples", keeps="", time_limit=time_limit) as watch,
        ExitStack() as stack,
    ):
        for file in files:
            times = sum(other == file for other in files[: len(named) + 1])
            name = file if times == 1 else f"{file} ({times})"
            path = stack.enter_context(readable(Path(file), TABLE))
            with opened(path, columns, exclude, header=header, drop_missing=drop_missing) as (data, names):
                own = options.copy()
                own["feature_names"] = None if made else names
                named[name] = Points(data, own, name)
        return compare_points(named, progress=watch.parts, **draws)


def _report(found: Comparison, path: Path) -> None:
    from geodim.display.html.document import report as write_report
    from geodim.display.html.sources import Item

    items = [
        Item(name, with_provenance(result, name))
        for name, result in zip(found.names, found.results, strict=True)
    ]
    write_report(items, path, comparison=found)


def _show(found: Comparison, terminal: Console) -> None:
    from rich.table import Table
    from rich.text import Text

    from geodim.words import number

    table = Table(box=None, header_style="bold")
    at = f"at {found.points:,} points"
    for heading in ("data", "points x features", "dimension", at, "least – greatest"):
        table.add_column(heading, justify="left" if heading == "data" else "right", overflow="fold")
    for row in found.rows():
        table.add_row(
            Text(visible(row["name"])),
            f"{row['n_points']:,} x {row['n_features']:,}",
            number(row["dimension"]),
            Text(number(row["at_equal_points"]), style="bold green"),
            f"{number(row['least'])} – {number(row['greatest'])}",
        )
    terminal.print(table)
    if found.differences:
        other = Table(title="what differs", title_justify="left", title_style="bold", box=None)
        other.show_header = False
        for what, texts in found.differences:
            other.add_row(what, *(Text(visible(text)) for text in texts))
        terminal.print()
        terminal.print(other)
    for verdict in found.verdicts:
        terminal.print()
        terminal.print(Text(visible(str(verdict)), style="bold"), soft_wrap=True)
    for name, result in zip(found.names, found.results, strict=True):
        if result.alerts:
            terminal.print()
            terminal.print(Text(visible(name), style="bold"))
            print_alerts(terminal, result.alerts)
