"""docs/explanation.md."""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING

from sklearn.datasets import load_digits

import geodim
from geodim.experiments.printed import printed
from geodim.explain.coarse import BINS
from geodim.explain.select import MEMORY
from prose.sources import benchmark, between

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


def removal(page: Page) -> None:
    """The digits, and what removal costs take."""
    why = geodim.explain_dimension(load_digits().data)
    share = why.shares["13"]
    assert why.without["13"] == why.result.dimension
    page.says("pixel_1_5 has {} % of the discriminability", f"{100 * share:.1f}")
    page.says("several pixels attain {} % of Delta together", f"{100 * (1 - sum(why.alone.values())):.0f}")
    rows = benchmark("removal")["rows"]
    page.says("with {} to {} times the processor time", *between([row["ratio"] for row in rows], ".2f"))
    page.says("`benchmarks/removal.py`, bar {})", rows[0]["bar"])
    page.allows("says no more than 0 % to 100 %", "the widest range there is")


def scales(page: Page) -> None:
    found = {name: one["dimension"] for name, one in benchmark("reading")["units"].items()}
    for scale, words, form in (
        ("as it is", '`"global"`, the default | nothing | d_max, the largest range', ".1f"),
        ("range", '`"range"` | its range | d_max, 1 up to rounding', ".1f"),
        ("iqr", '`"iqr"` | its interquartile range (linear interpolation) | d_max', ".1f"),
        ("std", '`"std"` | its standard deviation (over n) | d_max', ".1f"),
        (
            "rank",
            '`"rank"` | values become ranks from 0, equal ones their mean rank | d_max, at most n - 1',
            ".2f",
        ),
    ):
        page.says(f"| {words} | {{}} |", format(found[scale], form))
