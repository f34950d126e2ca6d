"""The numbers that the paper prints, as strings with all their digits."""

from __future__ import annotations

import functools
import json
from importlib.resources import files
from typing import Any

__all__ = ["DATASETS", "HOPS", "count_printed", "printed"]

DATASETS = ("PubMed", "Cora", "CiteSeer", "ogbn-arxiv", "ogbn-products", "ogbn-mag")  # in the paper's order
HOPS = 6  # k = 0, ..., 5


@functools.cache
def printed() -> dict[str, Any]:
    """Return all tables, by name; see ``printed.json``.

    Examples
    --------
    >>> printed()["khop_id"]["Cora"][0]
    '6.2523'
    """
    text = files("geodim.experiments").joinpath("printed.json").read_text(encoding="utf-8")
    values: dict[str, Any] = json.loads(text)
    return values


def count_printed() -> dict[str, int]:
    """Return how many numbers each experiment has in the paper's tables, without standard deviations.

    Examples
    --------
    >>> count_printed()
    {'statistics': 21, 'khop': 36, 'mle': 36, 'sign': 36, 'papers100m': 18, 'random': 9}
    """
    values = printed()
    by_hop = {"khop": "khop_id", "mle": "khop_mle", "sign": "sign_accuracy_mean"}
    papers = values["papers100M"]
    return {
        "statistics": sum(len(one) for one in values["statistics"].values()),
        **{name: sum(map(len, values[key].values())) for name, key in by_hop.items()},
        "papers100m": sum(len(papers[key]) for key in ("lower", "upper", "error")),
        "random": sum(len(one) for one in values["random_data"]["error"].values()),
    }
