"""Exact on one GPU, against `torch.sort` of the same columns, with another version of the source beside it.

    git worktree add ../old COMMIT
    python benchmarks/gpu_sorting.py --old ../old/src

The data is drawn on the device, row-major, as users hold it; `torch.sort` gets every column contiguous, one
after the other, and has nothing else to do.  Every case runs in a fresh process of either version, in turn,
with and without CuPy; sorting and geodim alternate within it, and the best time of each counts.  The bits are
compared with those of the engine on the CPU, for eight of the columns at a tenth of the points or fewer.  One
more call is profiled.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path

RESULT = Path(__file__).resolve().parent / "results" / "gpu-sorting.json"
CASES = {
    "normal 10^7 x 128": (10**7, 128, "normal", 2.0),
    "mixed 10^7 x 128": (10**7, 128, "mixed", 2.0),
    "grid 10^7 x 128": (10**7, 128, "grid", 2.0),
    "normal 10^8 x 128": (10**8, 128, "normal", 1.5),
    "mixed 10^8 x 128": (10**8, 128, "mixed", 1.5),
}
CHECKED = 10**6  # points of the columns that the CPU solves, too


def draw(torch, n: int, d: int, kind: str):
    """Normal columns; whole numbers; or eight shapes and different scales: most never attain the maximum."""
    generator = torch.Generator("cuda").manual_seed(n)
    X = torch.empty((n, d), device="cuda")
    if kind == "grid":
        return draw_grid(torch, X, generator)
    scales = torch.randn(d, generator=torch.Generator().manual_seed(1)).exp().tolist()
    for j in range(d):
        z = torch.randn(n, device="cuda", generator=generator)
        if kind == "mixed":
            u = torch.rand(n, device="cuda", generator=generator).clamp_(1e-7, 1.0 - 1e-7)
            z = (
                scales[j]
                * [
                    z,
                    u,
                    -u.log(),
                    z.exp(),
                    z / (4.0 * u).sqrt(),
                    torch.sin(1.5707963 * u) ** 2,
                    -(u * z.abs().clamp(1e-6)).log(),
                    torch.sign(u - 0.5) * (1.0 - 2.0 * (u - 0.5).abs()).clamp(1e-7).log(),
                ][j % 8]
            )
        X[:, j] = z
    return X


def draw_grid(torch, X, generator):
    """Every fourth column is a permutation, whose windows are equal; the others have ties, few or many."""
    n = len(X)
    for j in range(X.shape[1]):
        below = [1000, 2**16, 10**6 + 3, n][j % 4]
        if below == n:
            X[:, j] = torch.randperm(n, device="cuda", generator=generator).float()
        else:
            X[:, j] = torch.randint(0, below, (n,), device="cuda", generator=generator).float()
            X[:, j] /= below if j % 8 < 4 else 1
    return X


def seconds_of(torch, work) -> tuple[float, object]:
    torch.cuda.synchronize()
    started = time.perf_counter()
    found = work()
    torch.cuda.synchronize()
    return time.perf_counter() - started, found


def sort_seconds(torch, X) -> float:
    """All columns, 16 of them made contiguous at a time, which does not count."""
    total = 0.0
    for first in range(0, X.shape[1], 16):
        columns = X[:, first : first + 16].T.contiguous()
        total += seconds_of(torch, lambda columns=columns: [torch.sort(column) for column in columns][:0])[0]
    return total


def profile_of(torch, work) -> dict[str, object]:
    """Milliseconds of all kernels in one call, and of each of those that take the longest."""
    from torch.profiler import ProfilerActivity, profile

    with profile(activities=[ProfilerActivity.CUDA], acc_events=True) as found:
        work()
        torch.cuda.synchronize()
    events = [event for event in found.key_averages() if str(event.device_type).endswith("CUDA")]
    events.sort(key=lambda event: -event.device_time_total)
    kernels: dict[str, float] = {}
    for event in events[:30]:
        name = "sorting" if "radix_sort" in event.key or "RadixSort" in event.key else event.key[:60]
        kernels[name] = round(kernels.get(name, 0.0) + event.device_time_total / 1000, 2)
    total = sum(event.device_time_total for event in events) / 1000
    return {"milliseconds": round(total, 1), "kernels": kernels}


def run_case(name: str, repeat: int, *, with_cupy: bool) -> dict[str, object]:
    import numpy as np
    import torch

    import geodim

    if with_cupy:
        import cupy

        cupy.sort(cupy.random.random(1000))
    n, d, kind, _ = CASES[name]
    geodim.intrinsic_dimension(torch.randn((160_000, 32), device="cuda"))  # compiles
    X = draw(torch, n, d, kind)
    geodim.intrinsic_dimension(X)
    torch.cuda.empty_cache()
    torch.cuda.reset_peak_memory_stats()
    sorts, ours = [], []
    for _ in range(repeat):
        took, found = seconds_of(torch, lambda: geodim.intrinsic_dimension(X))
        ours.append(took)
        peak = torch.cuda.max_memory_allocated()
        sorts.append(sort_seconds(torch, X))
    few = X[:: max(n // CHECKED, 1), :8]
    device, host = geodim.intrinsic_dimension(few), geodim.intrinsic_dimension(few.cpu().numpy())
    assert np.array_equal(device.phi_lower, host.phi_lower)
    assert device.shares == host.shares
    return {
        "sort_seconds": min(sorts), "seconds": min(ours), "all_seconds": ours,
        "ns_per_value": 1e9 * min(ours) / (n * d), "ratio": min(ours) / min(sorts),
        "peak_gpu_gib": peak / 2**30, "data_gib": X.numel() * 4 / 2**30,
        "dimension": found.dimension, "attain": len(found.shares),
        "profile": profile_of(torch, lambda: geodim.intrinsic_dimension(X)),
    }  # fmt: skip


def in_a_process(name: str, source: Path, repeat: int, *, with_cupy: bool = False) -> dict[str, object]:
    run = subprocess.run(
        [sys.executable, __file__, "--case", name, "--repeat", str(repeat), *["--cupy"] * with_cupy],
        env={**os.environ, "PYTHONPATH": str(source)}, check=True, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    found: dict[str, object] = json.loads(run.stdout.splitlines()[-1])
    print(f"{name}, {source}, cupy {with_cupy}: {found['seconds']:.3f} s = {found['ratio']:.2f} x sort, "
          f"{found['peak_gpu_gib']:.1f} GiB", flush=True)  # fmt: skip
    return found


def device() -> dict[str, object]:
    import platform

    import torch
    import triton

    x = torch.empty(1 << 30, device="cuda")
    y = torch.empty_like(x)
    y.copy_(x)
    copying = min(seconds_of(torch, lambda: y.copy_(x))[0] for _ in range(5))
    return {
        "device": torch.cuda.get_device_name(), "torch": torch.__version__, "triton": triton.__version__,
        "cuda": torch.version.cuda, "python": platform.python_version(), "cores": os.cpu_count(),
        "bytes_per_second": 2 * x.numel() * 4 / copying,
    }  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--old", type=Path, help="source of another version")
    parser.add_argument("--only", default="", help="cases whose name contains this")
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--output", type=Path, default=RESULT)
    parser.add_argument("--case", help=argparse.SUPPRESS)
    parser.add_argument("--cupy", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.case:
        print(json.dumps(run_case(options.case, options.repeat, with_cupy=options.cupy)))
        return
    here = Path(__import__("geodim").__file__).resolve().parents[1]
    found: dict[str, object] = {**device(), "cases": {}, "profile": {}}
    for name, (_, _, _, goal) in CASES.items():
        if options.only not in name:
            continue
        entry: dict[str, object] = {"goal": goal}
        if options.old:
            entry["before"] = in_a_process(name, options.old, options.repeat)
        entry["after"] = in_a_process(name, here, options.repeat)
        entry["after, with CuPy"] = in_a_process(name, here, options.repeat, with_cupy=True)
        for run in ("before", "after"):
            entry.get(run, {}).pop("profile", None)
        found["profile"][name] = entry["after, with CuPy"].pop("profile")
        found["cases"][name] = entry
        options.output.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
