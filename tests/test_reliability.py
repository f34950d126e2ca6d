"""The figures of docs/reliability.md are those of the committed logs."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs/reliability.md").read_text(encoding="utf-8")
ORACLE = json.loads((ROOT / "docs/results/oracle.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", ["comparisons", "cases", "mismatches"])
def test_counts_of_the_campaign(name: str) -> None:
    assert f"| {name} | {ORACLE[name]:,} |" in PAGE


def test_the_campaign_was_large_and_clean() -> None:
    assert ORACLE["comparisons"] >= 1_000_000
    assert ORACLE["mismatches"] == 0
    assert f"| numbers compared | {ORACLE['numbers']:,} |" in PAGE


@pytest.mark.parametrize("page", ["reliability", "numerics"])
def test_the_tests_that_are_named_exist(page: str) -> None:
    words = (ROOT / f"docs/{page}.md").read_text(encoding="utf-8").split("`")
    named = [word for word in words if word.startswith(("tests/", "src/"))]
    assert len(named) > 5
    assert [word for word in named if not (ROOT / word).exists()] == []


def counts(log: str) -> dict[str, int]:
    """The rows of a log that begin with a number."""
    lines = (ROOT / "docs/results" / log).read_text(encoding="utf-8").splitlines()
    rows = (line.split(maxsplit=1) for line in lines if line.startswith("  "))
    return {row[1]: int(row[0]) for row in rows if len(row) == 2 and row[0].isdigit()}


def test_faults() -> None:
    found = counts("faults.log")
    assert found["hits"] >= 100
    assert found["went wrong"] == 0
    same, runs = found["answers the same as undisturbed"], found["runs after a fault"]
    whole = found["files whole after a fault"]
    assert f"{found['hits']} hits, 0 went wrong, {whole} files whole, {same} of {runs} answers" in PAGE


def test_damaged_files() -> None:
    log = (ROOT / "docs/results/fuzz.log").read_text(encoding="utf-8")
    row = r"^([\w-]+): ([\d,]+) inputs, .*; crash (\d+), hang (\d+), untyped (\d+), code ran (\d+)$"
    found = {name: (int(n.replace(",", "")), bad) for name, n, *bad in re.findall(row, log, re.MULTILINE)}
    assert sum(n for n, _ in found.values()) >= 999_000
    assert f"1,000,000 inputs for {len(found)} readers, 0 crashes, 0 hangs" in PAGE
    assert {name: kinds for name, (_, kinds) in found.items() if kinds != ["0"] * 4} == {}


def test_coverage() -> None:
    total = (ROOT / "docs/results/coverage.txt").read_text(encoding="utf-8").split()[-1]
    assert float(total.rstrip("%")) > 95.0
    assert f"contracts: {total.rstrip('%')} %" in PAGE


def test_lowest_versions() -> None:
    lines = (ROOT / "docs/results/lowest.txt").read_text(encoding="utf-8").splitlines()
    versions = dict(line.split("==") for line in lines if "==" in line)
    passed, skipped, failed = (int(line.split()[0]) for line in lines[-3:])
    assert failed == 0
    assert f"{passed:,} tests pass, {skipped:,} are skipped, none fails" in PAGE
    for package, name in {"NumPy": "numpy", "SciPy": "scipy", "Numba": "numba", "pandas": "pandas"}.items():
        assert f"{package} {versions[name]}" in PAGE
    assert f"PyTorch {versions['torch']} (with Triton {versions['triton']})" in PAGE
