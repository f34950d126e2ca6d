"""docs/weights.md."""

from __future__ import annotations

from typing import TYPE_CHECKING

from geodim.data.measures import TIMES
from geodim.planning.cpu import MASS_COLUMN
from prose.sources import benchmark

if TYPE_CHECKING:
    from prose.pages import Page

CASES = ((4000, 0.0), (20_000, 0.0), (100_000, 0.0), (100_000, 0.01))


def check(page: Page) -> None:
    seconds = {
        (row["weights"], row["points"], row["rtol"]): row["seconds"] for row in benchmark("weights")["rows"]
    }
    for kind in dict.fromkeys(weights for weights, *_ in seconds):
        row = " | ".join(f"{seconds[kind, *case]:.4f}" for case in CASES)
        page.says(f"| {kind} | " + " | ".join(["{}"] * len(CASES)) + " |", *row.split(" | "))
    page.says("some {} bytes a point", MASS_COLUMN)
    page.says("{} on average", TIMES)
    page.allows("| 4,000 points | 20,000 | 100,000 | 100,000, rtol=0.01 |", "sizes that were tried")
    page.allows("No more than 32 windows", "a constant of the kernel")
    page.allows("whole numbers of 122 bits", "the width of masses")
