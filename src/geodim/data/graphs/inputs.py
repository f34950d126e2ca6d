"""Recognising what was passed as a graph, and opening it as a stream of edges.

Optional packages (torch, torch_geometric, networkx) are never imported here, see `geodim.data.objects`.
"""

from __future__ import annotations

import os
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeGuard

import numpy as np

from geodim.data.graphs.edges import CompressedEdges, JoinedEdges, PairEdges
from geodim.data.objects import is_data, is_hetero_data, is_instance
from geodim.data.sparse import checked_sparse
from geodim.errors import InputTypeError, InputValueError, ShapeError
from geodim.lists import refuse_dask

if TYPE_CHECKING:
    import networkx as nx
    import torch
    from numpy.typing import NDArray
    from torch_geometric.data import Data, HeteroData
    from torch_geometric.data.storage import BaseStorage

    from geodim.data.graphs.edges import EdgeSource
    from geodim.data.sparse import SparseMatrix

__all__ = ["OpenedGraph", "Orientation", "open_graph", "to_numpy"]

Orientation = Literal["auto", "columns", "rows"]


@dataclass(frozen=True)
class OpenedGraph:
    """Edges to read, and what their container knows.

    That is the number of nodes and whether it is directed (None: unknown).
    """

    edges: EdgeSource
    n_nodes: int | None = None
    directed: bool | None = None


def open_graph(graph: object, weights: bool | str, orientation: Orientation) -> OpenedGraph:
    """Open `graph` for reading.

    `weights` names the container's own weights to read, True for its usual ones.
    """
    if isinstance(graph, str | os.PathLike):
        from geodim.data.graphs.files import open_file  # noqa: PLC0415

        return open_file(graph, weights, orientation)
    refuse_dask(graph, "the graph")
    if is_hetero_data(graph):
        return _from_hetero(graph, weights)
    if is_data(graph):
        return _from_pyg(graph, weights)
    if is_instance(graph, "networkx", "Graph"):
        return _from_networkx(graph, weights)
    if _is_tensor(graph):
        return _from_tensor(graph, weights, orientation)
    if hasattr(graph, "tocoo"):
        return from_scipy(graph, weights)
    return from_array(graph, weights, orientation)


def to_numpy(values: object) -> NDArray[Any]:
    """Return an array or a tensor on any device as a numpy array, copying only if it must.

    A memory map stays one.
    """
    refuse_dask(values, "an array of edges or weights")
    if _is_tensor(values):
        return np.asarray(values.detach().cpu().numpy())
    return values if isinstance(values, np.ndarray) else np.asarray(values)


def from_array(graph: object, weights: bool | str, orientation: Orientation) -> OpenedGraph:
    """Open an edge array of shape (2, m) or (m, 2), a pair of sequences, or a list of pairs."""
    if weights is not False:
        raise InputValueError(
            "an edge array carries no weights of its own: pass one weight per edge as weights="
        )
    if isinstance(graph, tuple) and len(graph) == 2 and orientation != "rows":
        ends = [to_numpy(end) for end in graph]
        if ends[0].ndim == ends[1].ndim == 1:
            return OpenedGraph(_pair(ends[0], ends[1]))
    try:
        edges = to_numpy(graph)
    except ValueError as error:
        raise ShapeError("the edges are ragged: give an array of shape (2, m) or (m, 2)") from error
    if edges.dtype == object:
        raise InputTypeError(
            f"cannot read a graph from {type(graph).__name__}: give an edge array of shape (2, m) or "
            "(m, 2), a scipy sparse adjacency, a torch tensor, a PyG Data or HeteroData, a networkx "
            "graph, or the path of an edge list"
        )
    if edges.ndim != 2 or 2 not in edges.shape:
        hint = ""
        if edges.ndim == 2 and edges.shape[0] == edges.shape[1]:
            hint = "; for a dense adjacency matrix pass scipy.sparse.csr_array(matrix)"
        raise ShapeError(f"an edge array has the shape (2, m) or (m, 2), not {edges.shape}{hint}")
    in_columns = edges.shape[0] == 2 if orientation == "auto" else orientation == "columns"
    if edges.shape[0 if in_columns else 1] != 2:
        wanted = "(2, m)" if in_columns else "(m, 2)"
        raise ShapeError(
            f"orientation={orientation!r} needs an edge array of shape {wanted}, not {edges.shape}"
        )
    return OpenedGraph(PairEdges(edges[0], edges[1]) if in_columns else PairEdges(edges[:, 0], edges[:, 1]))


