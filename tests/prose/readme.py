"""README.md."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sklearn.datasets import load_wine

from prose.sources import benchmark

if TYPE_CHECKING:
    from prose.pages import Page


def check(page: Page) -> None:
    rows, columns = load_wine().data.shape
    assert columns == 13, "thirteen measurements"
    page.says("thirteen measurements of {} wines", rows)
    several = [
        (case["now"], machine.get("sorts_ns"))
        for machine in benchmark("yardsticks").values()
        for case in machine["cases"]
        if case["threads"] == 1 and case["case"] != "one column of 10^7, exact"
    ]
    assert max(now["to_yardstick"] for now, _ in several) < 3.0  # "at most three times as long"
    assert max(now["ns"] / sorts["none"] for now, sorts in several if sorts) < 0.5  # "a fraction"
