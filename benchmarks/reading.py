"""The numbers of docs/reading.md and of the pages beside it: what units, outliers, ties and sizes do.

    python benchmarks/reading.py                       # about a minute on two cores
    python benchmarks/reading.py --root planetoid      # with Cora, whose files are needed for that

Every number is that of a fixed seed, rounded to four digits; ``benchmarks/results/reading.json`` holds them.
Without its files the numbers of Cora stay as they are there.
"""

from __future__ import annotations

import argparse
import json
import math
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from scipy.stats import rankdata
from sklearn.datasets import load_breast_cancer, load_digits, load_iris

import geodim
from geodim import paper

if TYPE_CHECKING:
    from collections.abc import Callable

RESULTS = Path(__file__).parent / "results" / "reading.json"
SHAPES: dict[str, Callable[[np.random.Generator, tuple[int, int]], np.ndarray]] = {
    "even": lambda _rng, size: np.tile(np.arange(size[0], dtype=np.float64)[:, None], size[1]),
    "uniform": lambda rng, size: rng.random(size),
    "normal": lambda rng, size: rng.standard_normal(size),
    "laplace": lambda rng, size: rng.laplace(size=size),
    "student_t_2": lambda rng, size: rng.standard_t(2, size),
}
SAMPLES = {100: 201, 1_000: 201, 10_000: 51, 100_000: 11, 1_000_000: 5}  # of so many points


def rounded(value: float) -> float:
    return float(f"{value:.4g}")


def dimension(X: np.ndarray, **options: object) -> float:
    return geodim.intrinsic_dimension(X, **options).dimension


def repeated(shape: str, size: tuple[int, int], times: int) -> list[float]:
    """Dimensions of samples with seeds 0, 1, ...; the same seeds for all shapes and sizes."""
    return [dimension(SHAPES[shape](np.random.default_rng([seed, *size]), size)) for seed in range(times)]


def references() -> dict[str, dict[str, float]]:
    """The median over some samples of ten columns, by shape and number of points."""
    return {
        shape: {
            str(n): rounded(float(np.median(repeated(shape, (n, 10), times)))) for n, times in SAMPLES.items()
        }
        for shape in SHAPES
    }


def columns() -> dict[str, dict[str, float]]:
    """The same for 1,000 points and other numbers of columns."""
    return {
        shape: {str(d): rounded(float(np.median(repeated(shape, (1_000, d), 201)))) for d in (1, 10, 100)}
        for shape in SHAPES
    }


def spreads() -> dict[str, list[float]]:
    """The 5th and 95th percentile over 200 samples of ten normal columns: what a small sample is worth."""
    return {
        str(n): [rounded(value) for value in np.percentile(repeated("normal", (n, 10), 200), [5, 95])]
        for n in (10, 20, 50, 100, 1_000)
    }


def leader(X: np.ndarray, names: list[str], **options: object) -> dict[str, object]:
    result = geodim.intrinsic_dimension(X, feature_names=names, **options)
    name, share = next(iter(result.shares.items()))
    return {"dimension": rounded(result.dimension), "leader": name, "share": rounded(share)}


def units() -> dict[str, dict[str, object]]:
    """One table in its own units and in others."""
    table = load_breast_cancer()
    X, names = table.data, [str(name) for name in table.feature_names]
    quartiles = np.percentile(X, [25, 75], axis=0)
    scaled = {
        "as it is": X,
        "range": X / np.ptp(X, axis=0),
        "std": X / X.std(axis=0),
        "iqr": X / (quartiles[1] - quartiles[0]),
        "rank": rankdata(X, axis=0),
    }
    return {name: leader(values, names) for name, values in scaled.items()}


def mistakes() -> dict[str, float]:
    """Iris as it is, with one typing error, and with a column of row numbers left in."""
    X = load_iris().data
    typed = X.copy()
    typed[0, 0] = 510.0  # for 5.1
    numbered = np.column_stack([X, np.arange(len(X))])
    found = {"as it is": X, "typing error": typed, "row numbers": numbered}
    return {name: rounded(dimension(values)) for name, values in found.items()}


def ties() -> dict[str, object]:
    """The digits: who leads, what removing it costs, and who leads within a tolerance."""
    X = load_digits().data
    names = [f"pixel_{i // 8}_{i % 8}" for i in range(64)]
    exact = leader(X, names)
    without = dimension(np.delete(X, names.index(str(exact["leader"])), axis=1))
    return {
        "exact": exact,
        "rtol 0.01": leader(X, names, rtol=0.01),
        "removing the leader changes a bit": without != dimension(X),
    }


def rows_of_cora(root: Path) -> dict[str, float | int]:
    """Words of papers as 0 and 1, and divided by the number of words; what hops in two types allow for."""
    data = geodim.load_dataset("cora", root=root)
    words = np.asarray(data.x.toarray() if hasattr(data.x, "toarray") else data.x, np.float64)
    counts = words.sum(axis=1, keepdims=True)

    def error(kind: str) -> float:
        return rounded(geodim.khop_dimensions(data.x, data.edge_index, hops=5, dtype=kind)[5].error)

    return {
        "0 and 1": rounded(dimension(words)),
        "rows divided by their sums": rounded(dimension(words / counts)),
        "fewest words": int(counts.min()),
        "median of words": int(np.median(counts)),
        "error after five hops, float32": error("float32"),
        "error after five hops, float64": error("float64"),
    }


def support_errors() -> dict[str, dict[str, float]]:
    """The error of a support sequence over 2 ln(n/2) / (l - 1), for n = 10^5 and some l."""
    n = 100_000
    rng = np.random.default_rng(0)
    data = {
        "even": np.arange(n, dtype=np.float64),
        "uniform": rng.random(n),
        "normal": rng.standard_normal(n),
        "laplace": rng.laplace(size=n),
        "cauchy": rng.standard_cauchy(n),
        "ten ones": (np.arange(n) < 10).astype(np.float64),
        "one outlier": np.append(rng.random(n - 1), 1e6),
    }
    found: dict[str, dict[str, float]] = {}
    for name, values in data.items():
        result = geodim.intrinsic_dimension(values[:, None])
        for length in (50, 1_000, 10_000):
            low, high = result.support_bounds(paper.log_scale_support(n, length=length))
            law = 2.0 * math.log(n / 2) / (length - 1)
            found.setdefault(name, {})[str(length)] = rounded((high - low) / low / law)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--root", type=Path, help="where the files of Cora are")
    parser.add_argument("--json", type=Path, default=RESULTS)
    chosen = parser.parse_args()
    before = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.exists() else {}
    found = {
        "samples": {str(n): times for n, times in SAMPLES.items()},
        "references": references(),
        "columns": columns(),
        "spread": spreads(),
        "units": units(),
        "mistakes": mistakes(),
        "ties": ties(),
        "support": support_errors(),
        "cora": rows_of_cora(chosen.root) if chosen.root else before.get("cora"),
    }
    chosen.json.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    print(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
