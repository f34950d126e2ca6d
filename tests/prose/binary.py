"""docs/binary.md; its sessions are run by test_examples."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

import geodim
from geodim.concepts.hamming import probability_error
from geodim.experiments.binary_data import DATA
from geodim.experiments.binary_study import agreement, agreement_beyond_density, summary
from prose.sources import benchmark, rows

if TYPE_CHECKING:
    from prose.pages import Page

Row = dict[str, Any]


def shown(value: float) -> str:
    """Three significant digits at least, and no more than a table can hold."""
    if value >= 1e5:
        return f"{value:.2e}".replace("e+0", "e")
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}"


def bounds(lower: float, upper: float) -> str:
    return shown(lower) if lower == upper else f"{shown(lower)} to {shown(upper)}"


def line(row: Row) -> tuple[str, ...]:
    """A line of the table."""
    return (
        row["data"],
        f"{row['objects']:,}",
        f"{row['attributes']:,}",
        f"{row['density']:.3f}",
        bounds(row["lower"], row["upper"]),
        bounds(row["shuffled_lower"], row["shuffled_upper"]),
        f"{row['correlation']:.2f}",
        shown(row["normalized"]),
        f"{row['relative_normalized']:.2f}",
    )


def findings(found: list[Row]) -> dict[str, str]:
    """What the page says besides the table, by the name of the gap that it fills."""
    said = agreement(found)
    some = {row["data"]: row for row in summary(found)}
    wide = sorted(
        (row for row in some.values() if row["upper"] > 5 * row["lower"]), key=lambda row: row["data"]
    )
    digits = [row for row in found if row["data"] == "digits" and row["upper"] < 1.01 * row["lower"]]
    return {
        "RHO": f"{said['both dimensions'][1]:.2f}",
        "EXACTRHO": f"{said['both dimensions, exact'][1]:.2f}",
        "EXACTN": str(said["both dimensions, exact"][0]),
        "CDENS": f"{said['by concepts, density'][1]:.2f}".replace("-", "−"),
        "HDENS": f"{said['by distances, density'][1]:.2f}".replace("-", "−"),
        "PARTIAL": f"{agreement_beyond_density(found):.2f}",
        "RELRHO": f"{said['both, relative'][1]:.2f}",
        "RELP": f"{said['both, relative'][2]:.3f}",
        "CITEH": f"{some['citeseer']['relative_normalized']:.0%}".replace("%", " %"),
        "DIGITS": str(max(row["support"] for row in digits)),
        "WIDE": " and ".join(f"{row['data']} {bounds(row['lower'], row['upper'])}" for row in wide),
    }


def check(page: Page) -> None:
    found = rows("binary")
    some = {row["data"]: row for row in summary(found)}
    assert len(some) == len(DATA) == 18, "the heading says eighteen"
    for row in some.values():
        page.says("| {} | {} | {} | {} | {} | {} | {} | {} | {} |", *line(row))
    said = findings(found)
    page.says("is {} over the eighteen ({} over the {} that", said["RHO"], said["EXACTRHO"], said["EXACTN"])
    page.says(
        "with the share of crosses, the correlation of the dimension by concepts is {}, that of H is {};",
        said["CDENS"],
        said["HDENS"],
    )
    page.says("with density taken out, {} is left", said["PARTIAL"])
    assert agreement_beyond_density(found) < 0.48, "not significant at 5 % with 18 - 3 degrees of freedom"
    page.says("the correlation is {} (p = {}).", said["RELRHO"], said["RELP"])
    page.says("(H is {} of the columns)", said["CITEH"])
    assert 0.3 < some["citeseer"]["relative"] < 0.36, "a third"
    page.says(
        "a *lower* dimension by concepts ({} becomes {}), since",
        shown(some["minesweeper"]["lower"]),
        shown(some["minesweeper"]["shuffled_lower"]),
    )
    page.says("while H is {} of seven", f"{some['minesweeper']['normalized']:.0f}")
    page.says("{} objects or more settle the pixels to {} %;", said["DIGITS"], 1)
    page.says("stay wide**: {}.", said["WIDE"])
    thresholds(page)
    copies = np.repeat(np.random.default_rng(0).random((1000, 8)) < 0.5, 8, axis=1)
    page.says(
        "have H = {}, not eight", f"{geodim.binary_correlation_dimension(copies).normalized_dimension:.1f}"
    )
    nominal = geodim.binary_correlation_dimension(np.eye(1000, dtype=bool)).normalized_dimension
    page.says("number of columns: {} of {}, because", f"{nominal:,.0f}", "1,000")
    page.says(
        "with {} % certainty (Dvoretzky, Kiefer, Wolfowitz), {} for a million",
        99,
        f"{probability_error(10**6):.4f}",
    )
    page.allows("1,797 images, 64 pixels", "the data of an example")
    page.allows("line is fitted: at 50 radii", "a constant of the definition")
    page.allows("mean distances below 0.6", "a constant of the definition")
    page.allows("Up to 20,000 objects, all pairs", "a constant of the program")
    page.allows("within 30 s for the data and 15 s for the shuffled", "limits that were given")


def thresholds(page: Page) -> None:
    """Pixels at three thresholds, by distances here and by concepts in the benchmark."""
    from sklearn.datasets import load_digits

    grey = load_digits().data
    levels = (4, 8, 12)
    columns = [geodim.binary_correlation_dimension(grey > level).normalized_dimension for level in levels]
    cases = {row["case"]: row for row in benchmark("concepts")["rows"]}
    concepts = [cases[f"digits, pixels darker than {level} of 16"]["lower"] for level in levels]
    page.says(
        "levels give H {}, {} and {}, and {}, {} and {} by concepts.",
        *(f"{value:.0f}" for value in columns),
        *(f"{value:,.0f}" for value in concepts),
    )
