"""Two dimensions of binary data side by side: by concepts, against the minimum support, and by distances.

For each data set: certified bounds on the dimension by formal concepts (Hanika and Hille) for falling minimum
supports, the normalised correlation dimension (Tatti, Mielikäinen, Gionis and Mannila), and both again with
every column shuffled on its own, which keeps how often an attribute occurs and destroys what occurs
together.
"""

from __future__ import annotations

import math
import time
import warnings
from functools import partial
from typing import TYPE_CHECKING, Any

from geodim.display.table import ReportTable
from geodim.experiments.binary_data import DATA, columns_apart, missing_data, open_data
from geodim.experiments.experiment import Context, Cost, Experiment, Options, StoppedError, Unit
from geodim.experiments.machine import slowness

if TYPE_CHECKING:
    from geodim.concepts.supports import SupportCurve
    from geodim.experiments.experiment import Row, Rows

__all__ = ["EXPERIMENT", "agreement", "agreement_beyond_density", "summary"]

NAME = "binary"
LIMIT, SHUFFLED_LIMIT = 30.0, 15.0  # seconds for a curve
QUICK = ("cora", "digits", "breast cancer", "independent columns")
QUICK_LIMIT = 3.0
LARGEST = 1e300  # JSON has no infinity
# Where labels of neighbours would meet, in points above the dot.
BELOW = {"breast cancer": -7, "wine": 5, "wisconsin": -6, "squirrel_filtered": -6, "amazon_cs": -7}
FEWEST = 6  # data sets for a rank correlation
SHOWN = ("citeseer", "squirrel_filtered", "baskets", "digits", "breast cancer")


def units(options: Options) -> list[Unit]:
    """Return one unit per data set."""
    limit, shuffled = (QUICK_LIMIT, QUICK_LIMIT) if options.quick else (LIMIT, SHUFFLED_LIMIT)
    return [
        Unit(
            key={"data": name, "limit": limit},
            cost=Cost((0.5 * (limit + shuffled) + 2.0) * slowness(), 1 << 30, "two searches and all pairs"),
            work=partial(_work, name, limit, shuffled),
            missing=missing_data(name, options),
        )
        for name in DATA
        if not options.quick or name in QUICK
    ]


def _work(name: str, limit: float, shuffled_limit: float, context: Context) -> Rows:
    from geodim.concepts.correlation import binary_correlation_dimension  # noqa: PLC0415

    X = open_data(name, context.options)
    curve = _curve(X, limit, context)
    context.progress(2, 5)
    found = binary_correlation_dimension(X)
    context.progress(3, 5)
    apart = columns_apart(X)
    by_chance = _curve(apart, shuffled_limit, context)
    context.progress(4, 5)
    distances_apart = binary_correlation_dimension(apart)
    about: Row = {
        "objects": curve.n_objects,
        "attributes": curve.n_attributes,
        "density": float(X.sum()) / (curve.n_objects * curve.n_attributes),
        "correlation": found.dimension,
        "independent": found.independent,
        "normalized": found.normalized_dimension,
        "approximate": found.approximate,
        "shuffled_lower": by_chance.lower[-1],
        "shuffled_upper": min(by_chance.upper[-1], LARGEST),
        "shuffled_normalized": distances_apart.normalized_dimension,
    }
    bounds = ("lower", "upper", "frequent_lower", "frequent_upper")
    return [
        {
            "support": row["support"],
            **{side: min(row[side], LARGEST) for side in bounds},
            "exact": row["exact"],
            "curve_seconds": round(row["seconds"], 3),
            "finished": curve.stopped is None or row["support"] != curve.supports[-1],
            **about,
        }
        for row in curve.rows()
    ]


def _curve(X: Any, limit: float, context: Context) -> SupportCurve:  # noqa: ANN401 - any binary data
    from geodim.concepts.supports import support_curve  # noqa: PLC0415
    from geodim.errors import InterruptedWarning  # noqa: PLC0415

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", InterruptedWarning)
        curve = support_curve(X, time_limit=limit)
    late = context.deadline is not None and time.monotonic() > context.deadline
    if curve.stopped == "interrupted" or (curve.stopped and late):
        raise StoppedError("stopped before both dimensions of this data were known: to be done again")
    return curve


def summary(rows: Rows) -> list[Row]:
    """Return the smallest support of every data set, with a single number where bounds are all that is known.

    ``dimension`` is the geometric mean of the bounds; ``relative`` its ratio to that of shuffled columns, and
    ``relative_normalized`` that of the normalised correlation dimension to the number of attributes.
    """
    last: dict[str, Row] = {}
    for row in rows:
        if row["data"] not in last or row["support"] < last[row["data"]]["support"]:
            last[row["data"]] = row
    found = []
    for row in last.values():
        dimension = math.sqrt(row["lower"] * row["upper"])
        by_chance = math.sqrt(row["shuffled_lower"] * row["shuffled_upper"])
        found.append(
            {
                **row,
                "dimension": dimension,
                "relative": dimension / by_chance,
                "relative_normalized": row["normalized"] / row["attributes"],
            }
        )
    return found


def agreement(rows: Rows) -> dict[str, tuple[int, float, float]]:
    """Return Spearman's rank correlation over the data sets: their number, rho, and p on two sides.

    There are those of both dimensions as they are, also without data for which only bounds are known; of each
    with the number of attributes and with density; and of both relative to independent columns.
    """
    some = summary(rows)
    wanted = {
        "both dimensions": ("dimension", "normalized"),
        "by concepts, attributes": ("dimension", "attributes"),
        "by distances, attributes": ("normalized", "attributes"),
        "by concepts, density": ("dimension", "density"),
        "by distances, density": ("normalized", "density"),
        "both, relative": ("relative", "relative_normalized"),
    }
    found = {}
    for name, (first, second) in wanted.items():
        for words, which in ((name, some), (f"{name}, exact", [row for row in some if row["exact"]])):
            found[words] = _rank_correlation([row[first] for row in which], [row[second] for row in which])
    return found


