"""Test accuracies of SIGN on the k-hop features, k = 0, ..., 5: the lower part of the main table."""

from __future__ import annotations

import time
import warnings
from functools import partial
from typing import TYPE_CHECKING, Any

from geodim.errors import InterruptedWarning
from geodim.experiments.experiment import Context, Cost, Experiment, Options, StoppedError, Unit
from geodim.experiments.inputs import load, missing_data
from geodim.experiments.machine import slowness
from geodim.experiments.printed import DATASETS, HOPS, printed
from geodim.experiments.verdicts import Comparison, absent, judge, spread_tolerance

if TYPE_CHECKING:
    from geodim.experiments.experiment import Rows

__all__ = ["EXPERIMENT", "accuracies"]

NAME = "sign"
REPETITIONS = 10
QUICK_REPETITIONS, QUICK_HOPS = 2, 3
BASE_MEMORY = 1 << 29  # PyTorch itself
PLANETOID = ("PubMed", "Cora", "CiteSeer")
BECAUSE = (
    "the paper leaves open details of the training (which epoch is tested, the kind of weight decay, the "
    "batch norm), and trainings start from random weights"
)


def units(options: Options) -> list[Unit]:
    """Return one unit per data set, whose hops are computed once.

    Finished trainings of an unfinished unit are kept.
    """
    from geodim.gnn import estimate_cost  # noqa: PLC0415

    hops = list(range(QUICK_HOPS if options.quick else HOPS))
    repetitions = options.repetitions or (QUICK_REPETITIONS if options.quick else REPETITIONS)
    found = []
    for name in PLANETOID if options.quick else DATASETS:
        cost = estimate_cost(name, hops, repetitions)
        found.append(
            Unit(
                key={"dataset": name, "hops": hops, "repetitions": repetitions},
                cost=Cost(
                    cost.seconds * slowness() + 3.0, cost.memory + BASE_MEMORY, f"{cost.runs} trainings"
                ),
                work=partial(_work, name, hops, repetitions),
                missing=missing_data(name, options),
            )
        )
    return found


def _work(name: str, hops: list[int], repetitions: int, context: Context) -> Rows:
    from geodim.gnn import run_grid, summarise_runs  # noqa: PLC0415

    data = load(name, context.options)
    limit = None if context.deadline is None else max(0.0, context.deadline - time.monotonic())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", InterruptedWarning)  # said by the error below
        runs = run_grid(
            data,
            hops,
            repetitions,
            checkpoint=context.state / "sign",
            n_threads=context.options.threads,
            time_limit=limit,
            progress=context.progress,
        )
    if len(runs) < len(hops) * repetitions:
        raise StoppedError(
            f"stopped after {len(runs)} of {len(hops) * repetitions} trainings, which are kept"
        )
    return [
        {
            "k": row["k"],
            "runs": row["runs"],
            "accuracy": row["mean"],
            "std": row["std"],
            "valid_accuracy": row["valid_mean"],
            "epochs": row["epochs_mean"],
        }
        for row in summarise_runs(runs)
    ]


def best_rows(rows: Rows) -> dict[str, dict[int, dict[str, Any]]]:
    """Return for every data set and k the row of most trainings."""
    found: dict[str, dict[int, dict[str, Any]]] = {}
    for row in sorted(rows, key=lambda row: row["runs"]):
        found.setdefault(row["dataset"], {})[row["k"]] = row
    return found


def accuracies(rows: Rows) -> dict[str, list[float]]:
    """Return mean accuracies for k = 0, 1, ..., by data set, as far as there is no gap."""
    found: dict[str, list[float]] = {}
    for name, by_hop in best_rows(rows).items():
        values = found.setdefault(name, [])
        while len(values) in by_hop:
            values.append(by_hop[len(values)]["accuracy"])
    return found


def compare(rows: Rows) -> list[Comparison]:
    """Compare all six data sets and all k."""
    found = best_rows(rows)
    comparisons = []
    for name in DATASETS:
        pairs = zip(printed()["sign_accuracy_mean"][name], printed()["sign_accuracy_std"][name], strict=True)
        for k, (number, spread) in enumerate(pairs):
            where = (NAME, "test accuracy", name, f"k = {k}")
            row = found.get(name, {}).get(k)
            if row is None:
                comparisons.append(absent(*where, number, printed_spread=spread))
                continue
            few = f"{row['runs']} of {REPETITIONS} trainings" if row["runs"] < REPETITIONS else ""
            comparisons.append(
                judge(
                    *where,
                    number,
                    row["accuracy"],
                    because=f"{few + '; ' if few else ''}{BECAUSE}",
                    printed_spread=spread,
                    our_spread=row["std"],
                    tolerance=spread_tolerance(spread),
                    note=few,
                )
            )
    return comparisons


EXPERIMENT = Experiment(
    name=NAME,
    title="Test accuracy of SIGN classifiers",
    source="Section 5.2, table of dimensions and accuracies, lower part",
    recipe=1,
    units=units,
    compare=compare,
    notes=lambda rows: (
        ["Within the paper's own spread means: at most two of its standard deviations apart, or 1.5 points."]
        if rows
        else []
    ),
)
