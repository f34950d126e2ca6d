"""docs/concepts.md; its sessions are run by test_examples."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prose.sources import benchmark, found as all_of, significant

if TYPE_CHECKING:
    from prose.pages import Page


def check(page: Page) -> None:
    found = benchmark("concepts")["rows"]
    cases = {row["case"]: row for row in found if row["case"] != "transactions"}
    grey = {level: cases[f"digits, pixels darker than {level} of 16"] for level in (4, 8, 12)}
    session = page.text.partition("## What the number shows")[2]  # which test_examples runs
    apart, ones = (float(shown) for shown in all_of(r"(?m)^(\d+\.\d)$", session)[:2])
    page.says("separately, {} becomes {}.", f"{grey[8]['lower']:.0f}", f"{apart:.0f}")
    page.says("ones alone have {}.", f"{ones:.0f}")
    page.says(
        "the dimension is {}, at three quarters {}.", f"{grey[4]['lower']:.0f}", f"{grey[12]['lower']:,.0f}"
    )
    transactions(page, [row for row in found if row["case"] == "transactions"])
    scale, dense = cases["contranominal scale"], cases["random, density 0.9"]
    page.says(
        "{} attributes and its 2²⁰⁰⁰ concepts at once: {}.",
        f"{scale['attributes']:,}",
        f"{scale['lower']:.4f}",
    )
    page.says(
        "The images above take {} s, the contranominal scale of {} attributes {} s.",
        f"{grey[8]['seconds']:.1f}",
        f"{scale['attributes']:,}",
        f"{scale['seconds']:.1f}",
    )
    assert dense["objects"] == 500, "half a thousand"
    page.says(
        "{} % of {} attributes each have more concepts of nearly the same support than "
        "can be told apart in {} s; "
        "the bounds are then {} and {}.",
        90,
        dense["attributes"],
        f"{dense['seconds']:.0f}",
        f"{dense['lower']:.1f}",
        f"{dense['upper']:.1f}",
    )
    page.allows("ID → 64/9", "a limit that is proved")
    page.allows("With at most 100,000 zeros this is done first", "a constant of the search")


def transactions(page: Page, found: list[dict[str, float]]) -> None:
    by_support = {row["min_support"]: row for row in found}
    one = found[0]
    page.says("{} objects × {} attributes, ten to an object", f"{one['objects']:,}", f"{one['attributes']:,}")
    for support, words in ((1_000, "1,000 objects"), (100, "100"), (10, "10")):
        row = by_support[support]
        page.says(
            "| {} | {} | {} | {} | {} | {} |",
            words,
            *(f"{row[side]:.2e}".replace("e+0", "e") for side in ("lower", "upper")),
            significant(row["seconds"]),
            f"{row['closed_sets']:,}",
            significant(row["seconds_to_mine_them"]),
        )
    last = by_support[1]
    assert last["exact"]
    page.says(
        "| none | {} | the same | {} | | |",
        f"{last['lower']:.3e}".replace("e+0", "e"),
        significant(last["seconds"]),
    )
