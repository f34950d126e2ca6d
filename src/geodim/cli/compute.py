"""``geodim compute``: the intrinsic dimension of a file."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from geodim.arguments import MOST_SIZE
from geodim.cli.certifying import (
    CertificatePath,
    CertificateRtol,
    check_certificate,
    write_certificate,
)
from geodim.cli.completing import FAMILIES, among, files_and_data_sets
from geodim.cli.compute_plan import check_sizes, family_or_width, show_plan
from geodim.cli.console import (
    announce_last_bit,
    err,
    notes,
    out,
    print_alerts,
    print_json,
    shares_table,
    summary_table,
)
from geodim.cli.dash import answered, check_files, is_dash, writable
from geodim.cli.exits import ExitCode
from geodim.cli.families import FAMILY_HELP, By, Landmarks, Metric, check_family_options, chosen_family
from geodim.cli.hop_inputs import parse_memory
from geodim.cli.objects import (
    Blur,
    Disconnected,
    EdgeWeights,
    PatchSize,
    Weighting,
    is_table,
    only_for_tables,
    opened_objects,
    with_options,
)
from geodim.cli.panels import COLUMNS, FEATURES, OUTPUT, PLANNING
from geodim.cli.planning import (
    BackendName,
    BackendOption,
    DryRun,
    WorkerMemory,
    Workers,
    only_for_plans,
    place,
)
from geodim.cli.reporting import (
    Json,
    Report,
    check_report,
    json_if_wanted,
    print_all_written,
    report_if_wanted,
    with_provenance,
)
from geodim.cli.scheduler import Scheduler, connected
from geodim.cli.tables import (
    SAVE_EVERY,
    Checkpoint,
    Columns,
    DropMissing,
    Exclude,
    Header,
    LastBit,
    NoNormalize,
    Rtol,
    SaveEvery,
    ScaleOption,
    Threads,
    TimeLimit,
    opened,
    scale_given,
)
from geodim.cli.watching import watching
from geodim.cli.wording import usage

if TYPE_CHECKING:
    from rich.console import Console

    from geodim.result import IDResult

FORMAT = "geodim.compute/1"


def compute(
    file: Annotated[
        Path | None,
        typer.Argument(
            metavar="FILE",
            autocompletion=files_and_data_sets,
            help="One point per row: .npy, .npz (points.npz:key names one of several arrays), "
            ".csv, .tsv, .parquet, .zarr. For terms and edit: one text per line. For pixels and patches: a "
            "folder of images. For shortest_path: a list of edges. - is standard input.",
        ),
    ] = None,
    features: Annotated[
        str,
        typer.Option(
            rich_help_panel=FEATURES,
            metavar="FAMILY",
            autocompletion=among(*FAMILIES),
            help=f"{FAMILY_HELP} For --dry-run without a file: the number of float32 columns.",
        ),
    ] = "coordinates",
    metric: Metric = None,
    landmarks: Landmarks = None,
    by: By = None,
    blur: Blur = None,
    patch_size: PatchSize = None,
    weighting: Weighting = None,
    edge_weights: EdgeWeights = None,
    disconnected: Disconnected = None,
    shuffled: Annotated[
        int | None,
        typer.Option(
            rich_help_panel=FEATURES,
            metavar="N",
            min=1,
            help="For features that are not columns: as a baseline, also measure the table N times with "
            "each column shuffled.",
        ),
    ] = None,
    rtol: Rtol = 0.0,
    last_bit: LastBit = False,
    scale: ScaleOption = None,
    no_normalize: NoNormalize = False,
    columns: Columns = None,
    exclude: Exclude = None,
    drop_missing: DropMissing = False,
    header: Header = None,
    count_duplicates: Annotated[
        bool,
        typer.Option(
            "--count-duplicates",
            rich_help_panel=COLUMNS,
            help="Also count the points that are equal to another point.",
        ),
    ] = False,
    threads: Threads = None,
    backend: BackendOption = BackendName.auto,
    scheduler: Scheduler = None,
    time_limit: TimeLimit = None,
    checkpoint: Checkpoint = None,
    save_every: SaveEvery = SAVE_EVERY,
    json: Json = None,
    plot: Annotated[
        Path | None,
        typer.Option(
            rich_help_panel=OUTPUT,
            metavar="PATH",
            help="Write a plot of the curve: .png, .pdf or .svg; - writes a .png to standard output.",
        ),
    ] = None,
    report: Report = None,
    certificate: CertificatePath = None,
    certificate_rtol: CertificateRtol = 1e-3,
    dry_run: DryRun = False,
    points: Annotated[
        float | None,
        typer.Option(
            rich_help_panel=PLANNING,
            metavar="N",
            min=1.0,
            max=MOST_SIZE,
            help="For --dry-run without a file: the number of points, such as 1e10.",
        ),
    ] = None,
    coordinates: Annotated[
        float | None,
        typer.Option(
            rich_help_panel=PLANNING,
            metavar="D",
            min=1.0,
            max=MOST_SIZE,
            help="For --dry-run of distances or directions without a file: the number of coordinates.",
        ),
    ] = None,
    memory: Annotated[
        str | None,
        typer.Option(
            rich_help_panel=PLANNING,
            metavar="SIZE",
            help="For --dry-run: the memory available here or on the GPU, such as 16GB.",
        ),
    ] = None,
    workers: Workers = None,
    worker_memory: WorkerMemory = None,
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
    """Compute the intrinsic dimension of the points (rows) in a file.

    On a terminal the answer is a table. In a pipe it is one line of JSON with all numbers and the share of
    every feature, but without the curve. **--json** writes everything to a file that IDResult.from_json
    reads. A time limit counts from the start of the command, so it includes the time to read the file.

    **Examples**

    * `geodim compute embeddings.npy`
    * `geodim compute embeddings.npy --features distances --metric cosine`
    * `geodim compute embeddings.npy --features distances --shuffled 3`, with a baseline
    * `geodim compute points.npy --features coordinates,distances --by diameter`
    * `geodim compute words.txt --features distances --metric edit`
    * `geodim compute sentences.txt --features terms`
    * `geodim compute photographs/ --features pixels --blur 2`
    * `geodim compute edges.csv --features distances --metric shortest_path --disconnected component`
    * `geodim compute measurements.csv --scale iqr`, if the columns have different units
    * `geodim compute iris.csv --exclude species --plot iris.png --report iris.html`
    * `geodim compute big.npy --rtol 0.01 --time-limit 600 --checkpoint state --json big.json`
    * `geodim compute points.parquet | jq .dimension`
    * `zcat points.csv.gz | geodim compute - --json - > result.json`
    * `geodim compute points.npy --certificate proof.json`, then `geodim verify proof.json points.npy`
    * `geodim compute points.parquet --scheduler tcp://head:8786`
    * `geodim compute --dry-run --points 1e9 --features 64 --backend cuda` prints the time and memory needed
    * `geodim compute --dry-run --points 1e5 --features distances --coordinates 100`
    """
    console = err()
    by_unit = scale_given(scale, no_normalize)
    named, width = family_or_width(features, by)
    family = with_options(
        chosen_family(named, metric, landmarks, by),
        blur=blur,
        patch_size=patch_size,
        weighting=weighting,
        edge_weights=edge_weights,
        disconnected=disconnected,
    )
    check_family_options(family, by_unit, count_duplicates=count_duplicates)
    table = is_table(family, file)
    if shuffled is not None and (family is None or not table):
        raise typer.BadParameter(
            "shuffled columns are a baseline for features made from a table, such as --features distances; "
            "the columns themselves have the same dimension however each is shuffled",
            param_hint="--shuffled",
        )
    if not table:
        tables_have = {"--columns": columns, "--exclude": exclude, "--header": header}
        tables_have["--drop-missing"] = drop_missing
        only_for_tables({**tables_have, "--scheduler": scheduler})
    plans = {"--points": points, "--features": width, "--coordinates": coordinates, "--memory": memory}
    only_for_plans(dry_run, {**plans, "--workers": workers, "--worker-memory": worker_memory})
    check_sizes(file, points, width, coordinates, dry_run=dry_run, made=family is not None)
    if plot is not None:
        from geodim.display.plots import check_plot_path

        with usage():
            check_plot_path(Path("stdout.png") if is_dash(plot) else plot)
    check_report(report)
    check_certificate(certificate, made=family is not None)
    check_files(
        {"--json": json, "--plot": plot, "--report": report, "--certificate": certificate}, [file, checkpoint]
    )
    if dry_run:
        budget = None if memory is None else parse_memory(memory)
        with notes(console, quiet=quiet):
            show_plan(
                file,
                columns,
                exclude,
                header=header,
                drop_missing=drop_missing,
                points=points,
                features=width,
                coordinates=coordinates,
                family=family,
                rtol=rtol,
                budget=budget,
                threads=threads,
                backend=backend,
                scheduler=scheduler,
                workers=workers,
                worker_memory=worker_memory,
                json=json,
            )
        return
    assert file is not None
    where = place(backend, scheduler)
    if last_bit:
        announce_last_bit(console, quiet=quiet)
    with notes(console, quiet=quiet):
        result = _measure(
            file,
            columns,
            exclude,
            header,
            console,
            scheduler,
            quiet=quiet,
            drop_missing=drop_missing,
            certificate=certificate,
            certificate_rtol=certificate_rtol,
            shuffled=shuffled,
            table=table,
            time_limit=time_limit,
            **where,
            features=family or "coordinates",
            rtol=rtol,
            last_bit=last_bit,
            removal=_finds_removal(where, scheduler, family, rtol, checkpoint),
            scale=by_unit,
            n_threads=threads,
            count_indistinguishable=count_duplicates,
            checkpoint=checkpoint,
            save_every=save_every,
        )
        result = with_provenance(result, str(file))
        json_if_wanted(result, json)
        _plot(result, plot)
        report_if_wanted(result, report)
    terminal = out()
    if answered(json, plot, report, certificate):
        pass
    elif not terminal.is_terminal:
        print_json(_document(result, file))
    elif quiet:
        print(f"{result.dimension:.10g}")
    else:
        terminal.print(summary_table(result, str(file)))
        print_alerts(terminal, result.alerts)
        if result.shares:
            terminal.print()
            terminal.print(shares_table(result))
        print_all_written(terminal, json, plot, report, None if result.stopped else certificate)
    if result.stopped:
        raise typer.Exit(int(ExitCode.STOPPED))


def _finds_removal(
    where: dict[str, Any], scheduler: str | None, family: object, rtol: float, checkpoint: Path | None
) -> bool:
    """Return whether removal costs come almost for free: for columns, exactly, on this machine's cores."""
    from geodim.engine.steps import tolerance

    here = where.get("backend", "auto") in ("auto", "cpu") and scheduler is None
    return here and family is None and tolerance(rtol) == 0.0 and checkpoint is None


