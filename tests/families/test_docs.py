"""docs/features.md quotes benchmarks/results/features.json."""

from __future__ import annotations

import json
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
PAGE = (ROOT / "docs/features.md").read_text(encoding="utf-8")
FOUND = json.loads((ROOT / "benchmarks/results/features.json").read_text(encoding="utf-8"))


def test_columns_and_distances():
    rows = [line for line in PAGE.splitlines() if line.startswith("|")]
    for name, columns in FOUND["columns"].items():
        assert any(row.endswith(f"| {columns:g} | {FOUND['distances'][name]:g} |") for row in rows), name


def test_landmarks():
    for found in FOUND["landmarks"].values():
        some = " | ".join(f"between {low:g} and {high:g}" for low, high in (found["40"], found["256"]))
        assert f"| {found['all']:g} | {some} |" in PAGE
        assert found["256"][0] <= found["all"] <= found["256"][1]


def test_unions():
    rows = [line for line in PAGE.splitlines() if line.startswith("|")]
    for value in FOUND["unions"].values():
        assert any(row.endswith(f"| {value:g} |") for row in rows)
    for share in FOUND["chosen"].values():
        assert f"{100 * share:.2f} %" in PAGE


def test_directions():
    for low, high in FOUND["directions"].values():
        assert f"| between {low:g} and {high:g} |" in PAGE
