"""Files of every kind give the numbers that were written into them, or an error that says what to do."""

from __future__ import annotations

import pickle
import re
import sys
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import scipy.sparse as sp

import geodim
from data.tables.files import VALUES, dense, text_file, write
from geodim.data.tables import SUFFIXES, open_table, read_table
from geodim.errors import DataFileError, InputTypeError, MissingExtraError, ShapeError

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_every_format_gives_the_same_numbers_and_the_same_dimension(tmp_path: Path, suffix: str) -> None:
    path = write(tmp_path, suffix)
    assert np.array_equal(dense(read_table(path)), VALUES)
    assert np.array_equal(dense(read_table(str(path), "1-2,4")), VALUES[:, [1, 2, 4]])
    assert np.array_equal(dense(read_table(path, exclude=[0, 3])), VALUES[:, [1, 2, 4]])
    result = geodim.intrinsic_dimension(read_table(path))
    assert result.discriminability == geodim.intrinsic_dimension(VALUES).discriminability


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_names_follow_the_chosen_columns(tmp_path: Path, suffix: str) -> None:
    table = open_table(write(tmp_path, suffix), "0,2-3")
    assert table.names == (["0", "2", "3"] if suffix in {".npy", ".npz", ".zarr"} else ["a", "c", "d"])


@pytest.mark.parametrize("columns", [None, "1-3", "0,2,4", [2], 3])
def test_npy_files_stay_on_disk(tmp_path: Path, columns: Any) -> None:
    data = read_table(write(tmp_path, ".npy"), columns)
    assert isinstance(data, np.memmap)
    assert data.mode == "r"


@pytest.mark.parametrize("make", [sp.csr_array, sp.csc_array, sp.coo_array])
def test_sparse_npz_stays_sparse(tmp_path: Path, make: Any) -> None:
    matrix = make(np.where(VALUES > 0.5, VALUES, 0.0))
    path = tmp_path / "sparse.npz"
    sp.save_npz(path, matrix)
    assert sp.issparse(read_table(path))
    assert np.array_equal(dense(read_table(path)), matrix.toarray())
    assert np.array_equal(dense(read_table(path, "1,4")), matrix.toarray()[:, [1, 4]])


def test_one_of_several_arrays_is_named_after_a_colon(tmp_path: Path) -> None:
    path = tmp_path / "many.npz"
    np.savez_compressed(path, train=VALUES[:30], test=VALUES[30:])
    assert np.array_equal(read_table(f"{path}:test"), VALUES[30:])
    with pytest.raises(
        DataFileError, match=re.escape(f"2 arrays: name one of train, test, as in {path}:train")
    ):
        read_table(path)
    with pytest.raises(DataFileError, match="no array 'tset': name one of train, test"):
        read_table(f"{path}:tset")


class TestDamagedFiles:
    def test_missing_file_with_a_neighbour(self, tmp_path: Path) -> None:
        write(tmp_path, ".npy")
        with pytest.raises(DataFileError, match=r"no file .*pionts\.npy: did you mean .*points\.npy\?"):
            read_table(tmp_path / "pionts.npy")

    def test_missing_folder(self, tmp_path: Path) -> None:
        with pytest.raises(DataFileError, match="no file"):
            read_table(tmp_path / "nowhere" / "points.npy")

    def test_folder(self, tmp_path: Path) -> None:
        (tmp_path / "folder.csv").mkdir()
        with pytest.raises(DataFileError, match="is a folder"):
            read_table(tmp_path / "folder.csv")

    def test_unknown_ending(self, tmp_path: Path) -> None:
        with pytest.raises(DataFileError, match=re.escape(", ".join(SUFFIXES))):
            read_table(text_file(tmp_path, "1 2", "points.mat"))

    @pytest.mark.parametrize("suffix", [".npy", ".npz", ".parquet"])
    @pytest.mark.parametrize("keep", [0.0, 0.05, 0.5, 0.98])
    def test_cut_files(self, tmp_path: Path, suffix: str, keep: float) -> None:
        path = write(tmp_path, suffix)
        whole = path.read_bytes()
        path.write_bytes(whole[: int(keep * len(whole))])
        with pytest.raises(DataFileError, match=f"points\\{suffix}"):
            read_table(path)

    @pytest.mark.parametrize("suffix", [".npy", ".npz", ".parquet"])
    def test_another_kind_of_file(self, tmp_path: Path, suffix: str) -> None:
        with pytest.raises(DataFileError, match=f"not a complete {suffix}|not a complete Parquet"):
            read_table(text_file(tmp_path, "x,y\n1,2\n" * 100, f"points{suffix}"))

    @pytest.mark.parametrize("suffix", [".npy", ".npz"])
    def test_pickles_are_never_opened(self, tmp_path: Path, suffix: str) -> None:
        path = tmp_path / f"objects{suffix}"
        objects = np.array([[1, None], [2, "x"]], dtype=object)
        if suffix == ".npy":
            np.save(path, objects, allow_pickle=True)
        else:
            np.savez(path, objects)
        with pytest.raises(DataFileError, match="Python objects"):
            read_table(path)

    def test_a_bare_pickle_is_no_npy_file(self, tmp_path: Path) -> None:
        path = tmp_path / "points.npy"
        path.write_bytes(pickle.dumps(VALUES))
        with pytest.raises(DataFileError, match=r"not a complete \.npy file"):
            read_table(path)

    @pytest.mark.parametrize("shape", [(3,), (2, 3, 4), (0, 3), (3, 0), ()])
    def test_shapes(self, tmp_path: Path, shape: tuple[int, ...]) -> None:
        path = tmp_path / "shape.npy"
        np.save(path, np.zeros(shape))
        with pytest.raises(ShapeError, match=r"shape\.npy"):
            read_table(path)

    def test_types(self, tmp_path: Path) -> None:
        path = tmp_path / "words.npy"
        np.save(path, np.array([["a", "b"]]))
        with pytest.raises(InputTypeError, match=r"words\.npy"):
            read_table(path)


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_without_pyarrow_the_extra_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, suffix: str
) -> None:
    path = write(tmp_path, suffix)
    for module in ("pyarrow", "pyarrow.csv", "pyarrow.parquet"):
        monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingExtraError, match=r"geodim\[frames\]"):
        read_table(path)
