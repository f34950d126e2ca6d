"""What concepts are, taken literally: all intersections of rows, and their features."""

from __future__ import annotations

from fractions import Fraction

import numpy as np


def concepts(X) -> list[tuple[frozenset[int], int]]:
    """Intent and support of every formal concept: the intents are the intersections of rows, and all of M."""
    X = np.asarray(X, bool)
    intents = {frozenset(range(X.shape[1]))}
    for row in X:
        has = frozenset(np.flatnonzero(row).tolist())
        intents |= {intent & has for intent in intents}
    return [(intent, int(X[:, sorted(intent)].all(axis=1).sum())) for intent in intents]


def features(X) -> np.ndarray:
    """Points are attributes, columns are concepts: the share of objects on the intent."""
    X = np.asarray(X, bool)
    found = concepts(X)
    matrix = np.zeros((X.shape[1], len(found)))
    for column, (intent, support) in enumerate(found):
        matrix[sorted(intent), column] = support / X.shape[0]
    return matrix


def phi_counts(X, least: int = 0) -> np.ndarray:
    """Phi(k) times the number of objects, for k = 2, ..., m, by its formula; of concepts so frequent."""
    m = np.shape(X)[1]
    found = [one for one in concepts(X) if one[1] >= least]
    return np.array(
        [
            max((s for B, s in found if max(len(B), m - len(B)) < k), default=0)
            for k in range(2, m + 1)
        ],
        np.int64,
    )  # fmt: skip


def delta(X) -> Fraction:
    """The discriminability, without rounding."""
    objects, m = np.shape(X)
    return Fraction(int(phi_counts(X).sum()), m * objects)


def contexts(number: int, seed: int, most: int = 11):
    """Small contexts of all densities, with rows and columns that occur twice."""
    rng = np.random.default_rng(seed)
    for at in range(number):
        objects, m = rng.integers(1, most, 2)
        if at % 10 == 0:
            objects = rng.integers(60, 200)  # several words of bits
        X = rng.random((objects, m)) < rng.choice([0.1, 0.3, 0.5, 0.7, 0.9, 0.97])
        if at % 3 == 0:
            X = X[:, rng.integers(0, m, m)]
        if at % 7 == 0:
            X = X[rng.integers(0, objects, objects)]
        yield X
