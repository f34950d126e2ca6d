"""Intrinsic dimension of the k-hop data sets, k = 0, ..., 5: the upper part of the paper's main table."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from geodim.experiments.experiment import Context, Experiment, Options, Unit
from geodim.experiments.inputs import all_hops, hop_cost, lacking, load
from geodim.experiments.printed import DATASETS, HOPS, printed
from geodim.experiments.verdicts import Claim, Comparison, absent, judge
from geodim.words import short

if TYPE_CHECKING:
    from geodim.experiments.experiment import Rows

__all__ = ["EXPERIMENT", "dimensions"]

NAME = "khop"
BECAUSE = (
    "the files at hand are not the authors', or their features were rounded otherwise than to float32 "
    "(ogbn-mag has metapath2vec vectors that differ from training to training)"
)


def units(options: Options) -> list[Unit]:
    """Return one unit per data set: one pass gives all k."""
    found = []
    for name in DATASETS:
        sizes = [int(number) for number in printed()["statistics"][name].values()]
        cost = hop_cost(sizes[0], sizes[1], sizes[2], HOPS - 1, options)
        found.append(
            Unit(
                key={"dataset": name, "hops": HOPS - 1},
                cost=cost,
                work=partial(_work, name),
                missing=lacking(name, cost, options),
            )
        )
    return found


def _work(name: str, context: Context) -> Rows:
    result = all_hops(load(name, context.options), HOPS - 1, context, f"khop-{name.lower()}")
    return [
        {
            "k": row["k"],
            "dimension": row["dimension"],
            "discriminability": row["discriminability"],
            "drop": row["drop"],
            "exact": row["exact"],
        }
        for row in result.rows()
    ]


def dimensions(rows: Rows) -> dict[str, list[float]]:
    """Return the dimensions for k = 0, 1, ..., by data set."""
    found: dict[str, list[float]] = {}
    for row in sorted(rows, key=lambda row: row["k"]):
        found.setdefault(row["dataset"], []).append(row["dimension"])
    return found


def compare(rows: Rows) -> list[Comparison]:
    """Compare all six data sets and all k."""
    found = dimensions(rows)
    comparisons = []
    for name in DATASETS:
        for k, number in enumerate(printed()["khop_id"][name]):
            where = (NAME, "intrinsic dimension", name, f"k = {k}")
            if name in found:
                comparisons.append(judge(*where, number, found[name][k], because=BECAUSE))
            else:
                comparisons.append(absent(*where, number))
    return comparisons


def claims(rows: Rows) -> list[Claim]:
    """Return the paper's conclusions from the table."""
    found = dimensions(rows)
    firsts = {name: (some[0] - some[1]) / (some[0] - some[-1]) for name, some in found.items()}
    least = {name: share for name, share in firsts.items() if share < 0.5}
    shares = ", ".join(f"{name} {share:.0%}" for name, share in firsts.items())
    first = Claim(
        "One iteration of neighbourhood aggregation always leads to a huge drop of the "
        "dimension; consecutive ones only to a small decrease, but for PubMed, where the "
        "second is comparable to the first.",
        None if not found else set(least) <= {"PubMed"} and all(share > 0.3 for share in firsts.values()),
        f"share of the whole drop over k = 1, ..., 5 that the first iteration brings: {shares}"
        if found
        else "",
    )
    return [first]


def draw(rows: Rows) -> dict[str, Any]:
    """Plot the dimension over k relative to k = 0, since data sets are orders of magnitude apart."""
    from geodim.display import style  # noqa: PLC0415

    found = dimensions(rows)
    if not found:
        return {}
    figure = style.new_figure(5.2, 3.2)
    ax = figure.add_subplot()
    for at, (name, some) in enumerate(found.items()):
        relative = [value / some[0] for value in some]
        ax.plot(relative, **style.curve_style(at), markersize=4, label=style.plain(short(name)))
    ax.set_xlabel("$k$, number of hops")
    ax.set_ylabel("intrinsic dimension, $k = 0$ is 1")
    ax.set_ylim(0.0, 1.05)
    style.finish(ax, None)
    style.add_legend(ax)
    return {"khop": figure}


EXPERIMENT = Experiment(
    name=NAME,
    title="Intrinsic dimension of k-hop geometric data sets",
    source="Section 5.2, table of dimensions and accuracies, upper part",
    recipe=1,
    units=units,
    compare=compare,
    draw=draw,
    claims=claims,
)
