"""``geodim subsample``: the dimension against the number of points."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 - typer looks at the annotations
from typing import TYPE_CHECKING, Annotated

import typer

from geodim.cli.console import err, notes, out, print_json
from geodim.cli.dash import answered, check_files, writable
from geodim.cli.families import Landmarks, Metric, TableFeatures, check_family_options, table_features
from geodim.cli.panels import OUTPUT
from geodim.cli.reporting import Json, print_all_written
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
from geodim.cli.wording import as_typed
from geodim.output import json_text
from geodim.text import visible

if TYPE_CHECKING:
    from rich.console import Console

    from geodim.sampling import SampleCurve


def subsample(
    file: Annotated[
        Path,
        typer.Argument(metavar="FILE", help="One point per row: .npy, .npz, .csv, .tsv, .parquet."),
    ],
    sizes: Annotated[
        str | None,
        typer.Option(
            metavar="N,N,...", help="Numbers of points; by default, halved again and again down to 16."
        ),
    ] = None,
    repeats: Annotated[int, typer.Option(metavar="N", min=1, help="Samples of each size.")] = 8,
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
    quiet: Annotated[
        bool,
        typer.Option(
            "--quiet",
            "-q",
            rich_help_panel=OUTPUT,
            help="No progress and no notes; on a terminal, only the verdict.",
        ),
    ] = False,
) -> None:
    """Measure random samples of increasing size, to see whether the dimension has settled.

    As the number of points grows, the dimension of bounded features settles. That of features with long tails
    keeps growing: widths are divided by the largest range, and the farthest point lies further and further
    out. This command says which of the two it is, and by how much every doubling changes the dimension.

    **Examples**

    * `geodim subsample points.npy`
    * `geodim subsample points.csv --exclude id --scale rank`
    * `geodim subsample points.parquet --sizes 100,1000,10000 --repeats 20 | jq .verdict`
    """
    check_files({"--json": json}, [file])
    console = err()
    chosen = None if sizes is None else _numbers(sizes)
    given, family = scale_given(scale, no_normalize), table_features(features, metric, landmarks)
    check_family_options(family, given)
    with (
        notes(console, quiet=quiet),
        watching(console, quiet=quiet, noun="samples", keeps="", time_limit=time_limit) as watch,
        opened(file, columns, exclude, header=header, drop_missing=drop_missing) as (data, names),
    ):
        from geodim.sampling import subsampled_dimensions

        curve = subsampled_dimensions(
            data, sizes=chosen, repeats=repeats, seed=seed, progress=watch.parts, features=family,
            rtol=rtol, scale=given, n_threads=threads,
            feature_names=names if family == "coordinates" else None,
        )  # fmt: skip
    document = {**curve.to_dict(), "file": str(file)}
    if json is not None:
        with writable(json, ".json") as path:
            json_text(document, path)
    terminal = out()
    if answered(json):
        pass
    elif not terminal.is_terminal:
        print_json(document)
    elif quiet:
        print(curve.verdict)
    else:
        _show(curve, str(file), terminal)
        print_all_written(terminal, json)


def _numbers(text: str) -> list[int]:
    numbers = [int(part) if part.strip().isdecimal() else 0 for part in text.split(",")]
    if min(numbers) < 2:
        words = f"numbers of points, 2 or more, separated by commas, not {text!r}"
        raise typer.BadParameter(words, param_hint="--sizes")
    return numbers


def _show(curve: SampleCurve, title: str, terminal: Console) -> None:
    from rich.table import Table
    from rich.text import Text

    from geodim.words import number

    named = Text(visible(title), style="bold")
    table = Table(title=named, title_justify="left", box=None, header_style="bold")
    for heading in ("points", "samples", "dimension", "least – greatest", "largest range"):
        table.add_column(heading, justify="right")
    for row in curve.rows():
        table.add_row(
            f"{row['points']:,}",
            str(row["parts"]),
            Text(number(row["dimension"]), style="bold green"),
            f"{number(row['least'])} – {number(row['greatest'])}" if row["parts"] > 1 else "all points",
            number(row["d_max"]),
        )
    terminal.print(table)
    terminal.print()
    terminal.print(as_typed(curve.text), soft_wrap=True)
