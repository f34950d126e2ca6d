from __future__ import annotations

import builtins
import importlib
import pickle
import shutil
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from data.datasets import oracles
from data.datasets.layouts import MAG_COUNTS, MAG_RELATIONS, write_csv, write_mag
from geodim.data.datasets import MissingEmbeddingError, dataset_info, load_dataset, train_metapath2vec
from geodim.errors import DataFileError, InputValueError, MissingExtraError

if TYPE_CHECKING:
    from pathlib import Path

NPZ = "raw/mag_metapath2vec_emb.npz"
PT = "raw/mag_metapath2vec_emb.pt"


@pytest.mark.parametrize("chunk_bytes", [40, 1 << 20])
def test_npz_embedding(tmp_path: Path, chunk_bytes: int) -> None:
    truth, embedding = write_mag(tmp_path)
    np.savez(tmp_path / "ogbn_mag" / NPZ, **embedding)
    dataset = load_dataset("ogbn-mag", tmp_path, chunk_bytes=chunk_bytes)
    oracles.check_mapped(dataset, truth)
    assert dataset.directed
    types = dataset.provenance["node_types"]
    assert {kind: end - start for kind, (start, end) in types.items()} == MAG_COUNTS
    for kind, (start, end) in types.items():
        if kind != "paper":
            oracles.same(dataset.x[start:end], embedding[kind])
    assert list(dataset.provenance["edge_types"]) == ["___".join(triplet) for triplet in MAG_RELATIONS]


def test_torch_embedding(tmp_path: Path) -> None:
    torch = oracles.load("torch")
    truth, embedding = write_mag(tmp_path)
    tensors = {kind: torch.from_numpy(vectors) for kind, vectors in embedding.items()}
    torch.save(tensors, tmp_path / "ogbn_mag" / PT)
    oracles.check_mapped(load_dataset("ogbn-mag", tmp_path, chunk_bytes=40), truth)
    # The format of torch before 1.6.
    other, _ = write_mag(tmp_path / "old")
    torch.save(tensors, tmp_path / "old" / "ogbn_mag" / PT, _use_new_zipfile_serialization=False)
    oracles.check_mapped(load_dataset("ogbn-mag", tmp_path / "old"), other)


def test_torch_embedding_that_would_run_code(tmp_path: Path) -> None:
    oracles.load("torch")
    write_mag(tmp_path)

    class Evil:
        def __reduce__(self) -> Any:
            return builtins.open, (str(tmp_path / "marker"), "w")

    (tmp_path / "ogbn_mag" / PT).write_bytes(pickle.dumps({"author": Evil()}, protocol=2))
    with pytest.raises(DataFileError, match="plain tensors"):
        load_dataset("ogbn-mag", tmp_path)
    assert not (tmp_path / "marker").exists()


def test_torch_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_mag(tmp_path)
    (tmp_path / "ogbn_mag" / PT).write_bytes(b"")
    monkeypatch.setitem(importlib.import_module("sys").modules, "torch", None)
    with pytest.raises(MissingExtraError, match=r"geodim\[gnn\]") as caught:
        load_dataset("ogbn-mag", tmp_path)
    assert NPZ in caught.value.__notes__[0]


def test_embedding_of_torch_geometric_is_found(tmp_path: Path) -> None:
    torch = oracles.load("torch")
    truth, embedding = write_mag(tmp_path)
    place = tmp_path / "mag" / PT
    place.parent.mkdir(parents=True)
    torch.save({kind: torch.from_numpy(vectors) for kind, vectors in embedding.items()}, place)
    dataset = load_dataset("ogbn-mag", tmp_path)
    oracles.check_mapped(dataset, truth)
    assert dataset.provenance["embedding"] == str(place)


