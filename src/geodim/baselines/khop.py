r"""The k-hop data of a graph as points, :math:`[X, \hat AX, \dots, \hat A^kX]` side by side, and their MLE.

*Which rows are equal?*  Nodes with equal attributes and equal neighbourhoods have equal rows, but
sums in another order round to other digits, and the estimators take logarithms of distances.  Two
things are done about it:

1. Hops are computed in float64 with compensated sums, which do not depend on the order
   (:mod:`geodim.features.hops`): equal neighbourhoods get the same bits.
2. Rows may be equal for other reasons, such as equal attributes in regular components of different
   degree.  A hop multiplies what rounding did before by :math:`\hat A`, and adds at most 10 units
   u = 2**-53 of :math:`\hat A|x|` per product (6 for a matrix: scale, product, sum, factor, product; 3
   more for a term of a series).  After k hops a row is therefore within :math:`10\,k\,u` times the norm
   of the same row for :math:`|X|`, its *radius*.  Two rows closer than the sum of their radii count as
   equal: those that are equal always do.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from geodim.arguments import MOST_HOPS, check_hops, one_of, whole_number
from geodim.baselines.mle import PAPER_SAMPLE, VARIANTS, mle_of_points
from geodim.baselines.points import Points, as_points
from geodim.data.checks import scan_ranges
from geodim.data.graphs import as_graph
from geodim.data.graphs.attributes import attributes_and_graph
from geodim.data.sources import as_source
from geodim.engine.parts import thread_count
from geodim.errors import InputTypeError, InputValueError, RangeOverflowError, ShapeError
from geodim.features import iter_hop_blocks, make_operator

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from geodim.baselines.result import BaselineResult
    from geodim.features.operators import Operator

UNITS = 10  # of rounding, per product
UNIT = 2.0**-53
WIDTH = 64  # columns at a time
LARGEST = 1e120


@dataclass(frozen=True, eq=False)
class HopPoints:
    r"""The attributes of nodes and their hops, side by side.

    Attributes
    ----------
    values : ndarray of shape (n_nodes, (hops + 1) * n_attributes)
        :math:`[X, TX, \dots, T^{hops}X]`, in float64.
    n_attributes, hops : int
        Columns of X, and the largest hop.
    squares : ndarray of shape (hops + 1, n_nodes)
        Squared norms of the rows of :math:`T^m|X|`.
    products : int
        Sparse products per hop.

    Examples
    --------
    >>> import numpy as np
    >>> from geodim.baselines import khop_points
    >>> points = khop_points(np.eye(3), [(0, 1), (1, 2)], hops=1)
    >>> points.values.shape, points.n_attributes, points.hops
    ((3, 6), 3, 1)
    """

    values: NDArray[np.float64]
    n_attributes: int
    hops: int
    squares: NDArray[np.float64]
    products: int

    def matrix(self, k: int) -> NDArray[np.float64]:
        """Return the features of k hops, a view."""
        return self.values[:, : (k + 1) * self.n_attributes]

    def radii(self, k: int) -> NDArray[np.float64]:
        """Return bounds on how far rounding moved the rows of `matrix`."""
        norms: NDArray[np.float64] = np.sqrt(self.squares[: k + 1].sum(axis=0))
        return UNITS * UNIT * k * self.products * norms

    def points(self, k: int) -> Points:
        """Return the k-hop data set, with the bounds on its rounding."""
        return Points(np.ascontiguousarray(self.matrix(k)), self.radii(k))


def khop_points(
    X: object,
    graph: object = None,
    hops: int = 5,
    *,
    operator: object = "sym",
    operator_parameters: dict[str, Any] | None = None,
    edge_weights: object = None,
    n_threads: int | None = None,
) -> HopPoints:
    """Return the features of 0, ..., hops hops as one float64 matrix, equal rows equal to a known bound.

    Parameters
    ----------
    X, graph, operator_parameters, edge_weights
        As for `geodim.khop_dimensions`.
    hops : int, default 5
        The largest number of hops; the matrix holds ``(hops + 1)`` times the size of X in float64.
    operator : {"sym", "rw", "ppr", "heat"}
        What one hop does; "sym" is the paper's.
    n_threads : int, optional
        Threads to use; no bit depends on it.

    Returns
    -------
    HopPoints

    Examples
    --------
    >>> import numpy as np
    >>> from geodim.baselines import khop_points
    >>> khop_points(np.array([[0.0], [1.0]]), [(0, 1)], 1).matrix(1).round(3).tolist()
    [[0.0, 0.5], [1.0, 0.5]]
    """
    hops = whole_number(hops, "hops", 0, MOST_HOPS)
    if not isinstance(operator, str):
        msg = f"operator must be a name (sym, rw, ppr, heat), got {type(operator).__name__}"
        raise InputTypeError(msg)
    threads = thread_count(n_threads)
    X, graph = attributes_and_graph(X, graph)
    source = as_source(X)
    ranges = scan_ranges(source, threads)
    if ranges.magnitude > LARGEST or 0.0 < ranges.magnitude < 1.0 / LARGEST:
        msg = (
            f"the largest attribute is {ranges.magnitude:g}: its square does not "
            "fit float64; rescale the attributes"
        )
        raise RangeOverflowError(msg)
    made = make_operator(
        as_graph(graph, source.n_points, edge_weights=edge_weights, n_threads=threads),
        operator,
        **(operator_parameters or {}),
    )
    if made.n_nodes != source.n_points:
        msg = f"X has {source.n_points} rows, but the graph has {made.n_nodes} nodes"
        raise ShapeError(msg)
    n, d = source.n_points, source.n_features
    check_hops(hops, n, d, 8 * (d + 1))
    values, squares = np.empty((n, (hops + 1) * d)), np.zeros((hops + 1, n))
    for first in range(0, d, WIDTH):
        columns = slice(first, min(first + WIDTH, d))
        blocks = iter_hop_blocks(source, made, hops, columns, dtype=np.float64, n_threads=threads)
        for m, block in enumerate(blocks):
            values[:, m * d + first : m * d + columns.stop] = block
        own = values[:, columns]
        for m, block in enumerate(_magnitudes(own, made, hops, threads) if ranges.least.min() < 0.0 else ()):
            squares[m] += np.einsum("ij,ij->i", block, block)
    if ranges.least.min() >= 0.0:
        for m in range(hops + 1):
            block = values[:, m * d : (m + 1) * d]
            squares[m] = np.einsum("ij,ij->i", block, block)
    return HopPoints(values, d, hops, squares, made.products)


def _magnitudes(
    block: NDArray[np.float64], operator: Operator, hops: int, threads: int
) -> Iterator[NDArray[np.float64]]:
    """Yield the hops of |X|, which bound the size of the terms that were added up."""
    current = np.ascontiguousarray(np.abs(block))
    yield current
    for _ in range(hops):
        following = np.empty_like(current)
        operator.apply(current, following, n_threads=threads)
        current = following
        yield current


def published_hops(X: object, graph: object, hops: int) -> list[NDArray[np.float32]]:
    """Return :math:`X, AX, ..., A^{hops}X` as in the published experiments.

    These are plain float32 sums, in the order of the edges.
    """
    from scipy.sparse import csr_array, eye_array  # noqa: PLC0415

    current: NDArray[Any] = as_points(X, dense=True).values.astype(np.float32)
    simple = as_graph(graph, len(current))
    ones = np.ones(len(simple.indices), np.float32)
    shape = (len(current), len(current))
    adjacency = csr_array((ones, simple.indices, simple.indptr), shape=shape)
    adjacency = (adjacency + eye_array(len(current), dtype=np.float32, format="csr")).tocsr()
    adjacency.sort_indices()
    degrees = np.diff(adjacency.indptr)
    scale = np.float32(1.0) / np.sqrt(degrees.astype(np.float32))
    adjacency.data = scale[np.repeat(np.arange(len(current)), degrees)] * scale[adjacency.indices]
    result = [current]
    for _ in range(hops):
        result.append(np.asarray(adjacency @ result[-1], np.float32))
    return result


def khop_mle(
    X: object,
    graph: object = None,
    hops: int = 5,
    n_neighbors: int = 5,
    *,
    variant: str = "exact",
    operator: object = "sym",
    operator_parameters: dict[str, Any] | None = None,
    edge_weights: object = None,
    resolution: float = 0.0,
    n_samples: int | None = PAPER_SAMPLE,
    seed: int = 0,
    n_threads: int | None = None,
) -> list[BaselineResult]:
    r"""MLE of the k-hop data sets of a graph, :math:`[X, \hat AX, \dots, \hat A^kX]`, for k = 0, ..., hops.

    Parameters
    ----------
    X, graph, operator_parameters, edge_weights
        As for `geodim.khop_dimensions`.
    hops : int, default 5
        The largest k.
    n_neighbors, resolution, n_samples, seed, n_threads
        As for `geodim.baselines.mle`; the same sample for every k.
    variant : {"exact", "paper"}
        "exact" computes the hops in float64 and counts rows as equal that are equal up to what rounding can
        do. "paper" adds up in float32 and takes the distances as scikit-learn gave them to the authors (see
        `mle`): nodes with equal neighbourhoods then are about 1e-8 apart, or not, as the order of their
        neighbours and the machine have it.
    operator : {"sym", "rw", "ppr", "heat"}
        What one hop does; the variant "paper" knows "sym" only.

    Returns
    -------
    list of BaselineResult

    Examples
    --------
    >>> import numpy as np
    >>> from geodim.baselines import khop_mle
    >>> X = np.random.default_rng(0).normal(size=(300, 3))
    >>> ring = [(i, (i + 1) % 300) for i in range(300)]

    A mixture of neighbours is new information:

    >>> [round(result.dimension) for result in khop_mle(X, ring, hops=2)]
    [3, 6, 6]
    """
    hops = whole_number(hops, "hops", 0)
    X, graph = attributes_and_graph(X, graph)
    options: dict[str, Any] = {
        "variant": variant,
        "resolution": resolution,
        "n_samples": n_samples,
        "seed": seed,
        "n_threads": n_threads,
    }
    one_of(variant, "variant", VARIANTS)
    if variant == "paper":
        if operator != "sym" or operator_parameters or edge_weights is not None:
            msg = "the variant 'paper' is the paper's: operator 'sym' without parameters and weights"
            raise InputValueError(msg)
        parts = published_hops(X, graph, hops)
        return [
            mle_of_points(
                Points(np.concatenate(parts[: k + 1], axis=1)), n_neighbors, **options, k=k, operator="sym"
            )
            for k in range(hops + 1)
        ]
    made = khop_points(
        X,
        graph,
        hops,
        operator=operator,
        operator_parameters=operator_parameters,
        edge_weights=edge_weights,
        n_threads=n_threads,
    )
    return [
        mle_of_points(made.points(k), n_neighbors, **options, k=k, operator=operator) for k in range(hops + 1)
    ]
