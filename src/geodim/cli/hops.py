"""``geodim hops``: the intrinsic dimension of a graph with attributes, hop by hop."""

from __future__ import annotations

import re
import time
import warnings
from contextlib import contextmanager
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path  # noqa: TC003 - typer looks at the annotations
from typing import TYPE_CHECKING, Annotated, Any

import typer

from geodim.cli.console import err, notes, out, print_json
from geodim.cli.datasets import Root, describe, not_here
from geodim.cli.exits import ExitCode
from geodim.errors import DataFileError, GeodimWarning, InputTypeError, InputValueError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from geodim.khop_result import KHopResult
    from geodim.plan import HopPlan

FORMAT = "geodim.hops/1"
PLAN_FORMAT = "geodim.plan/1"
UNITS = {"": 1, "B": 1} | {
    prefix + unit: base**power
    for power, prefix in enumerate("KMGT", start=1)
    for unit, base in (("B", 1000), ("IB", 1024))
}
LOADED_EDGES = 5_000_000  # a plan for a data set beyond this is made from its sizes: nobody waits for a plan
SAMPLE = 200_000  # values of a column that are solved to learn how long a column takes
TRIED = 16  # columns of the block on which times are taken
SYNTHETIC_NODES, SYNTHETIC_EDGES = 1 << 17, 1_000_000


class OperatorName(StrEnum):
    """What one hop does."""

    sym = "sym"
    rw = "rw"
    ppr = "ppr"
    heat = "heat"


def hops(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="NAME", help="A data set that `geodim datasets list` shows: cora, digits, ..."
        ),
    ] = None,
    root: Root = None,
    features: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Attributes of your own, one node per row: .npy, .npz, .csv, .tsv, .parquet."
        ),
    ] = None,
    edges: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Its edges, pairs of rows counted from 0: .csv, .tsv, .txt, .parquet, .npy, .npz. Directions do not count.",
        ),
    ] = None,
    hops: Annotated[int, typer.Option("--hops", metavar="K", min=0, help="The largest number of hops.")] = 5,
    operator: Annotated[
        OperatorName,
        typer.Option(
            help="One hop: sym, the paper's; rw, the mean over neighbours; ppr, PageRank; heat, the heat kernel."
        ),
    ] = OperatorName.sym,
    alpha: Annotated[
        float | None, typer.Option(metavar="A", help="For ppr: the probability to return, 0.15 by default.")
    ] = None,
    t: Annotated[
        float | None, typer.Option("--t", metavar="T", help="For heat: the time, 3 by default.")
    ] = None,
    order: Annotated[
        int | None,
        typer.Option(metavar="N", min=0, help="For ppr and heat: powers kept; by default 1e-4 is cut off."),
    ] = None,
    rtol: Annotated[
        float, typer.Option(metavar="E", min=0.0, help="Bounds this close will do: 0.01 is 1 %, 0 is exact.")
    ] = 0.0,
    no_normalize: Annotated[
        bool,
        typer.Option(
            "--no-normalize", help="Take attributes as they are; else their largest range becomes 1."
        ),
    ] = False,
    edge_weights: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN",
            help="Weights, from this column of --edges; 2 is the third one. By default all edges count the same.",
        ),
    ] = None,
    threads: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, help="All cores by default. The result does not depend on it."),
    ] = None,
    memory: Annotated[
        str | None,
        typer.Option(metavar="SIZE", help="Stay within this much: 8GB, 8GiB, 500MB or bytes. See --dry-run."),
    ] = None,
    time_limit: Annotated[
        float | None,
        typer.Option(metavar="SECONDS", min=0.0, help="Stop by then, with the bounds known so far."),
    ] = None,
    checkpoint: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            file_okay=False,
            help="Keep the state here; the same command later goes on from there, to the same bits.",
        ),
    ] = None,
    save_every: Annotated[
        float, typer.Option(metavar="SECONDS", min=0.0, help="Time between two checkpoints.")
    ] = 30.0,
    json: Annotated[
        Path | None, typer.Option(metavar="PATH", help="Write the whole result, with the curves, to a file.")
    ] = None,
    dry_run: Annotated[
        bool,
        typer.Option(
            "--dry-run", help="Print memory, passes and time needed; compute nothing. Exit code 3: no fit."
        ),
    ] = False,
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="No progress, no notes; on a terminal only the numbers.")
    ] = False,
) -> None:
    """Compute the intrinsic dimension of a graph's attributes after 0, 1, ..., K hops.

    Every hop mixes the attributes of neighbours, and the dimension says what that gains: the features of k hops are
    the attributes and all their mixtures up to the k-th, so that the dimension can only fall. A large drop means that
    the graph tells points apart which the attributes alone do not.

    On a terminal a table fills while the attributes are passed through once. In a pipe the answer is one line of JSON
    with **dimensions**, one per k; **--json** writes everything to a file, which KHopResult.from_json reads.

    Nothing is downloaded: `geodim datasets fetch NAME` does that.

    **Examples**

    * `geodim hops digits` needs no files
    * `geodim hops cora --root data | jq .dimensions`
    * `geodim hops --features points.npy --edges edges.csv --hops 3`
    * `geodim hops ogbn-papers100M --memory 48GB --dry-run` says whether that fits, before the download
    * `geodim hops ogbn-products --rtol 0.01 --checkpoint state --json products.json`
    """
    console = err()
    budget = None if memory is None else parse_memory(memory)
    parameters = _parameters(operator, alpha, t, order)
    weights = _check_inputs(name, features, edges, edge_weights)
    if json is not None and (json.is_dir() or not json.absolute().parent.is_dir()):
        problem = "it is a folder" if json.is_dir() else f"there is no folder {json.absolute().parent}"
        raise DataFileError(f"cannot write {json}: {problem}")
    with notes(console, quiet=quiet):
        if dry_run:
            trial = _trial(name, root, features, edges, weights, operator, parameters, threads)
            _show_plan(trial, _plan(trial, hops, rtol, budget))
            return
        given = _load(name, root, features, edges)
        result = _measure(
            given,
            console,
            hops,
            quiet=quiet,
            operator=operator.value,
            operator_parameters=parameters,
            rtol=rtol,
            normalize=not no_normalize,
            edge_weights=weights,
            n_threads=threads,
            memory=budget,
            time_limit=time_limit,
            checkpoint=checkpoint,
            save_every=save_every,
        )
        if json is not None:
            result.to_json(json)
    terminal = out()
    if not terminal.is_terminal:
        print_json(_document(result, given))
    elif quiet:
        print(*(f"{value:.10g}" for value in result.dimensions), sep="\n")
    else:
        _show(result, given.title, terminal)
        if json is not None:
            terminal.print(f"wrote {json}", soft_wrap=True, markup=False)
    if result.results[0].stopped:
        raise typer.Exit(int(ExitCode.STOPPED))


