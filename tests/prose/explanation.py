"""docs/explanation.md."""

from __future__ import annotations

import itertools
import math
import re
from typing import TYPE_CHECKING

from sklearn.datasets import load_breast_cancer, load_digits

import geodim
from geodim.experiments.printed import printed
from geodim.explain.coarse import BINS
from geodim.explain.select import MEMORY
from prose.sources import benchmark

if TYPE_CHECKING:
    from prose.pages import Page


def check(page: Page) -> None:
    page.allows("a selection that keeps 95 % is at least 95 % of the best one of its size", "an example")
    least = math.ceil(100 / (1 - 1 / math.e) ** 2) / 100
    page.says("1/(1 − 1/e)² < {} times the least possible", f"{least:.2f}")
    page.says("counts every column in {} equal bins", f"{BINS:,}")
    page.says("{} MiB by default", MEMORY >> 20)
    page.allows("24 bytes per point, however many features", "two widths of 8 bytes and two owners of 4")
    removal(page)
    scales(page)
    hops(page)


def removal(page: Page) -> None:
    """The digits, and what it costs to know."""
    digits = load_digits()
    found = geodim.explain_dimension(digits.data, feature_names=list(digits.feature_names))
    name, share = next(iter(found.shares.items()))
    assert found.without[name] == found.result.dimension
    page.says("{} has {} % of the discriminability, and without it", name, f"{100 * share:.1f}")
    page.says("several pixels attain {} % of Delta together", f"{100 * found.result.removal.tied:.0f}")
    ratios = [row["ratio"] for row in benchmark("removal")["rows"]]
    page.says("with {} to {} times", f"{min(ratios):.2f}", f"{max(ratios):.2f}")
    page.says("bar {})", *{f"{row['bar']:g}" for row in benchmark("removal")["rows"]})
    page.allows("0 % to 100 %", "the widest range there is")


def scales(page: Page) -> None:
    """A table of columns in different units."""
    X = load_breast_cancer().data
    rows = re.findall(r"^(\| `\"(\w+)\"`[^|]*\|.*\|.*\| )[\d.]+ \|$", page.text, re.MULTILINE)
    for row, scale in rows:
        digits = 2 if scale == "rank" else 1
        page.says(row + "{} |", f"{geodim.intrinsic_dimension(X, scale=scale).dimension:.{digits}f}")


def hops(page: Page) -> None:
    """What the paper's table says."""
    dimension = {name: [float(one) for one in values] for name, values in printed()["khop_id"].items()}
    accuracy = {
        name: [float(one) for one in values] for name, values in printed()["sign_accuracy_mean"].items()
    }
    drops = {name: [1 - b / a for a, b in itertools.pairwise(values)] for name, values in dimension.items()}
    gains = {name: [b - a for a, b in itertools.pairwise(values)] for name, values in accuracy.items()}
    assert all(values.index(max(values)) == 0 for values in gains.values())
    assert [name for name, values in drops.items() if values.index(max(values))] == ["PubMed"]
    page.says("({} % after {} %)", *(f"{100 * drops['PubMed'][at]:.0f}" for at in (1, 0)))
    page.says(
        "on ogbn-products the dimension falls by {} % with the first hop "
        "while accuracy goes from {} % to {} %",
        f"{100 * drops['ogbn-products'][0]:.2f}",
        *(f"{100 * one:.0f}" for one in accuracy["ogbn-products"][:2]),
    )
    assert dimension["ogbn-arxiv"][1] == dimension["ogbn-arxiv"][2]
    page.says(
        "accuracy still grows from {} % to {} %", *(f"{100 * one:.0f}" for one in accuracy["ogbn-arxiv"][1:3])
    )
