"""Converted arrays on disk: ``.npy`` files with a manifest, written all at once, checked when opened.

A cache folder holds one ``.npy`` per array and ``manifest.json`` with shapes, sizes and checksums, and with
the sizes and times of the files it was made from. It is written under a temporary name in the same place and
renamed, so that a folder with the right name is complete. Opening compares sizes always and checksums once
per process; a folder that fails, or whose sources have changed, is built again. No pickles.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import logging
import os
import shutil
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from geodim.arguments import one_of
from geodim.data.datasets.roots import user_cache
from geodim.data.unchanged import Watch
from geodim.errors import DataFileError
from geodim.output import naming, write_text
from geodim.temporary import new_name, sweep_once, temporary_folder

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

__all__ = ["CacheEntry", "Verify", "build", "candidates", "check_verify", "open_cache"]

MANIFEST = "manifest.json"
FORMAT = 1
Verify = Literal["auto", "full", "size"]

# Up to this size a checksum of the whole file costs well under a second.
FULL_CHECK_BYTES = 256 << 20
SAMPLES, SAMPLE_BYTES = 64, 64 << 10

_log = logging.getLogger(__name__)
# What has been verified in this process: (path, size, time of change, how thoroughly).
_verified: set[tuple[str, int, int, str]] = set()


@dataclass(frozen=True)
class CacheEntry:
    """An opened cache folder."""

    folder: Path
    arrays: Mapping[str, NDArray[Any]]
    notes: Mapping[str, Any]


class _DamagedError(Exception):
    """Why a cache folder cannot be used; never leaves this module."""


def check_verify(verify: str) -> None:
    """Raise unless ``verify`` is one of the words understood by :func:`open_cache`."""
    one_of(verify, "verify", get_args(Verify))


def candidates(folder: Path, name: str) -> tuple[Path, Path]:
    """Return where a conversion may be: beside its source, or in the user's cache.

    The latter is for sources that are read-only.
    """
    key = hashlib.sha256(os.fsencode(folder.resolve())).hexdigest()[:12]
    return folder / "geodim", user_cache() / "converted" / f"{name}-{key}"


def file_hash(path: Path) -> str:
    """Return the SHA-256 of a file, read in pieces."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def sampled_hash(path: Path) -> str:
    """Return a SHA-256 over the size and 64 evenly spaced pieces, first and last bytes included.

    This is quick at any size.
    """
    size = path.stat().st_size
    digest = hashlib.sha256(str(size).encode())
    with path.open("rb") as file:
        for offset in np.unique(np.linspace(0, max(0, size - SAMPLE_BYTES), SAMPLES).astype(np.int64)):
            file.seek(int(offset))
            digest.update(file.read(SAMPLE_BYTES))
    return digest.hexdigest()


def _describe_source(path: Path) -> dict[str, Any]:
    stat = path.stat()
    return {"size": stat.st_size, "mtime_ns": stat.st_mtime_ns, "sampled": sampled_hash(path)}


def _describe_array(path: Path) -> dict[str, Any]:
    array = _open_array(path)
    stat = path.stat()
    return {
        "file": path.name,
        "shape": list(array.shape),
        "dtype": array.dtype.str,
        "size": stat.st_size,
        "mtime_ns": stat.st_mtime_ns,
        "sha256": file_hash(path),
        "sampled": sampled_hash(path),
    }


def _open_array(path: Path) -> NDArray[Any]:
    array: NDArray[Any] = np.load(path, mmap_mode="r", allow_pickle=False)
    return array


def open_cache(
    places: Sequence[Path], recipe: str, base: Path, sources: Sequence[Path], verify: Verify = "auto"
) -> CacheEntry | None:
    """Open the first usable cache folder.

    Parameters
    ----------
    places
        Folders to look at, in order.
    recipe
        The name and version of the conversion; another one means the cache is stale.
    base
        The data set's folder, to which the manifest's file names are relative.
    sources
        The files the arrays are made from. A source that is no longer there does not matter (raw files may be
        deleted after conversion); one whose content has changed, or that the manifest does not know, does.
    verify
        ``auto``: checksums of whole files up to 256 MiB and of larger ones that were touched since;
        for larger ones that were not, of 64 sampled pieces. ``full``: of every file, whole. ``size``:
        sizes only. Once per process.

    Returns
    -------
    CacheEntry or None
        None when no folder is usable; the log says why.
    """
    for place in places:
        sweep_once(place.parent)  # a conversion that was killed leaves much behind
        if not (place / MANIFEST).is_file():
            continue
        try:
            return _open_folder(place, recipe, base, sources, verify)
        except _DamagedError as reason:
            _log.warning("the cache %s is not usable and will be built again: %s", place, reason)
    return None


