"""Bounds for ogbn-papers100M from a log-scale support sequence of length 100,000, for k = 0, ..., 5.

The paper settles for bounds here.  Ours come from the exact Phi, which one pass gives, and the exact
dimension stands beside them.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from geodim.experiments.experiment import Context, Cost, Experiment, Options, Unit
from geodim.experiments.inputs import all_hops, hop_cost, lacking, load
from geodim.experiments.printed import HOPS, printed
from geodim.experiments.support_sums import bounds_on_support
from geodim.experiments.verdicts import Claim, Comparison, absent, judge
from geodim.paper import log_scale_support

if TYPE_CHECKING:
    from geodim.data.datasets import GraphDataset
    from geodim.experiments.experiment import Rows

__all__ = ["EXPERIMENT", "bounds_of_hops"]

NAME = "papers100m"
DATASET = "ogbn-papers100M"
LENGTH = 100_000
BECAUSE = "the authors' features were summed in another order or type, or their file is another release"


def units(options: Options) -> list[Unit]:
    """Return one unit: one pass gives all k."""
    sizes = [int(number) for number in printed()["statistics"][DATASET].values()]
    one = hop_cost(sizes[0], sizes[1], sizes[2], HOPS - 1, options)
    results = 16 * sizes[0] * HOPS  # Phi and its support for every k
    cost = Cost(one.seconds, one.memory + results, one.note)
    unit = Unit(
        key={"dataset": DATASET, "hops": HOPS - 1, "length": LENGTH},
        cost=cost,
        work=lambda context: bounds_of_hops(load(DATASET, context.options), LENGTH, context),
        missing=lacking(DATASET, cost, options),
    )
    return [unit]


def bounds_of_hops(data: GraphDataset, length: int, context: Context) -> Rows:
    """Return the paper's bounds for every k, and the exact dimension.

    Parameters
    ----------
    data : GraphDataset
        The graph.
    length : int
        The length of the geometric sequence behind the support sequence.
    context : Context
        Threads, memory, deadline, progress.
    """
    result = all_hops(data, HOPS - 1, context, f"papers-{data.name.lower()}")
    support = np.array(log_scale_support(data.n_nodes, length=length))
    rows = []
    for k, one in enumerate(result):
        bounds = bounds_on_support(one.phi[support - 2], support, data.n_nodes, one.scale)
        rows.append(
            {
                "k": k,
                "lower": bounds.lower,
                "upper": bounds.upper,
                "error": bounds.error,
                "dimension": one.dimension,
                "support": support.size,
            }
        )
    return rows


def compare(rows: Rows) -> list[Comparison]:
    """Compare both bounds and the error for all k."""
    found = {row["k"]: row for row in rows}
    comparisons = []
    for quantity, words in (("lower", "lower dimension"), ("upper", "upper dimension"), ("error", "error E")):
        for k, number in enumerate(printed()["papers100M"][quantity]):
            where = (NAME, words, DATASET, f"k = {k}")
            if k in found:
                comparisons.append(judge(*where, number, found[k][quantity], because=BECAUSE))
            else:
                comparisons.append(absent(*where, number))
    return comparisons


def claims(rows: Rows) -> list[Claim]:
    """Return the sentence on whether the bounds tell the k apart."""
    found = sorted(rows, key=lambda row: row["k"])
    apart = [before["lower"] > after["upper"] for before, after in pairwise(found)]
    return [
        Claim(
            "ogbn-papers100M: the dimensions of different k are told apart by their bounds, with "
            "an accuracy of over 99.95 %.",
            all(apart) and all(row["error"] < 5e-4 for row in found) if found else None,
            f"largest E: {max(row['error'] for row in found):.2e}" if found else "",
        )
    ]


EXPERIMENT = Experiment(
    name=NAME,
    title="Bounds for ogbn-papers100M",
    source="Section 5.4, table of approximations",
    recipe=1,
    units=units,
    compare=compare,
    claims=claims,
)
