"""What a Dask cluster costs, reading the same files.

Two worker processes of one thread each run against two threads here.

    python benchmarks/cluster.py --points 2e6 --features 64

Both read the same Parquet or zarr files and compute exactly; the local run reads them into memory with
pyarrow or zarr.  Kernels are compiled and the workers warm before anything is measured; runs alternate, and
the best of each is taken, since the machine may have other things to do.  A second part limits every worker
to a quarter of the data (for real: the nanny ends a worker that takes more) and computes to 1e-3 and then
exactly.  Results must agree to the bit.  A third part counts columns that fit no worker and have heavy tails,
drawn chunk by chunk: what passes, cells and memory they take.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import tempfile
import time
from pathlib import Path

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import zarr
from distributed import Client, LocalCluster

import geodim
from engine import machine
from geodim.memory import process_memory

PARTS = 16


def write_files(folder: Path, n: int, d: int) -> tuple[Path, Path]:
    """The same normal columns as 16 Parquet files and as a zarr array of 16 chunks of rows."""
    rows = -(-n // PARTS)
    (folder / "x.parquet").mkdir()
    array = zarr.open_array(folder / "x.zarr", mode="w", shape=(n, d), chunks=(rows, d), dtype="f4")
    for part in range(PARTS):
        start, stop = part * rows, min((part + 1) * rows, n)
        values = np.random.default_rng(part).standard_normal((stop - start, d), dtype=np.float32)
        array[start:stop] = values
        table = pa.table({f"f{j}": values[:, j] for j in range(d)})
        pq.write_table(table, folder / "x.parquet" / f"{part:02d}.parquet")
    return folder / "x.parquet", folder / "x.zarr"


def peak() -> float:
    """The most memory this process ever had, in MB.

    getrusage would count its parent's, from before the exec.
    """
    return process_memory("VmHWM") / 2**20


def workers(memory_limit: str | int, *, keep_memory: bool = False) -> LocalCluster:
    """Two of them; Dask makes workers return freed memory to the system at once unless they may keep it."""
    dask.config.refresh()
    for name in ("MALLOC_TRIM_THRESHOLD_", "MALLOC_MMAP_THRESHOLD_"):
        os.environ.pop(name, None)  # Dask leaves there what workers before these were started with
        if keep_memory:
            dask.config.set({f"distributed.nanny.pre-spawn-environ.{name}": 1 << 30})
    return LocalCluster(
        n_workers=2,
        threads_per_worker=1,
        processes=True,
        dashboard_address=":0",
        memory_limit=memory_limit,
        silence_logs="CRITICAL",
    )


def warm_up() -> None:
    """Load and compile here and on every worker."""
    small = np.random.default_rng(0).standard_normal((200_000, 16), dtype=np.float32)
    for rtol in (0.0, 1e-3):
        geodim.intrinsic_dimension(small, n_threads=2, rtol=rtol)
        geodim.intrinsic_dimension(small, backend="dask", rtol=rtol)


def timed(work) -> tuple[float, geodim.IDResult]:
    started = time.perf_counter()
    result = work()
    return time.perf_counter() - started, result


def against_local(parquet: Path, array: Path, repeat: int) -> list[dict]:
    ways = {
        "parquet": (lambda: pq.read_table(parquet), lambda: dd.read_parquet(parquet)),
        "zarr": (lambda: zarr.open_array(array, mode="r")[:], lambda: da.from_zarr(str(array))),
    }
    rows = []
    for keep, (name, (read, open_lazily)) in itertools.product((False, True), ways.items()):
        with workers("4 GiB", keep_memory=keep) as cluster, Client(cluster) as client:
            warm_up()
            local, remote = [], []
            for _ in range(repeat):
                seconds, here = timed(lambda read=read: geodim.intrinsic_dimension(read(), n_threads=2))
                local.append(seconds)
                seconds, there = timed(lambda lazy=open_lazily: geodim.intrinsic_dimension(lazy()))
                remote.append(seconds)
                assert np.array_equal(here.phi_lower, there.phi_lower)
                assert here.shares == there.shares
            peaks = sorted(client.run(peak).values())
        ratio = min(remote) / min(local)
        rows.append(
            {
                "files": name,
                "workers_keep_memory": keep,
                "local": local,
                "cluster": remote,
                "ratio": ratio,
                "peak_mb_per_worker": peaks,
            }
        )
        print(
            f"{name:8s} {'memory kept' if keep else 'as started ':11s} local {min(local):6.2f} s   cluster "
            f"{min(remote):6.2f} s   ratio {ratio:.2f}   peak per worker {peaks[-1]:,.0f} MB",
            flush=True,
        )
    return rows


def with_little_memory(folder: Path, n: int, d: int) -> dict:
    """Every worker may have a quarter of the data's bytes, Python and the kernels included."""
    path = folder / "wide.zarr"
    array = zarr.open_array(path, mode="w", shape=(n, d), chunks=(n // (8 * PARTS), d), dtype="f4")
    for start in range(0, n, array.chunks[0]):
        stop = min(start + array.chunks[0], n)
        array[start:stop] = np.random.default_rng(start).standard_normal((stop - start, d), dtype=np.float32)
    size = 4 * n * d
    found: dict = {"bytes": size, "memory_limit": size // 4}
    results = {}
    with workers(size // 4) as cluster, Client(cluster) as client:
        first = set(client.nthreads())
        for name, rtol in (("rtol 1e-3", 1e-3), ("exact", 0.0)):
            seconds, results[name] = timed(
                lambda rtol=rtol: geodim.intrinsic_dimension(da.from_zarr(str(path)), rtol=rtol)
            )
            peaks = sorted(client.run(peak).values())
            found[name] = {"seconds": seconds, "error": results[name].error, "peak_mb_per_worker": peaks}
            print(
                f"{size / 1e9:.2f} GB with {size / 4e6:,.0f} MB per worker, {name}: {seconds:.2f} s, error "
                f"{results[name].error:.2g}, peak per worker {peaks[-1]:,.0f} MB",
                flush=True,
            )
        found["workers_lost"] = len(first - set(client.nthreads()))
    here = geodim.intrinsic_dimension(zarr.open_array(path, mode="r")[:], n_threads=2)
    assert np.array_equal(here.phi_lower, results["exact"].phi_lower)
    assert results["rtol 1e-3"].lower <= here.dimension <= results["rtol 1e-3"].upper
    return found


def drawn(block_info=None) -> np.ndarray:
    """Cauchy rows, the same ones every time."""
    place = block_info[None]
    rng = np.random.default_rng(place["chunk-location"][0])
    return rng.standard_cauchy(place["chunk-shape"]).astype(np.float32)


def heavy_tails(points: list[float]) -> list[dict]:
    rows = []
    with workers("600 MiB") as cluster, Client(cluster) as client:
        for n in map(int, points):
            x = da.map_blocks(drawn, chunks=da.core.normalize_chunks((1 << 21, 2), (n, 2)), dtype=np.float32,
                              meta=np.empty((0, 0), np.float32))  # fmt: skip
            seconds, result = timed(lambda x=x: geodim.intrinsic_dimension(x, rtol=1e-3))
            rows.append(
                {
                    "points": n,
                    "seconds": seconds,
                    "error": result.error,
                    "passes": result.bytes_read / (8 * n),
                    "sizes": len(result.support),
                    "peak_mb_per_worker": sorted(client.run(peak).values()),
                }
            )
            print(f"Cauchy {n:.0e} x 2, rtol 1e-3: {rows[-1]}", flush=True)
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--points", type=float, default=2e6)
    parser.add_argument("--features", type=int, default=64)
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument(
        "--wide", type=int, default=512, help="features of the data that does not fit the workers"
    )
    parser.add_argument(
        "--tails", type=float, nargs="*", default=[2e7, 2e8], help="points of heavy tails that are drawn"
    )
    parser.add_argument("--folder", type=Path, help="for the files; a temporary one by default")
    parser.add_argument("--json", type=Path, default=Path(__file__).parent / "results" / "cluster.json")
    chosen = parser.parse_args()
    n = int(chosen.points)
    with tempfile.TemporaryDirectory(dir=chosen.folder) as folder:
        rows = against_local(*write_files(Path(folder), n, chosen.features), chosen.repeat)
        little = with_little_memory(Path(folder), n, chosen.wide) if chosen.wide else None
    result = {"machine": machine(), "points": n, "features": chosen.features, "rows": rows}
    result |= {"little_memory": little, "heavy_tails": heavy_tails(chosen.tails)}
    chosen.json.write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
