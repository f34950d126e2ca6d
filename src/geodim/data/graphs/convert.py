"""``as_graph``: conversion of every kind of graph."""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING

from geodim.arguments import one_of, whole_number
from geodim.data.boundary import boundary
from geodim.data.graphs.build import build_graph
from geodim.data.graphs.edges import WeightedEdges
from geodim.data.graphs.graph import Graph
from geodim.data.graphs.inputs import Orientation, open_graph, to_numpy
from geodim.data.unchanged import Watch
from geodim.errors import DataFileError, InputTypeError, InputValueError, ShapeError

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["as_graph"]


def as_graph(
    graph: object,
    n_nodes: int | None = None,
    *,
    edge_weights: object = None,
    directed: bool | None = None,
    orientation: Orientation = "auto",
    n_threads: int | None = None,
) -> Graph:
    """Turn `graph` into the simple undirected graph G = (V, E) of the paper.

    E is the set of pairs {i, j}, i != j, such that (i, j) or (j, i) is listed: directed input is symmetrised,
    repeated edges count once, self-loops are left to the operators, which add every one of them once.
    ``graph.notes`` records what was done.

    Parameters
    ----------
    graph : array, sparse matrix, tensor, PyG Data or HeteroData, networkx graph, path or Graph
        * An array, memory map or dense tensor of whole numbers of shape (2, m), one edge to a column, or
          (m, 2), one edge to a row; also a list of pairs, or a tuple (sources, targets). **A 2 x 2 array is
          read as (2, m)**, PyG's ``edge_index``; pass ``orientation="rows"`` if its rows are two edges.
        * A sparse square matrix or sparse tensor: every stored non-zero is an edge.
        * ``HeteroData``: node types numbered one after the other in the order of
          ``node_types``, edge types merged.
        * networkx: nodes numbered in the order of ``graph.nodes``.
        * A file: .csv, .tsv, .txt (these also .gz), .parquet, .npy (memory-mapped), .npz (a scipy matrix, or
          an array ``edge_index``).
    n_nodes : int, optional
        Number of nodes. Needed when the last nodes are isolated and the container does not know; otherwise
        the largest id plus one.
    edge_weights : array, True, or str, optional
        The graph is unweighted unless asked otherwise: an array with one weight per listed edge; True for the
        container's own weights (the values of a sparse matrix, ``edge_weight`` or else ``edge_attr`` of PyG,
        ``weight`` of networkx, the third column of a file); or the name of an attribute or column. If an edge
        is listed with several weights, in either direction, the largest counts. A listed self-loop keeps its
        weight; the others weigh 1.
    directed : bool, optional
        What you know about the input; only recorded. By default the container decides, or the edges
        themselves: directed if some edge is listed in one direction only.
    orientation : {"auto", "columns", "rows"}
        Whether the edges of an array are its columns, (2, m), or its rows, (m, 2).
    n_threads : int, optional
        Threads to use, all cores by default. The result does not depend on it.

    Returns
    -------
    Graph

    Raises
    ------
    InputValueError, NonFiniteError, ShapeError, InputTypeError, DataFileError
        The message names the edge at fault, by position and ids, or the file.

    Examples
    --------
    >>> as_graph([[0, 1, 1, 2], [1, 0, 2, 2]])
    Graph(3 nodes, 2 undirected edges, symmetrised (1 one-way edges), 1 self-loops listed)
    """
    one_of(orientation, "orientation", ("auto", "columns", "rows"))
    if n_nodes is not None:
        n_nodes = whole_number(n_nodes, "n_nodes", 1)
    own_weights: bool | str = edge_weights if isinstance(edge_weights, bool | str) else False
    if isinstance(graph, Graph):
        if edge_weights is not None:
            raise InputValueError("this is a finished graph: give weights where it is made")
        _check_match(graph.n_nodes, n_nodes)
        return graph
    # Edges are read two or three times.
    with (
        _naming(graph),
        Watch.of(graph, None if own_weights else edge_weights),
    ):
        opened = open_graph(graph, own_weights, orientation)
        if opened.n_nodes is not None:
            _check_match(opened.n_nodes, n_nodes)
            n_nodes = opened.n_nodes
        edges = opened.edges
        weighted = own_weights is not False
        if edge_weights is not None and not isinstance(edge_weights, bool | str):
            values = to_numpy(edge_weights)
            if values.ndim != 1:
                raise ShapeError(f"weights must be one number per edge, not an array of shape {values.shape}")
            edges = WeightedEdges(edges, values)
            weighted = True
        return build_graph(
            edges,
            n_nodes,
            weighted=weighted,
            directed=opened.directed if directed is None else directed,
            threads=n_threads,
        )


@contextmanager
def _naming(graph: object) -> Iterator[None]:
    """Add the name of the file to errors about it."""
    if not isinstance(graph, str | os.PathLike):
        yield
        return
    path = os.fspath(graph)
    with boundary(path, "list of edges"):
        try:
            yield
        except (DataFileError, InputValueError, InputTypeError) as error:
            if str(path) in str(error.args[0]):
                raise
            raise type(error)(f"{path}: {error.args[0]}") from error


def _check_match(known: int, wanted: int | None) -> None:
    if wanted is not None and wanted != known:
        raise ShapeError(f"the graph has {known} nodes, but n_nodes={wanted} was asked for")
