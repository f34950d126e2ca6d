"""All distances of a set of points as features, exactly: time over that of making them, and beside obsdim.

    python benchmarks/distances.py [--only vectors-10000] [--repeat 3] [--no-peer]

Each case runs in a process of its own, so that its peak memory is its own.  Processor seconds are given
beside wall seconds: on a machine that is shared they say more.  "make" is one pass that makes every distance
and does nothing with it.  obsdim, if it is installed (``pip install geodim[oracles]``), is another program
for the same number; both get points of diameter 1.  Results go to ``benchmarks/results/distances.json`` and
``distances.md``.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import resource
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

from engine import machine
from geodim.engine.parts import available_threads, mean
from geodim.families import Distances
from geodim.families.solve import family_profile

RESULTS = Path(__file__).parent / "results"
BLOCK = 32
TOO_LONG = 20_000  # points, to make all distances once more only to time it


def vectors(n: int, d: int = 100) -> np.ndarray:
    """Like word vectors: a falling spectrum, lengths of different sizes, clusters, a common mean."""
    rng = np.random.default_rng(0)
    spectrum = (1.0 + np.arange(d)) ** -0.35
    X = rng.standard_normal((n, d)) * spectrum * np.exp(0.25 * rng.standard_normal((n, 1)))
    centres = 0.5 * rng.standard_normal((64, d)) * spectrum
    return (X + centres[rng.integers(0, 64, n)] + 0.3).astype(np.float32)


def normal(n: int) -> np.ndarray:
    return np.random.default_rng(0).standard_normal((n, 16))


# name: points, metric, whether obsdim is asked too
CASES = {
    "normal-2000": (lambda: normal(2_000), "euclidean", True),
    "normal-5000": (lambda: normal(5_000), "euclidean", True),
    "normal-10000": (lambda: normal(10_000), "euclidean", False),
    "vectors-10000": (lambda: vectors(10_000), "euclidean", False),
    "vectors-10000-angle": (lambda: vectors(10_000), "angle", False),
    "vectors-10000-manhattan": (lambda: vectors(10_000), "manhattan", False),
    "vectors-30000": (lambda: vectors(30_000), "euclidean", False),
    "vectors-100000": (lambda: vectors(100_000), "euclidean", False),
}


def seconds(call: object) -> tuple[float, float, object]:
    """Wall seconds, processor seconds, result."""
    wall, processor = time.perf_counter(), time.process_time()
    result = call()
    return time.perf_counter() - wall, time.process_time() - processor, result


def make_all(X: np.ndarray, metric: str, threads: int) -> None:
    source = Distances(metric=metric).source(X)
    n = source.n_points

    def make(first: int) -> None:
        source.read(range(first, min(first + BLOCK, n)), np.empty((min(BLOCK, n - first), n)))

    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(make, range(0, n, BLOCK)))


def solve(X: np.ndarray, metric: str, threads: int) -> tuple[float, int]:
    """The dimension, and how many columns attain it."""
    solved = family_profile(Distances(metric=metric).source(X), n_threads=threads)
    delta = mean(solved.profile.phi, len(X), solved.d_max)
    return 1.0 / delta**2, int(np.unique(solved.profile.owner[1:]).size)


def peer(X: np.ndarray) -> float:
    from obsdim import GeometricID

    return float(GeometricID().fit(X).dimension_)


def run_case(name: str, repeat: int, with_peer: bool) -> dict[str, object]:
    make, metric, asked = CASES[name]
    X = make()
    if asked:
        X = X / Distances().source(X).chunk(slice(None), slice(0, len(X))).max()
    threads = available_threads()
    solve(X[:300], metric, threads)  # compile
    make_all(X[:300], metric, threads)
    row: dict[str, object] = {"case": name, "points": len(X), "metric": metric, "threads": threads}
    made, ours = [], []
    for _ in range(repeat if len(X) < TOO_LONG else 1):
        if len(X) < TOO_LONG:
            made.append(seconds(lambda: make_all(X, metric, threads)))
        ours.append(seconds(lambda: solve(X, metric, threads)))
    dimension, columns = ours[0][2]
    wall, processor = min(one[0] for one in ours), min(one[1] for one in ours)
    row |= {"dimension": dimension, "columns_that_attain": columns, "wall_s": wall, "processor_s": processor}
    row["peak_mb"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    row["ns_per_distance"] = 1e9 * processor / len(X) ** 2
    if made:
        row["make_processor_s"] = min(one[1] for one in made)
        row["over_making"] = processor / row["make_processor_s"]
    if asked and with_peer and importlib.util.find_spec("obsdim"):
        theirs = seconds(lambda: peer(X))
        row |= {
            "obsdim_wall_s": theirs[0],
            "obsdim_processor_s": theirs[1],
            "times_as_fast": theirs[1] / processor,
            "relative_difference": abs(theirs[2] / dimension - 1.0),
        }
    return row


COLUMNS = (
    "case", "metric", "wall", "processor", "ns per distance", "over making", "peak memory",
    "columns that attain Phi", "obsdim", "times as fast",
)  # fmt: skip


def markdown(report: dict[str, object]) -> str:
    where = report["machine"]
    lines = [
        "# Distances as features", "",
        (
            f"{where['cpu']}, {where['cores']} cores, Python {where['python']}, numpy {where['numpy']}, "
            f"{where['date']}. All n columns d(x, .), exact. Processor seconds are those of all threads "
            'together; "over making" is their ratio to one pass that makes all distances. Other work '
            "ran on the machine meanwhile, so that wall seconds, of the largest cases above all, say little."
        ), "",
        "| " + " | ".join(COLUMNS) + " |",
        "|" + "---|" * len(COLUMNS),
    ]  # fmt: skip
    for row in report["rows"]:
        cells = [
            row["case"], row["metric"], f"{row['wall_s']:.2f} s", f"{row['processor_s']:.2f} s",
            f"{row['ns_per_distance']:.1f}",
            f"{row['over_making']:.2f}" if "over_making" in row else "",
            f"{row['peak_mb']:.0f} MB", str(row["columns_that_attain"]),
            f"{row['obsdim_processor_s']:.1f} s" if "obsdim_processor_s" in row else "",
            f"{row['times_as_fast']:.0f}" if "times_as_fast" in row else "",
        ]  # fmt: skip
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", nargs="*", choices=list(CASES), default=list(CASES))
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--no-peer", action="store_true")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        print(json.dumps(run_case(options.only[0], options.repeat, not options.no_peer)))
        return
    path = RESULTS / "distances.json"
    known = json.loads(path.read_text())["rows"] if path.exists() else []
    rows = {row["case"]: row for row in known}
    for name in options.only:
        command = [sys.executable, __file__, "--child", "--only", name, "--repeat", str(options.repeat)]
        command += ["--no-peer"] if options.no_peer else []
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise SystemExit(done.stderr)
        rows[name] = json.loads(done.stdout.splitlines()[-1])
        print(rows[name], flush=True)
    report = {"machine": machine(), "rows": [rows[name] for name in CASES if name in rows]}
    path.write_text(json.dumps(report, indent=1) + "\n")
    (RESULTS / "distances.md").write_text(markdown(report))


if __name__ == "__main__":
    main()
