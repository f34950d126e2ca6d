from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import numpy as np
import pytest

from data.datasets import oracles
from data.datasets.layouts import write_csv, write_ogb_csv, write_papers100m
from geodim.data.datasets import DatasetNotFoundError, convert, load_dataset
from geodim.errors import DataFileError

if TYPE_CHECKING:
    from pathlib import Path

CSV = ["ogbn-arxiv", "ogbn-products"]


@pytest.mark.parametrize("chunk_bytes", [64, 1 << 20])
@pytest.mark.parametrize("name", CSV)
def test_csv_layout(tmp_path: Path, name: str, chunk_bytes: int) -> None:
    truth = write_ogb_csv(tmp_path, name)
    dataset = load_dataset(name, tmp_path, chunk_bytes=chunk_bytes)
    oracles.check_mapped(dataset, truth)
    assert dataset.directed == (name == "ogbn-arxiv")
    assert not dataset.mirrored
    assert dataset.edge_index.flags.c_contiguous
    # A second call reads the converted arrays, also when the raw files are gone.
    shutil.rmtree(tmp_path / name.replace("-", "_") / "raw")
    oracles.check_mapped(load_dataset(name, tmp_path), truth)


@pytest.mark.parametrize("name", CSV)
def test_csv_as_ogb_reads_it(tmp_path: Path, name: str) -> None:
    write_ogb_csv(tmp_path, name, seed=3)
    graph, labels, splits = oracles.ogb_dataset(name, tmp_path)
    dataset = load_dataset(name, tmp_path)
    oracles.same(dataset.x, graph["node_feat"])
    oracles.same(dataset.y, labels[:, 0])
    assert dataset.n_nodes == graph["num_nodes"]
    edges = graph["edge_index"]
    if name == "ogbn-products":
        # ogb puts the reverse after each edge of this undirected graph; the file, and
        # its statistics, have one.
        oracles.same(dataset.edge_index[::-1], edges[:, 1::2])
        edges = edges[:, ::2]
    oracles.same(dataset.edge_index, edges)
    for part, index in splits.items():
        oracles.same(dataset.splits[part], index)


@pytest.mark.parametrize("compressed", [False, True])
@pytest.mark.parametrize("fortran", [False, True])
@pytest.mark.parametrize("chunk_bytes", [8, 1000, 1 << 20])
def test_npz_layout(tmp_path: Path, compressed: bool, fortran: bool, chunk_bytes: int) -> None:
    truth = write_papers100m(tmp_path, compressed=compressed, fortran=fortran)
    dataset = load_dataset("ogbn-papers100M", tmp_path, chunk_bytes=chunk_bytes)
    oracles.check_mapped(dataset, truth)
    assert dataset.directed
    assert dataset.edge_index.flags.c_contiguous
    assert (dataset.y == -1).any()


@pytest.mark.parametrize("fortran", [False, True])
def test_npz_as_ogb_reads_it(tmp_path: Path, fortran: bool) -> None:
    write_papers100m(tmp_path, fortran=fortran, seed=5)
    graph, labels, splits = oracles.ogb_dataset("ogbn-papers100M", tmp_path)
    dataset = load_dataset("ogbn-papers100M", tmp_path)
    oracles.same(dataset.x, graph["node_feat"])
    oracles.same(dataset.edge_index, graph["edge_index"])
    oracles.same(np.where(dataset.y < 0, np.nan, dataset.y), labels[:, 0])
    for part, index in splits.items():
        oracles.same(dataset.splits[part], index)


def test_integer_attributes_become_float32(tmp_path: Path) -> None:
    truth = write_ogb_csv(tmp_path)
    x = np.arange(truth.x.size).reshape(truth.x.shape)
    write_csv(tmp_path / "ogbn_arxiv" / "raw" / "node-feat.csv.gz", x)
    oracles.same(load_dataset("ogbn-arxiv", tmp_path).x, x.astype(np.float32))


