"""Hop features of a classifier's nodes: in memory, or in files that batches are gathered from.

Hops are computed by blocks of columns (:mod:`geodim.features.hops`), over the whole graph; of each block the
rows of the wanted nodes are kept: hops + 1 arrays of one row per wanted node, float32.  In
files they are memory-mapped ``.npy``, so that training on a graph of any size needs the memory of a batch.
"""

from __future__ import annotations

import hashlib
import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from geodim.arguments import whole_number
from geodim.data.datasets import cache
from geodim.data.graphs import as_graph
from geodim.data.sources import as_source
from geodim.errors import DataFileError, InputValueError, ShapeError
from geodim.features import DEFAULT_WIDTH, iter_hop_blocks, make_operator

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from geodim.data.sources import ColumnSource
    from geodim.features import Operator

__all__ = ["HopInputs", "hop_inputs", "hop_inputs_bytes"]

RECIPE = "sign-inputs/1"
# Bytes of the two buffers in flight: the wider a block, the fewer passes over the graph and the files.
BLOCK_BYTES = 1 << 28


class HopInputs:
    """Rows of ``X, TX, ..., T^hops X`` for some nodes.  Made by :func:`hop_inputs`.

    Attributes
    ----------
    layers : list of ndarray of shape (len(nodes), n_attributes)
        One per hop: arrays, or read-only memory maps.
    nodes : ndarray of int64
        The node of each row, ascending.
    n_nodes : int
        Nodes of the whole graph.

    Examples
    --------
    >>> import numpy as np
    >>> from geodim.gnn import hop_inputs
    >>> inputs = hop_inputs(np.eye(3, dtype=np.float32), [(0, 1), (1, 2)], 2)
    >>> len(inputs.layers), inputs.layers[0].shape, inputs.n_nodes
    (3, (3, 3), 3)
    """

    def __init__(self, layers: Sequence[NDArray[np.float32]], nodes: NDArray[np.int64], n_nodes: int) -> None:
        self.layers = list(layers)
        self.nodes = nodes
        self.n_nodes = n_nodes

    @property
    def hops(self) -> int:
        """The last power of the operator."""
        return len(self.layers) - 1

    @property
    def n_attributes(self) -> int:
        """Columns of each layer."""
        return int(self.layers[0].shape[1])

    @property
    def streamed(self) -> bool:
        """Whether the rows are in files."""
        return isinstance(self.layers[0], np.memmap)

    def positions(self, nodes: NDArray[np.int64]) -> NDArray[np.intp]:
        """Return the rows of the given nodes."""
        found = np.searchsorted(self.nodes, nodes)
        wrong = np.flatnonzero(self.nodes[np.minimum(found, len(self.nodes) - 1)] != nodes)
        if wrong.size:
            raise ShapeError(
                f"node {nodes[wrong[0]]} is not among the {len(self.nodes):,} nodes of these inputs"
            )
        return found

    def gather(self, positions: NDArray[np.intp], hops: int) -> list[NDArray[np.float32]]:
        """Copy some rows of the layers 0, ..., hops."""
        return [np.asarray(layer[positions]) for layer in self.layers[: hops + 1]]

    def __repr__(self) -> str:
        where = "in files" if self.streamed else "in memory"
        rows = f"{len(self.nodes):,} of {self.n_nodes:,} nodes, {self.n_attributes:,} attributes"
        return f"HopInputs({rows}, {self.hops} hops, {where})"


def hop_inputs(
    X: object,
    graph: object,
    hops: int,
    *,
    nodes: object = None,
    operator: object = "sym",
    folder: str | Path | None = None,
    n_threads: int | None = None,
    stop: Callable[[], None] | None = None,
) -> HopInputs:
    r"""Compute :math:`X, \hat A X, \dots, \hat A^k X` for the nodes that a classifier uses.

    The features are X as it is: not divided by :math:`d_{\max}` and not normalised by rows.

    Parameters
    ----------
    X : array-like of shape (n_nodes, n_attributes)
        Attributes, in any form that `geodim.intrinsic_dimension` takes.
    graph
        Anything that `geodim.data.graphs.as_graph` takes; read as undirected.
    hops : int
        k; models for fewer hops use the first layers.
    nodes : array of int, optional
        The nodes wanted, such as those with labels; all by default.
    operator : {"sym", "rw", "ppr", "heat"} or sparse matrix
        What one hop does; "sym" is the paper's.
    folder : path, optional
        Keep the layers there, memory-mapped, and take them from there the next time (after comparing a digest
        of all attributes and of the operator).  In memory by default.
    n_threads : int, optional
        Threads to use, all cores by default.
    stop : callable, optional
        Called between two blocks of columns; raises to give up.

    Examples
    --------
    >>> import numpy as np
    >>> inputs = hop_inputs(np.eye(3), [(0, 1), (1, 2)], hops=1, nodes=[2, 0])
    >>> inputs.nodes.tolist(), inputs.layers[1].astype(float).round(3).tolist()
    ([0, 2], [[0.5, 0.408, 0.0], [0.0, 0.408, 0.5]])
    """
    hops = whole_number(hops, "hops", 0)
    source = as_source(X)
    own = graph is None and not isinstance(operator, str)
    made = make_operator(None if own else as_graph(graph, source.n_points, n_threads=n_threads), operator)
    if made.n_nodes != source.n_points:
        raise ShapeError(f"X has {source.n_points} rows, but the operator has {made.n_nodes} nodes")
    wanted = _wanted(nodes, source.n_points)

    def fill(layers: Sequence[NDArray[np.float32]]) -> None:
        _fill(layers, source, made, wanted, n_threads, stop)

    shape = (len(wanted), source.n_features)
    if folder is None:
        layers = [np.empty(shape, np.float32) for _ in range(hops + 1)]
        fill(layers)
        return HopInputs(layers, wanted, source.n_points)
    return _in_files(Path(folder), shape, hops, wanted, source, made, fill)


