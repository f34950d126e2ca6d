"""Cora, CiteSeer and PubMed from their raw files, as PyTorch Geometric reads them.

Eight files ``ind.<name>.<part>`` hold the training (``x``, ``y``), all known (``allx``, ``ally``) and test
(``tx``, ``ty``) nodes, a dictionary of neighbours (``graph``), and the shuffled numbers of the test nodes
(``test.index``). Node ``test_index[t]`` has row t of ``tx`` and ``ty``. CiteSeer has numbers between its test
numbers that have no row, its isolated nodes: they get zeros, and with them label 0.

Edges: both directions, without self-loops, each once, sorted by target and then by source.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

import numpy as np

from geodim.data.boundary import boundary
from geodim.data.datasets.model import GraphDataset
from geodim.data.datasets.unpickle import read_array, read_graph, read_matrix
from geodim.data.files import read_bytes
from geodim.errors import DataFileError, GeodimError

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from geodim.data.datasets.registry import DatasetSpec

__all__ = ["PARTS", "load_planetoid"]

PARTS = ("x", "tx", "allx", "y", "ty", "ally", "graph", "test.index")
VALIDATION_NODES = 500
MOST_GAPS = 2  # nodes, as a multiple of those that have a row; CiteSeer has 15 of 3,327 without one


def load_planetoid(spec: DatasetSpec, folder: Path) -> GraphDataset:
    """Read one Planetoid data set from ``folder/raw``.

    Parameters
    ----------
    spec
        The registry entry.
    folder
        The data set's folder, for example ``ROOT/Cora``.

    Returns
    -------
    GraphDataset
        Attributes are a float32 ``csr_array``, not normalised; the split is the public one.
    """
    with boundary(folder / "raw", "Planetoid data set"):
        return _load(spec, folder)


def _load(spec: DatasetSpec, folder: Path) -> GraphDataset:
    raw = folder / "raw"
    files = {part: raw / f"ind.{spec.name}.{part}" for part in PARTS}
    from scipy import sparse  # noqa: PLC0415 - scipy.sparse only when it is needed

    known_x, test_x = read_matrix(files["allx"]), read_matrix(files["tx"])
    known_y, test_y = read_array(files["ally"]), read_array(files["ty"])
    n_train = read_array(files["y"]).shape[0]
    test_index = _read_index(files["test.index"])
    if not len(test_index) == test_x.shape[0] == test_y.shape[0]:
        raise DataFileError(
            f"{raw}: {len(test_index)} test numbers, but {test_x.shape[0]} rows in tx and {len(test_y)} in ty"
        )
    n_known = known_x.shape[0]
    if (
        n_known != known_y.shape[0]
        or known_x.shape[1] != test_x.shape[1]
        or known_y.shape[1] != test_y.shape[1]
    ):
        raise DataFileError(f"{raw}: the shapes of allx, ally, tx and ty do not fit together")
    ranked = np.sort(test_index)
    if ranked[0] != n_known or np.any(np.diff(ranked) == 0):
        raise DataFileError(f"{files['test.index']}: test numbers must be distinct and start at {n_known}")

    n_nodes = int(ranked[-1]) + 1
    if n_nodes > MOST_GAPS * (n_known + len(test_index)):
        raise DataFileError(
            f"{files['test.index']}: the number {n_nodes - 1:,} leaves most nodes without attributes: there "
            f"are {n_known:,} known and {len(test_index):,} test nodes"
        )
    if n_train + VALIDATION_NODES > n_nodes:
        raise DataFileError(
            f"{raw}: {n_nodes} nodes are too few for {n_train} training and 500 validation nodes"
        )
    # Where the row of each node is in [allx; tx; one row of zeros]. Numbers between the test numbers have no
    # row in tx (CiteSeer's isolated nodes) and take the row of zeros.
    source = np.full(n_nodes, n_known + len(test_index), dtype=np.int64)
    source[:n_known] = np.arange(n_known)
    source[test_index] = n_known + np.arange(len(test_index))
    empty = sparse.csr_array((1, known_x.shape[1]), dtype=np.float32)
    x = sparse.csr_array(sparse.vstack([known_x, test_x, empty], format="csr")[source], dtype=np.float32)
    x.eliminate_zeros()
    x.sort_indices()
    one_hot = np.vstack([known_y, test_y, np.zeros((1, known_y.shape[1]), dtype=known_y.dtype)])[source]

    hashes = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in files.values()}
    edge_index = _edges(read_graph(files["graph"]), n_nodes, files["graph"])
    return GraphDataset(
        name=spec.name,
        x=x,
        edge_index=edge_index,
        directed=False,
        mirrored=True,
        y=one_hot.argmax(axis=1).astype(np.int64),
        splits={
            "train": np.arange(n_train, dtype=np.int64),
            "valid": np.arange(n_train, n_train + VALIDATION_NODES, dtype=np.int64),
            "test": ranked,
        },
        provenance=_provenance(spec, folder, hashes),
    )


def _provenance(spec: DatasetSpec, folder: Path, hashes: dict[str, str]) -> dict[str, Any]:
    known = {remote.filename: remote.sha256 for remote in spec.remotes}
    return {
        "source": spec.source,
        "license": spec.license,
        "folder": str(folder),
        "sha256": hashes,
        "files_as_published": all(known.get(name) == value for name, value in hashes.items()),
    }


def _read_index(path: Path) -> NDArray[np.int64]:
    try:
        index = np.array(read_bytes(path, 40, "list of node numbers").decode("ascii").split(), dtype=np.int64)
    except (ValueError, OverflowError) as error:
        if isinstance(error, GeodimError):
            raise
        raise DataFileError(f"{path}: expected one node number per line ({error!s:.200})") from error
    if index.size == 0:
        raise DataFileError(f"{path}: the file is empty")
    return index


def _edges(graph: dict[int, list[int]], n_nodes: int, path: Path) -> NDArray[np.int64]:
    """Turn the dictionary into an edge list: no self-loops, no repetitions, sorted by target, then source."""
    degrees = np.fromiter((len(others) for others in graph.values()), dtype=np.int64, count=len(graph))
    row = np.repeat(np.fromiter(graph, dtype=np.int64, count=len(graph)), degrees)
    column = np.fromiter(
        (other for others in graph.values() for other in others), dtype=np.int64, count=len(row)
    )
    if row.size and not (min(row.min(), column.min()) >= 0 and max(row.max(), column.max()) < n_nodes):
        raise DataFileError(f"{path}: a node number is outside 0..{n_nodes - 1}")
    proper = row != column
    # One number per edge: unique() then sorts and removes repetitions in one go (n_nodes² is far below 2⁶³).
    code = np.unique(column[proper] * n_nodes + row[proper])
    return np.stack([code % n_nodes, code // n_nodes])
