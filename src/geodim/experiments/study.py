"""Does the dimension predict accuracy?  Eighteen graphs, k = 0, ..., 5, ten trainings each.

The questions were written down before the first training (docs/study.md); `study_questions` answers them from
the rows of this module.
"""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from geodim.experiments.experiment import Context, Cost, Experiment, Options, StoppedError, Unit
from geodim.experiments.inputs import hop_cost
from geodim.experiments.study_graphs import GRAPHS, SPLITS, missing_graph, open_graph

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from geodim.experiments.experiment import Rows
    from geodim.experiments.study_graphs import StudyGraph

__all__ = ["EXPERIMENT"]

NAME = "study"
HOPS = 5
NEIGHBOURS = 5
SAMPLE = 2_000  # nodes that the MLE and TwoNN use, as points and as neighbours
LABELLED_SPLITS = 3  # splits whose training nodes are examined class by class
WIDEST = 5_000  # attributes up to which classes are examined one by one
HELD = 6 << 30  # bytes of hop features that a training holds
SAME = 1e-9  # of the longest row: distances below it are rounding
TRAINING_SECONDS = 1.5e-8  # per weight and epoch, of some sixty epochs
QUICK = ("cora", "texas", "wisconsin", "cornell")
QUICK_RUNS = 2


def units(options: Options) -> list[Unit]:
    """Return one unit per graph."""
    runs = options.repetitions or (QUICK_RUNS if options.quick else SPLITS)
    found = []
    for name, kind in GRAPHS.items():
        if options.quick and name not in QUICK:
            continue
        hops = hop_cost(kind.nodes, kind.edges, kind.attributes, HOPS, options)
        trained = 21 * runs * 60 * TRAINING_SECONDS * 64 * kind.attributes + 0.3 * runs
        found.append(
            Unit(
                key={"graph": name, "hops": HOPS, "runs": min(runs, SPLITS)},
                cost=Cost(hops.seconds + trained + 5.0, hops.memory + (1 << 30), f"{6 * runs} trainings"),
                work=partial(_work, name, min(runs, SPLITS)),
                missing=missing_graph(name, options),
            )
        )
    return found


def _work(name: str, runs: int, context: Context) -> Rows:
    from geodim.explain.advice import advise  # noqa: PLC0415
    from geodim.khop import khop_dimensions  # noqa: PLC0415

    graph = open_graph(name, context.options)
    result = khop_dimensions(graph.x, graph.edge_index, HOPS, n_threads=context.options.threads)
    context.progress(1, 4)
    others = _neighbour_estimates(graph, context.options)
    context.progress(2, 4)
    few = graph.x.shape[1] <= WIDEST
    ratios = _class_ratios(graph, context.options) if few else [None] * (HOPS + 1)
    context.progress(3, 4)
    accuracies = _accuracies(graph, runs, context)
    about: dict[str, Any] = {
        "nodes": len(graph.y),
        "attributes": int(graph.x.shape[1]),
        "classes": int(graph.y.max()) + 1,
        "homophily": graph.homophily,
        "heterophilous": GRAPHS[name].heterophilous,
        "advised": advise(result).hops,
    }
    return [
        {
            "k": k,
            "dimension": result.dimensions[k],
            "mle": others[k][0],
            "twonn": others[k][1],
            "class_ratio": ratios[k],
            "accuracy": float(np.mean([run[k][0] for run in accuracies])),
            "std": float(np.std([run[k][0] for run in accuracies], ddof=1)) if runs > 1 else 0.0,
            "valid_accuracy": float(np.mean([run[k][1] for run in accuracies])),
            **about,
        }
        for k in range(HOPS + 1)
    ]


def _rows_of_hops(graph: StudyGraph, nodes: NDArray[np.int64], options: Options) -> list[NDArray[np.float64]]:
    """Return the features of some nodes, one matrix for every hop, in float64."""
    from geodim.data.graphs import as_graph  # noqa: PLC0415
    from geodim.features import iter_hop_blocks, make_operator  # noqa: PLC0415

    operator = make_operator(as_graph(graph.edge_index, len(graph.y)), "sym")
    width = 256
    parts: list[list[NDArray[np.float64]]] = [[] for _ in range(HOPS + 1)]
    for first in range(0, graph.x.shape[1], width):
        columns = slice(first, min(first + width, graph.x.shape[1]))
        blocks = iter_hop_blocks(
            graph.x, operator, HOPS, columns, dtype=np.float64, n_threads=options.threads
        )
        for part, block in zip(parts, blocks, strict=True):
            part.append(np.array(block[nodes], np.float64))
    return [np.concatenate(part, axis=1) for part in parts]


