"""Arrays in .npy and .npz files: memory-mapped where the format allows it, never unpickled."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from zipfile import BadZipFile
from zlib import error as DamagedError

import numpy as np

from geodim.data.sources import check_shape, check_type
from geodim.data.tables.columns import Table
from geodim.data.unchanged import Watch, remember
from geodim.errors import DataFileError, InputTypeError, ShapeError

if TYPE_CHECKING:
    from pathlib import Path

    from geodim.data.tables.columns import Choose


def open_npy(file: Path) -> Any:
    """Map an .npy file into memory, for reading."""
    watch = Watch.of(file)
    try:
        with watch:
            array = np.lib.format.open_memmap(file, mode="r")
        remember(array, watch)
        return array
    except ValueError as error:
        if "Python objects" in str(error):
            raise _refuse_objects(file) from error
        msg = f"{file} is no complete .npy file ({error}): was it cut off while being written or copied?"
        raise DataFileError(msg) from error


def open_npz(file: Path, key: str) -> Any:
    """Load one array, or a matrix written by `scipy.sparse.save_npz`."""
    try:
        with file.open("rb") as stream, np.lib.npyio.NpzFile(stream, allow_pickle=False) as archive:
            keys = list(archive.files)
            if not key and {"format", "shape", "data"} <= set(keys):
                import scipy.sparse  # noqa: PLC0415

                return scipy.sparse.load_npz(file)
            if (not key and len(keys) != 1) or (key and key not in keys):
                problem = f"no array {key!r}" if key else f"{len(keys)} arrays"
                msg = f"{file} holds {problem}: name one of {', '.join(keys)}, as in {file}:{(keys or ['key'])[0]}"
                raise DataFileError(msg)
            return archive[key or keys[0]]
    except (ValueError, EOFError, KeyError, BadZipFile, DamagedError) as error:
        if "Object arrays" in str(error):
            raise _refuse_objects(file) from error
        msg = f"{file} is no complete .npz file ({error}): was it cut off while being written or copied?"
        raise DataFileError(msg) from error


def from_array(array: Any, choose: Choose, where: str) -> Table:
    """Check the array and take the chosen columns, as a view where they are evenly spaced."""
    try:
        check_shape(array.shape)
        check_type(array.dtype)
    except (ShapeError, InputTypeError) as error:
        msg = f"{where}: {error}"
        raise type(error)(msg) from error
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


def _refuse_objects(file: str | Path) -> DataFileError:
    return DataFileError(
        f"{file} holds Python objects, which may run any code when loaded: save numbers instead, "
        "np.save(path, array.astype(float))"
    )
