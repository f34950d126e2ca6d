"""docs/reliability.md: what the campaigns counted."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from oracles.drawing import KINDS
from prose.sources import found, result, text

if TYPE_CHECKING:
    from prose.pages import Page


def check(page: Page) -> None:
    oracle(page)
    versions(page)
    faults(page)
    damaged(page)
    page.allows("hops in fractions or 60 decimal digits", "tests/exact_hops.py")
    before = "what earlier code did, beside the test that holds what is right now"
    page.allows_section("Found and fixed", before)
    for piece in (
        "| 8 TB of fill values |",
        "| 3 x 8,000 values as CSV, Parquet or a frame | 115 s |",
        "a line of 3 GB |",
        "one neighbour list shared by 600 nodes",
        "| 857 of 9,365 unexpected |",
    ):
        page.allows(piece, before)
    page.says(
        "{} small changes to kernels", found(r"machine: (\d+) mutants", text("docs/results/mutants.md"))[0]
    )
    total = text("docs/results/coverage.txt").split()[-1].rstrip("%")
    page.says("contracts: {} %", total)
    assert float(total) > 95.0


def oracle(page: Page) -> None:
    campaign = result("oracle")
    assert campaign["comparisons"] >= 1_000_000
    assert campaign["mismatches"] == 0
    for name, key in {
        "comparisons": "comparisons",
        "cases": "cases",
        "numbers compared": "numbers",
        "mismatches": "mismatches",
    }.items():
        page.says(f"| {name} | {{}} |", f"{campaign[key]:,}")
    page.says("({} kinds of columns", len(KINDS))
    page.says("{} processes, {} s):", campaign["processes"], f"{campaign['seconds']:.0f}")
    again = "seeds and cases, which make oracle draws again"
    page.allows("(case 71,270), and the core of denormal data was not minimal (case 246,675)", again)
    page.allows("seed 20261117 ended after 108,386 comparisons", again)
    page.allows("case 87,507). The run with seed 20261119 ended after 150,189 comparisons", again)
    page.allows("(case 35,146)", again)
    page.allows("ended at case 2,033", again)
    page.allows(
        "and the case alone 2,263 times with 16 threads", "how often it was tried; no log of it was kept"
    )


def versions(page: Page) -> None:
    lines = text("docs/results/lowest.txt").splitlines()
    lowest = dict(line.split("==") for line in lines if "==" in line)
    passed, skipped, failed = (int(line.split()[0]) for line in lines[-3:])
    assert failed == 0
    page.says("{} tests pass, {} are skipped, none fails", f"{passed:,}", f"{skipped:,}")
    for package, name in {"NumPy": "numpy", "SciPy": "scipy", "Numba": "numba", "pandas": "pandas"}.items():
        page.says(f"{package} {{}}", lowest[name])
    page.says("PyTorch {} (with Triton {})", lowest["torch"], lowest["triton"])


def counts(log: str) -> dict[str, int]:
    """The rows of a log that begin with a number."""
    pairs = (line.split(maxsplit=1) for line in text(log).splitlines() if line.startswith("  "))
    return {pair[1]: int(pair[0]) for pair in pairs if len(pair) == 2 and pair[0].isdigit()}


def faults(page: Page) -> None:
    hit = counts("docs/results/faults.log")
    assert hit["hits"] >= 100
    page.says(
        "{} hits, {} went wrong, {} files whole, {} of {} answers",
        hit["hits"],
        hit["went wrong"],
        hit["files whole after a fault"],
        hit["answers the same as undisturbed"],
        hit["runs after a fault"],
    )
    assert hit["went wrong"] == 0


def damaged(page: Page) -> None:
    log = text("docs/results/fuzz.log")
    row = r"^([\w-]+): ([\d,]+) inputs, .*; crash (\d+), hang (\d+), untyped (\d+), code ran (\d+)$"
    readers = {name: (int(n.replace(",", "")), bad) for name, n, *bad in re.findall(row, log, re.MULTILINE)}
    assert sum(n for n, _ in readers.values()) >= 999_000
    assert {name: kinds for name, (_, kinds) in readers.items() if kinds != ["0"] * 4} == {}
    page.says(
        "{} inputs for {} readers, 0 crashes, 0 hangs",
        found(r"Damaged files: ([\d,]+) inputs", log)[0],
        len(readers),
    )
    memory, seconds = found(r"(\d+) MiB beyond what valid files take, (\d+) s per input", log)[0]
    page.says("hangs over {} s, 0 untyped errors", seconds)
    page.says("never more than {} GiB beyond what valid files take", int(memory) // 1024)
