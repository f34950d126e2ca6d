"""docs/when-not.md."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prose.sources import benchmark

if TYPE_CHECKING:
    from prose.pages import Page


def check(page: Page) -> None:
    table = benchmark("reading")["references"]
    page.says(
        "{} points have {} in ten uniform columns and {} in ten normal ones",
        "1,000",
        f"{table['uniform']['1000']:g}",
        f"{table['normal']['1000']:g}",
    )
    page.allows("few points, say below 50", "advice; docs/reading.md has the spread")
