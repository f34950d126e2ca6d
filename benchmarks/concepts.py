"""Binary data: the dimension by concepts, for several minimum supports, beside mining all closed sets.

    python benchmarks/concepts.py [--objects 100000 --attributes 1000] [--limit 120]

The transactions are made as those of Agrawal and Srikant's generator: each object takes a few of 2,000
patterns, of four attributes on average, with some attributes left out.  Where the package ``pyfim`` is
installed (Borgelt's miners, in C), its closed sets are counted, timed, and must give the same supports.
Results go to ``benchmarks/results/concepts.json``.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.datasets import load_digits

import geodim
from engine import machine
from geodim.concepts import as_context
from geodim.errors import InterruptedWarning
from geodim.experiments.baskets import transactions

if TYPE_CHECKING:
    from scipy.sparse import csr_array

try:
    import fim
except ImportError:
    fim = None

SUPPORTS = (1000, 300, 100, 30, 10, 1)
MINED = (1000, 300, 100, 30, 10)  # there are five million closed sets of two objects or more


def measured(name: str, X: Any, support: int, limit: float) -> tuple[dict[str, Any], Any]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", InterruptedWarning)
        started = time.perf_counter()
        result = geodim.binary_dimension(X, min_support=support, time_limit=limit)
        seconds = time.perf_counter() - started
    row = {
        "case": name, "objects": result.parameters["n_objects"], "attributes": result.n_points,
        "min_support": support, "seconds": round(seconds, 3), "lower": result.lower, "upper": result.upper,
        "exact": result.exact, "stopped": result.stopped, "concepts_that_carry": result.n_features,
        "words_looked_at": result.evaluations,
    }  # fmt: skip
    return row, result


def mined(X: csr_array, support: int, result: Any) -> dict[str, Any]:
    """All closed sets above a support, by FP-growth in C; their supports must be those found here."""
    rows = [X.indices[a:b].tolist() for a, b in zip(X.indptr, X.indptr[1:], strict=False)]
    started = time.perf_counter()
    sets = fim.fpgrowth(rows, target="c", supp=-support, zmin=1, report="a")
    seconds = time.perf_counter() - started
    m = X.shape[1]
    best = np.zeros(m // 2 + 1, np.int64)
    for items, count in sets:
        size = min(len(items), m - len(items))
        best[size] = max(best[size], count)
    best = np.maximum.accumulate(best[::-1])[::-1][1:]
    ours = np.rint(result.phi_lower * X.shape[0]).astype(np.int64)[::-1][: m // 2]
    assert np.array_equal(np.where(ours >= support, ours, 0), best)
    return {"closed_sets": len(sets), "seconds_to_mine_them": round(seconds, 3)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--objects", type=int, default=100_000)
    parser.add_argument("--attributes", type=int, default=1_000)
    parser.add_argument("--limit", type=float, default=120.0, help="seconds for each")
    options = parser.parse_args()
    rows = []

    def add(name: str, X: Any, support: int) -> None:
        row, result = measured(name, X, support, options.limit)
        if fim is not None and name == "transactions" and support in MINED:
            row |= mined(X, support, result)
        rows.append(row)
        print(row, flush=True)

    measured("compile", np.random.default_rng(0).random((100, 20)) < 0.5, 1, 60.0)
    X = transactions(options.objects, options.attributes)
    print(as_context(X))
    for support in SUPPORTS:
        add("transactions", X, support)
    digits = load_digits().data
    for grey in (4, 8, 12):
        add(f"digits, pixels darker than {grey} of 16", digits > grey, 1)
    add("nominal scale", np.eye(2000, dtype=bool), 1)
    add("contranominal scale", ~np.eye(2000, dtype=bool), 1)
    rng = np.random.default_rng(0)
    for density in (0.1, 0.5, 0.9):
        add(f"random, density {density}", rng.random((500, 40)) < density, 1)
    report = {"machine": machine(), "crosses": int(X.nnz), "pyfim": fim is not None, "rows": rows}
    path = Path(__file__).parent / "results" / "concepts.json"
    path.write_text(json.dumps(report, indent=1) + "\n")


if __name__ == "__main__":
    main()
