"""``geodim hops``: the intrinsic dimension of a graph with attributes, hop by hop."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path  # noqa: TC003 - typer looks at the annotations
from typing import TYPE_CHECKING, Annotated, Any

import typer

from geodim.arguments import MOST_HOPS, MOST_ORDER
from geodim.cli.certifying import (
    CertificatePath,
    CertificateRtol,
    check_certificate,
    write_certificate,
)
from geodim.cli.completing import data_sets
from geodim.cli.console import announce_last_bit, err, notes, out, print_alerts, print_json
from geodim.cli.dash import EDGES, TABLE, answered, as_named, check_files, readable
from geodim.cli.datasets import Root, dataset_folder
from geodim.cli.exits import ExitCode
from geodim.cli.hop_inputs import (
    FeatureType,
    Given,
    OperatorName,
    check_inputs,
    load,
    operator_parameters,
    parse_memory,
)
from geodim.cli.hop_plan import make_plan, make_trial, show_plan
from geodim.cli.panels import OUTPUT, RUNNING
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
    Header,
    LastBit,
    NoNormalize,
    Rtol,
    SaveEvery,
    ScaleOption,
    Threads,
    TimeLimit,
    scale_given,
)
from geodim.cli.watching import watching
from geodim.errors import InputTypeError, InputValueError
from geodim.text import visible

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import TypeAlias

    from rich.console import Console
    from rich.table import Table

    from geodim.cli.watching import Watch
    from geodim.explain.advice import HopAdvice
    from geodim.khop_result import KHopResult
    from geodim.result import IDResult

    SoFar: TypeAlias = Callable[[Sequence[float]], None]

FORMAT = "geodim.hops/1"
CAUTION = (
    "This is not a law: if neighbours often differ in class, hops can hurt although the dimension falls. If "
    "you can afford to train, also validate no hops, and one or two more"
)
SHOWN_HOPS = 100  # while it is computed


def hops(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="NAME",
            autocompletion=data_sets,
            help="A data set from `geodim datasets list`, such as cora or digits.",
        ),
    ] = None,
    root: Root = None,
    features: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Attributes of your own graph, one node per row: .npy, .npz, .csv, .tsv, .parquet; - is "
            "standard input.",
        ),
    ] = None,
    edges: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="The edges of your own graph, as pairs of row numbers counted from 0: .csv, .tsv, .txt, "
            ".parquet, .npy, .npz. Directions are ignored.",
        ),
    ] = None,
    header: Header = None,
    hops: Annotated[
        int, typer.Option("--hops", metavar="K", min=0, max=MOST_HOPS, help="The largest number of hops.")
    ] = 5,
    operator: Annotated[
        OperatorName,
        typer.Option(
            help="What one hop does: sym is the paper's operator; rw is the mean over neighbours; ppr is "
            "personalised PageRank; heat is the heat kernel."
        ),
    ] = OperatorName.sym,
    alpha: Annotated[
        float | None,
        typer.Option(metavar="A", help="For ppr: the probability of a restart; 0.15 by default."),
    ] = None,
    t: Annotated[
        float | None, typer.Option("--t", metavar="T", help="For heat: the diffusion time; 3 by default.")
    ] = None,
    order: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=0,
            max=MOST_ORDER,
            help="For ppr and heat: how many powers to keep; by default, less than 1e-4 is cut off.",
        ),
    ] = None,
    rtol: Rtol = 0.0,
    scale: ScaleOption = None,
    no_normalize: NoNormalize = False,
    edge_weights: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN",
            help="The column of --edges with the weights; 2 is the third column. By default all edges count "
            "the same.",
        ),
    ] = None,
    dtype: Annotated[
        FeatureType | None,
        typer.Option(
            help="The type of the features after each hop; by default float32, if it can hold all "
            "attributes. The bounds include the rounding."
        ),
    ] = None,
    last_bit: LastBit = False,
    threads: Threads = None,
    backend: BackendOption = BackendName.auto,
    scheduler: Scheduler = None,
    memory: Annotated[
        str | None,
        typer.Option(
            rich_help_panel=RUNNING,
            metavar="SIZE",
            help="Use at most this much memory: 8GB, 8GiB, 500MB, or a number of bytes. See --dry-run.",
        ),
    ] = None,
    time_limit: TimeLimit = None,
    checkpoint: Checkpoint = None,
    save_every: SaveEvery = SAVE_EVERY,
    count_duplicates: Annotated[
        bool,
        typer.Option(
            "--count-duplicates", help="Also count, for each k, the nodes that are equal to another node."
        ),
    ] = False,
    json: Json = None,
    report: Report = None,
    certificate: CertificatePath = None,
    certificate_rtol: CertificateRtol = 1e-3,
    dry_run: DryRun = False,
    workers: Workers = None,
    worker_memory: WorkerMemory = None,
    quiet: Annotated[
        bool,
        typer.Option(
            "--quiet",
            "-q",
            rich_help_panel=OUTPUT,
            help="No progress and no notes; on a terminal, only the numbers.",
        ),
    ] = False,
) -> None:
    """Compute the intrinsic dimension of a graph's attributes after 0, 1, ..., K hops.

    Every hop averages the attributes over the neighbours. The features of k hops are the attributes and their
    averages after 1, ..., k hops, so the dimension can only fall. A large drop means that the graph tells
    nodes apart that look alike by their attributes.

    On a terminal, a table fills up while geodim goes through the attributes once. In a pipe the answer is one
    line of JSON with **dimensions**, one per k. **--json** writes everything to a file that
    KHopResult.from_json reads.

    This command downloads nothing; `geodim datasets fetch NAME` does.

    **Examples**

    * `geodim hops cora` and `geodim hops digits` need no files
    * `geodim hops pubmed --root data | jq .dimensions`
    * `geodim hops --features points.npy --edges edges.csv --hops 3`
    * `geodim hops ogbn-papers100M --memory 48GB --dry-run` says whether it fits, before the download
    * `geodim hops cora --certificate proof.json`, then `geodim verify proof.json cora`
    * `geodim hops ogbn-products --rtol 0.01 --checkpoint state --json products.json`
    """
    console = err()
    budget = None if memory is None else parse_memory(memory)
    parameters = operator_parameters(operator, alpha, t, order)
    kind = None if dtype is None else dtype.value
    by_unit = scale_given(scale, no_normalize)
    weights = check_inputs(name, features, edges, edge_weights)
    if count_duplicates and checkpoint is not None:
        raise typer.BadParameter(
            "a checkpoint does not hold what it needs: count them in a separate run",
            param_hint="--count-duplicates",
        )
    check_report(report)
    check_certificate(certificate, operator.value, weighted=edge_weights is not None)
    check_files(
        {"--json": json, "--report": report, "--certificate": certificate},
        [features, edges, checkpoint, None if name is None else dataset_folder(name, root)],
    )
    only_for_plans(dry_run, {"--workers": workers, "--worker-memory": worker_memory})
    where = {} if dry_run else place(backend, scheduler)
    if last_bit:
        announce_last_bit(console, quiet=quiet or dry_run)
    with notes(console, quiet=quiet):
        if dry_run:
            with readable(features, TABLE) as table, readable(edges, EDGES) as pairs:
                trial = make_trial(name, root, table, pairs, weights, operator, parameters, threads, header)
                trial.dtype = kind
                plan = make_plan(
                    trial, hops, rtol, budget, backend=backend, scheduler=scheduler, workers=workers,
                    worker_memory=worker_memory,
                )  # fmt: skip
            show_plan(trial, plan, json)
            return
        title = name or f"{features}, {edges}"
        with (
            _filling(title, console, hops, quiet=quiet, time_limit=time_limit) as (watch, so_far),
            readable(features, TABLE) as table,
            readable(edges, EDGES) as pairs,
        ):
            lazily = scheduler is not None and table is features
            given = load(name, root, table, pairs, header=header, lazily=lazily)
            result = _measure(
                given,
                hops,
                scheduler,
                watch,
                so_far,
                certificate=certificate,
                certificate_rtol=certificate_rtol,
                options={
                    **where,
                    "operator": operator.value,
                    "operator_parameters": parameters,
                    "rtol": rtol,
                    "scale": by_unit,
                    "edge_weights": weights,
                    "dtype": kind,
                    "last_bit": last_bit,
                    "n_threads": threads,
                    "memory": budget,
                    "checkpoint": checkpoint,
                    "save_every": save_every,
                    "count_indistinguishable": count_duplicates,
                },
            )
        result = with_provenance(result, given.title)
        json_if_wanted(result, json)
        report_if_wanted(result, report)
    terminal = out()
    if answered(json, report, certificate):
        pass
    elif not terminal.is_terminal:
        print_json(_document(result, given))
    elif quiet:
        print(*(f"{value:.10g}" for value in result.dimensions), sep="\n")
    else:
        _show(result, given.title, terminal)
        print_all_written(terminal, json, report, None if result.results[0].stopped else certificate)
    if result.results[0].stopped:
        raise typer.Exit(int(ExitCode.STOPPED))


def _measure(
    given: Given,
    hops: int,
    scheduler: str | None,
    watch: Watch,
    so_far: SoFar | None,
    *,
    certificate: Path | None,
    certificate_rtol: float,
    options: dict[str, Any],
) -> KHopResult:
    """Compute, with a table that fills; errors in a file's values name the file."""
    from geodim.khop import khop_dimensions

    try:
        with connected(scheduler) as there, given.watch:
            result = khop_dimensions(
                given.x, given.graph, hops, progress=watch.solving, so_far=so_far, time_limit=watch.left,
                **{**options, **there},
            )  # fmt: skip
            stopped = result.results[0].stopped
            write_certificate(result, certificate, certificate_rtol, given.x, given.graph, stopped=stopped)
            return result
    except (InputValueError, InputTypeError) as error:
        if "features" not in given.source or as_named(str(error)).startswith(given.source["edges"]):
            raise
        raise type(error)(f"{given.title}: {error}") from error