def _measure(
    file: Path,
    columns: str | None,
    exclude: str | None,
    header: bool | None,
    console: Console,
    scheduler: str | None,
    *,
    quiet: bool,
    drop_missing: bool,
    certificate: Path | None,
    certificate_rtol: float,
    shuffled: int | None,
    table: bool,
    time_limit: float | None,
    **options: object,
) -> IDResult:
    """Read and compute; shares name the columns of the file."""
    from geodim.dimension import intrinsic_dimension

    family: Any = options["features"]
    made = family != "coordinates"  # then columns are coordinates of points, not features
    with ExitStack() as stack:
        there = stack.enter_context(connected(scheduler))
        with watching(console, quiet=quiet, time_limit=time_limit) as watch:
            data, names = stack.enter_context(
                opened(file, columns, exclude, header=header, drop_missing=drop_missing, lazily=bool(there))
                if table
                else opened_objects(file, family if made else None)
            )
            options |= {"feature_names": None if made else names, "progress": watch.solving}
            result = intrinsic_dimension(data, time_limit=watch.left, **{**options, **there})
        if shuffled is not None and result.stopped is None:
            from geodim.sampling import shuffled_reference

            same: dict[str, Any] = {
                name: options[name] for name in ("features", "rtol", "scale", "n_threads")
            }
            result = shuffled_reference(data, repeats=shuffled, whole=result, **same)
        write_certificate(result, certificate, certificate_rtol, data, stopped=result.stopped)
        return result


def _plot(result: IDResult, path: Path | None) -> None:
    if path is not None:
        from geodim.display.plots import save_plot

        with writable(path, ".png") as file:
            save_plot(result, file)


def _document(result: IDResult, file: Path) -> dict[str, Any]:
    values = result.to_dict(max_support=1)
    for curve in ("support", "phi_lower", "phi_upper", "attained_from", "attained_by"):
        del values[curve]
    known = None if result.gauge is None else result.gauge.to_dict()
    gauge = None if known is None else {name: known[name] for name in ("level", "verdict", "marks")}
    return {**values, "format": FORMAT, "file": str(file), "gauge": gauge}
