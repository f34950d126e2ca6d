"""What one GPU does: normal columns, a graph of the shape of ogbn-papers100M, the largest random data.

    python benchmarks/gpu.py normal papers random --log docs/results/gpu.log

Every figure is the wall time of one public call, after small calls that compile the kernels; making the
data is timed apart.  Where the shares of sorting, windows, products and copies are told, the device is
waited for at every step.
"""

from __future__ import annotations

import argparse
import logging
import platform
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import torch

import geodim
from geodim.engine.parts import available_threads
from geodim.memory import process_memory

GIB = 2.0**30
NODES, EDGES, ATTRIBUTES = 111_059_956, 1_615_685_872, 128


def say(*words: object) -> None:
    print(*words, flush=True)


def memory() -> str:
    host = process_memory("VmHWM") / GIB
    return (
        f"peak GPU memory {torch.cuda.max_memory_allocated() / GIB:.1f} GiB (reserved "
        f"{torch.cuda.max_memory_reserved() / GIB:.1f}), host {host:.1f} GiB"
    )


@contextmanager
def timed(what: str):
    torch.cuda.synchronize()
    started = time.perf_counter()
    yield
    torch.cuda.synchronize()
    say(f"{what}: {time.perf_counter() - started:.3f} s")


@contextmanager
def shares():
    """Let the backend tell where the time goes."""
    log = logging.getLogger("geodim.cuda")
    log.setLevel(logging.INFO)
    try:
        yield
    finally:
        log.setLevel(logging.WARNING)


def warm_up() -> None:
    with timed("small calls that compile the kernels"):
        for dtype in (torch.float32, torch.float64):
            X = torch.randn((100_000, 32), device="cuda", dtype=dtype)
            geodim.intrinsic_dimension(X)
            geodim.intrinsic_dimension(X, rtol=1e-4)
        geodim.khop_dimensions(
            torch.randn((4096, 40), device="cuda"), torch.randint(4096, (2, 40_000), device="cuda"), 2
        )


def draw(X: np.ndarray, column_kinds: int = 1) -> None:
    """Fill with normal numbers, in parts side by side.

    Of two kinds every second column is mostly 0, else wide.
    """
    edges = np.linspace(0, len(X), 256 + 1).astype(int)

    def fill(part: int) -> None:
        rng = np.random.default_rng([0, part])
        rows = X[edges[part] : edges[part + 1]]
        rng.standard_normal(out=rows, dtype=np.float32)
        if column_kinds == 2:
            rows[:, ::2] *= 0.1
            rows[:, 1::2] = np.maximum(rows[:, 1::2] - 1.3, 0.0) * 4.0

    with ThreadPoolExecutor(available_threads()) as pool:
        list(pool.map(fill, range(256)))


def normal(n: int, d: int) -> None:
    say(f"\n== normal {n:.0e} x {d} float32, exact")
    host = np.empty((n, d), np.float32)
    with timed(f"drawn, {host.nbytes / 1e9:.1f} GB in host memory"):
        draw(host)
    with shares(), timed("from host memory, exact"):
        first = geodim.intrinsic_dimension(host, backend="cuda")
    say(f"dimension {first.dimension!r}, {len(first.shares)} features attain Phi; {memory()}")
    X = torch.empty((n, d), device="cuda")
    with timed("copied to the device by PyTorch"):
        X.copy_(torch.from_numpy(host))
    two = host[:, :2].copy()
    del host
    torch.cuda.reset_peak_memory_stats()
    with timed("on the device, exact"):
        result = geodim.intrinsic_dimension(X)
    say(memory())
    assert result.dimension == first.dimension
    assert np.array_equal(result.phi_lower, first.phi_lower)
    with shares(), timed("again, with the device waited for"):
        geodim.intrinsic_dimension(X)
    torch.sort(X[:, 0].contiguous())
    with timed("torch.sort of all columns"):
        for column in range(d):
            torch.sort(X[:, column].contiguous())
    ours = geodim.intrinsic_dimension(X[:, :2])
    reference = geodim.intrinsic_dimension(two)
    same = np.array_equal(ours.phi_lower, reference.phi_lower) and ours.shares == reference.shares
    say("two of the columns: the same bits as on the CPU:", same)
    assert same


