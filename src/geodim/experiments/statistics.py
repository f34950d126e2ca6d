"""Statistics of the data sets: nodes, edges and attributes, counted in the files themselves."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from geodim.experiments.experiment import Context, Cost, Experiment, Options, Unit
from geodim.experiments.inputs import load, missing_data
from geodim.experiments.printed import printed
from geodim.experiments.verdicts import Comparison, absent, judge

if TYPE_CHECKING:
    from geodim.experiments.experiment import Rows

__all__ = ["EXPERIMENT"]

NAME = "statistics"


def units(options: Options) -> list[Unit]:
    """Return one unit per data set."""
    found = []
    for name, table in printed()["statistics"].items():
        edges = int(table["edges"])
        # The first opening converts the files to arrays, about as fast as they can be unpacked.
        cost = Cost(1.0 + 4e-6 * edges if edges > 10**6 else 0.3, 1 << 28)
        found.append(
            Unit(
                key={"dataset": name},
                cost=cost,
                work=partial(_work, name),
                missing=missing_data(name, options),
            )
        )
    return found


def _work(name: str, context: Context) -> Rows:
    data = load(name, context.options)
    return [{"nodes": data.n_nodes, "edges": data.n_listed, "attributes": data.n_attributes}]


def compare(rows: Rows) -> list[Comparison]:
    """Compare every count with the printed one."""
    found = {row["dataset"]: row for row in rows}
    comparisons = []
    for name, table in printed()["statistics"].items():
        for quantity, number in table.items():
            where = (NAME, quantity, name, "")
            if name not in found:
                comparisons.append(absent(*where, number))
                continue
            because = "the files at hand are another release of the data"
            comparisons.append(judge(*where, number, float(found[name][quantity]), because=because))
    return comparisons


EXPERIMENT = Experiment(
    name=NAME,
    title="Statistics of all data sets",
    source="Section 5, table of statistics",
    recipe=1,
    units=units,
    compare=compare,
)
