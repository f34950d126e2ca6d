"""Mean windows of drawn columns, exactly, for the reference marks of the gauge.

    python benchmarks/marks.py [--values 1000000]

For every law and size, the median over several data sets of the mean of Phi, divided by what it tends to.
Sizes of more than so many values are not drawn: what is there is carried on with the square root of the
number of points.  Goes to ``src/geodim/gauge/windows.json``, which is part of the package.
"""

from __future__ import annotations

import argparse
import json
import math
from pathlib import Path

import numpy as np

import geodim
from geodim.gauge.laws import LAWS, Law

SIZES = [3, 5, 10, 20, 50, 100, 300, 1000, 3000, 10**4, 3 * 10**4, 10**5, 3 * 10**5, 10**6]
WIDTHS = [1, 3, 10, 30, 100, 300, 1000, 3000, 10**4]
DRAWS = (3, 101)
SMALL = 100
PATH = Path(__file__).parents[1] / "src" / "geodim" / "gauge" / "windows.json"


def window(law: Law, n: int, d: int, values: int) -> float:
    """The median of the mean window, over its limit."""
    rng = np.random.default_rng([n, d])
    draws = int(np.clip(values // (n * d), *DRAWS)) | 1
    mean = by_definition if n <= SMALL else by_engine
    return float(np.median([mean(law.draw(rng, (n, d))) for _ in range(draws)])) / law.limit


def by_definition(X: np.ndarray) -> float:
    """As the paper writes it, which is quicker for few points."""
    n = len(X)
    columns = np.sort(X.T, axis=1)
    widths = [(columns[:, k - 1 :] - columns[:, : n - k + 1]).min(axis=1).max() for k in range(2, n + 1)]
    return float(np.sum(widths)) / n


def by_engine(X: np.ndarray) -> float:
    return geodim.intrinsic_dimension(X, normalize=False).discriminability


def table(law: Law, values: int) -> list[list[float]]:
    rows: list[list[float]] = []
    for at, n in enumerate(SIZES):
        row = []
        for place, d in enumerate(WIDTHS):
            if n * d <= values:
                row.append(window(law, n, d, values))
            else:
                row.append(1.0 + (rows[at - 1][place] - 1.0) * math.sqrt(SIZES[at - 1] / n))
        rows.append([round(value, 4) for value in row])
        print(law.name, n, rows[-1], flush=True)
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--values", type=int, default=1_000_000)
    values = parser.parse_args().values
    found = {"n_points": SIZES, "n_features": WIDTHS} | {
        name: table(law, values) for name, law in LAWS.items()
    }
    lines = ",\n".join(f' "{name}": {json.dumps(rows)}' for name, rows in found.items())
    PATH.write_text("{\n" + lines + "\n}\n")


if __name__ == "__main__":
    main()
