"""Column sources: every kind of data, handed to the engine one block of columns at a time.

A source says how many points and features there are, fills a buffer with a block of columns (`read`), or
gives one column as ascending values with multiplicities (`read_runs`, for sparse and weighted data).  Nothing
is ever copied or densified whole.
"""

from __future__ import annotations

import contextlib
import mmap
import sys
from copy import copy
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import numpy as np

from geodim.data.convert import array_of, array_of_tensor, eager_frame, plain_array, read_only
from geodim.data.frames import FrameSource, is_short_and_wide
from geodim.data.shapes import check_shape, check_type, check_weights, column_chunks, working_type
from geodim.data.sparse import as_columns
from geodim.data.unchanged import Watch
from geodim.engine.ways import CACHE_LINE, FEW_VALUES
from geodim.errors import ShapeError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from geodim.data.sparse import SparseMatrix

LET_GO_BYTES = 1 << 26  # bytes of a mapped file that may be resident at a time
CHUNK_BYTES = 1 << 16  # row chunks of this size stay in the cache while they are transposed
CHUNK_VALUES = 1 << 16  # of short columns that are read together
SCAN_BYTES = 8 << 20  # a first pass reads at least this much at a time: else threads would queue for Python


__all__ = [
    "ArraySource", "ColumnSource", "FrameSource", "SparseSource", "WeightedSource", "as_slice", "as_source",
    "column_chunks", "set_names",
]  # fmt: skip


@runtime_checkable
class ColumnSource(Protocol):
    """The interface through which the engine reads data."""

    n_points: int
    n_features: int
    dtype: np.dtype[np.floating]
    row_major: bool
    runs: bool
    names: list[str] | None

    def read(self, columns: Sequence[int], out: NDArray[np.floating]) -> None:
        """Fill ``out`` (len(columns), n_points) with the given columns."""

    def read_runs(self, column: int) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """Return ascending values of one column and how often each occurs."""

    def chunks(self) -> list[tuple[slice, slice]]:
        """Return rows and columns of chunks that cover the data, in row order where rows are contiguous."""

    def chunk(self, rows: slice, columns: slice) -> NDArray[Any]:
        """Return the values of one chunk (of a sparse column: its non-zeros and one zero)."""

    def sample(self, columns: NDArray[np.intp], rows: NDArray[np.intp]) -> NDArray[np.float64]:
        """Return a few rows of a few columns."""


def as_slice(columns: Sequence[int]) -> slice | list[int]:
    """Return neighbouring columns as a slice, which is read without fancy indexing."""
    neighbours = range(columns[0], columns[0] + len(columns))
    return slice(neighbours.start, neighbours.stop) if list(columns) == list(neighbours) else list(columns)


