"""A Dask array or frame as a source of columns.

It is read once where the workers can hold it, else pass by pass.
"""

from __future__ import annotations

from hashlib import blake2b
from typing import TYPE_CHECKING, Any, TypeAlias, TypeGuard, cast

import numpy as np

from geodim import lists
from geodim.backends.dask import reading
from geodim.data.checks import Moments, raise_not_finite, ranges_of
from geodim.data.convert import eager_frame
from geodim.data.frames import refuse_other_columns
from geodim.data.shapes import check_shape, check_type, check_weights, working_type
from geodim.data.sources import as_source, set_names
from geodim.engine.pilot import sample_rows
from geodim.optional import require

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from dask.array import Array
    from dask.dataframe import DataFrame, Series
    from dask.delayed import Delayed
    from numpy.typing import NDArray

    from geodim.backends.dask.cluster import Cluster
    from geodim.data.checks import Ranges

    DaskData: TypeAlias = Array | DataFrame | Series
    Pieces = list[list[Any]]  # of one block: by rows of chunks, in each by columns of chunks

ROUNDS = 4  # in which the pieces of a block travel, where all columns fit the workers
SMALL_BYTES = 16 << 20  # chunks of less are taken together with their neighbours
MOST_SAMPLED = 1 << 22  # entries of a sample that is taken along in the first pass


def is_dask(data: object) -> TypeGuard[DaskData]:
    """Return whether data lies on a cluster."""
    return lists.is_dask(data)


