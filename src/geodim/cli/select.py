"""``geodim select``: few features of a file that keep most of the discriminability."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 - typer looks at the annotations
from typing import TYPE_CHECKING, Annotated, Any

import typer

from geodim.cli.completing import FAMILIES, among
from geodim.cli.console import announce_last_bit, err, notes, out, print_alerts, print_json
from geodim.cli.dash import answered, check_files
from geodim.cli.exits import ExitCode
from geodim.cli.families import (
    FAMILY_HELP,
    By,
    Landmarks,
    Metric,
    check_family_options,
    chosen_family,
    named_features,
)
from geodim.cli.objects import is_table, only_for_tables, opened_objects
from geodim.cli.panels import FEATURES, OUTPUT, RUNNING
from geodim.cli.reporting import (
    Json,
    Report,
    check_report,
    json_if_wanted,
    print_all_written,
    report_if_wanted,
    with_provenance,
)
from geodim.cli.select_top import METHODS, check_method, show_top
from geodim.cli.tables import (
    Columns,
    DropMissing,
    Exclude,
    Header,
    LastBit,
    NoNormalize,
    ScaleOption,
    Threads,
    opened,
    scale_given,
)
from geodim.cli.watching import watching
from geodim.text import visible
from geodim.words import within

if TYPE_CHECKING:
    from rich.console import Console

    from geodim.explain.select import FeatureSelection
    from geodim.explain.top import TopFeatures

FORMAT = "geodim.select/1"
MOST_ROWS = 30


def select(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            help="One point per row: .npy, .npz (points.npz:key names one of several "
            "arrays), .csv, .tsv, .parquet. For other families: the files that compute reads.",
        ),
    ],
    m: Annotated[
        int | None, typer.Option("-m", "--count", metavar="M", min=1, help="How many features to choose.")
    ] = None,
    family: Annotated[
        str,
        typer.Option(
            "--features",
            "--family",
            rich_help_panel=FEATURES,
            metavar="FAMILY",
            autocompletion=among(*FAMILIES),
            help=f"What to choose from: {FAMILY_HELP}",
        ),
    ] = "coordinates",
    metric: Metric = None,
    landmarks: Landmarks = None,
    by: By = None,
    method: Annotated[
        str,
        typer.Option(
            metavar="METHOD",
            autocompletion=among(*METHODS),
            help="greedy: features that achieve most together. resilience: the features with the highest "
            "scores of their own, where small windows count more (Stubbemann, Hille and Hanika 2023). "
            "uniform: the same, with all windows counting equally. The last two keep a tenth of the "
            "features, unless -m says how many.",
        ),
    ] = "greedy",
    drop_correlated: Annotated[
        float | None,
        typer.Option(
            metavar="P",
            help="For resilience and uniform: first drop this fraction of the features, the most correlated "
            "ones; the authors drop 0.1.",
        ),
    ] = None,
    fraction: Annotated[
        float | None,
        typer.Option(
            metavar="P",
            help="Instead of a number: as many features as it takes to reach this fraction of the "
            "discriminability, above 0 and at most 1; 0.95 by default.",
        ),
    ] = None,
    last_bit: LastBit = False,
    scale: ScaleOption = None,
    no_normalize: NoNormalize = False,
    columns: Columns = None,
    exclude: Exclude = None,
    drop_missing: DropMissing = False,
    header: Header = None,
    threads: Threads = None,
    time_limit: Annotated[
        float | None,
        typer.Option(
            rich_help_panel=RUNNING,
            metavar="SECONDS",
            min=0.0,
            help="Stop after this time and print the features chosen so far.",
        ),
    ] = None,
    json: Json = None,
    report: Report = None,
    quiet: Annotated[
        bool,
        typer.Option(
            "--quiet",
            "-q",
            rich_help_panel=OUTPUT,
            help="No progress bar and no notes; on a terminal, only the names.",
        ),
    ] = False,
) -> None:
    """Choose a few features that tell the points apart almost as well as all of them.

    Features are chosen one at a time, always the one that adds most to the discriminability. This reaches at
    least 63 % (1 - 1/e) of the discriminability of the best choice of the same size, and usually far more:
    the table shows what fraction of the discriminability of all features is reached. Labels are not used.

    With **--method resilience**, every feature is scored on its own, and the best tenth is kept.

    On a terminal the answer is a table. In a pipe it is one line of JSON with **names** and **curve**.

    **Examples**

    * `geodim select embeddings.npy` stops at 95 % of the discriminability
    * `geodim select iris.csv --exclude species -m 2`
    * `geodim select measurements.csv --scale iqr`, if the columns have different units
    * `geodim select points.parquet --fraction 0.99 | jq -r .names[]`
    * `geodim select measurements.csv --method resilience --drop-correlated 0.1`
    * `geodim select embeddings.npy --features distances --metric cosine -m 20` chooses points
    """
    from geodim.explain.select import FeatureSelection
    from geodim.families.choose import FAMILIES

    console = err()
    by_unit = scale_given(scale, no_normalize)
    if m is not None and fraction is not None:
        raise typer.BadParameter("give -m or --fraction, not both")
    if fraction is not None and not 0.0 < fraction <= 1.0:
        raise typer.BadParameter(f"--fraction must be above 0 and at most 1, not {fraction:g}")
    check_method(method, drop_correlated, fraction, time_limit, report)
    named = named_features(family, by, "--features")
    if named is None:
        raise typer.BadParameter(
            f"{family!r} is not one of {', '.join(FAMILIES)}; the number of features is -m",
            param_hint="--features",
        )
    features = chosen_family(named, metric, landmarks, by)
    check_family_options(features, by_unit)
    table = is_table(features, file)
    if not table:
        given = {"--columns": columns, "--exclude": exclude, "--header": header}
        only_for_tables({**given, "--drop-missing": drop_missing})
    check_report(report)
    check_files({"--json": json, "--report": report}, [file])
    if last_bit:
        announce_last_bit(console, quiet=quiet)
    with notes(console, quiet=quiet):
        selection = _choose(
            file,
            columns,
            exclude,
            header,
            console,
            quiet=quiet,
            drop_missing=drop_missing,
            table=table,
            m=m,
            method=method,
            drop_correlated=drop_correlated,
            fraction=fraction,
            features=features or "coordinates",
            scale=by_unit,
            n_threads=threads,
            time_limit=time_limit,
            last_bit=last_bit,
        )
        selection = with_provenance(selection, str(file))
        json_if_wanted(selection, json)
        if isinstance(selection, FeatureSelection):
            report_if_wanted(selection, report)
    terminal = out()
    if answered(json, report):
        pass
    elif not terminal.is_terminal:
        print_json({**selection.to_dict(), "format": FORMAT, "file": str(file)})
    elif quiet:
        print(*map(visible, selection.names), sep="\n")
    else:
        if isinstance(selection, FeatureSelection):
            _show(selection, str(file), terminal)
        else:
            show_top(selection, str(file), terminal)
        print_all_written(terminal, json, report)
    if "stopped" in selection.parameters:
        raise typer.Exit(int(ExitCode.STOPPED))


def _choose(
    file: Path,
    columns: str | None,
    exclude: str | None,
    header: bool | None,
    console: Console,
    *,
    quiet: bool,
    drop_missing: bool,
    table: bool,
    m: int | None,
    method: str,
    drop_correlated: float | None,
    fraction: float | None,
    features: object,
    scale: object,
    n_threads: int | None,
    time_limit: float | None,
    last_bit: bool,
) -> FeatureSelection | TopFeatures:
    """Read and select; names and numbers are those of the file."""
    from geodim.explain.select import select_features
    from geodim.explain.top import top_features

    family: Any = features
    made = features != "coordinates"  # then columns are coordinates of points, not features
    with (
        watching(console, quiet=quiet, keeps="", time_limit=time_limit) as watch,
        opened(file, columns, exclude, header=header, drop_missing=drop_missing)
        if table
        else opened_objects(file, family if made else None) as (data, names),
    ):
        if method != "greedy":
            return top_features(
                data, m, weighting=method, drop_correlated=drop_correlated or 0.0, features=features,
                scale=scale, n_threads=n_threads, feature_names=None if made else names, progress=watch.parts,
                last_bit=last_bit,
            )  # fmt: skip
        return select_features(
            data, m, fraction=fraction, features=features, scale=scale, n_threads=n_threads,
            feature_names=None if made else names, progress=watch.parts, time_limit=watch.left,
            last_bit=last_bit,
        )  # fmt: skip


def _show(selection: FeatureSelection, title: str, terminal: Console) -> None:
    from rich.table import Table
    from rich.text import Text

    table = Table(
        title=Text(visible(title), style="bold"), title_justify="left", box=None, header_style="bold"
    )
    for heading, side in (
        ("", "right"),
        ("feature", "left"),
        ("of all", "right"),
        ("dimension", "right"),
        ("", "left"),
    ):
        table.add_column(heading, justify=side)  # type: ignore[arg-type]
    for row in selection.rows()[:MOST_ROWS]:
        bar = Text("━" * max(1, round(30 * row["fraction"])), style="blue")
        table.add_row(
            str(row["rank"]),
            Text(visible(row["feature"])),
            f"{row['fraction']:.2%}",
            f"{row['dimension']:.6g}",
            bar,
        )
    more = len(selection.names) - MOST_ROWS
    if more > 0:
        last = selection.rows()[-1]
        table.add_row("", f"{more} more", f"{last['fraction']:.2%}", f"{last['dimension']:.6g}", "")
    print_alerts(terminal, selection.alerts)
    if selection.alerts:
        terminal.print()
    terminal.print(table)
    threads = selection.parameters["n_threads"]
    if selection.useful < len(selection.names):
        terminal.print(
            f"\nfeatures after the first {selection.useful:,} add nothing: they only make up the number that "
            "-m asks for"
        )
    terminal.print(
        f"\n{len(selection.names):,} of {selection.n_features:,} features, {selection.n_points:,} points; "
        f"all features: dimension {selection.dimension:.6g}; certified: at least {selection.guarantee:.1%} "
        f"of the discriminability of the best choice of this size{within(selection.error)}; "
        f"{selection.seconds:.3g} s on {threads} thread{'' if threads == 1 else 's'}",
        soft_wrap=True,
    )
