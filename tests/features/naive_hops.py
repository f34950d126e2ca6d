"""Hops by the definition: dense matrices from sets of pairs, sums by ``math.fsum``."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np


def dense_adjacency(n, edges, weights=None):
    """A + I, with every self-loop once; with weights the largest of an edge, and a listed loop's own."""
    matrix = np.eye(n)
    for k, (u, v) in enumerate(edges):
        w = 1.0 if weights is None else weights[k]
        if u == v:
            if weights is not None:
                listed = [weights[i] for i, edge in enumerate(edges) if edge == (u, u)]
                matrix[u, u] = max(listed)
        else:
            matrix[u, v] = matrix[v, u] = max(matrix[u, v], w)
    return matrix


def dense_operator(name, matrix):
    """D^-1/2 (A + I) D^-1/2 or D^-1 (A + I)."""
    degrees = matrix.sum(axis=1)
    return matrix / np.sqrt(np.outer(degrees, degrees)) if name == "sym" else matrix / degrees[:, None]


def exact_product(matrix, X):
    """Each entry correctly rounded."""
    return np.array([[math.fsum(row * column) for column in X.T] for row in matrix])


def exact_mean(rows):
    """The correctly rounded mean of each column, by rational arithmetic."""
    return [float(sum(map(Fraction, column)) / len(column)) for column in zip(*rows, strict=True)]


def random_edges(rng, n, m):
    """Directed edges with repetitions and self-loops over the first n - 2 nodes: two nodes stay isolated."""
    edges = [tuple(edge) for edge in rng.integers(0, n - 2, (m, 2)).tolist()]
    return edges + edges[: m // 5] + [(0, 0)]
