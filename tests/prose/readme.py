"""README.md."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sklearn.datasets import load_wine

if TYPE_CHECKING:
    from prose.pages import Page


def check(page: Page) -> None:
    rows, columns = load_wine().data.shape
    assert columns == 13, "thirteen measurements"
    page.says("thirteen measurements of {} wines", rows)
