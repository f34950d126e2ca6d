"""Graphs and attributes that the tests of `khop_dimensions` share."""

from __future__ import annotations

import numpy as np
import pytest

import geodim
from engine.oracle import assert_same_bits
from geodim.errors import (
    InterruptedWarning,
)

OPERATORS = ["sym", "rw", "ppr", "heat"]


def random_graph(seed, n, m):
    """Undirected edges (m, 2), without loops and duplicates."""
    rng = np.random.default_rng(seed)
    pairs = np.array([(i, j) for i in range(n) for j in range(i + 1, n)])
    return pairs[np.sort(rng.choice(len(pairs), min(m, len(pairs)), replace=False))]


def attributes(seed, n, d):
    """Columns of which several attain Phi somewhere.

    The wide ones are sparse, so that hops lower the dimension.
    """
    rng = np.random.default_rng([seed, 1])
    kinds = [
        lambda: rng.normal(size=n) * 0.1,
        lambda: np.where(rng.random(n) < 0.1, rng.random(n) * 8.0, 0.0),
        lambda: rng.integers(0, 4, n) * 0.2,
        lambda: np.where(rng.random(n) < 0.3, rng.random(n) * 5.0, 0.0),
    ]
    return np.stack([kinds[j % len(kinds)]() for j in range(d)], axis=1)


def assert_same_result(result, reference):
    assert len(result) == len(reference)
    for one, other in zip(result, reference, strict=True):
        assert_same_bits(one.phi_lower, other.phi_lower)
        assert_same_bits(one.phi_upper, other.phi_upper)
        assert one.dimension == other.dimension
        assert one.shares == other.shares
        assert one.d_max == other.d_max


def stopped(*arguments, **options):
    with pytest.warns(InterruptedWarning, match="valid but wide bounds"):
        return geodim.khop_dimensions(*arguments, **options)


N, D = 300, 37
X64 = attributes(9, N, D)
EDGES = random_graph(9, N, 700)
