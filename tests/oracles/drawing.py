"""Random data of every kind: sizes, types, layouts, sparse formats, graphs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from distributions import COLUMNS, random_matrix

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Generator = np.random.Generator
    Values = NDArray[Any]

RTOLS = [1e-13, 1e-9, 1e-6, 1e-4, 1e-3, 1e-2, 0.1, 0.5, 3.0, 1e6]
INTEGERS = [np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64]
KINDS = list(COLUMNS)
LARGE = 0.002  # share of tables with up to 3,000 points


def size(rng: Generator, most: int = 60) -> int:
    """Mostly small; sometimes just past where blocks of 32 and 64 values begin, rarely large."""
    if rng.random() < LARGE:
        return int(rng.integers(200, 3001))
    return int(rng.integers(1, 13 if rng.random() < 0.4 else most + 1))


def table(rng: Generator, n: int | None = None, d: int | None = None) -> Values:
    """A table of some type, every value of which float64 holds."""
    n = size(rng) if n is None else n
    d = int(rng.integers(1, 9)) if d is None else d
    kind = rng.random()
    if kind < 0.35:
        return random_matrix(rng, n, d)
    if kind < 0.5:  # one kind of column, in its own units: huge, tiny, denormal
        make = COLUMNS[KINDS[rng.integers(len(KINDS))]]
        X = np.stack([make(rng, n) for _ in range(d)], axis=1)
        return X.astype(np.float64) if X.dtype == np.uint64 else X
    if kind < 0.72:
        dtype = np.float32 if rng.random() < 0.75 else np.float16
        most = float(np.finfo(dtype).max) / 4
        with np.errstate(over="ignore", under="ignore"):
            return np.clip(random_matrix(rng, n, d), -most, most).astype(dtype)
    if kind < 0.8:
        return np.round(rng.normal(size=(n, d)), int(rng.integers(0, 3)))
    if kind < 0.85:
        return rng.random((n, d)) < rng.random(d)
    return integers(rng, n, d, 52)


def integers(rng: Generator, n: int, d: int, bits: int) -> Values:
    """Of any type, of so many bits at most."""
    dtype = INTEGERS[rng.integers(len(INTEGERS))]
    info = np.iinfo(dtype)
    reach = 2 ** int(rng.integers(1, bits + 1))
    low, high = max(int(info.min), -reach), min(int(info.max), reach)
    return rng.integers(low, high, (n, d), dtype=dtype, endpoint=True)


def large_integers(rng: Generator, n: int, d: int) -> Values:
    """Beyond 2**53, where float64 holds even numbers at best, often close together."""
    dtype = np.uint64 if rng.random() < 0.5 else np.int64
    most = int(np.iinfo(dtype).max)
    base = int(rng.integers(2**53, most - 2**20, dtype=dtype))
    spread = 2 ** int(rng.integers(1, 20))
    X = np.asarray(base, dtype) + rng.integers(0, spread, (n, d)).astype(dtype)
    return np.where(rng.random((n, d)) < 0.1, rng.integers(0, 9, (n, d)).astype(dtype), X)


def layout(rng: Generator, X: Values) -> Any:
    """The same numbers in another form."""
    kind = int(rng.integers(12))
    if kind == 0:
        return np.asfortranarray(X)
    if kind == 1:
        wide = np.zeros((len(X), 2 * X.shape[1]), X.dtype)
        wide[:, ::2] = X
        return wide[:, ::2]
    if kind == 2:
        return np.ascontiguousarray(X[::-1])[::-1]
    if kind == 3 and X.dtype.itemsize > 1:
        return X.astype(X.dtype.newbyteorder())
    if kind == 4 and X.dtype.kind == "f" and X.dtype.itemsize == 8:
        return X.tolist()
    return X


def sparse(rng: Generator, X: Values) -> Any:
    """The same numbers in a sparse format; scipy has no float16."""
    held = X.astype(np.float32) if X.dtype == np.float16 else X
    return (sp.csr_array, sp.csc_array, sp.coo_array, sp.csr_matrix)[int(rng.integers(4))](held)


def thinned(rng: Generator, X: Values) -> Values:
    """Mostly zeros."""
    return np.where(rng.random(X.shape) < rng.random(X.shape[1]), X, np.zeros((), X.dtype))


def weights(rng: Generator, n: int) -> Values:
    """How often each point counts, some never, at least one."""
    found = rng.integers(0, 5, n)
    found[rng.integers(n)] += 1
    return found


def masses(rng: Generator, n: int) -> Values:
    """What each point weighs: of all sizes, some nothing, some alike, whole or not."""
    found = 10.0 ** rng.uniform(-rng.choice([1, 9, 30]), rng.choice([1, 12]), n)
    if rng.random() < 0.3:
        found = np.ceil(found)
    if rng.random() < 0.3:
        found[rng.random(n) < 0.5] = found[0]
    found[rng.random(n) < 0.1] = 0.0
    found[rng.integers(n)] = float(rng.choice([0.1, 1.0, 1e12]))
    return found


def frame(rng: Generator, X: Values) -> Any:
    """A frame or a tensor of the same numbers."""
    import pandas as pd
    import polars as pl
    import pyarrow as pa
    import torch

    kind = int(rng.integers(4))
    if kind == 0 and X.dtype not in (np.uint16, np.uint32, np.uint64):
        return torch.from_numpy(np.ascontiguousarray(X))
    held = X.astype(np.float32) if X.dtype == np.float16 else X
    columns = {str(at): np.ascontiguousarray(held[:, at]) for at in range(X.shape[1])}
    if kind == 1:
        return pl.DataFrame(columns)
    return pa.table(columns) if kind == 2 else pd.DataFrame(columns)


def edges(rng: Generator, n: int) -> Values:
    """Undirected edges (m, 2), each once, loops among them."""
    pairs = rng.integers(0, n, (int(rng.integers(0, 3 * n + 1)), 2))
    return np.unique(np.sort(pairs, axis=1), axis=0)


def attributes(rng: Generator, n: int) -> Values:
    """Of a graph: few columns of a common magnitude, so that hops stay within every type."""
    d = int(rng.integers(1, 4))
    kind = rng.random()
    X = rng.normal(size=(n, d)) * 10.0 ** rng.integers(-3, 4)
    if kind < 0.3:
        X = rng.integers(-9, 10, (n, d)).astype(np.float64)
    elif kind < 0.65:
        # Few values that differ, which hops spread over the graph: Phi of the hops is the larger one.
        X = np.where(rng.random((n, d)) < rng.choice([0.1, 0.3]), np.abs(X), 0.0)
    elif kind < 0.8:
        # Values far from 0 but alike: only after a hop does a feature tell nodes of different degrees apart.
        X = 10.0 ** rng.integers(-2, 3) + 0.01 * X
    dtype = (np.float64, np.float64, np.float32, np.float32, np.float16, np.int16)[rng.integers(6)]
    return X.astype(dtype)


class InterruptAt:
    """A progress callback that behaves like Ctrl-C at one of its calls."""

    def __init__(self, at: int) -> None:
        self.left = at

    def __call__(self, *_: Any) -> None:
        self.left -= 1
        if self.left == 0:
            raise KeyboardInterrupt
