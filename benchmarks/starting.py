"""The first answer of a fresh process: CPU seconds and wall time, with kept machine code and without.

    python benchmarks/starting.py [--repeat 5] [--cold-repeat 1]

Every run is a process of its own, started as a user would.  *Warm*: machine code was kept by an earlier run.
*Cold*: nothing was, as after an installation.  CPU seconds (user and system, all threads) are nearly those of
a quiet machine even where others compute at the same time; the least of all runs counts.  What imports and
the compiler take is measured in runs of their own, by Python's ``-X importtime`` and Numba's events, as
shares of the wall time of these.  Results go to ``benchmarks/results/starting.json``.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import numpy as np

from engine import machine

GOAL = {"warm": 1.0, "cold": 4.0}  # seconds, of 1,000 x 16
CALL = """
import numpy as np
X = np.random.default_rng(0).standard_normal(({n}, {d})).astype(np.{kind})
import geodim
geodim.{call}
"""
# The same with every compilation noted: the outermost ones last as long as those that they contain.
LISTEN = """
import json, time
from numba.core import event
heard = event.RecordingListener()
started = time.perf_counter()
with event.install_listener("numba:compile", heard):
{code}
whole = time.perf_counter() - started
depth, since, compiling, names = 0, 0.0, 0.0, []
for at, what in heard.buffer:
    if what.is_start:
        since, depth = (at if depth == 0 else since), depth + 1
        names.append(what.data["dispatcher"].py_func.__name__)
    else:
        depth -= 1
        compiling += at - since if depth == 0 else 0.0
print(json.dumps({{"whole": whole, "compiling": compiling, "functions": len(names)}}))
"""


def cases(folder: Path) -> dict[str, tuple[list[str], bool]]:
    """Arguments for Python, and whether compiled code takes part."""

    def call(n: int, d: int, kind: str, what: str) -> list[str]:
        return ["-c", CALL.format(n=n, d=d, kind=kind, call=what)]

    def compute(name: str) -> list[str]:
        return ["-m", "geodim", "compute", str(folder / name)]

    plain = "intrinsic_dimension(X)"
    return {
        "import numpy": (["-c", "import numpy"], False),
        "import sklearn.base": (["-c", "import sklearn.base"], False),
        "intrinsic_dimension, 1,000 x 16 float64": (call(1000, 16, "float64", plain), False),
        "geodim compute, 1,000 x 16 float64": (compute("small.npy"), False),
        "IntrinsicDimension().fit, 1,000 x 16 float64": (
            call(1000, 16, "float64", "IntrinsicDimension().fit(X)"), False,
        ),
        "intrinsic_dimension, 100,000 x 16 float64": (call(100_000, 16, "float64", plain), True),
        "intrinsic_dimension, 100,000 x 16 float32": (call(100_000, 16, "float32", plain), True),
        "geodim compute, 100,000 x 16 float64": (compute("large.npy"), True),
    }  # fmt: skip


def run(arguments: list[str], cache: Path) -> dict[str, float]:
    """One process, its clock and what it used."""
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(cache)}
    started = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, *arguments], env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"{arguments} ended with {process.returncode}")
    return {"cpu_s": used.ru_utime + used.ru_stime, "wall_s": time.perf_counter() - started}


def best(arguments: list[str], caches: list[Path]) -> dict[str, float]:
    """The least of some runs, one with each cache."""
    runs = [run(arguments, cache) for cache in caches]
    return {key: round(min(one[key] for one in runs), 3) for key in ("cpu_s", "wall_s")}


def imports(arguments: list[str], cache: Path) -> dict[str, object]:
    """The part of the wall time that imports take, and the packages that take most, in milliseconds."""
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(cache)}
    started = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-X", "importtime", *arguments],
        env=environment, capture_output=True, text=True, check=True,
    )  # fmt: skip
    whole = time.perf_counter() - started
    own: Counter[str] = Counter()
    for line in done.stderr.splitlines():
        if line.startswith("import time:") and (columns := line.split("|"))[0][12:].strip().isdigit():
            package = columns[2].strip().partition(".")[0]
            known = package in (
                "numpy",
                "numba",
                "llvmlite",
                "scipy",
                "sklearn",
                "geodim",
                "rich",
                "pydantic",
            )
            own[package if known or package == "typer" else "others"] += int(columns[0][12:])
    return {
        "share": round(own.total() / 1e6 / whole, 3),
        "ms": {package: round(us / 1e3, 1) for package, us in own.most_common()},
    }


def compiler(code: str, cache: Path) -> dict[str, object]:
    """The part of the wall time that the compiler takes, and how many functions it compiles."""
    body = "\n".join(f"    {line}" for line in code.strip().splitlines())
    done = subprocess.run(
        [sys.executable, "-c", LISTEN.format(code=body)],
        env={**os.environ, "NUMBA_CACHE_DIR": str(cache)}, capture_output=True, text=True, check=True,
    )  # fmt: skip
    found = json.loads(done.stdout.splitlines()[-1])
    return {"share": round(found["compiling"] / found["whole"], 3), "functions": found["functions"]}


def measure(arguments: list[str], compiled: bool, folder: Path, repeat: int, cold: int) -> dict[str, object]:
    warm = folder / "warm"
    run(arguments, warm)  # fills the cache
    row: dict[str, object] = {
        "warm": {**best(arguments, [warm] * repeat), "imports": imports(arguments, warm)}
    }
    if "geodim" in " ".join(arguments):
        empty = [Path(tempfile.mkdtemp(dir=folder)) for _ in range(cold if compiled else repeat)]
        row["cold"] = best(arguments, empty)
        if compiled and arguments[0] == "-c":
            row["cold"]["compiler"] = compiler(arguments[1], Path(tempfile.mkdtemp(dir=folder)))
    return row


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--cold-repeat", type=int, default=1)
    options = parser.parse_args()
    rows, before = [], os.getloadavg()[2]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        rng = np.random.default_rng(0)
        np.save(folder / "small.npy", rng.standard_normal((1000, 16)))
        np.save(folder / "large.npy", rng.standard_normal((100_000, 16)))
        for case, (arguments, compiled) in cases(folder).items():
            row = {"case": case}
            row |= measure(arguments, compiled, folder, options.repeat, options.cold_repeat)
            # What scikit-learn's estimators inherit takes longer to import than all of this together.
            if "1,000 x 16" in case and "100,000" not in case and "fit" not in case:
                row["ok"] = all(row[kind]["cpu_s"] < most for kind, most in GOAL.items())
            rows.append(row)
            print(json.dumps(row))
    # Wall times are those of a machine with so many processes at work, on average, before and after.
    load = {"before": before, "after": os.getloadavg()[2]}
    found = {"machine": machine(), "load": load, "repeat": options.repeat, "goal_cpu_s": GOAL, "rows": rows}
    path = Path(__file__).parent / "results" / "starting.json"
    path.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
