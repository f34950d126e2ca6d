"""Checks of the metadata of a zarr array before zarr opens it.

Nothing in it may run code, or need more memory than there is.  The metadata of an array names the
codecs that decode its chunks, and some of them unpickle: the author of the array could run code here.
So only codecs of numbers are accepted, wherever they are named (filters, compressors, inside of shards),
and only types of real numbers.  Codecs that others register under new names are refused as well.
"""

from __future__ import annotations

import json
import math
import os
from pathlib import Path
from typing import Any

import numpy as np

from geodim.data.boundary import check_regular
from geodim.errors import DataFileError, InputTypeError
from geodim.memory import check_bytes

FILES = ("zarr.json", ".zarray")  # of versions 3 and 2; if both exist, both must be valid
NUMCODECS = frozenset(
    {"adler32", "astype", "bitround", "blosc", "bz2", "crc32", "crc32c", "delta", "fixedscaleoffset",
     "fletcher32", "gzip"}
    | {"jenkins_lookup3", "lz4", "lzma", "packbits", "quantize", "shuffle", "zlib", "zstd"}
)  # fmt: skip
ZARR = frozenset({"bytes", "endian", "transpose", "blosc", "gzip", "zstd", "crc32c", "sharding_indexed"})
CODECS = ZARR | {f"numcodecs.{name}" for name in NUMCODECS}
NUMBERS = {kind: np.dtype(kind) for kind in ("bool", "float16", "float32", "float64")} | {
    f"{sign}int{bits}": np.dtype(f"{sign}int{bits}") for sign in ("", "u") for bits in (8, 16, 32, 64)
}
MOST_CHUNKS = 10**7  # each costs some 0.1 ms, whether or not there is anything in it
MANY_CHUNKS = 10_000  # of this many some should exist: missing chunks are fill values, not data
INDEX_BYTES = 16  # for each chunk inside of a shard


def check_metadata(folder: Path) -> None:
    """Raise if reading an array could run code, or a single chunk does not fit memory."""
    if not folder.is_dir():
        msg = f"{folder} is not a folder: a zarr array is a folder of chunks"
        raise DataFileError(msg)
    found = [folder / name for name in FILES if (folder / name).exists()]
    if not found:
        msg = f"{folder} holds no zarr array: name the folder of one array, not of a group of them"
        raise DataFileError(msg)
    there = _count_files(folder)
    for path in found:
        declared = (_check_version_3 if path.name == "zarr.json" else _check_version_2)(path)
        if declared > MANY_CHUNKS and declared > 1000 * there:
            msg = (
                f"{path} declares {declared:,} chunks, but there are {there:,} files: is the array complete?"
            )
            raise DataFileError(msg)


def _count_files(folder: Path) -> int:
    """Count the files; raise if something else is there: a pipe among the chunks would never end."""
    count = 0
    for where, _, names in os.walk(folder):
        for name in names:
            path = Path(where, name)
            if not path.is_file() and path.exists():
                check_regular(path)
            count += 1
    return count


def _check_version_2(path: Path) -> int:
    document = _document(path)
    kind = document.get("dtype")
    if not isinstance(kind, str):  # a list means named fields
        raise _refused_type(path, kind)
    try:
        dtype = np.dtype(kind)
    except (TypeError, ValueError) as error:
        raise _refused_type(path, kind) from error
    if dtype.kind not in "fiub":
        raise _refused_type(path, kind)
    filters = document.get("filters") or []
    for codec in [document.get("compressor"), *(filters if isinstance(filters, list) else [filters])]:
        if codec is not None:
            _check_codec(path, codec, "id", NUMCODECS)
    return _check_sizes(path, document, document.get("chunks"), dtype)


def _check_version_3(path: Path) -> int:
    document = _document(path)
    if document.get("node_type") != "array":
        msg = f"{path.parent} holds no zarr array: name the folder of one array, not of a group of them"
        raise DataFileError(msg)
    kind = document.get("data_type")
    if not isinstance(kind, str) or kind not in NUMBERS:
        raise _refused_type(path, kind)
    if document.get("storage_transformers"):
        msg = f"{path} asks for storage transformers, which geodim does not read: save the array without"
        raise DataFileError(msg)
    grid = _member(path, document, "chunk_grid")
    if grid.get("name") != "regular":
        msg = f"{path}: chunks must lie in a regular grid, not {grid.get('name')!r}"
        raise DataFileError(msg)
    chunks = _member(path, grid, "configuration").get("chunk_shape")
    _check_codecs(path, document.get("codecs"), _sizes(path, "chunk_shape", chunks))
    return _check_sizes(path, document, chunks, NUMBERS[kind])


