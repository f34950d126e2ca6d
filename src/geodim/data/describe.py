"""Descriptions of a source that need no solving: how it is stored, and what distinguishes it from others."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

import numpy as np

from geodim.data.sources import SparseSource, WeightedSource

if TYPE_CHECKING:
    from geodim.data.sources import ColumnSource


def digest_of(source: ColumnSource) -> dict[str, Any]:
    """Return what distinguishes data from other data: sizes, type and a digest of all values and weights."""
    if isinstance(source, WeightedSource):
        counts = np.zeros(source.source.n_points, source.weights.dtype)
        counts[source.present] = source.weights
        weights = hashlib.blake2b(counts.tobytes(), digest_size=16).hexdigest()
        return digest_of(source.source) | {"weights": weights}
    digest = hashlib.blake2b(digest_size=16)
    elsewhere = getattr(source, "digest", None)  # computed where the data lies
    if elsewhere is not None:
        digest.update(elsewhere())
    for rows, columns in source.chunks() if elsewhere is None else ():
        digest.update(np.ascontiguousarray(source.chunk(rows, columns)).tobytes())
    if isinstance(source, SparseSource):
        digest.update(np.ascontiguousarray(source.csc.indices).tobytes())
    return {
        "shape": [source.n_points, source.n_features],
        "type": source.dtype.str,
        "digest": digest.hexdigest(),
    }


def stored_rows(source: ColumnSource) -> int | None:
    """Return the number of rows of points with weights; None where every point is a row."""
    return source.source.n_points if isinstance(source, WeightedSource) else None


def longest_runs(source: ColumnSource) -> int | None:
    """Return the most values in a column that is read as values with multiplicities; None if none is."""
    source = getattr(source, "unscaled", source)
    if isinstance(source, SparseSource):
        return int(np.diff(source.csc.indptr).max()) + 1
    return int(source.present.size) if isinstance(source, WeightedSource) else None
