"""Points for scikit-learn: one dense array or one sparse matrix, of finite numbers.

They come from any data that geodim reads.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from geodim.arguments import real_number, whole_number
from geodim.data.checks import scan_ranges
from geodim.data.shapes import working_type
from geodim.data.sources import ArraySource, SparseSource, as_source
from geodim.engine.parts import thread_count
from geodim.errors import InputValueError

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from scipy.sparse import csr_array

    from geodim.data.sources import ColumnSource

# Sparse data up to this many values (128 MB in float64) is densified: scikit-learn's dense search
# is several times faster.
DENSE_VALUES = 1 << 24
# Squares of larger or smaller numbers come near the ends of float64.
SAFE_EXPONENT = 200
BLOCK_VALUES = 1 << 22


@dataclass(frozen=True, eq=False)
class Points:
    """Points in rows.

    Attributes
    ----------
    values : ndarray or scipy.sparse.csr_array of shape (n, d)
        float32 or float64, C-contiguous; sparse values are float64.
    radii : ndarray of shape (n,) or None
        How far rounding may have moved each row: two rows whose distance is at most the sum of theirs count
        as equal.  None: only rows that agree in every value are.
    exponent : int
        ``values`` are the data times ``2 ** -exponent``, which is exact; ratios of distances do not change.
    """

    values: NDArray[Any] | csr_array
    radii: NDArray[np.float64] | None = None
    exponent: int = 0

    @property
    def sparse(self) -> bool:
        """Whether the values are held as a sparse matrix."""
        return not isinstance(self.values, np.ndarray)

    @property
    def n_points(self) -> int:
        """Number of rows."""
        return int(self.values.shape[0])

    @property
    def n_features(self) -> int:
        """Number of columns."""
        return int(self.values.shape[1])

    def rows(self, at: slice | NDArray[np.integer]) -> NDArray[np.float64]:
        """Return some rows, dense and in float64."""
        some = self.values[at]
        return np.asarray(some if isinstance(some, np.ndarray) else some.toarray(), np.float64)

    def with_resolution(self, resolution: float) -> Points:
        """Let rows up to this far apart, in the units of the data, count as equal too."""
        if resolution == 0.0:
            return self
        radius = math.ldexp(0.5 * resolution, -self.exponent)
        radii = np.full(self.n_points, radius)
        return Points(
            self.values, radii if self.radii is None else np.maximum(radii, self.radii), self.exponent
        )


def as_points(X: object, n_threads: int | None = None, *, dense: bool = False) -> Points:
    """Check the values (finite, real, a table) and lay them out by rows.

    Arrays of float32 and float64 are not copied.  Sparse matrices stay sparse, unless they are
    small or ``dense`` is set.
    """
    if isinstance(X, Points):
        return X
    threads = thread_count(n_threads)
    source = as_source(X)
    ranges = scan_ranges(source, threads)
    if isinstance(source, ArraySource):
        values: NDArray[Any] | csr_array = np.ascontiguousarray(source.array, source.dtype)
    elif isinstance(source, SparseSource):
        values = _from_sparse(source, getattr(X, "dtype", None), dense)
    else:
        values = _from_columns(source)
    exponent = math.frexp(ranges.magnitude)[1]
    if ranges.magnitude == 0.0 or abs(exponent) <= SAFE_EXPONENT:
        return Points(values)
    if isinstance(values, np.ndarray):
        return Points(np.ldexp(values.astype(np.float64), -exponent), exponent=exponent)
    values.data = np.ldexp(values.data, -exponent)
    return Points(values, exponent=exponent)


def _from_sparse(source: SparseSource, kind: object, dense: bool) -> NDArray[Any] | csr_array:
    csr = source.csc.tocsr()  # a new matrix: the caller's own stays as it is
    if dense or source.n_points * source.n_features <= DENSE_VALUES:
        return np.ascontiguousarray(
            csr.astype(working_type(kind) if isinstance(kind, np.dtype) else np.float64).toarray()
        )
    csr = csr.astype(np.float64)
    csr.sum_duplicates()
    csr.eliminate_zeros()
    return csr


def _from_columns(source: ColumnSource) -> NDArray[np.floating]:
    values = np.empty((source.n_points, source.n_features), source.dtype)
    width = max(1, BLOCK_VALUES // source.n_points)
    for first in range(0, source.n_features, width):
        columns = range(first, min(first + width, source.n_features))
        block = np.empty((len(columns), source.n_points), source.dtype)
        source.read(columns, block)
        values[:, first : first + len(columns)] = block.T
    return values


def check_resolution(value: object) -> float:
    """Return a distance, or raise."""
    return real_number(value, "resolution", least=0.0, below=math.inf, hint="0: only equal rows are equal")


def choose_sample(n_points: int, n_samples: int | None, seed: int) -> NDArray[np.intp] | None:
    """Return ascending indices of a random sample without repetition; None for all points."""
    seed = whole_number(seed, "seed", 0)
    if n_samples is None or whole_number(n_samples, "n_samples", 1) >= n_points:
        return None
    return np.sort(np.random.default_rng(seed).choice(n_points, int(n_samples), replace=False))


def check_neighbours(n_neighbors: object, n_points: int, least: int = 1) -> int:
    """Raise an error unless every point has this many others."""
    count = whole_number(n_neighbors, "n_neighbors", least)
    if count >= n_points:
        msg = (
            f"{count} neighbours of each point need at least {count + 1} points, "
            f"got {n_points}: ask for fewer"
        )
        raise InputValueError(msg)
    return count
