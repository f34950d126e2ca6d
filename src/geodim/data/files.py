"""Files in and out: written whole or not at all, read with errors that name the file."""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path
from typing import Any

from geodim.errors import DataFileError


def write_text(path: str | Path, text: str) -> None:
    """Write through a temporary file in the same folder, so that no half-written file is ever seen."""
    target = Path(path)
    try:
        handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    except OSError as error:
        msg = f"cannot write {target}: {error.strerror or error}; does the folder exist and is it writable?"
        raise DataFileError(msg) from error
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as stream:
            stream.write(text)
        mask = os.umask(0)
        os.umask(mask)
        Path(temporary).chmod(0o666 & ~mask)  # mkstemp makes private files; ours are ordinary ones
        Path(temporary).replace(target)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def read_json(source: str | Path) -> Any:
    """Parse JSON text, or a JSON file if ``source`` is a path."""
    text, where = source, "the text"
    if isinstance(source, Path) or not source.lstrip().startswith(("{", "[")):
        where = str(source)
        try:
            text = Path(source).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            msg = f"cannot read {source}: {error}"
            raise DataFileError(msg) from error
    try:
        return json.loads(str(text))
    except json.JSONDecodeError as error:
        msg = f"{where} is not valid JSON: {error}"
        raise DataFileError(msg) from error