@contextmanager
def _filling(
    title: str, console: Console, hops: int, *, quiet: bool, time_limit: float | None
) -> Iterator[tuple[Watch, SoFar | None]]:
    """Show a table and a bar with the time left, removed when done, absent unless there is a terminal.

    The discriminability found so far can only grow: the dimension is at most what the table shows.
    """
    from rich.console import Group
    from rich.live import Live

    with watching(console, quiet=quiet, noun="attributes", time_limit=time_limit, show=False) as watch:
        if watch.bar is None:
            yield watch, None
            return
        bar = watch.bar
        empty = [(k, "...", "", "") for k in range(min(hops, SHOWN_HOPS) + 1)]
        with Live(Group(_table(title, empty), bar), console=console, transient=True) as live:

            def so_far(deltas: Sequence[float]) -> None:
                most = [(1.0 / delta) ** 2 if delta > 0.0 else float("inf") for delta in deltas]
                rows = [(k, "...", f"at most {value:.6g}", "") for k, value in enumerate(most)]
                live.update(Group(_table(title, rows[: SHOWN_HOPS + 1]), bar), refresh=True)

            yield watch, so_far


def _table(title: str, rows: list[tuple[int, str, str, str]]) -> Table:
    from rich.table import Table
    from rich.text import Text

    table = Table(
        title=Text(visible(title), style="bold"), title_justify="left", box=None, header_style="bold"
    )
    for heading in ("k", "intrinsic dimension", "certified bounds", "drop"):
        table.add_column(heading, justify="right", no_wrap=True)
    for k, dimension, bounds, drop in rows:
        table.add_row(str(k), Text(dimension, style="bold green"), bounds, drop)
    return table


