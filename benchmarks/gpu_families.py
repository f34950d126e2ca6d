"""Many short columns on a GPU: ordinary ones, and all distances of a set of points.

    python benchmarks/gpu_families.py [--only columns distances-100000] [--out FILE]

Each case is run once on a smaller set, which compiles the kernels, and then timed, points on the host and the
result included.  `torch.sort` of the same number of values, a block at a time, is the yardstick.  Results go
to ``benchmarks/results/gpu-families.json``.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path

import torch
from distances import vectors

import geodim

RESULTS = Path(__file__).parent / "results" / "gpu-families.json"
CASES = {
    "columns": (100_000, 100_000),
    "distances-100000": (100_000, None),
    "distances-1000000": (1_000_000, None),
}
SORTED = 1 << 28  # values


def timed(call: object) -> tuple[float, object]:
    torch.cuda.synchronize()
    started = time.perf_counter()
    value = call()
    torch.cuda.synchronize()
    return time.perf_counter() - started, value


def sort_ns(n: int, dtype: torch.dtype) -> float:
    """Nanoseconds a value of sorting rows of n values."""
    block = torch.randn(max(SORTED // n, 1), n, dtype=dtype, device="cuda")
    torch.sort(block, dim=1)
    return 1e9 * timed(lambda: torch.sort(block, dim=1))[0] / block.numel()


def run(name: str) -> dict[str, object]:
    n, d = CASES[name]
    if d is not None:
        geodim.intrinsic_dimension(torch.randn(n, 2000, device="cuda"))
        torch.cuda.empty_cache()
        X = torch.randn(n, d, device="cuda")
        options: dict[str, object] = {}
    else:
        X, d, options = vectors(n), n, {"features": "distances", "backend": "cuda"}
        geodim.intrinsic_dimension(vectors(20_000), **options)
    torch.cuda.empty_cache()
    torch.cuda.reset_peak_memory_stats()
    seconds, result = timed(lambda: geodim.intrinsic_dimension(X, **options))
    happened = result.plan.happened
    row = {
        "case": name, "points": n, "columns": d, "seconds": seconds, "ns_per_value": 1e9 * seconds / (n * d),
        "dimension": result.dimension, "relative_error": result.error,
        "peak_bytes": happened.memory, "predicted_bytes": result.plan.predicted.memory,
        "predicted_seconds": result.plan.predicted.seconds,
    }  # fmt: skip
    row["sort_ns_per_value"] = sort_ns(n, torch.float64 if options else torch.float32)
    return row


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="*", choices=list(CASES), default=list(CASES))
    parser.add_argument("--out", type=Path, default=RESULTS)
    options = parser.parse_args()
    rows = []
    for name in options.only:
        rows.append(run(name))
        print(rows[-1], flush=True)
        machine = {"device": torch.cuda.get_device_name(), "torch": torch.__version__}
        options.out.write_text(json.dumps({"machine": machine, "rows": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
