"""Hop features for classifiers: the paper's k-hop features, in memory and in files."""

from __future__ import annotations

import logging
import os

import numpy as np
import pytest
from scipy import sparse

from geodim import paper
from geodim.errors import DataFileError, InputValueError, NonFiniteError, ShapeError
from geodim.gnn import hop_inputs
from geodim.gnn.inputs import hop_inputs_bytes
from khop_cases import attributes, random_graph

N, D, K = 70, 21, 3
X = attributes(3, N, D)
EDGES = random_graph(3, N, 160)


def oracle():
    """The paper's features, times the d_max that it divides by; one block per hop."""
    features = paper.k_hop_features(X, EDGES, K) * (X.max(axis=0) - X.min(axis=0)).max()
    return features.reshape(N, K + 1, D).swapaxes(0, 1)


@pytest.mark.parametrize("form", ["dense", "sparse"])
def test_the_papers_features(form):
    inputs = hop_inputs(X if form == "dense" else sparse.csr_array(X), EDGES, K)
    assert inputs.hops == K
    assert inputs.n_attributes == D
    for layer, expected in zip(inputs.layers, oracle(), strict=True):
        assert layer.dtype == np.float32
        np.testing.assert_allclose(layer, expected, rtol=1e-6, atol=1e-7)


def test_some_nodes_have_the_rows_they_have_among_all():
    every, some = hop_inputs(X, EDGES, K), hop_inputs(X, EDGES, K, nodes=[60, 2, 2, 31])
    assert some.nodes.tolist() == [2, 31, 60]
    for whole, part in zip(every.layers, some.layers, strict=True):
        assert np.array_equal(part, whole[[2, 31, 60]])
    assert some.positions(np.array([60, 2])).tolist() == [2, 0]
    assert np.array_equal(some.gather(np.array([2, 0]), 1)[1], every.layers[1][[60, 2]])
    with pytest.raises(ShapeError, match="node 3 is not among"):
        some.positions(np.array([2, 3]))


def test_in_files_the_same_bits(tmp_path, caplog):
    kept = hop_inputs(X, EDGES, K)
    written = hop_inputs(X, EDGES, K, folder=tmp_path / "hops")
    assert written.streamed
    assert not kept.streamed
    for one, other in zip(kept.layers, written.layers, strict=True):
        assert np.array_equal(one, other)
    made = (tmp_path / "hops" / "hop0.npy").stat().st_ino
    hop_inputs(X, EDGES, K, folder=tmp_path / "hops")
    assert (tmp_path / "hops" / "hop0.npy").stat().st_ino == made  # taken, not made again
    # Other data, nodes or hops in the same place are noticed.
    with caplog.at_level(logging.WARNING):
        for options in ({"X": X + 1.0}, {"nodes": [1, 2]}, {"hops": 1}, {"operator": "rw"}):
            hop_inputs(X, EDGES, K, folder=tmp_path / "hops")
            arguments = {"X": X, "graph": EDGES, "hops": K} | options
            again = hop_inputs(**arguments, folder=tmp_path / "hops")
            expected = hop_inputs(**arguments)
            assert all(map(np.array_equal, again.layers, expected.layers)), options
            assert len(again.layers) == len(expected.layers)


def test_operators():
    twice = sparse.diags_array(np.full(N, 2.0))
    assert np.array_equal(hop_inputs(X, None, 1, operator=twice).layers[1], X.astype(np.float32) * 2)
    with pytest.raises(ShapeError):
        hop_inputs(X, None, 1, operator=sparse.eye_array(N + 1))


def test_giving_up_leaves_nothing(tmp_path):
    def stop():
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        hop_inputs(X, EDGES, K, folder=tmp_path / "hops", stop=stop)
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_is_noticed_before(tmp_path):
    from geodim.gnn.inputs import _check_space

    with pytest.raises(DataFileError, match="has too little space"):
        _check_space(tmp_path / "hops", 1 << 62)
    assert hop_inputs_bytes(10, 3, 1) == 10 * 3 * 2 * 4


def test_bad_arguments():
    with pytest.raises(InputValueError, match="hops"):
        hop_inputs(X, EDGES, -1)
    with pytest.raises(ShapeError, match=r"node 70 is outside 0\.\.69"):
        hop_inputs(X, EDGES, 1, nodes=[N])
    with pytest.raises(InputValueError, match="whole numbers"):
        hop_inputs(X, EDGES, 1, nodes=[0.5])
    with pytest.raises(NonFiniteError):
        hop_inputs(np.where(X > 2, np.nan, X), EDGES, 1)
    assert "70 of 70 nodes" in repr(hop_inputs(X, EDGES, 1))


@pytest.mark.skipif(not hasattr(os, "posix_fallocate"), reason="the system sets no space aside")
def test_a_disk_that_fills_up_is_an_error_and_not_the_end(tmp_path, monkeypatch):
    """A memory map that meets a full disk is ended by SIGBUS: the space is set aside before."""

    def full(*_arguments):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "posix_fallocate", full)
    with pytest.raises(DataFileError, match=r"cannot write .*hops: the disk is full"):
        hop_inputs(np.eye(6), [(0, 1), (1, 2)], 1, folder=tmp_path / "hops")
    assert not list(tmp_path.iterdir())