def _bounds(one: IDResult) -> str:
    """Return how well a dimension is known, in a few characters."""
    from geodim.words import at_most

    if one.exact:
        return "exact"
    if one.one_number:
        return "equal" if one.lower == one.upper else f"within {at_most(one.error)}"
    return f"{one.lower:.6g} .. {one.upper:.6g}"


def _show(result: KHopResult, title: str, terminal: Console) -> None:
    from geodim.explain.advice import BASIS

    rows = [
        (
            row["k"],
            f"{row['dimension']:.6g}",
            _bounds(result[row["k"]]),
            "" if row["drop"] is None else f"{row['drop']:.1%}",
        )
        for row in result.rows()
    ]
    terminal.print(_table(title, rows))
    print_alerts(terminal, result.alerts)
    if any(one.one_number and not one.exact for one in result):
        kind = result.results[-1].parameters.get("dtype", "float32")
        terminal.print(
            f"\nwithin: features of hops are sums that are rounded to {kind}; this changes the dimension by "
            "at most the relative error shown"
            + ("" if kind == "float64" else " (--dtype float64 makes it smaller)"),
            soft_wrap=True,
        )
    if (advice := _advice(result)) is not None:
        # The basis of the advice is in the report: two paragraphs would be too much here.
        terminal.print(f"\n{advice.text.partition(BASIS)[0].strip()}", soft_wrap=True)
        terminal.print(f"({CAUTION}.)", soft_wrap=True)
    first, graph = result.results[0], result.graph
    threads = first.parameters.get("n_threads", 1)
    terminal.print(
        f"\n{first.n_points:,} nodes, {graph.get('n_edges', 0):,} undirected edges, {first.n_features:,} "
        f"attributes; operator {result.operator['operator']}; {result.results[-1].seconds:.3g} s on "
        f"{threads} thread{'' if threads == 1 else 's'}",
        soft_wrap=True,
    )


def _document(result: KHopResult, given: Given) -> dict[str, Any]:
    """Return everything except curves and shares."""
    values = result.to_dict(max_support=1)
    left_out = (
        "format", "support", "phi_lower", "phi_upper", "attained_from", "attained_by", "shares", "versions",
    )  # fmt: skip
    scalars = [
        {"k": k, **{key: value for key, value in one.items() if key not in left_out}}
        for k, one in enumerate(values["results"])
    ]
    versions = values["results"][0]["versions"]
    alerts = [alert.to_dict() for alert in result.alerts]
    advice = _advice(result)
    return {
        **values, "format": FORMAT, **given.source, "alerts": alerts,
        "advice": None if advice is None else advice.to_dict(), "results": scalars, "versions": versions,
    }  # fmt: skip


def _advice(result: KHopResult) -> HopAdvice | None:
    """Return how many hops are worth it; bounds of a pass that was stopped say too little for that."""
    from geodim.explain.advice import advise

    return None if result[0].stopped or result.hops == 0 else advise(result)
