"""Files that are chunked on disk: zarr arrays, and Parquet and zarr as Dask reads them, each worker its own part."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from geodim.data.sources import check_shape, check_type
from geodim.data.tables.arrays import from_array
from geodim.data.tables.columns import Table, choose_columns
from geodim.data.tables.frames import column_names
from geodim.errors import DataFileError
from geodim.optional import require

if TYPE_CHECKING:
    from collections.abc import Sequence

    from geodim.data.tables.columns import Choose, Columns


def read_zarr(folder: Path, choose: Choose) -> Table:
    """Read a zarr array into memory."""
    return from_array(_opened(folder)[...], choose, str(folder))


def open_lazily(
    path: str | Path, columns: Columns | None = None, *, exclude: Columns | None = None
) -> Table | None:
    """The file for a cluster whose workers see the same path; None if it is of a kind that is read whole."""
    file = Path(path)
    if file.suffix not in (".parquet", ".zarr") or not file.exists():
        return None

    def choose(names: Sequence[str]) -> list[int]:
        return choose_columns(names, columns, exclude, where=str(file))

    if file.suffix == ".zarr":
        array = require("dask.array", "dask", "computing on a cluster").from_zarr(_opened(file))
        check_shape(array.shape)
        check_type(array.dtype)
        names = [str(number) for number in range(array.shape[1])]
        chosen = choose(names)
        return Table(array if len(chosen) == len(names) else array[:, chosen], [names[at] for at in chosen])
    names = column_names(file)
    kept = [names[at] for at in choose(names)]
    return Table(require("dask.dataframe", "dask", "computing on a cluster").read_parquet(file)[kept], kept)


def _opened(folder: Path) -> Any:
    zarr = require("zarr", "zarr", "reading zarr arrays")
    try:
        return zarr.open_array(folder, mode="r")
    except Exception as error:
        msg = f"{folder} holds no zarr array ({error}): name the folder of one array, not of a group of them"
        raise DataFileError(msg) from error
