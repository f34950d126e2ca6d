"""The data of the selection study: tables with classes and at least fifty features, without a download.

Two tables of scikit-learn with products of their columns, its digits, three generated ones, and the
attributes of graphs, two of which come with the package.  Large ones are thinned out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from geodim.experiments.experiment import Options

__all__ = ["DATASETS", "Table", "missing_table", "open_table"]

MOST_POINTS = 3_000
LEAST_OF_A_CLASS = 10  # every one of ten parts has some of it
SEED = 2023


@dataclass(frozen=True)
class Table:
    """Features, dense or sparse, and classes."""

    x: Any
    y: NDArray[np.int64]


@dataclass(frozen=True)
class Kind:
    """Sizes, known before, whether all values are 0 or 1, and the graph whose attributes these are."""

    points: int
    features: int
    binary: bool = False
    graph: str | None = None


DATASETS = {
    "digits": Kind(1_797, 64),
    "breast cancer, products": Kind(569, 495),
    "wine, products": Kind(178, 104),
    "generated": Kind(2_000, 200),
    "generated, own units": Kind(2_000, 200),
    "madelon-like": Kind(2_000, 500),
    "pubmed": Kind(3_000, 500, graph="pubmed"),
    "citeseer_full": Kind(3_000, 602, graph="citeseer_full"),
    "cora_ml": Kind(2_995, 2_879, graph="cora_ml"),
    "cora": Kind(2_708, 1_433, binary=True, graph="cora"),
    "citeseer": Kind(3_000, 3_703, binary=True, graph="citeseer"),
    "acm": Kind(3_000, 1_870, binary=True, graph="acm"),
    "actor": Kind(3_000, 932, binary=True, graph="actor"),
    "chameleon_filtered": Kind(890, 2_325, binary=True, graph="chameleon_filtered"),
}


def missing_table(name: str, options: Options) -> str | None:
    """Return why a data set cannot be used, and the way out; None if it is here."""
    from geodim.experiments.study_graphs import missing_graph  # noqa: PLC0415

    graph = DATASETS[name].graph
    why = None if graph is None else missing_graph(graph, options)
    return None if why is None else why.replace("reproduce study", "reproduce selection")


def open_table(name: str, options: Options) -> Table:
    """Load a data set that is here, thinned to at most 3,000 points, without classes of fewer than ten."""
    graph = DATASETS[name].graph
    if graph is not None:
        from geodim.experiments.study_graphs import open_graph  # noqa: PLC0415

        opened = open_graph(graph, options)
        x, y = opened.x, opened.y
    else:
        x, y = _made(name)
    rng = np.random.default_rng(SEED)
    rows = np.sort(rng.choice(len(y), min(len(y), MOST_POINTS), replace=False))
    classes, counts = np.unique(y[rows], return_counts=True)
    rows = rows[np.isin(y[rows], classes[counts >= LEAST_OF_A_CLASS])]
    return Table(x[rows], y[rows])


def _made(name: str) -> tuple[Any, NDArray[np.int64]]:
    from sklearn import datasets  # noqa: PLC0415 - slow to import
    from sklearn.preprocessing import PolynomialFeatures, StandardScaler  # noqa: PLC0415

    if name == "digits":
        found = datasets.load_digits(return_X_y=True)
        return found[0], found[1]
    if name.endswith("products"):
        load = datasets.load_wine if name.startswith("wine") else datasets.load_breast_cancer
        x, y = load(return_X_y=True)
        return PolynomialFeatures(2, include_bias=False).fit_transform(StandardScaler().fit_transform(x)), y
    if name == "madelon-like":
        return datasets.make_classification(  # type: ignore[no-any-return]
            2_000, 500, n_informative=5, n_redundant=15, n_clusters_per_class=8, flip_y=0.01,
            class_sep=2.0, random_state=SEED,
        )  # fmt: skip
    x, y = datasets.make_classification(
        2_000, 200, n_informative=20, n_redundant=20, n_repeated=10, n_classes=4, random_state=SEED
    )
    if name == "generated, own units":
        x = x * np.exp(2.0 * np.random.default_rng(SEED).normal(size=x.shape[1]))
    return x, y
