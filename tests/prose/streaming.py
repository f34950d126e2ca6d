"""docs/streaming.md."""

from __future__ import annotations

from typing import TYPE_CHECKING

from geodim.streaming.dimension import CELLS, SHARE
from geodim.streaming.sketch import CELL_BYTES
from prose.sources import benchmark

if TYPE_CHECKING:
    from prose.pages import Page


def check(page: Page) -> None:
    rows = benchmark("streaming")["rows"]
    for row in rows:
        assert row["values"] == 10**8
        assert row["lower"] <= row["dimension"] <= row["upper"]
        assert row["error"] <= 1e-3
        assert row["peak_bytes"] < 2e9
        page.says(
            f"| {row['columns']} | " + "{} | {} | {} MB | {} MB | {} | {} |",
            f"{row['error']:.1e}",
            f"{sum(row['cells']):,}",
            f"{row['state_bytes'] / 1e6:.0f}",
            f"{row['peak_bytes'] / 1e6:.0f}",
            f"{row['ns_per_value']:.0f}",
            f"{row['bounds_seconds']:.1f}",
        )
        page.allows(f"| {row['columns']} |", "the name of a stream")
    page.says("M is {}/rtol", CELLS)
    page.says("{} bytes per cell and column in half of it", CELL_BYTES)
    assert SHARE == 0.5
    page.allows("10^8 values and 1e-3", "what was asked for")
    page.allows("rtol 1e-3, memory=10^9", "what was asked for")
