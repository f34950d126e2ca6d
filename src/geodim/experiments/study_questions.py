"""The questions of the study, answered from its rows; docs/study.md has them as they were fixed before."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from geodim.display.table import ReportTable
from geodim.experiments.correlation import correlate
from geodim.experiments.verdicts import Claim

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import ArrayLike, NDArray

    from geodim.experiments.experiment import Rows

    Rule = Callable[["Graph"], int]
    Statistic = Callable[[NDArray[np.float64]], NDArray[np.float64]]

__all__ = ["Estimate", "across", "claims", "draw", "halves", "regrets", "tables", "within"]

RESAMPLES, SEED = 10_000, 0
LEVEL = 0.95
TRIVIAL = {"always 0": 0, "always 1": 1, "always 2": 2, "always 5": 5}
DEFAULT = 0.01  # the tolerance of `advise`
TOLERANCES = (0.001, DEFAULT, 0.03, 0.1, 0.3)


@dataclass(frozen=True)
class Estimate:
    """A mean, or a correlation, over graphs, and its interval."""

    value: float
    lower: float
    upper: float

    def __str__(self) -> str:
        return f"{self.value:.2f} [{self.lower:.2f}, {self.upper:.2f}]"

    def percent(self) -> str:
        """Return the estimate in percentage points."""
        return f"{100 * self.value:.1f} [{100 * self.lower:.1f}, {100 * self.upper:.1f}]"


@dataclass(frozen=True)
class Graph:
    """The rows of one graph, k = 0, 1, ..."""

    name: str
    rows: Rows

    def curve(self, key: str) -> NDArray[np.float64]:
        """Return a column against k."""
        return np.array([row[key] for row in self.rows], np.float64)

    @property
    def heterophilous(self) -> bool:
        """Whether its publishers call it heterophilous."""
        return bool(self.rows[0]["heterophilous"])


def graphs(rows: Rows) -> list[Graph]:
    """Return the graphs by name; of several runs of a graph, that of most trainings."""
    found: dict[str, dict[int, Rows]] = {}
    for row in rows:
        found.setdefault(row["graph"], {}).setdefault(row["runs"], []).append(row)
    return [
        Graph(name, sorted(found[name][max(found[name])], key=lambda row: int(row["k"])))
        for name in sorted(found)
    ]


def halves(some: Sequence[Graph]) -> tuple[list[Graph], list[Graph]]:
    """Split the graphs for development and test: every second one by name, beginning with the first."""
    return list(some[::2]), list(some[1::2])


def resampled(values: ArrayLike, statistic: Statistic | None = None) -> Estimate:
    """Return a statistic over graphs, and the interval of 95 % of its values in resamples of the graphs.

    Parameters
    ----------
    values : array-like
        A number, or a pair of numbers, for each graph.
    statistic : callable, optional
        Of many resamples at once, along their second axis; by default the mean.

    Examples
    --------
    >>> resampled([1.0, 1.0, 1.0])
    Estimate(value=1.0, lower=1.0, upper=1.0)
    """
    known = np.asarray(values, np.float64)
    if not known.size:
        return Estimate(math.nan, math.nan, math.nan)
    of = statistic or (lambda some: some.mean(axis=1))
    draws = np.random.default_rng(SEED).integers(0, len(known), size=(RESAMPLES, len(known)))
    found = of(known[draws])
    found = found[np.isfinite(found)]
    edge = 0.5 * (1.0 - LEVEL)
    lower, upper = np.quantile(found, [edge, 1.0 - edge]) if found.size else (math.nan, math.nan)
    return Estimate(float(of(known[np.newaxis])[0]), float(lower), float(upper))


def rank_correlations(pairs: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return Spearman's correlation of the pairs of every resample; NaN where one side does not vary."""
    from scipy.stats import rankdata  # noqa: PLC0415 - slow to import

    ranks = rankdata(pairs, axis=1)
    ranks -= ranks.mean(axis=1, keepdims=True)
    first, second = ranks[..., 0], ranks[..., 1]
    with np.errstate(invalid="ignore", divide="ignore"):
        found: NDArray[np.float64] = (first * second).sum(axis=1) / np.sqrt(
            (first**2).sum(axis=1) * (second**2).sum(axis=1)
        )
    return found


def _drops(graph: Graph, key: str) -> NDArray[np.float64]:
    values = graph.curve(key)
    return 1.0 - values[1:] / values[:-1]


def _correlation_within(graph: Graph, key: str | None) -> float:
    gains = np.diff(graph.curve("accuracy"))
    drops = -np.arange(1.0, gains.size + 1.0) if key is None else _drops(graph, key)
    rho = correlate(drops, gains)[0] if np.all(np.isfinite(drops)) else math.nan
    return 0.0 if math.isnan(rho) else rho  # a curve that does not vary indicates nothing


