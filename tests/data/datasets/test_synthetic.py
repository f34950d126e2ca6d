from __future__ import annotations

import math
import tracemalloc
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from costs import slow
from data.datasets import oracles
from geodim.data.datasets import GraphDataset, iter_rmat_edges, load_dataset, synthetic
from geodim.errors import InputTypeError, InputValueError

if TYPE_CHECKING:
    from pathlib import Path


def check_undirected(dataset: GraphDataset) -> None:
    """Both directions, no self-loops, no repetitions, sorted by target and then by source."""
    source, target = dataset.edge_index
    assert not (source == target).any()
    code = target * dataset.n_nodes + source
    assert (np.diff(code) > 0).all()
    oracles.same(np.sort(source * dataset.n_nodes + target), code)
    assert not dataset.directed
    assert dataset.mirrored


def check_splits(dataset: GraphDataset) -> None:
    everything = np.concatenate([dataset.splits[part] for part in ("train", "valid", "test")])
    oracles.same(np.sort(everything), np.arange(dataset.n_nodes))
    assert len(dataset.splits["train"]) == int(0.6 * dataset.n_nodes)


@pytest.mark.turns(2)
@pytest.mark.parametrize("k", [1, 10])
def test_digits(k: int) -> None:
    from sklearn.datasets import load_digits

    dataset = load_dataset("digits", n_neighbors=k)
    pixels, labels = load_digits(return_X_y=True)
    oracles.same(dataset.x, pixels)
    oracles.same(dataset.y, labels)
    # By the definition: i and j are joined when one is among the k nearest of the other; of equally far ones
    # (distances of whole numbers often tie) the first is taken.
    whole = pixels.astype(np.int64)
    index = np.arange(len(whole))
    pairs = set()
    for i, image in enumerate(whole):
        order = np.lexsort((index, ((whole - image) ** 2).sum(axis=1)))
        pairs |= {(i, int(j)) for j in order[order != i][:k]}
    pairs |= {(j, i) for i, j in pairs}
    assert set(map(tuple, dataset.edge_index.T.tolist())) == pairs
    check_undirected(dataset)
    check_splits(dataset)


def test_sbm_is_complete_or_empty_at_the_extremes() -> None:
    dataset = load_dataset("sbm", nodes=23, blocks=4, p_in=1.0, p_out=0.0)
    blocks = np.arange(23) % 4
    expected = {(i, j) for i in range(23) for j in range(23) if i != j and blocks[i] == blocks[j]}
    assert set(map(tuple, dataset.edge_index.T.tolist())) == expected
    check_undirected(dataset)
    oracles.same(dataset.y, blocks)
    assert load_dataset("sbm", nodes=20, p_in=0.0, p_out=0.0).n_edges == 0
    assert load_dataset("sbm", nodes=20, p_in=1.0, p_out=1.0).n_edges == 20 * 19 // 2
    assert load_dataset("sbm", nodes=1, blocks=1).n_edges == 0


def test_sbm_has_the_expected_number_of_edges() -> None:
    nodes, blocks, p_in, p_out = 3000, 3, 0.02, 0.004
    dataset = load_dataset("sbm", nodes=nodes, blocks=blocks, p_in=p_in, p_out=p_out, seed=3)
    check_undirected(dataset)
    check_splits(dataset)
    inside = dataset.y[dataset.edge_index[0]] == dataset.y[dataset.edge_index[1]]
    size = nodes // blocks
    for found, pairs, p in (
        (inside.sum() / 2, blocks * size * (size - 1) / 2, p_in),
        ((~inside).sum() / 2, size * size * blocks * (blocks - 1) / 2, p_out),
    ):
        # Binomial: five standard deviations.
        assert abs(found - pairs * p) < 5 * math.sqrt(pairs * p * (1 - p))


@pytest.mark.parametrize("trials", [500, slow(2000)])
def test_sbm_pairs_are_equally_likely(trials: int) -> None:
    """Every pair of a block of five, over many seeds: the numbering of pairs skips none."""
    counts = np.zeros((5, 5))
    p = 0.3
    for seed in range(trials):
        source, target = load_dataset("sbm", nodes=5, blocks=1, attributes=1, p_in=p, seed=seed).edge_index
        counts[source, target] += 1
    off = counts[~np.eye(5, dtype=bool)]
    assert (np.abs(off - trials * p) < 5 * math.sqrt(trials * p * (1 - p))).all()
    assert np.trace(counts) == 0


def test_sbm_attributes() -> None:
    near, far = (load_dataset("sbm", nodes=4000, blocks=2, attributes=3, separation=s) for s in (0.0, 50.0))
    assert near.x.dtype == np.float32
    assert np.abs(near.x.mean(axis=0)).max() < 5 / math.sqrt(4000)
    assert np.abs(near.x.std(axis=0) - 1).max() < 0.1
    gap = np.linalg.norm(far.x[far.y == 0].mean(axis=0) - far.x[far.y == 1].mean(axis=0))
    assert gap > 10


def test_rmat_sizes_and_ranges(tmp_path: Path) -> None:
    for nodes, edges in ((1, 10), (2, 0), (1000, 5000), (1024, 300_000), (1025, 2000)):
        dataset = load_dataset("rmat", nodes=nodes, edges=edges, attributes=3, seed=1)
        assert (dataset.n_nodes, dataset.n_edges, dataset.n_attributes) == (nodes, edges, 3)
        assert dataset.edge_index.dtype == np.int64
        if edges:
            assert dataset.edge_index.min() >= 0
            assert dataset.edge_index.max() < nodes
        assert dataset.directed
        assert dataset.y is None
        assert not dataset.splits


