from __future__ import annotations

import gzip
from typing import TYPE_CHECKING

import numpy as np
import pytest

from data.datasets.layouts import write_csv
from geodim.data.datasets.csvgz import count_columns, iter_blocks, read_column, read_table
from geodim.errors import DataFileError, MachineMemoryError

if TYPE_CHECKING:
    from pathlib import Path


def put(path: Path, text: str) -> Path:
    with gzip.open(path, "wt", newline="") as file:
        file.write(text)
    return path


@pytest.mark.parametrize("block_bytes", [1, 7, 64, 1 << 20])
def test_blocks_do_not_depend_on_their_size(tmp_path: Path, block_bytes: int) -> None:
    table = np.random.default_rng(0).integers(-50, 10**12, (97, 3))
    write_csv(tmp_path / "t.csv.gz", table)
    blocks = list(iter_blocks(tmp_path / "t.csv.gz", 3, np.int64, block_bytes=block_bytes))
    np.testing.assert_array_equal(np.concatenate(blocks), table)
    assert max(len(block) for block in blocks) <= max(1, block_bytes // 6 + 1)


def test_floats_round_as_float64_then_float32(tmp_path: Path) -> None:
    numbers = [
        "0.1",
        "-1e-3",
        "3.402823e38",
        "1e-45",
        "16777217",
        "nan",
        "inf",
        "0.100000001490116119384765625",
    ]
    put(tmp_path / "t.csv.gz", "\n".join(numbers))
    block = np.concatenate(list(iter_blocks(tmp_path / "t.csv.gz", 1, np.float32)))
    expected = np.array([float(number) for number in numbers]).astype(np.float32)
    np.testing.assert_array_equal(block[:, 0], expected)
    assert block.dtype == np.float32


@pytest.mark.parametrize("text", ["1,2\r\n3,4\r\n", "1,2\n3,4", "1, 2\n3 ,4\n"])
def test_line_ends_and_spaces(tmp_path: Path, text: str) -> None:
    block = np.concatenate(list(iter_blocks(put(tmp_path / "t.csv.gz", text), 2, np.int64)))
    np.testing.assert_array_equal(block, [[1, 2], [3, 4]])


def test_column_and_table(tmp_path: Path) -> None:
    np.testing.assert_array_equal(read_column(put(tmp_path / "c.csv.gz", "5\n6\n")), [5, 6])
    assert read_column(put(tmp_path / "e.csv.gz", "")).shape == (0,)
    assert read_table(put(tmp_path / "t.csv.gz", "a,b\n\n1,2\n")) == [["a", "b"], ["1", "2"]]
    assert count_columns(put(tmp_path / "w.csv.gz", "1,2,3\n")) == 3
    assert count_columns(put(tmp_path / "n.csv.gz", "")) == 0


@pytest.mark.parametrize(
    "text", ["1,2\n3\n", "1,2\n3,4,5\n", "1,2\nx,4\n", "1,2\n\n3,4\n", "1,\n", "1.5,2\n", "1;2\n"]
)
def test_unsuitable_text(tmp_path: Path, text: str) -> None:
    path = put(tmp_path / "t.csv.gz", text)
    with pytest.raises(DataFileError, match=r"t\.csv\.gz: lines 1 to"):
        list(iter_blocks(path, 2, np.int64))


def test_the_lines_at_fault_are_named(tmp_path: Path) -> None:
    path = put(tmp_path / "t.csv.gz", "1\n2\n3\nfour\n5\n")
    with pytest.raises(DataFileError, match="lines 4 to 4 "):
        list(iter_blocks(path, 1, np.int64, block_bytes=2))


def test_damaged_files(tmp_path: Path) -> None:
    path = put(tmp_path / "t.csv.gz", "".join(f"{number}\n" for number in range(5000)))
    good = path.read_bytes()
    path.write_bytes(good[:-100])
    for read in (read_column, read_table):
        with pytest.raises(DataFileError, match="not a complete"):
            read(path)
    path.write_bytes(good[:500] + bytes(50) + good[550:])
    with pytest.raises(DataFileError, match="not a complete"):
        read_column(path)
    path.write_bytes(b"plain text\n")
    for function in (read_column, read_table, count_columns):
        with pytest.raises(DataFileError, match="not a complete"):
            function(path)
    path.unlink()
    for function in (read_column, read_table, count_columns):
        with pytest.raises(DataFileError, match="there is no file"):
            function(path)


def test_a_line_without_an_end(tmp_path: Path) -> None:
    """A few kilobytes of gzip, and no end in sight."""
    path = tmp_path / "t.csv.gz"
    path.write_bytes(gzip.compress(b"1" * (20 << 20), 1))
    for read in (count_columns, read_column):
        with pytest.raises(DataFileError, match=r"t\.csv\.gz: has a line of more than"):
            read(path)
    with pytest.raises(DataFileError, match=r"t\.csv\.gz: expected a small table"):
        read_table(path)


def test_a_column_beyond_the_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "t.csv.gz"
    path.write_bytes(gzip.compress(b"1\n" * 100_000))
    monkeypatch.setattr("geodim.memory.free_memory", lambda: 100_000)
    with pytest.raises(MachineMemoryError, match=r"t\.csv\.gz"):
        read_column(path)
