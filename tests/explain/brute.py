"""Explanations by definition: all phi as a matrix from `geodim.paper`, sets tried one by one."""

from __future__ import annotations

import math
import warnings
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

import geodim
from geodim import paper
from geodim.errors import DegenerateDataWarning

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray


def profiles(X: Any) -> NDArray[np.float64]:
    """phi_k,f for k = 2, ..., n (rows) and all features (columns)."""
    X = np.asarray(X, np.float64)
    return np.array([paper.phi_k_per_feature(X, k) for k in range(2, len(X) + 1)]).reshape(-1, X.shape[1])


def delta(phi: NDArray[np.float64], chosen: Sequence[int]) -> float:
    """Discriminability of a set of features, given all phi."""
    if len(phi) == 0 or len(chosen) == 0:
        return 0.0
    return math.fsum(phi[:, list(chosen)].max(axis=1)) / (len(phi) + 1)


def greedy(phi: NDArray[np.float64], m: int) -> list[int]:
    """The greedy choice by trying every feature, then by what each has of its own.

    max takes the first of equals.
    """
    chosen: list[int] = []
    total = delta(phi, range(phi.shape[1]))
    for _ in range(m):
        rest = [f for f in range(phi.shape[1]) if f not in chosen]
        before = [] if chosen and delta(phi, chosen) >= total else list(chosen)
        chosen.append(max(rest, key=lambda f: delta(phi, [*before, f])))
    return chosen


def optimum(phi: NDArray[np.float64], m: int) -> float:
    """The best Delta of any m features."""
    return max(delta(phi, chosen) for chosen in combinations(range(phi.shape[1]), m))


def measure(X: Any, **options: Any) -> geodim.IDResult:
    """The engine, without its warning about constant data."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DegenerateDataWarning)
        return geodim.intrinsic_dimension(X, **options)
