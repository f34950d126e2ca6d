"""docs/glossary.md."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from prose.pages import Page


def check(page: Page) -> None:
    page.says("between 0 and {} for normalised columns", f"{math.pi**2 / 6 - 1:.3f}")
