"""Batches hold every node once, with its features and label, alike from memory and files."""

from __future__ import annotations

from itertools import chain

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="SIGN needs PyTorch")

from geodim.errors import InputValueError, ShapeError
from geodim.gnn import hop_inputs
from geodim.gnn.batches import Batches, make_batches

N, D = 41, 3
Y = np.arange(N) * 7 % 5
# The first attribute is the node's number, so that a row tells whose it is.
X = np.column_stack([np.arange(N), np.ones(N), Y]).astype(np.float32)
EDGES = [(i, i + 1) for i in range(N - 1)]
CPU = torch.device("cpu")


def batches(inputs, nodes, *, batch_size=8, resident=True):
    return Batches(inputs, nodes, Y, 1, batch_size=batch_size, device=CPU, resident=resident)


@pytest.mark.parametrize("resident", [True, False])
@pytest.mark.parametrize("in_files", [True, False])
def test_every_node_once_with_its_label(tmp_path, in_files, resident):
    inputs = hop_inputs(X, EDGES, 2, folder=tmp_path / "hops" if in_files else None)
    nodes = np.random.default_rng(0).permutation(N)[:30]
    made = batches(inputs, nodes, resident=resident)
    seen = []
    for features, targets in made.epoch(torch.Generator().manual_seed(1)):
        assert len(features) == 2  # hops 0 and 1 of the three there are
        own = features[0][:, 0].numpy().astype(int)
        assert np.array_equal(Y[own], targets.numpy())
        assert np.array_equal(features[1].numpy(), inputs.layers[1][own])
        assert np.array_equal(own, np.sort(own))  # files are read from front to back
        seen.append(own.tolist())
    assert [len(own) for own in seen] == [8, 8, 8, 6]
    assert sorted(chain.from_iterable(seen)) == sorted(nodes.tolist())


def test_memory_and_files_give_the_same_batches(tmp_path):
    nodes = np.arange(3, 37)
    inputs = hop_inputs(X, EDGES, 1), hop_inputs(X, EDGES, 1, folder=tmp_path / "hops")
    one, other = (
        list(batches(source, nodes, resident=resident).epoch(torch.Generator().manual_seed(2)))
        for source, resident in zip(inputs, (True, False), strict=True)
    )
    for (features, targets), (features2, targets2) in zip(one, other, strict=True):
        assert torch.equal(targets, targets2)
        assert all(map(torch.equal, features, features2))


def test_shuffled_only_if_asked():
    made = batches(hop_inputs(X, EDGES, 1), np.arange(20))

    def order(generator):
        return [features[0][:, 0].tolist() for features, _ in made.epoch(generator)]

    assert list(chain.from_iterable(order(None))) == list(range(20))
    generator = torch.Generator().manual_seed(3)
    assert order(generator) != order(generator)


@pytest.mark.parametrize(
    ("total", "sizes"), [(16, [8, 8]), (17, [8, 9]), (18, [8, 8, 2]), (8, [8]), (1, [1])]
)
def test_no_batch_of_one_node(total, sizes):
    made = batches(hop_inputs(X, EDGES, 1), np.arange(total))
    assert [len(targets) for _, targets in made.epoch()] == sizes


def test_what_is_held(tmp_path):
    inputs = hop_inputs(X, EDGES, 1)
    splits = {"train": np.arange(10), "valid": np.arange(10, 30), "test": np.arange(30, N)}

    def held(memory):
        made = make_batches(inputs, Y, splits, 1, batch_size=4, device=CPU, memory=memory)
        return {part for part, each in made.items() if each._whole is not None}

    need = 2 * D * 4  # bytes per node
    assert held(30 * need) == {"valid", "train"}
    assert held(20 * need) == {"valid"}
    assert held(10 * need) == {"train"}
    assert held(0) == set()


def test_masks_are_taken_too():
    mask = np.zeros(N, bool)
    mask[[4, 9]] = True
    splits = {"train": mask, "valid": [1], "test": [2]}
    made = make_batches(hop_inputs(X, EDGES, 1), Y, splits, 1, batch_size=4, device=CPU, memory=0)
    assert [features[0][:, 0].tolist() for features, _ in made["train"].epoch()] == [[4, 9]]


@pytest.mark.parametrize(
    ("splits", "error", "message"),
    [
        ({"train": [0, 1], "valid": [2]}, InputValueError, "no split 'test'"),
        ({"train": [0], "valid": [2], "test": [3]}, InputValueError, "one training node"),
        ({"train": [0, 1], "valid": [], "test": [3]}, InputValueError, "split valid must hold"),
        ({"train": [0, N], "valid": [2], "test": [3]}, ShapeError, r"train has a node outside 0\.\.40"),
        ({"train": [True], "valid": [2], "test": [3]}, ShapeError, "the mask train has shape"),
    ],
)
def test_bad_splits(splits, error, message):
    with pytest.raises(error, match=message):
        make_batches(hop_inputs(X, EDGES, 1), Y, splits, 1, batch_size=4, device=CPU, memory=0)


def test_a_node_without_label():
    labels = np.where(np.arange(N) == 5, -1, Y)
    splits = {"train": [0, 5], "valid": [2], "test": [3]}
    with pytest.raises(InputValueError, match="node 5 of the split train has no label"):
        make_batches(hop_inputs(X, EDGES, 1), labels, splits, 1, batch_size=4, device=CPU, memory=0)
