"""docs/concepts.md: what it shows is what comes out, and its figures are those of the committed results."""

from __future__ import annotations

import doctest
import json
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "concepts.md"


def test_examples():
    ended = doctest.testfile(str(PAGE), module_relative=False, encoding="utf-8")
    assert ended.attempted > 10
    assert ended.failed == 0


def test_figures_of_the_benchmark():
    rows = json.loads((ROOT / "benchmarks/results/concepts.json").read_text(encoding="utf-8"))["rows"]
    measured = {row["min_support"]: row for row in rows if row["case"] == "transactions"}
    table = re.findall(
        r"^\| ([\d,]+|none)[^|]*\|([^|]+)\|([^|]+)\|([^|]+)\|([^|]*)\|", PAGE.read_text("utf-8"), re.MULTILINE
    )
    assert len(table) == 4
    for support, lower, upper, seconds, closed in table:
        row = measured[1 if support == "none" else int(support.replace(",", ""))]
        assert abs(float(lower) / row["lower"] - 1.0) < 0.005
        assert row["exact"] if "same" in upper else abs(float(upper) / row["upper"] - 1.0) < 0.005
        assert abs(float(seconds) / row["seconds"] - 1.0) < 0.05
        assert not closed.strip() or int(closed.replace(",", "")) == row["closed_sets"]
