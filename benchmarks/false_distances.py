"""The trap of docs/baselines.md in numbers: distances between equal rows that should be 0 and are not.

    python benchmarks/false_distances.py --root planetoid     # two minutes on two cores

Needs the files of Cora and PubMed.  Some of it depends on the version of scikit-learn and, through the order
in which products are summed, on the processor; ``benchmarks/results/false_distances.json`` names both.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import sklearn
from scipy.spatial.distance import cdist
from sklearn.neighbors import NearestNeighbors

import geodim
from engine import machine
from geodim import baselines
from geodim.baselines.khop import published_hops

RESULTS = Path(__file__).parent / "results" / "false_distances.json"
NEIGHBOURS = 5
KERNELS = ("SkylakeX", "Haswell")


def estimate(distances: np.ndarray, *, zeros_count: bool = False) -> float:
    """The MLE of ascending distances, a row per point; terms of distance 0 add nothing to the sum."""
    inner, outer = distances[:, :-1], distances[:, -1:]
    used = inner > 0.0
    logs = np.log(np.where(used, outer, 1.0)) - np.log(np.where(used, inner, 1.0))
    return float((used.size if zeros_count else used.sum()) / logs.sum())


def counting_zeros(root: Path) -> dict[str, float]:
    """Cora without hops: the mean over all terms, and over those that are not 0."""
    X = dense(geodim.load_dataset("cora", root=root).x).astype(np.float64)
    distances = cdist(X, X)
    np.fill_diagonal(distances, np.inf)
    nearest = np.sort(distances, axis=1)[:, :NEIGHBOURS]
    return {"left out": estimate(nearest), "counted": estimate(nearest, zeros_count=True)}


def by_products(root: Path) -> dict[str, object]:
    """PubMed without hops, distances from the brute force search of scikit-learn on the dense matrix."""
    X = dense(geodim.load_dataset("pubmed", root=root).x)
    found = NearestNeighbors(n_neighbors=NEIGHBOURS + 1, algorithm="brute").fit(X).kneighbors(X)[0]
    nearest = np.sort(found, axis=1)[:, 1:]
    false = nearest[(nearest > 0.0) & (nearest < 1e-6)]
    return {
        "scikit-learn": sklearn.__version__,
        "mle": estimate(nearest),
        "sound": baselines.mle(X).dimension,
        "zero distances": baselines.mle(X).n_zero,
        "false distances": sorted(false.tolist()),
    }


def by_float32_hops(root: Path) -> dict[str, object]:
    """Cora after five hops: how far apart float32 sums put rows that are equal, and how close others are."""
    data = geodim.load_dataset("cora", root=root)
    hops = baselines.khop_points(data.x, data.edge_index, hops=5)
    exact, radii = hops.matrix(5), hops.radii(5)
    rounded = np.concatenate(published_hops(data.x, data.edge_index, 5), axis=1).astype(np.float64)
    false, others = [], np.inf
    apart = cdist(exact, exact)
    np.fill_diagonal(apart, np.inf)
    attributes = dense(data.x)
    for i, j in zip(*np.nonzero(np.triu(apart < 2.0)), strict=True):
        if apart[i, j] <= radii[i] + radii[j]:
            false.append(float(np.linalg.norm(rounded[i] - rounded[j])))
        elif np.array_equal(attributes[i], attributes[j]):
            others = min(others, float(apart[i, j]))
    positive = [one for one in false if one > 0.0]
    return {
        "equal pairs": len(false),
        "false distances": [min(positive), max(positive)],
        "nearest others": others,
    }


def by_kernels(root: Path) -> dict[str, list[float]]:
    """Cora, the paper's arithmetic, with other linear algebra kernels of the same library."""
    found = {}
    for name in KERNELS:
        command = [sys.executable, __file__, "--root", str(root), "--child"]
        done = subprocess.run(
            command, env=os.environ | {"OPENBLAS_CORETYPE": name}, check=True, capture_output=True, text=True
        )
        found[name] = json.loads(done.stdout)
    return found


def child(root: Path) -> None:
    data = geodim.load_dataset("cora", root=root)
    found = baselines.khop_mle(data.x, data.edge_index, hops=5, variant="paper")
    print(json.dumps([one.dimension for one in found]))


def dense(x: object) -> np.ndarray:
    return x.toarray() if hasattr(x, "toarray") else np.asarray(x)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--root", type=Path, required=True)
    parser.add_argument("--json", type=Path, default=RESULTS)
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.child:
        child(chosen.root)
        return
    found = {
        "machine": machine(),
        "Cora, zeros": counting_zeros(chosen.root),
        "PubMed, products": by_products(chosen.root),
        "Cora, float32 hops": by_float32_hops(chosen.root),
        "Cora, kernels": by_kernels(chosen.root),
    }
    chosen.json.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    print(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