def test_empty_split(tmp_path: Path) -> None:
    write_ogb_csv(tmp_path)
    write_csv(tmp_path / "ogbn_arxiv" / "split" / "time" / "valid.csv.gz", [])
    assert load_dataset("ogbn-arxiv", tmp_path).splits["valid"].shape == (0,)


@pytest.mark.parametrize(
    ("file", "rows", "message"),
    [
        ("raw/num-node-list", [[61]], "fewer than"),
        ("raw/num-node-list", [[59]], "more values than"),
        ("raw/num-node-list", [[30], [30]], "one graph"),
        ("raw/num-edge-list", [[241]], "fewer than"),
        ("raw/num-edge-list", [[239]], "more columns than"),
        ("raw/edge", [[0, 60]] * 240, r"outside 0\.\.59"),
        ("raw/edge", [[-1, 0]] * 240, r"outside 0\.\.59"),
        ("raw/edge", [[0, 1, 2]] * 160, "expected 2 in each"),
        ("raw/node-label", [[1, 2]] * 30, "expected 1 in each"),
        ("raw/node-feat", [[0.5] * 5] * 59 + [[0.5] * 4], "expected 5 in each"),
        ("raw/node-feat", [["a"] * 5] * 60, "not a number"),
        ("split/time/test", [[60]], r"outside 0\.\.59"),
        ("split/time/test", [["x"]], "not a number"),
    ],
)
def test_files_that_do_not_fit(tmp_path: Path, file: str, rows: list[list[object]], message: str) -> None:
    write_ogb_csv(tmp_path)
    write_csv(tmp_path / "ogbn_arxiv" / f"{file}.csv.gz", rows)
    with pytest.raises(DataFileError, match=message):
        load_dataset("ogbn-arxiv", tmp_path)
    # Nothing half-made is left behind.
    assert sorted(path.name for path in (tmp_path / "ogbn_arxiv").iterdir()) == [
        "RELEASE_v1.txt", "processed", "raw", "split",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"num_nodes_list": [299]}, "has shape"),
        ({"num_nodes_list": [150, 150]}, "one graph"),
        ({"num_edges_list": [999]}, "has shape"),
        ({"edge_index": np.full((2, 1000), 300)}, "outside"),
        ({"edge_index": np.zeros((1000, 2), int)}, "has shape"),
        ({"node_feat": np.zeros(300, np.float32)}, "has shape"),
        ({"node_feat": np.array([["a"]] * 300)}, "not plain numbers"),
        ({"node_feat": None}, "no array 'node_feat'"),
    ],
)
def test_archives_that_do_not_fit(tmp_path: Path, change: dict[str, object], message: str) -> None:
    write_papers100m(tmp_path)
    path = tmp_path / "ogbn_papers100M" / "raw" / "data.npz"
    with np.load(path) as archive:
        arrays = dict(archive)
    for key, value in change.items():
        arrays.pop(key)
        if value is not None:
            arrays[key] = np.asarray(value)
    np.savez(path, **arrays)
    with pytest.raises(DataFileError, match=message):
        load_dataset("ogbn-papers100M", tmp_path)


def test_offline_names_the_folder(tmp_path: Path) -> None:
    with pytest.raises(DatasetNotFoundError, match="ogbn_products") as caught:
        load_dataset("ogbn-products", tmp_path, offline=True)
    assert str(tmp_path / "ogbn_products") in str(caught.value)
    assert "split/sales_ranking/train.csv.gz" in str(caught.value)


def test_large_downloads_must_be_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GEODIM_OFFLINE")
    with pytest.raises(DatasetNotFoundError, match="fetch"):
        load_dataset("ogbn-papers100M", tmp_path)


def test_convert_ahead_of_time(tmp_path: Path) -> None:
    truth = write_ogb_csv(tmp_path)
    folder = convert("ogbn-arxiv", tmp_path)
    assert folder == tmp_path / "ogbn_arxiv" / "geodim"
    assert {path.name for path in folder.iterdir()} == {
        "manifest.json", "x.npy", "edge_index.npy", "y.npy", "train.npy", "valid.npy", "test.npy",
    }  # fmt: skip
    oracles.same(np.load(folder / "x.npy"), truth.x)
