"""Plans against runs: what `geodim --dry-run` predicts, and what a run then takes.

Also makes the table of docs/planning.md.

    python benchmarks/planning.py                     # everything, about ten minutes on two cores
    python benchmarks/planning.py --only cpu cluster  # some parts; with no part, the table alone is kept
    python benchmarks/planning.py --table             # the table from 10^4 to 10^10 points, nothing is run

Every run is a process of its own, with its kernels compiled before the clock starts; its memory is the
largest resident size since then.  What ran on a GPU is taken from ``docs/results/gpu.log``.  Histograms, the
way past 10^9 points, are run on rows that are drawn where they are counted, at three sizes, to see that time
grows as planned and memory not at all.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np

import geodim
from engine import machine
from geodim.cli.compute_plan import look_at
from geodim.engine.parts import available_threads
from geodim.memory import process_memory
from geodim.planning.cluster import workers_of
from geodim.planning.cuda import plan_cuda
from geodim.planning.rates import speed_up
from geodim.planning.words import duration, size
from geodim.plans import CORE, Problem, best_of, calibrate, machine_memory, normal_sample, plan

HERE = Path(__file__).parent
GIB = 1 << 30


# ---------------------------------------------------------------- what is run


def forget_peak() -> None:
    Path("/proc/self/clear_refs").write_text("5", encoding="utf-8")


@contextmanager
def own_memory(found: dict):
    """The most memory of this process.

    Pages of a mapped file, which the system can take back, do not count.
    """
    before, base = process_memory("RssAnon"), process_memory("VmRSS")
    over, most = threading.Event(), [before]

    def watch() -> None:
        while not over.wait(0.002):
            most[0] = max(most[0], process_memory("RssAnon"))

    thread = threading.Thread(target=watch)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
        found["memory"] = base + most[0] - before


def compute_here(path: str, rtol: str, threads: str) -> None:
    """A child: one computation on a mapped file, the best of a few."""
    x = np.load(path, mmap_mode="r")
    some = np.array(x[:200_000, :16])
    for n_threads in {1, int(threads)}:
        geodim.intrinsic_dimension(some, rtol=float(rtol), n_threads=n_threads)
    long = np.array(x[:5_000_000, :2])
    geodim.intrinsic_dimension(long, rtol=float(rtol), n_threads=int(threads))  # what only long columns need
    del some, long
    x = np.load(path, mmap_mode="r")  # nothing of it is mapped yet
    found: dict = {}
    with own_memory(found):
        geodim.intrinsic_dimension(x, rtol=float(rtol), n_threads=int(threads))
    times = []
    for _ in range(5 if len(x) <= 10**6 else 2):
        started, used = time.perf_counter(), time.process_time()
        geodim.intrinsic_dimension(x, rtol=float(rtol), n_threads=int(threads))
        times.append((time.perf_counter() - started, time.process_time() - used))
    found["seconds"], found["core_seconds"] = np.min(times, axis=0).tolist()
    print(json.dumps(found))


def hops_here(folder: str, hops: str, threads: str) -> None:
    """A child: one pass over the hops of a graph in memory."""
    x, edges = np.load(Path(folder, "x.npy")), np.load(Path(folder, "edges.npy"))
    few = np.random.default_rng(0).integers(0, 2_000, (2, 8_000))
    geodim.khop_dimensions(x[:2_000], few, 1, n_threads=int(threads))
    from geodim.data.graphs import as_graph

    graph = as_graph(edges, len(x), n_threads=int(threads))
    del edges
    forget_peak()
    before = process_memory("VmRSS")
    started, used = time.perf_counter(), time.process_time()
    geodim.khop_dimensions(x, graph, int(hops), n_threads=int(threads))
    seconds, used = time.perf_counter() - started, time.process_time() - used
    held = 8 * len(x) + graph.indices.nbytes  # was there before
    print(
        json.dumps(
            {"seconds": seconds, "core_seconds": used, "memory": process_memory("VmHWM") - before + held}
        )
    )


CHILDREN = {"compute": compute_here, "hops": hops_here}


def child(kind: str, *arguments: object) -> dict:
    done = subprocess.run(
        [sys.executable, __file__, "--child", kind, *map(str, arguments)],
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(done.stdout)


def compared(what: str, planned, measured: dict, *, memory: float | None = None) -> dict:
    memory = planned.memory if memory is None else memory
    row = {
        "what": what,
        "backend": planned.backend,
        "method": planned.method,
        "predicted": {"seconds": planned.seconds, "memory": memory},
        "measured": measured,
        "time_ratio": planned.seconds / measured["seconds"],
        "memory_ratio": memory / measured["memory"] if measured.get("memory") else None,
        "basis": planned.basis,
    }
    if "core_seconds" in measured:  # what other work on the machine hardly changes
        core = core_seconds(planned)
        row["predicted"]["core_seconds"] = core
        row["core_ratio"] = core / measured["core_seconds"]
    ratio = "" if row["memory_ratio"] is None else f"{row['memory_ratio']:.2f}"
    core_ratio = f"{row['core_ratio']:.2f}" if "core_ratio" in row else ""
    print(
        f"| {what} | {planned.backend} | {duration(planned.seconds)} | {duration(measured['seconds'])} | "
        f"{row['time_ratio']:.2f} | {core_ratio} | {size(memory)} | "
        f"{size(measured.get('memory') or 0)} | {ratio} |",
        flush=True,
    )
    return row


def core_seconds(planned) -> float:
    """Of all cores together."""
    parts = planned.parts
    if planned.backend == "dask":
        return (parts["columns"] * speed_up(planned.threads) + parts["reading"]) * planned.workers
    products = parts.get("products", 0.0) * speed_up(planned.threads)
    return parts["columns"] * speed_up(planned.threads) + products + parts.get("reading rows", 0.0)


def on_the_cpu(folder: Path, largest: int) -> list[dict]:
    rows, threads = [], available_threads()
    for exponent in range(4, largest + 1):
        n, path = 10**exponent, folder / "x.npy"
        x = np.lib.format.open_memmap(path, "w+", np.float32, (n, 64))
        for start in range(0, n, 1 << 18):
            rng = np.random.default_rng(start)
            part = x[start : start + (1 << 18)]
            part[:] = rng.standard_normal(part.shape, np.float32)
        del x
        for rtol in (0.0, 1e-3) if n >= 10**6 else (0.0,):
            problem, rates = look_at(path, None, None, rtol)
            planned = plan(problem, "cpu", n_threads=threads, memory=machine_memory(), rates=rates)
            words = "exact" if rtol == 0.0 else f"rtol {rtol:g}"
            measured = child("compute", path, rtol, threads)
            rows.append(compared(f"10^{exponent} x 64, {words}", planned, measured))
        path.unlink()
    return rows


def through_hops(folder: Path) -> list[dict]:
    n, d, hops, threads = 500_000, 32, 3, available_threads()
    rng = np.random.default_rng(0)
    x = rng.standard_normal((n, d), np.float32)
    edges = rng.integers(0, n, (2, 5_000_000))
    np.save(folder / "x.npy", x)
    np.save(folder / "edges.npy", edges)
    from geodim.cli.hop_inputs import OperatorName
    from geodim.cli.hop_plan import make_plan, make_trial

    trial = make_trial(
        None, None, folder / "x.npy", folder / "edges.npy", None, OperatorName.sym, {}, threads
    )
    planned = make_plan(trial, hops, 0.0, None)
    measured = child("hops", folder, hops, threads)
    return [compared(f"{n:,} nodes x {d}, {trial.entries:,} entries, {hops} hops", planned, measured)]


# ---------------------------------------------------------------- a cluster


def peak() -> int:
    """On a worker: the most memory since `forget_peak`."""
    return process_memory("VmHWM")


def drawn(block_info=None) -> np.ndarray:
    """Normal rows, drawn where they are counted; the same ones every time."""
    place = block_info[None]
    rng = np.random.default_rng(place["chunk-location"][0])
    return rng.standard_normal(place["chunk-shape"], np.float32)


def on_a_cluster(folder: Path, counted: list[float]) -> list[dict]:
    import dask.array as da
    import zarr
    from distributed import Client, LocalCluster

    n, d, memory = 2_000_000, 64, 4 * GIB
    rates = calibrate(normal_sample(n, d, 4), "a trial on 200,000 normal points")
    array = zarr.open_array(folder / "x.zarr", mode="w", shape=(n, d), chunks=(n // 16, d), dtype="f4")
    for start in range(0, n, n // 16):
        array[start : start + n // 16] = np.random.default_rng(start).standard_normal(
            (n // 16, d), np.float32
        )
    rows = []

    def workers(memory: int) -> LocalCluster:
        return LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            memory_limit=memory,
            dashboard_address=":0",
            silence_logs="CRITICAL",
        )

    def measured(client: Client, x, rtol: float) -> dict:
        client.run(forget_peak)
        before = sum(client.run(time.process_time).values())
        started = time.perf_counter()
        geodim.intrinsic_dimension(x, rtol=rtol)
        seconds = time.perf_counter() - started
        used = sum(client.run(time.process_time).values()) - before
        return {"seconds": seconds, "core_seconds": used, "memory": max(client.run(peak).values())}

    with workers(memory) as cluster, Client(cluster) as client:
        small = da.random.default_rng(0).normal(size=(200_000, 16), chunks=(50_000, 16)).astype(np.float32)
        for rtol in (0.0, 1e-3):
            geodim.intrinsic_dimension(small, rtol=rtol)  # compile
        problem = Problem(n, d, chunks=16)
        found = measured(client, da.from_zarr(str(folder / "x.zarr")), 0.0)
        planned = plan(problem, "dask", workers=workers_of(2, 1, memory), rates=rates)
        rows.append(compared(f"{n:,} x {d} from zarr, exact, 2 workers", planned, found))
    memory = 600 << 20
    rate = best_of(lambda: np.random.default_rng(0).standard_normal(1 << 22, np.float32)) / (1 << 22) / 4
    drawing = replace(rates, storage=1.0 / rate, basis=f"{rates.basis}, and drawing numbers for reading")
    with workers(memory) as cluster, Client(cluster) as client:
        geodim.intrinsic_dimension(small, rtol=1e-3)
        for points in counted:
            n, chunk = int(points), 1 << 22
            x = da.map_blocks(drawn, chunks=da.core.normalize_chunks((chunk, 2), (n, 2)), dtype=np.float32,
                              meta=np.empty((0, 0), np.float32))  # fmt: skip
            problem = Problem(n, 2, rtol=1e-3, chunks=-(-n // chunk))
            found = measured(client, x, 1e-3)
            planned = plan(problem, "dask", workers=workers_of(2, 1, memory), rates=drawing)
            words = f"{n:.0e} x 2 drawn, rtol 1e-3, {planned.method.split(' in ')[0]}, 2 workers of 600 MiB"
            rows.append(compared(words, planned, found))
    return rows


# ---------------------------------------------------------------- what was run elsewhere


def on_the_gpu() -> list[dict]:
    """Against docs/results/gpu.log."""
    log = (HERE.parent / "docs" / "results" / "gpu.log").read_text()
    rows = []
    for name, n in (("1e+07", 10**7), ("1e+08", 10**8)):
        part = log.split(f"== normal {name} x 128 float32, exact")[1].split("\n==")[0]
        seconds = re.findall(r"(?:from host memory|on the device), exact: ([\d.]+) s", part)
        peaks = re.findall(r"peak GPU memory ([\d.]+) GiB", part)
        for place, took, most in zip(("host", "device"), seconds, peaks, strict=True):
            planned = plan_cuda(Problem(n, 128, on_device=place == "device"))
            measured = {"seconds": float(took), "memory": float(most) * GIB}
            rows.append(compared(f"{n:.0e} x 128 from the {place}, exact", planned, measured))
    part = log.split("== R-MAT")[1].split("\n==")[0]
    took = float(re.search(r"hops 0..5, rtol 0.0: ([\d.]+) s", part)[1])
    most = float(re.search(r"rtol 0.0: .*?peak GPU memory ([\d.]+) GiB", part, re.DOTALL)[1])
    planned = plan_cuda(Problem(111_059_956, 128, hops=5, stored_entries=3_342_441_710))
    measured = {"seconds": took, "memory": most * GIB}
    rows.append(compared("the shape of papers100M x 128, 5 hops, no tolerance", planned, measured))
    return rows


def stored_results() -> list[dict]:
    """Against scaling.json, by the rates of its run with one thread, and cluster.json, by stated rates."""
    found = json.loads((HERE / "results" / "scaling.json").read_text())
    problem = Problem(found["points"], found["features"], held=True)
    one = found["rows"][0]["seconds"] / (
        problem.n_points * (CORE.first / CORE.later + problem.n_features - 1)
    )
    of_one = {"first": one * CORE.first / CORE.later, "later": one, "rows": float("inf")}  # reading included
    rates = replace(CORE, basis="its run with one thread", **of_one)
    rows = [
        compared(
            f"10^7 x 64, exact, {row['threads']} threads of a Xeon",
            plan(problem, "cpu", n_threads=row["threads"], rates=rates),
            {"seconds": row["seconds"]},
        )
        for row in found["rows"][1:]
    ]
    found = json.loads((HERE / "results" / "cluster.json").read_text())
    problem = Problem(found["points"], found["features"], chunks=16)
    planned = plan(problem, "dask", workers=workers_of(2, 1, 4 * GIB))
    for row in found["rows"]:
        words = f"{problem.n_points:,} x {problem.n_features} from {row['files']}, exact, 2 workers"
        words += " that keep freed memory" if row["workers_keep_memory"] else ", best of several"
        rows.append(compared(words, planned, {"seconds": min(row["cluster"])}))
    return rows


# ---------------------------------------------------------------- the table


def regimes() -> list[dict]:
    """From 10^4 to 10^10 points of 64 float32 features, by stated rates."""
    laptop, server = (
        partial(plan, n_threads=8, memory=16 * GIB),
        partial(plan, n_threads=32, memory=256 * GIB),
    )
    gpu = partial(plan, backend="cuda")
    few, small, many = (
        workers_of(*sizes) for sizes in ((16, 16, 256 * GIB), (32, 8, 16 * GIB), (64, 16, 64 * GIB))
    )
    on = lambda workers: partial(plan, backend="dask", workers=workers)
    cases = [
        (4, "laptop, 8 threads, 16 GiB", laptop, 0.0, None),
        (5, "laptop", laptop, 0.0, None),
        (6, "laptop", laptop, 0.0, None),
        (7, "laptop", laptop, 0.0, None),
        (7, "one H200", gpu, 0.0, None),
        (8, "laptop", laptop, 0.0, None),
        (8, "laptop, 3 threads", partial(plan, n_threads=3, memory=16 * GIB), 0.0, None),
        (8, "laptop", laptop, 1e-3, None),
        (8, "server, 32 threads, 256 GiB", server, 0.0, None),
        (8, "one H200", gpu, 0.0, None),
        (9, "server, 5 threads, 256 GiB", partial(plan, n_threads=5, memory=256 * GIB), 0.0, None),
        (9, "server, 8 threads, 256 GiB", partial(plan, n_threads=8, memory=256 * GIB), 1e-3, None),
        (9, "one H200", gpu, 0.0, None),
        (9, "16 workers, 16 threads, 256 GiB", on(few), 0.0, 250),
        (9, "32 workers, 8 threads, 16 GiB", on(small), 0.0, 1_000),
        (9, "32 workers, 8 threads, 16 GiB", on(small), 1e-3, 1_000),
        (10, "one H200", gpu, 0.0, None),
        (10, "64 workers, 16 threads, 64 GiB", on(many), 0.0, 2_500),
        (10, "64 workers, chunks of 1 GB", on(many), 1e-3, 2_500),
        (10, "64 workers, chunks of 128 MiB", on(many), 1e-3, None),
        (10, "64 workers, chunks of 1 GB", on(many), 1e-5, 2_500),
    ]
    return [
        {"machine": name, **make(Problem(10**exponent, 64, rtol=rtol, chunks=chunks)).to_dict()}
        for exponent, name, make, rtol, chunks in cases
    ]


def print_regimes(rows: list[dict]) -> None:
    print("| points | machine | tolerance | memory | passes | moved | time |\n|---|---|---|---|---|---|---|")
    for row in rows:
        words = "exact" if row["rtol"] == 0.0 else f"{row['rtol']:g}"
        passes, moved, end = row["passes"], "", duration(row["seconds"])
        if not row["fits"]:
            print(f"    {row['why_not']}", file=sys.stderr)
            passes, end = "", "does not fit"
        elif row["bytes_moved"]:
            moved = size(row["bytes_moved"])
        print(
            f"| {row['n_points']:.0e} | {row['machine']} | {words} | {size(row['memory'])} | {passes} | "
            f"{moved} | {end} |"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="*", default=["cpu", "hops", "cluster", "gpu", "stored"])
    parser.add_argument("--largest", type=int, default=7, help="exponent of the most points on the CPU")
    parser.add_argument("--counted", type=float, nargs="+", default=[5e7, 2e8, 1e9])
    parser.add_argument("--table", action="store_true")
    parser.add_argument("--folder", type=Path, help="for the files; a temporary one by default")
    parser.add_argument("--json", type=Path, default=HERE / "results" / "planning.json")
    parser.add_argument("--child", nargs="+", help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.child:
        CHILDREN[chosen.child[0]](*chosen.child[1:])
        return
    found = regimes()
    print_regimes(found)
    if chosen.table:
        return
    print(
        "\n| what | backend | time predicted | measured | ratio | of core time | memory "
        "predicted | measured | ratio |"
    )
    print("|---|---|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory(dir=chosen.folder) as name:
        folder = Path(name)
        parts = {
            "cpu": lambda: on_the_cpu(folder, chosen.largest),
            "hops": lambda: through_hops(folder),
            "cluster": lambda: on_a_cluster(folder, chosen.counted),
            "gpu": on_the_gpu,
            "stored": stored_results,
        }
        old = json.loads(chosen.json.read_text()) if chosen.json.exists() else {"compared": {}}
        compared_by_part = old["compared"] | {part: parts[part]() for part in chosen.only}
    where = machine() if chosen.only or "machine" not in old else old["machine"]
    result = {"machine": where, "compared": compared_by_part, "regimes": found}
    chosen.json.write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
