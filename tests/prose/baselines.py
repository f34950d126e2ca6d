"""docs/baselines.md."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING

from geodim.baselines import two_nn
from geodim.baselines.mle import PAPER_SAMPLE
from geodim.experiments.printed import printed
from prose.sources import benchmark, rows

if TYPE_CHECKING:
    from prose.pages import Page

PRINTED = printed()["khop_mle"]


def check(page: Page) -> None:
    false = benchmark("false_distances")
    zeros = false["Cora, zeros"]
    assert f"{zeros['left out']:.4f}" == PRINTED["Cora"][0]
    page.says(
        "{} is printed; it would be {} with zeros counted", PRINTED["Cora"][0], f"{zeros['counted']:.4f}"
    )
    page.says("For more than {} points a seeded sample", f"{PAPER_SAMPLE:,}")
    left_out = inspect.signature(two_nn).parameters["discard"].default
    page.says("the largest {} % are left out", f"{left_out:.0%}".rstrip("%"))
    products(page, false["PubMed, products"])
    hops(page, false["Cora, float32 hops"])
    kernels = false["Cora, kernels"]
    assert [f"{one:.4f}" for one in kernels["SkylakeX"]] == PRINTED["Cora"]
    page.says("k = 2, ..., 5 give {}, {}, {}, {}.", *(f"{one:.4f}" for one in kernels["Haswell"][2:]))
    table(page)
    page.allows("kernels of its own (1.1)", "a version of scikit-learn")
    page.allows("(its pull request 28)", "a reference")
    page.allows("version 0.5 agrees with ours", "a version of scikit-dimension")


def products(page: Page, found: dict[str, object]) -> None:
    false = sorted(set(found["false distances"]))
    page.says(
        "turns {} of the {} zero distances into {} and {}: the MLE is {} instead of {}.",
        len(found["false distances"]),
        found["zero distances"],
        *(f"{one:.0e}".replace("e-09", "e-9") for one in false),
        f"{found['mle']:.4f}",
        f"{found['sound']:.4f}",
    )
    page.says("scikit-learn {} on the dense matrix", found["scikit-learn"].rpartition(".")[0])
    page.allows("equal rows come out up to 1e-8 of their norm apart", "the root of 2^-53")


def hops(page: Page, found: dict[str, object]) -> None:
    low, high = (f"{one * 1e7:.1f}e-7" for one in found["false distances"])
    page.says("(Cora, k = 5: {} to {},", low, high)
    page.says("are closer than {}).", f"{found['nearest others']:.2f}")
    page.allows("Hops summed in float32 differ by about 1e-7", "the range follows")
    page.allows("One false distance of 1e-8 weighs", "an example")
    (cora,) = rows("mle", dataset="Cora", k=5)
    page.says(
        "{} of them among {} terms take the value from {} to {}.",
        cora["sound_zero"] - cora["paper_like_zero"],
        f"{4 * cora['points']:,}",
        f"{cora['sound']:.1f}",
        f"{cora['paper_like']:.1f}",
    )


def table(page: Page) -> None:
    for name in ("PubMed", "Cora", "CiteSeer"):
        found = sorted(rows("mle", dataset=name), key=lambda row: row["k"])
        gaps = " {} |" * 6
        page.says(f"| {name} | printed |{gaps}", *PRINTED[name])
        page.says(f"| | exact |{gaps}", *(f"{row['sound']:.4f}" for row in found))
        page.says(f"| | paper |{gaps}", *(f"{row['paper_like']:.4f}" for row in found))
        if name != "PubMed":
            page.says(
                f"| | zero distances: exact / paper |{' {} / {} |' * 6}",
                *(row[key] for row in found for key in ("sound_zero", "paper_like_zero")),
            )
