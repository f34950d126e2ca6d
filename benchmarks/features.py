"""The numbers of docs/features.md: what columns, distances and directions say of the same points."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits

import geodim

RESULTS = Path(__file__).parent / "results" / "features.json"


def dimension(X: np.ndarray, **options: object) -> float:
    return float(f"{geodim.intrinsic_dimension(X, **options).dimension:.4g}")


def interval(X: np.ndarray, **options: object) -> list[float]:
    result = geodim.intrinsic_dimension(X, **options)
    return [float(f"{value:.4g}") for value in (result.lower, result.upper)]


def unions(X: np.ndarray) -> dict[str, float]:
    members = ["coordinates", "distances", geodim.Distances(metric="cosine")]
    return {
        "columns": dimension(X),
        "distances": dimension(X, features="distances"),
        "angles": dimension(X, features="distances", metric="cosine"),
        "raw": dimension(X, features=members),
        "by diameter": dimension(X, features=geodim.Union(members, by="diameter")),
    }


def chosen(X: np.ndarray) -> dict[str, float]:
    """Which part of the discriminability of all points the best few reach."""
    selection = geodim.select_features(X, 10, features="distances")
    return {str(m): float(f"{selection.fractions[m - 1]:.4g}") for m in (1, 3, 10)}


def main() -> None:
    rng = np.random.default_rng(0)
    cube = rng.random((2000, 5))
    turned = cube @ np.linalg.qr(rng.normal(size=(5, 5)))[0]
    line = np.outer(rng.random(2000), rng.normal(size=50))
    shuffled = rng.permuted(line, axis=0)
    normal = rng.normal(size=(2000, 10))
    centres = rng.normal(size=(40, 6))
    clusters = centres[rng.integers(0, 40, 3000)] + 0.01 * rng.normal(size=(3000, 6))
    digits = load_digits().data
    sets = {"cube": cube, "rotated": turned, "line": line, "shuffled": shuffled}
    found = {
        "columns": {name: dimension(X) for name, X in sets.items()},
        "distances": {name: dimension(X, features="distances") for name, X in sets.items()},
        "landmarks": {
            name: {
                "all": dimension(X, features="distances"),
                **{str(m): interval(X, features="distances", landmarks=m) for m in (40, 256)},
            }
            for name, X in {"clusters": clusters, "digits": digits}.items()
        },
        "directions": {
            name: interval(X, features="directions")
            for name, X in {"cube": cube, "normal": normal, "digits": digits, "line": line}.items()
        },
    }
    found |= {"unions": unions(digits), "chosen": chosen(digits)}
    RESULTS.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    print(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
