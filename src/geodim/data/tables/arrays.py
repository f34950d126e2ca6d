"""Arrays in .npy and .npz files: memory-mapped where the format allows it, never unpickled."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any
from zipfile import ZipFile

import numpy as np

from geodim.data.boundary import boundary
from geodim.data.shapes import check_shape, check_type
from geodim.data.sparse import checked_sparse
from geodim.data.tables.columns import Table
from geodim.data.unchanged import Watch, remember
from geodim.errors import DataFileError, InputTypeError, InputValueError, ShapeError
from geodim.memory import check_bytes
from geodim.waiting import Counted

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from numpy.typing import NDArray

    from geodim.data.sparse import SparseMatrix
    from geodim.data.tables.columns import Choose

NAME_BYTES = 64  # bytes of the name of a column
HEADERS = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
SPARSE = {"format", "shape", "data"}  # members of what scipy.sparse.save_npz writes
POSITIONS = {"indices", "indptr", "row", "col", "coords", "offsets", "shape"}


def open_npy(file: Path) -> np.memmap[Any, Any]:
    """Map an .npy file into memory, for reading."""
    watch = Watch.of(file)
    with boundary(file, ".npy file"):
        try:
            with watch:
                array = np.lib.format.open_memmap(file, mode="r")
        except ValueError as error:
            if "Python objects" in str(error):
                raise _refuse_objects(file) from error
            raise
        remember(array, watch)
        return array


def open_npz(file: Path, key: str) -> NDArray[Any] | SparseMatrix:
    """Load one array, or a matrix written by `scipy.sparse.save_npz`."""
    with boundary(file, ".npz file"), Counted(file) as counted, ZipFile(counted) as archive:
        keys = [name.removesuffix(".npy") for name in archive.namelist()]
        if not key and set(keys) >= SPARSE:
            return _open_sparse(file, archive, keys)
        if (not key and len(keys) != 1) or (key and key not in keys):
            problem = f"no array {key!r}" if key else f"{len(keys)} arrays"
            few = ", ".join(keys[:20]) + (", ..." if len(keys) > 20 else "")
            msg = f"{file} holds {problem}: name one of {few}, as in {file}:{(keys or ['key'])[0]}"
            raise DataFileError(msg)
        wanted = key or keys[0]
        _check_members(file, archive, [wanted])
        with archive.open(f"{wanted}.npy") as stream:
            return np.lib.format.read_array(stream, allow_pickle=False)


def _open_sparse(file: Path, archive: ZipFile, keys: list[str]) -> SparseMatrix:
    """Return a matrix that compiled code can take: positions are integers, and none is out of range."""
    import scipy.sparse  # noqa: PLC0415

    kinds = _check_members(file, archive, keys)
    for name in POSITIONS & set(keys):
        if kinds[name].kind not in "iu":
            msg = f"{file}: {name} of the sparse matrix has type {kinds[name]}, not integers"
            raise DataFileError(msg)
    try:
        check_type(kinds["data"])
        return checked_sparse(scipy.sparse.load_npz(file))
    except InputTypeError as error:
        raise InputTypeError(f"{file}: {error}") from error
    except InputValueError as error:
        raise DataFileError(f"{file}: {error}") from error


def _check_members(file: Path, archive: ZipFile, names: Iterable[str]) -> dict[str, np.dtype[Any]]:
    """Return the types of some arrays as their headers declare them.

    Raises if their sizes differ from the declared ones, or are too large.
    """
    kinds = {}
    need = 0
    for name in names:
        with archive.open(f"{name}.npy") as stream:
            version = np.lib.format.read_magic(stream)
            if version not in HEADERS:
                msg = (
                    f"{file}: array {name!r} is in version {version} of the format, which is for "
                    "named fields: save plain numbers"
                )
                raise DataFileError(msg)
            shape, _, kinds[name] = HEADERS[version](stream)
            if kinds[name].hasobject:
                raise _refuse_objects(file)
            size = math.prod(shape) * kinds[name].itemsize
            there = archive.getinfo(f"{name}.npy").file_size - stream.tell()
        if size != there or min(shape, default=0) < 0:
            msg = (
                f"{file} is not a complete .npz file (array {name!r} says it has {size:,} "
                f"bytes, and there are {there:,})"
            )
            raise DataFileError(msg)
        need += size
    check_bytes(need, str(file), "save the array as .npy, which is read from disk as needed")
    return kinds


def from_array(array: NDArray[Any] | SparseMatrix, choose: Choose, where: str) -> Table:
    """Check the array and take the chosen columns, as a view where they are evenly spaced."""
    check_table(array.shape, array.dtype, where)
    names = [str(number) for number in range(array.shape[1])]
    chosen = choose(names)
    if len(chosen) == len(names):
        return Table(array, names)
    steps = set(np.diff(chosen).tolist())
    if not isinstance(array, np.ndarray):
        part = array.tocsc()[:, chosen]
    elif len(steps) <= 1:  # a view: nothing of a memory map is copied
        part = array[:, chosen[0] : chosen[-1] + 1 : steps.pop() if steps else 1]
    else:
        part = array[:, chosen]
    return Table(part, [names[number] for number in chosen])


def check_table(shape: tuple[int, ...], dtype: np.dtype[Any], where: str) -> None:
    """Raise unless this is a table of numbers, with few enough columns to name them all."""
    try:
        check_shape(shape)
        check_type(dtype)
    except (ShapeError, InputTypeError) as error:
        msg = f"{where}: {error}"
        raise type(error)(msg) from error
    check_bytes(
        NAME_BYTES * shape[1], f"{where}: to name {shape[1]:,} columns", "are rows and columns swapped?"
    )


def _refuse_objects(file: str | Path) -> DataFileError:
    return DataFileError(
        f"{file} holds Python objects, which may run any code when loaded: save numbers instead, "
        "np.save(path, array.astype(float))"
    )
