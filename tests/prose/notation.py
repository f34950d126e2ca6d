"""docs/notation.md."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from prose.pages import Page


def check(page: Page) -> None:
    pass
