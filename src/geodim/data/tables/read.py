"""`read_table`: from the name of a file to data, whatever the kind of file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from geodim.data.boundary import boundary, check_regular
from geodim.data.missing import without_missing
from geodim.data.tables.arrays import from_array, open_npy, open_npz
from geodim.data.tables.columns import Table, choose_columns
from geodim.data.tables.frames import read_csv, read_parquet
from geodim.data.tables.lazy import read_zarr
from geodim.data.unchanged import Watch
from geodim.errors import DataFileError, ShapeError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from geodim.data.tables.columns import Columns, TableData

SUFFIXES = (".npy", ".npz", ".csv", ".csv.gz", ".tsv", ".tsv.gz", ".parquet", ".zarr")
SPREADSHEETS = (".xlsx", ".xls", ".ods")


def read_table(
    path: str | Path,
    columns: Columns | None = None,
    *,
    exclude: Columns | None = None,
    header: bool | None = None,
    drop_missing: bool = False,
) -> TableData:
    r"""Read a file into something `geodim.intrinsic_dimension` accepts.

    Parameters
    ----------
    path : str or Path
        ``.npy`` (memory-mapped), ``.npz`` (one array, or a matrix from `scipy.sparse.save_npz`; where
        there are several arrays, name one: ``data.npz:key``), ``.csv``, ``.tsv`` (also ``.gz``),
        ``.parquet`` or a ``.zarr`` folder.
    columns : str, int or sequence of these, optional
        Which columns to keep, always in the order of the file: names, numbers from 0, or in a string several
        of these and ranges with both ends included, such as ``"0-9,12,40-"``.  A name wins over a number.
    exclude : str, int or sequence of these, optional
        Which columns to leave out, in the same form.
    header : bool, optional
        Whether the first line of a CSV file holds names.  By default it does unless it holds only numbers; if
        these just count 0, 1, 2, ..., you have to say.
    drop_missing : bool, default False
        Leave out points with a missing value, see `geodim.drop_missing`.

    Returns
    -------
    memory map, array, scipy.sparse matrix or pyarrow.Table

    Raises
    ------
    DataFileError
        The file is missing, damaged, of an unknown kind, or holds Python objects; or its first line
        may be names or a point.
    InputValueError
        There is no such column.
    InputTypeError
        A column holds something other than numbers.
    MissingExtraError
        CSV and Parquet files need the extra ``frames``, zarr arrays the extra ``zarr``.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> import geodim
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "points.csv")
    ...     _ = path.write_text("x,y,label\n0,0,a\n1,0,b\n0,1,a\n")
    ...     geodim.intrinsic_dimension(geodim.read_table(path, exclude="label")).dimension
    9.0
    """
    return open_table(path, columns, exclude=exclude, header=header, drop_missing=drop_missing).data


def open_table(
    path: str | Path,
    columns: Columns | None = None,
    *,
    exclude: Columns | None = None,
    header: bool | None = None,
    drop_missing: bool = False,
) -> Table:
    """Do the same as `read_table`, and keep the names of the columns.

    Columns without a name are named by their number.
    """
    if drop_missing:
        return _without_missing(open_table(path, columns, exclude=exclude, header=header), path)
    where, _, key = str(path).partition(".npz:")
    file = Path(where + ".npz") if key else Path(path)
    suffix = next(
        (end for end in sorted(SUFFIXES, key=len, reverse=True) if file.name.lower().endswith(end)), None
    )
    _check_file(file, may_be_folder=suffix == ".zarr")
    if suffix is None:
        sheet = "; save the sheet as .csv" if file.suffix.lower() in SPREADSHEETS else ""
        msg = f"{file}: what kind of file is this? Known endings are {', '.join(SUFFIXES)}{sheet}"
        raise DataFileError(msg)

    def choose(names: Sequence[str]) -> list[int]:
        return choose_columns(names, columns, exclude, where=str(file))

    with boundary(file), Watch.of(file):
        if suffix == ".npy":
            return from_array(open_npy(file), choose, str(file))
        if suffix == ".npz":
            return from_array(open_npz(file, key), choose, str(path))
        if suffix == ".zarr":
            return read_zarr(file, choose)
        if suffix == ".parquet":
            return read_parquet(file, choose)
        return read_csv(file, suffix, choose, header)


def _without_missing(table: Table, path: str | Path) -> Table:
    try:
        data, note = without_missing(table.data, table.names)
    except ShapeError as error:
        raise ShapeError(f"{path}: {error}") from error
    notes = [table.note] * bool(table.note) + [f"{path}: {note}"] * bool(note)
    return Table(data, table.names, "; ".join(notes))


def _check_file(file: Path, *, may_be_folder: bool) -> None:
    check_regular(file)
    if file.is_dir() and not may_be_folder:
        msg = f"{file} is a folder: name a file in it"
        raise DataFileError(msg)
