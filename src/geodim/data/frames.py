"""Data frames as a source of columns; columns without numbers are refused, with a way out."""

from __future__ import annotations

from copy import copy
from typing import TYPE_CHECKING, Any

import numpy as np

from geodim.data.shapes import check_shape, column_chunks
from geodim.data.ways_out import kind_of_values, ways_out
from geodim.errors import InputTypeError
from geodim.words import MOST_LISTED, counted, listed

if TYPE_CHECKING:
    from collections.abc import Sequence

    import narwhals as nw
    from numpy.typing import NDArray

SHORT = 2048  # points up to which the object of a column takes more memory than its values
CHUNK_VALUES = 1 << 13  # values of short columns that are read together
CATEGORIES = ("String", "Categorical", "Enum")
DATES = ("Date", "Datetime", "Duration", "Time")


class FrameSource:
    """A pandas, polars or pyarrow frame, column by column through narwhals; names are kept."""

    runs = False
    row_major = False

    def __init__(self, frame: nw.DataFrame[Any]) -> None:
        self.frame = frame
        names: list[str] = [str(name) for name in frame.columns]
        check_shape((len(frame), len(names)))
        dtypes = frame.schema.dtypes()
        refuse_other_columns(frame)
        types = {str(dtype) for dtype in dtypes}
        self.names: list[str] | None = names
        self.n_points, self.n_features = len(frame), len(names)
        self.long_integers: Any = np.isin([str(dtype) for dtype in dtypes], ["Int64", "UInt64"])
        # All at once, about 1 kB each: asking the frame for a single column goes through all others.
        self._series = list(frame.iter_columns())
        self._least: list[Any] | None = None
        small = {"Float32", "Int8", "Int16", "UInt8", "UInt16", "Boolean"}
        self.dtype: np.dtype[np.floating] = np.dtype(np.float32 if types <= small else np.float64)

    def measured_from(self, least: list[Any]) -> FrameSource:
        """Return the same with some columns measured from their least value; None leaves a column as it is.

        See `geodim.data.integers`.
        """
        other = copy(self)
        other._least, other.long_integers = least, False
        return other

    def own_values(self, column: int) -> NDArray[Any]:
        """Return the values of one column in its own type.

        Missing ones become NaN, which the first pass names by row and column.
        """
        series = self._series[column]
        if not series.null_count():
            whole: NDArray[Any] = series.to_numpy()
            return whole
        # Not with a cast by the frame's library: pyarrow refuses to round integers.
        values = np.full(len(series), np.nan)
        values[~series.is_null().to_numpy()] = series.drop_nulls().to_numpy()
        return values

    def _column(self, column: int, rows: NDArray[np.intp] | slice = slice(None)) -> NDArray[np.floating]:
        values = self.own_values(column)[rows]
        least = None if self._least is None else self._least[column]
        if least is not None:
            from geodim.data.integers import from_least  # noqa: PLC0415 - they know each other

            return from_least(values, least)
        return np.asarray(values, self.dtype)

    def read(self, columns: Sequence[int], out: NDArray[np.floating]) -> None:
        """Copy the columns of one block."""
        for at, column in enumerate(columns):
            out[at] = self._column(column)

    def read_runs(self, column: int) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """Return sorted values, each once per point."""
        values = np.sort(self._column(column).astype(np.float64))
        return values, np.ones(values.size, np.int64)

    def chunks(self) -> list[tuple[slice, slice]]:
        """Return chunks of one column each, or of several where they are short."""
        return column_chunks(self, max(1, CHUNK_VALUES // self.n_points))

    def chunk(self, rows: slice, columns: slice) -> NDArray[Any]:  # noqa: ARG002
        """Return some columns."""
        return np.column_stack([self._column(column) for column in range(columns.start, columns.stop)])

    def sample(self, columns: NDArray[np.intp], rows: NDArray[np.intp]) -> NDArray[np.float64]:
        """Return a few rows of a few columns."""
        return np.stack([self._column(int(column), rows).astype(np.float64) for column in columns], axis=1)

    def own_sample(self, columns: NDArray[np.intp], rows: NDArray[np.intp]) -> NDArray[Any]:
        """Return a few rows of a few columns of one type, as they are."""
        return np.stack([self.own_values(int(column))[rows] for column in columns], axis=1)


def is_short_and_wide(frame: nw.DataFrame[Any]) -> bool:
    """Return whether looking at each column of a pandas frame takes longer than copying all of them.

    Then they must be of one type of numpy's.
    """
    native = frame.to_native()
    if not hasattr(native, "iloc") or len(native) > SHORT or native.shape[1] < SHORT:
        return False
    types = set(native.dtypes)
    return len(types) == 1 and isinstance(next(iter(types)), np.dtype) and next(iter(types)).kind in "fiub"


def refuse_other_columns(frame: nw.DataFrame[Any]) -> None:
    """Raise if columns hold no numbers, naming them, their types and numbers of values, and what to do."""
    wrong = [
        (str(name), dtype)
        for name, dtype in zip(frame.columns, frame.schema.dtypes(), strict=True)
        if not (dtype.is_numeric() or str(dtype) == "Boolean") or str(dtype) in ("Int128", "UInt128")
    ]
    if not wrong:
        return
    told = [f"{name!r} ({_type_of(frame, name, dtype)})" for name, dtype in wrong[:MOST_LISTED]]
    ways = ways_out({_kind_of(frame, name, dtype) for name, dtype in wrong})
    others = set(map(str, frame.columns)) - {name for name, _ in wrong}
    missing = {name: int(frame[name].null_count()) for name in frame.columns if str(name) in others}
    gaps = [f"{name!r} {count:,}" for name, count in missing.items() if count]
    besides = f"; values are missing, too: {listed(gaps)} (see geodim.drop_missing)" if gaps else ""
    hold = "holds" if len(wrong) == 1 else "hold"
    raise InputTypeError(
        f"{len(wrong):,} of {counted(len(frame.columns), 'column')} {hold} no numbers: "
        f"{listed(told, of=len(wrong))}; leave out what is not a feature, {ways}{besides}"
    )


def _kind_of(frame: nw.DataFrame[Any], name: str, dtype: nw.dtypes.DType) -> str:
    """Return what a column holds, as `geodim.data.ways_out` names it."""
    if str(dtype).startswith(DATES):
        return "dates"
    return kind_of_values(frame[name].drop_nulls()) if str(dtype) in ("String", "Object") else "categories"


def _type_of(frame: nw.DataFrame[Any], name: str, dtype: nw.dtypes.DType) -> str:
    """Describe the type of a column, with the number of categories and of missing values, if any."""
    series = frame[name]
    words = [str(dtype)]
    if len(series) and str(dtype).startswith(CATEGORIES):  # lists and other objects cannot be compared
        words.append(counted(int(series.drop_nulls().n_unique()), "value"))
    if missing := int(series.null_count()):
        words.append(f"{missing:,} missing")
    return ", ".join(words)