def papers(nodes: int, edges: int, attributes: int, hops: int) -> None:
    from rmat import rmat_graph

    say(
        f"\n== R-MAT of the shape of papers100M: {nodes:,} nodes, {edges:,} edges, "
        f"{attributes} attributes, hops 0..{hops}"
    )
    with timed("edges drawn and made into a symmetric graph, on the device"):
        graph = rmat_graph(nodes, edges)
    torch.cuda.empty_cache()
    say(
        f"{graph.n_edges:,} undirected edges, {graph.indices.numel() + nodes:,} "
        f"entries with loops; {memory()}"
    )
    X = np.empty((nodes, attributes), np.float32)
    with timed(f"attributes, {X.nbytes / 1e9:.1f} GB in host memory"):
        draw(X, column_kinds=2)
    torch.cuda.reset_peak_memory_stats()
    for rtol in (0.0, 1e-4):
        with shares(), timed(f"hops 0..{hops}, rtol {rtol}"):
            result = geodim.khop_dimensions(X, graph, hops, rtol=rtol, backend="cuda")
        values = ", ".join(f"{value:.8g}" for value in result.dimensions)
        say(f"dimensions {values}; largest error {max(one.error for one in result):.3g}; {memory()}")
        del result


def random(n: int, d: int, repetitions: int) -> None:
    from geodim.backends.cuda.backend import CudaBackend
    from geodim.backends.cuda.columns import compute_profile
    from geodim.engine.parts import mean
    from geodim.experiments.random_data import LENGTH, NormalColumns
    from geodim.experiments.support_sums import bounds_on_support
    from geodim.paper import log_scale_support

    say(
        f"\n== random data: {n:.0e} points, {d} standard normal float64 columns, drawn "
        "on the CPU as they are needed"
    )
    support = np.array(log_scale_support(n, length=LENGTH))
    errors = []
    for repetition in range(repetitions):
        with shares(), timed(f"repetition {repetition}, exact, with drawing {8e-9 * n * d:.0f} GB"):
            source, place = NormalColumns(n, d, repetition), CudaBackend(torch.device("cuda"))
            plan = place.plan(place.problem(source, 0.0), available_threads())
            profile = compute_profile(source, place.device, plan.way, n_threads=plan.threads)
        bounds = bounds_on_support(profile.phi[support - 1], support, n)
        errors.append(bounds.error)
        say(
            f"repetition {repetition}: E = {bounds.error!r}, dimension "
            f"{1.0 / mean(profile.phi[1:], n, 1.0) ** 2!r}"
        )
    say(f"E = {np.mean(errors):.3g} +- {np.std(errors):.1g}; {memory()}")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("cases", nargs="+", choices=["normal", "papers", "random"])
    parser.add_argument("--shrink", type=int, default=1, help="divide all sizes by this, for a trial")
    parser.add_argument("--log", type=Path, help="write the lines here as well")
    chosen = parser.parse_args()
    logging.basicConfig(format="   %(message)s", stream=sys.stdout)
    if chosen.log is not None:
        tee(chosen.log)
    say(
        f"geodim {geodim.__version__}, PyTorch {torch.__version__}, CUDA {torch.version.cuda}, "
        f"Python {platform.python_version()}"
    )
    say(
        f"{torch.cuda.get_device_name()}, {torch.cuda.mem_get_info()[1] / GIB:.0f} GiB; "
        f"{available_threads()} CPU cores"
    )
    warm_up()
    less = chosen.shrink
    if "normal" in chosen.cases:
        normal(10**7 // less, 128)
        normal(10**8 // less, 128)
    if "papers" in chosen.cases:
        papers(NODES // less, EDGES // less, ATTRIBUTES, 5)
    if "random" in chosen.cases:
        random(10**8 // less, 250, 3)


def tee(path: Path) -> None:
    """Whatever is printed also goes to a file."""
    stream, screen = path.open("w", encoding="utf-8"), sys.stdout

    class Both:
        def write(self, text: str) -> int:
            stream.write(text)
            return screen.write(text)

        def flush(self) -> None:
            stream.flush()
            screen.flush()

    sys.stdout = Both()
    logging.getLogger().handlers[0].setStream(sys.stdout)


if __name__ == "__main__":
    main()
