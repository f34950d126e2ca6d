"""Cora and CiteSeer as they come with the package."""

from __future__ import annotations

import hashlib
from importlib.resources import files
from typing import TYPE_CHECKING

import numpy as np
import pytest

from geodim.data.datasets import bundled, dataset_info, load_dataset
from geodim.data.datasets.bundled import load_bundled, write_bundled
from geodim.data.datasets.registry import get_spec
from geodim.data.graphs import as_graph
from geodim.errors import DataFileError
from published import published_root

if TYPE_CHECKING:
    from pathlib import Path

# Nodes, edges in both directions, attributes: the paper's table of data sets.
PAPER = {"cora": (2708, 10556, 1433), "citeseer": (3327, 9104, 3703)}
# Training nodes and classes of the public split: Yang, Cohen and Salakhutdinov, table 1.
PLANETOID = {"cora": (140, 7), "citeseer": (120, 6)}


@pytest.mark.parametrize("name", PAPER)
def test_what_the_papers_say(name):
    data = load_dataset(name)
    assert (data.n_nodes, data.n_listed, data.n_attributes) == PAPER[name]
    assert data.n_edges == as_graph(data.edge_index, data.n_nodes).n_edges == data.n_listed // 2
    assert (len(data.splits["train"]), data.y.max() + 1) == PLANETOID[name]
    assert (len(data.splits["valid"]), len(data.splits["test"])) == (500, 1000)
    assert data.provenance["as_in_paper"]
    assert dataset_info(name).present
    assert dataset_info(name).missing == ()
    assert f"{data.n_edges:,} undirected edges" in repr(data)
    source, target = data.edge_index
    assert not (source == target).any()
    order = target * data.n_nodes + source
    assert (np.diff(order) > 0).all()
    np.testing.assert_array_equal(np.sort(source * data.n_nodes + target), order)


@pytest.mark.published
@pytest.mark.parametrize("name", PAPER)
def test_the_same_as_from_the_published_files(name):
    ours, published = load_bundled(get_spec(name)), load_dataset(name, published_root())
    assert published.provenance["files_as_published"]
    for part in ("data", "indices", "indptr"):
        np.testing.assert_array_equal(getattr(ours.x, part), getattr(published.x, part))
    assert ours.x.shape == published.x.shape
    np.testing.assert_array_equal(ours.edge_index, published.edge_index)
    np.testing.assert_array_equal(ours.y, published.y)
    for part, nodes in published.splits.items():
        np.testing.assert_array_equal(ours.splits[part], nodes)


@pytest.mark.parametrize("name", PAPER)
def test_written_and_read(name, tmp_path: Path):
    """What is written from a data set are the arrays that come with the package."""
    write_bundled(load_bundled(get_spec(name)), tmp_path / "again.npz")
    there = files("geodim.data.datasets") / "files" / f"{name}.npz"
    with np.load(tmp_path / "again.npz") as one, np.load(there) as other:
        assert sorted(one) == sorted(other)
        for part in one:
            np.testing.assert_array_equal(one[part], other[part])


def test_another_file_in_its_place_is_refused(monkeypatch):
    monkeypatch.setitem(bundled.CHECKSUMS, "cora", hashlib.sha256(b"another").hexdigest())
    with pytest.raises(DataFileError, match="reinstall geodim"):
        load_dataset("cora")
