"""The graph that aggregation runs on: symmetric, coalesced, without self-loops, in compressed sparse rows."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from scipy.sparse import csr_array

__all__ = ["Graph", "GraphNotes", "freeze"]


def freeze(owner: object, names: tuple[str, ...]) -> None:
    """Replace the named arrays of a frozen object by read-only views; the arrays handed in stay as they are.

    Besides protecting a shared graph, this spares compilations: numba treats read-only and
    writeable arrays as two types.
    """
    for name in names:
        array = getattr(owner, name)
        if array is not None:
            view = array.view()
            view.flags.writeable = False
            object.__setattr__(owner, name, view)


@dataclass(frozen=True)
class GraphNotes:
    """What was found in the edges as they were given, before they became a simple undirected graph.

    Attributes
    ----------
    listed_edges : int
        Edges in the input, self-loops and repetitions included.
    self_loops : int
        Listed edges from a node to itself. They are not stored: the operators add every self-loop once.
    duplicates : int
        Listed edges that repeat an earlier one with the same source and target (self-loops not counted).
    one_way : int
        Distinct edges (i, j) whose reverse (j, i) is not listed; the reverse was added.
    directed : bool
        Whether the input was directed: as declared by the caller or the container, else
        whether ``one_way > 0``.
    weight_conflicts : int
        Undirected edges listed with more than one weight; the largest counts.
    """

    listed_edges: int
    self_loops: int
    duplicates: int
    one_way: int
    directed: bool
    weight_conflicts: int = 0

    @property
    def symmetrised(self) -> bool:
        """Whether a directed input was made undirected by adding reverse edges."""
        return self.directed and self.one_way > 0


@dataclass(frozen=True, eq=False, repr=False)
class Graph:
    """A simple undirected graph in compressed sparse rows; made by :func:`geodim.data.graphs.as_graph`.

    Row i lists the neighbours of node i other than i itself in increasing order, at
    ``indices[indptr[i]:indptr[i + 1]]``. Every undirected edge is therefore stored twice.
    The arrays are read-only.

    Attributes
    ----------
    n_nodes : int
        Number of nodes n, isolated ones included.
    indptr : ndarray of int64, shape (n + 1,)
        Where each row starts.
    indices : ndarray of int32 (int64 from 2**31 nodes on), shape (2 * n_edges,)
        The neighbours.
    weights : ndarray of float64, shape (2 * n_edges,), or None
        The weight of each stored entry; None for an unweighted graph, as in the paper.
    loop_weights : ndarray of float64, shape (n,), or None
        Weights of the self-loops, 1 where none was listed; None when all are 1.
    n_isolated : int
        Nodes with no neighbour but themselves.
    notes : GraphNotes
        What the input looked like.
    """

    n_nodes: int
    indptr: NDArray[np.int64]
    indices: NDArray[np.int32] | NDArray[np.int64]
    n_isolated: int
    notes: GraphNotes
    weights: NDArray[np.float64] | None = field(default=None)
    loop_weights: NDArray[np.float64] | None = field(default=None)

    def __post_init__(self) -> None:
        freeze(self, ("indptr", "indices", "weights", "loop_weights"))

    @property
    def n_edges(self) -> int:
        """Number of undirected edges, self-loops not counted."""
        return len(self.indices) // 2

    @property
    def nbytes(self) -> int:
        """Bytes held by the arrays."""
        arrays = (self.indptr, self.indices, self.weights, self.loop_weights)
        return sum(array.nbytes for array in arrays if array is not None)

    def degrees(self) -> NDArray[np.int64]:
        """Return deg(v) = ``|N(v)|`` of every node, the node itself counted, as the paper defines it."""
        return np.diff(self.indptr) + 1

    def to_scipy(self) -> csr_array:
        """Return the adjacency as a ``scipy.sparse.csr_array`` of float64, without self-loops."""
        from scipy.sparse import csr_array  # noqa: PLC0415

        data = np.ones(len(self.indices)) if self.weights is None else self.weights
        return csr_array((data, self.indices, self.indptr), shape=(self.n_nodes, self.n_nodes))

    def to_dict(self) -> dict[str, Any]:
        """Return sizes and notes as plain values, ready for JSON."""
        return {
            "n_nodes": self.n_nodes,
            "n_edges": self.n_edges,
            "n_isolated": self.n_isolated,
            "weighted": self.weights is not None,
            **asdict(self.notes),
            "symmetrised": self.notes.symmetrised,
        }

    def __repr__(self) -> str:
        parts = [f"{self.n_nodes:,} nodes", f"{self.n_edges:,} undirected edges"]
        if self.weights is not None:
            parts.append("weighted")
        if self.notes.symmetrised:
            parts.append(f"symmetrised ({self.notes.one_way:,} one-way edges)")
        for count, what in (
            (self.notes.duplicates, "duplicates coalesced"),
            (self.notes.self_loops, "self-loops listed"),
            (self.notes.weight_conflicts, "edges with conflicting weights"),
            (self.n_isolated, "isolated nodes"),
        ):
            if count:
                parts.append(f"{count:,} {what}")
        return f"Graph({', '.join(parts)})"
