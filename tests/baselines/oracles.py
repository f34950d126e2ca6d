"""The estimators word by word: loops over all pairs of rows, distances from differences."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np


def distances(X: np.ndarray, i: int) -> list[float]:
    """Ascending distances from row i to all others."""
    return sorted(math.dist(X[i], X[j]) for j in range(len(X)) if j != i)


def naive_mle(X: np.ndarray, n_neighbors: int, rows: list[int] | None = None) -> tuple[float, int]:
    """The inverse of the mean of log(r_l / r_j), j < l, without zero r_j; and how many were zero."""
    terms, zeros = [], 0
    for i in range(len(X)) if rows is None else rows:
        near = distances(X, i)[:n_neighbors]
        for r in near[:-1]:
            if r == 0.0:
                zeros += 1
            else:
                terms.append(math.log(near[-1] / r))
    mean = math.fsum(terms) / len(terms)
    return (1.0 / mean if mean > 0.0 else math.inf), zeros


def naive_two_nn(X: np.ndarray, discard: float, method: str) -> tuple[float, int]:
    """The published algorithm (Facco et al. 2017, steps 1 to 5) or the censored likelihood.

    Also returns the points left out.
    """
    ratios, zeros = [], 0
    for i in range(len(X)):
        first, second = distances(X, i)[:2]
        if first == 0.0:
            zeros += 1
        else:
            ratios.append(second / first)
    ratios.sort()
    total = len(ratios)
    keep = int(total * (1.0 - discard))
    logs = [math.log(ratio) for ratio in ratios]
    if method == "ml":
        below = math.fsum(logs[:keep]) + (total - keep) * logs[keep - 1]
        return (keep - 1) / below if below > 0.0 else math.inf, zeros
    keep = min(keep, total - 1)
    heights = [-math.log(1.0 - (i + 1) / total) for i in range(keep)]
    above = math.fsum(x * y for x, y in zip(logs, heights, strict=False))
    below = math.fsum(x * x for x in logs[:keep])
    return above / below if below > 0.0 else math.inf, zeros


def refined_classes(X: np.ndarray, edges: set[tuple[int, int]], hops: int) -> list[list[int]]:
    """Classes of nodes with equal attributes and, hop after hop, the same classes around them.

    This is colour refinement.  Nodes of one class have equal features up to that hop, whatever the numbers
    are: no arithmetic is done.
    """
    around: list[list[int]] = [[i] for i in range(len(X))]
    for i, j in edges:
        if i != j:
            around[i].append(j)
    names: dict[object, int] = {}
    classes = [names.setdefault(row.tobytes(), len(names)) for row in X]
    degrees = [len(near) for near in around]
    found = [classes]
    for _ in range(hops):
        names = {}
        classes = [
            names.setdefault(
                (classes[i], degrees[i], tuple(sorted((classes[j], degrees[j]) for j in around[i]))),
                len(names),
            )
            for i in range(len(X))
        ]
        found.append(classes)
    return found


def fraction_hops(X: list[list[int]], around: list[list[int]], hops: int) -> list[list[list[Fraction]]]:
    """The means over neighbourhoods (operator "rw"), hop after hop, in rational numbers."""
    current = [[Fraction(value) for value in row] for row in X]
    found = [current]
    for _ in range(hops):
        current = [
            [sum((current[j][c] for j in near), Fraction(0)) / len(near) for c in range(len(current[0]))]
            for near in around
        ]
        found.append(current)
    return found
