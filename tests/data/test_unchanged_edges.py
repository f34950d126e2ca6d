"""Edges are counted in one pass and filled in by another: they must be the same in both."""

from __future__ import annotations

import numpy as np
import pytest

import geodim
from data.changing import aged
from geodim.data.graphs import as_graph
from geodim.data.graphs.edges import EdgeChunk
from geodim.errors import DataChangedError

EDGES = np.random.default_rng(2).integers(0, 40, (2, 500))


class Passes:
    """Edges that are others from some pass on."""

    def __init__(self, *passes):
        self.passes, self.n_edges = iter(passes), passes[0].shape[1]

    def chunks(self):
        edges = next(self.passes)
        yield EdgeChunk(0, edges[0].copy(), edges[1].copy(), np.ones(edges.shape[1]))


def crowded():
    """As many edges, all at one node."""
    return np.stack([np.zeros(500, np.int64), 1 + np.arange(500) % 39])


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(
    "later",
    [crowded(), EDGES[:, :400], np.hstack([EDGES, EDGES]), np.zeros((2, 500), np.int64), EDGES[:, :0]],
    ids=["other rows", "fewer", "more", "loops", "none"],
)
def test_edges_that_are_others_when_they_are_filled_in(later, weighted):
    from geodim.data.graphs.build import build_graph

    assert build_graph(Passes(EDGES, EDGES), 40, weighted=weighted).notes.listed_edges == 500
    for threads in (1, 3):
        with pytest.raises(DataChangedError, match="edges changed while they were read"):
            build_graph(Passes(EDGES, later), 40, weighted=weighted, threads=threads)


@pytest.mark.parametrize("kind", ["npy", "parquet"])
def test_edge_files_that_change_between_the_passes(tmp_path, monkeypatch, kind):
    path = tmp_path / f"edges.{kind}"

    def write(edges):
        if kind == "npy":
            np.save(path, edges)
        else:
            pandas = pytest.importorskip("pandas")
            pytest.importorskip("pyarrow")
            pandas.DataFrame(edges.T, columns=["u", "v"]).to_parquet(path)

    write(EDGES)
    aged(path)
    assert as_graph(path).notes.listed_edges == 500
    from geodim.data.graphs import build

    count = build._count

    def counting(*arguments, **options):
        found = count(*arguments, **options)
        write(crowded())
        return found

    monkeypatch.setattr(build, "_count", counting)
    with pytest.raises(DataChangedError, match="edges"):
        as_graph(path)


def test_mapped_edges_that_change_between_the_passes(tmp_path, monkeypatch):
    """Also where every row keeps its length: the edges are others, and only the file tells."""
    path = tmp_path / "edges.npy"
    ring = np.stack([np.arange(40), (np.arange(40) + 1) % 40])
    np.save(path, ring)
    aged(path)
    from geodim.data.graphs import build

    count = build._count

    def counting(*arguments, **options):
        found = count(*arguments, **options)
        np.save(path, np.stack([np.arange(40), (np.arange(40) + 7) % 40]))
        return found

    monkeypatch.setattr(build, "_count", counting)
    edges = np.load(path, mmap_mode="r")
    with pytest.raises(DataChangedError, match=r"edges.npy"):
        as_graph(edges)
    aged(path)
    with pytest.raises(DataChangedError, match=r"edges.npy"):
        geodim.khop_dimensions(np.eye(40), path, 1)
