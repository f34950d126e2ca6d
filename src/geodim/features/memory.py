"""How much memory a graph and its hops take, before they take it.

The formulas are exact for the arrays; what comes on top (threads, the interpreter, chunks of edges) is a
constant of tens of megabytes.
"""

from __future__ import annotations

import numpy as np

from geodim.arguments import whole_number
from geodim.data.graphs.build import index_dtype
from geodim.errors import InputValueError
from geodim.features.aggregate import MIN_WIDTH

__all__ = ["columns_for_memory", "graph_build_memory", "hop_memory"]


def _graph(n_nodes: int, entries: int, weighted: bool) -> int:
    index = np.dtype(index_dtype(n_nodes)).itemsize
    return 8 * (n_nodes + 2) + entries * (index + 8 * weighted) + 8 * n_nodes * weighted


def graph_build_memory(n_nodes: int, n_listed_edges: int, *, weighted: bool = False) -> int:
    """Return the peak number of bytes while a graph is built from memory-mapped edges.

    ``8 (n + 2) + 2 m * i``, where i is 4 bytes for an id (8 from 2**31 nodes on); with weights 8 bytes more
    for each of the 2 m entries and for each node. Edges listed more than once, or in both directions, count
    as often as they are listed; the memory for all but one is given back at the end.

    Examples
    --------
    >>> round(graph_build_memory(111_059_956, 1_615_685_872) / 1e9, 2)  # ogbn-papers100M, in GB
    13.81
    """
    listed = whole_number(n_listed_edges, "n_listed_edges", 0)
    return _graph(whole_number(n_nodes, "n_nodes", 1), 2 * listed, weighted)


def hop_memory(
    n_nodes: int,
    n_stored_edges: int,
    columns: int,
    itemsize: int,
    *,
    weighted: bool = False,
    scratch_itemsize: int = 0,
) -> int:
    """Return the bytes that the graph and one block of columns in flight take, for any number of hops.

    ``8 (n + 2) + E * i`` for the graph, 8 n for the degrees, and ``n c (2 b + s)`` for two buffers
    and scratch: with E stored entries (two per undirected edge), i = 4 bytes per id (8 from 2**31
    nodes on; with weights 8 more per entry and per node), c columns (at least 8), b = `itemsize`,
    and s = `scratch_itemsize`.

    Parameters
    ----------
    n_nodes, n_stored_edges : int
        Nodes, and entries of the compressed rows: ``len(graph.indices)``.
    columns : int
        Columns in the block.
    itemsize : int
        4 for float32 features, 8 for float64.
    weighted : bool
        Whether the graph has weights.
    scratch_itemsize : int
        ``operator.scratch_itemsize``: 0 for ``sym``, ``rw`` and a matrix, 16 for the series.

    Examples
    --------
    >>> hop_memory(1_000, 8_000, 16, 4)
    176016
    """
    n_nodes = whole_number(n_nodes, "n_nodes", 1)
    columns = whole_number(columns, "columns", 1)
    entries = whole_number(n_stored_edges, "n_stored_edges", 0)
    if itemsize not in (4, 8):
        raise InputValueError(f"itemsize must be 4 (float32) or 8 (float64), not {itemsize!r}")
    block = n_nodes * max(columns, MIN_WIDTH) * (2 * itemsize + scratch_itemsize)
    return _graph(n_nodes, entries, weighted) + 8 * n_nodes + block


def columns_for_memory(
    memory: int,
    n_nodes: int,
    n_stored_edges: int,
    itemsize: int,
    *,
    weighted: bool = False,
    scratch_itemsize: int = 0,
    limit: int | None = None,
) -> int:
    """Return the widest block of columns for which :func:`hop_memory` stays within `memory` bytes.

    It is a multiple of 16, which suits the kernel best, or 8; no more than `limit` (the
    number of attributes) needs.

    Raises
    ------
    InputValueError
        If not even 8 columns fit; the message states the bytes that are needed.

    Examples
    --------
    >>> columns_for_memory(1_000_000, 1_000, 8_000, 4)
    112
    """
    memory = whole_number(memory, "budget", 0)

    def need(columns: int) -> int:
        return hop_memory(
            n_nodes, n_stored_edges, columns, itemsize, weighted=weighted, scratch_itemsize=scratch_itemsize
        )

    least = need(MIN_WIDTH)
    if least > memory:
        raise InputValueError(
            f"{memory:,} bytes do not hold the graph and {MIN_WIDTH} columns: {least:,} are needed"
        )
    per_column = max((need(2 * MIN_WIDTH) - least) // MIN_WIDTH, 1)
    columns = MIN_WIDTH + (memory - least) // per_column
    if limit is not None:
        columns = min(columns, max(limit, MIN_WIDTH))
        if columns == limit:
            return int(limit)
    return int(columns // 16 * 16) if columns >= 16 else MIN_WIDTH
