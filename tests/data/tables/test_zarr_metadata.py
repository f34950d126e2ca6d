"""No metadata of a zarr array runs code or takes memory without end; lawful arrays are read."""

from __future__ import annotations

import json
import os
import pickle
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from geodim.data.tables import read_table
from geodim.data.tables.lazy import open_lazily, open_zarr
from geodim.errors import DataFileError, GeodimError, InputTypeError, MachineMemoryError

zarr = pytest.importorskip("zarr")
numcodecs = pytest.importorskip("numcodecs")
NEEDS_DASK = pytest.mark.skipif(find_spec("dask") is None, reason="dask is not installed")

VALUES = np.random.default_rng(8).normal(size=(20, 3))
PICKLE = {"id": "pickle", "protocol": 4}


class Payload:
    """Leaves a mark when it is unpickled."""

    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def __reduce__(self):
        return Path.touch, (self.mark,)


def array(folder: Path, version: int, **options) -> Path:
    made = zarr.create_array(
        folder / "points.zarr",
        shape=VALUES.shape,
        dtype="f8",
        zarr_format=version,
        **{"chunks": (7, 2)} | options,
    )
    made[:] = VALUES
    return folder / "points.zarr"


def changed(path: Path, change) -> Path:
    """The array with other metadata, and chunks that are pickles."""
    metadata = path / ("zarr.json" if (path / "zarr.json").exists() else ".zarray")
    document = json.loads(metadata.read_text())
    change(document)
    metadata.write_text(json.dumps(document))
    return path


def armed(path: Path) -> Path:
    """Whatever is unpickled leaves a mark, and numcodecs is as it was before it refused to."""
    chunks = [
        one for one in path.rglob("*") if one.is_file() and not one.name.startswith((".z", "zarr.json"))
    ]
    for chunk in chunks:
        chunk.write_bytes(pickle.dumps(Payload(path.parent / "mark")))
    return path


def into(codec):
    """Put a codec first in the innermost list."""

    def change(document):
        inner = document["codecs"]
        while inner[0]["name"] == "sharding_indexed":
            inner = inner[0]["configuration"]["codecs"]
        inner.insert(0, codec)

    return change


class TestCode:
    @pytest.fixture(autouse=True)
    def _as_before(self, monkeypatch):
        monkeypatch.setattr("numcodecs.pickles.ALLOW_UNSAFE_PICKLE_DECODE", True, raising=False)

    @pytest.mark.parametrize("read", [read_table, pytest.param(open_lazily, marks=NEEDS_DASK), open_zarr])
    @pytest.mark.parametrize(
        "change",
        [
            lambda d: d.update(filters=[PICKLE], compressor=None),
            lambda d: d.update(compressor=PICKLE),
            lambda d: d.update(filters=[PICKLE], dtype="|O", compressor=None),
            lambda d: d.update(filters=[{"id": "vlen-utf8"}, PICKLE], dtype="|O", compressor=None),
            lambda d: d.update(filters=PICKLE),
            lambda d: d.update(filters=[{"id": "delta", "dtype": "|O"}]),
        ],
    )
    def test_version_2(self, tmp_path, change, read):
        path = armed(changed(array(tmp_path, 2), change))
        with pytest.raises((DataFileError, InputTypeError), match=r"points\.zarr"):
            read(path)
        assert not (tmp_path / "mark").exists()

    @pytest.mark.parametrize("shards", [None, (14, 4)])
    @pytest.mark.parametrize(
        "name", ["pickle", "numcodecs.pickle", "vlen-utf8", "numcodecs.new", "json2", "", None, 7]
    )
    def test_version_3(self, tmp_path, name, shards):
        codec = {"name": name, "configuration": {}}
        path = armed(changed(array(tmp_path, 3, shards=shards), into(codec)))
        with pytest.raises(DataFileError, match="which is not among those that only decode numbers"):
            read_table(path)
        assert not (tmp_path / "mark").exists()

    def test_the_index_of_a_shard(self, tmp_path):
        path = array(tmp_path, 3, shards=(14, 4))
        changed(
            path,
            lambda d: d["codecs"][0]["configuration"]["index_codecs"].append({"name": "numcodecs.pickle"}),
        )
        with pytest.raises(DataFileError, match="pickle"):
            read_table(path)

    def test_metadata_of_both_versions(self, tmp_path):
        """Whichever zarr prefers, the other must be fine as well."""
        path = array(tmp_path, 3)
        old = array(tmp_path / "old", 2)
        changed(old, lambda d: d.update(compressor=PICKLE))
        (path / ".zarray").write_bytes((old / ".zarray").read_bytes())
        with pytest.raises(DataFileError, match=r"\.zarray names the codec 'pickle'"):
            read_table(path)


@pytest.mark.parametrize("version", [2, 3])
@pytest.mark.parametrize(
    ("shape", "chunks"),
    [((10**6, 10**6), (10**6, 10**6)), ((10**9, 1000), (10**5, 1000)), ((20, 3), (10**9, 10**9))],
)
def test_fill_values_without_end(tmp_path, version, shape, chunks):
    """Some hundred bytes of metadata that declare 8 TB."""

    def change(document):
        document["shape"] = list(shape)
        if version == 2:
            document["chunks"] = list(chunks)
        else:
            document["chunk_grid"]["configuration"]["chunk_shape"] = list(chunks)

    with pytest.raises(
        MachineMemoryError, match=r"points\.zarr.* needs 8(\.0|,000,000)? ?TB|needs 8e\+06 TB"
    ):
        read_table(changed(array(tmp_path, version), change))


