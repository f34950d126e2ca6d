"""From a stream of edges to compressed rows, in two passes and in the memory of the result.

Pass one counts the entries of every row, pass two writes them; then each row is sorted and coalesced where it
lies, and the rows are packed. Peak memory is 8 (n + 2) bytes of row pointers plus the entries before
coalescing, i.e. twice the listed edges at 4 bytes (+ 8 with weights); see
:func:`geodim.features.memory.graph_build_memory`.
"""

from __future__ import annotations

from hashlib import blake2b
from typing import TYPE_CHECKING, Any

import numpy as np

from geodim.data.graphs.edges import checked_chunks
from geodim.data.graphs.graph import Graph, GraphNotes
from geodim.data.graphs.parallel import balanced_ranges, equal_ranges, run_tasks
from geodim.engine.parts import thread_count
from geodim.errors import DataChangedError, InputValueError, ShapeError
from geodim.memory import check_bytes

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from geodim.data.graphs.edges import EdgeSource

__all__ = ["build_graph", "index_dtype"]

# Each thread scans all edges and keeps those of its rows; past a few threads the
# scanning outweighs the writing.
MAX_SCANNERS = 8
FEW_NODES, MOST_ISOLATED = 10**7, 1000  # nodes that are accepted, and per edge beyond that
NODE_BYTES = 16  # row pointers and a column of numbers: without room for these a graph is of no use


def index_dtype(n_nodes: int) -> type[np.int32 | np.int64]:
    """Return the integer type of neighbour ids: int32 below 2**31 nodes."""
    return np.int32 if n_nodes < 2**31 else np.int64


def build_graph(
    source: EdgeSource,
    n_nodes: int | None = None,
    *,
    weighted: bool = False,
    directed: bool | None = None,
    threads: int | None = None,
    indices_type: type[np.int32 | np.int64] | None = None,
) -> Graph:
    """Build the symmetric, coalesced graph of the edges in `source`.

    The edges are symmetrised, repeated edges are merged into one, and self-loops are counted but not stored.
    The result does not depend on the order of the edges, nor on `threads`.

    Parameters
    ----------
    source : EdgeSource
        The edges; read twice, or three times when `n_nodes` is not given.
    n_nodes : int, optional
        Number of nodes; the largest id plus one by default.
    weighted : bool
        Keep the weights of the source. Of several weights listed for an edge, in either direction, the
        largest counts, so that listing an edge again changes nothing, as in the unweighted case.
    directed : bool, optional
        What the caller knows about the input, recorded in the notes; derived from the edges when None.
    threads : int, optional
        Threads to use; all cores by default.
    indices_type : type, optional
        Integer type of the ids, for tests of the 64-bit path on small graphs.
    """
    threads = min(thread_count(threads, "threads"), MAX_SCANNERS)
    if n_nodes is None:
        n_nodes = _infer_nodes(source, weighted=weighted)
    if n_nodes < 1:
        raise ShapeError("a graph needs at least one node")
    check_bytes(NODE_BYTES * n_nodes, f"a graph of {n_nodes:,} nodes", "number the nodes 0..n-1")
    id_type = index_dtype(n_nodes) if indices_type is None else indices_type
    indptr, self_loops = _count(source, n_nodes, threads, weighted=weighted)
    ends = _digest(indptr[2:])
    keys, weights, loops = _fill(source, indptr, threads, id_type, weighted=weighted)
    indptr = indptr[: n_nodes + 1]  # the cursors have advanced: entry i is now where row i starts
    if _digest(indptr[1:]) != ends:
        raise DataChangedError(
            "the edges changed while they were read: some rows were not filled as they were counted; read "
            "them again when nothing writes to them"
        )
    stats, kept = _coalesce(indptr, keys, weights, threads)
    keys.resize(kept, refcheck=False)  # gives the memory of coalesced entries back
    if weights is not None:
        weights.resize(kept, refcheck=False)
    if loops is not None:
        loops = np.where(loops < 0, 1.0, loops) if bool((loops >= 0).any()) else None
    ids: NDArray[Any] = keys.view(id_type)
    notes = GraphNotes(
        listed_edges=source.n_edges,
        self_loops=self_loops,
        duplicates=int(stats[1]),
        one_way=int(stats[2]),
        directed=bool(stats[2] > 0) if directed is None else directed,
        weight_conflicts=int(stats[3]),
    )
    return Graph(
        n_nodes=n_nodes,
        indptr=indptr,
        indices=ids,
        n_isolated=int(stats[4]),
        notes=notes,
        weights=weights,
        loop_weights=loops,
    )


def _digest(ends: NDArray[np.int64]) -> bytes:
    """Return a digest of the ends of all rows, so that no second array of them need be kept."""
    return blake2b(np.ascontiguousarray(ends).data, digest_size=16).digest()