def test_rmat_quadrants() -> None:
    """At each level an edge falls into the four quadrants with probabilities a, b, c, d, independently."""
    a, b, c, edges = 0.5, 0.25, 0.15, 200_000
    source, target = load_dataset("rmat", nodes=16, edges=edges, attributes=1, a=a, b=b, c=c).edge_index
    for level in range(4):
        quadrant = 2 * (source >> level & 1) + (target >> level & 1)
        share = np.bincount(quadrant, minlength=4) / edges
        assert np.abs(share - [a, b, c, 1 - a - b - c]).max() < 5 * 0.5 / math.sqrt(edges)
    high, low = 2 * (source >> 3 & 1) + (target >> 3 & 1), 2 * (source & 1) + (target & 1)
    joint = np.bincount(4 * high + low, minlength=16).reshape(4, 4) / edges
    probabilities = np.array([a, b, c, 1 - a - b - c])
    assert np.abs(joint - np.outer(probabilities, probabilities)).max() < 5 * 0.5 / math.sqrt(edges)
    # Self-loops and repetitions are kept.
    assert (source == target).any()
    assert len(np.unique(source * 16 + target)) < edges


def test_rmat_of_uneven_size_is_the_larger_graph_without_the_outside() -> None:
    """Drawing again is the same as leaving out: compare with the full power of two."""
    full = load_dataset("rmat", nodes=16, edges=100_000, attributes=1, seed=1).edge_index
    part = load_dataset("rmat", nodes=11, edges=100_000, attributes=1, seed=2).edge_index
    inside = full[:, (full < 11).all(axis=0)]
    expected = np.bincount(inside[0] * 11 + inside[1], minlength=121) / inside.shape[1]
    found = np.bincount(part[0] * 11 + part[1], minlength=121) / part.shape[1]
    assert np.abs(expected - found).max() < 0.01


def test_rmat_on_disk_is_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(synthetic, "BLOCK_VALUES", 1 << 10)
    options: dict[str, Any] = {"nodes": 3000, "edges": 300_000, "attributes": 5, "seed": 4}
    memory = load_dataset("rmat", **options)
    disk = load_dataset("rmat", folder=tmp_path / "big", **options)
    oracles.same(memory.x, disk.x)
    oracles.same(memory.edge_index, disk.edge_index)
    assert isinstance(disk.edge_index, np.memmap)
    assert not disk.x.flags.writeable
    assert disk.provenance["folder"] == str(tmp_path / "big")


def test_rmat_memory_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(synthetic, "BLOCK_EDGES", synthetic.BLOCK_EDGES // 8)  # so that few edges are many
    tracemalloc.start()
    dataset = load_dataset("rmat", nodes=1 << 12, edges=250_000, attributes=2, folder=tmp_path)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < dataset.edge_index.nbytes / 3


def test_rmat_prefix() -> None:
    """A longer graph of the same seed begins with the shorter one."""
    short = np.concatenate(list(iter_rmat_edges(500, 1000, seed=3)), axis=1)
    long = np.concatenate(list(iter_rmat_edges(500, 400_000, seed=3)), axis=1)
    oracles.same(long[:, :1000], short)


@pytest.mark.parametrize(
    ("name", "options"), [("digits", {}), ("sbm", {}), ("rmat", {"nodes": 3000, "edges": 50_000})]
)
def test_seeds(name: str, options: dict[str, int]) -> None:
    one, again, other = (load_dataset(name, seed=seed, **options) for seed in (1, 1, 2))
    oracles.same(one.x, again.x)
    oracles.same(one.edge_index, again.edge_index)
    for part, index in one.splits.items():
        oracles.same(index, again.splits[part])
    if name == "digits":
        assert not np.array_equal(one.splits["train"], other.splits["train"])
    else:
        assert not np.array_equal(one.x, other.x)
        assert not np.array_equal(one.edge_index[:, :100], other.edge_index[:, :100])


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("digits", {"n_neighbors": 0}, "n_neighbors"),
        ("digits", {"n_neighbors": 1797}, "n_neighbors"),
        ("digits", {"nodes": 5}, "no option nodes; it has n_neighbors, seed"),
        ("sbm", {"nodes": 0}, "nodes"),
        ("sbm", {"nodes": 3, "blocks": 4}, "blocks"),
        ("sbm", {"p_in": 1.5}, "p_in"),
        ("sbm", {"p_out": -0.1}, "p_out"),
        ("sbm", {"p_out": math.nan}, "p_out"),
        ("sbm", {"seed": -1}, "seed"),
        ("rmat", {"edges": -1}, "edges"),
        ("rmat", {"attributes": 0}, "attributes"),
        ("rmat", {"a": 0.0}, "a, b, c"),
        ("rmat", {"a": 0.9}, "a, b, c"),
        ("rmat", {"b": -0.1}, "a, b, c"),
        ("cora", {"nodes": 5}, "takes no options"),
    ],
)
def test_options(name: str, options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputValueError, match=message):
        load_dataset(name, **options)


@pytest.mark.parametrize(("name", "options"), [("digits", {"n_neighbors": 2.5}), ("rmat", {"nodes": True})])
def test_options_of_another_kind(name: str, options: dict[str, Any]) -> None:
    with pytest.raises(InputTypeError, match=next(iter(options))):
        load_dataset(name, **options)
