"""What every loader returns: a graph with attributes, labels, splits, and a record of its origin."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from geodim.errors import ShapeError

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np
    from numpy.typing import NDArray
    from scipy.sparse import csr_array

__all__ = ["GraphDataset"]


@dataclass(frozen=True, repr=False, eq=False)
class GraphDataset:
    """A graph data set: attributes, edges, labels and splits.

    Attributes
    ----------
    name
        The registered name.
    x
        Attributes, ``(n_nodes, n_attributes)`` float32: an array, a read-only memory map, or (Planetoid) a
        ``scipy.sparse.csr_array``.
    edge_index
        Edges, ``(2, n_listed)`` int64, an array or a read-only memory map. Row 0 holds sources, row 1 the
        targets.
    directed
        Whether the source defines the edges as directed (a cites b) or as undirected (a
        and b are bought together).
    mirrored
        Whether each undirected edge is listed in both directions. Planetoid lists both; ogbn-products lists
        one, and OGB's own reader adds the other. Whoever builds an undirected adjacency must add the reverse
        edges when this is false.
    y
        Labels, ``(n_nodes,)`` int64 with -1 where there is none; None when the data set has no labels.
    splits
        Index arrays under ``train``, ``valid`` and ``test``; empty when the source defines none.
    provenance
        Where the data came from: files, folder, source, licence, and what was done to them.

    Examples
    --------
    >>> from geodim.data.datasets import load_dataset
    >>> load_dataset("sbm", nodes=60, blocks=3, attributes=4).x.shape
    (60, 4)
    """

    name: str
    x: NDArray[np.float32] | csr_array
    edge_index: NDArray[np.int64]
    directed: bool
    mirrored: bool
    y: NDArray[np.int64] | None
    splits: Mapping[str, NDArray[np.int64]]
    provenance: Mapping[str, Any]

    def __post_init__(self) -> None:
        if len(self.x.shape) != 2:
            raise ShapeError(f"{self.name}: attributes must have two axes, not shape {tuple(self.x.shape)}")
        if self.edge_index.ndim != 2 or self.edge_index.shape[0] != 2:
            raise ShapeError(f"{self.name}: edges must have shape (2, m), not {self.edge_index.shape}")
        if self.y is not None and self.y.shape != (self.n_nodes,):
            raise ShapeError(f"{self.name}: {self.n_nodes} nodes but labels of shape {self.y.shape}")

    @property
    def n_nodes(self) -> int:
        """The number of nodes."""
        return int(self.x.shape[0])

    @property
    def n_attributes(self) -> int:
        """The number of attributes per node."""
        return int(self.x.shape[1])

    @property
    def n_listed(self) -> int:
        """The number of columns of ``edge_index``: what the paper's table counts as edges."""
        return int(self.edge_index.shape[1])

    @property
    def n_edges(self) -> int:
        """The number of edges; one that is listed in both directions is one edge."""
        return self.n_listed // 2 if self.mirrored else self.n_listed

    def __repr__(self) -> str:
        sizes = ", ".join(f"{key} {len(index):,}" for key, index in self.splits.items()) or "no splits"
        return (
            f"GraphDataset({self.name!r}: {self.n_nodes:,} nodes, {self.n_edges:,} "
            f"{'directed' if self.directed else 'undirected'} edges, "
            f"{self.n_attributes:,} attributes; {sizes})"
        )
