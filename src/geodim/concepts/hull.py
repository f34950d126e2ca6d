"""Upper bounds on concepts from a flow, useful where objects lack few attributes.

Take the bipartite graph of zeros: an object and an attribute are joined if the object lacks it.  A concept
(A, B) is a set of nodes without an edge between them.  Let objects weigh p and attributes q.  By the theorem
of König, as Egerváry has it for weights, the heaviest set of nodes without an edge weighs all nodes together
less a maximum flow F (from a source to every object with capacity p, along the edges without a limit, from
every attribute to a sink with capacity q).  So every concept has

    p |A| + q |B| <= p g + q m - F,   and   Q(t) <= (p g + q m - F - q t) / p   for every t.

A minimum cut names a set that attains it, and that is a concept.  Between two points (size, support) that
are known, the weights for which both weigh the same either prove that no concept lies above the line through
them, or find one that does, which is the next point to go on from.  The lines together bound Q by its concave
hull.  If each of n objects lacks one attribute of its own (the contranominal scale, with its 2^n concepts),
the first line says |A| + |B| <= n, and all is known.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from geodim.concepts.contexts import Context
    from geodim.concepts.mining import Front
    from geodim.engine.driver import Driver

    Point = tuple[int, int]  # attributes, objects

MOST_ZEROS = 100_000  # a flow through this many edges takes tenths of a second
MOST_FLOWS = 64
LIMIT = 2**31 - 1  # of capacities, in the flows of scipy


def cap_by_hull(context: Context, front: Front, least: int, driver: Driver) -> None:
    """Lower the upper bounds to the concave hull of all concepts, and record those on it."""
    n_objects, n_attributes = context.n_objects, context.n_attributes
    zeros = n_objects * n_attributes - context.rows.nnz
    if zeros > MOST_ZEROS or 2 * n_objects * n_attributes > LIMIT:
        return
    graph = _Zeros(context)
    edges: list[tuple[Point, Point]] = [((0, n_objects), (n_attributes, graph.full))]
    sizes = np.arange(front.half + 1)
    for _ in range(MOST_FLOWS):
        if not edges or driver.late():
            return
        (size, support), (larger, fewer) = edges.pop(0)
        p, q = larger - size, support - fewer
        shared = math.gcd(p, q)
        p, q = p // shared, q // shared
        weight, there = graph.heaviest(p, q)
        bound = (weight - q * sizes) // p
        np.minimum(front.upper[1:], np.maximum(bound, 0)[1:], out=front.upper[1:])
        front.found(there, graph.support_of(there))
        np.maximum(front.upper, front.lower, out=front.upper)
        point = (there.size, graph.support_of(there))
        if weight > p * support + q * size:
            halves = (((size, support), point), (point, (larger, fewer)))
            edges += [edge for edge in halves if _worth(front, *edge, least)]


def _worth(front: Front, left: Point, right: Point, least: int) -> bool:
    """Return whether a line between two points could bound what is still open."""
    first, last = left[0] + 1, min(right[0] - 1, front.half)
    if right[0] - left[0] < 2 or left[1] <= right[1] or first > last:
        return False
    inside = slice(first, last + 1)
    return bool(np.any(front.upper[inside] > np.maximum(front.lower[inside], least - 1)))


class _Zeros:
    """The graph of what objects lack, with a source before the objects and a sink after the attributes."""

    def __init__(self, context: Context) -> None:
        truth = np.zeros((context.n_objects, context.n_attributes), bool)
        entries = np.repeat(np.arange(context.n_objects), context.object_lengths)
        truth[entries, context.rows.indices] = True
        self.truth = truth
        self.full = int(truth.all(axis=1).sum())
        objects, attributes = np.nonzero(~truth)
        g, m = truth.shape
        self.source, self.sink = g + m, g + m + 1
        self.tails = np.concatenate([np.full(g, self.source), objects, g + np.arange(m)])
        self.heads = np.concatenate([np.arange(g), g + attributes, np.full(m, self.sink)])
        self.between = objects.size

    def support_of(self, intent: NDArray[np.int64]) -> int:
        """Return how many objects have all of these attributes."""
        return int(self.truth[:, intent].all(axis=1).sum())

    def heaviest(self, p: int, q: int) -> tuple[int, NDArray[np.int64]]:
        """Return the largest p |A| + q |B|, and the intent of a concept that attains it."""
        from scipy.sparse import csr_array  # noqa: PLC0415 - takes time to import
        from scipy.sparse.csgraph import breadth_first_order, maximum_flow  # noqa: PLC0415

        g, m = self.truth.shape
        limits = np.concatenate([np.full(g, p), np.full(self.between, LIMIT), np.full(m, q)])
        size = self.sink + 1
        graph = csr_array((limits.astype(np.int32), (self.tails, self.heads)), shape=(size, size))
        flow = maximum_flow(graph, self.source, self.sink)
        left: Any = graph.astype(np.int64) - csr_array(flow.flow).astype(np.int64)
        left.eliminate_zeros()
        reached = np.zeros(size, bool)
        reached[breadth_first_order(left, self.source, return_predecessors=False)] = True
        kept = self.truth[reached[:g]]  # objects that the cut spares
        return p * g + q * m - int(flow.flow_value), np.flatnonzero(kept.all(axis=0))
