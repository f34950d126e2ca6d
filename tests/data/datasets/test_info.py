from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from data.datasets.layouts import write_ogb_csv, write_planetoid
from geodim.data.datasets import (
    DatasetNotFoundError,
    GraphDataset,
    convert,
    dataset_info,
    list_datasets,
    load_dataset,
    resolve_root,
)
from geodim.data.datasets.registry import SPECS, get_spec
from geodim.errors import InputValueError, ShapeError

# The paper's table of statistics.
PAPER = {
    "pubmed": (19717, 88648, 500),
    "cora": (2708, 10556, 1433),
    "citeseer": (3327, 9104, 3703),
    "ogbn-arxiv": (169343, 1166243, 128),
    "ogbn-products": (2449029, 61859140, 100),
    "ogbn-mag": (1939743, 21111007, 128),
    "ogbn-papers100M": (111059956, 1615685872, 128),
}


def test_the_table_is_the_papers(tmp_path: Path) -> None:
    infos = {info.name: info for info in list_datasets(tmp_path)}
    found = {
        name: (info.nodes, info.listed_edges, info.attributes) for name, info in infos.items() if info.nodes
    }
    assert found == PAPER
    # Edges of Planetoid are undirected, and listed in both directions.
    assert [infos[name].edges for name in ("cora", "citeseer", "pubmed")] == [5278, 4552, 44324]
    assert infos["ogbn-products"].edges == 61859140  # undirected, and listed in one
    assert set(infos) == {*PAPER, "digits", "sbm", "rmat"}


def test_presence(tmp_path: Path) -> None:
    write_planetoid(tmp_path, "Cora")
    write_ogb_csv(tmp_path, "ogbn-arxiv")
    present = {info.name for info in list_datasets(tmp_path) if info.present}
    assert present == {"cora", "ogbn-arxiv", "digits", "sbm", "rmat"}
    info = dataset_info("ogbn-products", tmp_path)
    assert info.folder == tmp_path / "ogbn_products"
    assert "split/sales_ranking/valid.csv.gz" in info.missing
    (tmp_path / "Cora" / "raw" / "ind.cora.graph").unlink()
    assert dataset_info("cora", tmp_path).missing == ("raw/ind.cora.graph",)
    # A converted data set needs its raw files no more.
    folder = convert("ogbn-arxiv", tmp_path)
    (tmp_path / "ogbn_arxiv" / "raw" / "edge.csv.gz").unlink()
    info = dataset_info("ogbn-arxiv", tmp_path)
    assert info.present
    assert info.converted == folder
    assert info.missing == ("raw/edge.csv.gz",)


def test_as_dict_is_json(tmp_path: Path) -> None:
    for info in list_datasets(tmp_path):
        content = json.loads(json.dumps(info.as_dict()))
        assert content["name"] == info.name
        assert content["present"] == info.present


def test_names() -> None:
    assert get_spec("PubMed") is get_spec("pubmed")
    assert get_spec("OGBN_papers100m").name == "ogbn-papers100M"
    for call in (load_dataset, dataset_info, convert):
        with pytest.raises(InputValueError, match="ogbn-arxiv"):
            call("coral")


@pytest.mark.parametrize("name", ["cora", "digits"])
def test_convert_only_ogb(name: str) -> None:
    with pytest.raises(InputValueError, match="ogbn"):
        convert(name)
    with pytest.raises(InputValueError, match="chunk_bytes"):
        convert("ogbn-arxiv", chunk_bytes=0)


def test_every_entry_is_complete() -> None:
    for spec in SPECS.values():
        if spec.family == "embedded":
            continue
        assert spec.source
        assert spec.license
        assert spec.remotes
        assert set(spec.required) <= {file for remote in spec.remotes for file in remote.provides}
        assert all(remote.url.startswith("https://") for remote in spec.remotes)


def test_addresses_are_those_of_ogb() -> None:
    """ogb's own table, where it is installed: same archives, folders and split names."""
    from data.datasets import oracles

    folder = Path(oracles.load("ogb.nodeproppred").__file__).parent
    pandas = oracles.load("pandas")
    master = pandas.read_csv(folder / "master.csv", index_col=0, keep_default_na=False)
    for name in PAPER:
        if not name.startswith("ogbn"):
            continue
        spec, entry = get_spec(name), master[name]
        assert spec.remotes[0].url.partition("://")[2] == entry["url"].partition("://")[2]
        assert spec.remotes[0].strip == entry["download_name"]
        assert spec.split.split("/")[1] == entry["split"]
        assert spec.folder == "_".join(name.split("-"))


def test_addresses_are_those_of_torch_geometric() -> None:
    from data.datasets import oracles

    datasets = oracles.load("torch_geometric.datasets")
    assert get_spec("ogbn-mag").remotes[1].url == datasets.OGB_MAG.urls["metapath2vec"]
    for name in ("cora", "citeseer", "pubmed"):
        assert {remote.url.rpartition("/")[0] for remote in get_spec(name).remotes} == {
            datasets.Planetoid.url
        }


def test_roots(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert resolve_root() == tmp_path / "user-cache" / "geodim" / "datasets"
    monkeypatch.setenv("GEODIM_DATA", str(tmp_path / "data"))
    assert resolve_root() == tmp_path / "data"
    assert resolve_root(tmp_path / "mine") == tmp_path / "mine"
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert resolve_root("~/mine") == tmp_path / "home" / "mine"
    monkeypatch.delenv("GEODIM_DATA")
    monkeypatch.delenv("XDG_CACHE_HOME")
    for platform, folder in (("linux", ".cache/geodim"), ("darwin", "Library/Caches/geodim")):
        monkeypatch.setattr(sys, "platform", platform)
        assert resolve_root() == tmp_path / "home" / folder / "datasets"


@pytest.mark.parametrize(
    ("value", "offline"), [("1", True), ("yes", True), ("0", False), ("", False), ("no", False)]
)
def test_offline_variable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, value: str, offline: bool) -> None:
    from geodim.data.datasets.roots import is_offline

    monkeypatch.setenv("GEODIM_OFFLINE", value)
    assert is_offline() == offline
    assert is_offline(True)


def test_importing_stays_light() -> None:
    code = (
        "import sys, geodim.data.datasets\n"
        "heavy = {'scipy', 'sklearn', 'pandas', 'torch', 'pooch', 'requests', 'rich', 'numba', 'pyarrow'}\n"
        "print(*sorted(heavy & set(sys.modules)))"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == ""


def test_dataset_checks_its_shapes() -> None:
    good = {
        "name": "g", "x": np.zeros((3, 2), np.float32), "edge_index": np.zeros((2, 4), np.int64),
        "directed": False, "mirrored": True, "y": None, "splits": {"train": np.arange(2)}, "provenance": {},
    }  # fmt: skip
    dataset = GraphDataset(**good)
    assert repr(dataset) == "GraphDataset('g': 3 nodes, 2 undirected edges, 2 attributes; train 2)"
    for change in ({"x": np.zeros(3)}, {"edge_index": np.zeros((4, 2))}, {"y": np.zeros(4)}):
        with pytest.raises(ShapeError, match="g: "):
            GraphDataset(**(good | change))


def test_not_found_is_an_os_error(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="GEODIM_DATA") as caught:
        load_dataset("cora", tmp_path)
    assert isinstance(caught.value, DatasetNotFoundError)
