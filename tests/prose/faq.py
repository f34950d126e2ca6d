"""docs/faq.md."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from prose.sources import benchmark

if TYPE_CHECKING:
    from prose.pages import Page


def check(page: Page) -> None:
    normal = benchmark("reading")["columns"]["normal"]
    page.says(
        "{} normal points have {} in one column, {} in ten and {} in a hundred",
        "1,000",
        *(f"{normal[d]:g}" for d in ("1", "10", "100")),
    )
    page.says("Why is its dimension {}?", f"{normal['1']:.0f}")
    page.allows("[is 3.9 good?]", "the title of a section")
    page.says("{} is the limit", f"{1 / (math.pi**2 / 6 - 1) ** 2:.3f}")
