"""Files that are chunked on disk: zarr arrays, and Parquet and zarr as Dask's workers read them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from geodim.data.boundary import boundary, check_regular
from geodim.data.tables.arrays import check_table
from geodim.data.tables.columns import Table, choose_columns
from geodim.data.tables.frames import column_names
from geodim.data.tables.zarr_metadata import check_metadata
from geodim.memory import check_bytes
from geodim.optional import require
from geodim.waiting import report

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray
    from zarr import Array

    from geodim.data.tables.columns import Choose, Columns


CHUNKS_AT_A_TIME = 4096


def read_zarr(folder: Path, choose: Choose) -> Table:
    """Read the chosen columns of a zarr array into memory."""
    array = open_zarr(folder)
    with boundary(folder, "zarr array"):
        names = [str(number) for number in range(array.shape[1])]
        chosen = choose(names)
        # Missing chunks count as well: they are filled.
        need = array.shape[0] * len(chosen) * array.dtype.itemsize
        check_bytes(need, str(folder), "choose fewer columns, or read it in parts on a cluster (--scheduler)")
        return Table(_values(array, chosen), [names[at] for at in chosen])


def _values(array: Array[Any], columns: list[int]) -> NDArray[Any]:
    """Read some columns, a few thousand chunks at a time.

    Zarr reads all chunks of a request at once, and goes on after a failure.
    """
    high, wide = array.shards or array.chunks
    n_points, n_features = array.shape
    step = high * max(1, CHUNKS_AT_A_TIME // -(-n_features // wide))
    values = np.empty((n_points, len(columns)), array.dtype)
    for row in range(0, n_points, step):
        some = slice(row, min(row + step, n_points))
        values[some] = array[some] if len(columns) == n_features else array.oindex[some, np.array(columns)]
        report("reading the zarr array", some.stop, n_points)
    return values


def open_zarr(folder: Path) -> Array[Any]:
    """Return a table of numbers whose metadata names nothing that runs code; nothing of it is read yet.

    It is opened in the folder itself: zarr would mistake some names for addresses or archives.
    """
    with boundary(folder, "zarr array"):
        check_metadata(folder)
        zarr = require("zarr", "zarr", "reading zarr arrays")
        store = require("zarr.storage", "zarr", "reading zarr arrays").LocalStore(folder, read_only=True)
        array: Array[Any] = zarr.open_array(store=store, mode="r")
        check_table(array.shape, array.dtype, str(folder))
        return array


def open_lazily(
    path: str | Path, columns: Columns | None = None, *, exclude: Columns | None = None
) -> Table | None:
    """Return the file for workers that see the same path; None for kinds of files that are read whole."""
    file = Path(path)
    if file.suffix not in (".parquet", ".zarr") or not file.exists():
        return None

    def choose(names: Sequence[str]) -> list[int]:
        return choose_columns(names, columns, exclude, where=str(file))

    with boundary(file):
        if file.suffix == ".zarr":
            array = require("dask.array", "dask", "computing on a cluster").from_zarr(open_zarr(file))
            names = [str(number) for number in range(array.shape[1])]
            chosen = choose(names)
            part = array if len(chosen) == len(names) else array[:, chosen]
            return Table(part, [names[at] for at in chosen])
        if not file.is_dir():
            check_regular(file)
        names = column_names(file)
        kept = [names[at] for at in choose(names)]
        return Table(
            require("dask.dataframe", "dask", "computing on a cluster").read_parquet(file)[kept], kept
        )