def _neighbour_estimates(graph: StudyGraph, options: Options) -> list[tuple[float | None, float | None]]:
    """Return MLE and TwoNN for every k, on a sample of the nodes; None where they have no value."""
    from geodim.baselines import mle, two_nn  # noqa: PLC0415
    from geodim.errors import InputValueError  # noqa: PLC0415

    n = len(graph.y)
    nodes = np.sort(np.random.default_rng(0).choice(n, min(n, SAMPLE), replace=False))
    layers = _rows_of_hops(graph, nodes, options)
    found = []
    for k in range(HOPS + 1):
        matrix = np.concatenate(layers[: k + 1], axis=1)
        same = SAME * math.sqrt(float(np.einsum("ij,ij->i", matrix, matrix).max()))
        values: list[float | None] = []
        for estimator in (
            partial(mle, n_neighbors=NEIGHBOURS, variant="exact"),
            two_nn,
        ):
            try:
                value = estimator(matrix, resolution=same, n_threads=options.threads).dimension
                values.append(value if math.isfinite(value) else None)
            except InputValueError:  # no two distances that differ
                values.append(None)
        found.append((values[0], values[1]))
    return found


def _class_ratios(graph: StudyGraph, options: Options) -> list[float | None]:
    """Return how far features spread the nodes of one class, relative to all nodes: small is good.

    For the training nodes of the first splits: the mean of Delta within the classes over Delta of all nodes,
    in the same units.
    """
    from geodim.dimension import intrinsic_dimension  # noqa: PLC0415

    ratios = np.zeros((LABELLED_SPLITS, HOPS + 1))
    for at in range(LABELLED_SPLITS):
        train = graph.splits[at]["train"]
        layers = _rows_of_hops(graph, train, options)
        labels = graph.y[train]
        for k in range(HOPS + 1):
            matrix = np.concatenate(layers[: k + 1], axis=1)

            def delta(some: NDArray[np.bool_], matrix: NDArray[np.float64] = matrix) -> float:
                found = intrinsic_dimension(matrix[some], scale="none", rtol=1e-3, n_threads=options.threads)
                return found.discriminability

            classes = [one for one in np.unique(labels) if np.count_nonzero(labels == one) > 2]
            whole = delta(np.ones(len(train), bool))
            within = [delta(labels == one) for one in classes]
            ratios[at, k] = float(np.mean(within)) / whole if whole > 0.0 and within else math.nan
    return [float(value) if math.isfinite(value) else None for value in ratios.mean(axis=0)]


def _accuracies(graph: StudyGraph, runs: int, context: Context) -> list[list[tuple[float, float]]]:
    """Return test and validation accuracy of every run and k."""
    import time  # noqa: PLC0415

    from geodim.gnn import fit_sign, hop_inputs  # noqa: PLC0415
    from geodim.gnn.runs import run_seed  # noqa: PLC0415

    looked_at = np.unique(np.concatenate([part for split in graph.splits[:runs] for part in split.values()]))
    inputs = hop_inputs(graph.x, graph.edge_index, HOPS, nodes=looked_at, n_threads=context.options.threads)
    found = []
    for run in range(runs):
        row = []
        for k in range(HOPS + 1):
            if context.deadline is not None and time.monotonic() > context.deadline:
                raise StoppedError("stopped before all trainings of this graph were done: to be done again")
            fit = fit_sign(
                inputs,
                graph.y,
                graph.splits[run],
                k,
                seed=run_seed(0, k, run),
                device=context.options.device,
                memory=HELD,
            )
            row.append((fit.test_accuracy, fit.valid_accuracy))
        found.append(row)
        context.progress(3 + (run + 1) / runs, 4)
    return found


def _answers(rows: Rows) -> list[Any]:
    from geodim.experiments.study_questions import claims  # noqa: PLC0415

    return claims(rows)


def _tables(rows: Rows) -> list[Any]:
    from geodim.experiments.study_questions import tables  # noqa: PLC0415

    return tables(rows)


def _draw(rows: Rows) -> dict[str, Any]:
    from geodim.experiments.study_questions import draw  # noqa: PLC0415

    return draw(rows)


EXPERIMENT = Experiment(
    name=NAME,
    title="Does the dimension predict accuracy? Eighteen graphs",
    source="Beyond the paper: its conclusion, tested where it could fail",
    recipe=1,
    units=units,
    compare=lambda _rows: [],
    draw=_draw,
    claims=_answers,
    tables=_tables,
)
