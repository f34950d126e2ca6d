"""docs/architecture.md; tests/test_architecture.py follows its walks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from geodim.engine.kernels.dealing import LEADING
from geodim.engine.kernels.pyramid import BLOCK
from geodim.engine.kernels.sorting import DIGIT
from geodim.engine.sorter import DEAL_OUT_FROM
from geodim.engine.ways import DROPPED_UP_TO, MANY_COLUMNS, MANY_POINTS

if TYPE_CHECKING:
    from prose.pages import Page


def check(page: Page) -> None:
    page.says("From {} columns on, of {} to {} points", MANY_COLUMNS, MANY_POINTS, f"{DROPPED_UP_TO:,}")
    page.says("records of blocks of {}, {}, … values", BLOCK, 2 * BLOCK)
    page.says("leaves take {} sizes", BLOCK)
    page.says("Sizes below {} are solved over all starts", BLOCK)
    page.says("three {}-bit passes for float32, six for float64", DIGIT)
    page.says("columns of {} MB and more may be dealt out by {} leading bits", DEAL_OUT_FROM >> 20, LEADING)
    page.allows(
        "about 23 bytes per point for float32 (sorted column 8, keys shared with phi 8, records 2.5, the "
        "block being read 4 per column), 31 for float64, plus 12 bytes per point for the profile",
        "the sizes of the arrays, added up",
    )
