"""docs/features.md."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scipy.spatial.distance import pdist
from sklearn.datasets import load_digits

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
    cost(page)
    embeddings(page)
    unions(page)
    page.allows("| 2,000 points | columns | distances |", "the data")
    page.allows("| on a line in 50 dimensions |", "the data")
    page.allows("| | all points | 40 landmarks | 256 landmarks |", "what was asked for")
    page.allows("measures from 256 points only", "the option beside it")
    page.allows("Tohoku Math. J. 74, 2022", "a reference")
    proof = "geodim.families.metrics has the proof, and its tests the numbers"
    page.allows("(d + 1) 2^-53; 2^-53; (d / p + 40) 2^-53", proof)
    page.allows("3.25 (2 d + 14) 2^-53 + 2^-47", proof)
    page.allows("| (2 d + 14) 2^-53 |", proof)


def cost(page: Page) -> None:
    on_cores = {row["case"]: row for row in benchmark("distances-2-cores")["rows"]}["vectors-100000"]
    on_device = {row["case"]: row for row in benchmark("gpu-families")["rows"]}
    page.says(
        "All distances of {} word-vector-like points with 100 coordinates take {} s on two cores of a Xeon "
        "with AVX-512, in {} MB",
        f"{on_cores['points']:,}",
        f"{on_cores['wall_s']:.0f}",
        f"{on_cores['peak_mb']:.0f}",
    )
    page.allows("points with 100 coordinates", "the data")
    few, many = on_device["distances-100000"], on_device["distances-1000000"]
    page.says(
        "On an H200 the same {} points take {} s, and {} of them {} s;",
        f"{few['points']:,}",
        f"{few['seconds']:.1f}",
        f"{many['points']:,}",
        f"{many['seconds']:.0f}",
    )
    columns = on_device["columns"]
    page.says(
        "{} ordinary columns of {} points cost {} ns per value",
        f"{columns['columns']:,}",
        f"{columns['points']:,}",
        f"{columns['ns_per_value']:.2f}",
    )


def embeddings(page: Page) -> None:
    """Three embeddings of the same points, and what the page says of them."""
    by_rotation, by_distances = {}, {}
    found = benchmark("embeddings")["embeddings"]
    for name, both in found.items():
        one, other = both["as it is"], both["rotated"]
        intervals = [f"{end:g}" for ends in (one["directions"], other["directions"]) for end in ends]
        cells = [one["columns"], other["columns"], one["distances"], other["distances"], one["angles"]]
        page.says(
            f"| {name} |{' {} |' * 5} {{}} to {{}} | {{}} to {{}} |",
            *(f"{value:g}" for value in cells),
            *intervals,
        )
        assert one["distances"] == other["distances"]
        assert one["angles"] == other["angles"]
        by_rotation[name] = other["columns"] / one["columns"]
        by_distances[name] = one["distances"], one["angles"]
    assert by_rotation["principal components"] > 1.4
    assert by_rotation["random projection"] < 0.9
    assert by_rotation["hidden layer"] > 1.1
    for at in range(2):
        order = sorted(by_distances, key=lambda name: by_distances[name][at])
        assert order == ["hidden layer", "principal components", "random projection"]
    assert (
        found["principal components"]["as it is"]["directions"][0]
        < found["hidden layer"]["as it is"]["directions"][1]
    )
    page.allows("1,797 images of digits, embedded in 32 dimensions", "the data")
    page.allows("as well as all 64 pixels", "the data")
    page.says("(distances: {})", f"{FOUND['unions']['distances']:g}")


def unions(page: Page) -> None:
    for name, words in {
        "columns": "columns, 64 pixels",
        "distances": "distances",
        "angles": "angles (`cosine`)",
        "raw": "all three, as they are",
        "by diameter": "all three, each divided by its diameter",
    }.items():
        page.says(f"| {words} | {{}} |", f"{FOUND['unions'][name]:g}")
    page.allows("| columns, 64 pixels |", "the data")
    page.allows("| 1,797 images of digits | dimension |", "the data")
    pixels = load_digits().data
    page.says("they are up to {} and pixels up to {}.", f"{pdist(pixels).max():.0f}", f"{pixels.max():.0f}")
    page.allows('such as "distances: 17", or "distances 1: 17" where there are two of a kind', "a name")
    page.says(
        "one well-chosen point reaches {} % of the discriminability of all {}, three points {} %, ten {} %.",
        f"{100 * FOUND['chosen']['1']:.2f}",
        f"{len(pixels):,}",
        *(f"{100 * FOUND['chosen'][count]:.2f}" for count in ("3", "10")),
    )