def parse_memory(text: str) -> int:
    """Bytes of "8GB" (powers of 1000), "8GiB" (powers of 1024) or plain bytes.

    >>> parse_memory("1.5 GiB")
    1610612736
    """
    found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([A-Za-z]*)\s*", text)
    if found and found[2].upper() in UNITS:
        size = int(float(found[1]) * UNITS[found[2].upper()])
        if size > 0:
            return size
    raise typer.BadParameter(f"{text!r} is no size: write 8GB, 8GiB, 500MB or bytes", param_hint="--memory")


def _parameters(
    operator: OperatorName, alpha: float | None, t: float | None, order: int | None
) -> dict[str, Any]:
    """Parameters of the operator that were given; those of another one are a mistake."""
    takers = {"alpha": ("ppr",), "t": ("heat",), "order": ("ppr", "heat")}
    given = {key: value for key, value in (("alpha", alpha), ("t", t), ("order", order)) if value is not None}
    for key in given:
        if operator.value not in takers[key]:
            hint = " or ".join(f"--operator {taker}" for taker in takers[key])
            raise typer.BadParameter(f"only {hint} takes it, not {operator.value}", param_hint=f"--{key}")
    return given


def _check_inputs(
    name: str | None, features: Path | None, edges: Path | None, edge_weights: str | None
) -> str | bool | None:
    """Either a name or both files; what to tell `as_graph` about weights."""
    if name is not None and (features is not None or edges is not None):
        raise typer.BadParameter("give either NAME or --features and --edges, not both", param_hint="NAME")
    if name is None and (features is None or edges is None):
        raise typer.BadParameter(
            "give the NAME of a data set, or both --features and --edges", param_hint="NAME"
        )
    if edge_weights is not None and edges is None:
        raise typer.BadParameter(
            "the named data sets have no weights: it needs --edges", param_hint="--edge-weights"
        )
    return True if edge_weights == "2" else edge_weights


