"""docs/reading.md."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from geodim import paper
from geodim.gauge.marks import reference_marks
from prose.sources import benchmark

if TYPE_CHECKING:
    from prose.pages import Page

FOUND = benchmark("reading")
F, G = [0, 1, 3, 6, 10], [8, 0, 4, 8, 0]


def check(page: Page) -> None:
    five_points(page)
    references(page)
    units(page)
    mistakes(page)
    sizes(page)
    page.says(
        "1,000 points in a hundred uniform columns have {}, in a single normal column {}.",
        four(FOUND["columns"]["uniform"]["100"]),
        four(FOUND["columns"]["normal"]["1"]),
    )
    page.allows("1,000 points in a hundred uniform columns", "what was drawn")
    cube = benchmark("features")["columns"]
    page.says("goes from {} to {} when it is turned", four(cube["cube"]), four(cube["rotated"]))
    whole = paper.intrinsic_dimension(paper.algorithm_1(np.array([F, G]).T / 10.0))
    without = paper.intrinsic_dimension(paper.algorithm_1(np.array([G]).T / 8.0))
    page.says("without f, the five points above fall from {} to {}.", f"{whole:.4f}", f"{without:g}")


def four(value: float) -> str:
    return (
        f"{value:,.{max(0, 3 - int(math.log10(value)))}f}".rstrip("0").rstrip(".")
        if value < 1e4
        else f"{value:,.0f}"
    )


def five_points(page: Page) -> None:
    """Every window of the example, from its definition."""
    for point, (f, g) in enumerate(zip(F, G, strict=True), 1):
        page.says("| {} | {} | {} |", point, f, g)
    sums, by = [], {"f": 0, "g": 0}
    for k in range(2, 6):
        texts, narrowest = [], []
        for values in (sorted(F), sorted(G)):
            ends = [(values[j + k - 1], values[j]) for j in range(5 - k + 1)]
            texts.append(", ".join(f"{high}−{low} = {high - low}" for high, low in ends))
            narrowest.append(min(high - low for high, low in ends))
        owner = "f" if narrowest[0] >= narrowest[1] else "g"
        sums.append(max(narrowest))
        by[owner] += max(narrowest)
        page.says(
            "| {} | {} | {} | {} | {} | {}, by {} |",
            k,
            texts[0],
            narrowest[0],
            texts[1],
            narrowest[1],
            sums[-1],
            owner,
        )
    total = sum(sums)
    page.says("The sum of Phi is {} = {}.", " + ".join(map(str, sums)), total)
    page.says("Delta = {} / (5 · 10) = {}.", total, total / 50)
    page.says("The dimension is 1 / {}² = {}.", total / 50, f"{(50 / total) ** 2:.4f}")
    page.says(
        "The share of f is (1 + 10)/{} = {} %, that of g is (4 + 8)/{} = {} %.",
        total,
        f"{100 * by['f'] / total:.1f}",
        total,
        f"{100 * by['g'] / total:.1f}",
    )
    page.allows("f is 0, 1, 3, 6, 10 and g is 0, 0, 4, 8, 8", "the example, sorted")
    page.allows("Delta = 23 / (5 · 10)", "the example: five points, d_max 10")
    page.allows("The share of f is (1 + 10)/", "the sizes that f owns, above")


def references(page: Page) -> None:
    table = FOUND["references"]
    for n in (100, 1_000, 10_000, 100_000, 1_000_000):
        values = [table[shape][str(n)] for shape in ("even", "uniform", "normal", "laplace", "student_t_2")]
        page.says(
            "| {} | {} | {} | {} | {} | {} |",
            f"{n:,}",
            *(f"{one:,.4g}" if one < 1e3 else f"{one:,.0f}" for one in values),
        )
    page.says("**It cannot fall below {}** = 1/(π²/6 − 1)²", f"{1 / (math.pi**2 / 6 - 1) ** 2:.3f}")
    page.allows("So 3.9 is a very good spread", "the question of the heading")
    page.allows("## Is 3.9 good?", "a question")
    page.allows("about 40 for a million points", "the table above, rounded")
    assert round(table["normal"]["1000000"], -1) == 40
    assert 2.6 < table["normal"]["1000000"] / table["normal"]["100"] < 3.4, "about threefold"
    page.says("medians over samples, {} of 100 points, five of a million", FOUND["samples"]["100"])
    assert FOUND["samples"]["1000000"] == 5
    page.allows("of 100 points, five of a million", "the first and the last row of the table")
    for n in (100, 1_000, 10_000, 100_000, 1_000_000):  # what a result's gauge shows is the same
        marks = {mark.name.lower(): mark.dimension for mark in reference_marks(n, 10)}
        for shape in ("uniform", "normal", "laplace"):
            assert 0.95 < table[shape][str(n)] / marks[shape] < 1.05
    t = list(table["student_t_2"].values())
    assert all(5 < after / before < 20 for before, after in pairwise(t)), "about ten times"


def units(page: Page) -> None:
    for name, key in {
        "as it is, the default": "as it is",
        '`scale="range"`': "range",
        '`scale="std"`': "std",
        '`scale="iqr"`': "iqr",
        '`scale="rank"`': "rank",
    }.items():
        one = FOUND["units"][key]
        page.says(
            f"| {name} | {{}} | {one['leader']}, {{}} % |",
            f"{one['dimension']:g}",
            f"{100 * one['share']:.1f}",
        )


def mistakes(page: Page) -> None:
    found, ties, cora = FOUND["mistakes"], FOUND["ties"], FOUND["cora"]
    page.says(
        "Iris has {}; with a single 5.1 typed as 510 it has {}.",
        f"{found['as it is']:g}",
        f"{found['typing error']:,.0f}",
    )
    page.allows("with a single 5.1 typed as 510", "the typing error")
    page.says("iris with its row numbers left in has {}", f"{found['row numbers']:g}")
    page.says("as 0 and 1 have {}; divided", f"{cora['0 and 1']:g}")
    page.says("of each paper they have {}, because", f"{cora['rows divided by their sums']:,.0f}")
    assert (cora["fewest words"], cora["median of words"]) == (1, 20), "a single word; one twentieth"
    page.allows("(1,797 images of 8 × 8 pixels)", "the data")
    page.says(f"`{ties['exact']['leader']}` has a share of {{}} %", f"{100 * ties['exact']['share']:.1f}")
    assert ties["removing the leader changes a bit"] is False
    page.says(f"With a tolerance of {{}} another pixel, `{ties['rtol 0.01']['leader']}`, leads", 0.01)


def sizes(page: Page) -> None:
    page.allows("from 100 points to a million", "the first and the last row of the table")
    page.allows("the middle 90 % of 200 samples", "what was drawn")
    for n, (low, high) in FOUND["spread"].items():
        page.says("| {} | {} | {} |", f"{int(n):,}", f"{low:g}", f"{high:g}")
