"""docs/gradients.md; tests/test_torch_gradients.py and tests/test_examples.py look at what it says."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prose.sources import benchmark

if TYPE_CHECKING:
    from prose.pages import Page


def check(page: Page) -> None:
    for row in benchmark("gradients")["rows"]:
        name = row["case"]
        page.says(
            f"| {name} | " + "{} s | {} s | {} |",
            f"{row['forward']:.4f}",
            f"{row['backward']:.4f}",
            f"{row['ratio']:.2f}",
        )
        page.allows(f"| {name} |", "sizes that were tried")
    page.allows("Lightning 2.6.6 and torchmetrics 1.9.0", "versions")
