"""docs/report.md."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

import geodim
from geodim.display.thinning import MOST_GROUPS

if TYPE_CHECKING:
    from prose.pages import Page


def check(page: Page) -> None:
    page.says("one file of about {} MB", size_of_a_report())
    held = "held by the tests in a browser, tests/browser"
    page.allows("(10,000 features are not a problem)", held)
    page.allows("screens from 360 pixels to wide ones", held)
    page.allows("a contrast of at least 4.5", held)
    page.says("a curve has at most {} vertices", f"{2 * MOST_GROUPS + 6:,}")
    page.says("changes by more than 1/{}", MOST_GROUPS // 2)


def size_of_a_report() -> str:
    """In megabytes."""
    pytest.importorskip("jinja2", reason="reports need jinja2")
    page = pytest.importorskip("geodim.display.html.document", reason="reports need plotly")
    result = geodim.intrinsic_dimension(np.random.default_rng(0).normal(size=(200, 3)))
    return f"{len(page.render_report([result]).encode()) / 1e6:.0f}"