def _check_codecs(path: Path, codecs: object, shape: tuple[int, ...], depth: int = 0) -> None:
    """Yield all codecs, including those inside of shards."""
    if not isinstance(codecs, list) or depth > 4:
        msg = f"{path}: the codecs are not listed as in the zarr format"
        raise DataFileError(msg)
    for codec in codecs:
        if isinstance(codec, str):  # shorthand for a codec without a configuration
            codec = {"name": codec}  # noqa: PLW2901
        name = _check_codec(path, codec, "name", CODECS)
        if name == "sharding_indexed":
            inside = _member(path, codec, "configuration")
            inner = _sizes(path, "chunk_shape", inside.get("chunk_shape"))
            if len(inner) != len(shape) or 0 in inner:
                msg = f"{path}: chunks of shape {inner} do not fit shards of shape {shape}"
                raise DataFileError(msg)
            count = math.prod(-(-whole // part) for whole, part in zip(shape, inner, strict=True))
            _check_count(path, count)
            check_bytes(INDEX_BYTES * count, f"{path}: the index of a shard of {count:,} chunks")
            for one in ("codecs", "index_codecs"):
                _check_codecs(path, inside.get(one, []), inner, depth + 1)


def _check_codec(path: Path, codec: object, key: str, known: frozenset[str]) -> str:
    name = codec.get(key) if isinstance(codec, dict) else codec
    if not isinstance(name, str) or name not in known:
        msg = (
            f"{path} names the codec {name!r}, which is not among those that only decode numbers "
            f"({', '.join(sorted(known))}): others may run any code; save it again with one of these"
        )
        raise DataFileError(msg)
    settings = codec.get("configuration") or {} if key == "name" and isinstance(codec, dict) else codec
    if not isinstance(settings, dict):
        msg = f"{path}: the configuration of codec {name!r} is not a list of settings"
        raise DataFileError(msg)
    for setting in ("dtype", "astype", "encode_dtype", "decode_dtype"):
        if setting in settings:
            try:
                numeric = isinstance(settings[setting], str) and np.dtype(settings[setting]).kind in "fiub"
            except (TypeError, ValueError):
                numeric = False
            if not numeric:
                raise _refused_type(path, settings[setting])
    return name


def _check_sizes(path: Path, document: dict[str, Any], chunks: object, dtype: np.dtype[Any]) -> int:
    """Return the number of chunks; raise if one of them does not fit in memory."""
    shape, chunk = _sizes(path, "shape", document.get("shape")), _sizes(path, "chunks", chunks)
    if len(shape) != len(chunk) or 0 in chunk:
        msg = f"{path}: chunks of shape {chunk} do not fit an array of shape {shape}"
        raise DataFileError(msg)
    check_bytes(math.prod(chunk) * dtype.itemsize, f"{path}: a chunk of shape {chunk}")
    return _check_count(path, math.prod(-(-whole // part) for whole, part in zip(shape, chunk, strict=True)))


def _check_count(path: Path, count: int) -> int:
    if count > MOST_CHUNKS:
        msg = (
            f"{path} declares {count:,} chunks, and more than {MOST_CHUNKS:,} take too long: "
            "save the array in larger ones"
        )
        raise DataFileError(msg)
    return count


def _sizes(path: Path, name: str, sizes: object) -> tuple[int, ...]:
    if not isinstance(sizes, list) or not all(type(size) is int and 0 <= size < 2**63 for size in sizes):
        msg = f"{path}: {name} is {str(sizes)[:100]}, not a list of sizes"
        raise DataFileError(msg)
    return tuple(sizes)


def _member(path: Path, document: dict[str, Any], name: str) -> dict[str, Any]:
    value = document.get(name)
    if not isinstance(value, dict):
        msg = f"{path}: {name} is missing, or not as in the zarr format"
        raise DataFileError(msg)
    return value


def _document(path: Path) -> dict[str, Any]:
    """Return the metadata, as zarr will parse it.

    It must be strict UTF-8, so that the same bytes cannot be read in another way.
    """
    check_regular(path)
    check_bytes(10 * path.stat().st_size, str(path))
    try:
        document = json.loads(path.read_bytes().decode("utf-8"))
    except (ValueError, RecursionError) as error:
        msg = f"{path} is not valid JSON ({error}): was it cut off while being written or copied?"
        raise DataFileError(msg) from error
    if not isinstance(document, dict):
        msg = f"{path} does not describe a zarr array"
        raise DataFileError(msg)
    return document


def _refused_type(path: Path, kind: object) -> InputTypeError:
    return InputTypeError(
        f"{path} declares the type {str(kind)[:100]}, not real numbers: save the array as float32, "
        "float64, integers or booleans"
    )