def _pair(sources: NDArray[Any], targets: NDArray[Any]) -> PairEdges:
    if len(sources) != len(targets):
        raise ShapeError(f"{len(sources)} sources but {len(targets)} targets: every edge needs both ends")
    return PairEdges(sources, targets)


def from_scipy(matrix: SparseMatrix, weights: bool | str) -> OpenedGraph:
    """Open a square scipy sparse matrix or array as adjacency: a stored non-zero at (i, j) is an edge.

    Stored zeros are not edges. With weights, repeated entries are summed first, which is
    what they mean in scipy.
    """
    if isinstance(weights, str):
        raise InputValueError(
            f"a sparse matrix has no attribute {weights!r}: use weights=True for its values"
        )
    n_rows, n_columns = matrix.shape
    if n_rows != n_columns:
        raise ShapeError(f"an adjacency matrix is square, not {n_rows} x {n_columns}")
    matrix = checked_sparse(matrix)
    if matrix.format not in ("csr", "csc", "coo"):
        matrix = matrix.tocsr()
    if weights and not matrix.has_canonical_format:
        matrix = matrix.tocsr(copy=True)
        matrix.sum_duplicates()
    if np.count_nonzero(matrix.data) != len(matrix.data):
        matrix = matrix.tocsr(copy=True)
        matrix.eliminate_zeros()
    data = matrix.data if weights else None
    edges: EdgeSource
    if matrix.format == "coo":
        edges = PairEdges(matrix.row, matrix.col, data)
    else:
        edges = CompressedEdges(matrix.indptr, matrix.indices, data, by_column=matrix.format == "csc")
    return OpenedGraph(edges, n_rows)


def _from_tensor(tensor: torch.Tensor, weights: bool | str, orientation: Orientation) -> OpenedGraph:
    """Open a torch tensor: dense ones are edge arrays, sparse ones adjacency matrices."""
    layout = str(tensor.layout)
    if layout == "torch.strided":
        return from_array(tensor, weights, orientation)
    from scipy import sparse  # noqa: PLC0415

    if layout == "torch.sparse_coo":
        coalesced = tensor.detach().cpu().coalesce()
        row, column = coalesced.indices().numpy()
        matrix = sparse.coo_array((coalesced.values().numpy(), (row, column)), shape=tuple(tensor.shape))
        return from_scipy(matrix, weights)
    if layout == "torch.sparse_csr":
        parts = (to_numpy(tensor.values()), to_numpy(tensor.col_indices()), to_numpy(tensor.crow_indices()))
        return from_scipy(sparse.csr_array(parts, shape=tuple(tensor.shape)), weights)
    raise InputTypeError(
        f"a sparse tensor of layout {layout} is not understood: convert it with .to_sparse_coo()"
    )


def _store_weights(store: Data | BaseStorage, weights: bool | str, where: str) -> NDArray[Any] | None:
    """Return the weights kept in a PyG store: attribute `weights`, or ``edge_weight``, or ``edge_attr``."""
    if weights is False:
        return None
    names = [weights] if isinstance(weights, str) else ["edge_weight", "edge_attr"]
    for name in names:
        if name in store and store[name] is not None:
            values = to_numpy(store[name])
            if values.ndim == 2 and values.shape[1] == 1:
                values = values[:, 0]
            if values.ndim != 1:
                raise ShapeError(
                    f"{where}.{name} has the shape {values.shape}: a weight is one number per edge"
                )
            return values
    raise InputValueError(f"{where} has no {' or '.join(names)}: name the attribute that holds the weights")


