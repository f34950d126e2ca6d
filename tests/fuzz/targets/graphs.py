"""Graphs: lists of edges in every format, and the files of Planetoid and OGB."""

from __future__ import annotations

import gzip
import importlib.util
import os
import zipfile
from typing import TYPE_CHECKING

import numpy as np

from data.datasets.layouts import write_ogb_csv, write_papers100m, write_planetoid
from fuzz.harness import Target
from geodim.data.datasets import load_dataset
from geodim.data.graphs import as_graph

if TYPE_CHECKING:
    import random
    from collections.abc import Callable
    from pathlib import Path

    from fuzz.mutations import Input

EDGES = np.random.default_rng(3).integers(0, 12, (2, 30))


def make_edges(folder: Path) -> None:
    from scipy import sparse

    lines = "\n".join(f"{a},{b},{(a + b) / 8}" for a, b in EDGES.T) + "\n"
    (folder / "plain.csv").write_text(lines)
    (folder / "header.csv").write_text("source,target,weight\n" + lines)
    (folder / "spaces.txt").write_text("# a comment\n" + lines.replace(",", " "))
    (folder / "packed.csv.gz").write_bytes(gzip.compress(lines.encode(), mtime=0))
    np.save(folder / "columns.npy", EDGES)
    np.save(folder / "rows.npy", EDGES.T.astype(np.int32))
    np.savez(folder / "arrays.npz", edge_index=EDGES, num_nodes=np.int64(12), edge_weight=np.ones(30))
    values = np.r_[0.0, np.ones(29)]  # a stored zero, which is taken out by compiled code
    for kind in ("csr", "csc", "coo", "bsr"):
        matrix = sparse.coo_array((values, (EDGES[0], EDGES[1])), shape=(12, 12)).asformat(kind)
        sparse.save_npz(folder / f"{kind}.npz", matrix, compressed=kind == "csr")
    if importlib.util.find_spec("pyarrow"):
        import pyarrow as pa
        import pyarrow.parquet as pq

        pq.write_table(pa.table({"a": EDGES[0], "b": EDGES[1]}), folder / "table.parquet")
    settled(folder)


def settled(folder: Path) -> None:
    """Take the time of writing out of packed files: the same bytes every day."""
    for path in sorted(folder.rglob("*.gz")):
        path.write_bytes(gzip.compress(gzip.decompress(path.read_bytes()), mtime=0))
    for path in sorted(folder.rglob("*.npz")):
        with zipfile.ZipFile(path) as old:
            members = [(info, old.read(info)) for info in old.infolist()]
        with zipfile.ZipFile(path, "w") as new:
            for info, content in members:
                new.writestr(zipfile.ZipInfo(info.filename), content, info.compress_type)


def read_edges(path: Path) -> None:
    """As `geodim hops` does, and with weights."""
    as_graph(path, n_threads=1)
    if path.suffix not in (".npy", ".parquet"):
        as_graph(path, edge_weights=True, n_threads=1)


def index_in_archive(made: Input, rng: random.Random) -> None:
    """Another number in an array of indices or pointers, its checksum that of the new content."""
    import io

    with np.load(io.BytesIO(made.files[""]), allow_pickle=False) as archive:
        arrays = dict(archive)
    name = rng.choice([one for one, array in sorted(arrays.items()) if array.dtype.kind in "iuf"])
    array = np.array(arrays[name]).reshape(-1)
    array[rng.randrange(array.size)] = rng.choice((-1, 2**31 - 1, 2**30, 10**6, 11, 12, 13, 0, -(2**31)))
    arrays[name] = array.reshape(arrays[name].shape)
    if rng.random() < 0.2:
        arrays[name] = arrays[name].astype(rng.choice(("f4", "i8", "u1", "i2")))
    if rng.random() < 0.2:
        arrays[name] = (
            arrays[name][..., : rng.randrange(1 + arrays[name].shape[-1])] if array.size > 1 else array
        )
    stream = io.BytesIO()
    np.savez(stream, **arrays)
    made.files[""] = stream.getvalue()


def make_planetoid(folder: Path) -> None:
    for protocol in (2, 4):
        write_planetoid(folder / f"p{protocol}", holes=protocol == 2, protocol=protocol)


def make_csv(folder: Path) -> None:
    write_ogb_csv(folder / "csv")
    settled(folder)


def make_npz(folder: Path) -> None:
    write_papers100m(folder / "npz")
    settled(folder)


def read_named(name: str) -> Callable[[Path], None]:
    def read(path: Path) -> None:
        os.environ["XDG_CACHE_HOME"] = str(path / "user-cache")
        data = load_dataset(name, path, offline=True)
        as_graph(data.edge_index, data.n_nodes, n_threads=1)
        np.asarray(data.x.sum(axis=0))

    return read


PICKLED = frozenset(
    {
        "numpy.dtype", "numpy.ndarray", "collections.defaultdict", "_codecs.encode", "__builtin__.list",
        "builtins.list", "numpy.core.multiarray._reconstruct", "numpy._core.multiarray._reconstruct",
        "numpy.core.multiarray.scalar", "numpy._core.multiarray.scalar", "scipy.sparse.csr.csr_matrix",
        "scipy.sparse._csr.csr_matrix",
    }
)  # fmt: skip

TARGETS = [
    Target("edges", make_edges, read_edges, mutations=(index_in_archive,)),
    Target("planetoid", make_planetoid, read_named("cora"), globals=PICKLED, share=0.5),
    Target("ogb-csv", make_csv, read_named("ogbn-arxiv"), share=0.3),
    Target("ogb-npz", make_npz, read_named("ogbn-papers100M"), share=0.3),
]
