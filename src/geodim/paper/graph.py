r"""The k-hop geometric data set of a small graph (Section 5), dense.

Sums over neighbours are correctly rounded (``math.fsum``), so that vertices whose neighbourhoods hold the
same values get the same row, in whatever order the vertices are numbered; with a plain product they may
differ in the last bit, and pass for discriminated.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from geodim.arguments import whole_number
from geodim.errors import InputTypeError, InputValueError, RangeOverflowError, ShapeError
from geodim.lists import as_array
from geodim.paper._checks import as_matrix, difference, warn_if_quadratic

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from geodim.paper._checks import FloatArray

__all__ = ["d_max", "k_hop_features", "normalized_adjacency"]


def d_max(X: ArrayLike) -> float:
    r"""Return :math:`d_{\max} = \max_j \max_{i,k} |X_{i,j} - X_{k,j}|`, the largest range of a column.

    Parameters
    ----------
    X : array-like of shape (n, d)
        The attribute matrix.

    Returns
    -------
    float
        The largest range.

    Examples
    --------
    >>> from geodim.paper import d_max
    >>> d_max([[0, 7], [1, 2], [3, 3]])
    5.0
    """
    matrix = as_matrix(X)
    return float(difference(matrix.max(axis=0), matrix.min(axis=0)).max()) + 0.0


def normalized_adjacency(n: int, edges: ArrayLike) -> FloatArray:
    r"""Return the normalised adjacency matrix of an undirected graph, with :math:`v_i \in N(v_i)`.

    .. math::

        \hat{A}_{i,j} = \frac{1}{\sqrt{\deg(v_j) \deg(v_i)}} \text{ if } v_j \in N(v_i), \text{ else } 0,
        \qquad \deg(v_i) = |N(v_i)|

    Parameters
    ----------
    n : int
        The number of vertices, called 0, ..., n - 1.
    edges : array-like of int, shape (m, 2)
        The edges as pairs of vertices. The graph is a set of unordered pairs: a pair given twice, or in both
        directions, counts once. Loops change nothing, since :math:`v_i \in N(v_i)` anyway.

    Returns
    -------
    ndarray of float64, shape (n, n)
        The matrix, symmetric.

    Warns
    -----
    QuadraticCostWarning
        For more than 5,000 vertices.

    Examples
    --------
    >>> from geodim.paper import normalized_adjacency
    >>> normalized_adjacency(3, [(0, 1)]).round(3).tolist()
    [[0.5, 0.5, 0.0], [0.5, 0.5, 0.0], [0.0, 0.0, 1.0]]
    """
    n = whole_number(n, "n", 1)
    warn_if_quadratic(n, n)
    return _adjacency(n, edges)


def k_hop_features(X: ArrayLike, edges: ArrayLike, k: int) -> FloatArray:
    r"""Return the k-hop feature functions of a graph data set, one per column.

    .. math::

        F_{D,k} = \{v_i \mapsto \tfrac{1}{d_{\max}} (\hat{A}^m X)_{i,j}
            \mid m \in \{0,\dots,k\}, j \in \{1,\dots,d\}\}

    They make a geometric data set if they discriminate all vertices, see
    :func:`geodim.paper.is_geometric_dataset`.

    Parameters
    ----------
    X : array-like of shape (n, d)
        The attribute matrix; row i belongs to vertex i.
    edges : array-like of int, shape (m, 2)
        The edges, see :func:`normalized_adjacency`.
    k : int
        The number of hops, at least 0.

    Returns
    -------
    ndarray of float64, shape (n, (k + 1) * d)
        Column m * d + j holds :math:`(\hat{A}^m X)_{\cdot,j} / d_{\max}`, where :math:`d_{\max}` is that of
        ``X``.

    Warns
    -----
    QuadraticCostWarning
        For more than 5,000 vertices.

    Examples
    --------
    >>> from geodim.paper import k_hop_features
    >>> k_hop_features([[0], [2], [4]], [(0, 1)], k=1).round(3).tolist()
    [[0.0, 0.25], [0.5, 0.25], [1.0, 1.0]]
    """
    matrix = as_matrix(X)
    k = whole_number(k, "k", 0)
    n = len(matrix)
    warn_if_quadratic(n, n)
    scale = d_max(matrix)
    hop = matrix.astype(np.float64)
    if scale == 0.0:
        raise InputValueError(
            "every column of X is constant: d_max = 0, and the features cannot be divided by it"
        )
    adjacency = _adjacency(n, edges)
    hops = [hop]
    try:
        for _ in range(k):
            hop = _aggregate(adjacency, hop)
            hops.append(hop)
    except OverflowError as error:
        raise RangeOverflowError(
            "a sum over neighbours is too large for a float64: rescale X first"
        ) from error
    with np.errstate(over="ignore"):
        features = np.hstack(hops) / scale + 0.0
    if not np.isfinite(features).all():
        raise RangeOverflowError(
            "X / d_max is too large for a float64: shift the columns of X towards 0 first"
        )
    return features


def _aggregate(adjacency: FloatArray, hop: FloatArray) -> FloatArray:
    """Return adjacency @ hop, every sum over neighbours correctly rounded."""
    rows = []
    for weights in adjacency:
        neighbours = np.flatnonzero(weights)
        terms = weights[neighbours, np.newaxis] * hop[neighbours]
        rows.append([math.fsum(column) for column in terms.T.tolist()])
    return np.array(rows, dtype=np.float64) + 0.0


def _adjacency(n: int, edges: ArrayLike) -> FloatArray:
    """Return the normalised adjacency matrix, dense."""
    try:
        pairs = as_array(edges)
    except ValueError as error:
        raise ShapeError("edges is ragged; it needs one row (i, j) for each edge") from error
    if pairs.size == 0:
        pairs = np.empty((0, 2), dtype=np.int64)
    if pairs.ndim != 2 or pairs.shape[1] != 2:
        raise ShapeError(
            f"edges has shape {pairs.shape}; it needs one row (i, j) for each edge: transpose a (2, m) array"
        )
    if pairs.dtype.kind not in "iu":
        raise InputTypeError(f"edges has dtype {pairs.dtype}; it needs the integer numbers of the vertices")
    outside = np.flatnonzero(((pairs < 0) | (pairs >= n)).any(axis=1))
    if outside.size:
        row = int(outside[0])
        raise InputValueError(
            f"edges[{row}] = {tuple(pairs[row].tolist())} names a vertex outside 0, ..., {n - 1}"
        )
    neighbours = np.eye(n, dtype=bool)
    neighbours[pairs[:, 0], pairs[:, 1]] = True
    neighbours[pairs[:, 1], pairs[:, 0]] = True
    degrees = neighbours.sum(axis=1)
    return np.where(neighbours, 1.0 / np.sqrt(np.outer(degrees, degrees)), 0.0)
