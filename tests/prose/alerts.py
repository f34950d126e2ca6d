"""docs/alerts.md."""

from __future__ import annotations

from typing import TYPE_CHECKING

from geodim.alerts import columns, scale, trust, view

if TYPE_CHECKING:
    from prose.pages import Page


def check(page: Page) -> None:
    page.says("upper bound is more than {} % above the lower one", f"{100 * trust.APART:.0f}")
    page.says("({} at most, and one in {})", scale.HANDFUL, scale.PART)
    page.says("a column with a share of {} %", f"{100 * columns.MATTERS:.0f}")
    page.says("carry less than {} % together", f"{100 * scale.NOTHING:.0f}")
    page.says("one column carries {} % or more", f"{100 * scale.ALONE:.0f}")
    page.says("fewer than {} points", trust.FEW)
    page.says("rows of {} columns", view.MOST_COLUMNS)
    page.allows("dates such as 20240131", "an example")
    page.allows("2,048 rows", "the sample of the first pass")
    page.allows("# 5.1", "the right value of an example")
