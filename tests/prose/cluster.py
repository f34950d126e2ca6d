"""docs/cluster.md."""

from __future__ import annotations

from typing import TYPE_CHECKING

from geodim.plans import CORE
from prose.sources import benchmark, constant

if TYPE_CHECKING:
    from prose.pages import Page


def check(page: Page) -> None:
    found = benchmark("cluster")
    files(page, found)
    little_memory(page, found)
    cells(page, found)
    page.says("thinned to {} numbers", f"{constant('src/geodim/backends/dask/tasks.py', 'COARSE'):,}")
    page.says(
        "in segments of {} million k", constant("src/geodim/backends/dask/reduction.py", "SEGMENT") // 2**20
    )
    page.says("counting takes {} ns per value", f"{CORE.count * 1e9:.0f}")
    formula = "a formula of docs/planning.md, which tests/test_plan_record.py holds against runs"
    page.allows("at most 12 n per block of columns", formula)
    page.allows("about 61 n (float32) or 73 n (float64)", formula)
    page.allows("One column takes 73 S bytes", formula)
    page.allows("Cells take 80 bytes each", formula)
    page.allows(
        "61 or 73 bytes per point in a third of its memory: 10^8 points of "
        "float32 want workers of about 18 GB",
        formula,
    )
    page.allows("in some 4,000 cells", "a constant of the search")
    page.allows("Chunks of 16 to 128 MB are best", "advice")
    page.allows("a sample of 256 to 2,048 rows", "geodim.engine.pilot.sample_rows")
    page.allows("about m (m + l) / 64 comparisons", "64 are made at a time")
    page.allows("16 Parquet files", "the data")
    page.allows("zarr, 16 chunks", "the data")


def files(page: Page, found: dict) -> None:
    for files, words in (("parquet", "16 Parquet files"), ("zarr", "zarr, 16 chunks")):
        plain, keeping = (
            next(row for row in found["rows"] if (row["files"], row["workers_keep_memory"]) == (files, keep))
            for keep in (False, True)
        )
        page.says(
            f"| {words} | {{}} and {{}} s | {{}} s = {{}} x | {{}} s = {{}} x |",
            *(f"{min(row['local']):.1f}" for row in (plain, keeping)),
            *(
                part
                for row in (plain, keeping)
                for part in (f"{min(row['cluster']):.2f}", f"{row['ratio']:.2f}")
            ),
        )


def little_memory(page: Page, found: dict) -> None:
    little = found["little_memory"]
    rough, exact = little["rtol 1e-3"], little["exact"]
    page.says(
        "{} GB of rows with a limit of {} GB",
        f"{little['bytes'] / 1e9:.1f}",
        f"{little['memory_limit'] / 1e9:.2f}",
    )
    page.says(
        "certified to {} (rtol 1e-3) in {} s with {} MB at most",
        scientific(rough["error"]),
        f"{rough['seconds']:.0f}",
        f"{max(rough['peak_mb_per_worker']):.0f}",
    )
    page.says(
        "in {} s with {} MB at most", f"{exact['seconds']:.0f}", f"{max(exact['peak_mb_per_worker']):.0f}"
    )
    assert little["workers_lost"] == 0


def cells(page: Page, found: dict) -> None:
    for name, one in benchmark("cells").items():
        page.says(f"| {name} | {{}} | {{}} |", f"{one['steps']:,.0f}", f"{one['cells']:,}")
        page.allows(f"| {name} |", "the data")
    page.says(
        "for normal columns and rtol = 1e-3 some {}.",
        f"{round(benchmark('cells')['normal']['steps'], -4):,.0f}",
    )
    few, many = found["heavy_tails"]
    assert (few["points"], many["points"], many["passes"]) == (2 * 10**7, 2 * 10**8, 1.0)
    assert max(few["peak_mb_per_worker"]) == max(many["peak_mb_per_worker"])
    page.says(
        "one pass after the first look, {} s, certified to {}, {} MB at most per worker",
        f"{many['seconds']:.0f}",
        scientific(many["error"]),
        f"{max(many['peak_mb_per_worker']):.0f}",
    )
    page.allows("by two workers of 600 MiB", "what was asked for")


def scientific(value: float) -> str:
    return f"{value:.1e}".replace("e-0", "e-")