@dataclass
class _Given:
    """What is to be measured: attributes, edges, and what to call them."""

    x: Any
    graph: Any
    title: str
    source: dict[str, str]


def _load(name: str | None, root: Path | None, features: Path | None, edges: Path | None) -> _Given:
    if name is None:
        from geodim.data.tables import read_table

        assert features is not None
        if edges is None or not edges.is_file():
            raise DataFileError(f"there is no file {edges}")
        source = {"features": str(features), "edges": str(edges)}
        return _Given(read_table(features), edges, f"{features}, {edges}", source)
    from geodim.data.datasets import DatasetNotFoundError, MissingEmbeddingError, load_dataset

    described = describe(name, root)
    try:
        data = load_dataset(described.name, root, offline=True)
    except MissingEmbeddingError:
        raise
    except DatasetNotFoundError as error:
        raise not_here(described, root) from error
    return _Given(data.x, data.edge_index, data.name, {"name": data.name})


def _measure(given: _Given, console: Any, hops: int, *, quiet: bool, **options: Any) -> KHopResult:
    """Compute, with a table that fills; errors in a file's values name the file."""
    from geodim.khop import khop_dimensions

    try:
        with _filling(given, console, hops, options, quiet=quiet) as progress:
            return khop_dimensions(given.x, given.graph, hops, progress=progress, **options)
    except (InputValueError, InputTypeError) as error:
        if "features" not in given.source or str(error).startswith(given.source["edges"]):
            raise
        raise type(error)(f"{given.title}: {error}") from error


@contextmanager
def _filling(
    given: _Given, console: Any, hops: int, options: dict[str, Any], *, quiet: bool
) -> Iterator[Callable[[int, int, Sequence[float]], None] | None]:
    """Table and bar with the time left, gone when done, absent where nobody is looking.

    The discriminability found so far can only grow: the dimension is at most what the table shows.
    """
    if quiet or not console.is_terminal:
        yield None
        return
    from rich.console import Group
    from rich.live import Live
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        SpinnerColumn,
        TextColumn,
        TimeRemainingColumn,
    )

    bar = Progress(
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("attributes,"),
        TimeRemainingColumn(),
        TextColumn("left (Ctrl-C keeps the bounds)"),
        console=console,
    )
    task = bar.add_task("checking values", total=None)
    empty = [(k, "...", "", "") for k in range(hops + 1)]
    with Live(Group(_table(given.title, empty), bar), console=console, transient=True) as live:
        scale = _largest_range(given.x) if options["normalize"] else 1.0

        def report(done: int, total: int, deltas: Sequence[float]) -> None:
            if done < bar.tasks[0].completed:  # a second and finer pass
                bar.reset(task)
            bar.update(task, description="solving", completed=done, total=total)
            most = [(scale / delta) ** 2 if delta > 0.0 else float("inf") for delta in deltas]
            rows = [(k, "...", f"at most {value:.6g}", "") for k, value in enumerate(most)]
            live.update(Group(_table(given.title, rows), bar), refresh=True)

        yield report


def _largest_range(x: Any) -> float:
    """d_max of the attributes."""
    from geodim.data.checks import scan_ranges
    from geodim.data.sources import as_source

    return float(scan_ranges(as_source(x)).d_max)


def _table(title: str, rows: list[tuple[int, str, str, str]]) -> Any:
    from rich.table import Table
    from rich.text import Text

    table = Table(title=Text(title, style="bold"), title_justify="left", box=None, header_style="bold")
    for heading in ("k", "intrinsic dimension", "certified bounds", "drop"):
        table.add_column(heading, justify="right", no_wrap=True)
    for k, dimension, bounds, drop in rows:
        table.add_row(str(k), Text(dimension, style="bold green"), bounds, drop)
    return table


def _show(result: KHopResult, title: str, terminal: Any) -> None:
    rows = [
        (
            row["k"],
            f"{row['dimension']:.6g}",
            "equal" if row["lower"] == row["upper"] else f"{row['lower']:.6g} .. {row['upper']:.6g}",
            "" if row["drop"] is None else f"{row['drop']:.1%}",
        )
        for row in result.rows()
    ]
    terminal.print(_table(title, rows))
    first, graph = result.results[0], result.graph
    threads = first.parameters.get("n_threads", 1)
    terminal.print(
        f"\n{first.n_points:,} nodes, {graph.get('n_edges', 0):,} undirected edges, {first.n_features:,} attributes; "
        f"operator {result.operator['operator']}; {result.results[-1].seconds:.3g} s on {threads} "
        f"thread{'' if threads == 1 else 's'}",
        soft_wrap=True,
    )