PREDICTORS: dict[str, str | None] = {
    "intrinsic dimension": "dimension",
    "MLE": "mle",
    "TwoNN": "twonn",
    "number of hops (-k)": None,
}


def within(some: Sequence[Graph]) -> dict[str, Estimate]:
    """Question 1: rank correlations of drop and gain within graphs, and the difference to the hop number."""
    rhos = {name: [_correlation_within(graph, key) for graph in some] for name, key in PREDICTORS.items()}
    found = {name: resampled(values) for name, values in rhos.items()}
    ahead = np.subtract(rhos["intrinsic dimension"], rhos["number of hops (-k)"]).tolist()
    return found | {"dimension less number of hops": resampled(ahead)}


def across(some: Sequence[Graph]) -> dict[str, Estimate]:
    """Question 2: rank correlations over graphs of the whole drop and the whole gain."""
    gains = [float(np.subtract(*graph.curve("accuracy")[[-1, 0]])) for graph in some]
    found = {}
    for name, key in PREDICTORS.items():
        if key is not None:
            falls = [1.0 - graph.curve(key)[-1] / graph.curve(key)[0] for graph in some]
            pairs = [pair for pair in zip(falls, gains, strict=True) if math.isfinite(pair[0])]
            found[name] = resampled(pairs, rank_correlations)
    homophily = [float(graph.rows[0]["homophily"]) for graph in some]
    return found | {"homophily": resampled(list(zip(homophily, gains, strict=True)), rank_correlations)}


def falls_all_the_same(some: Sequence[Graph]) -> tuple[list[str], list[str]]:
    """Question 3: heterophilous graphs that the first hop hurts, and those of them whose dimension falls."""
    hurt, fallen = [], []
    for graph in some:
        if not graph.heterophilous:
            continue
        first, second = graph.rows[:2]
        error = math.hypot(first["std"], second["std"]) / math.sqrt(first["runs"])
        if second["accuracy"] < first["accuracy"] - 2.0 * error:
            hurt.append(graph.name)
            if second["dimension"] < first["dimension"]:
                fallen.append(graph.name)
    return hurt, fallen


def within_tolerance(graph: Graph, tolerance: float) -> int:
    """Return, like `advise`, the smallest k whose dimension exceeds the last by at most the tolerance."""
    dimensions = graph.curve("dimension")
    return int(np.flatnonzero(dimensions <= (1.0 + tolerance) * dimensions[-1])[0])


def least_ratio(graph: Graph) -> int:
    """Return the k with the least spread within the classes of the training nodes; else as `advise`."""
    ratio = graph.curve("class_ratio")
    return int(np.nanargmin(ratio)) if np.any(np.isfinite(ratio)) else within_tolerance(graph, DEFAULT)


def only_where_it_helps(graph: Graph, tolerance: float = DEFAULT) -> int:
    """Return what `advise` does, but 0 unless the first hop lowers the spread within the classes."""
    ratio = graph.curve("class_ratio")
    return 0 if ratio[1] >= ratio[0] else within_tolerance(graph, tolerance)


def _always(k: int) -> Rule:
    return lambda _graph: k


def _advised_within(tolerance: float) -> Rule:
    return lambda graph: within_tolerance(graph, tolerance)


RULES: Mapping[str, Rule] = {
    "advise": lambda graph: int(graph.rows[0]["advised"]),
    **{name: _always(k) for name, k in TRIVIAL.items()},
    "validation accuracy": lambda graph: int(np.argmax(graph.curve("valid_accuracy"))),
}
CANDIDATES: Mapping[str, Rule] = {
    **{f"advise within {tolerance:g}": _advised_within(tolerance) for tolerance in TOLERANCES},
    "least class ratio": least_ratio,
    "advise where the class ratio falls": only_where_it_helps,
}


def regret(graph: Graph, rule: Rule) -> float:
    """Return by how much the accuracy falls short of that of the best k."""
    accuracy = graph.curve("accuracy")
    return float(accuracy.max() - accuracy[rule(graph)])


def regrets(some: Sequence[Graph], rules: Mapping[str, Rule]) -> dict[str, Estimate]:
    """Question 4: mean regrets over the graphs."""
    return {name: resampled([regret(graph, rule) for graph in some]) for name, rule in rules.items()}


def ahead_of(some: Sequence[Graph], ours: Rule, other: Rule) -> Estimate:
    """Return the mean regret of one rule minus that of another."""
    return resampled([regret(graph, ours) - regret(graph, other) for graph in some])


def best_trivial(some: Sequence[Graph]) -> str:
    """Return the trivial rule with the least mean regret."""
    return min(TRIVIAL, key=lambda name: float(np.mean([regret(graph, RULES[name]) for graph in some])))


