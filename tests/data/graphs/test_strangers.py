"""Lists of edges from strangers: wrong indices, pointers and sizes.

None reaches compiled code or takes memory.
"""

from __future__ import annotations

import gzip
import os
import zipfile

import numpy as np
import pytest
from scipy import sparse

from geodim.data.graphs import as_graph
from geodim.data.graphs.edges import PairEdges
from geodim.errors import DataFileError, GeodimError, InputValueError, MachineMemoryError
from geodim.features import make_operator


def save_parts(path, data, indices, indptr, shape=(4, 4), kind="csr"):
    """A sparse matrix as scipy saves it, whatever its parts."""
    np.savez(
        path,
        format=np.array(kind.encode()),
        shape=np.array(shape),
        data=np.asarray(data, np.float64),
        indices=np.asarray(indices, np.int32),
        indptr=np.asarray(indptr, np.int32),
    )


@pytest.mark.parametrize("kind", ["csr", "csc"])
@pytest.mark.parametrize(
    ("indices", "indptr"),
    [
        ([1, 2, 10**9, 0], [0, 1, 2, 3, 4]),
        ([1, -(10**9), 2, 0], [0, 1, 2, 3, 4]),
        ([1, 2, 3, 0], [0, 3, 1, 4, 4]),
        ([1, 2, 3, 0], [0, 10**9, 2, 3, 4]),
        ([1, 2, 3, 0], [0, -5, 2, 3, 4]),
        ([1, 2, 3, 0], [2, 2, 2, 3, 4]),
        ([1, 2, 3, 0], [0, 1, 2, 3, 10**9]),
        ([1, 2, 3, 0], [0, 4]),
    ],
)
def test_a_matrix_whose_indices_lead_out_of_it(tmp_path, kind, indices, indptr):
    """With a stored zero, which compiled code takes out."""
    path = tmp_path / "matrix.npz"
    save_parts(path, [0.0, 1.0, 1.0, 1.0], indices, indptr, kind=kind)
    for weights in (None, True):
        with pytest.raises(GeodimError, match=r"matrix\.npz"):
            as_graph(path, edge_weights=weights)


def test_a_matrix_in_memory_that_was_tampered_with():
    matrix = sparse.csr_array(np.eye(3) - np.diag([0, 0, 1.0]))
    matrix.indices[0] = 10**6
    with pytest.raises(InputValueError, match=r"damaged|indices"):
        as_graph(matrix)
    for kind in ("csr", "csc"):
        hop = sparse.csr_array(np.eye(3)).asformat(kind)
        hop.indices[1] = 10**9
        with pytest.raises(InputValueError, match="the operator is not a valid sparse matrix"):
            make_operator(None, hop)


@pytest.mark.parametrize("id_", [2**60, 2**62, 2**63 - 1])
def test_node_numbers_beyond_the_memory(tmp_path, id_):
    path = tmp_path / "edges.csv"
    path.write_text(f"0,1\n1,{id_}\n")
    with pytest.raises(InputValueError, match=r"edges\.csv: the largest node number is"):
        as_graph(path)
    with pytest.raises(MachineMemoryError, match=r"edges\.csv: a graph of .* nodes needs"):
        as_graph(path, id_)
    np.save(tmp_path / "edges.npy", np.array([[0, 1], [1, id_]]))
    with pytest.raises(InputValueError, match=r"edges\.npy"):
        as_graph(tmp_path / "edges.npy")


@pytest.mark.parametrize("value", [2**60, 0, -3, 1.5, np.nan, [3, 3], "many", True])
def test_num_nodes_that_is_none(tmp_path, value):
    path = tmp_path / "edges.npz"
    np.savez(path, edge_index=np.array([[0, 1], [1, 2]]), num_nodes=np.array(value))
    with pytest.raises(GeodimError, match=r"edges\.npz"):
        as_graph(path)


@pytest.mark.parametrize(
    "text",
    ["0,-1\n", "0,5\n1,2\n", "0.5,1\n", "nan,1\n", "0,inf\n", "0,1\n2\n", "0,1e30\n", "a,b\nc,d\n",
     "0,1\n\x00\n", "0,1\n" + "9" * 5000 + ",1\n"],
)  # fmt: skip
def test_edges_that_are_none_name_the_file(tmp_path, text):
    path = tmp_path / "edges.csv"
    path.write_text(text)
    with pytest.raises(GeodimError, match=r"edges\.csv"):
        as_graph(path, 4)


@pytest.mark.parametrize("packed", [False, True])
def test_a_line_without_an_end(tmp_path, packed):
    path = tmp_path / ("edges.csv.gz" if packed else "edges.csv")
    content = b"0,1\n" + b"1" * (3 << 20)
    path.write_bytes(gzip.compress(content, 1) if packed else content)
    with pytest.raises(DataFileError, match=r"edges.*: line 2 has more than 1,048,576 characters"):
        as_graph(path)


def test_an_archive_that_unpacks_to_more_than_there_is(tmp_path, monkeypatch):
    path = tmp_path / "edges.npz"
    np.savez_compressed(path, edge_index=np.zeros((2, 300_000), np.int64))
    assert path.stat().st_size < 20_000
    monkeypatch.setattr("geodim.memory.free_memory", lambda: 1 << 20)
    with pytest.raises(MachineMemoryError, match=r"edges\.npz holds needs 4\.8 MB"):
        as_graph(path)


def test_a_text_that_unpacks_to_more_than_there_is(tmp_path, monkeypatch):
    path = tmp_path / "edges.txt.gz"
    path.write_bytes(gzip.compress(b"0 1\n" * 50_000))
    monkeypatch.setattr("geodim.memory.free_memory", lambda: 100_000)
    with pytest.raises(MachineMemoryError, match=r"edges\.txt\.gz"):
        as_graph(path)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes on this system")
def test_a_named_pipe_does_not_hang(tmp_path):
    os.mkfifo(tmp_path / "edges.csv")
    with pytest.raises(DataFileError, match="pipe"):
        as_graph(tmp_path / "edges.csv")


@pytest.mark.parametrize("name", ["a\x00.csv", "x" * 5000 + ".csv"])
def test_names_that_no_file_has(name):
    with pytest.raises(DataFileError):
        as_graph(name)


def test_a_zip_that_is_no_archive_of_arrays(tmp_path):
    path = tmp_path / "edges.npz"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("edge_index.npy", b"\x93NUMPY\x01\x00\x10\x00{'descr': '<i8',")
    with pytest.raises(DataFileError, match=r"edges\.npz"):
        as_graph(path)


def test_short_ids_counted_through_do_not_wrap_around():
    edges = PairEdges(np.array([1], np.uint8), np.array([2], np.int16), offsets=(300, 70_000))
    ((_, u, v, _),) = edges.chunks()
    assert (u.tolist(), v.tolist()) == ([301], [70_002])
