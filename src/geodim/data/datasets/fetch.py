"""Download the files of a data set into the folder where its reader expects them.

Checksums are the known ones, or are recorded at the first download in ``geodim-checksums.json`` beside the data sets
and enforced afterwards. Nothing is ever asked; offline, the error names the folder and the files to place there.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import sys
from typing import TYPE_CHECKING, Any

from geodim.data.datasets.archive import extract
from geodim.data.datasets.errors import ChecksumError, DatasetNotFoundError
from geodim.data.datasets.mag import find_embedding, has_embedding
from geodim.data.datasets.registry import MAG_EMBEDDING, DatasetSpec, Remote, get_spec
from geodim.data.datasets.roots import is_offline, resolve_root
from geodim.errors import DataFileError
from geodim.optional import require

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

__all__ = ["fetch", "missing_files", "not_found"]

LEDGER = "geodim-checksums.json"


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
    """Download what is missing of a data set.

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
        _fetch_one(remote, base, folder, mirror, show, keep_archive)
    missing = missing_files(spec, folder)
    if missing:
        raise DataFileError(f"{spec.name}: the download does not contain {', '.join(missing)}")
    return folder


def _is_there(remote: Remote, folder: Path) -> bool:
    # Vectors for ogbn-mag may also be in a file of one's own.
    if remote.provides == (MAG_EMBEDDING,):
        return has_embedding(folder)
    return all((folder / file).is_file() for file in remote.provides)


def _fetch_one(
    remote: Remote, base: Path, folder: Path, mirror: str | None, progress: bool, keep_archive: bool
) -> None:
    pooch = require("pooch", "data", f"downloading {remote.url} to {folder}")
    from geodim.data.datasets.download import ResumingDownloader  # noqa: PLC0415 - only when downloading

    url = f"{mirror.rstrip('/')}/{remote.filename}" if mirror else remote.url
    place = folder / remote.into if remote.strip is None else base
    known = remote.sha256 or _recorded(base, remote.filename)
    place.mkdir(parents=True, exist_ok=True)
    downloader = ResumingDownloader(place / f"{remote.filename}.part", progress=progress)
    with _quiet(pooch):
        try:
            path = place / remote.filename
            pooch.retrieve(
                url, known and f"sha256:{known}", fname=path.name, path=place, downloader=downloader
            )
        except ValueError as error:
            # pooch has removed the file already.
            raise ChecksumError(
                f"{url} does not have the expected checksum {known}: "
                + ("" if remote.sha256 else f"recorded at the first download in {base / LEDGER}; ")
                + "the file was changed at its source or on the way, and was not kept"
            ) from error
    if known is None:
        _record(
            base, remote.filename, {"url": url, "sha256": pooch.file_hash(path), "size": path.stat().st_size}
        )
    if remote.strip is not None:
        extract(path, folder / remote.into, remote.strip)
        if not keep_archive:
            path.unlink()


@contextlib.contextmanager
def _quiet(pooch: Any) -> Iterator[None]:
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
    except ValueError as error:
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
    path = base / LEDGER
    temporary = path.with_name(f".{path.name}-{os.getpid()}")
    temporary.write_text(
        json.dumps(_ledger(base) | {filename: entry}, indent=1, sort_keys=True), encoding="utf-8"
    )
    temporary.replace(path)
