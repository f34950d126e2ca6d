"""Unpack a downloaded zip archive, and nothing outside the folder it belongs in."""

from __future__ import annotations

import shutil
import stat
import zipfile
from pathlib import Path, PurePosixPath

from geodim.data.boundary import boundary
from geodim.errors import DataFileError
from geodim.output import make_folder, writing

__all__ = ["extract"]

# The files of data sets are compressed themselves, so that their archives hardly grow.
MOST_GROWTH, SMALLEST_LIMIT = 20, 1 << 30


def extract(archive: Path, folder: Path, strip: str) -> list[Path]:
    """Extract ``archive`` into ``folder``, without its top folder ``strip``.

    Every name is checked before the first file is written: no absolute paths, no ``..``, no drive letters, no
    links. Each file is written under a temporary name and renamed, after the zip module has compared its CRC.

    Parameters
    ----------
    archive
        The zip file.
    folder
        Where its content goes; files of the same name are replaced.
    strip
        The archive's top folder, removed from the names; names outside it are ignored.
        Empty: keep names as they are.

    Returns
    -------
    list of pathlib.Path
        The files written.
    """
    with boundary(archive, "zip archive"):
        with zipfile.ZipFile(archive) as content:
            plan = [
                (member, folder / target)
                for member in content.infolist()
                if not member.is_dir() and (target := _target(archive, member, strip)) is not None
            ]
            if not plan:
                raise DataFileError(f"{archive}: has no files under {strip!r}")
            limit = max(MOST_GROWTH * archive.stat().st_size, SMALLEST_LIMIT)
            size = sum(member.file_size for member, _ in plan)
            if size > limit:
                raise DataFileError(
                    f"{archive}: refused, because it unpacks to {size:,} bytes, more than {limit:,}"
                )
            for member, path in plan:
                _extract_file(content, member, path)
        return [path for _, path in plan]


def _target(archive: Path, member: zipfile.ZipInfo, strip: str) -> PurePosixPath | None:
    """Return the relative path a member may be written to; None for one outside ``strip``."""
    name = member.filename
    path = PurePosixPath(name)
    unsafe = (
        not path.parts
        or path.is_absolute()
        or ".." in path.parts
        or "\\" in name
        or ":" in path.parts[0]
        or "\0" in name
        or stat.S_ISLNK(member.external_attr >> 16)
    )
    if unsafe:
        raise DataFileError(
            f"{archive}: refused, because the member {name!r} would be written outside its folder"
        )
    if not strip:
        return path
    if path.parts[0] != strip or len(path.parts) == 1:
        return None
    return path.relative_to(strip)


def _extract_file(content: zipfile.ZipFile, member: zipfile.ZipInfo, path: Path) -> None:
    make_folder(path.parent)
    with content.open(member) as source, writing(path) as target:
        shutil.copyfileobj(source, target, 1 << 20)
