"""Point sets that are hard on distances, and the definition to compare with."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from geodim import paper
from geodim.families import Distances
from geodim.families.solve import SolvedFamily, family_profile
from geodim.summary import summarise

if TYPE_CHECKING:
    from geodim.families.sources import MadeColumns
    from geodim.result import IDResult


def clusters(rng, n):
    """Five tight clusters far apart."""
    return rng.standard_normal((5, 3))[rng.integers(0, 5, n)] * 100 + rng.standard_normal((n, 3)) * 1e-3


def outlier(rng, n):
    X = rng.standard_normal((n, 4))
    X[n // 2] = 1e6
    return X


POINTS = {
    "normal": lambda rng, n: rng.standard_normal((n, 7)),
    "duplicates": lambda rng, n: np.repeat(rng.standard_normal((-(-n // 4), 3)), 4, axis=0)[:n],
    "clusters": clusters,
    "collinear": lambda rng, n: np.outer(np.sort(rng.random(n)), [1.0, -2.0, 0.5]),
    "lattice": lambda rng, n: rng.integers(0, 3, (n, 5)).astype(float),
    "hypercube": lambda _rng, n: ((np.arange(n)[:, None] >> np.arange(9)) & 1).astype(float),
    "line_of_integers": lambda _rng, n: np.arange(n, dtype=float)[:, None],
    "outlier": outlier,
    "all_equal": lambda _rng, n: np.ones((n, 2)),
    "sphere": lambda rng, n: (X := rng.standard_normal((n, 3))) / np.linalg.norm(X, axis=1, keepdims=True),
}


def points(name: str, n: int, seed: int = 0):
    return POINTS[name](np.random.default_rng(seed), n)


def edit_distance(a: str, b: str) -> int:
    """Levenshtein's distance by its recurrence, a row of the table at a time."""
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        last, row[0] = row[0], i
        for j, y in enumerate(b, 1):
            last, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, last + (x != y))
    return row[-1]


def matrix_of(source: MadeColumns):
    """The columns as a matrix, points by features: the very bits that the source gives."""
    out = np.empty((source.n_features, source.n_points))
    source.read(range(source.n_features), out)
    return out.T


def lowest_owners(matrix):
    """The lowest column that attains phi_k, for every k from 2 on; -1 where phi_k is 0."""
    l = np.sort(matrix, axis=0)
    n = len(l)
    owners = []
    for k in range(2, n + 1):
        widths = (l[k - 1 :] - l[: n - k + 1]).min(axis=0)
        owners.append(int(np.argmax(widths)) if widths.max() > 0.0 else -1)
    return np.array(owners)


def assert_exact(solved: SolvedFamily, matrix) -> None:
    """Phi and its owners as the definition has them."""
    np.testing.assert_array_equal(solved.profile.phi[1:], paper.phi_all(matrix))
    np.testing.assert_array_equal(solved.profile.owner[1:], lowest_owners(matrix))
    np.testing.assert_array_equal(solved.ranges.least, matrix.min(axis=0))
    np.testing.assert_array_equal(solved.ranges.greatest, matrix.max(axis=0))
    assert solved.profile.done.all()


def result_of(X: Any, *, normalize: bool = True, n_threads: int = 1, **options: Any) -> IDResult:
    """From points to a result, as `intrinsic_dimension` puts the steps together."""
    source = Distances(**options).source(X)
    solved = family_profile(source, n_threads=n_threads)
    return summarise(
        solved.profile, solved.ranges, normalize=normalize, names=source.names, rtol=0.0, seconds=0.0,
        n_threads=n_threads, feature_error=solved.feature_error, d_max_error=solved.d_max_error,
    )  # fmt: skip
