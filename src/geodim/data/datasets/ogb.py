"""ogbn-arxiv, ogbn-products and ogbn-papers100M: from OGB's files to memory-mapped arrays, once.

The files are converted block by block, so that memory stays bounded by the block whatever the size of the
graph, and kept in a cache (see :mod:`geodim.data.datasets.cache`). Edges are kept exactly as the files
list them: ogbn-products lists each undirected edge once, which is the count OGB and the paper print; OGB's
own reader doubles them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from geodim.data.datasets.csvgz import count_columns, iter_blocks, read_column
from geodim.data.datasets.streaming import NpyWriter, open_member, read_member, stream_member
from geodim.errors import DataFileError

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from geodim.data.datasets.registry import DatasetSpec

__all__ = ["write_csv_graph", "write_edges", "write_npz_graph", "write_splits"]

SPLITS = ("train", "valid", "test")


def single(path: Path, values: NDArray[Any]) -> int:
    """Return the only number of a list of counts.

    OGB keeps one per graph, and these data sets are one graph.
    """
    if values.size != 1:
        raise DataFileError(f"{path}: expected one graph, found {values.size}")
    return int(values.reshape(-1)[0])


def check_range(values: NDArray[Any], limit: int, path: Path | str, what: str = "node number") -> None:
    """Raise unless all values are in 0..limit-1."""
    if values.size and not (int(values.min()) >= 0 and int(values.max()) < limit):
        raise DataFileError(f"{path}: a {what} is outside 0..{limit - 1}")


def write_splits(spec: DatasetSpec, folder: Path, target: Path, n_nodes: int) -> None:
    """Convert the three lists of node numbers of the official split."""
    for part in SPLITS:
        path = folder / spec.split / f"{part}.csv.gz"
        index = read_column(path)
        check_range(index, n_nodes, path)
        np.save(target / f"{part}.npy", index)


def write_features(path: Path, writer: NpyWriter, block_bytes: int) -> None:
    """Append the numbers of a CSV file of attributes."""
    for block in iter_blocks(path, writer.shape[1], np.float32, block_bytes=block_bytes):
        writer.append(block)


def write_edges(
    path: Path,
    writer: NpyWriter,
    start: int,
    sizes: tuple[int, int],
    offsets: tuple[int, int],
    block_bytes: int,
) -> int:
    """Write one CSV file of edges into the columns from ``start`` on.

    Parameters
    ----------
    path
        Two numbers per line: source and target.
    writer
        The edge list being written.
    start
        The first column to fill.
    sizes
        The number of nodes that sources and targets are counted in.
    offsets
        Added to sources and targets: where their node types begin in the whole graph.
    block_bytes
        How much text to hold at once.

    Returns
    -------
    int
        The column after the last one written.
    """
    for block in iter_blocks(path, 2, np.int64, block_bytes=block_bytes):
        columns = np.ascontiguousarray(block.T)
        for ends, size in zip(columns, sizes, strict=True):
            check_range(ends, size, path)
        columns += np.array(offsets)[:, np.newaxis]
        writer.put_columns(start, columns)
        start += columns.shape[1]
    return start


def write_csv_graph(spec: DatasetSpec, folder: Path, target: Path, chunk_bytes: int) -> dict[str, Any]:
    """Convert ``raw/*.csv.gz`` and the split of ogbn-arxiv or ogbn-products into ``target``."""
    raw = folder / "raw"
    nodes, edges = raw / "num-node-list.csv.gz", raw / "num-edge-list.csv.gz"
    n_nodes, n_edges = single(nodes, read_column(nodes)), single(edges, read_column(edges))
    features = raw / "node-feat.csv.gz"
    with NpyWriter(target / "x.npy", (n_nodes, count_columns(features)), np.float32) as writer:
        write_features(features, writer, chunk_bytes)
    with NpyWriter(target / "edge_index.npy", (2, n_edges), np.int64) as writer:
        write_edges(raw / "edge.csv.gz", writer, 0, (n_nodes, n_nodes), (0, 0), chunk_bytes)
    with NpyWriter(target / "y.npy", (n_nodes,), np.int64) as writer:
        for block in iter_blocks(raw / "node-label.csv.gz", 1, np.int64, block_bytes=chunk_bytes):
            writer.append(block)
    write_splits(spec, folder, target, n_nodes)
    return {}


def labels_to_integers(values: NDArray[Any]) -> NDArray[np.int64]:
    """Turn float labels with NaN for "no label" into integers with -1.

    ogbn-papers100M labels 1.4 % of its nodes.
    """
    if values.dtype.kind != "f":
        return values.astype(np.int64)
    labels = np.full(values.shape, -1, dtype=np.int64)
    known = ~np.isnan(values)
    labels[known] = values[known].astype(np.int64)
    return labels


def write_npz_graph(spec: DatasetSpec, folder: Path, target: Path, chunk_bytes: int) -> dict[str, Any]:
    """Stream ``raw/data.npz`` and ``raw/node-label.npz`` of ogbn-papers100M into ``target``.

    Attributes and edges together are 83 GB: they pass through in chunks and are never held.
    """
    data, label = folder / "raw" / "data.npz", folder / "raw" / "node-label.npz"
    n_nodes = single(data, read_member(data, "num_nodes_list"))
    n_edges = single(data, read_member(data, "num_edges_list"))
    width = feature_width(data, n_nodes)
    stream_member(
        data, "node_feat", target / "x.npy", shape=(n_nodes, width), dtype=np.float32, chunk_bytes=chunk_bytes
    )
    stream_member(
        data,
        "edge_index",
        target / "edge_index.npy",
        shape=(2, n_edges),
        dtype=np.int64,
        check=lambda ends: check_range(ends, n_nodes, f"{data} [edge_index]"),
        c_order=True,
        chunk_bytes=chunk_bytes,
    )
    stream_member(
        label,
        "node_label",
        target / "y.npy",
        shape=(n_nodes,),
        dtype=np.int64,
        convert=labels_to_integers,
        chunk_bytes=chunk_bytes,
    )
    write_splits(spec, folder, target, n_nodes)
    return {}


def feature_width(data: Path, n_nodes: int) -> int:
    """Return the number of attributes that the header of ``node_feat`` announces."""
    with open_member(data, "node_feat") as stream:
        if len(stream.shape) != 2 or stream.shape[0] != n_nodes:
            raise DataFileError(f"{stream.label}: has shape {stream.shape}, expected ({n_nodes}, d)")
        return stream.shape[1]
