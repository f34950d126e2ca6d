"""docs/weights.md."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prose.sources import benchmark, constant

if TYPE_CHECKING:
    from prose.pages import Page


def check(page: Page) -> None:
    found = {
        (row["weights"], row["points"], row["rtol"]): row["seconds"] for row in benchmark("weights")["rows"]
    }
    columns = [(4_000, 0.0), (20_000, 0.0), (100_000, 0.0), (100_000, 0.01)]
    for name in dict.fromkeys(weights for weights, _, _ in found):
        cells = [f"{found[name, points, rtol]:.4f}" for points, rtol in columns]
        page.says(f"| {name} | {{}} | {{}} | {{}} | {{}} |", *cells)
    page.allows("| weights | 4,000 points | 20,000 | 100,000 | 100,000, rtol=0.01 |", "what was asked for")
    few = constant("src/geodim/engine/kernels/mass_steps.py", "FEW")
    page.says("No more than {} windows are looked at one by one", few)
    page.says("Where they are small, {} on average", constant("src/geodim/data/measures.py", "TIMES"))
    page.allows("whole numbers of 122 bits", "how masses are held")
    page.allows(
        "some 500 bytes a point and thread", "geodim.planning.cpu.MASS_COLUMN, held against runs by its tests"
    )
