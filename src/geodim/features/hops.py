r"""Hops: :math:`X, TX, T^2X, \dots`, a block of columns at a time.

Nothing of size n x d is ever formed. A block of c columns needs two (n, c) buffers, whatever the number of
hops and of attributes (:mod:`geodim.features.memory` states the formula).

What is guaranteed about rounding
---------------------------------
Every hop is computed from the rounded values of the hop before, with float64 arithmetic inside, and rounded
once to the type of the features (float32 or float64). Let row i have the terms t_j = fl(c_ij * x_j), j in
N(i), with c_ij = 1/sqrt(deg_i deg_j) for ``sym`` and 1 for ``rw``, or a weight times that.

1. *Same bits always.* The result depends on the matrix, the column and the type alone: not on the block a
   column is in, its place there, the number of threads, or the layout of X.
2. *Equal neighbourhoods, equal rows.* If two rows have the same multiset of terms (and under ``rw`` the same
   degree), they get the same bits, however their neighbours are numbered, as long as the terms are not too
   disparate: (m - 1) * sum |t| <= 2**52 * min |t| over the m non-zero terms. For then every rounding error of
   the running sum is a multiple of ulp(min |t|), together at most 2**53 times that, so that the second
   accumulator holds their sum without error, and the rounded total is the correctly rounded sum of the terms,
   which has no order. In a graph without weights the coefficients of equal products of degrees are equal to
   the bit, too. Outside of this range, where terms that are 2**52 times as large as others cancel, two orders
   may differ by as much as 6 (m 2**-53)**2 sum |t|, many units in the last place of a small result; rows that
   are equal by the definition then may come out different, and count as told apart.
3. *Cancellation.* Under the same condition terms that cancel exactly give exactly 0.
4. *Means of equal values.* Under ``rw`` a node whose neighbourhood holds one value v only
   gets v, whatever its degree.
5. Rows that are equal for other reasons (such as regular components of different degree under ``sym``) agree
   up to a few units of float64 relative to sum |t|, and mostly, but not always, exactly in float32.
6. *Distance to the definition.* All this is at most what :mod:`geodim.features.rounding` states, whatever the
   order of the sums and whatever cancels, and the bounds of `geodim.khop_dimensions` include it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import numpy as np

from geodim.arguments import whole_number
from geodim.data.shapes import working_type
from geodim.data.sources import ColumnSource, as_source
from geodim.engine.parts import thread_count
from geodim.errors import InputTypeError, NonFiniteError, ShapeError
from geodim.features.aggregate import MIN_WIDTH, aligned_empty

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import DTypeLike, NDArray

    from geodim.features.operators import Operator

__all__ = ["DEFAULT_WIDTH", "feature_type", "hop_features", "iter_hop_blocks"]

DEFAULT_WIDTH = (
    16  # the narrowest block whose rows fill a cache line of float32, and as fast as any wider one
)


def iter_hop_blocks(
    X: object,
    operator: Operator,
    hops: int,
    columns: slice | Sequence[int] | NDArray[np.integer],
    *,
    dtype: DTypeLike | None = None,
    n_threads: int | None = None,
) -> Iterator[NDArray[np.floating]]:
    """Yield ``T^m X[:, columns]`` for m = 0, ..., hops.

    A yielded block is a read-only view of one of two buffers: it is valid until the next but one is yielded.
    Copy what must live longer.

    Parameters
    ----------
    X : array, memory map, sparse matrix, frame, tensor, or ColumnSource, of shape (n, d)
        The attributes, in any order and layout; only the block's columns are read. Wrap it once with
        :func:`geodim.data.sources.as_source` when many blocks follow, above all if it is sparse.
    operator : Operator
        The operator T on n nodes, from :func:`geodim.features.operators.make_operator`.
    hops : int
        The number of hops, 0 or more.
    columns : slice or sequence of int
        The columns of the block.
    dtype : float32 or float64, optional
        Type of the features: by default float32 if that holds every value of X exactly
        by its type, else float64.
    n_threads : int, optional
        Threads to use, all cores by default.

    Yields
    ------
    ndarray of shape (n, c)

    Examples
    --------
    >>> import numpy as np
    >>> from geodim.features import make_operator
    >>> mean = make_operator([(0, 1)], "rw")
    >>> [block.tolist() for block in iter_hop_blocks(np.array([[0.0], [1.0]]), mean, 1, [0])]
    [[[0.0], [1.0]], [[0.5], [0.5]]]
    """
    # Check at the call, not at the first block.
    source = _as_columns(X)
    count = thread_count(n_threads, "threads")
    hops = whole_number(hops, "hops", 0)
    if source.n_points != operator.n_nodes:
        raise ShapeError(f"X has {source.n_points} rows, but the graph has {operator.n_nodes} nodes")
    chosen = _chosen(columns, source.n_features)
    return _blocks(source, operator, hops, chosen, feature_type(X, source, dtype), count)


def _blocks(
    source: ColumnSource, operator: Operator, hops: int, columns: list[int], kind: np.dtype[Any], threads: int
) -> Iterator[NDArray[np.floating]]:
    # Narrow blocks are padded with zeros to one vector, here and once, rather than at every product.
    shape = (source.n_points, max(len(columns), MIN_WIDTH))
    current = aligned_empty(shape, kind)
    current[:, len(columns) :] = 0
    with np.errstate(over="ignore"):  # reported below, with row and column
        source.read(columns, current[:, : len(columns)].T)
    _check_finite(current, columns)
    yield _shown(current, len(columns))
    if hops == 0:
        return
    following = aligned_empty(shape, kind)
    for _ in range(hops):
        operator.apply(current, following, n_threads=threads)
        current, following = following, current
        yield _shown(current, len(columns))


def hop_features(
    X: object,
    operator: Operator,
    hops: int,
    *,
    dtype: DTypeLike | None = None,
    width: int = DEFAULT_WIDTH,
    n_threads: int | None = None,
) -> list[NDArray[np.floating]]:
    """Return ``[X, TX, ..., T^hops X]`` as dense arrays, for data of which all hops fit into memory.

    Parameters
    ----------
    X, operator, hops, dtype, threads
        As for :func:`iter_hop_blocks`.
    width : int
        Columns per block; the result does not depend on it.

    Returns
    -------
    list of ndarray of shape (n, d)

    Examples
    --------
    >>> import numpy as np
    >>> from geodim.features import make_operator
    >>> hop_features(np.array([[0.0], [1.0]]), make_operator([(0, 1)], "rw"), 1)[1].tolist()
    [[0.5], [0.5]]
    """
    width = whole_number(width, "width", 1)
    source = _as_columns(X)
    kind = feature_type(X, source, dtype)
    result: list[NDArray[np.floating]] = []
    for first in range(0, source.n_features, width):
        part = slice(first, min(first + width, source.n_features))
        blocks = iter_hop_blocks(source, operator, hops, part, dtype=kind, n_threads=n_threads)
        for m, block in enumerate(blocks):
            if first == 0:
                result.append(np.empty((source.n_points, source.n_features), kind))
            result[m][:, part] = block
    return result


def _as_columns(X: object) -> ColumnSource:
    """Return X as a column source, unless it is one."""
    if hasattr(X, "read") and hasattr(X, "n_points"):
        return cast("ColumnSource", X)
    return as_source(X)


def feature_type(X: object, source: ColumnSource, dtype: DTypeLike | None = None) -> np.dtype[Any]:
    """Return the float type of the features.

    This is the given one, or else float32 if that holds every value of X.
    """
    if dtype is None:
        own = getattr(X, "dtype", None)  # a sparse source always reads as float64, so X itself is asked first
        return working_type(own) if isinstance(own, np.dtype) and own.kind in "biuf" else source.dtype
    try:
        kind = np.dtype(dtype)
    except TypeError:
        kind = np.dtype(object)
    if kind not in (np.float32, np.float64):
        raise InputTypeError(f"features are float32 or float64, not {dtype!r}")
    return kind


def _chosen(columns: slice | Sequence[int] | NDArray[np.integer], total: int) -> list[int]:
    """Return the columns as a list of non-negative numbers."""
    if isinstance(columns, slice):
        chosen = list(range(total))[columns]
    else:
        array = np.asarray(columns)
        if array.ndim != 1 or (array.size and array.dtype.kind not in "iu"):
            raise InputTypeError(f"columns must be a slice or whole numbers, not {columns!r}")
        chosen = [int(column) for column in array]
    wrong = [column for column in chosen if not 0 <= column < total]
    if wrong:
        raise ShapeError(f"column {wrong[0]} does not exist: X has {total} columns")
    if not chosen:
        raise ShapeError(f"the block {columns!r} has no columns")
    return chosen


def _check_finite(block: NDArray[np.floating], columns: list[int]) -> None:
    """Refuse NaN and infinity before they spread over the graph."""
    # The extremes show every NaN and infinity, and need no memory of the size of the block.
    if np.isfinite(block.min()) and np.isfinite(block.max()):
        return
    row, column = (int(i) for i in np.argwhere(~np.isfinite(block))[0])
    raise NonFiniteError(
        f"row {row}, column {columns[column]} of X is {block[row, column]}: hops need finite values"
    )


def _shown(block: NDArray[np.floating], width: int) -> NDArray[np.floating]:
    view = block[:, :width]
    view.flags.writeable = False
    return view
