"""Download the files of a data set into the folder where its reader expects them.

Checksums are the known ones, or are recorded in ``geodim-checksums.json`` beside the data sets at the first
download that turned out to hold what it should, and enforced afterwards. There are no prompts; offline, the
error names the folder and the files to place there.
"""

from __future__ import annotations

import contextlib
import json
import logging
import sys
from typing import TYPE_CHECKING, Any

from geodim.data.datasets.archive import extract
from geodim.data.datasets.errors import ChecksumError, DatasetNotFoundError
from geodim.data.datasets.mag import find_embedding, has_embedding
from geodim.data.datasets.registry import MAG_EMBEDDING, DatasetSpec, Remote, get_spec
from geodim.data.datasets.roots import is_offline, resolve_root
from geodim.errors import DataFileError
from geodim.locks import FolderLock
from geodim.optional import require
from geodim.output import make_folder, write_text

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator
    from pathlib import Path
    from types import ModuleType

__all__ = ["fetch", "missing_files", "not_found"]

LEDGER = "geodim-checksums.json"
SMALLEST_LIMIT = 64 << 20  # bytes of a download


def missing_files(spec: DatasetSpec, folder: Path) -> list[str]:
    """Return the required files, relative to the data set's folder, that are not there."""
    return [name for name in spec.required if not (folder / name).is_file()]


def not_found(spec: DatasetSpec, folder: Path, reason: str) -> DatasetNotFoundError:
    """Return an error that names the folder, the files that belong there, and where to get them."""
    missing = missing_files(spec, folder)
    shown = ", ".join(missing[:8]) + (f" and {len(missing) - 8} more" if len(missing) > 8 else "")
    urls = sorted(
        {remote.url.rpartition("/")[0] if remote.strip is None else remote.url for remote in spec.remotes}
    )
    return DatasetNotFoundError(
        f"{spec.name} was not found and {reason}. Place its files in {folder} (missing: {shown}); "
        f"they come from {' and '.join(urls)}. Another place can be given as root= or in GEODIM_DATA"
    )


def fetch(
    name: str,
    root: str | os.PathLike[str] | None = None,
    *,
    offline: bool = False,
    progress: bool | None = None,
    mirror: str | None = None,
    keep_archive: bool = False,
) -> Path:
    """Download the missing files of a data set.

    Parameters
    ----------
    name
        A registered name.
    root
        The folder that holds one folder per data set; see ``load_dataset``.
    offline
        Do not download; raise if files are missing. ``GEODIM_OFFLINE=1`` does the same.
    progress
        Show a progress bar; by default when standard error is a terminal.
    mirror
        An address to use in place of the official ones; the file's name is appended to it.
    keep_archive
        Keep a downloaded archive after it has been unpacked.

    Returns
    -------
    pathlib.Path
        The data set's folder. Embedded data sets have none, and the root is returned.

    Raises
    ------
    DatasetNotFoundError
        Offline, with files missing.
    ChecksumError
        The server's file is not the known one, or not the one first downloaded.
    MissingExtraError
        pooch is not installed.
    """
    spec = get_spec(name)
    base = resolve_root(root)
    folder = base / spec.folder
    wanted = [remote for remote in spec.remotes if not _is_there(remote, folder)]
    if not wanted:
        return folder
    if is_offline(offline):
        if not missing_files(spec, folder):
            # Only the vectors of ogbn-mag can be missing beyond the required files.
            find_embedding(folder)
        raise not_found(spec, folder, "downloads are off (offline=True or GEODIM_OFFLINE)")
    show = sys.stderr.isatty() if progress is None else progress
    for remote in wanted:
        _fetch_one(remote, base, folder, mirror, show, keep_archive, most_bytes(spec))
    missing = missing_files(spec, folder)
    if missing:
        raise DataFileError(f"{spec.name}: the download does not contain {', '.join(missing)}")
    return folder


def _is_there(remote: Remote, folder: Path) -> bool:
    # Vectors for ogbn-mag may also be in a file of the user's own.
    if remote.provides == (MAG_EMBEDDING,):
        return has_embedding(folder)
    return all((folder / file).is_file() for file in remote.provides)


def most_bytes(spec: DatasetSpec) -> int:
    """Return the most bytes that one download of a data set may have: its size is known roughly."""
    return max(2 * spec.download_bytes, SMALLEST_LIMIT)


def _fetch_one(
    remote: Remote,
    base: Path,
    folder: Path,
    mirror: str | None,
    progress: bool,
    keep_archive: bool,
    limit: int,
) -> None:
    pooch = require("pooch", "data", f"downloading {remote.url} to {folder}")
    from geodim.data.datasets.download import ResumingDownloader  # noqa: PLC0415 - only when downloading

    url = f"{mirror.rstrip('/')}/{remote.filename}" if mirror else remote.url
    place = folder / remote.into if remote.strip is None else base
    known = remote.sha256 or _recorded(base, remote.filename)
    make_folder(place)
    path = place / remote.filename
    downloader = ResumingDownloader(place / f"{remote.filename}.part", limit=limit, progress=progress)
    lock = FolderLock(place, f"download of {remote.filename} to", f".{remote.filename}.lock")
    with lock, _quiet(pooch):
        try:
            pooch.retrieve(
                url, known and f"sha256:{known}", fname=path.name, path=place, downloader=downloader
            )
        except ValueError as error:
            # pooch has removed the file already.
            raise ChecksumError(
                f"{url} does not have the expected checksum {known}: "
                + "the file was changed at its source or on the way, and was not kept"
                + ("" if remote.sha256 else f"; if the record in {base / LEDGER} is wrong, delete it there")
            ) from error
        found = {"url": url, "sha256": pooch.file_hash(path), "size": path.stat().st_size}
        _unpack(remote, path, folder)
        if known is None:
            _record(base, remote.filename, found)
        if remote.strip is not None and not keep_archive:
            path.unlink()


def _unpack(remote: Remote, path: Path, folder: Path) -> None:
    """Put an archive's files into their places.

    An archive that does not hold them is not kept, nor ever recorded.
    """
    try:
        if remote.strip is not None:
            extract(path, folder / remote.into, remote.strip)
        absent = [name for name in remote.provides if not (folder / name).is_file()]
        if absent:
            raise DataFileError(f"{path}: the download does not contain {', '.join(absent)}")
    except DataFileError as error:
        if not isinstance(error.__cause__, OSError):  # kept if only space or permission is lacking
            path.unlink(missing_ok=True)
        raise


@contextlib.contextmanager
def _quiet(pooch: ModuleType) -> Iterator[None]:
    """Keep pooch from printing to standard error what our own messages say."""
    logger = pooch.get_logger()
    level = logger.level
    logger.setLevel(logging.WARNING)
    try:
        yield
    finally:
        logger.setLevel(level)


def _ledger(base: Path) -> dict[str, Any]:
    path = base / LEDGER
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (ValueError, RecursionError) as error:
        raise DataFileError(
            f"{path}: the record of checksums is damaged ({error}); repair or delete it"
        ) from error
    if not isinstance(content, dict):
        raise DataFileError(f"{path}: the record of checksums is not a JSON object; repair or delete it")
    return content


def _recorded(base: Path, filename: str) -> str | None:
    entry = _ledger(base).get(filename)
    return str(entry["sha256"]) if isinstance(entry, dict) and "sha256" in entry else None


def _record(base: Path, filename: str, entry: dict[str, Any]) -> None:
    write_text(base / LEDGER, json.dumps(_ledger(base) | {filename: entry}, indent=1, sort_keys=True))
