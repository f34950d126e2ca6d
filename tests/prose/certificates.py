"""docs/certificates.md; tests/test_checker.py counts the lines of the checker."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING

from geodim import checker
from geodim.result import IDResult
from prose.sources import benchmark

if TYPE_CHECKING:
    from prose.pages import Page

CASES = {
    "digits": "digits, 1,797 × 64",
    "cora": "Cora with 5 hops, 2,708 × 8,598",
    "normal": "normal float32, 10^6 × 32",
    "cauchy": "Cauchy, 10^6 × 1",
    "grid": "0, 1, …, 10^6 − 1",
}


def check(page: Page) -> None:
    for name, words in CASES.items():
        found = benchmark("certificates")[name]
        for one in found["certificates"]:
            page.says(
                f"| {words} | {{}} | {{}} | {{}} | {{}} s | {{}} s | {{}} ns | {{}} MB |",
                f"{one['rtol']:f}".rstrip("0"),
                f"{one['sizes']:,}",
                size(one["bytes"]),
                f"{one['make_cpu_s']:.2g}",
                f"{one['check_cpu_s']:.2g}",
                f"{one['check_cpu_ns_per_value']:.0f}",
                f"{one['check_peak_bytes'] / 1e6:.0f}",
            )
    page.says(
        "proved interval for the dimension, {} by default",
        f"{inspect.signature(IDResult.certificate).parameters['rtol'].default:.0e}".replace("e-03", "e-3"),
    )
    page.says("reads no more than {} MiB of JSON", checker.MOST_BYTES >> 20)
    page.allows("and 150 lines of code", "at least so many are counted in tests/test_checker.py")
    page.allows("[0, 1e-15] say", "an example")


def size(count: int) -> str:
    unit, value = ("MB", count / 1e6) if count >= 1e6 else ("kB", count / 1e3)
    return f"{value:.{0 if value >= 10 else 1}f} {unit}"
