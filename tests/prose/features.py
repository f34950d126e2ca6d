"""docs/features.md."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prose.sources import benchmark

if TYPE_CHECKING:
    from prose.pages import Page

FOUND = benchmark("features")


def check(page: Page) -> None:
    for name, words in {
        "cube": "uniform in a cube of 5 dimensions",
        "rotated": "the same, rotated",
        "line": "on a line in 50 dimensions",
        "shuffled": "the same, each column shuffled by itself",
    }.items():
        page.says(
            f"| {words} | {{}} | {{}} |", *(f"{FOUND[kind][name]:g}" for kind in ("columns", "distances"))
        )
    for name, words in {
        "clusters": "3,000 points in 40 tight clusters, 6 dimensions",
        "digits": "1,797 images of digits, 64 pixels",
    }.items():
        found = FOUND["landmarks"][name]
        ends = [f"{end:g}" for count in ("40", "256") for end in found[count]]
        page.says(
            f"| {words} | {{}} | between {{}} and {{}} | between {{}} and {{}} |", f"{found['all']:g}", *ends
        )
        assert found["256"][0] <= found["all"] <= found["256"][1]
        page.allows(f"| {words} |", "the data")
    for name, words in {
        "cube": "2,000 points, uniform in a cube of 5 dimensions",
        "normal": "2,000 normal points, 10 dimensions",
        "digits": "1,797 images of digits, 64 pixels",
        "line": "2,000 points on a line in 50 dimensions",
    }.items():
        page.says(f"| {words} | between {{}} and {{}} |", *(f"{end:g}" for end in FOUND["directions"][name]))
        page.allows(f"| {words} |", "the data")
    page.allows("| 2,000 points | columns | distances |", "the data")
    page.allows("| on a line in 50 dimensions |", "the data")
    page.allows("| | all points | 40 landmarks | 256 landmarks |", "what was asked for")
    page.allows("measures from 256 points only", "the option beside it")
    page.allows("Tohoku Math. J. 74, 2022", "a reference")
    proof = "geodim.families.metrics has the proof, and its tests the numbers"
    page.allows("(d + 1) 2^-53; 2^-53; (d / p + 40) 2^-53", proof)
    page.allows("3.25 (2 d + 14) 2^-53 + 2^-47", proof)
    page.allows("| (2 d + 14) 2^-53 |", proof)
