"""Features kept by their resilience: what classifiers make of them, and of rankings from few k.

The protocol of *Selecting Features by their Resilience to the Curse of Dimensionality* (Stubbemann, Hille and
Hanika 2023), as far as their scripts show it: a tenth of the features is kept, a tenth dropped by correlation
before or not, and logistic regression (C = 1, at most 1,000 steps, columns as they are) classifies the tenth
of the points that the selection has not seen, ten times.  `selection_questions` answers from the rows.
"""

from __future__ import annotations

import time
import warnings
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from geodim.experiments.experiment import Context, Cost, Experiment, Options, StoppedError, Unit
from geodim.experiments.selection_data import DATASETS, missing_table, open_table

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from geodim.experiments.experiment import Rows
    from geodim.experiments.selection_data import Table

__all__ = ["EXPERIMENT", "METHODS", "accuracies", "laplacian_scores", "misranking"]

NAME = "selection"
ROUNDS = 10
SEED = 0
NEIGHBOURS = 5
MOST_MUTUAL = 200  # features up to which mutual information is estimated: it is slow
QUICK = ("digits", "wine, products")
QUICK_ROUNDS = 3
RELATIVE = (0.01, 0.05, 0.1, 0.2)  # lengths of support sequences, as parts of n
METHODS = (
    "all", "random", "variance", "variance, decorrelated", "resilience", "resilience, decorrelated",
    "resilience, decorrelated by column", "uniform", "greedy", "Laplacian score", "F-test",
    "mutual information",
)  # fmt: skip


def units(options: Options) -> list[Unit]:
    """Return one unit per data set."""
    rounds = min(options.repetitions or ROUNDS, ROUNDS)
    found = []
    for name in QUICK if options.quick else DATASETS:
        kind = DATASETS[name]
        some = min(rounds, QUICK_ROUNDS) if options.quick else rounds
        seconds = some * (0.3 + 1e-6 * kind.points * kind.features + 2e-7 * kind.features**2)
        found.append(
            Unit(
                key={"dataset": name, "rounds": some},
                cost=Cost(seconds, 40 * kind.features * (kind.points + kind.features)),
                work=partial(_work, name, some),
                missing=missing_table(name, options),
            )
        )
    return found


def _work(name: str, rounds: int, context: Context) -> Rows:
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]  # noqa: PLC0415

    table = open_table(name, context.options)
    about = {
        "points": int(table.x.shape[0]),
        "features": int(table.x.shape[1]),
        "classes": len(np.unique(table.y)),
        "binary": DATASETS[name].binary,
    }
    with threadpool_limits(1):  # products are small, and their threads would wait for each other
        found = accuracies(table, rounds, context)
    rows: Rows = [
        {
            "kind": "accuracy",
            "method": method,
            "accuracy": float(np.mean(values)),
            "std": float(np.std(values, ddof=1)) if len(values) > 1 else 0.0,
            **{f"over_{other}": float(np.mean(values - found[other])) for other in ("random", "variance")},
            **{f"half_{other}": half_width(values - found[other]) for other in ("random", "variance")},
            **about,
        }
        for method, values in found.items()
    ]
    return rows + [{"kind": "support", **row, **about} for row in misranking(table.x, context.options)]


def half_width(differences: NDArray[np.float64]) -> float:
    """Return half of the 95 % interval of a mean by Student's t, as if rounds were independent."""
    from scipy.stats import t  # noqa: PLC0415 - slow to import

    n = differences.size
    return float(t.ppf(0.975, n - 1) * np.std(differences, ddof=1) / np.sqrt(n)) if n > 1 else 0.0


def accuracies(table: Table, rounds: int, context: Context) -> dict[str, NDArray[np.float64]]:
    """Return for every method how many points of each round's test part are classified correctly."""
    from sklearn.exceptions import ConvergenceWarning  # noqa: PLC0415 - slow to import
    from sklearn.linear_model import LogisticRegression  # noqa: PLC0415
    from sklearn.model_selection import StratifiedKFold  # noqa: PLC0415

    found: dict[str, list[float]] = {}
    folds = StratifiedKFold(ROUNDS, shuffle=True, random_state=SEED).split(np.zeros(len(table.y)), table.y)
    for at, (train, test) in enumerate(folds):
        if at == rounds:
            break
        for method, columns in selections(table.x[train], table.y[train], at, context.options):
            if context.deadline is not None and time.monotonic() > context.deadline:
                raise StoppedError("stopped before all rounds were done: to be done again")
            chosen = np.sort(columns)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)
                model = LogisticRegression(C=1.0, max_iter=1000).fit(
                    table.x[train][:, chosen], table.y[train]
                )
            found.setdefault(method, []).append(model.score(table.x[test][:, chosen], table.y[test]))
        context.progress(at + 1, rounds + 1)
    return {method: np.array(values) for method, values in found.items()}


