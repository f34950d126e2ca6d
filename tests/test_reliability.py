"""The figures of docs/reliability.md are those of the committed logs."""

from __future__ import annotations

import json
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
