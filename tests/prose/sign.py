"""docs/sign.md."""

from __future__ import annotations

from prose.pages import Page


def check(page: Page) -> None:
    pass