def test_no_embedding(tmp_path: Path) -> None:
    write_mag(tmp_path)
    with pytest.raises(MissingEmbeddingError, match="train_metapath2vec") as caught:
        load_dataset("ogbn-mag", tmp_path)
    assert str(tmp_path / "ogbn_mag" / NPZ) in str(caught.value)
    assert str(tmp_path / "ogbn_mag" / PT) in str(caught.value)
    info = dataset_info("ogbn-mag", tmp_path)
    assert not info.present
    assert info.missing == (PT,)


def test_a_new_embedding_replaces_the_converted_arrays(tmp_path: Path) -> None:
    truth, embedding = write_mag(tmp_path)
    np.savez(tmp_path / "ogbn_mag" / NPZ, **embedding)
    oracles.check_mapped(load_dataset("ogbn-mag", tmp_path), truth)
    np.savez(tmp_path / "ogbn_mag" / NPZ, **{kind: vectors + 1 for kind, vectors in embedding.items()})
    x = load_dataset("ogbn-mag", tmp_path).x
    n_papers = MAG_COUNTS["paper"]
    oracles.same(x[:n_papers], truth.x[:n_papers])
    oracles.same(x[n_papers:], truth.x[n_papers:] + 1)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"author": np.zeros((3, 4), np.float32)}, r"author have shape \(3, 4\)"),
        ({"institution": np.zeros((5, 3), np.float32)}, "institution have shape"),
        ({"field_of_study": None}, "field_of_study"),
        ({"author": np.asfortranarray(np.zeros((23, 4), np.float32))}, "C order"),
    ],
)
def test_unsuitable_embeddings(tmp_path: Path, change: dict[str, Any], message: str) -> None:
    _, embedding = write_mag(tmp_path)
    arrays = {kind: vectors for kind, vectors in (embedding | change).items() if vectors is not None}
    np.savez(tmp_path / "ogbn_mag" / NPZ, **arrays)
    with pytest.raises(DataFileError, match=message):
        load_dataset("ogbn-mag", tmp_path)


@pytest.mark.parametrize(
    ("file", "rows", "message"),
    [
        ("num-node-dict", [["paper", "author"], [31, 23]], "one line of counts"),
        ("num-node-dict", [sorted(MAG_COUNTS), ["many", 7, 5, 31]], "not a whole number"),
        ("triplet-type-list", [["paper", "cites", "paper"]], "expected the relations"),
        ("relations/paper___cites___paper/edge", [[31, 0]] * 42, r"outside 0\.\.30"),
        ("relations/paper___cites___paper/num-edge-list", [[41]], "announces 41"),
        ("node-label/paper/node-label", [[1]] * 30, "fewer than"),
    ],
)
def test_unsuitable_files(tmp_path: Path, file: str, rows: list[list[Any]], message: str) -> None:
    _, embedding = write_mag(tmp_path)
    np.savez(tmp_path / "ogbn_mag" / NPZ, **embedding)
    write_csv(tmp_path / "ogbn_mag" / "raw" / f"{file}.csv.gz", rows)
    with pytest.raises(DataFileError, match=message):
        load_dataset("ogbn-mag", tmp_path)


def test_as_ogb_reads_it(tmp_path: Path) -> None:
    _, embedding = write_mag(tmp_path, seed=4)
    np.savez(tmp_path / "ogbn_mag" / NPZ, **embedding)
    graph, labels, splits = oracles.ogb_dataset("ogbn-mag", tmp_path)
    dataset = load_dataset("ogbn-mag", tmp_path)
    nodes, edges = dataset.provenance["node_types"], dataset.provenance["edge_types"]
    assert {kind: end - start for kind, (start, end) in nodes.items()} == graph["num_nodes_dict"]
    oracles.same(dataset.x[slice(*nodes["paper"])], graph["node_feat_dict"]["paper"])
    oracles.same(dataset.y[slice(*nodes["paper"])], labels["paper"][:, 0])
    for (head, relation, tail), expected in graph["edge_index_dict"].items():
        found = dataset.edge_index[:, slice(*edges[f"{head}___{relation}___{tail}"])]
        oracles.same(found - np.array([[nodes[head][0]], [nodes[tail][0]]]), expected)
    for part, index in splits.items():
        oracles.same(dataset.splits[part], index["paper"])


