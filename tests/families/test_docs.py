"""docs/features.md quotes benchmarks/results/features.json."""

from __future__ import annotations

import json
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
PAGE = (ROOT / "docs/features.md").read_text(encoding="utf-8")
FOUND, EMBEDDINGS = (
    json.loads((ROOT / f"benchmarks/results/{name}.json").read_text(encoding="utf-8"))
    for name in ("features", "embeddings")
)


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


def test_embeddings():
    rotations_show, by_distances = [], {}
    for name, found in EMBEDDINGS["embeddings"].items():
        one, other = found["as it is"], found["rotated"]
        intervals = [f"{low:g} to {high:g}" for low, high in (one["directions"], other["directions"])]
        cells = [one["columns"], other["columns"], one["distances"], other["distances"], one["angles"]]
        row = " | ".join([name, *(f"{value:g}" for value in cells), *intervals])
        assert f"| {row} |" in PAGE
        assert one["distances"] == other["distances"]
        assert one["angles"] == other["angles"]
        rotations_show.append(other["columns"] / one["columns"])
        by_distances[name] = one["distances"], one["angles"]
    components, projection, layer = rotations_show
    assert components > 1.4
    assert projection < 0.9
    assert layer > 1.1
    for at in range(2):
        order = sorted(by_distances, key=lambda name: by_distances[name][at])
        assert order == ["hidden layer", "principal components", "random projection"]
    intervals = [found["as it is"]["directions"] for found in EMBEDDINGS["embeddings"].values()]
    assert intervals[0][0] < intervals[2][1]  # components and layer overlap
