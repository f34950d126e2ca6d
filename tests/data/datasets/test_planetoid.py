from __future__ import annotations

import pickle
import shutil
from typing import TYPE_CHECKING

import numpy as np
import pytest
from scipy import sparse

from data.datasets import oracles
from data.datasets.layouts import Truth, write_planetoid
from geodim.data.datasets import DatasetNotFoundError, GraphDataset, load_dataset
from geodim.errors import DataFileError
from published import published_root

if TYPE_CHECKING:
    from pathlib import Path

# The paper's table of statistics.
PAPER = {"PubMed": (19717, 88648, 500), "Cora": (2708, 10556, 1433), "CiteSeer": (3327, 9104, 3703)}


def check(dataset: GraphDataset, truth: Truth) -> None:
    assert isinstance(dataset.x, sparse.csr_array)
    assert dataset.x.dtype == np.float32
    assert dataset.x.has_canonical_format
    oracles.same(dataset.x.toarray(), truth.x)
    oracles.same(dataset.edge_index, truth.edge_index)
    assert dataset.edge_index.dtype == np.int64
    oracles.same(dataset.y, truth.y)
    assert set(dataset.splits) == {"train", "valid", "test"}
    for part, index in truth.splits.items():
        oracles.same(dataset.splits[part], index)


def check_against_pyg(dataset: GraphDataset, data: object) -> None:
    """``data`` is a torch_geometric Data object."""
    oracles.same(dataset.x.toarray(), data.x)
    oracles.same(dataset.edge_index, data.edge_index)
    oracles.same(dataset.y, data.y)
    for part, mask in (("train", data.train_mask), ("valid", data.val_mask), ("test", data.test_mask)):
        oracles.same(dataset.splits[part], np.flatnonzero(mask.numpy()))


@pytest.mark.parametrize("protocol", [2, 4])
@pytest.mark.parametrize(("folder", "holes"), [("Cora", False), ("CiteSeer", True), ("PubMed", False)])
def test_fixture_arrays(tmp_path: Path, folder: str, holes: bool, protocol: int) -> None:
    truth = write_planetoid(tmp_path, folder, holes=holes, protocol=protocol, seed=protocol)
    dataset = load_dataset(folder, tmp_path)
    check(dataset, truth)
    assert not dataset.directed
    assert dataset.mirrored
    assert not dataset.provenance["as_in_paper"]
    assert not dataset.provenance["files_as_published"]


@pytest.mark.parametrize(("folder", "holes"), [("Cora", False), ("CiteSeer", True)])
def test_fixture_as_pyg_reads_it(tmp_path: Path, folder: str, holes: bool) -> None:
    io = oracles.load("torch_geometric.io")
    write_planetoid(tmp_path, folder, holes=holes, seed=7)
    with oracles.quietly():
        data = io.read_planetoid_data(str(tmp_path / folder / "raw"), folder)
    check_against_pyg(load_dataset(folder, tmp_path), data)


@pytest.mark.published
@pytest.mark.parametrize("folder", PAPER)
def test_published_files_have_the_papers_statistics(folder: str) -> None:
    dataset = load_dataset(folder, published_root())
    assert (dataset.n_nodes, dataset.n_listed, dataset.n_attributes) == PAPER[folder]
    assert dataset.n_edges == dataset.n_listed // 2  # both directions are listed
    assert dataset.provenance["as_in_paper"]
    assert dataset.provenance["files_as_published"]
    # Undirected and without self-loops: every edge is listed from both sides.
    source, target = dataset.edge_index
    assert not (source == target).any()
    n = dataset.n_nodes
    oracles.same(np.sort(source * n + target), np.sort(target * n + source))


@pytest.mark.published
@pytest.mark.parametrize("folder", PAPER)
def test_published_files_as_pyg_reads_them(tmp_path: Path, folder: str) -> None:
    datasets = oracles.load("torch_geometric.datasets")
    # torch_geometric writes beside the raw files.
    shutil.copytree(
        published_root() / folder / "raw", tmp_path / folder / "raw", copy_function=shutil.copyfile
    )
    (tmp_path / folder).chmod(0o755)
    with oracles.quietly():
        data = datasets.Planetoid(str(tmp_path), folder)[0]
    check_against_pyg(load_dataset(folder, published_root()), data)


def test_environment_variable_names_the_root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    truth = write_planetoid(tmp_path / "elsewhere")
    assert load_dataset("cora").provenance["folder"] is None  # the package's own
    monkeypatch.setenv("GEODIM_DATA", str(tmp_path / "elsewhere"))
    check(load_dataset("cora"), truth)
    with pytest.raises(DatasetNotFoundError):
        load_dataset("cora", tmp_path)


def test_missing_files_are_named_with_their_folder(tmp_path: Path) -> None:
    write_planetoid(tmp_path)
    (tmp_path / "Cora" / "raw" / "ind.cora.tx").unlink()
    with pytest.raises(DatasetNotFoundError, match=r"ind\.cora\.tx") as caught:
        load_dataset("cora", tmp_path, offline=True)
    assert str(tmp_path / "Cora") in str(caught.value)
    assert "kimiyoung/planetoid" in str(caught.value)


def damage(part: str, content: object) -> tuple[str, bytes]:
    return part, content if isinstance(content, bytes) else pickle.dumps(content, protocol=2)


@pytest.mark.parametrize(
    ("part", "content"),
    [
        damage("test.index", b"530\nsix\n"),
        damage("test.index", b""),
        damage("test.index", b"530\n531\n"),
        damage("test.index", b"5\n" * 40),
        damage("test.index", b"".join(b"%d\n" % node for node in range(530, 569)) + b"1099511627777\n"),
        damage("test.index", b"".join(b"%d\n" % node for node in range(530, 569)) + b"9223372036854775807\n"),
        damage("graph", {0: [10**30]}),
        damage("graph", {10**30: [1]}),
        damage("graph", {1: [2**63 - 1]}),
        damage("tx", sparse.csr_matrix(np.eye(3))),
        damage("ty", np.eye(40, 5)),
        damage("ally", np.zeros(5)),
        damage("allx", [1, 2, 3]),
        damage("allx", np.zeros(5)),
        damage("graph", [1, 2, 3]),
        damage("graph", {0: [100_000]}),
        damage("graph", {0: [-1]}),
        damage("graph", {0: ["one"]}),
        damage("graph", {"zero": [1]}),
        damage("graph", {0: 1}),
        damage("y", np.zeros((10_000, 3))),
        damage("y", b"not a pickle"),
        damage("y", b""),
    ],
)
def test_unsuitable_files(tmp_path: Path, part: str, content: bytes) -> None:
    write_planetoid(tmp_path)
    (tmp_path / "Cora" / "raw" / f"ind.cora.{part}").write_bytes(content)
    with pytest.raises(DataFileError, match="Cora"):
        load_dataset("cora", tmp_path)


def test_dense_attributes_are_read_too(tmp_path: Path) -> None:
    truth = write_planetoid(tmp_path)
    path = tmp_path / "Cora" / "raw" / "ind.cora.allx"
    path.write_bytes(pickle.dumps(np.asfortranarray(truth.x[:530].astype(np.float64)), protocol=2))
    check(load_dataset("cora", tmp_path), truth)