def claims(rows: Rows) -> list[Claim]:
    """Return the questions as claims, with the evidence."""
    some = graphs(rows)
    texts = (
        "Within a graph, hops with a larger drop of the dimension bring a larger gain of accuracy.",
        "There the drop of the dimension tells more than the number of hops.",
        "Graphs whose dimension falls more gain more accuracy.",
        "Where hops hurt, on heterophilous graphs, the dimension does not fall.",
        "The advice on hops is better than the best rule that needs no data.",
    )
    if len(some) < 4:
        return [Claim(text, None, "") for text in texts]
    inside, between = within(some), across(some)
    hurt, fallen = falls_all_the_same(some)
    trivial = best_trivial(some)
    lead = ahead_of(some, RULES["advise"], RULES[trivial])
    found = regrets(some, RULES)
    n = f"{len(some)} graphs"
    return [
        Claim(texts[0], inside["intrinsic dimension"].lower > 0.0, f"{_listed(inside)}; {n}"),
        Claim(
            texts[1],
            inside["dimension less number of hops"].lower > 0.0,
            f"difference of the mean rank correlations {inside['dimension less number of hops']}",
        ),
        Claim(texts[2], between["intrinsic dimension"].lower > 0.0, f"{_listed(between)}; {n}"),
        Claim(
            texts[3],
            None if not hurt else not fallen,
            f"accuracy falls with the first hop on {len(hurt)} of the heterophilous graphs"
            + (f" ({', '.join(hurt)}), and the dimension on {len(fallen)} of these" if hurt else ""),
        ),
        Claim(
            texts[4],
            lead.upper < 0.0,
            f"mean regret in points of accuracy: advice {found['advise'].percent()}, {trivial} "
            f"{found[trivial].percent()}, difference {lead.percent()}",
        ),
    ]


def _listed(found: Mapping[str, Estimate]) -> str:
    return ", ".join(f"{name} {value}" for name, value in found.items() if "less" not in name)


def tables(rows: Rows) -> list[ReportTable]:
    """Return tables of all graphs, the regrets, and other advice, chosen on one half, tested on the other."""
    some = graphs(rows)
    if not some:
        return []
    lines = []
    for graph in some:
        accuracy = graph.curve("accuracy")
        lines.append(
            [
                graph.name,
                f"{graph.rows[0]['homophily']:.2f}",
                *(f"{value:.4g}" for value in graph.curve("dimension")[[0, 1, 2, 5]]),
                *(f"{100 * value:.1f}" for value in accuracy),
                str(int(np.argmax(accuracy))),
                str(graph.rows[0]["advised"]),
            ]
        )
    head = [
        "graph",
        "homophily",
        "ID 0",
        "ID 1",
        "ID 2",
        "ID 5",
        *(f"acc {k}" for k in range(6)),
        "best k",
        "advised",
    ]
    made = [ReportTable(head, lines, set(range(1, len(head))), "Dimensions, and accuracies in percent")]
    if len(some) < 4:
        return made
    made.append(_regret_table(some, RULES, "Mean regret in points of accuracy, all graphs"))
    develop, test = halves(some)
    made.append(
        _regret_table(
            develop, {**CANDIDATES, **RULES}, "The same on the development half, other advice included"
        )
    )
    made.append(_regret_table(test, {**CANDIDATES, **RULES}, "And on the test half"))
    return made


def _regret_table(some: Sequence[Graph], rules: Mapping[str, Rule], caption: str) -> ReportTable:
    found = regrets(some, rules)
    lines = [
        [name, f"{100 * value.value:.2f}", f"{100 * value.lower:.2f}", f"{100 * value.upper:.2f}"]
        for name, value in sorted(found.items(), key=lambda pair: pair[1].value)
    ]
    return ReportTable(["rule", "regret", "from", "to"], lines, {1, 2, 3}, f"{caption} ({len(some)})")


def draw(rows: Rows) -> dict[str, Any]:
    """Plot the gain of accuracy against the drop of the dimension, for every hop of every graph."""
    from geodim.display import style  # noqa: PLC0415

    some = graphs(rows)
    if not some:
        return {}
    figure = style.new_figure(5.2, 3.6)
    ax = figure.add_subplot()
    for at, (label, kind) in enumerate((("others", False), ("heterophilous", True))):
        chosen = [graph for graph in some if graph.heterophilous == kind]
        drops = np.concatenate([_drops(graph, "dimension") for graph in chosen]) if chosen else np.empty(0)
        gains = (
            np.concatenate([np.diff(graph.curve("accuracy")) for graph in chosen]) if chosen else np.empty(0)
        )
        colour = style.curve_style(at)["color"]
        ax.scatter(100 * drops, 100 * gains, s=16, color=colour, label=label, alpha=0.8)
    ax.axhline(0.0, linewidth=0.8, color="0.5")
    ax.set_xscale("symlog", linthresh=0.1)
    ax.set_xlim(left=-0.02)
    ax.set_xlabel("drop of the dimension by one more hop, %")
    ax.set_ylabel("gain of accuracy, points")
    style.finish(ax, None)
    style.add_legend(ax)
    return {"study": figure}