def _document(result: KHopResult, given: _Given) -> dict[str, Any]:
    """Everything but curves and shares."""
    values = result.to_dict(max_support=1)
    left_out = ("format", "support", "phi_lower", "phi_upper", "shares", "versions")
    scalars = [
        {"k": k, **{key: value for key, value in one.items() if key not in left_out}}
        for k, one in enumerate(values["results"])
    ]
    versions = values["results"][0]["versions"]
    return {**values, "format": FORMAT, **given.source, "results": scalars, "versions": versions}


@dataclass
class _Trial:
    """What a plan is made from: sizes, and a graph, the real one or a small one, on which times are taken."""

    title: str
    source: dict[str, str]
    n_nodes: int
    entries: int
    attributes: int
    threads: int
    x: Any
    operator: Any
    loaded: bool

    @property
    def tried_entries(self) -> int:
        """Stored entries of the graph at hand, whose times are taken."""
        matrix = getattr(self.operator, "transition", self.operator)
        return int(matrix.to_dict()["stored_entries"])

    @property
    def weight_bytes(self) -> int:
        """Weights of entries and self-loops."""
        matrix = getattr(self.operator, "transition", self.operator)
        return 8 * (self.entries + self.n_nodes) if matrix.to_dict()["weighted"] else 0


def _trial(
    name: str | None,
    root: Path | None,
    features: Path | None,
    edges: Path | None,
    weights: str | bool | None,
    operator: OperatorName,
    parameters: dict[str, Any],
    threads: int | None,
) -> _Trial:
    from geodim.data.graphs import as_graph
    from geodim.data.sources import as_source
    from geodim.engine.profile import available_threads
    from geodim.features import make_operator

    count = threads or available_threads()
    info = None if name is None else describe(name, root)
    if info is None or info.edges is None or (info.present and info.edges <= LOADED_EDGES):
        given = _load(name, root, features, edges)
        n, d = as_source(given.x).n_points, as_source(given.x).n_features
        graph = as_graph(given.graph, n, weights=weights, threads=count)
        made = make_operator(graph, operator.value, **parameters)
        return _Trial(given.title, given.source, n, len(graph.indices), d, count, given.x, made, loaded=True)
    import numpy as np

    assert info.nodes is not None
    assert info.attributes is not None
    rng = np.random.default_rng(0)
    graph = as_graph(rng.integers(SYNTHETIC_NODES, size=(2, SYNTHETIC_EDGES)), SYNTHETIC_NODES, threads=count)
    x = rng.standard_normal((SYNTHETIC_NODES, TRIED), np.float32)
    made = make_operator(graph, operator.value, **parameters)
    entries = (
        2 * info.edges
    )  # at most: an edge that is listed in both directions is stored twice, not four times
    return _Trial(
        info.name, {"name": info.name}, info.nodes, entries, info.attributes, count, x, made, loaded=False
    )


