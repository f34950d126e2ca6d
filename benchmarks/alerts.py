"""What looking for alerts takes of the time of the plain intrinsic dimension of the same data.

    python benchmarks/alerts.py [--repeat 5]

Both are measured in one run, alternately, and the best time of each counts.  The bar is 2 % where
the dimension takes a quarter of a second or more, and 15 ms where it takes less.  Results go to
``benchmarks/results/alerts.json``.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse

import geodim
from engine import machine, mixed
from geodim.alerts import find_alerts
from geodim.data.checks import scan_ranges
from geodim.data.sources import as_source
from geodim.engine.parts import available_threads

if TYPE_CHECKING:
    from collections.abc import Callable

BAR, MOST, LONG = 0.02, 0.015, 0.25


def counts(rng: np.random.Generator) -> scipy.sparse.csc_array:
    return scipy.sparse.random_array((20_000, 2_000), density=0.02, rng=rng, format="csc")


CASES: dict[str, Callable[[np.random.Generator], object]] = {
    "normal, 150 x 4": lambda rng: rng.normal(size=(150, 4)),
    "whole numbers, 1,797 x 64": lambda rng: rng.integers(0, 17, (1797, 64)).astype(float),
    "normal, 1,000,000 x 10": lambda rng: rng.standard_normal((10**6, 10), np.float32),
    "mixed, 100,000 x 100": lambda rng: mixed(rng, 10**5, 100),
    "mixed, 100,000 x 1,000": lambda rng: mixed(rng, 10**5, 1000),
    "sparse, 20,000 x 2,000": counts,
}


def best(call: Callable[[], object], repeat: int) -> float:
    times = []
    for _ in range(repeat):
        started = time.perf_counter()
        call()
        times.append(time.perf_counter() - started)
    return min(times)


def run_case(name: str, data: object, repeat: int) -> dict[str, object]:
    result = geodim.intrinsic_dimension(data)
    source = as_source(data)
    ranges = scan_ranges(source)
    whole, alerts = float("inf"), float("inf")
    for _ in range(repeat):
        whole = min(whole, best(lambda: geodim.intrinsic_dimension(data), 1))
        alerts = min(alerts, best(lambda: find_alerts(result, source, ranges), 3))
    ratio = alerts / whole
    ok = ratio < BAR if whole >= LONG else alerts < MOST
    return {"case": name, "dimension_s": whole, "alerts_s": alerts, "ratio": ratio, "ok": ok}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeat", type=int, default=5)
    repeat = parser.parse_args().repeat
    rows = []
    for name, make in CASES.items():
        rows.append(run_case(name, make(np.random.default_rng(0)), repeat))
        print(json.dumps(rows[-1]))
    path = Path(__file__).parent / "results" / "alerts.json"
    found = {"machine": machine(), "threads": available_threads(), "bar": BAR, "rows": rows}
    path.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
