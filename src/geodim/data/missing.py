"""Missing values: how many there are in each column, and the points without any.

Missing are nulls of a frame, NaN, and masked entries of a masked array.  Infinity is a value, although one
that cannot be measured.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from geodim.data.convert import array_of, eager_frame
from geodim.data.shapes import check_shape
from geodim.data.sources import ArraySource, FrameSource, SparseSource, WeightedSource
from geodim.errors import ShapeError
from geodim.lists import refuse_dask
from geodim.words import counted, listed

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from geodim.data.sources import ColumnSource

__all__ = ["drop_missing", "told_missing", "without_missing"]

MOST_COUNTED = 1 << 26  # values that are read again for a message
BLOCK_VALUES = 1 << 22
FILLED = "sklearn.impute.SimpleImputer fills them in"


class _Missing(NamedTuple):
    """Which values of some data are missing, and a function that takes some of its rows."""

    rows: NDArray[np.bool_]
    counts: NDArray[np.int64]
    names: Sequence[str]
    take: Callable[[NDArray[np.bool_]], Any]


def drop_missing(data: Any) -> Any:  # noqa: ANN401 - as it came
    """Leave out points with a missing value, and return the same kind of container.

    Parameters
    ----------
    data : array-like, masked array, sparse matrix, tensor or frame of shape (n_points, n_features)
        Points in rows.  Rows of a pandas frame keep their index, by which weights and labels can be matched.

    Returns
    -------
    same kind as data
        The data itself where nothing is missing.

    Raises
    ------
    ShapeError
        No point is left; the message says how many values are missing in which columns.

    Examples
    --------
    >>> import numpy as np
    >>> import geodim
    >>> geodim.drop_missing(np.array([[0.0, 1.0], [np.nan, 2.0], [3.0, 4.0]])).tolist()
    [[0.0, 1.0], [3.0, 4.0]]
    """
    return without_missing(data)[0]


def without_missing(data: Any, names: Sequence[str] | None = None) -> tuple[Any, str]:  # noqa: ANN401
    """Do the same as `drop_missing`, and say what was left out; an empty text if nothing was.

    ``names`` are those of the columns, where the data has none.
    """
    found = _look(data)
    gone = int(found.rows.sum())
    if not gone:
        return data, ""
    columns = _by_column(found.counts, names or found.names)
    if gone == found.rows.size:
        raise ShapeError(
            f"no point is left: each of the {gone:,} has a missing value ({columns}); leave out the columns "
            f"with most of them, or fill them in: {FILLED}"
        )
    note = f"{counted(gone, 'point')} of {found.rows.size:,} left out, because values are missing ({columns})"
    return found.take(~found.rows), note


def told_missing(source: ColumnSource) -> str:
    """Say how many values each column of data on this machine lacks; empty where counting takes long."""
    here = isinstance(source, ArraySource | FrameSource | SparseSource | WeightedSource)
    if not here or source.n_points * source.n_features > MOST_COUNTED:
        return ""
    counts = np.zeros(source.n_features, np.int64)
    for rows, columns in source.chunks():
        counts[columns] += np.isnan(source.chunk(rows, columns)).sum(axis=0)
    names = source.names or [str(column) for column in range(source.n_features)]
    return _by_column(counts, names)


def _by_column(counts: NDArray[np.int64], names: Sequence[str]) -> str:
    """List the counts, columns that lack most first: "in 2 of 3 columns: 'a' 12, 'b' 3"."""
    some = np.flatnonzero(counts)
    order = some[np.argsort(-counts[some], kind="stable")]
    told = [f"{str(names[column])!r} {counts[column]:,}" for column in order.tolist()]
    return f"in {some.size:,} of {counted(counts.size, 'column')}: {listed(told)}"


def _look(data: Any) -> _Missing:  # noqa: ANN401
    refuse_dask(data)
    module = type(data).__module__.partition(".")[0]
    if module in ("pandas", "polars", "pyarrow"):
        return _of_frame(data)
    if module == "scipy" and hasattr(data, "tocsr"):
        check_shape(data.shape)
        return _of_sparse(data.tocsr())
    if module == "torch":
        check_shape(tuple(data.shape))
        values = data.detach().isnan().cpu().numpy()
        return _of_mask(values, lambda keep: data[keep.tolist()])
    if isinstance(data, np.ma.MaskedArray):
        check_shape(data.shape)
        values = np.ma.getmaskarray(data)
        if data.dtype.kind == "f":
            values = values | np.isnan(data.data)
        return _of_mask(values, lambda keep: np.asarray(data.data)[keep])
    array = data if isinstance(data, np.ndarray) else array_of(data)
    check_shape(array.shape)
    rows, counts = np.zeros(len(array), np.bool_), np.zeros(array.shape[1], np.int64)
    step = max(BLOCK_VALUES // array.shape[1], 1)
    for first in range(0, len(array) if array.dtype.kind == "f" else 0, step):
        block = np.isnan(array[first : first + step])
        rows[first : first + step] = block.any(axis=1)
        counts += block.sum(axis=0)
    return _Missing(rows, counts, _numbered(counts), lambda keep: np.asarray(array[keep]))


def _of_mask(values: NDArray[np.bool_], take: Callable[[NDArray[np.bool_]], Any]) -> _Missing:
    counts = values.sum(axis=0)
    return _Missing(np.asarray(values.any(axis=1)), counts, _numbered(counts), take)


def _of_sparse(rows: Any) -> _Missing:  # noqa: ANN401 - scipy.sparse has no types
    bad = np.flatnonzero(np.isnan(rows.data)) if rows.dtype.kind == "f" else np.empty(0, np.intp)
    gone = np.zeros(rows.shape[0], np.bool_)
    gone[np.searchsorted(rows.indptr, bad, side="right") - 1] = True
    counts = np.bincount(rows.indices[bad], minlength=rows.shape[1])
    return _Missing(gone, counts, _numbered(counts), lambda keep: rows[np.flatnonzero(keep)])


def _of_frame(data: object) -> _Missing:
    frame = eager_frame(data)
    gone, counts = np.zeros(len(frame), np.bool_), np.zeros(len(frame.columns), np.int64)
    check_shape((len(frame), len(frame.columns)))
    for at, series in enumerate(frame.iter_columns()):
        bad = np.array(series.is_null().to_numpy(), np.bool_)
        if series.dtype.is_float():
            there = series.drop_nulls().to_numpy()
            bad[~bad] = np.isnan(np.asarray(there, np.float64))
        counts[at] = bad.sum()
        gone |= bad

    def take(keep: NDArray[np.bool_]) -> object:
        kept: object = frame.filter(keep.tolist()).to_native()
        return kept

    return _Missing(gone, counts, [str(name) for name in frame.columns], take)


def _numbered(counts: NDArray[np.int64]) -> list[str]:
    return [str(column) for column in range(counts.size)]