def _open_folder(place: Path, recipe: str, base: Path, sources: Sequence[Path], verify: Verify) -> CacheEntry:
    try:
        manifest = json.loads((place / MANIFEST).read_text(encoding="utf-8"))
        if manifest["format"] != FORMAT or manifest["recipe"] != recipe:
            raise _DamagedError(
                f"made by {manifest['recipe']!r} (format {manifest['format']}), need {recipe!r}"
            )
        _check_sources(manifest["sources"], base, sources)
        arrays = {name: _check_array(place, record, verify) for name, record in manifest["arrays"].items()}
        return CacheEntry(place, arrays, manifest["notes"])
    except _DamagedError:
        raise
    except Exception as error:
        # If a manifest that was cut or edited makes these lines fail, the folder is built again.
        raise _DamagedError(f"{type(error).__name__}: {error!s:.200}") from error


def _check_sources(records: Mapping[str, Any], base: Path, sources: Sequence[Path]) -> None:
    for path in sources:
        if not path.is_file():
            continue
        name = path.relative_to(base).as_posix() if path.is_relative_to(base) else str(path)
        record, stat = records.get(name), path.stat()
        if record is None:
            raise _DamagedError(f"{name} was not there when it was made")
        if stat.st_size != record["size"]:
            raise _DamagedError(f"{name} has changed since")
        # A copied data set has new times but the same content.
        if stat.st_mtime_ns != record["mtime_ns"] and sampled_hash(path) != record["sampled"]:
            raise _DamagedError(f"{name} has changed since")


def _check_array(place: Path, record: Mapping[str, Any], verify: Verify) -> NDArray[Any]:
    path = place / Path(record["file"]).name
    stat = path.stat()
    if stat.st_size != record["size"]:
        raise _DamagedError(f"{path.name} has {stat.st_size} bytes, expected {record['size']}")
    if verify != "size":
        touched = stat.st_mtime_ns != record["mtime_ns"]
        whole = verify == "full" or touched or stat.st_size <= FULL_CHECK_BYTES
        kind = "sha256" if whole else "sampled"
        key = (str(path), stat.st_size, stat.st_mtime_ns, kind)
        if key not in _verified:
            found = file_hash(path) if whole else sampled_hash(path)
            if found != record[kind]:
                raise _DamagedError(f"{path.name} does not match its checksum")
            _verified.add(key)
    array = _open_array(path)
    if list(array.shape) != record["shape"] or array.dtype.str != record["dtype"]:
        raise _DamagedError(f"{path.name} holds {array.dtype} {array.shape}, not what the manifest says")
    return array


def build(
    places: Sequence[Path],
    recipe: str,
    base: Path,
    sources: Sequence[Path],
    write: Callable[[Path], Mapping[str, Any]],
) -> Path:
    """Write a cache folder at the first place that can be written.

    Parameters
    ----------
    places, recipe, base, sources
        As for :func:`open_cache`.
    write
        Called with an empty temporary folder; puts ``.npy`` files there and returns notes for the manifest.

    Returns
    -------
    pathlib.Path
        The folder, complete.
    """
    with ExitStack() as stack:
        place, temporary = _temporary_folder(places, stack)
        stack.enter_context(naming(place))
        # Described before they are read: a source that changes meanwhile makes the cache stale, not wrong.
        described = {
            path.relative_to(base).as_posix() if path.is_relative_to(base) else str(path): _describe_source(
                path
            )
            for path in sources
        }
        with Watch.of(*sources):
            notes = write(temporary)
        manifest = {
            "format": FORMAT,
            "recipe": recipe,
            "sources": described,
            "arrays": {path.stem: _describe_array(path) for path in sorted(temporary.glob("*.npy"))},
            "notes": dict(notes),
        }
        write_text(temporary / MANIFEST, json.dumps(manifest, indent=1) + "\n")
        _replace_folder(temporary, place)
    return place


def _temporary_folder(places: Sequence[Path], stack: ExitStack) -> tuple[Path, Path]:
    """Return the first writable place, and a folder beside it that is removed afterwards, even on Ctrl-C."""
    refusals = []
    for place in places:
        try:
            place.parent.mkdir(parents=True, exist_ok=True)
            return place, stack.enter_context(temporary_folder(place.parent))
        except OSError as error:
            refusals.append(f"{place.parent} ({error.strerror})")
    raise DataFileError(f"no folder for converted data can be written: {'; '.join(refusals)}")


def _replace_folder(temporary: Path, place: Path) -> None:
    """Rename ``temporary`` to ``place``.

    A folder that is there is moved away first, since rename needs it empty.
    """
    if place.exists():
        aside = place.with_name(new_name())
        with contextlib.suppress(FileNotFoundError):
            place.rename(aside)
        shutil.rmtree(aside, ignore_errors=True)
    try:
        temporary.rename(place)
    except OSError:
        # Another process has put its folder there between the two steps; both were made from the same files.
        if not (place / MANIFEST).is_file():
            raise
