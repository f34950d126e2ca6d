"""Edge lists on disk."""

from __future__ import annotations

import gzip

import numpy as np
import pytest
from scipy import sparse

from data.graphs.naive_graph import check_graph, same_graph
from geodim.data.graphs import as_graph
from geodim.errors import DataFileError, InputTypeError, InputValueError

EDGES = [(0, 1), (1, 2), (4, 3), (1, 0)]
PLAIN = as_graph(EDGES)
WEIGHTED = as_graph(EDGES, edge_weights=[0.5, 2.0, 1.0, 0.5])


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("edges.csv", "0,1\n1,2\n4,3\n1,0\n"),
        ("edges.csv", "source,target\n0,1\n1,2\n4,3\n1,0"),
        ("edges.csv", "0, 1\r\n1, 2\r\n4, 3\r\n1, 0\r\n"),
        ("edges.tsv", "0\t1\n1\t2\n4\t3\n1\t0\n"),
        ("edges.txt", "# from somewhere\n\n0 1\n1   2\n4\t3\n\n1 0 # again\n"),
        ("edges.txt", "# names below\nfrom to\n0 1\n1 2\n4 3\n1 0\n"),
        ("edges.txt", "0,1\n1,2\n4,3\n1,0\n"),
        ("EDGES.CSV", "0,1\n1,2\n4,3\n1,0\n"),
        ("edges.csv", "0,1,9\n1,2,9\n4,3,9\n1,0,9\n"),
    ],
)
@pytest.mark.parametrize("packed", [False, True])
def test_text(tmp_path, name, text, packed):
    path = tmp_path / (name + ".gz" if packed else name)
    path.write_bytes(gzip.compress(text.encode()) if packed else text.encode())
    assert same_graph(as_graph(path), PLAIN)
    check_graph(as_graph(str(path), 9), 9, EDGES)


@pytest.mark.parametrize(
    ("text", "weights"),
    [
        ("0,1,0.5\n1,2,2\n4,3,1e0\n1,0,.5\n", True),
        ("u,v,w\n0,1,0.5\n1,2,2\n4,3,1\n1,0,.5\n", True),
        ("u,v,when,w\n0,1,x,0.5\n1,2,y,2\n4,3,z,1\n1,0,z,.5\n", "w"),
    ],
)
def test_text_weights(tmp_path, text, weights):
    path = tmp_path / "edges.csv"
    path.write_text(text)
    assert same_graph(as_graph(path, edge_weights=weights), WEIGHTED)


def test_text_in_chunks(tmp_path, monkeypatch):
    monkeypatch.setattr("geodim.data.graphs.files.CHUNK", 2)
    path = tmp_path / "edges.csv"
    path.write_text("a,b\n0,1\n1,2\n4,3\n1,0\n")
    assert same_graph(as_graph(path), PLAIN)


def test_ids_beyond_the_exact_range_of_floats(tmp_path):
    path = tmp_path / "edges.csv"
    path.write_text(f"0,{2**53 + 1}\n")
    with pytest.raises(InputValueError, match=r"edge 0 \(0, 9007199254740993\)"):
        as_graph(path, 5)


def test_empty_text(tmp_path):
    path = tmp_path / "edges.txt"
    path.write_text("# nothing\n")
    check_graph(as_graph(path, 2), 2, [])
    with pytest.raises(InputValueError, match="n_nodes"):
        as_graph(path)
    path.write_text("from to\n")
    check_graph(as_graph(path, 2), 2, [])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("0,1\n1,x\n", "'x'"),
        ("0,1\n1\n", "column"),
        ("0\n1\n", "two columns"),
        ("u,v\n0,1\n,2\n", "row"),
    ],
)
def test_broken_text(tmp_path, text, message):
    path = tmp_path / "edges.csv"
    path.write_text(text)
    with pytest.raises(DataFileError, match=message) as error:
        as_graph(path)
    assert str(path) in str(error.value)


def test_fractions_name_the_edge(tmp_path):
    path = tmp_path / "edges.csv"
    path.write_text("0,1\n1,2.5\n")
    with pytest.raises(InputValueError, match=r"edge 1 \(1.0, 2.5\)"):
        as_graph(path)


@pytest.mark.parametrize("damage", ["truncated", "overwritten"])
def test_damaged_gzip(tmp_path, damage):
    path = tmp_path / "edges.csv.gz"
    packed = bytearray(gzip.compress("".join(f"{i},{i * i}\n" for i in range(5000)).encode()))
    if damage == "truncated":
        del packed[-100:]
    else:
        packed[2000:2100] = bytes(100)
    path.write_bytes(packed)
    with pytest.raises(DataFileError, match="not a complete list of edges"):
        as_graph(path)


def test_byte_order_mark(tmp_path):
    path = tmp_path / "edges.csv"
    path.write_bytes(b"\xef\xbb\xbf0,1\n1,2\n4,3\n1,0\n")
    assert same_graph(as_graph(path), PLAIN)


