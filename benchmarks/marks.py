"""Mean windows of drawn columns, exactly, for the reference marks of the gauge.

    python benchmarks/marks.py [--values 1000000]

For every law and size, the median over several data sets of the mean of Phi, divided by what it tends to; and
the part of the dimension that is left where each column is divided by its own range.  Sizes of more than so
many values are not drawn: the first is carried on with the square root of the number of points, the second
as it is.  Goes to ``src/geodim/gauge/windows.json``, which is part of the package.
"""

from __future__ import annotations

import argparse
import json
import math
from pathlib import Path

import numpy as np

import geodim
from geodim.gauge.laws import LAWS, Law, median_reach

SIZES = [3, 5, 10, 20, 50, 100, 300, 1000, 3000, 10**4, 3 * 10**4, 10**5, 3 * 10**5, 10**6]
WIDTHS = [1, 3, 10, 30, 100, 300, 1000, 3000, 10**4]
DRAWS = (3, 101)
SMALL = 100
PATH = Path(__file__).parents[1] / "src" / "geodim" / "gauge" / "windows.json"


def medians(law: Law, n: int, d: int, values: int) -> tuple[float, float]:
    """The mean window over its limit, and the part of the dimension that is left by ranges; medians."""
    rng = np.random.default_rng([n, d])
    draws = int(np.clip(values // (n * d), *DRAWS)) | 1
    mean = by_definition if n <= SMALL else by_engine
    found = []
    for _ in range(draws):
        X = law.draw(rng, (n, d))
        found.append((mean(X) / law.limit, mean(X / np.ptp(X, axis=0)) ** -2))
    window, dimension = np.median(found, axis=0)
    return float(window), float(dimension * (law.limit * window / median_reach(law, n, d)) ** 2)


def by_definition(X: np.ndarray) -> float:
    """As the paper writes it, which is quicker for few points."""
    n = len(X)
    columns = np.sort(X.T, axis=1)
    widths = [(columns[:, k - 1 :] - columns[:, : n - k + 1]).min(axis=1).max() for k in range(2, n + 1)]
    return float(np.sum(widths)) / n


def by_engine(X: np.ndarray) -> float:
    return geodim.intrinsic_dimension(X, normalize=False).discriminability


def tables(law: Law, values: int) -> tuple[list[list[float]], list[list[float]]]:
    windows: list[list[float]] = []
    parts: list[list[float]] = []
    for at, n in enumerate(SIZES):
        rows: tuple[list[float], list[float]] = ([], [])
        for place, d in enumerate(WIDTHS):
            if n * d <= values:
                both = medians(law, n, d, values)
            else:
                shrunk = (windows[at - 1][place] - 1.0) * math.sqrt(SIZES[at - 1] / n)
                both = 1.0 + shrunk, parts[at - 1][place]
            for row, value in zip(rows, both, strict=True):
                row.append(round(value, 4))
        windows.append(rows[0])
        parts.append(rows[1])
        print(law.name, n, *rows, flush=True)
    return windows, parts


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--values", type=int, default=1_000_000)
    values = parser.parse_args().values
    found: dict[str, object] = {"n_points": SIZES, "n_features": WIDTHS}
    for name, law in LAWS.items():
        found[name], found[f"{name} by range"] = tables(law, values)
    lines = ",\n".join(f' "{name}": {json.dumps(rows)}' for name, rows in found.items())
    PATH.write_text("{\n" + lines + "\n}\n")


if __name__ == "__main__":
    main()
