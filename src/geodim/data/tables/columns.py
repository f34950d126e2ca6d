"""The choice of columns of a file by names, numbers and ranges."""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from geodim.errors import InputValueError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    import dask.array
    import dask.dataframe
    import pyarrow as pa
    from numpy.typing import NDArray

    from geodim.data.sparse import SparseMatrix

    TableData: TypeAlias = (
        NDArray[Any] | SparseMatrix | pa.Table | dask.array.Array | dask.dataframe.DataFrame
    )
    Columns = str | int | Sequence[str | int]
    Choose = Callable[[Sequence[str]], list[int]]


@dataclass(frozen=True)
class Table:
    """Data read from a file, and what its columns are called there."""

    data: TableData
    names: list[str]
    note: str = ""  # what was decided while reading, where it was in doubt


def choose_columns(
    names: Sequence[str], columns: Columns | None, exclude: Columns | None = None, *, where: str = "the data"
) -> list[int]:
    """Return numbers of the chosen columns, ascending, each once."""
    chosen = range(len(names)) if columns is None else sorted(set(_numbers(names, columns, where)))
    left_out = set() if exclude is None else set(_numbers(names, exclude, where))
    kept = [number for number in chosen if number not in left_out]
    if not kept:
        msg = f"{where}: no column is left of {len(names)}; choose at least one"
        raise InputValueError(msg)
    return kept


def _numbers(names: Sequence[str], columns: Columns, where: str) -> Iterator[int]:
    if isinstance(columns, str):
        words: Iterable[str | int] = [columns] if columns in names else columns.split(",")
    else:
        words = [columns] if isinstance(columns, int) else columns
    for word in words:
        name = str(word).strip() if isinstance(columns, str) else str(word)
        span = re.fullmatch(r"(\d+)(?:(-)(\d*))?", name)
        if name in names and not isinstance(word, int):
            yield names.index(name)
        elif span is None:
            near = difflib.get_close_matches(name, names, 3, 0.5)
            few = ", ".join(repr(known) for known in near or names[:5]) + (
                "" if near or len(names) <= 5 else ", ..."
            )
            hint = (
                f"did you mean {few}?" if near else f"its {len(names)} columns are {few}, or numbers from 0"
            )
            msg = f"{where} has no column {name!r}: {hint}"
            raise InputValueError(msg)
        else:
            first = int(span[1])
            last = first if not span[2] else int(span[3]) if span[3] else len(names) - 1
            if first > last or last >= len(names):
                msg = f"{where} has no column {name}: they are numbered 0 to {len(names) - 1}"
                raise InputValueError(msg)
            yield from range(first, last + 1)
