"""The engine on this processor, against three yardsticks, with another version of the source beside it.

    git worktree add ../old COMMIT
    python benchmarks/yardsticks.py "EPYC, AVX2" --old ../old/src

`np.sort` uses whatever instructions NumPy dispatches to, so that a ratio to it speaks of that processor only;
what it costs with others of them is measured, too.  Two yardsticks beside it do not depend on this: geodim's
own radix sort, and the time it takes to read the values from memory.  Every case runs in a fresh process of
either version, in turn; sorting and geodim alternate within it, and the best time of each counts.  The entry
of a machine in ``results/yardsticks.json`` is replaced.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import resource
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from engine import machine, mixed, normal, our_time, sort_time

HERE = Path(__file__).resolve().parent
RESULT = HERE / "results" / "yardsticks.json"
FEATURES = (
    "AVX2",
    "FMA3",
    "AVX512F",
    "AVX512_SKX",
    "AVX512_ICL",
    "AVX512_SPR",
    "X86_V3",
    "X86_V4",
    "ASIMD",
    "SVE",
)
WITH_AVX512 = ("X86_V4", "AVX512F", "AVX512_SKX", "AVX512_CLX", "AVX512_CNL", "AVX512_ICL", "AVX512_SPR")
SWITCHED_OFF = {  # what NumPy is told not to use
    "all that NumPy finds": (),
    "AVX2": WITH_AVX512,
    "none": (*WITH_AVX512, "X86_V3", "AVX2", "FMA3"),
}
VECTORISED = 8.0  # ns a value: np.sort of 10^6 float32 with AVX2


@dataclass(frozen=True)
class Case:
    """Data, tolerance, and how many times as long as sorting it should take at most."""

    shape: tuple[int, int]
    goal: float
    rtol: float = 0.0
    is_mixed: bool = False
    every_core: bool = False
    from_cores: int = 1

    def make(self) -> np.ndarray:
        """The data, the same in every process."""
        rng = np.random.default_rng(0)
        return mixed(rng, *self.shape) if self.is_mixed else normal(*self.shape)(rng)


CASES = {
    "normal 10^6 x 32, exact": Case((10**6, 32), 1.5),
    "mixed 10^6 x 128, exact": Case((10**6, 128), 0.6, is_mixed=True),
    "normal 10^6 x 32, rtol 1e-4": Case((10**6, 32), 0.4, rtol=1e-4),
    "one column of 10^7, exact": Case((10**7, 1), 4.0),
    "normal 5,000 x 5,000, exact": Case((5000, 5000), 2.0),
    "normal 10^6 x 32, exact, all cores": Case((10**6, 32), 3.0, every_core=True),
    "normal 10^7 x 64, exact, all cores": Case((10**7, 64), 1.2, every_core=True, from_cores=8),
}


def run_case(case: Case, threads: int, repeat: int) -> dict[str, float]:
    """Best times of sorting and of geodim in this process."""
    data = case.make()
    columns = [np.ascontiguousarray(column) for column in data.T]
    our_time(data[: max(data.shape[0] // 5, 3000)], case.rtol, threads)  # compiles
    sorts, ours = [], []
    for _ in range(repeat):
        sorts.append(sort_time(columns, threads))
        ours.append(our_time(data, case.rtol, threads)[0])
    per_value = 1e9 / data.size
    return {
        "sort_ns": min(sorts) * per_value, "ours_ns": min(ours) * per_value,
        "peak_rss_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        "data_mb": 2 * data.nbytes / 2**20,
    }  # fmt: skip


def in_a_process(name: str, threads: int, repeat: int, source: Path) -> dict[str, float]:
    run = subprocess.run(
        [sys.executable, __file__, "", "--case", name, "--threads", str(threads), "--repeat", str(repeat)],
        env={**os.environ, "PYTHONPATH": str(source)}, check=True, capture_output=True, text=True,
    )  # fmt: skip
    return json.loads(run.stdout)


def radix_ns() -> float:
    """What the faster of geodim's sorts costs for 10^6 float32, in ns a value, with nothing in a cache."""
    from geodim.engine.sorter import Sorter

    column, others = np.random.default_rng(0).standard_normal(10**6, dtype=np.float32), np.ones(1 << 25)
    sorter, values, seconds = Sorter(column.size, column.dtype), np.empty(column.size), []
    for work in 9 * (sorter.by_radix, sorter.by_shares):
        others.sum()
        started = time.perf_counter()
        work(column, values)
        seconds.append(time.perf_counter() - started)
    return min(seconds) / column.size * 1e9