@NEEDS_DASK
def test_a_large_array_is_lawful_on_a_cluster(tmp_path):
    path = changed(array(tmp_path, 2), lambda d: d.update(shape=[10**9, 1000], chunks=[10**6, 100]))
    for chunk in path.glob("*.*"):
        if not chunk.name.startswith("."):
            chunk.unlink()
    table = open_lazily(path)
    assert table is not None
    assert table.data.shape == (10**9, 1000)
    assert open_zarr(path)[:3, :4].shape == (3, 4)


def test_columns_are_chosen_before_they_are_read(tmp_path, monkeypatch):
    path = tmp_path / "long.zarr"
    zarr.create_array(path, shape=(1000, 3), chunks=(500, 1), dtype="f8")[:] = np.arange(3000.0).reshape(
        1000, 3
    )
    monkeypatch.setattr("geodim.memory.free_memory", lambda: 20_000)
    assert read_table(path, "0,2")[1].tolist() == [3.0, 5.0]
    with pytest.raises(MachineMemoryError, match="24,000 bytes"):
        read_table(path)


def test_chunks_without_number(tmp_path):
    path = changed(array(tmp_path, 2), lambda d: d.update(shape=[10**8, 1], chunks=[1, 1], dtype="|u1"))
    with pytest.raises(DataFileError, match="100,000,000 chunks"):
        read_table(path)


def test_an_array_of_which_hardly_anything_is_there(tmp_path):
    path = changed(array(tmp_path, 2), lambda d: d.update(shape=[20, 65535]))
    with pytest.raises(DataFileError, match="declares 98,304 chunks, but there are 8 files"):
        read_table(path)


def test_chunks_are_asked_for_in_turns(tmp_path, monkeypatch):
    monkeypatch.setattr("geodim.data.tables.lazy.CHUNKS_AT_A_TIME", 2)
    path = array(tmp_path, 3)
    assert np.array_equal(read_table(path), VALUES)
    assert np.array_equal(read_table(path, "0,2"), VALUES[:, [0, 2]])


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="named pipes are of Unix")
@pytest.mark.parametrize("name", ["0.0", ".zarray", "more"])
def test_a_pipe_among_the_chunks(tmp_path, name):
    path = array(tmp_path, 2)
    (path / name).unlink(missing_ok=True)
    os.mkfifo(path / name)
    with pytest.raises(DataFileError, match="is a pipe"):
        read_table(path)


LAWFUL_2 = [
    {"compressors": None},
    {"compressors": [numcodecs.Blosc("lz4")]},
    {"compressors": [numcodecs.GZip(1)]},
    {"compressors": [numcodecs.Zlib(1)]},
    {"compressors": [numcodecs.LZ4()]},
    {"compressors": [numcodecs.BZ2(1)]},
    {"compressors": [numcodecs.LZMA(preset=1)]},
    {"compressors": [numcodecs.Zstd(1)], "filters": [numcodecs.Shuffle(8)]},
    {"filters": [numcodecs.Delta("f8")], "order": "F"},
]
LAWFUL_3 = [
    {"compressors": None},
    {"compressors": [zarr.codecs.BloscCodec()]},
    {"compressors": [zarr.codecs.GzipCodec(level=1), zarr.codecs.Crc32cCodec()]},
    {"shards": (14, 4)},
    {"filters": [zarr.codecs.TransposeCodec(order=(1, 0))]},
]


@pytest.mark.parametrize("options", LAWFUL_2)
def test_lawful_arrays_of_version_2(tmp_path, options):
    assert np.allclose(read_table(array(tmp_path, 2, **options)), VALUES, atol=1e-12)


@pytest.mark.parametrize("options", LAWFUL_3)
def test_lawful_arrays_of_version_3(tmp_path, options):
    assert np.array_equal(read_table(array(tmp_path, 3, **options)), VALUES)


@pytest.mark.parametrize(
    "text",
    ["", "[]", "{}", "nonsense", "[" * 100_000, '{"zarr_format": 2}', "\ufeff{}", '{"shape": [1e3, 2]}'],
)
@pytest.mark.parametrize("name", [".zarray", "zarr.json"])
def test_metadata_that_is_none(tmp_path, text, name):
    folder = tmp_path / "points.zarr"
    folder.mkdir()
    (folder / name).write_text(text, encoding="utf-8")
    with pytest.raises(GeodimError, match=r"points\.zarr"):
        read_table(folder)


@pytest.mark.parametrize("kind", ["|O", "<c16", "|S4", "<U4", "<M8[s]", [["a", "<f8"]], "zz", 7, None])
def test_types(tmp_path, kind):
    with pytest.raises(InputTypeError, match=r"points\.zarr"):
        read_table(changed(array(tmp_path, 2), lambda d: d.update(dtype=kind)))


def test_files_and_groups(tmp_path):
    (tmp_path / "file.zarr").write_text("x")
    with pytest.raises(DataFileError, match="is not a folder"):
        read_table(tmp_path / "file.zarr")
    zarr.open_group(tmp_path / "group.zarr", mode="w")
    with pytest.raises(DataFileError, match="group"):
        read_table(tmp_path / "group.zarr")
