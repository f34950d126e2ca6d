"""Points that no feature tells apart: equal rows, found by hashing and confirmed by comparing.

Every row gets a 64-bit hash that is a sum over its features, so it can be added up by rows or by columns,
depending on how the data is stored, and zeros add nothing, so sparse rows need only their non-zeros.  Rows
with equal hashes are then compared value by value: the count is exact, whatever the hash does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from geodim.data.checks import scan_ranges
from geodim.data.integers import is_long
from geodim.data.shapes import check_masses, is_whole
from geodim.data.sources import FrameSource, SparseSource, as_source, column_chunks
from geodim.data.unchanged import Watch
from geodim.engine.steps import MOST_POINTS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from geodim.data.sources import ColumnSource

    Differ = Callable[[NDArray[np.intp], NDArray[np.intp]], NDArray[np.bool_]]

CHUNK_VALUES = 1 << 18  # values processed at a time
SEED = 1971  # any number will do: it only changes the collisions, which are resolved


def count_indistinguishable_points(X: object, weights: object = None) -> int:
    """Count the points that have at least one twin: another point with the same value in every feature.

    Values are compared as they are, integers beyond 2**53 to the last digit; -0.0 equals 0.0.
    Besides the data, O(n_points) memory is used (sparse data: O(number of non-zeros)).

    Parameters
    ----------
    X : array-like of shape (n_points, n_features)
        Anything `geodim.intrinsic_dimension` accepts.
    weights : array-like of numbers, optional
        Whole weights, at most 2^52 in all, are multiplicities: a point of weight w >= 2 is its own twin and
        counts w times.  With others every point counts once.  A point of weight 0 is absent.

    Returns
    -------
    int
        Between 0 and the number of points, and never 1.

    Examples
    --------
    >>> from geodim.data.duplicates import count_indistinguishable_points
    >>> count_indistinguishable_points([[1, 2], [3, 4], [1, 2], [5, 6]])
    2
    >>> count_indistinguishable_points([[1, 2], [3, 4]], weights=[3, 1])
    3
    """
    source = as_source(X)
    counts = np.ones(source.n_points, np.int64)
    if weights is not None:
        masses = check_masses(weights, source.n_points)
        whole = is_whole(masses) and float(masses.sum(dtype=np.float64)) <= MOST_POINTS
        counts = (masses if whole else masses > 0).astype(np.int64)
    with Watch.of(X):
        rows = _SparseRows(source) if isinstance(source, SparseSource) else _DenseRows(source)
        return _count_twins(rows.hashes(), counts, rows.differ)


def _count_twins(hashes: NDArray[np.uint64], counts: NDArray[np.int64], differ: Differ) -> int:
    """Return total weight of the classes of equal rows that weigh at least 2."""
    order = np.argsort(hashes, kind="stable")
    order = order[counts[order] > 0]
    heads = np.append(True, hashes[order][1:] != hashes[order][:-1])
    leaders = order[heads][np.cumsum(heads) - 1]  # for every row, the first one with the same hash
    twins = 0
    while order.size:
        alike = order == leaders
        open_ = np.flatnonzero(~alike)
        alike[open_] = ~differ(order[open_], leaders[open_])
        totals = np.bincount(np.cumsum(order == leaders) - 1, weights=np.where(alike, counts[order], 0))
        twins += int(totals[totals >= 2].sum())
        # Rows that share a hash but not their values go another round under a leader of their own.
        order, leaders = order[~alike], leaders[~alike]
        heads = np.append(True, leaders[1:] != leaders[:-1])[: order.size]
        leaders = order[heads][np.cumsum(heads) - 1]
    return twins


def _mixed(values: NDArray[Any]) -> NDArray[np.uint64]:
    """Scramble the bits of each value one to one, with 0 staying 0 (SplitMix64's finaliser)."""
    if is_long(values.dtype):
        bits = values.astype(np.uint64)
    else:
        bits = (values.astype(np.float64) + 0.0).view(np.uint64)  # adding 0.0 turns -0.0 into 0.0
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        bits ^= bits >> np.uint64(shift)
        bits *= np.uint64(factor)
    bits ^= bits >> np.uint64(31)
    return bits


def _multipliers(n_features: int) -> NDArray[np.uint64]:
    return np.random.default_rng(SEED).integers(0, 1 << 64, n_features, np.uint64) | np.uint64(1)


class _DenseRows:
    """Rows of arrays and frames, examined in the order in which they are stored."""

    def __init__(self, source: ColumnSource) -> None:
        self.source = source

    def hashes(self) -> NDArray[np.uint64]:
        multipliers = _multipliers(self.source.n_features)
        hashes = np.zeros(self.source.n_points, np.uint64)
        by_column = isinstance(self.source, FrameSource)  # each column of a frame has its own type
        for rows, columns in column_chunks(self.source) if by_column else self.source.chunks():
            chunk = self._own_chunk(rows, columns)
            step = max(1, CHUNK_VALUES // chunk.shape[1])
            for row in range(0, chunk.shape[0], step):
                values = chunk[row : row + step]
                if values.dtype.kind == "f" and not np.all(np.isfinite(values)):
                    scan_ranges(self.source)  # raises, naming the row and the column
                part = _mixed(values) @ multipliers[columns]
                hashes[rows.start + row : rows.start + row + len(values)] += part
        return hashes

    def _own_chunk(self, rows: slice, columns: slice) -> NDArray[Any]:
        if isinstance(self.source, FrameSource):  # chunks of frames are columns converted to one type
            return self.source.own_values(columns.start)[:, np.newaxis]
        return self.source.chunk(rows, columns)

    def differ(self, left: NDArray[np.intp], right: NDArray[np.intp]) -> NDArray[np.bool_]:
        sample = getattr(self.source, "own_sample", self.source.sample)
        result = np.zeros(left.size, np.bool_)
        everything = np.arange(self.source.n_features)
        if self.source.row_major:
            for at in _chunks(np.full(left.size, everything.size)):
                unequal = sample(everything, left[at]) != sample(everything, right[at])
                result[at] = unequal.any(axis=1)
        elif left.size:
            for column in everything:
                here = everything[column : column + 1]
                values = sample(here, np.concatenate((left, right)))[:, 0]
                result |= values[: left.size] != values[left.size :]
        return result


class _SparseRows:
    """Rows of a sparse matrix: their non-zeros in column order."""

    def __init__(self, source: SparseSource) -> None:
        if not np.all(np.isfinite(source.csc.data)):
            scan_ranges(source)  # raises, naming the row and the column
        csr = source.csc.tocsr()  # a new matrix: the caller's own stays as it is
        csr.sum_duplicates()
        csr.eliminate_zeros()
        self.indices, self.values = csr.indices, csr.data
        self.starts, self.lengths = csr.indptr[:-1], np.diff(csr.indptr)
        self.n_features = source.n_features

    def hashes(self) -> NDArray[np.uint64]:
        multipliers = _multipliers(self.n_features)
        hashes = np.zeros(self.lengths.size, np.uint64)
        filled = np.flatnonzero(self.lengths)
        for at in _chunks(self.lengths[filled]):
            rows = filled[at]
            first, last = self.starts[rows[0]], self.starts[rows[-1]] + self.lengths[rows[-1]]
            parts = _mixed(self.values[first:last]) * multipliers[self.indices[first:last]]
            hashes[rows] = np.add.reduceat(parts, self.starts[rows] - first)
        return hashes

    def differ(self, left: NDArray[np.intp], right: NDArray[np.intp]) -> NDArray[np.bool_]:
        result: NDArray[np.bool_] = self.lengths[left] != self.lengths[right]
        same = np.flatnonzero(~result & (self.lengths[left] > 0))
        for at in _chunks(self.lengths[left[same]]):
            pairs = same[at]
            lengths = self.lengths[left[pairs]]
            ends = np.cumsum(lengths)
            offsets = np.arange(ends[-1]) - np.repeat(ends - lengths, lengths)
            one = offsets + np.repeat(self.starts[left[pairs]], lengths)
            two = offsets + np.repeat(self.starts[right[pairs]], lengths)
            unequal = (self.indices[one] != self.indices[two]) | (self.values[one] != self.values[two])
            result[pairs] = np.logical_or.reduceat(unequal, ends - lengths)
        return result


def _chunks(sizes: NDArray[Any]) -> Iterator[slice]:
    """Group consecutive items to about `CHUNK_VALUES` values, never fewer than one item."""
    ends = np.cumsum(sizes, dtype=np.int64)
    first, passed = 0, 0
    while first < ends.size:
        last = max(first + 1, int(np.searchsorted(ends, passed + CHUNK_VALUES, side="right")))
        yield slice(first, last)
        first, passed = last, int(ends[last - 1])