def _store_nodes(store: Data | BaseStorage) -> int | None:
    """Return a PyG store's number of nodes, or None where PyG itself would only guess from the largest id."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            count = store.num_nodes
        except UserWarning:
            return None
    return None if count is None else int(count)


def _store_edges(
    store: Data | BaseStorage, weights: bool | str, where: str, offsets: tuple[int, int] = (0, 0)
) -> PairEdges:
    """Return the edges of one PyG store."""
    if "edge_index" not in store or store["edge_index"] is None:
        raise InputValueError(f"{where} has no edge_index")
    index = to_numpy(store["edge_index"])
    if index.ndim != 2 or index.shape[0] != 2:
        raise ShapeError(f"{where}.edge_index has the shape {index.shape}, not (2, m)")
    values = _store_weights(store, weights, where)
    if values is not None and len(values) != index.shape[1]:
        raise ShapeError(f"{where} has {len(values)} weights for {index.shape[1]} edges")
    return PairEdges(index[0], index[1], values, offsets)


def _from_pyg(data: Data, weights: bool | str) -> OpenedGraph:
    """Open a PyG ``Data``."""
    return OpenedGraph(_store_edges(data, weights, "Data"), _store_nodes(data))


def _from_hetero(data: HeteroData, weights: bool | str) -> OpenedGraph:
    """Open a PyG ``HeteroData`` as one graph.

    The node types are numbered one after the other; all edge types are taken together.
    """
    first: dict[str, int] = {}
    counts: dict[str, int] = {}
    total = 0
    for node_type in data.node_types:
        count = _store_nodes(data[node_type])
        if count is None:
            raise InputValueError(
                f"the number of {node_type!r} nodes is unknown: set data[{node_type!r}].num_nodes"
            )
        first[node_type], counts[node_type] = total, count
        total += count
    for edge_type in data.edge_types:
        for end in (edge_type[0], edge_type[2]):
            if end not in first:
                raise InputValueError(
                    f"edge type {edge_type} names unknown nodes: set data[{end!r}].num_nodes"
                )
    parts = []
    for edge_type in data.edge_types:
        where, ends = f"HeteroData{list(edge_type)}", (edge_type[0], edge_type[2])
        part = _store_edges(data[edge_type], weights, where, (first[ends[0]], first[ends[1]]))
        # Beyond its own type an id would be a node of the next one.
        for ids, end in zip((part.sources, part.targets), ends, strict=True):
            if (
                ids.size
                and ids.dtype.kind in "iu"
                and not 0 <= int(ids.min()) <= int(ids.max()) < counts[end]
            ):
                raise InputValueError(
                    f"{where}.edge_index names a node of {end!r} that is not one of 0..{counts[end] - 1}"
                )
        parts.append(part)
    return OpenedGraph(JoinedEdges(parts), total)


def _from_networkx(graph: nx.Graph, weights: bool | str) -> OpenedGraph:
    """Open a networkx graph; its nodes are numbered in the order of ``graph.nodes``.

    As everywhere in networkx, an edge without the weight attribute has weight 1, but at
    least one edge must have it.
    """
    number = {node: i for i, node in enumerate(graph.nodes)}
    count = graph.number_of_edges()
    ends = np.fromiter((number[node] for edge in graph.edges() for node in edge[:2]), np.int64, 2 * count)
    values = None
    if weights is not False:
        name = weights if isinstance(weights, str) else "weight"
        found = list(graph.edges(data=name))
        if found and all(edge[-1] is None for edge in found):
            raise InputValueError(f"no edge of the networkx graph has the attribute {name!r}")
        values = np.array([1.0 if edge[-1] is None else edge[-1] for edge in found])
    return OpenedGraph(PairEdges(ends[::2], ends[1::2], values), len(number), bool(graph.is_directed()))


def _is_tensor(value: object) -> TypeGuard[torch.Tensor]:
    return is_instance(value, "torch", "Tensor")