def selections(
    x: Any,  # noqa: ANN401 - dense or sparse
    y: NDArray[np.int64],
    at: int,
    options: Options,
) -> Iterator[tuple[str, NDArray[np.int64]]]:
    """Yield the columns that every method keeps of a training part."""
    from sklearn.feature_selection import f_classif, mutual_info_classif  # noqa: PLC0415 - slow to import

    from geodim.data.sources import as_source  # noqa: PLC0415
    from geodim.explain.correlated import absolute_correlations, drop_most_correlated  # noqa: PLC0415
    from geodim.explain.ranking import feature_ranking  # noqa: PLC0415
    from geodim.explain.select import select_features  # noqa: PLC0415

    d = x.shape[1]
    keep, drop = max(1, d // 10), -(-d // 10)
    scores: dict[str, NDArray[np.float64]] = {"variance": variances(x)}
    for weighting in ("resilience", "uniform"):
        ranking = feature_ranking(x, weighting=weighting, n_threads=options.threads, last_bit=True)
        scores[weighting] = np.array([ranking[str(column)] for column in range(d)])
    correlations = absolute_correlations(as_source(x))

    def best(values: NDArray[np.float64], without: list[int] | None = None) -> NDArray[np.int64]:
        allowed = np.ones(d, np.bool_)
        allowed[without or []] = False
        order = np.argsort(-values, kind="stable")
        return order[allowed[order]][:keep]

    def alike(priority: NDArray[np.float64]) -> list[int]:
        return [one.column for one in drop_most_correlated(correlations.copy(), drop, priority)]

    yield "all", np.arange(d)
    yield "random", np.random.default_rng([SEED, at]).choice(d, keep, replace=False)
    yield "variance", best(scores["variance"])
    yield "variance, decorrelated", best(scores["variance"], alike(scores["variance"]))
    yield "resilience", best(scores["resilience"])
    yield "resilience, decorrelated", best(scores["resilience"], alike(scores["resilience"]))
    by_column = best(
        scores["resilience"], alike(np.arange(d, dtype=np.float64))
    )  # the first of a pair is dropped
    yield "resilience, decorrelated by column", by_column
    yield "uniform", best(scores["uniform"])
    yield "greedy", np.array(select_features(x, keep, n_threads=options.threads, last_bit=True).columns)
    yield "Laplacian score", best(-laplacian_scores(x))
    with np.errstate(invalid="ignore", divide="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of constant features, which have no F
        yield "F-test", best(np.nan_to_num(f_classif(x, y)[0], nan=-1.0))
    if d <= MOST_MUTUAL:
        yield "mutual information", best(mutual_info_classif(x, y, random_state=SEED))


def variances(x: Any) -> NDArray[np.float64]:  # noqa: ANN401 - dense or sparse
    """Return the variance of every column."""
    from sklearn.utils.sparsefuncs import mean_variance_axis  # noqa: PLC0415 - slow to import

    found: NDArray[np.float64] = mean_variance_axis(x, 0)[1] if hasattr(x, "tocsr") else x.var(axis=0)
    return found.round(15)  # columns of 0 and 1 with equal counts tie


def laplacian_scores(x: Any) -> NDArray[np.float64]:  # noqa: ANN401 - dense or sparse
    """Return how much a feature differs between neighbouring points, over its variance; small is good.

    The score of He, Cai and Niyogi (2005) on the graph of five nearest neighbours, all of weight 1; infinite
    for features that do not vary.
    """
    from sklearn.neighbors import kneighbors_graph  # noqa: PLC0415 - slow to import

    graph = kneighbors_graph(x, NEIGHBOURS)
    graph = graph.maximum(graph.T)
    degrees = np.asarray(graph.sum(axis=1)).ravel()
    dense = np.asarray(x.toarray() if hasattr(x, "toarray") else x, np.float64)
    centred = dense - degrees @ dense / degrees.sum()
    spread = degrees @ centred**2
    smooth = spread - np.einsum("ij,ij->j", centred, graph @ centred)
    with np.errstate(invalid="ignore", divide="ignore"):
        found: NDArray[np.float64] = np.where(np.ptp(dense, axis=0) > 0.0, smooth / spread, np.inf)
    return found


def misranking(x: Any, options: Options) -> Rows:  # noqa: ANN401 - dense or sparse
    """Return how far the ranking from bounds at a support sequence is from that of all k."""
    from geodim.experiments.selection_support import estimated_dimensions, order_errors, phi_of_columns  # noqa: PLC0415
    from geodim.paper import log_scale_support  # noqa: PLC0415

    phi = phi_of_columns(x, options.threads)
    n = x.shape[0]
    exact = 1.0 / np.maximum(phi @ (1.0 / np.arange(2, n + 1)) / n, 1e-150) ** 2
    rows = []
    for size in RELATIVE:
        length = max(2, int(size * n))
        mirrored = np.array(log_scale_support(n, length=length))
        geometric = np.unique(np.geomspace(2, n, length).round().astype(np.int64))
        for kind, support in (("towards n", mirrored), ("towards 2", geometric)):
            found = estimated_dimensions(phi[:, support - 2], support, n)
            rows.append(
                {"relative_size": size, "support_kind": kind, "support": support.size}
                | order_errors(exact, found)
            )
    return rows


def _answers(rows: Rows) -> list[Any]:
    from geodim.experiments.selection_questions import claims  # noqa: PLC0415

    return claims(rows)


def _tables(rows: Rows) -> list[Any]:
    from geodim.experiments.selection_questions import tables  # noqa: PLC0415

    return tables(rows)


EXPERIMENT = Experiment(
    name=NAME,
    title="Features kept by their resilience, against other ways to select",
    source="Stubbemann, Hille and Hanika 2023, with data at hand",
    recipe=1,
    units=units,
    compare=lambda _rows: [],
    claims=_answers,
    tables=_tables,
)