def numpy_ns() -> float:
    """What `np.sort` costs for 10^6 float32 values in this process, in ns a value."""
    column = np.random.default_rng(0).standard_normal(10**6, dtype=np.float32)
    return min(sort_time([column], 1) for _ in range(5)) / column.size * 1e9


def sorts_ns() -> dict[str, float]:
    """The same with other instructions."""
    found = {}
    for name, features in SWITCHED_OFF.items():
        run = subprocess.run(
            [sys.executable, "-W", "ignore", __file__, "", "--sort"],
            env={**os.environ, "NPY_DISABLE_CPU_FEATURES": " ".join(features)},
            check=True, capture_output=True, text=True,
        )  # fmt: skip
        found[name] = json.loads(run.stdout)
    return found


def reading_ns(threads: int) -> float:
    """What it costs to read one float32 from memory while all cores read, in ns a value."""
    parts = np.array_split(np.ones(1 << 28, np.float32), threads)
    with ThreadPoolExecutor(threads) as pool:
        return best_of(lambda: list(pool.map(np.max, parts))) / (1 << 28) * 1e9


def best_of(work: object, repeat: int = 5) -> float:
    seconds = []
    for _ in range(repeat):
        started = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - started)
    return min(seconds)


def processor() -> dict[str, object]:
    """What NumPy finds here, and uses."""
    found = np._core._multiarray_umath.__cpu_features__
    return {
        **machine(),
        "features": [name for name in FEATURES if found.get(name)],
        "switched_off": os.environ.get("NPY_DISABLE_CPU_FEATURES", ""),
        "architecture": platform.machine(),
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("name", help="how the machine is called in the results")
    parser.add_argument("--old", type=Path, help="source of another version")
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--rounds", type=int, default=2, help="processes of either version")
    parser.add_argument("--output", type=Path, default=RESULT)
    parser.add_argument("--case", help=argparse.SUPPRESS)
    parser.add_argument("--threads", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--sort", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.sort:
        print(json.dumps(numpy_ns()))
        return
    if options.case:
        print(json.dumps(run_case(CASES[options.case], options.threads, options.repeat)))
        return
    here = processor()
    sources = {"now": HERE.parent / "src", **({"before": options.old} if options.old else {})}
    rows = []
    for name, case in CASES.items():
        if here["cores"] < case.from_cores:
            continue
        threads = here["cores"] if case.every_core else 1
        runs = {version: [] for version in sources}
        for _ in range(options.rounds):
            for version, source in sources.items():
                runs[version].append(in_a_process(name, threads, options.repeat, source))
        sort_ns = min(run["sort_ns"] for some in runs.values() for run in some)
        # With more threads only what they do themselves is comparable.
        yardstick = sort_ns if case.every_core else min(sort_ns, VECTORISED)
        row = {
            "case": name,
            "threads": threads,
            "goal": case.goal,
            "sort_ns": sort_ns,
            "yardstick_ns": yardstick,
        }
        for version, some in runs.items():
            ours = min(run["ours_ns"] for run in some)
            row[version] = {
                "ns": ours, "to_sort": ours / sort_ns, "to_yardstick": ours / yardstick,
                "peak_rss_mb": max(run["peak_rss_mb"] for run in some), "data_mb": some[0]["data_mb"],
            }  # fmt: skip
        rows.append(row)
        told = "   ".join(f"{v} {row[v]['ns']:.2f} ns = {row[v]['to_yardstick']:.2f}" for v in sources)
        print(
            f"{name:36s} {threads:2d} threads  sort {sort_ns:6.2f} ns  {told}  goal {case.goal}", flush=True
        )
    report = {
        "sorts_ns": sorts_ns(), "radix_ns": radix_ns(), "reading_ns": reading_ns(here["cores"]),
        "machine": here, "cases": rows,
    }  # fmt: skip
    everything = json.loads(options.output.read_text()) if options.output.exists() else {}
    everything[options.name] = report
    options.output.write_text(json.dumps(everything, indent=1) + "\n")


if __name__ == "__main__":
    main()