class DaskSource:
    """Points by features on a cluster.

    Parameters
    ----------
    data : dask.array.Array or dask.dataframe.DataFrame
        Chunked in any way.  The lengths of a frame's partitions are counted first, from one column.
    cluster : Cluster
        Where it is read.
    weights : array of int, optional
        Multiplicity of each point.
    names : sequence of str, optional
        Names of the features, where the data has none.
    """

    row_major = False

    def __init__(
        self,
        data: DaskData,
        cluster: Cluster,
        weights: object = None,
        names: Sequence[str] | None = None,
    ) -> None:
        self.cluster = cluster
        self.resident: dict[tuple[int, ...], Any] = {}  # blocks that the workers hold
        self.weights: NDArray[np.int64] | None = None
        self._frame: Any = None
        self._array: Any = None
        self._looks: list[reading.Look] | None = None
        self._sampled: tuple[NDArray[np.intp], NDArray[np.floating]] | None = None
        if hasattr(data, "to_dask_array"):
            self._open_frame(cast("DataFrame | Series", data), counted=weights is not None)
        else:
            self._open_array(data)
        if weights is not None:
            self.weights = check_weights(weights, self.n_rows)
        self.runs = self.weights is not None
        self.n_points = self.n_rows if self.weights is None else int(self.weights.sum())
        if self.first_rows is None:
            self._look()
        check_shape((self.n_rows, self.n_features))
        set_names(self, names)

    def _open_array(self, array: Array) -> None:
        check_type(array.dtype)
        if array.ndim != 2:
            check_shape(array.shape)
        if np.isnan(array.shape).any():
            array = array.compute_chunk_sizes()
        self._array = array
        self.names: list[str] | None = None
        self.dtype = working_type(array.dtype)
        self.long_integers: Any = array.dtype.kind in "iu" and array.dtype.itemsize == 8
        self.n_features = int(array.shape[1])
        array = _with_fewer_chunks(array)
        self.first_columns = _edges(array.chunks[1])
        self.first_rows: list[int] | None = _edges(array.chunks[0])
        self.parts: list[list[Any]] = [list(row) for row in array.to_delayed()]

    def _open_frame(self, frame: DataFrame | Series, *, counted: bool) -> None:
        """Open a frame; the lengths of its partitions are counted in the first pass.

        They are not known before, and counting them means reading them.
        """
        if frame.ndim == 1:
            frame = frame.to_frame()
        self._frame = frame
        refuse_other_columns(eager_frame(frame._meta))  # by their types: the meta frame holds no values
        like = as_source(
            require("dask.dataframe.utils", "dask", "reading Dask frames").meta_nonempty(frame._meta)
        )
        self.names = like.names
        self.dtype = like.dtype
        self.long_integers = getattr(like, "long_integers", False)
        self.n_features = like.n_features
        self.first_columns = [0, like.n_features]
        self.parts = [[part] for part in frame.to_delayed()]
        if counted:
            tasks = [self._delayed(len)(row[0]) for row in self.parts]
            self.first_rows = _edges(self.cluster.results(self.cluster.compute(tasks)))
        else:  # approximate: one column of the first partition shows how large the others are
            self.first_rows = None
            some = frame[[frame.columns[0]]].partitions[0].to_delayed()
            tasks = [self._delayed(len)(part) for part in some]
            self._guess = max(sum(self.cluster.results(self.cluster.compute(tasks))), 1) * len(self.parts)

    def shifted(self) -> DaskSource | None:
        """Return long integers measured from the least of each column; None for a frame.

        See `geodim.data.integers`.
        """
        if self._array is None:
            return None
        least = np.asarray(self._array.min(axis=0).compute()).astype(np.uint64)
        distances = (self._array.astype(np.uint64) - least).astype(np.float64)
        return DaskSource(distances, self.cluster, self.weights, self.names)

    @property
    def n_rows(self) -> int:
        """Rows of the data, without their weights; approximate until a frame has been read once."""
        return self._guess if self.first_rows is None else int(self.first_rows[-1])

    @property
    def bytes_per_column(self) -> int:
        """Size of a column as the engine reads it."""
        return max(self.n_rows * self.dtype.itemsize, 1)

    # The first pass.

    def scan(self) -> Ranges:
        """Return the ranges of all columns; raise if a value is not finite."""
        if self._looks is None:
            self._look()
        assert self._looks is not None
        return self._ranges(self._looks)

    def _look(self) -> None:
        """Examine every chunk; if the workers have room, the columns are joined on the way."""
        rows = np.empty(0, np.intp)
        if self.first_rows is not None:
            rows = self._own_rows(sample_rows(self))
            rows = rows if rows.size * self.n_features <= MOST_SAMPLED else rows[:0]
        groups = self.groups(range(self.n_features)) if self.fits() else []
        chunks, look = self.parts, reading.look
        blocks: list[Pieces] = []
        if groups:
            turned, blocks = self._blocks(groups)
            # Rows of an array are examined faster as stored, frames as columns.
            if self._frame is not None:
                chunks, look = turned, reading.look_at_columns
        looks = [
            self._delayed(look)(part, self._declared(i, j), self._within(rows, i), self._weights_of(i))
            for i, row in enumerate(chunks)
            for j, part in enumerate(row)
        ]
        first, *blocks = self._computed([[looks], *blocks])
        self.resident = dict(zip(map(tuple, groups), self._gathered(blocks, ROUNDS), strict=True))
        self._looks = self.cluster.results(first[0])
        if self.first_rows is None:
            self.first_rows = _edges([one.n_rows for one in self._looks])
            self.n_points = self.n_rows
        if rows.size:
            self._sampled = rows, self._laid_out([one.sample for one in self._looks])

    def fits(self) -> bool:
        """Return whether the workers can hold all columns."""
        return self.bytes_per_column * self.n_features <= self.cluster.room

    def _ranges(self, looks: list[reading.Look]) -> Ranges:
        assert self.first_rows is not None
        total = Moments.nothing(self.n_features)
        wrong: list[tuple[int, int, float]] = []
        for at, one in enumerate(looks):
            i, j = divmod(at, len(self.first_columns) - 1)
            row, column = self.first_rows[i], self.first_columns[j]
            if one.wrong is not None:
                wrong.append((row + one.wrong[0], column + one.wrong[1], one.wrong[2]))
            elif one.moments is not None:
                columns = slice(column, self.first_columns[j + 1])
                total.add(one.moments._replace(columns=columns))
        if wrong:
            row, column, value = min(wrong, key=lambda where: where[:2])
            raise_not_finite(self, row, slice(column, column + 1), np.array([[value]]))
        return ranges_of(self, total)

    # Columns.

    def groups(self, columns: Sequence[int]) -> list[list[int]]:
        """Return the columns of each block."""
        return groups_of(columns, self.bytes_per_column, self.cluster)

    def waves(self, columns: Sequence[int]) -> list[list[list[int]]]:
        """Return groups of columns that the workers can hold at a time; each needs a pass over the data."""
        per_wave = self.cluster.columns_at_rest(self.bytes_per_column)
        return [self.groups(columns[at : at + per_wave]) for at in range(0, len(columns), per_wave)]

    def take(self, groups: list[list[int]]) -> list[Any]:
        """Return futures of blocks: those that the workers hold, parts of them, or newly read ones."""
        if not self.resident:
            return self._gathered(self._computed(self._blocks(groups)[1]))
        where = {column: held for held in self.resident for column in held}
        found = []
        for group in groups:
            held = where[group[0]]
            block = self.resident[held]
            if tuple(group) != held:
                block = [[self.cluster.submit(reading.cut_block, block, np.searchsorted(held, group))]]
            found.append(block)
        return found

    def _blocks(self, groups: list[list[int]]) -> tuple[Pieces, list[Pieces]]:
        """Turn every chunk into columns, once; return the pieces of blocks that are cut out of these."""
        columns = np.unique([column for group in groups for column in group])
        parts, edges, own = self.parts, np.asarray(self.first_columns), columns
        if self._frame is not None and columns.size < self.n_features:
            some = self._frame[[self._frame.columns[column] for column in columns]]
            # No need to read the others.
            parts, own = (
                [[part] for part in some.to_delayed()],
                np.arange(columns.size),
            )
        where = np.searchsorted(edges, own, side="right") - 1
        turned: Pieces = [[] for _ in parts]
        pieces: list[Pieces] = [[[] for _ in parts] for _ in groups]
        for j in np.unique(where).tolist():
            here = where == j
            cuts = [np.flatnonzero(np.isin(columns[here], group)) for group in groups]
            for i, row in enumerate(parts):
                declared = self._declared(i, j)
                if parts is not self.parts:
                    declared = declared.of_columns(columns.size)
                turned[i].append(self._delayed(reading.turned)(row[j], declared, own[here] - edges[j]))
                for at, cut in enumerate(cuts):
                    if cut.size:
                        pieces[at][i].append(self._delayed(reading.cut)(turned[i][-1], cut))
        return turned, pieces

    def _computed(self, blocks: list[Pieces]) -> list[Pieces]:
        """Return futures in the place of what is delayed."""
        futures = iter(self.cluster.compute([piece for block in blocks for row in block for piece in row]))
        return [[[next(futures) for _ in row] for row in block] for block in blocks]

    def _gathered(self, blocks: list[Pieces], most_rounds: int = 1) -> list[Any]:
        """Return the pieces of every block, gathered on one worker.

        They travel as soon as they exist, and evenly, before they are needed.  In several rounds the first
        arrive while others are still being read, which takes more memory.
        """
        homes = self.cluster.homes()
        found: list[Any] = []
        for block in blocks:
            if len(block) == len(block[0]) == 1:
                found.append(block)
                continue
            home = next(homes)
            step = -(-len(block) // most_rounds)
            rounds = [
                self.cluster.submit(reading.gathered, block[at : at + step], soon=True, home=home)
                for at in range(0, len(block), step)
            ]
            if len(rounds) > 1:
                rounds = [self.cluster.submit(reading.joined, rounds, soon=True, home=home)]
            found += rounds
        return found

    def counts(
        self,
        group: list[int],
        count: Callable[..., object],
        add: Callable[..., object],
        fan_in: int,
        *shared: object,
    ) -> Delayed:
        """Return ``count`` of the group's columns in every row of chunks, ``add``ed up as a tree; delayed."""
        edges = np.asarray(self.first_columns)
        where = np.searchsorted(edges, group, side="right") - 1
        level = []
        for i, row in enumerate(self.parts):
            here = np.unique(where).tolist()
            chunks = [(row[j], self._declared(i, j)) for j in here]
            columns = [np.asarray(group)[where == j] - edges[j] for j in here]
            level.append(self._delayed(count)(chunks, columns, self._weights_of(i), *shared))
        while len(level) > 1:
            level = [self._delayed(add)(level[at : at + fan_in]) for at in range(0, len(level), fan_in)]
        return level[0]

    # What else a source can state.

    def read(self, columns: Sequence[int], out: NDArray[np.floating]) -> None:
        """Fetch some columns."""
        block = self._brought(list(columns))
        out[:] = block if self.weights is None else np.repeat(block, self.weights, axis=1)

    def _brought(self, columns: list[int]) -> NDArray[np.floating]:
        (block,) = self._blocks([columns])[1]
        values: NDArray[np.floating]
        (values,) = self.cluster.results(self.cluster.compute([self._delayed(reading.put_together)(block)]))
        return values

    def read_runs(self, column: int) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """Fetch one column."""
        block = self._brought([column])
        return as_source(block.T, weights=self.weights).read_runs(0)

    def chunks(self) -> list[tuple[slice, slice]]:
        """Return the chunks of the array."""
        assert self.first_rows is not None
        rows, columns = self.first_rows, self.first_columns
        return [
            (slice(rows[i], rows[i + 1]), slice(columns[j], columns[j + 1]))
            for i in range(len(rows) - 1)
            for j in range(len(columns) - 1)
        ]

    def chunk(self, rows: slice, columns: slice) -> NDArray[Any]:
        """Fetch one chunk."""
        assert self.first_rows is not None
        i, j = self.first_rows.index(rows.start), self.first_columns.index(columns.start)
        (values,) = self.cluster.results(self.cluster.compute([self.parts[i][j]]))
        return reading.as_numbers(values, self._declared(i, j))

    def sample(self, columns: NDArray[np.intp], rows: NDArray[np.intp]) -> NDArray[np.float64]:
        """Return a few rows of a few columns: those of the first pass, or taken now."""
        rows = self._own_rows(rows)
        if self._sampled is None or not np.array_equal(self._sampled[0], rows):
            self._sampled = rows, self._taken(rows)
        return self._sampled[1][:, columns].astype(np.float64)

    def _taken(self, rows: NDArray[np.intp]) -> NDArray[np.floating]:
        if self.resident:
            futures = [self.cluster.submit(reading.rows_of, block, rows) for block in self.resident.values()]
            return np.concatenate(self.cluster.results(futures), axis=1)
        tasks = [
            self._delayed(reading.take_sample)(part, self._declared(i, j), self._within(rows, i))
            for i, row in enumerate(self.parts)
            for j, part in enumerate(row)
        ]
        return self._laid_out(self.cluster.results(self.cluster.compute(tasks)))

    def digest(self) -> bytes:
        """Return a digest of this data and its chunks, computed where it lies."""
        tasks = [
            self._delayed(reading.digest)(part, self._declared(i, j))
            for i, row in enumerate(self.parts)
            for j, part in enumerate(row)
        ]
        return blake2b(b"".join(self.cluster.results(self.cluster.compute(tasks)))).digest()

    def _own_rows(self, rows: NDArray[np.intp]) -> NDArray[np.intp]:
        if self.weights is None:
            return rows
        return np.searchsorted(np.cumsum(self.weights), rows, side="right")

    def _within(self, rows: NDArray[np.intp], i: int) -> NDArray[np.intp]:
        """Return those of ``rows`` (ascending) that lie in the i-th row of chunks, counted from its first."""
        if not rows.size or self.first_rows is None:
            return rows[:0]
        first, stop = np.searchsorted(rows, self.first_rows[i : i + 2])
        return rows[first:stop] - self.first_rows[i]

    def _declared(self, i: int, j: int) -> reading.Declared:
        """Return what is known about the j-th chunk in the i-th row of chunks before it is read."""
        chunk = f"partition {i} of the Dask frame"
        if self._frame is None:
            chunk = f"chunk ({i}, {j}) of the Dask array"
        rows = None if self.first_rows is None else self.first_rows[i + 1] - self.first_rows[i]
        return reading.Declared(chunk, rows, self.first_columns[j + 1] - self.first_columns[j], self.dtype)

    def _weights_of(self, i: int) -> NDArray[np.int64] | None:
        if self.weights is None or self.first_rows is None:
            return None
        return self.weights[self.first_rows[i] : self.first_rows[i + 1]]

    def _laid_out(self, samples: list[NDArray[np.floating]]) -> NDArray[np.floating]:
        width = len(self.first_columns) - 1
        return np.concatenate(
            [np.concatenate(samples[at : at + width], axis=1) for at in range(0, len(samples), width)]
        )

    def _delayed(self, function: Callable[..., object]) -> Callable[..., Delayed]:
        from dask.delayed import delayed  # noqa: PLC0415

        made: Callable[..., Delayed] = delayed(function, pure=False)
        return made


def _with_fewer_chunks(array: Array) -> Array:
    """Join small chunks that lie side by side.

    Every chunk is several tasks, and each of those costs a millisecond.
    """
    columns = array.chunksize[1]
    small = array.chunksize[0] * columns * array.dtype.itemsize
    if len(array.chunks[1]) == 1 or not 0 < small < SMALL_BYTES:
        return array
    joined: Array = array.rechunk({1: min(columns * (2 * SMALL_BYTES // small), array.shape[1])})
    return joined


def _edges(lengths: Sequence[int]) -> list[int]:
    """Return the first row or column of every chunk, and the end."""
    return [0, *np.cumsum(np.asarray(lengths, np.int64)).tolist()]


def groups_of(columns: Sequence[int], bytes_per_column: int, cluster: Cluster) -> list[list[int]]:
    """Return columns that make a block each."""
    width = cluster.columns_per_block(len(columns), bytes_per_column)
    return [list(columns[at : at + width]) for at in range(0, len(columns), width)]