class ArraySource:
    """A two-dimensional numpy array, of any real type and memory layout, possibly memory-mapped."""

    runs = False

    def __init__(self, array: NDArray[Any]) -> None:
        check_type(array.dtype)
        check_shape(array.shape)
        self.array: Any = array
        self.watch = Watch.of(array)
        # Whether some columns, or which of them, may hold integers that are no float64:
        # see `geodim.data.integers`.
        self.long_integers: Any = array.dtype.kind in "iu" and array.itemsize == 8
        self.n_points, self.n_features = array.shape
        self.dtype = working_type(array.dtype)
        self.row_major = self.n_features > 1 and abs(array.strides[1]) < abs(array.strides[0])
        self.names: list[str] | None = None
        # Pages of a file that was mapped for reading can be let go at once: they would
        # count as resident memory.
        mapped = isinstance(array, np.memmap) and array.mode in ("r", "r+") and hasattr(mmap, "MADV_DONTNEED")
        self._touched = 0  # bytes of rows that were read since
        self._map: mmap.mmap | None = array._mmap if mapped else None  # type: ignore[attr-defined]

    @property
    def past_line(self) -> int:
        """How many values lie between the start of a cache line and the first column, if in all rows alike.

        Arrays as large as those that are read by blocks begin anywhere, mostly 16 bytes after a line.
        """
        if not (self.row_major and self.array.flags.c_contiguous) or self.array.strides[0] % CACHE_LINE:
            return 0
        past: int = self.array.ctypes.data % CACHE_LINE // self.array.itemsize
        return past

    def over(self, array: object) -> ArraySource:
        """Return a source like this one with other values of the same layout."""
        other = copy(self)
        other.array, other.long_integers = array, False
        return other

    def _rows_per_chunk(self, width: int) -> int:
        return max(512, CHUNK_BYTES // max(width * int(self.array.itemsize), 1) // 512 * 512)

    def let_go(self) -> None:
        """Give pages of a mapped file back, which would count as memory of this process."""
        self._touched = 0
        if self._map is not None and sys.platform != "win32":
            with contextlib.suppress(OSError, ValueError):
                self._map.madvise(mmap.MADV_DONTNEED)

    def read(self, columns: Sequence[int], out: NDArray[np.floating]) -> None:
        """Copy the columns of one block."""
        self.read_rows(columns, slice(0, self.n_points), out)

    def read_rows(self, columns: Sequence[int], rows: slice, out: NDArray[np.floating]) -> None:
        """Copy some rows (start and stop) of the columns of one block.

        They are transposed by chunks, so that each cache line is fetched once.
        """
        self.watch.check()  # before, since reading past the end of a map kills the process, and after
        if not self.row_major:
            for at, column in enumerate(columns):
                out[at] = self.array[rows, column]
                self.let_go()
            self.watch.check()
            return
        quick = self.array.dtype == self.dtype == out.dtype and self.array.flags.c_contiguous
        # With fewer values, compiled code takes longer to load.
        quick = quick and len(columns) > 1 and self.array.size > FEW_VALUES
        wanted = np.asarray(columns, np.intp)
        step = LET_GO_BYTES // self.array.strides[0] + 1 if quick else self._rows_per_chunk(len(columns))
        for row in range(rows.start, rows.stop, step):
            some, at = slice(row, min(row + step, rows.stop)), row - rows.start
            if quick:
                from geodim.engine.kernels.reading import gather_columns  # noqa: PLC0415 - imports Numba

                gather_columns(read_only(self.array[some]), wanted, out, at)
            else:
                out[:, at : at + some.stop - row] = self.array[some, as_slice(columns)].T
            self._touched += (some.stop - row) * abs(self.array.strides[0])
            if self._touched >= LET_GO_BYTES or some.stop == self.n_points:
                self.let_go()
        self.watch.check()

    def read_runs(self, column: int) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """Return sorted values, each once per point."""
        values = np.sort(self.array[:, column].astype(np.float64))
        self.watch.check()
        return values, np.ones(values.size, np.int64)

    def chunks(self) -> list[tuple[slice, slice]]:
        """Return blocks of rows, or whole columns where those are contiguous: several, if they are short."""
        if self.row_major:
            step = 8 * self._rows_per_chunk(self.n_features)
            step = max(step, SCAN_BYTES // abs(self.array.strides[0]) // 512 * 512)
            every = slice(0, self.n_features)
            return [
                (slice(row, min(row + step, self.n_points)), every) for row in range(0, self.n_points, step)
            ]
        return column_chunks(self, max(1, CHUNK_VALUES // self.n_points))

    def chunk(self, rows: slice, columns: slice) -> NDArray[Any]:
        """Return a view of the array."""
        if self._map is not None and (not self.row_major or rows.start % (1 << 20) < rows.stop - rows.start):
            self.let_go()
        self.watch.check()
        values: NDArray[Any] = self.array[rows, columns]
        return values

    def sample(self, columns: NDArray[np.intp], rows: NDArray[np.intp]) -> NDArray[np.float64]:
        """Return a few rows of a few columns."""
        return self.own_sample(columns, rows, np.dtype(np.float64))

    def own_sample(
        self, columns: NDArray[np.intp], rows: NDArray[np.intp], dtype: np.dtype[Any] | None = None
    ) -> NDArray[Any]:
        """Return a few rows of a few columns as they are; pages of a mapped file are released on the way."""
        out = np.empty((rows.size, columns.size), dtype or self.array.dtype)
        most = self.row_major and 2 * columns.size > self.n_features  # whole rows are copied much faster
        for at in range(0, rows.size, 256):
            some = rows[at : at + 256]
            out[at : at + 256] = self.array[some][:, columns] if most else self.array[np.ix_(some, columns)]
            self.let_go()
        self.watch.check()
        return out


class SparseSource:
    """A scipy.sparse matrix: each column is its non-zeros and one run of zeros."""

    runs = True
    row_major = False

    def __init__(self, matrix: SparseMatrix) -> None:
        self.names: list[str] | None = None
        check_type(matrix.dtype)
        check_shape(matrix.shape)
        with Watch.of(matrix):
            csc = as_columns(matrix)
        self.csc = csc
        self.long_integers: Any = csc.dtype.kind in "iu" and csc.dtype.itemsize == 8
        self.watch = Watch.of(csc)
        self.n_points, self.n_features = (int(size) for size in csc.shape)
        self.dtype: np.dtype[np.floating] = np.dtype(np.float64)

    def read(self, columns: Sequence[int], out: NDArray[np.floating]) -> None:
        """Densify one block of columns."""
        out[:] = self.csc[:, as_slice(columns)].toarray().T
        self.watch.check()

    def read_runs(self, column: int) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """Return sorted non-zeros with the zeros in their place."""
        start, stop = self.csc.indptr[column], self.csc.indptr[column + 1]
        values = np.sort(self.csc.data[start:stop].astype(np.float64))
        self.watch.check()
        zeros = self.n_points - values.size
        counts = np.ones(values.size + (zeros > 0), np.int64)
        if zeros:
            at = int(np.searchsorted(values, 0.0))
            values = np.insert(values, at, 0.0)
            counts[at] = zeros
        return values, counts

    def chunks(self) -> list[tuple[slice, slice]]:
        """Return chunks of one column each."""
        return column_chunks(self)

    def chunk(self, rows: slice, columns: slice) -> NDArray[Any]:  # noqa: ARG002
        """Return the non-zeros of one column, with a zero that stands for all implicit ones."""
        start, stop = self.csc.indptr[columns.start], self.csc.indptr[columns.start + 1]
        self.watch.check()
        values = self.csc.data[start:stop]
        if stop - start < self.n_points:
            values = np.append(values, values.dtype.type(0))
        column: NDArray[Any] = values[:, np.newaxis]
        return column

    def sample(self, columns: NDArray[np.intp], rows: NDArray[np.intp]) -> NDArray[np.float64]:
        """Return a few rows of a few columns."""
        some = np.asarray(self.csc[:, columns].tocsr()[rows].toarray(), np.float64)
        self.watch.check()
        return some

    def row_sums(self) -> NDArray[np.float64]:
        """Return the sum of the values of every point."""
        sums = np.asarray(self.csc.sum(axis=1, dtype=np.float64)).ravel()
        self.watch.check()
        return sums


class WeightedSource:
    """Another source whose points count several times: the same as repeating them, without doing so."""

    runs = True

    def __init__(self, source: ColumnSource, weights: NDArray[np.int64]) -> None:
        self.source = source
        self.present = np.flatnonzero(weights)
        self.weights = weights[self.present]
        self.n_points, self.n_features = int(weights.sum()), source.n_features
        self.dtype, self.row_major, self.names = source.dtype, False, source.names
        self.long_integers: Any = getattr(source, "long_integers", False)

    def over(self, source: ColumnSource) -> WeightedSource:
        """Return the same weights for other values of the same points."""
        other = copy(self)
        other.source, other.dtype, other.long_integers = source, source.dtype, False
        return other

    def _column(self, column: int) -> NDArray[np.floating]:
        out = np.empty((1, self.source.n_points), self.source.dtype)
        self.source.read([column], out)
        values: NDArray[np.floating] = out[0, self.present]
        return values

    def read(self, columns: Sequence[int], out: NDArray[np.floating]) -> None:
        """Repeat the points of one block of columns."""
        for at, column in enumerate(columns):
            out[at] = np.repeat(self._column(column), self.weights)

    def read_runs(self, column: int) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """Return distinct values and the total weight of each."""
        values = self._column(column).astype(np.float64)
        order = np.argsort(values)
        values, counts = values[order], self.weights[order]
        first = np.flatnonzero(np.append(True, values[1:] != values[:-1]))
        return values[first], np.add.reduceat(counts, first)

    def chunks(self) -> list[tuple[slice, slice]]:
        """Return chunks of one column each."""
        return column_chunks(self)

    def chunk(self, rows: slice, columns: slice) -> NDArray[Any]:  # noqa: ARG002
        """Return one column, absent points left out."""
        return self._column(columns.start)[:, np.newaxis]

    def sample(self, columns: NDArray[np.intp], rows: NDArray[np.intp]) -> NDArray[np.float64]:
        """Return a few rows of a few columns, rows counted with their multiplicity."""
        at = np.searchsorted(np.cumsum(self.weights), rows, side="right")
        return self.source.sample(columns, self.present[at])


def as_source(data: object, *, weights: object = None, names: Sequence[str] | None = None) -> ColumnSource:
    """Wrap any kind of data that holds points by features; only this function looks at types.

    Parameters
    ----------
    data
        Array-like, memory map, scipy.sparse matrix, torch tensor, pandas, polars or pyarrow frame.
    weights
        Integer multiplicity of each point.
    names
        Names of the features, where the data has none.
    """
    source = _unweighted(data)
    set_names(source, names)
    if weights is None:
        return source
    return WeightedSource(source, check_weights(weights, source.n_points))


def set_names(source: ColumnSource, names: Sequence[str] | None) -> None:
    """Name the features, if there are names."""
    if names is None:
        return
    if len(names) != source.n_features:
        msg = f"there are {source.n_features} features but {len(names)} feature names"
        raise ShapeError(msg)
    source.names = [str(name) for name in names]


def _unweighted(data: object) -> ColumnSource:
    module = type(data).__module__.partition(".")[0]
    if isinstance(data, np.ndarray):
        return ArraySource(plain_array(data))
    if module == "scipy" and hasattr(data, "tocsc"):
        return SparseSource(data)
    if module in ("pandas", "polars", "pyarrow"):
        frame = eager_frame(data)
        if is_short_and_wide(frame):
            source = ArraySource(frame.to_native().to_numpy())
            source.names = [str(name) for name in frame.columns]
            return source
        return FrameSource(frame)
    return ArraySource(array_of_tensor(data) if module == "torch" else plain_array(array_of(data)))
