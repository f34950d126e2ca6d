from __future__ import annotations

import tracemalloc
import zipfile
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from geodim.data.datasets.streaming import NpyWriter, open_member, read_member, stream_member
from geodim.errors import DataFileError

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", ["<f4", ">f4", "<i8", "|u1", "|b1"])
def test_writer_makes_what_numpy_reads(tmp_path: Path, order: Any, dtype: str) -> None:
    array = np.array(np.arange(60).reshape(12, 5) % 7, dtype=dtype, order=order)
    flat = array.ravel(order=order)
    with NpyWriter(tmp_path / "a.npy", array.shape, dtype, fortran_order=order == "F") as writer:
        writer.append(flat[:7])
        writer.append(flat[7:7])
        writer.append(flat[7:])
    result = np.load(tmp_path / "a.npy", allow_pickle=False)
    np.testing.assert_array_equal(result, array)
    assert result.dtype == array.dtype


def test_writer_puts_columns(tmp_path: Path) -> None:
    array = np.arange(20).reshape(2, 10)
    with NpyWriter(tmp_path / "a.npy", array.shape, np.int64) as writer:
        for start in (6, 0, 3):
            writer.put_columns(start, array[:, start : {0: 3, 3: 6, 6: 10}[start]])
    np.testing.assert_array_equal(np.load(tmp_path / "a.npy"), array)


def write_columns(path: Path, *blocks: tuple[int, int]) -> None:
    with NpyWriter(path, (2, 5), np.int64) as writer:
        for start, size in blocks:
            writer.put_columns(start, np.zeros((2, size), dtype=np.int64))


def write_values(path: Path, size: int) -> None:
    with NpyWriter(path, (5,), np.int64) as writer:
        writer.append(np.zeros(size, dtype=np.int64))


def test_writer_counts(tmp_path: Path) -> None:
    path = tmp_path / "a.npy"
    with pytest.raises(DataFileError, match="2 values fewer"):
        write_values(path, 3)
    with pytest.raises(DataFileError, match="more values"):
        write_values(path, 6)
    with pytest.raises(DataFileError, match="fewer"):
        write_columns(path, (0, 3))
    with pytest.raises(DataFileError, match="more columns"):
        write_columns(path, (3, 3))
    with pytest.raises(DataFileError, match="more values"):
        write_columns(path, (0, 5), (0, 5))
    # An error of the caller's own is not hidden by the count.
    with pytest.raises(ZeroDivisionError), NpyWriter(path, (5,), np.int64):
        raise ZeroDivisionError


@pytest.mark.parametrize("compressed", [False, True])
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", ["<f4", ">f8", "<i4"])
@pytest.mark.parametrize("chunk_bytes", [1, 100, 10**6])
def test_stream(tmp_path: Path, compressed: bool, order: Any, dtype: str, chunk_bytes: int) -> None:
    array = np.array(np.random.default_rng(0).integers(0, 99, (2, 150)), dtype=dtype, order=order)
    (np.savez_compressed if compressed else np.savez)(tmp_path / "a.npz", other=np.eye(3), wanted=array)
    seen: list[Any] = []
    for c_order in (False, True):
        stream_member(
            tmp_path / "a.npz", "wanted", tmp_path / "a.npy", shape=(2, 150), dtype=np.float32,
            c_order=c_order, check=seen.append, chunk_bytes=chunk_bytes,
        )  # fmt: skip
        result = np.load(tmp_path / "a.npy", mmap_mode="r")
        np.testing.assert_array_equal(result, array)
        assert result.dtype == np.float32
        assert result.flags.c_contiguous or not c_order
    assert sum(chunk.size for chunk in seen) == 2 * array.size


def test_memory_is_bounded_by_the_chunk(tmp_path: Path) -> None:
    array = np.random.default_rng(0).normal(size=(200_000, 8)).astype(np.float32)
    for save in (np.savez, np.savez_compressed):
        save(tmp_path / "a.npz", x=array)
        for chunk_bytes in (1 << 16, 1 << 18):
            tracemalloc.start()
            stream_member(
                tmp_path / "a.npz", "x", tmp_path / "x.npy", shape=array.shape, dtype=np.float32,
                chunk_bytes=chunk_bytes,
            )  # fmt: skip
            _, peak = tracemalloc.get_traced_memory()
            tracemalloc.stop()
            # The chunk, its predecessor, the piece just read; the zip module's own buffers make up the
            # constant, and whatever other threads of the process do.
            assert peak < 3 * chunk_bytes + (1 << 19) < array.nbytes / 4
    np.testing.assert_array_equal(np.load(tmp_path / "x.npy"), array)


