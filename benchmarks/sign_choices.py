"""What the paper leaves open about SIGN, tried: optimizer, weights that are tested, rows normalised or not.

    python benchmarks/sign_choices.py --root planetoid     # about ten minutes of one core

The means over ten runs beside the printed ones (docs/sign.md), for Cora, CiteSeer and PubMed and
k = 0, ..., 5; three runs for normalised rows.  ``benchmarks/results/sign_choices.json`` holds them.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import replace
from pathlib import Path

import numpy as np

import geodim
from engine import machine
from geodim.experiments.printed import printed
from geodim.gnn import paper_settings, run_grid, summarise_runs

RESULTS = Path(__file__).parent / "results" / "sign_choices.json"
NAMES = {"cora": "Cora", "citeseer": "CiteSeer", "pubmed": "PubMed"}
CHOICES = [("adam", "last"), ("adamw", "last"), ("adam", "best"), ("adamw", "best")]


def compared(rows: list[dict]) -> dict[str, object]:
    """Means beside the printed ones, in points; the bar is two printed deviations, or 1.5 points."""
    cells = []
    for row in rows:
        name, k = NAMES[row["dataset"]], row["k"]
        mean, std = (float(printed()[f"sign_accuracy_{part}"][name][k]) for part in ("mean", "std"))
        cells.append(
            {
                "dataset": name,
                "k": k,
                "mean": round(row["mean"], 4),
                "std": round(row["std"], 4),
                "difference": round(100 * abs(row["mean"] - mean), 3),
                "within": abs(row["mean"] - mean) <= max(2.0 * std, 0.015),
            }
        )
    differences = [cell["difference"] for cell in cells]
    return {
        "mean difference": round(float(np.mean(differences)), 3),
        "largest": max(differences),
        "outside": sum(not cell["within"] for cell in cells),
        "cells": cells,
    }


def normalised(name: str, root: Path) -> geodim.GraphDataset:
    """The data set with every row of its attributes divided by its sum."""
    data = geodim.load_dataset(name, root=root)
    x = data.x.toarray() if hasattr(data.x, "toarray") else np.asarray(data.x)
    sums = x.sum(axis=1, keepdims=True)
    return replace(data, x=(x / np.where(sums == 0.0, 1.0, sums)).astype(np.float32))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--root", type=Path, required=True)
    parser.add_argument("--json", type=Path, default=RESULTS)
    chosen = parser.parse_args()
    found: dict[str, object] = {"machine": machine()}
    for optimizer, tested in CHOICES:
        runs = []
        for name in NAMES:
            settings = replace(paper_settings(name), optimizer=optimizer, tested=tested)
            runs += run_grid(name, settings=settings, root=chosen.root, n_threads=1)
        found[f"{optimizer}, {tested}"] = compared(summarise_runs(runs))
        print(
            optimizer,
            tested,
            {k: v for k, v in found[f"{optimizer}, {tested}"].items() if k != "cells"},
            flush=True,
        )
    runs = []
    for name in NAMES:
        runs += run_grid(
            normalised(name, chosen.root), repetitions=3, settings=paper_settings(name), n_threads=1
        )
    found["normalised rows"] = compared(summarise_runs(runs))
    found["normalised rows"]["epochs"] = [min(run.epochs for run in runs), max(run.epochs for run in runs)]
    chosen.json.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    print(json.dumps(found["normalised rows"], indent=1))


if __name__ == "__main__":
    main()
