"""k-hop dimensions at scale, against scipy's products plus `np.sort` of all columns.

The graph is R-MAT, and the attributes are on disk.

    python benchmarks/hops.py [--nodes 2000000 --edges 20000000 --attributes 128]

The reference computes the hops with scipy's sparse product (single-threaded, 16 columns at a time) and sorts
every column of every hop with numpy on all cores; it keeps nothing.  Ours gives the exact intrinsic dimension
for k = 0..5.  Peak resident memory is that of a child process that does our part alone.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from engine import machine
from geodim.data.datasets import iter_rmat_edges
from geodim.engine.parts import available_threads

CHILD = """
import json, sys, time
import numpy as np
import geodim
from geodim.memory import process_memory
folder, hops, rtol = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
warm = np.random.default_rng(0).random((3000, 4)).astype(np.float32)
geodim.khop_dimensions(warm, np.random.default_rng(0).integers(0, 3000, (2, 9000)), 1, rtol=rtol)
X = np.load(folder + "/x.npy", mmap_mode="r")
edges = np.load(folder + "/edges.npy", mmap_mode="r")
started = time.perf_counter()
result = geodim.khop_dimensions(X, edges, hops, rtol=rtol)
seconds = time.perf_counter() - started
peak = process_memory("VmHWM")
said = {"seconds": seconds, "peak_bytes": peak, "dimensions": result.dimensions, "error": result[hops].error}
print(json.dumps(said))
"""


def make(folder: Path, nodes: int, edges: int, attributes: int) -> None:
    blocks = list(iter_rmat_edges(nodes, edges, seed=0))
    np.save(folder / "edges.npy", np.concatenate(blocks, axis=1))
    x = np.lib.format.open_memmap(folder / "x.npy", "w+", np.float32, (nodes, attributes))
    rng = np.random.default_rng(1)
    scales = np.exp(0.3 * rng.normal(size=attributes)).astype(np.float32)
    for row in range(0, nodes, 100_000):
        x[row : row + 100_000] = (
            rng.standard_normal((min(100_000, nodes - row), attributes), dtype=np.float32) * scales
        )
    x.flush()


def reference(folder: Path, hops: int) -> tuple[float, float]:
    """Seconds of the products (including the normalised matrix) and of the sorts."""
    x = np.load(folder / "x.npy", mmap_mode="r")
    i, j = np.load(folder / "edges.npy")
    n = len(x)
    started = time.perf_counter()
    a = sp.coo_array((np.ones(2 * i.size, np.float32), (np.r_[i, j], np.r_[j, i])), shape=(n, n)).tocsr()
    a.data[:] = 1.0
    a.setdiag(0)
    a.eliminate_zeros()
    a = (a + sp.eye_array(n, dtype=np.float32)).tocsr()
    scale = sp.diags_array((1.0 / np.sqrt(a.sum(axis=1))).astype(np.float32))
    a = (scale @ a @ scale).tocsr().astype(np.float32)
    products = time.perf_counter() - started
    sorts = 0.0
    with ThreadPoolExecutor(available_threads()) as pool:
        for first in range(0, x.shape[1], 16):
            block = np.ascontiguousarray(x[:, first : first + 16])
            for hop in range(hops + 1):
                if hop:
                    started = time.perf_counter()
                    block = a @ block
                    products += time.perf_counter() - started
                columns = list(np.ascontiguousarray(block.T))
                started = time.perf_counter()
                list(pool.map(np.sort, columns))
                sorts += time.perf_counter() - started
    return products, sorts


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--nodes", type=int, default=2_000_000)
    parser.add_argument("--edges", type=int, default=20_000_000)
    parser.add_argument("--attributes", type=int, default=128)
    parser.add_argument("--hops", type=int, default=5)
    options = parser.parse_args()
    report: dict[str, object] = {"machine": machine(), "shape": vars(options)}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        make(folder, options.nodes, options.edges, options.attributes)
        for rtol, bar in ((0.0, 1.5), (1e-4, 0.8)):
            command = [sys.executable, "-c", CHILD, name, str(options.hops), str(rtol)]
            ours = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
            report[f"rtol {rtol:g}"] = ours | {"bar": bar}
            print(
                f"rtol {rtol:g}: {ours['seconds']:.1f} s, peak {ours['peak_bytes'] / 1e9:.2f} GB", flush=True
            )
        products, sorts = reference(folder, options.hops)
    report["reference"] = {"products_s": products, "sorts_s": sorts}
    for key in ("rtol 0", "rtol 0.0001"):
        report[key]["ratio"] = report[key]["seconds"] / (products + sorts)
        print(
            f"{key}: {report[key]['ratio']:.2f} times scipy's products ({products:.1f} "
            f"s) + np.sort ({sorts:.1f} s)"
        )
    (Path(__file__).parent / "results" / "hops.json").write_text(json.dumps(report, indent=1) + "\n")


if __name__ == "__main__":
    main()
