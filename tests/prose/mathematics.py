"""docs/mathematics.md."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from geodim import paper
from geodim.engine.alike import BENT_LOOKS
from geodim.engine.column import MOST_LOOKS
from geodim.engine.hard import GRID_SPREAD
from geodim.engine.kernels.counters import TEST_LOOKS
from geodim.engine.kernels.joins import WANTED
from geodim.engine.kernels.pyramid import BASE, BLOCK
from geodim.engine.stepped import ENOUGH, MANY
from geodim.engine.steps import SMALL, SMALLEST

if TYPE_CHECKING:
    from prose.pages import Page


def check(page: Page) -> None:
    least(page)
    page.says(
        "windows of at most {} points (lengths 1 to {}): their {} terms of the sum lie between 0 and Phi({})",
        SMALLEST + 1,
        SMALLEST,
        SMALLEST,
        SMALLEST + 2,
    )
    page.says("± {} Phi({})/(2n)", SMALLEST, SMALLEST + 2)
    page.says("s = {} or, if a sample shows that the tolerance has room for them, {}", SMALLEST, SMALL)
    page.allows("A window of p+q−1 points", "a formula")
    page.says("n/{} leaves", BLOCK)
    page.says("within {} spacings of a line", f"{GRID_SPREAD:.0f}")
    page.says("has looked {} times for each of the lengths", f"{MOST_LOOKS:,}")
    page.says("is solved {} lengths at a time instead", BASE)
    page.says("the levels predict about {} windows of each length", f"{WANTED:.0f}")
    page.allows("a rule of 400 years", "the calendar")
    page.says("more than {} looks for each length and 2^{} in all", f"{MANY:,}", ENOUGH.bit_length() - 1)
    page.says("no more than half of these {} or 2^{} looks", f"{MANY:,}", ENOUGH.bit_length() - 1)
    page.says("as take as long: {}, or {} if each block", TEST_LOOKS,
              f"{BENT_LOOKS:,}")  # fmt: skip
    page.says("below length {}, where m is smaller, the bar is cut to its value at length {}", BASE, BASE)
    m, error = 10**6 // 2, 1e-12
    page.says("An error of {} for 10^{} points", "10^-12", 6)
    page.says(
        "thus gives convolutions of {} numbers of up to {} bits",
        f"{m:,}",
        int(math.log2(1 / (4 * m * error))),
    )


def least(page: Page) -> None:
    """F19: the bound, and how close clusters come to it."""
    limit = math.pi**2 / 6 - 1
    page.says("1/(π²/6 − 1)² ≈ {}", f"{1 / limit**2:.3f}")
    for n in range(2, 200):
        assert sum(1 / ((n - 1) // (k - 1)) for k in range(2, n + 1)) / n < limit
    n = 240
    clusters = np.array([np.arange(n) * (q + 1) // n / q for q in range(1, 16)]).T
    assert 0.98 * limit < paper.algorithm_1(clusters) < limit
