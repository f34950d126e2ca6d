"""The data of the study of binary data: attributes of graphs, tables at their medians, generated baskets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from geodim.experiments.baskets import transactions
from geodim.experiments.study_graphs import GRAPHS, missing_graph, open_graph

if TYPE_CHECKING:
    from geodim.experiments.experiment import Options

__all__ = ["DATA", "columns_apart", "missing_data", "open_data"]

SEED = 0


@dataclass(frozen=True)
class Kind:
    """Where a data set comes from, and its size."""

    source: str
    objects: int
    attributes: int


def _graphs(*names: str) -> dict[str, Kind]:
    return {name: Kind("graph", GRAPHS[name].nodes, GRAPHS[name].attributes) for name in names}


DATA = {
    **_graphs(
        "cora", "citeseer", "acm", "actor", "amazon_cs", "chameleon_filtered", "squirrel_filtered", "uai",
        "cornell", "texas", "wisconsin", "minesweeper",
    ),
    "digits": Kind("scikit-learn", 1_797, 64),
    "breast cancer": Kind("scikit-learn", 569, 30),
    "wine": Kind("scikit-learn", 178, 13),
    "diabetes": Kind("scikit-learn", 442, 10),
    "baskets": Kind("generated", 10_000, 500),
    "independent columns": Kind("generated", 2_000, 60),
}  # fmt: skip


def missing_data(name: str, options: Options) -> str | None:
    """Return why a data set cannot be used, and the way out; None if it is here."""
    if DATA[name].source != "graph":
        return None
    why = missing_graph(name, options)
    return None if why is None else why.replace("reproduce study", "reproduce binary")


def open_data(name: str, options: Options) -> Any:  # noqa: ANN401 - an array or a sparse matrix
    """Return a data set of 0 and 1, objects in rows.

    Words of a document count once; pixels are 1 if they are darker than half; columns of tables if the value
    is above their median.
    """
    kind = DATA[name]
    if kind.source == "graph":
        x = open_graph(name, options).x
        return x > 0
    if kind.source == "scikit-learn":
        from sklearn import datasets  # noqa: PLC0415 - takes time to import

        table = getattr(datasets, f"load_{name.replace(' ', '_')}")().data
        return table > 8 if name == "digits" else table > np.median(table, axis=0)
    if name == "baskets":
        return transactions(kind.objects, kind.attributes, SEED)
    shares = np.linspace(0.05, 0.5, kind.attributes)
    return np.random.default_rng(SEED).random((kind.objects, kind.attributes)) < shares


def columns_apart(X: Any, seed: int = SEED) -> Any:  # noqa: ANN401 - as it came
    """Return the same columns, each shuffled on its own: what occurs together does so by chance."""
    from scipy.sparse import csc_array  # noqa: PLC0415 - takes time to import

    rng = np.random.default_rng(seed)
    columns = csc_array(X, dtype=bool)
    columns.eliminate_zeros()
    counts = np.diff(columns.indptr)
    rows = [rng.choice(columns.shape[0], size, replace=False) for size in counts.tolist()]
    indices = np.concatenate(rows) if rows else np.empty(0, np.int64)
    return csc_array((np.ones(indices.size, bool), indices, columns.indptr), shape=columns.shape).tocsr()
