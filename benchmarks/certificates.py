"""Certificates: what they cost to make, to keep and to check.

    python benchmarks/certificates.py [--planetoid FOLDER] [--points 1000000 --features 32]

Made by ``result.certificate()`` in a process of its own, whose peak memory includes the engine and the
result.  Checked by the stand-alone program ``src/geodim/checker.py`` on .npy files, in a process that never
imports geodim.  The folder with the Planetoid files is needed for Cora with 5 hops; without it, a random
graph of the same size takes its place.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits

from engine import machine

RTOLS = (1e-2, 1e-3, 1e-4)
PEAK = """
def peak():  # of this process alone: what getrusage says includes that of its parent
    lines = open("/proc/self/status").read().splitlines()
    return int(next(line for line in lines if line.startswith("VmHWM")).split()[1]) * 1024
"""
MAKE = """
import json, sys, time
import numpy as np
import geodim
PEAK
folder, hops = sys.argv[1], int(sys.argv[2])
def measure(X, edges):
    return geodim.khop_dimensions(X, edges, hops) if hops else geodim.intrinsic_dimension(X)
rng = np.random.default_rng(0)
warm = rng.normal(size=(500, 2)).astype(np.float32), rng.integers(0, 500, (2, 900))
measure(*warm).certificate(*warm[: 1 + (hops > 0)])
X = np.load(folder + "/x.npy", mmap_mode="r")
edges = np.load(folder + "/edges.npy") if hops else None
started = time.perf_counter()
result = measure(X, edges)
print(json.dumps({"compute_s": time.perf_counter() - started}))
for rtol in map(float, sys.argv[3:]):
    started, used = time.perf_counter(), time.process_time()
    certificate = result.certificate(rtol=rtol)
    seconds, used = time.perf_counter() - started, time.process_time() - used
    certificate.save(f"{folder}/{rtol:g}.json")
    low, high = certificate.dimensions[-1]
    print(json.dumps({
        "rtol": rtol, "make_s": seconds, "make_cpu_s": used, "sizes": len(certificate.to_dict()["sizes"]),
        "proved": [low, high], "make_peak_bytes": peak(),
    }))
"""
CHECK = """
import json, sys, time
PEAK
sys.path.insert(0, sys.argv[1])
import numpy as np, checker
X = np.load(sys.argv[3], mmap_mode="r")
edges = np.load(sys.argv[4]) if len(sys.argv) > 4 else None
started, used = time.perf_counter(), time.process_time()
text = np.fromfile(sys.argv[2], np.uint8, checker.MOST_BYTES).tobytes()
checker.verify(text, checker.columns_of(X), X.shape, edges)
seconds, used = time.perf_counter() - started, time.process_time() - used
assert "geodim" not in sys.modules and "numba" not in sys.modules
print(json.dumps({"check_s": seconds, "check_cpu_s": used, "check_peak_bytes": peak()}))
"""
CHECKER = Path(__file__).parents[1] / "src" / "geodim"


def child(code: str, *arguments: object) -> list[dict[str, object]]:
    command = [sys.executable, "-c", code.replace("PEAK", PEAK), *map(str, arguments)]
    out = subprocess.run(
        command, check=True, capture_output=True, text=True, cwd=tempfile.gettempdir()
    ).stdout
    return [json.loads(line) for line in out.splitlines()]


def case(
    name: str, X: np.ndarray, edges: np.ndarray | None = None, hops: int = 0, rtols: tuple[float, ...] = RTOLS
) -> dict[str, object]:
    values = X.size * (hops + 1)
    report: dict[str, object] = {
        "points": X.shape[0],
        "features": X.shape[1],
        "hops": hops,
        "type": X.dtype.name,
    }
    with tempfile.TemporaryDirectory() as folder:
        files = [f"{folder}/x.npy"]
        np.save(files[0], X)
        if edges is not None:
            files.append(f"{folder}/edges.npy")
            np.save(files[1], edges)
        computed, *made = child(MAKE, folder, hops, *rtols)
        report |= computed
        report["certificates"] = []
        for one in made:
            path = Path(folder, f"{one['rtol']:g}.json")
            checked = min(
                (child(CHECK, CHECKER, path, *files)[0] for _ in range(3)), key=lambda run: run["check_cpu_s"]
            )
            one |= {
                "bytes": path.stat().st_size,
                **checked,
                "check_cpu_ns_per_value": 1e9 * checked["check_cpu_s"] / values,
            }
            report["certificates"].append(one)
            print(
                f"{name}, {one['rtol']:g}: made in {one['make_s']:.3g} s ({one['make_cpu_s']:.3g} s of CPU), "
                f"{one['bytes'] / 1e3:.3g} kB, checked in {one['check_s']:.3g} s ({one['check_cpu_s']:.3g} s "
                f"of CPU, {one['check_cpu_ns_per_value']:.0f} ns a value, peak "
                f"{one['check_peak_bytes'] / 1e6:.0f} MB)",
                flush=True,
            )
    return report


def cora(folder: Path | None) -> tuple[str, np.ndarray, np.ndarray]:
    if folder is not None:
        from geodim.data.datasets import load_dataset

        data = load_dataset("cora", folder, offline=True)
        return "cora", data.x.toarray(), np.asarray(data.edge_index)
    rng = np.random.default_rng(1)
    X = (rng.random((2708, 1433)) < 0.0127).astype(np.float32)
    return "a random graph as large as cora", X, rng.integers(0, 2708, (2, 5278))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--planetoid", type=Path)
    parser.add_argument("--points", type=int, default=1_000_000)
    parser.add_argument("--features", type=int, default=32)
    options = parser.parse_args()
    report: dict[str, object] = {"machine": machine(), "load": os.getloadavg()[0]}
    name, X, edges = cora(options.planetoid)
    report["digits"] = case("digits", load_digits().data)
    report[name] = case(name, X, edges, hops=5)
    rng = np.random.default_rng(0)
    X = rng.standard_normal((options.points, options.features), dtype=np.float32)
    report["normal"] = case("normal", X)
    report["cauchy"] = case("cauchy", rng.standard_cauchy((options.points, 1)))
    # All windows are alike: nothing can be passed over.
    report["grid"] = case(
        "grid", np.arange(options.points, dtype=np.float64)[:, np.newaxis], rtols=(1e-2, 1e-3)
    )
    (Path(__file__).parent / "results" / "certificates.json").write_text(json.dumps(report, indent=1) + "\n")


if __name__ == "__main__":
    main()
