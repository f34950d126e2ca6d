"""Files that are small and unpack to more than there is memory, and tables of very many columns."""

from __future__ import annotations

import gzip
import io
import time
import zipfile

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import geodim
from geodim.data.tables import read_table
from geodim.errors import DataFileError, MachineMemoryError

FREE = 50_000_000


@pytest.fixture
def little_memory(monkeypatch):
    for module in ("geodim.memory", "geodim.data.tables.frames"):
        monkeypatch.setattr(f"{module}.free_memory", lambda: FREE)


@pytest.mark.usefixtures("little_memory")
class TestBombs:
    def test_npz(self, tmp_path):
        np.savez_compressed(tmp_path / "zeros.npz", np.zeros((2_000_000, 4)))
        with pytest.raises(MachineMemoryError, match=r"zeros\.npz needs 64 MB of memory, and 50 MB are free"):
            read_table(tmp_path / "zeros.npz")

    def test_sparse_npz(self, tmp_path):
        zeros = np.zeros(3_000_000, np.int32)
        parts = {
            "indices": zeros,
            "indptr": zeros,
            "data": np.zeros(4_000_000),
            "format": "csr",
            "shape": [3, 3],
        }
        np.savez_compressed(tmp_path / "thin.npz", **parts)
        with pytest.raises(MachineMemoryError, match=r"thin\.npz needs 56 MB"):
            read_table(tmp_path / "thin.npz")

    def test_text_in_gzip(self, tmp_path):
        with gzip.open(tmp_path / "zeros.csv.gz", "wb", 1) as stream:
            stream.write(b"0,0,0\n" * 4_000_000)
        with pytest.raises(MachineMemoryError, match=r"the part of .*zeros\.csv\.gz read so far needs"):
            read_table(tmp_path / "zeros.csv.gz", header=False)
        few = read_table(tmp_path / "zeros.csv.gz", 0, header=False)  # what is not chosen takes no memory
        assert few.num_rows == 4_000_000

    @pytest.mark.parametrize("text", [b"9" * 3_000_000, b"1," * 1_500_000, b"# " + b"x" * 3_000_000])
    @pytest.mark.parametrize("suffix", [".csv", ".csv.gz"])
    def test_one_long_line(self, tmp_path, text, suffix):
        path = tmp_path / f"long{suffix}"
        path.write_bytes(gzip.compress(text) if suffix.endswith("gz") else text)
        with pytest.raises(MachineMemoryError, match=r"a line of more than 1\.05 MB needs 67\.1 MB"):
            read_table(path)

    def test_parquet_of_one_value(self, tmp_path):
        pq.write_table(pa.table({"a": np.zeros(8_000_000)}), tmp_path / "zeros.parquet")
        assert (tmp_path / "zeros.parquet").stat().st_size < 100_000
        with pytest.raises(MachineMemoryError, match=r"zeros\.parquet needs 64 MB"):
            read_table(tmp_path / "zeros.parquet")

    def test_parquet_of_one_long_word(self, tmp_path):
        words = pa.table({"a": pa.array(["x" * 200_000]).take(pa.array(np.zeros(500, int)))})
        pq.write_table(words, tmp_path / "words.parquet")
        with pytest.raises(geodim.errors.InputTypeError, match=r"words\.parquet: no numbers in column 'a'"):
            read_table(tmp_path / "words.parquet")

    def test_columns_without_end(self, tmp_path):
        with (tmp_path / "holes.npy").open("wb") as stream:
            np.lib.format.write_array_header_1_0(
                stream, {"descr": "|u1", "fortran_order": False, "shape": (1, 10**9)}
            )
            stream.truncate(stream.tell() + 10**9)
        with pytest.raises(MachineMemoryError, match="1,000,000,000 columns needs 64 GB"):
            read_table(tmp_path / "holes.npy")


def test_memory_is_limited_by_ulimit(monkeypatch):
    resource = pytest.importorskip("resource")
    from geodim import memory

    mapped = memory._unmapped
    monkeypatch.setattr(resource, "getrlimit", lambda _: (1 << 46, 1 << 46))
    assert 0 < mapped() < 1 << 46
    monkeypatch.setattr(resource, "getrlimit", lambda _: (1000, 1000))
    assert memory.free_memory() == 0


@pytest.mark.parametrize("shape", [(-1, 3), (10**12, 3), (21, 3), (2**62, 2**62)])
def test_archives_that_say_they_are_larger_than_they_are(tmp_path, shape):
    stream = io.BytesIO()
    np.lib.format.write_array_header_1_0(stream, {"descr": "<f8", "fortran_order": False, "shape": shape})
    with zipfile.ZipFile(tmp_path / "lies.npz", "w") as archive:
        archive.writestr("x.npy", stream.getvalue() + bytes(480))
    with pytest.raises(DataFileError, match=r"lies\.npz is not a complete \.npz file"):
        read_table(tmp_path / "lies.npz")


WIDE = 4_000  # took half a minute each, once
NAMES = [f"c{number}" for number in range(WIDE)]
VALUES = np.random.default_rng(2).normal(size=(3, WIDE)).round(3)


def _written(write, path):
    write(path)
    return read_table(path)


WAYS = {
    "pandas": lambda _: pd.DataFrame(VALUES, columns=NAMES),
    "pandas of two types": lambda _: pd.DataFrame(VALUES, columns=NAMES).astype({"c7": "f4"}),
    "polars": lambda _: pl.DataFrame(dict(zip(NAMES, VALUES.T, strict=True))),
    "pyarrow": lambda _: pa.table(list(VALUES.T), names=NAMES),
    "csv": lambda folder: _written(pd.DataFrame(VALUES, columns=NAMES).to_csv, folder / "wide.csv"),
    "parquet": lambda folder: _written(pd.DataFrame(VALUES, columns=NAMES).to_parquet,
                                       folder / "wide.parquet"),
}  # fmt: skip


@pytest.mark.turns(3)
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.filterwarnings("ignore:.*first column has no name")
def test_many_columns_take_seconds(tmp_path, way):
    expected = geodim.intrinsic_dimension(VALUES).discriminability
    data = WAYS[way](tmp_path)
    if way == "csv":
        data = read_table(tmp_path / "wide.csv", exclude=0)
    began = time.process_time()
    assert geodim.intrinsic_dimension(data).discriminability == expected
    assert time.process_time() - began < 20.0


def test_long_lines_of_many_columns(tmp_path):
    """Lines of more than pyarrow takes at a time, unless it is told."""
    values = np.random.default_rng(4).normal(size=(2, 25_000))
    np.savetxt(tmp_path / "long.csv", values, delimiter=",", fmt="%.45f")
    assert read_table(tmp_path / "long.csv").num_columns == 25_000