def _plan(trial: _Trial, hops: int, rtol: float, budget: int | None) -> HopPlan:
    """Plan the pass; one that does not fit is planned with the fewest columns in flight."""
    import numpy as np

    from geodim.data.sources import as_source
    from geodim.features import iter_hop_blocks
    from geodim.plan import NARROWEST, plan_hops

    some = slice(0, min(TRIED, as_source(trial.x).n_features))
    block = np.ascontiguousarray(next(iter_hop_blocks(trial.x, trial.operator, 0, some)))
    extra = trial.weight_bytes

    def planned(columns: int | None) -> HopPlan:
        return plan_hops(
            trial.n_nodes,
            trial.entries,
            trial.attributes,
            hops,
            itemsize=block.dtype.itemsize,
            threads=trial.threads,
            budget=None if budget is None else budget - extra,
            columns=columns,
            products=trial.operator.products,
            scratch_itemsize=trial.operator.scratch_itemsize,
        )

    if budget is None:  # as khop_dimensions chooses
        plan = planned(min(trial.attributes, max(16, (1 << 22) // trial.n_nodes // 16 * 16)))
    else:
        try:
            plan = planned(None)
        except InputValueError:
            plan = planned(min(NARROWEST, trial.attributes))
    seconds = _calibrate(trial, np.ascontiguousarray(block[:, : plan.columns]), hops, rtol)
    return replace(plan, memory=plan.memory + extra, budget=budget, seconds=seconds)


def _calibrate(trial: _Trial, block: Any, hops: int, rtol: float) -> float:
    """About how many seconds the pass takes.

    One block goes through the operator, a sample of the result through the solver; both are scaled linearly.  The
    first column is the dearest, since the others need only be solved where they exceed it.
    """
    import numpy as np

    mixed = np.empty_like(block)

    def apply() -> float:
        started = time.perf_counter()
        trial.operator.apply(block, mixed, threads=trial.threads)
        return time.perf_counter() - started

    once = min(apply() for _ in range(3))  # the first may compile
    work = (trial.tried_entries + trial.operator.n_nodes) * block.shape[1]
    applying = once / work * (trial.entries + trial.n_nodes) * trial.attributes * hops
    values = mixed if hops else block
    sample = np.asfortranarray(values[:: -(-len(values) // SAMPLE)])
    first, later = _time_columns(sample, rtol)
    columns = trial.attributes * (hops + 1)
    helpers = min(trial.threads, trial.attributes)
    solving = (first + later * (columns - 1)) * trial.n_nodes / sample.shape[0] / helpers
    return float(applying + solving)


def _time_columns(sample: Any, rtol: float) -> tuple[float, float]:
    """Seconds for the first of these columns, and for each of the others on average."""
    from geodim.dimension import intrinsic_dimension

    def measure(columns: int) -> float:
        times = []
        for _ in range(3):  # the first may compile
            started = time.perf_counter()
            intrinsic_dimension(sample[:, :columns], rtol=rtol, n_threads=1)
            times.append(time.perf_counter() - started)
        return min(times)

    count = sample.shape[1]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GeodimWarning)  # about a sample, which says nothing about the data
        first = measure(1)
        later = first if count == 1 else max(measure(count) - first, 0.0) / (count - 1)
    return first, later


def _show_plan(trial: _Trial, plan: HopPlan) -> None:
    """Print the plan; exit code 3 if it does not fit."""
    basis = (
        "this graph"
        if trial.loaded
        else f"a random graph of {SYNTHETIC_NODES:,} nodes, scaled: a large graph may take longer"
    )
    terminal = out()
    if not terminal.is_terminal:
        print_json(
            {
                "format": PLAN_FORMAT,
                **trial.source,
                **plan.to_dict(),
                "operator": trial.operator.to_dict()["operator"],
                "loaded": trial.loaded,
                "calibrated_on": basis,
            }
        )
    else:
        from rich.table import Table
        from rich.text import Text

        table = Table(
            title=Text(f"plan for {trial.title}", style="bold"),
            title_justify="left",
            show_header=False,
            box=None,
            padding=(0, 2, 0, 0),
        )
        at_most = "" if trial.loaded else "at most "
        fits = (
            ""
            if plan.budget is None
            else f", {'within' if plan.fits else 'MORE than'} {plan.budget / 1e9:.4g} GB"
        )
        for label, text in (
            ("nodes x attributes", f"{plan.n_nodes:,} x {plan.attributes:,}"),
            ("stored entries", f"{at_most}{plan.stored_entries:,}"),
            ("hops, threads", f"{plan.hops}, {plan.threads}"),
            ("peak memory", f"{plan.memory / 1e9:.4g} GB{fits}"),
            ("columns in flight", f"{plan.columns}"),
            ("passes over the graph", f"{plan.passes:,}"),
            ("time", f"about {_duration(plan.seconds or 0.0)}, from a trial on {basis}"),
        ):
            table.add_row(Text(label), Text(text, style="bold red" if "MORE" in text else ""))
        terminal.print(table)
    if plan.fits is False:
        raise typer.Exit(int(ExitCode.DATA))


def _duration(seconds: float) -> str:
    if seconds < 120.0:
        return f"{seconds:.2g} s" if seconds < 10.0 else f"{seconds:.0f} s"
    return f"{seconds / 60.0:.0f} min" if seconds < 7200.0 else f"{seconds / 3600.0:.1f} h"
