"""docs/comparing.md."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING

from geodim.gauge.gauge import ABOUT
from geodim.sampling.comparison import SURE, compare

if TYPE_CHECKING:
    from prose.pages import Page


def check(page: Page) -> None:
    page.says("(half of those of the smallest data set, or `--points`), {} of each", repeats())
    page.says("if it is so in {} % of the draws or more", f"{100 * SURE:.0f}")
    page.says("{} % more or less than its mark", f"{100 * (ABOUT - 1.0):.0f}")
    page.allows("## Is 3.9 low?", "the question of a reader")


def repeats() -> int:
    found: int = inspect.signature(compare).parameters["repeats"].default
    return found
