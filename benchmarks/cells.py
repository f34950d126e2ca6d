"""Steps and cells of docs/cluster.md: how many counters a column needs for a tolerance of 1e-3.

    python benchmarks/cells.py

Steps are equal, range over the step that the tolerance asks for; cells are small where a sample has many
points and large in the tails, as the first pass over a cluster chooses them.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

import geodim
from geodim.engine import cells
from geodim.engine.steps import resolution

RESULTS = Path(__file__).parent / "results" / "cells.json"
N, RTOL, SAMPLE = 1_000_000, 1e-3, 2_048


def shapes() -> dict[str, np.ndarray]:
    rng = np.random.default_rng(0)
    return {
        "normal": rng.standard_normal(N),
        "exponential": rng.exponential(size=N),
        "Cauchy": rng.standard_cauchy(N),
        "Pareto, exponent 0.8": rng.pareto(0.8, N),
        "nine tenths zero": np.where(rng.random(N) < 0.1, rng.standard_normal(N), 0.0),
        "whole numbers 0 to 99": rng.integers(0, 100, N).astype(np.float64),
    }


def main() -> None:
    found = {}
    for name, values in shapes().items():
        delta = geodim.intrinsic_dimension(values[:, None], normalize=False).discriminability
        step = resolution(RTOL, delta, float(np.abs(values).max()))
        sample = np.random.default_rng(1).choice(values, SAMPLE, replace=False)
        edges = cells.first_edges(sample, float(values.min()), float(values.max()), step)
        found[name] = {"steps": float(np.ptp(values) / step), "cells": int(edges.size - 1)}
        print(name, found[name])
    RESULTS.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
