"""A formal context: which objects have which attributes, checked once, from arrays, frames or files."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from geodim.data.convert import array_of, array_of_tensor, eager_frame, plain_array
from geodim.data.shapes import check_type
from geodim.data.sparse import checked_sparse
from geodim.data.unchanged import Watch
from geodim.errors import InputTypeError, InputValueError, ShapeError
from geodim.memory import check_bytes
from geodim.words import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    import narwhals as nw
    from numpy.typing import NDArray
    from scipy.sparse import csc_array, csr_array

    from geodim.data.sparse import SparseMatrix

__all__ = ["Context", "as_context"]

BLOCK_BYTES = 1 << 26  # bytes of a dense array that are examined at a time
ENTRY_BYTES = 20  # bytes per cross, stored by objects and by attributes
THRESHOLD = "state what counts as having an attribute, for example X > 0"


@dataclass(frozen=True, eq=False)
class Context:
    """Objects and the attributes that they have.

    Attributes
    ----------
    rows : scipy.sparse.csr_array of bool
        Objects by attributes; every entry that is stored is true.
    attribute_names, object_names : tuple of str or None
        Their names, all different; None for numbers.

    Examples
    --------
    >>> context = as_context([[1, 0, 1], [1, 1, 0]], attribute_names=["flies", "swims", "sings"])
    >>> context
    Context(2 objects, 3 attributes, 4 crosses)
    """

    rows: Any
    attribute_names: tuple[str, ...] | None = None
    object_names: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        n_objects, n_attributes = self.rows.shape
        if n_objects == 0 or n_attributes == 0:
            msg = (
                f"a context of {n_objects} objects and {n_attributes} attributes has no concepts that could "
                "tell attributes apart: give at least one of each"
            )
            raise ShapeError(msg)
        _check_names(self.attribute_names, n_attributes, "attribute")
        _check_names(self.object_names, n_objects, "object")

    @property
    def n_objects(self) -> int:
        """How many objects there are."""
        return int(self.rows.shape[0])

    @property
    def n_attributes(self) -> int:
        """How many attributes there are: the points of the geometric data set."""
        return int(self.rows.shape[1])

    @cached_property
    def columns(self) -> csc_array:
        """Return the same context, stored by attributes."""
        return self.rows.tocsc()

    @cached_property
    def lists(self) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """Pointers to the attributes of each object, and these attributes, for compiled code."""
        return self.rows.indptr.astype(np.int64), self.rows.indices.astype(np.int32)

    @cached_property
    def attribute_counts(self) -> NDArray[np.int64]:
        """How many objects have each attribute."""
        return np.bincount(self.rows.indices, minlength=self.n_attributes).astype(np.int64)

    @cached_property
    def object_lengths(self) -> NDArray[np.int64]:
        """How many attributes each object has."""
        lengths: NDArray[np.int64] = np.diff(self.rows.indptr).astype(np.int64)
        return lengths

    def attribute_name(self, number: int) -> str:
        """Return the name of an attribute, or its number."""
        return str(number) if self.attribute_names is None else self.attribute_names[number]

    def __repr__(self) -> str:
        return (
            f"Context({self.n_objects:,} objects, {self.n_attributes:,} attributes, "
            f"{self.rows.nnz:,} crosses)"
        )


def _check_names(names: Sequence[str] | None, count: int, what: str) -> None:
    if names is None:
        return
    if len(names) != count:
        raise ShapeError(f"there are {count:,} {what}s and {len(names):,} names for them")
    seen: dict[str, int] = {}
    for number, name in enumerate(names):
        if not isinstance(name, str):
            raise InputTypeError(f"the name of {what} {number} is {name!r:.80}, which is not text")
        if name in seen:
            raise InputValueError(
                f"the {what}s {seen[name]} and {number} have the same name, {name[:80]!r}: rename one of them"
            )
        seen[name] = number


def from_lists(
    indptr: NDArray[np.int64],
    attributes: NDArray[np.int64],
    n_attributes: int,
    attribute_names: tuple[str, ...] | None = None,
    object_names: tuple[str, ...] | None = None,
) -> Context:
    """Make a context from the attributes of each object in turn, each at most once per object."""
    from scipy.sparse import csr_array  # noqa: PLC0415 - takes time to import

    shape = (indptr.size - 1, n_attributes)
    rows = csr_array((np.ones(attributes.size, bool), attributes, indptr), shape=shape)
    rows.sort_indices()
    return Context(rows, attribute_names, object_names)


def as_context(data: object, *, attribute_names: Sequence[str] | None = None) -> Context:
    """Turn binary data into a context.

    Parameters
    ----------
    data : array-like, sparse matrix, frame, path or Context
        Objects in rows, attributes in columns: booleans, or numbers that are all 0 or 1.  A path ends in
        ``.dat`` (FIMI) or ``.cxt`` (Burmeister), also with ``.gz``.
    attribute_names : sequence of str, optional
        Names of the attributes, where the data has none.

    Raises
    ------
    InputValueError
        A value is neither 0 nor 1, or two attributes have the same name; the message says where.
    DataFileError
        The file is missing, damaged or of an unknown kind; the message names the line.
    """
    if isinstance(data, str | os.PathLike):
        from geodim.concepts.files import read_context  # noqa: PLC0415 - builds on this module

        data = read_context(data)
    if isinstance(data, Context):
        return data if attribute_names is None else Context(data.rows, tuple(attribute_names))
    names = None if attribute_names is None else tuple(attribute_names)
    module = type(data).__module__.partition(".")[0]
    if module == "scipy" and hasattr(data, "tocsr"):
        return Context(_from_sparse(data), names)
    if module in ("pandas", "polars", "pyarrow"):
        frame = eager_frame(data)
        return Context(_from_frame(frame), tuple(map(str, frame.columns)) if names is None else names)
    if module == "torch":
        data = array_of_tensor(data)
    array = plain_array(array_of(data))
    with Watch.of(array):
        return Context(_from_array(array), names)


def _from_array(array: NDArray[Any]) -> object:
    """Make a context from a dense array, a block of rows at a time."""
    from scipy.sparse import csr_array, vstack  # noqa: PLC0415 - takes time to import

    if array.ndim != 2:
        raise ShapeError(f"expected a table of objects by attributes (2 axes), got shape {array.shape}")
    check_type(array.dtype)
    step = max(1, BLOCK_BYTES // max(1, array.shape[1] * array.itemsize))
    blocks, entries = [], 0
    for start in range(0, array.shape[0], step):
        block = array[start : start + step]
        truth = _truth(block, start)
        entries += int(np.count_nonzero(truth))
        check_bytes(ENTRY_BYTES * entries, "the context", "take fewer objects or attributes")
        blocks.append(csr_array(truth))
    return vstack(blocks, format="csr") if blocks else csr_array(array.shape, dtype=bool)


def _truth(values: NDArray[Any], first_row: int) -> NDArray[np.bool_]:
    """Return which values are 1; raise if some are neither 0 nor 1."""
    if values.dtype == bool:
        return values
    truth: NDArray[np.bool_] = values == 1
    wrong = ~(truth | (values == 0))
    if np.any(wrong):
        row, column = np.argwhere(wrong)[0].tolist()
        raise _neither(values[row, column], first_row + row, column)
    return truth


def _neither(value: object, row: int, column: int) -> InputValueError:
    return InputValueError(
        f"the value at row {row}, column {column} is {value}, neither 0 nor 1: {THRESHOLD}"
    )


def _from_sparse(matrix: SparseMatrix) -> csr_array:
    from scipy.sparse import csr_array  # noqa: PLC0415 - takes time to import

    check_type(matrix.dtype)
    with Watch.of(matrix):
        rows = csr_array(checked_sparse(matrix)).copy()
    rows.sum_duplicates()
    if rows.dtype != bool:
        wrong = ~((rows.data == 0) | (rows.data == 1))
        for at in np.flatnonzero(wrong)[:1].tolist():
            row = int(np.searchsorted(rows.indptr, at, side="right")) - 1
            raise _neither(rows.data[at], row, int(rows.indices[at]))
        rows = rows.astype(bool)
    rows.eliminate_zeros()
    rows.sort_indices()
    return rows


def _from_frame(frame: nw.DataFrame[Any]) -> csr_array:
    """Make a context from columns of booleans, or of 0 and 1."""
    from scipy.sparse import csc_array  # noqa: PLC0415 - takes time to import

    n_objects = len(frame)
    parts: list[NDArray[np.int64]] = []
    for number, column in enumerate(frame.iter_columns()):
        name = column.name
        if missing := int(column.null_count()):
            raise InputValueError(
                f"column {name!r} has {counted(missing, 'missing value')}: fill them in, or drop those "
                "objects, geodim.drop_missing(X) (--drop-missing)"
            )
        values = column.to_numpy()
        try:
            check_type(values.dtype, f"column {name!r}")
            truth = _truth(values.reshape(-1, 1), 0)
        except InputValueError as error:
            raise InputValueError(str(error).replace("column 0", f"column {name!r} ({number})")) from error
        parts.append(np.flatnonzero(truth))
    indptr = np.concatenate([[0], np.cumsum([part.size for part in parts])]).astype(np.int64)
    entries = np.concatenate(parts) if parts else np.empty(0, np.int64)
    shape = (n_objects, len(parts))
    rows = csc_array((np.ones(entries.size, bool), entries, indptr), shape=shape).tocsr()
    rows.sort_indices()
    return rows
