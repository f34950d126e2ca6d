"""Shortest paths in a graph as distances: hop counts, or sums of edge lengths.

**Graphs** are what `geodim.data.graphs.as_graph` takes, or the name of a data set; an edge may be walked both
ways, so a directed graph is treated as if all its edges were listed both ways.  An edge that is listed
with two lengths is refused.

**Nodes without a path between them** have no distance, and what to use instead is the user's
decision (``disconnected``):

* "error", the default: the error says how many components there are.  To drop nodes, or to make distances
  up, without a word would answer another question than was asked.
* "component": the largest component alone (of several, the one with the lowest node).
* "beyond": the longest edge (in hop counts, 1) farther than the largest distance within any component, which
  takes a pass over all distances beforehand.
* a number c: that distance.  For the triangle inequality it must be at least half of every distance within a
  component, which is checked on every column as it is made.

**Rounding.**  Hop counts, and sums of whole numbers below 2^53, are exact.  Other lengths are added along the
path, from the centre on: a computed distance is the least of all such rounded sums, since rounded addition is
monotone, and a sum of at most h edges is off by a factor within (1 +- u)^(h - 1), u = 2^-53.  A path with the
least sum visits no node twice, h < n; and with w the shortest edge and M the greatest computed distance, h <=
2 M / w.  From the other end the same path may round differently: such distances are symmetric up to that.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeGuard

import numpy as np

from geodim.arguments import real_number
from geodim.data.absent import is_there
from geodim.data.graphs import as_graph
from geodim.errors import InputValueError, RangeOverflowError
from geodim.families.sources import MadeColumns, digest_of_parts
from geodim.families.spaces import Space, no_others

if TYPE_CHECKING:
    from collections.abc import Sequence

    import networkx as nx
    from numpy.typing import NDArray
    from scipy.sparse import csr_array

    from geodim.data.graphs import Graph

RULES = ("error", "component", "beyond")
KEPT = 1 << 24  # values of a sample that are kept, 128 MB
UNIT = 2.0**-53
WHOLE = 2.0**53


def graph_space(data: object, edge_weights: object, disconnected: object, threads: int) -> Space:
    """Return the nodes of a graph, or of its largest component, with the lengths of shortest paths.

    Parameters
    ----------
    data
        What `geodim.data.graphs.as_graph` takes, a `geodim.data.datasets.GraphDataset`, or the name of one.
    edge_weights : array, True or str, optional
        Lengths of the edges, see `as_graph`; by default each has length 1.
    disconnected : {"error", "component", "beyond"} or float
        What to do with nodes that have no path between them, see above.
    threads : int
        Threads to read the graph with.
    """
    from scipy.sparse.csgraph import connected_components  # noqa: PLC0415 - takes long to import

    rule, far = _rule(disconnected)
    names = [str(node) for node in data.nodes] if _is_networkx(data) else None
    graph = _graph_of(data, edge_weights, threads)
    matrix, weighted = _lengths(graph), graph.weights is not None
    count, labels = connected_components(matrix, directed=False)
    sizes = np.bincount(labels)
    details: dict[str, Any] = {
        "nodes": graph.n_nodes,
        "edges": graph.n_edges,
        "weighted": weighted,
        "symmetrised": graph.notes.symmetrised,
        "components": int(count),
    }
    kept = None
    if count > 1:
        details["disconnected"] = disconnected
        if rule == "error":
            raise InputValueError(
                f"the graph has {count:,} components, the largest of them with {sizes.max():,} of "
                f"{graph.n_nodes:,} nodes, and no path leads from one to another: say what to do "
                "with disconnected= (--disconnected): 'component' takes the largest alone, 'beyond' puts "
                "nodes without a path an edge farther apart than any others, a number puts them as far "
                "apart as it says"
            )
        if rule == "component":
            kept = np.flatnonzero(labels == int(np.argmax(sizes))).astype(np.intp)
            matrix = matrix[kept][:, kept].tocsr()
            names = [str(i) for i in kept.tolist()] if names is None else [names[i] for i in kept.tolist()]
            far = None
        elif rule == "beyond":
            far = _largest_distance(matrix, weighted=weighted) + _longest_edge(matrix)
            details["distance_between_components"] = far
    else:
        far = None
    return Space(
        int(matrix.shape[0]),
        lambda points: PathDistances(matrix, points, None, weighted=weighted, far=far),
        no_others("shortest_path"),
        names,
        kept,
        graph.n_nodes if kept is not None else None,
        details,
    )


class PathDistances(MadeColumns):
    """Lengths of shortest paths, by scipy: breadth first where all edges have length 1, else by Dijkstra.

    Parameters
    ----------
    matrix : scipy.sparse.csr_array
        Symmetric, with the lengths of the edges.
    centres : array of int, shape (m,)
        Which nodes to measure from.
    names : list of str, optional
        Their names.
    weighted : bool
        Whether edges have lengths other than 1.
    far : float, optional
        The distance of nodes without a path; None if there are none.
    """

    def __init__(
        self,
        matrix: csr_array,
        centres: NDArray[np.intp],
        names: list[str] | None,
        *,
        weighted: bool = False,
        far: float | None = None,
    ) -> None:
        super().__init__(int(matrix.shape[0]), len(centres), centres, "shortest_path", names)
        self.matrix, self.weighted, self.far = matrix, weighted, far
        self._seen: tuple[NDArray[np.intp], NDArray[np.float64]] | None = None

    def fill(
        self, columns: Sequence[int], out: NDArray[np.floating], rows: NDArray[np.intp] | None = None
    ) -> None:
        """Search from each centre."""
        assert self.points is not None
        for at, centre in enumerate(self.points[np.asarray(columns, np.intp)].tolist()):
            lengths = self._from(centre)
            out[at] = lengths if rows is None else lengths[rows]

    def sample(self, columns: NDArray[np.intp], rows: NDArray[np.intp]) -> NDArray[np.float64]:
        """Return a few rows of a few columns, shape (rows, columns), measured from the rows.

        Many columns are sampled at the same few rows, and a search costs the same, however few values are
        needed.  Where lengths round, values may differ from those of the columns by that rounding.
        """
        if rows.size * self.n_points > KEPT:
            return super().sample(columns, rows)
        assert self.points is not None
        with self.lock:
            if self._seen is None or not np.array_equal(self._seen[0], rows):
                self._seen = rows.copy(), np.stack([self._from(row) for row in rows.tolist()])
            lengths = self._seen[1]
        return lengths[:, self.points[columns]]

    def extents(self) -> NDArray[np.float64]:
        """Return bounds as for all distances, with a margin for rounding."""
        bounds = super().extents()
        bounds[:, 1] += 4.0 * self.error(float(bounds.max()))
        return bounds

    def _from(self, centre: int) -> NDArray[np.float64]:
        """Return distances from one node to all."""
        lengths = _search(self.matrix, centre, weighted=self.weighted)
        if self.far is None:
            return lengths
        reached = np.isfinite(lengths)
        farthest = int(np.argmax(np.where(reached, lengths, -1.0)))
        if lengths[farthest] > 2.0 * self.far:
            raise InputValueError(
                f"nodes {centre} and {farthest} are {lengths[farthest]:g} apart, and with "
                f"disconnected={self.far:g} a path through a node of another component would be shorter, "
                f"which breaks the triangle inequality: give at least {lengths[farthest] / 2:g}, or 'beyond'"
            )
        lengths[~reached] = self.far
        return lengths

    def error(self, greatest: float) -> float:
        """Return the error, see the top of this module."""
        if not self.weighted:
            return 0.0
        lengths = self.matrix.data[self.matrix.data > 0.0]
        if not lengths.size:
            return 0.0
        if np.all(lengths == np.rint(lengths)) and greatest <= WHOLE:
            return 0.0
        edges = min(float(self.n_points), 2.0 * greatest / float(lengths.min()))
        return edges * UNIT * greatest * (1.0 + 2.0**-20)

    @property
    def held(self) -> int:
        """Bytes of the edges in compressed rows."""
        return int(self.matrix.data.nbytes + self.matrix.indices.nbytes + self.matrix.indptr.nbytes)

    def digest(self) -> bytes:
        """Return a digest of the edges, their lengths, and the centres."""
        parts = (self.matrix.indptr, self.matrix.indices, self.matrix.data)
        return digest_of_parts(*parts, self.weighted, self.far, self.points)


def _search(matrix: csr_array, centre: int, *, weighted: bool) -> NDArray[np.float64]:
    """Return lengths of the shortest paths from one node, infinite where there is none."""
    from scipy.sparse.csgraph import breadth_first_order, dijkstra  # noqa: PLC0415 - takes long to import

    if weighted:
        lengths: NDArray[np.float64] = dijkstra(matrix, directed=True, indices=centre)
        return lengths
    order, before = breadth_first_order(matrix, centre, directed=True)
    # Nodes come level by level, in the order of the nodes from which they were found: a level ends
    # with the last one found from the level before.
    place = np.empty(matrix.shape[0], np.intp)
    place[order] = np.arange(order.size)
    found_from = place[before[order[1:]]]
    sizes, begin, end = [1], 0, 1
    while end < order.size:
        begin, end = end, 1 + int(np.searchsorted(found_from, end))
        sizes.append(end - begin)
    hops = np.full(matrix.shape[0], np.inf)
    hops[order] = np.repeat(np.arange(len(sizes), dtype=np.float64), sizes)
    return hops


def _rule(disconnected: object) -> tuple[str, float | None]:
    if isinstance(disconnected, str):
        if disconnected not in RULES:
            raise InputValueError(
                f"disconnected must be one of {', '.join(RULES)}, or a number, got {disconnected!r}"
            )
        return disconnected, None
    return "number", real_number(disconnected, "disconnected", above=0.0, below=np.inf)


def _graph_of(data: object, edge_weights: object, threads: int) -> Graph:
    from geodim.data.datasets import GraphDataset, list_datasets, load_dataset  # noqa: PLC0415

    if isinstance(data, str) and not is_there(data):
        known = [info.name for info in list_datasets()]
        if data.lower().replace("_", "-") not in [name.lower() for name in known]:
            raise InputValueError(
                f"there is no file {data!r:.200}, nor a data set of that name ({', '.join(known)})"
            )
        data = load_dataset(data, offline=True)
    if isinstance(data, GraphDataset):
        if edge_weights is not None:
            raise InputValueError("the named data sets have no edge weights: leave edge_weights out")
        return as_graph(data.edge_index, data.n_nodes, directed=data.directed, n_threads=threads)
    graph = as_graph(data, edge_weights=edge_weights, n_threads=threads)
    if graph.notes.weight_conflicts:
        raise InputValueError(
            f"{graph.notes.weight_conflicts:,} edges are listed with more than one length, in the same or in "
            "opposite directions: give each edge one, for example the least"
        )
    return graph


def _lengths(graph: Graph) -> csr_array:
    """Return the edge lengths as scipy's graph algorithms take them, in 32-bit compressed rows."""
    from scipy.sparse import csr_array  # noqa: PLC0415 - takes long to import

    if max(graph.n_nodes, len(graph.indices)) >= 2**31:
        raise InputValueError("shortest paths are computed in graphs of less than 2^30 edges")
    lengths = np.ones(len(graph.indices)) if graph.weights is None else graph.weights
    with np.errstate(over="ignore"):
        total = lengths.sum()
    if not np.isfinite(total):
        raise RangeOverflowError("the edge lengths add up to more than a float64 holds: divide them")
    parts = (lengths, graph.indices.astype(np.int32), graph.indptr.astype(np.int32))
    return csr_array(parts, shape=(graph.n_nodes, graph.n_nodes))


def _largest_distance(matrix: csr_array, *, weighted: bool) -> float:
    """Return the largest distance of two nodes with a path between them."""
    largest = 0.0
    for node in range(matrix.shape[0]):
        lengths = _search(matrix, node, weighted=weighted)
        largest = max(largest, float(lengths[np.isfinite(lengths)].max()))
    return largest


def _longest_edge(matrix: csr_array) -> float:
    return float(matrix.data.max(initial=0.0)) or 1.0


def _is_networkx(data: object) -> TypeGuard[nx.Graph]:
    return type(data).__module__.partition(".")[0] == "networkx" and hasattr(data, "nodes")
