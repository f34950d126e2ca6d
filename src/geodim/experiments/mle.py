"""The MLE baseline on the k-hop data sets, k = 0, ..., 5.

This is the middle part of the paper's main table, and what is behind it.  Every number is computed twice.
Soundly: hops in float64 with sums that do not depend on the order, and distances from differences, so that
rows which are equal by mathematics have distance 0 and are left out.  And with the paper's arithmetic: hops
by plain float32 sums and distances from scalar products, where such rows come out about 1e-8 apart and
enter the mean of logarithms.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from geodim.display.table import ReportTable
from geodim.engine.parts import thread_count
from geodim.experiments.experiment import Context, Cost, Experiment, Options, Unit
from geodim.experiments.inputs import load, missing_data
from geodim.experiments.machine import slowness
from geodim.experiments.printed import DATASETS, HOPS, printed
from geodim.experiments.verdicts import Comparison, absent, judge, rounds_to

if TYPE_CHECKING:
    from geodim.experiments.experiment import Rows

__all__ = ["EXPERIMENT", "estimates"]

NAME = "mle"
NEIGHBOURS = 5
SAMPLE = 169_343  # points that the paper uses in larger data sets
SECONDS = 0.6e-10  # per pair of points and feature, soundly; several times that with the paper's arithmetic
PUBLISHED = 3.0
QUICK = (("Cora", 0), ("Cora", 1), ("Cora", 2), ("CiteSeer", 0), ("PubMed", 0))
TRAP = (
    "rows that are equal by mathematics differ by about 1e-8 after float32 sums, and these false tiny "
    "distances dominate the mean of logarithms"
)


def units(options: Options) -> list[Unit]:
    """Return one unit per data set and k."""
    pairs = QUICK if options.quick else [(name, k) for name in DATASETS for k in range(HOPS)]
    return [_unit(name, k, options) for name, k in pairs]


def _unit(name: str, k: int, options: Options) -> Unit:
    nodes, _, attributes = (int(number) for number in printed()["statistics"][name].values())
    threads = thread_count(options.threads)
    work = nodes * min(nodes, SAMPLE) * attributes * (k + 1)
    return Unit(
        key={"dataset": name, "k": k, "neighbours": NEIGHBOURS},
        cost=Cost(
            1.0 + (1.0 + PUBLISHED) * SECONDS * work / threads * slowness(),
            (1 << 28) + 20 * nodes * attributes * (k + 1),
            f"{threads} threads",
        ),
        work=lambda context: _work(name, k, context),
        missing=missing_data(name, options),
    )


def _work(name: str, k: int, context: Context) -> Rows:
    from geodim.baselines import khop_points  # noqa: PLC0415
    from geodim.baselines.khop import published_hops  # noqa: PLC0415
    from geodim.baselines.mle import mle_of_points  # noqa: PLC0415
    from geodim.baselines.points import Points  # noqa: PLC0415

    data = load(name, context.options)
    options: dict[str, Any] = {"n_samples": SAMPLE, "seed": 0, "n_threads": context.options.threads}
    made = khop_points(data.x, data.edge_index, k, n_threads=context.options.threads)
    sound = mle_of_points(made.points(k), NEIGHBOURS, variant="exact", **options)
    del made
    context.progress(1, 1 + PUBLISHED)
    parts = published_hops(data.x, data.edge_index, k)
    published = mle_of_points(Points(np.concatenate(parts, axis=1)), NEIGHBOURS, variant="paper", **options)
    return [
        {
            "sound": sound.dimension,
            "sound_zero": sound.n_zero,
            "paper_like": published.dimension,
            "paper_like_zero": published.n_zero,
            "points": sound.parameters["n_samples"],
        }
    ]


def estimates(rows: Rows) -> dict[str, list[float]]:
    """Return sound estimates for k = 0, 1, ..., by data set, as far as there is no gap."""
    by_hop = {(row["dataset"], row["k"]): row["sound"] for row in rows}
    found: dict[str, list[float]] = {}
    for name in DATASETS:
        values: list[float] = []
        while (name, len(values)) in by_hop:
            values.append(by_hop[name, len(values)])
        if values:
            found[name] = values
    return found


def compare(rows: Rows) -> list[Comparison]:
    """Compare all six data sets and all k; the sound estimate is ours."""
    found = {(row["dataset"], row["k"]): row for row in rows}
    comparisons = []
    for name in DATASETS:
        for k, number in enumerate(printed()["khop_mle"][name]):
            where = (NAME, "MLE", name, f"k = {k}")
            row = found.get((name, k))
            if row is None:
                comparisons.append(absent(*where, number))
                continue
            same = rounds_to(row["paper_like"], number)
            outcome = "which rounds to the printed digits" if same else "which depends on the machine"
            because = f"{TRAP}; with the paper's arithmetic it is {row['paper_like']:.4f}, {outcome}"
            if row["points"] < int(printed()["statistics"][name]["nodes"]):
                because = f"another sample of {row['points']:,} points was drawn; and {because}"
            comparisons.append(judge(*where, number, row["sound"], because=because))
    return comparisons


def tables(rows: Rows) -> list[ReportTable]:
    """Show the trap in numbers: printed, with the paper's arithmetic, soundly, and zero distances."""
    found = sorted(rows, key=lambda row: (DATASETS.index(row["dataset"]), row["k"]))
    if not found:
        return []
    lines = [
        [
            row["dataset"],
            str(row["k"]),
            printed()["khop_mle"][row["dataset"]][row["k"]],
            f"{row['paper_like']:.4f}",
            f"{row['sound']:.4f}",
            f"{row['paper_like_zero']}",
            f"{row['sound_zero']}",
        ]
        for row in found
    ]
    head = [
        "data",
        "k",
        "printed",
        "paper's arithmetic",
        "sound",
        "its zero distances",
        "sound zero distances",
    ]
    return [ReportTable(head, lines, {1, 2, 3, 4, 5, 6})]


def notes(rows: Rows) -> list[str]:
    """Explain in words how equal rows mislead the estimator."""
    if not rows:
        return []
    same = sum(rounds_to(row["paper_like"], printed()["khop_mle"][row["dataset"]][row["k"]]) for row in rows)
    trap = (
        f"At k = 0 nothing is summed, and both ways agree. From k = 1 on, {TRAP}: a distance of 1e-8 beside "
        "one of 0.1 counts with a logarithm of 16, where others have less than 1. The more hops, the fewer "
        "of the truly zero distances come out as zero, and the lower falls the estimate."
    )
    again = (
        f"With the paper's arithmetic {same} of {len(rows)} numbers round to the printed digits. They are a "
        "property of that arithmetic: other orders of summation give others."
    )
    return [trap, again]


EXPERIMENT = Experiment(
    name=NAME,
    title="MLE baseline on k-hop data sets",
    source="Section 5.2, table of dimensions and accuracies, middle part",
    recipe=1,
    units=units,
    compare=compare,
    notes=notes,
    tables=tables,
)