def _infer_nodes(source: EdgeSource, *, weighted: bool) -> int:
    """Return the largest id plus one."""
    largest = -1
    for chunk in checked_chunks(source, None, weighted=weighted):
        if len(chunk.sources):
            largest = max(largest, int(chunk.sources.max()), int(chunk.targets.max()))
    if largest < 0:
        raise InputValueError("there are no edges to infer the number of nodes from: pass n_nodes=")
    if largest >= max(FEW_NODES, MOST_ISOLATED * source.n_edges):
        raise InputValueError(
            f"the largest node number is {largest:,}, in a list of {source.n_edges:,} edges: nearly all "
            "nodes would be isolated; number the nodes 0..n-1, or pass n_nodes="
        )
    return largest + 1


def _count(
    source: EdgeSource, n_nodes: int, threads: int, *, weighted: bool
) -> tuple[NDArray[np.int64], int]:
    """Return row pointers shifted by one, ready to serve as cursors, and the number of self-loops.

    Of the n + 2 entries the first is 0 and entry i + 1 is where row i starts. Filling advances it to where
    row i ends, which is where row i + 1 starts: the first n + 1 entries then are the row pointers, and no
    second array was needed.
    """
    from geodim.data.graphs._kernels import count_entries  # noqa: PLC0415

    indptr = np.zeros(n_nodes + 2, np.int64)
    counts = indptr[2:]
    ranges = equal_ranges(n_nodes, threads)
    self_loops = 0
    for chunk in checked_chunks(source, n_nodes, weighted=weighted):
        u, v = chunk.sources, chunk.targets

        def task(rows: tuple[int, int], u: NDArray[Any] = u, v: NDArray[Any] = v) -> int:
            return count_entries(u, v, rows[0], rows[1], counts)

        self_loops += sum(run_tasks(task, ranges, threads))
    np.cumsum(counts, out=counts)
    return indptr, self_loops


def _fill(
    source: EdgeSource,
    indptr: NDArray[np.int64],
    threads: int,
    id_type: type[np.int32 | np.int64],
    *,
    weighted: bool,
) -> tuple[NDArray[Any], NDArray[np.float64] | None, NDArray[np.float64] | None]:
    """Write the keys (and weights, and the weights of self-loops, -1 where there is none) of all rows."""
    from geodim.data.graphs._kernels import fill_entries, fill_weighted  # noqa: PLC0415

    n_nodes = len(indptr) - 2
    total = int(indptr[-1])
    cursor = indptr[1 : n_nodes + 1]
    ranges = balanced_ranges(indptr[1:], threads)
    keys = np.empty(total, np.uint32 if id_type is np.int32 else np.uint64)
    weights = np.empty(total, np.float64) if weighted else None
    loops = np.full(n_nodes, -1.0) if weighted else None
    for chunk in checked_chunks(source, n_nodes, weighted=weighted):
        u, v, w = chunk.sources, chunk.targets, chunk.weights
        task: Callable[[tuple[int, int]], None]
        if w is None:

            def task(rows: tuple[int, int], u: NDArray[Any] = u, v: NDArray[Any] = v) -> None:
                fill_entries(u, v, rows[0], rows[1], cursor, keys)

        else:

            def task(
                rows: tuple[int, int], u: NDArray[Any] = u, v: NDArray[Any] = v, w: NDArray[Any] = w
            ) -> None:
                fill_weighted(u, v, w, rows[0], rows[1], cursor, keys, weights, loops)

        run_tasks(task, ranges, threads)
    return keys, weights, loops


def _coalesce(
    indptr: NDArray[np.int64], keys: NDArray[Any], weights: NDArray[np.float64] | None, threads: int
) -> tuple[NDArray[np.int64], int]:
    """Sort and coalesce all rows in place; return the statistics and the number of entries kept."""
    from geodim.data.graphs._kernels import coalesce_rows, move_down  # noqa: PLC0415

    n_nodes = len(indptr) - 1
    digits = (int(2 * n_nodes - 1).bit_length() + 7) // 8
    ranges = balanced_ranges(indptr, 4 * threads)
    starts = [int(indptr[first]) for first, _ in ranges]

    def task(rows: tuple[int, int]) -> NDArray[np.int64]:
        stats = np.zeros(5, np.int64)
        coalesce_rows(indptr, keys, weights, rows[0], rows[1], digits, stats)
        return stats

    parts = run_tasks(task, ranges, threads)
    kept = 0
    for (first, last), start, stats in zip(ranges, starts, parts, strict=True):
        if start > kept:
            move_down(keys, start, kept, int(stats[0]))
            if weights is not None:
                move_down(weights, start, kept, int(stats[0]))
            indptr[first:last] -= start - kept
        kept += int(stats[0])
    indptr[n_nodes] = kept
    return np.sum(parts, axis=0), kept
