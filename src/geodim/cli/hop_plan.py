"""``geodim hops --dry-run``: memory, passes and time before anything is computed."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from geodim.cli.datasets import describe
from geodim.cli.hop_inputs import OperatorName, load
from geodim.cli.planning import BackendName, planned, show
from geodim.cli.reading_plan import ready

if TYPE_CHECKING:
    from pathlib import Path

    from geodim.planning.reading import Reading
    from geodim.plans import CoreRates, Plan, Problem

LOADED_EDGES = 5_000_000  # beyond this, a plan is made from the sizes alone: a plan must be quick
SYNTHETIC_NODES, SYNTHETIC_EDGES = 1 << 17, 1_000_000


@dataclass
class Trial:
    """What a plan is made from: sizes, and the real graph or a small one, on which times are measured."""

    title: str
    source: dict[str, str]
    n_nodes: int
    entries: int
    attributes: int
    threads: int
    x: Any
    operator: Any
    loaded: bool
    reading: Reading
    dtype: str | None = None

    @property
    def tried_entries(self) -> int:
        """Stored entries of the loaded graph, on which times are measured."""
        matrix = getattr(self.operator, "transition", self.operator)
        return int(matrix.to_dict()["stored_entries"])

    @property
    def weighted(self) -> bool:
        """Whether the loaded graph has weights."""
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
    header: bool | None = None,
) -> Trial:
    """Load the real graph, or make a small one if the real one is absent or large."""
    from geodim.data.graphs import as_graph
    from geodim.data.sources import as_source
    from geodim.engine.parts import thread_count
    from geodim.features import make_operator
    from geodim.planning.reading import Reading

    count = thread_count(threads)
    info = None if name is None else describe(name, root)
    if info is None or info.edges is None or (info.present and info.edges <= LOADED_EDGES):
        if features is not None:
            ready(features)
        started = time.perf_counter()
        given = load(name, root, features, edges, header=header)
        n, d = as_source(given.x).n_points, as_source(given.x).n_features
        graph = as_graph(given.graph, n, edge_weights=weights, n_threads=count)
        made = make_operator(graph, operator.value, **parameters)
        reading = Reading(time.perf_counter() - started, 0)  # the memory of the graph is part of the plan
        return Trial(
            given.title, given.source, n, len(graph.indices), d, count, given.x, made, loaded=True,
            reading=reading,
        )  # fmt: skip
    import numpy as np

    from geodim.plans import TRIED

    assert info.nodes is not None
    assert info.attributes is not None
    rng = np.random.default_rng(0)
    graph = as_graph(
        rng.integers(SYNTHETIC_NODES, size=(2, SYNTHETIC_EDGES)), SYNTHETIC_NODES, n_threads=count
    )
    x = rng.standard_normal((SYNTHETIC_NODES, TRIED), np.float32)
    made = make_operator(graph, operator.value, **parameters)
    # At most: an edge that is listed in both directions is stored twice, not four times.
    entries = 2 * info.edges
    return Trial(
        info.name, {"name": info.name}, info.nodes, entries, info.attributes, count, x, made, loaded=False,
        reading=Reading(0.0, 0, "the time to read the files, and to convert them once, is not counted"),
    )  # fmt: skip


def problem_of(trial: Trial, hops: int, rtol: float) -> tuple[Problem, CoreRates]:
    """Return the sizes of the pass, and rates from a trial.

    In the trial one block goes through the operator, and a sample of it is solved.
    """
    import numpy as np

    from geodim.data.sources import as_source
    from geodim.features import iter_hop_blocks
    from geodim.planning.rates import speed_up
    from geodim.plans import CORE, SAMPLE, TRIED, Problem, best_of, calibrate

    some = slice(0, min(TRIED, as_source(trial.x).n_features))
    block = np.ascontiguousarray(next(iter_hop_blocks(trial.x, trial.operator, 0, some, dtype=trial.dtype)))
    problem = Problem(
        trial.n_nodes,
        trial.attributes,
        block.dtype.itemsize,
        rtol,
        hops=hops,
        stored_entries=trial.entries,
        products=trial.operator.products,
        scratch_itemsize=trial.operator.scratch_itemsize,
        weighted=trial.weighted,
        held=True,
        apart=False,
    )
    mixed = np.empty_like(block)
    once = best_of(lambda: trial.operator.apply(block, mixed, n_threads=trial.threads))
    work = (trial.tried_entries + trial.operator.n_nodes) * block.shape[1] * trial.operator.products
    values = mixed if hops else block
    sample = np.ascontiguousarray(values[:: -(-len(values) // SAMPLE)])
    rates = calibrate(sample, f"a trial on {basis_of(trial)}", CORE)
    return problem, replace(rates, product=once / work * speed_up(trial.threads))


def make_plan(
    trial: Trial,
    hops: int,
    rtol: float,
    budget: int | None,
    *,
    backend: BackendName = BackendName.auto,
    scheduler: str | None = None,
    workers: int | None = None,
    worker_memory: str | None = None,
) -> Plan:
    """Plan the pass; one that does not fit is planned with the fewest columns in flight."""
    from geodim.planning.reading import with_reading

    problem, rates = problem_of(trial, hops, rtol)
    plan = planned(
        problem,
        rates,
        backend=backend,
        scheduler=scheduler,
        workers=workers,
        worker_memory=worker_memory,
        threads=trial.threads,
        budget=budget,
    )
    return with_reading(plan, trial.reading)


def basis_of(trial: Trial) -> str:
    """Describe the graph on which times were measured."""
    if trial.loaded:
        return "this graph"
    return f"a random graph of {SYNTHETIC_NODES:,} nodes, scaled: a large graph may take longer"


def show_plan(trial: Trial, plan: Plan, json: Path | None = None) -> None:
    """Print the plan, or write it to a file as well; exit code 3 if it does not fit."""
    more = {"operator": trial.operator.to_dict()["operator"], "loaded": trial.loaded}
    show(plan, trial.title, trial.source, more, at_most="" if trial.loaded else "at most ", json=json)
