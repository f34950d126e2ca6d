"""docs/index.md: the front page of the site."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from prose.pages import Page


def check(page: Page) -> None:
    page.allows("certified to 1 %", "the option beside it")
    page.allows(":columns: 12 12 6 6", "of the twelve columns that the theme has, on screens of four widths")
