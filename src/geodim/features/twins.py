"""Nodes that no feature of k hops tells apart, found exactly while the hop blocks pass by.

Two nodes are twins after k hops if they agree in every attribute and in every mixture of it up to the k-th.
Classes of equal nodes are refined block by block; a node that some attribute already told apart from all
others is not examined again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Twins:
    """Classes of equal nodes for every hop.

    Parameters
    ----------
    n_nodes, hops : int
        Number of nodes and largest hop.
    """

    def __init__(self, n_nodes: int, hops: int) -> None:
        self.alive = np.arange(n_nodes)
        self.classes = [np.zeros(n_nodes) for _ in range(hops + 1)]

    def refine(self, hop: int, block: NDArray[np.floating] | NDArray[np.integer]) -> None:
        """Split the classes of one hop by the columns of a block; call with hop 0 first for every block."""
        if self.alive.size == 0:
            return
        rows = np.column_stack([self.classes[hop][self.alive], block[self.alive] + 0.0])  # -0.0 equals 0.0
        _, classes, sizes = np.unique(rows, axis=0, return_inverse=True, return_counts=True)
        classes = classes.reshape(-1)
        self.classes[hop][self.alive] = classes
        if hop == 0:
            self.alive = self.alive[sizes[classes] > 1]

    def counts(self) -> list[int]:
        """Return for every k the number of nodes that share all features of hops 0..k with another node."""
        found = []
        for k in range(len(self.classes)):
            if self.alive.size == 0:
                found.append(0)
                continue
            rows = np.column_stack([classes[self.alive] for classes in self.classes[: k + 1]])
            _, sizes = np.unique(rows, axis=0, return_counts=True)
            found.append(int(sizes[sizes > 1].sum()))
        return found
