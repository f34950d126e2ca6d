"""The error for files that do not exist, which suggests what may have been meant."""

from __future__ import annotations

import difflib
import os
from contextlib import suppress
from itertools import islice
from pathlib import Path

from geodim.errors import DataFileError, InputValueError

__all__ = ["is_there", "no_file"]

SHOWN = 200  # characters of a name; a whole text may have been given by mistake
LOOKED_AT = 10_000  # names in the same folder, which may have millions


def is_there(path: str | os.PathLike[str]) -> bool:
    """Return whether anything of this name exists; False for what cannot be a name, such as a long text."""
    try:
        return Path(path).exists()
    except (OSError, ValueError):
        return False


def no_file(path: str | os.PathLike[str], hint: str = "") -> DataFileError:
    """Return the error to raise for a file that does not exist.

    It suggests a file in the same folder with a similar name, or the command for a data set of that name;
    if there is neither, the ``hint``.
    """
    name = os.fspath(path)
    shown = name if len(name) <= SHOWN else f"{name[:SHOWN]}..."
    found = _data_set(name) or _similar(Path(path)) or hint
    return DataFileError(f"there is no file {shown}{': ' * bool(found)}{found}")


def _data_set(name: str) -> str:
    from geodim.data.datasets.registry import get_spec  # noqa: PLC0415 - needed for this error only

    try:
        known = get_spec(name).name
    except InputValueError:
        return ""
    return (
        f"{known} is a graph that geodim knows by name; 'geodim hops {known}' measures it, and in Python "
        f"geodim.load_dataset({known!r}) loads it"
    )


def _similar(file: Path) -> str:
    siblings: list[str] = []
    with suppress(OSError, ValueError):  # no such folder, or no permission to list it
        siblings = [other.name for other in islice(file.parent.iterdir(), LOOKED_AT)]
    near = difflib.get_close_matches(file.name, siblings, 1)
    return f"did you mean {file.parent / near[0]}?" if near else ""
