"""``geodim hops --dry-run``: memory, passes and time before anything is computed."""

from __future__ import annotations

import time
import warnings
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import typer

from geodim.cli.console import out, print_json
from geodim.cli.datasets import describe
from geodim.cli.exits import ExitCode
from geodim.cli.hop_inputs import OperatorName, load
from geodim.errors import GeodimWarning, InputValueError

if TYPE_CHECKING:
    from pathlib import Path

    from geodim.plan import HopPlan

PLAN_FORMAT = "geodim.plan/1"
LOADED_EDGES = 5_000_000  # a plan for a data set beyond this is made from its sizes: nobody waits for a plan
SAMPLE = 200_000  # values of a column that are solved to learn how long a column takes
TRIED = 16  # columns of the block on which times are taken
SYNTHETIC_NODES, SYNTHETIC_EDGES = 1 << 17, 1_000_000


@dataclass
class Trial:
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
    def weighted(self) -> bool:
        """Whether the graph at hand has weights."""
        return bool(getattr(self.operator, "transition", self.operator).to_dict()["weighted"])


def make_trial(
    name: str | None,
    root: Path | None,
    features: Path | None,
    edges: Path | None,
    weights: str | bool | None,
    operator: OperatorName,
    parameters: dict[str, Any],
    threads: int | None,
) -> Trial:
    """Look at the real graph, or make a small one if the real one is absent or large."""
    from geodim.data.graphs import as_graph
    from geodim.data.sources import as_source
    from geodim.engine.profile import available_threads
    from geodim.features import make_operator

    count = threads or available_threads()
    info = None if name is None else describe(name, root)
    if info is None or info.edges is None or (info.present and info.edges <= LOADED_EDGES):
        given = load(name, root, features, edges)
        n, d = as_source(given.x).n_points, as_source(given.x).n_features
        graph = as_graph(given.graph, n, weights=weights, threads=count)
        made = make_operator(graph, operator.value, **parameters)
        return Trial(given.title, given.source, n, len(graph.indices), d, count, given.x, made, loaded=True)
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
    return Trial(
        info.name, {"name": info.name}, info.nodes, entries, info.attributes, count, x, made, loaded=False
    )


def make_plan(trial: Trial, hops: int, rtol: float, budget: int | None) -> HopPlan:
    """Plan the pass; one that does not fit is planned with the fewest columns in flight."""
    import numpy as np

    from geodim.data.sources import as_source
    from geodim.features import iter_hop_blocks
    from geodim.plan import NARROWEST, plan_hops

    some = slice(0, min(TRIED, as_source(trial.x).n_features))
    block = np.ascontiguousarray(next(iter_hop_blocks(trial.x, trial.operator, 0, some)))

    def planned(columns: int | None) -> HopPlan:
        return plan_hops(
            trial.n_nodes,
            trial.entries,
            trial.attributes,
            hops,
            itemsize=block.dtype.itemsize,
            threads=trial.threads,
            budget=budget,
            columns=columns,
            products=trial.operator.products,
            scratch_itemsize=trial.operator.scratch_itemsize,
            weighted=trial.weighted,
        )

    if budget is None:  # as khop_dimensions chooses
        plan = planned(None)
    else:
        try:
            plan = planned(None)
        except InputValueError:
            plan = planned(min(NARROWEST, trial.attributes))
    seconds = _calibrate(trial, np.ascontiguousarray(block[:, : plan.columns]), hops, rtol)
    return replace(plan, seconds=seconds)


def _calibrate(trial: Trial, block: Any, hops: int, rtol: float) -> float:
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


def show_plan(trial: Trial, plan: HopPlan) -> None:
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