def test_members_with_zip64_headers(tmp_path: Path) -> None:
    """Members beyond 4 GB have these; they can be asked for at any size."""
    array = np.arange(1000)
    np.save(tmp_path / "a.npy", array)
    for compression in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        with (
            zipfile.ZipFile(tmp_path / "a.npz", "w", compression) as archive,
            archive.open("a.npy", "w", force_zip64=True) as file,
        ):
            file.write((tmp_path / "a.npy").read_bytes())
        np.testing.assert_array_equal(read_member(tmp_path / "a.npz", "a"), array)


def test_read_member(tmp_path: Path) -> None:
    np.savez(
        tmp_path / "a.npz", a=np.asfortranarray(np.arange(6).reshape(2, 3)), b=np.zeros(0), c=np.float32(3)
    )
    np.testing.assert_array_equal(read_member(tmp_path / "a.npz", "a"), np.arange(6).reshape(2, 3))
    assert read_member(tmp_path / "a.npz", "b").shape == (0,)
    assert read_member(tmp_path / "a.npz", "c").shape == ()
    with pytest.raises(DataFileError, match="small"):
        read_member(tmp_path / "a.npz", "a", limit=40)


def test_header_versions(tmp_path: Path) -> None:
    array = np.arange(5)
    for version in ((1, 0), (2, 0), (3, 0)):
        with zipfile.ZipFile(tmp_path / "a.npz", "w") as archive, archive.open("a.npy", "w") as file:
            np.lib.format.write_array(file, array, version=version)
        if version == (3, 0):
            with pytest.raises(DataFileError, match="version"):
                read_member(tmp_path / "a.npz", "a")
        else:
            np.testing.assert_array_equal(read_member(tmp_path / "a.npz", "a"), array)


@pytest.mark.parametrize(
    "array",
    [
        np.array([{"a": 1}], dtype=object),
        np.array(["text"]),
        np.zeros(2, dtype=[("a", "f4")]),
        np.array([1j]),
    ],
)
def test_only_plain_numbers(tmp_path: Path, array: Any) -> None:
    np.savez(tmp_path / "a.npz", a=array)
    with pytest.raises(DataFileError, match="not plain numbers"):
        read_member(tmp_path / "a.npz", "a")


@pytest.mark.parametrize("compressed", [False, True])
def test_damaged_archives(tmp_path: Path, compressed: bool) -> None:
    array = np.random.default_rng(0).integers(0, 100, 5000)
    path = tmp_path / "a.npz"
    (np.savez_compressed if compressed else np.savez)(path, a=array)
    good = path.read_bytes()
    middle = len(good) // 2
    for bad in (good[:-50], good[:middle], good[:middle] + bytes(8) + good[middle + 8 :], b"", b"PK"):
        path.write_bytes(bad)
        with pytest.raises(DataFileError, match=r"not a complete|truncated"):
            stream_member(path, "a", tmp_path / "a.npy", shape=(5000,), dtype=np.int64)
    path.write_bytes(good)
    with pytest.raises(DataFileError, match="no array 'b'"), open_member(path, "b"):
        pass
    with pytest.raises(DataFileError, match="there is no file"), open_member(tmp_path / "none.npz", "a"):
        pass
    # An error of the caller's own passes unchanged.
    with pytest.raises(KeyError), open_member(path, "a"):
        raise KeyError


def test_members_shorter_and_longer_than_announced(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", np.arange(100))
    data = (tmp_path / "a.npy").read_bytes()
    for content, message in (
        (data[:-8], "8 bytes are missing"),
        (data + b"x", "more data"),
        (b"no array", "not a complete .npy"),
    ):
        with zipfile.ZipFile(tmp_path / "a.npz", "w") as archive:
            archive.writestr("a.npy", content)
        with pytest.raises(DataFileError, match=message):
            stream_member(tmp_path / "a.npz", "a", tmp_path / "b.npy", shape=(100,), dtype=np.int64)


def test_encrypted_member(tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", a=np.arange(3))
    data = bytearray((tmp_path / "a.npz").read_bytes())
    # The first bit of the flags, in the local header and in the directory.
    data[6] |= 1
    data[data.index(b"PK\x01\x02") + 8] |= 1
    (tmp_path / "a.npz").write_bytes(data)
    with pytest.raises(DataFileError, match="encrypted"):
        read_member(tmp_path / "a.npz", "a")
