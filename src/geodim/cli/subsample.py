"""``geodim subsample``: the dimension against the number of points."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 - typer looks at the annotations
from typing import TYPE_CHECKING, Annotated

import typer

from geodim.cli.console import err, notes, out, print_json, print_written
from geodim.cli.families import FAMILY_HELP, Landmarks, Metric
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
from geodim.output import check_outputs, json_text
from geodim.text import visible

if TYPE_CHECKING:
    from rich.console import Console

    from geodim.sampling import SampleCurve


def subsample(
    file: Annotated[
        Path,
        typer.Argument(metavar="FILE", help="Points in rows: .npy, .npz, .csv, .tsv, .parquet."),
    ],
    sizes: Annotated[
        str | None,
        typer.Option(metavar="N,N,...", help="Numbers of points; by default halves of halves, down to 16."),
    ] = None,
    repeats: Annotated[int, typer.Option(metavar="N", min=1, help="Parts of each size.")] = 8,
    seed: Annotated[int, typer.Option(metavar="N", min=0, help="Which parts are drawn.")] = 0,
    features: Annotated[str, typer.Option(metavar="FAMILY", help=FAMILY_HELP)] = "coordinates",
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
    json: Annotated[
        Path | None, typer.Option(metavar="PATH", help="Also write all dimensions to a file.")
    ] = None,
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="No progress, no notes; on a terminal only the verdict.")
    ] = False,
) -> None:
    """Measure random parts of the points, ever larger ones: whether the dimension has settled.

    Divided by the largest range, the dimension of bounded features settles as there are more points, and that
    of features with tails grows for ever, since the farthest point lies ever further out. This says which,
    and by how much with every doubling.

    **Examples**

    * `geodim subsample points.npy`
    * `geodim subsample points.csv --exclude id --scale rank`
    * `geodim subsample points.parquet --sizes 100,1000,10000 --repeats 20 | jq .verdict`
    """
    check_outputs({"--json": json}, [file])
    console = err()
    chosen = None if sizes is None else _numbers(sizes)
    given = scale_given(scale, no_normalize)
    with (
        notes(console, quiet=quiet),
        watching(console, quiet=quiet, noun="parts", keeps="", time_limit=time_limit) as watch,
        opened(file, columns, exclude, header=header, drop_missing=drop_missing) as (data, names),
    ):
        from geodim.sampling import subsampled_dimensions

        curve = subsampled_dimensions(
            data, sizes=chosen, repeats=repeats, seed=seed, progress=watch.parts, features=features,
            metric=metric, landmarks=landmarks, rtol=rtol, scale=given, n_threads=threads,
            feature_names=names if features == "coordinates" else None,
        )  # fmt: skip
    document = {**curve.to_dict(), "file": str(file)}
    if json is not None:
        json_text(document, json)
    terminal = out()
    if not terminal.is_terminal:
        print_json(document)
    elif quiet:
        print(curve.verdict)
    else:
        _show(curve, str(file), terminal)
        if json is not None:
            print_written(terminal, json)


def _numbers(text: str) -> list[int]:
    try:
        return [int(part) for part in text.split(",")]
    except ValueError:
        words = f"numbers of points, with commas, not {text!r}"
        raise typer.BadParameter(words, param_hint="--sizes") from None


def _show(curve: SampleCurve, title: str, terminal: Console) -> None:
    from rich.table import Table
    from rich.text import Text

    from geodim.words import number

    named = Text(visible(title), style="bold")
    table = Table(title=named, title_justify="left", box=None, header_style="bold")
    for heading in ("points", "parts", "dimension", "least – greatest", "largest range"):
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
    terminal.print(curve.text, soft_wrap=True)