def test_as_torch_geometric_makes_it_homogeneous(tmp_path: Path) -> None:
    torch, datasets = oracles.load("torch"), oracles.load("torch_geometric.datasets")
    _, embedding = write_mag(tmp_path, seed=6)
    # OGB_MAG keeps the same files under other folders.
    shutil.copytree(tmp_path / "ogbn_mag" / "raw", tmp_path / "mag" / "raw")
    shutil.copytree(tmp_path / "ogbn_mag" / "split", tmp_path / "mag" / "raw" / "split")
    torch.save(
        {kind: torch.from_numpy(vectors) for kind, vectors in embedding.items()}, tmp_path / "mag" / PT
    )
    with oracles.quietly():
        data = datasets.OGB_MAG(str(tmp_path), preprocess="metapath2vec")[0]
        whole = data.to_homogeneous()
    dataset = load_dataset("ogbn-mag", tmp_path)
    oracles.same(dataset.x, whole.x)
    oracles.same(dataset.edge_index, whole.edge_index)
    oracles.same(dataset.y[: MAG_COUNTS["paper"]], data["paper"].y)
    for part, mask in (("train", "train_mask"), ("valid", "val_mask"), ("test", "test_mask")):
        oracles.same(np.sort(dataset.splits[part]), np.flatnonzero(data["paper"][mask].numpy()))


SMALL: dict[str, Any] = {
    "embedding_dim": 4, "walk_length": 9, "context_size": 3, "walks_per_node": 2, "num_negative_samples": 2,
    "batch_size": 8,
}  # fmt: skip


def test_train_metapath2vec(tmp_path: Path) -> None:
    torch = oracles.load("torch")
    oracles.load("torch_geometric.nn")
    write_mag(tmp_path)
    state = torch.random.get_rng_state()
    with oracles.quietly():
        path = train_metapath2vec(tmp_path, epochs=1, **SMALL)
    assert path == tmp_path / "ogbn_mag" / NPZ
    assert torch.equal(state, torch.random.get_rng_state())
    with np.load(path) as archive:
        first = dict(archive)
    assert {kind: vectors.shape for kind, vectors in first.items()} == {
        k: (n, 4) for k, n in MAG_COUNTS.items()
    }
    assert all(np.isfinite(vectors).all() for vectors in first.values())
    x = load_dataset("ogbn-mag", tmp_path).x
    oracles.same(x[MAG_COUNTS["paper"] :][: MAG_COUNTS["author"]], first["author"])
    # Same seed, same vectors; another seed or more epochs, others.
    for changes, equal in (
        ({}, True),
        ({"seed": 1}, False),
        ({"epochs": 2}, False),
        ({"max_steps": 1}, False),
    ):
        with oracles.quietly():
            train_metapath2vec(tmp_path, **({"epochs": 1} | SMALL | changes))
        with np.load(path) as archive:
            assert np.array_equal(archive["author"], first["author"]) == equal, changes


def test_training_needs_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_mag(tmp_path)
    monkeypatch.setitem(importlib.import_module("sys").modules, "torch", None)
    with pytest.raises(MissingExtraError, match=r"geodim\[gnn\]"):
        train_metapath2vec(tmp_path)


@pytest.mark.parametrize(
    "change", [{"epochs": 0}, {"context_size": 99}, {"context_size": 1}, {"embedding_dim": 0}]
)
def test_training_parameters(tmp_path: Path, change: dict[str, int]) -> None:
    oracles.load("torch_geometric.nn")
    write_mag(tmp_path)
    with pytest.raises(InputValueError, match=next(iter(change))):
        train_metapath2vec(tmp_path, **(SMALL | change))