def test_weights_that_are_not_there(tmp_path):
    path = tmp_path / "edges.csv"
    path.write_text("u,v\n0,1\n")
    with pytest.raises(InputValueError, match="no column 'w'"):
        as_graph(path, edge_weights="w")
    with pytest.raises(InputValueError, match="third column"):
        as_graph(path, edge_weights=True)


def test_npy_is_memory_mapped(tmp_path):
    path = tmp_path / "edges.npy"
    for array in (np.array(EDGES), np.array(EDGES).T):
        np.save(path, array)
        assert same_graph(as_graph(path), PLAIN)
    np.save(path, np.array([[0, 1], [2, 3]]))
    check_graph(as_graph(path, orientation="rows"), 4, [(0, 1), (2, 3)])


def test_npz(tmp_path):
    path = tmp_path / "graph.npz"
    sparse.save_npz(path, PLAIN.to_scipy())
    assert same_graph(as_graph(path), PLAIN)
    sparse.save_npz(path, WEIGHTED.to_scipy())
    assert same_graph(as_graph(path, edge_weights=True), WEIGHTED)
    np.savez(
        path, edge_index=np.array(EDGES).T, num_nodes=np.array(9), edge_weight=np.array([0.5, 2.0, 1.0, 0.5])
    )
    check_graph(as_graph(path), 9, EDGES)
    assert as_graph(path, edge_weights=True).weights.tolist() == WEIGHTED.weights.tolist()
    with pytest.raises(InputValueError, match="'cost'"):
        as_graph(path, edge_weights="cost")
    np.savez(path, other=np.zeros(3))
    with pytest.raises(DataFileError, match="other"):
        as_graph(path)


def test_parquet(tmp_path, monkeypatch):
    pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    parquet = pytest.importorskip("pyarrow.parquet", reason="pyarrow is not installed")
    path = tmp_path / "edges.parquet"
    u, v = zip(*EDGES, strict=True)
    table = pa.table(
        {"src": u, "dst": pa.array(v, pa.int32()), "kind": list("abcd"), "w": [0.5, 2.0, 1.0, 0.5]}
    )
    parquet.write_table(table, path, row_group_size=3)
    monkeypatch.setattr("geodim.data.graphs.files.CHUNK", 2)
    assert same_graph(as_graph(path), PLAIN)
    assert same_graph(as_graph(path, edge_weights="w"), WEIGHTED)
    with pytest.raises(InputTypeError, match="real numbers"):
        as_graph(path, edge_weights=True)  # the third column holds letters
    parquet.write_table(pa.table({"src": ["a"], "dst": ["b"]}), path)
    with pytest.raises(InputTypeError, match=r"edge 0 \(a, b\)"):
        as_graph(path)
    parquet.write_table(pa.table({"src": pa.array([0, None]), "dst": [1, 2]}), path)
    with pytest.raises(InputValueError, match=r"edge 1 \(nan, 2\)"):
        as_graph(path)


@pytest.mark.parametrize("name", ["edges.npy", "edges.npz", "edges.parquet"])
def test_garbage(tmp_path, name):
    path = tmp_path / name
    path.write_bytes(b"not what the name says")
    with pytest.raises(DataFileError, match=name):
        as_graph(path)


def test_pickles_are_refused(tmp_path):
    path = tmp_path / "edges.npy"
    np.save(path, np.array([{}], dtype=object), allow_pickle=True)
    with pytest.raises(DataFileError, match="not a complete list of edges"):
        as_graph(path)


def test_missing_and_unknown(tmp_path):
    with pytest.raises(DataFileError, match=r"there is no file .*edges\.csv"):
        as_graph(tmp_path / "edges.csv")
    with pytest.raises(DataFileError, match="is a folder"):
        as_graph(tmp_path)
    path = tmp_path / "edges.xlsx"
    path.write_text("")
    with pytest.raises(DataFileError, match=r"known are \.csv"):
        as_graph(path)


@pytest.mark.parametrize("first", ["0,x", "x,0", "1;2,3"])
def test_a_first_line_that_is_half_an_edge(tmp_path, first):
    """Neither names nor an edge: it would be lost as a header."""
    path = tmp_path / "edges.csv"
    path.write_text(f"{first}\n1,2\n")
    with pytest.raises(DataFileError, match="neither an edge nor two names"):
        as_graph(path, 4)


def test_quoted_numbers_are_no_header(tmp_path):
    path = tmp_path / "edges.csv"
    path.write_text('"0","1"\n1,2\n')
    with pytest.raises(DataFileError):
        as_graph(path, 4)


def test_a_first_edge_from_0_to_1_is_an_edge(tmp_path):
    path = tmp_path / "edges.csv"
    path.write_text("0,1\n1,2\n")
    assert as_graph(path, 3).to_dict()["n_edges"] == 2