def hop_inputs_bytes(n_rows: int, n_attributes: int, hops: int) -> int:
    """Return the bytes of the layers.

    Examples
    --------
    >>> hop_inputs_bytes(2_449_029, 100, 5)  # all of ogbn-products
    5877669600
    """
    return 4 * n_rows * n_attributes * (hops + 1)


def _wanted(nodes: object, n_nodes: int) -> NDArray[np.int64]:
    if nodes is None:
        return np.arange(n_nodes)
    wanted = np.unique(np.asarray(nodes))
    if not wanted.size or wanted.dtype.kind not in "iu":
        raise InputValueError("nodes must be one or more whole numbers")
    if wanted[0] < 0 or wanted[-1] >= n_nodes:
        raise ShapeError(f"node {wanted[0] if wanted[0] < 0 else wanted[-1]} is outside 0..{n_nodes - 1}")
    return wanted.astype(np.int64)


def _fill(
    layers: Sequence[NDArray[np.float32]],
    source: ColumnSource,
    operator: Operator,
    wanted: NDArray[np.int64],
    threads: int | None,
    stop: Callable[[], None] | None,
) -> None:
    """Compute all hops, one block of columns after the other, and keep the wanted rows."""
    rows = slice(None) if len(wanted) == source.n_points else wanted
    width = max(DEFAULT_WIDTH, BLOCK_BYTES // (8 * source.n_points) // DEFAULT_WIDTH * DEFAULT_WIDTH)
    for first in range(0, source.n_features, width):
        part = slice(first, min(first + width, source.n_features))
        blocks = iter_hop_blocks(source, operator, len(layers) - 1, part, dtype=np.float32, n_threads=threads)
        for layer, block in zip(layers, blocks, strict=True):
            layer[:, part] = block[rows]
            if stop is not None:
                stop()


def _in_files(
    folder: Path,
    shape: tuple[int, int],
    hops: int,
    wanted: NDArray[np.int64],
    source: ColumnSource,
    operator: Operator,
    fill: Callable[[Sequence[NDArray[np.float32]]], None],
) -> HopInputs:
    """Open existing layers, or compute and write them.

    A folder with the right name is complete (:mod:`geodim.data.datasets.cache`).
    """
    from geodim.khop import fingerprint  # noqa: PLC0415 - imports the engine

    data = fingerprint(source, np.dtype(np.float32), operator)["digest"]
    rows = hashlib.blake2b(wanted.tobytes(), digest_size=16).hexdigest()
    recipe = f"{RECIPE} hops {hops} data {data} nodes {rows}"
    entry = cache.open_cache([folder], recipe, folder, [])
    if entry is None:
        _check_space(folder, hop_inputs_bytes(*shape, hops))

        def write(target: Path) -> dict[str, Any]:
            layers = [
                np.lib.format.open_memmap(target / f"hop{m}.npy", mode="w+", dtype=np.float32, shape=shape)
                for m in range(hops + 1)
            ]
            for m in range(hops + 1):
                _reserve(target / f"hop{m}.npy")
            fill(layers)
            for layer in layers:
                layer.flush()
            return {"hops": hops}

        cache.build([folder], recipe, folder, [], write)
        entry = cache.open_cache([folder], recipe, folder, [], "size")
    if entry is None:
        raise DataFileError(f"the hop features in {folder} vanished while being opened")
    return HopInputs([entry.arrays[f"hop{m}"] for m in range(hops + 1)], wanted, source.n_points)


def _reserve(path: Path) -> None:
    """Reserve the whole file on disk: a memory map that meets a full disk kills the whole process."""
    if hasattr(os, "posix_fallocate"):
        with path.open("r+b") as file:
            os.posix_fallocate(file.fileno(), 0, path.stat().st_size)


def _check_space(folder: Path, needed: int) -> None:
    """Raise before writing if it clearly does not fit."""
    place = next(path for path in (folder, *folder.absolute().parents) if path.exists())
    free = shutil.disk_usage(place).free
    if free < needed:
        raise DataFileError(
            f"{folder} has too little space: the hop features take {needed:,} bytes, {free:,} are free"
        )