def _rank_correlation(first: list[float], second: list[float]) -> tuple[int, float, float]:
    """Return the number of pairs, rho and p; NaN where these are not defined."""
    from scipy.stats import spearmanr  # noqa: PLC0415 - slow to import

    if len(first) < FEWEST or len(set(first)) == 1 or len(set(second)) == 1:
        return len(first), math.nan, math.nan
    answer = spearmanr(first, second)
    return len(first), float(answer.statistic), float(answer.pvalue)


def agreement_beyond_density(rows: Rows) -> float:
    """Return the partial rank correlation of both dimensions, controlled for the density."""
    found = agreement(rows)
    both, first, second = (
        found[name][1] for name in ("both dimensions", "by concepts, density", "by distances, density")
    )
    return (both - first * second) / math.sqrt((1.0 - first**2) * (1.0 - second**2))


def notes(rows: Rows) -> list[str]:
    """Return what the rows say about both dimensions."""
    some = summary(rows)
    if len(some) < FEWEST:
        return []
    found = agreement(rows)
    n, rho, p = found["both dimensions"]
    relative = found["both, relative"]
    exact = sum(row["exact"] for row in some)
    known = (
        f"Of {len(some)} data sets the dimension by concepts is exact for {exact}; elsewhere its bounds are "
        "certified."
    )
    order = (
        f"Both dimensions put the {n} data sets into the same order with a rank correlation of {rho:.2f} "
        f"(p = {p:.2g}), of which {agreement_beyond_density(rows):.2f} is left when density is taken out; "
        f"relative to columns shuffled on their own it is {relative[1]:.2f} (p = {relative[2]:.2g})."
    )
    return [known, order]


def tables(rows: Rows) -> list[ReportTable]:
    """Return both dimensions of every data set, and how far they agree."""
    head = (
        "data", "objects", "attributes", "density", "dimension by concepts", "shuffled",
        "correlation dimension", "normalised", "of attributes",
    )  # fmt: skip
    body = [
        [
            row["data"],
            f"{row['objects']:,}",
            f"{row['attributes']:,}",
            f"{row['density']:.3g}",
            _bounds(row["lower"], row["upper"]),
            _bounds(row["shuffled_lower"], row["shuffled_upper"]),
            f"{row['correlation']:.3g}",
            f"{row['normalized']:.4g}",
            f"{row['relative_normalized']:.2g}",
        ]
        for row in summary(rows)
    ]
    numeric = set(range(1, len(head)))
    return [ReportTable(head, body, numeric, "Two dimensions of binary data")] if body else []


def _bounds(lower: float, upper: float) -> str:
    return f"{lower:.4g}" if lower == upper else f"{lower:.4g} to {upper:.4g}"


def draw(rows: Rows) -> dict[str, Any]:
    """Plot bounds against the minimum support on the left, both dimensions on the right."""
    from geodim.display.style import GREY, curve_style, new_figure  # noqa: PLC0415

    some = summary(rows)
    if not some:
        return {}
    figure = new_figure(8.2, 3.4)
    left, right = figure.subplots(1, 2)
    names = [name for name in SHOWN if any(row["data"] == name for row in some)]
    for at, name in enumerate(names):
        curve = sorted((row for row in rows if row["data"] == name), key=lambda row: -row["support"])
        x = [row["support"] / row["objects"] for row in curve]
        style = curve_style(at)
        lower, upper = ([row[side] for row in curve] for side in ("lower", "upper"))
        left.fill_between(x, lower, upper, color=style["color"], alpha=0.25, linewidth=0)
        line = {"color": style["color"], "marker": style["marker"], "linewidth": 1.0, "markersize": 3}
        left.plot(x, upper, label=name.replace("_filtered", ""), **line)
        left.plot(x, lower, **line)
    left.set_xscale("log")
    left.invert_xaxis()
    left.set_yscale("log")
    left.set_xlabel("minimum support (share of objects)")
    left.set_ylabel("dimension by concepts, bounds")
    left.legend(frameon=False, fontsize="x-small", loc="center right", bbox_to_anchor=(1.0, 0.45))
    for row in some:
        x, y = row["normalized"], row["dimension"]
        right.plot([x, x], [row["lower"], row["upper"]], color=GREY, linewidth=1.0, alpha=0.6)
        right.plot([x], [y], color=GREY, marker="o", markersize=4)
        name, below = row["data"].replace("_filtered", ""), BELOW.get(row["data"], 2)
        right.annotate(name, (x, y), (4, below), textcoords="offset points", fontsize="xx-small")
    right.set_xscale("log")
    right.set_yscale("log")
    right.set_xlabel("normalised correlation dimension")
    right.set_ylabel("dimension by concepts")
    for ax in (left, right):
        ax.spines[["top", "right"]].set_visible(False)
        ax.grid(visible=True, color=GREY, alpha=0.15, linewidth=0.6)
    return {"binary": figure}


EXPERIMENT = Experiment(
    name=NAME,
    title="Two dimensions of binary data",
    source="Beyond the paper: Hanika and Hille 2024, Tatti and others 2006",
    recipe=1,
    units=units,
    compare=lambda _rows: [],
    draw=draw,
    notes=notes,
    tables=tables,
)
