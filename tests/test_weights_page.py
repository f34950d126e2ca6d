"""docs/weights.md quotes benchmarks/results/weights.json."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


def test_figures_of_the_benchmark():
    page = (ROOT / "docs/weights.md").read_text(encoding="utf-8")
    rows = json.loads((ROOT / "benchmarks/results/weights.json").read_text(encoding="utf-8"))["rows"]
    measured = {(row["weights"], row["points"], row["rtol"]): row["seconds"] for row in rows}
    cases = [(4_000, 0.0), (20_000, 0.0), (100_000, 0.0), (100_000, 0.01)]
    number = r" ([\d.]+) \|"
    table = re.findall(rf"^\| ([^|]+) \|{number}{number}{number}{number}$", page, re.MULTILINE)
    assert len(table) == 5
    for name, *seconds in table:
        expected = [measured[name, *case] for case in cases]
        assert [float(one) for one in seconds] == pytest.approx(expected, abs=1e-4)
