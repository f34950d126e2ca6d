"""Every container people hold graphs in gives the same graph."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from data.graphs.naive_graph import check_graph, same_graph
from geodim.data.graphs import as_graph

U = np.array([0, 1, 2, 4, 4, 3, 3, 1])
V = np.array([1, 2, 0, 5, 5, 3, 0, 0])
W = np.array([1.0, 2.0, 3.0, 4.0, 4.0, 5.0, 6.0, 1.0])
N = 7
EDGES = list(zip(U.tolist(), V.tolist(), strict=True))


def adjacency(weights=None):
    """Entries summed where repeated, as scipy does."""
    return sparse.coo_array((np.ones(len(U)) if weights is None else weights, (U, V)), shape=(N, N))


@pytest.mark.parametrize(
    "edges",
    [
        np.stack([U, V]),
        np.stack([U, V], axis=1),
        np.asfortranarray(np.stack([U, V])),
        np.stack([U, V]).astype(np.int32),
        np.stack([U, V]).astype(np.uint64),
        np.stack([U, V]).astype(np.float64),
        (U, V),
        (U.tolist(), V.tolist()),
        EDGES,
        np.repeat(np.stack([U, V]), 2, axis=1)[:, ::2],
    ],
    ids=["2xm", "mx2", "fortran", "int32", "uint64", "float", "pair", "lists", "tuples", "strided"],
)
def test_edge_arrays(edges):
    check_graph(as_graph(edges, N), N, EDGES)
    check_graph(as_graph(edges), 6, EDGES)  # the largest id plus one


def test_orientation_of_two_by_two():
    square = np.array([[0, 1], [2, 3]])
    check_graph(as_graph(square), 4, [(0, 2), (1, 3)])  # an edge_index, as documented
    check_graph(as_graph(square, orientation="columns"), 4, [(0, 2), (1, 3)])
    check_graph(as_graph(square, orientation="rows"), 4, [(0, 1), (2, 3)])
    check_graph(as_graph(((0, 1), (2, 3)), orientation="rows"), 4, [(0, 1), (2, 3)])


def test_no_edges():
    for empty in (np.empty((2, 0)), np.empty((0, 2), int), ([], [])):
        check_graph(as_graph(empty, 3), 3, [])


@pytest.mark.parametrize("kind", ["csr", "csc", "coo", "lil", "dok", "bsr"])
def test_sparse_adjacency(kind):
    matrix = adjacency().asformat(kind)
    graph = as_graph(matrix)
    check_graph(graph, N, set(EDGES) if kind != "coo" else EDGES)
    assert same_graph(graph, as_graph(sparse.csr_matrix(adjacency())))


@pytest.mark.parametrize("kind", ["csr", "csc", "coo"])
def test_sparse_values_are_weights_only_if_asked(kind):
    matrix = adjacency(W).asformat(kind)
    before = matrix.toarray()
    assert as_graph(matrix).weights is None
    weighted = as_graph(matrix, edge_weights=True)
    dense = np.maximum(before, before.T)
    assert np.array_equal(weighted.to_scipy().toarray(), dense - np.diag(np.diag(dense)))
    assert weighted.loop_weights.tolist() == [1, 1, 1, 5, 1, 1, 1]
    assert np.array_equal(matrix.toarray(), before)


def test_stored_zeros_are_no_edges():
    matrix = sparse.csr_array((np.array([1.0, 0.0]), ([0, 1], [1, 2])), shape=(3, 3))
    check_graph(as_graph(matrix), 3, [(0, 1)])
    assert matrix.nnz == 2  # the caller's matrix is left alone


def test_sparse_chunks(monkeypatch):
    matrix = adjacency().tocsr()
    for chunk in (1, 2, 3, 100):
        monkeypatch.setattr("geodim.data.graphs.edges.CHUNK", chunk)
        check_graph(as_graph(matrix), N, set(EDGES))
        check_graph(as_graph(matrix.tocsc()), N, set(EDGES))


def test_memory_map_is_never_copied_whole(tmp_path, monkeypatch):
    path = tmp_path / "edges.npy"
    np.save(path, np.stack([U, V]))
    monkeypatch.setattr("geodim.data.graphs.edges.CHUNK", 3)
    sizes = []
    original = np.require

    def spy(array, *args):
        sizes.append(len(array))
        return original(array, *args)

    monkeypatch.setattr(np, "require", spy)
    check_graph(as_graph(np.load(path, mmap_mode="r"), N), N, EDGES)
    assert max(sizes) == 3


def test_weights_as_array():
    graph = as_graph((U, V), N, edge_weights=W)
    expected = as_graph(adjacency(np.where((U == 4) & (V == 5), 2.0, W)), edge_weights=True)
    assert same_graph(graph, expected)
    assert as_graph((U, V), N, edge_weights=False).weights is None


@pytest.fixture(scope="session")
def torch():
    return pytest.importorskip("torch", reason="torch is not installed")


@pytest.fixture(scope="session")
def pyg(torch):
    return pytest.importorskip("torch_geometric.data", reason="torch_geometric is not installed")


@pytest.fixture(scope="session")
def nx():
    return pytest.importorskip("networkx", reason="networkx is not installed")


def test_torch_edge_index(torch):
    index = torch.tensor(np.stack([U, V]))
    check_graph(as_graph(index, N), N, EDGES)
    check_graph(as_graph(index.T, N), N, EDGES)
    weighted = as_graph(index, N, edge_weights=torch.tensor(W))
    assert same_graph(weighted, as_graph((U, V), N, edge_weights=W))


@pytest.mark.filterwarnings("ignore:Sparse CSR tensor support is in beta")
@pytest.mark.parametrize("layout", ["coo", "csr"])
def test_torch_sparse_adjacency(torch, layout):
    tensor = torch.tensor(adjacency(W).toarray())
    tensor = tensor.to_sparse_coo() if layout == "coo" else tensor.to_sparse_csr()
    assert same_graph(as_graph(tensor), as_graph(adjacency()))
    assert same_graph(as_graph(tensor, edge_weights=True), as_graph(adjacency(W), edge_weights=True))


def test_pyg_data(torch, pyg):
    index = torch.tensor(np.stack([U, V]))
    check_graph(as_graph(pyg.Data(edge_index=index, num_nodes=N)), N, EDGES)
    check_graph(as_graph(pyg.Data(edge_index=index, x=torch.zeros(N, 2))), N, EDGES)
    check_graph(as_graph(pyg.Data(edge_index=index)), 6, EDGES)
    check_graph(as_graph(pyg.Data(edge_index=index), N), N, EDGES)


@pytest.mark.parametrize("name", ["edge_weight", "edge_attr", "cost"])
def test_pyg_data_weights(torch, pyg, name):
    data = pyg.Data(edge_index=torch.tensor(np.stack([U, V])), num_nodes=N, **{name: torch.tensor(W)})
    expected = as_graph((U, V), N, edge_weights=W)
    assert same_graph(as_graph(data, edge_weights=name), expected)
    assert as_graph(data).weights is None
    if name != "cost":
        assert same_graph(as_graph(data, edge_weights=True), expected)


def test_hetero_data_is_what_pyg_makes_of_it(torch, pyg):
    data = pyg.HeteroData()
    data["paper"].num_nodes = 4
    data["author"].x = torch.zeros(3, 1)
    data["author", "writes", "paper"].edge_index = torch.tensor([[0, 0, 2], [1, 3, 0]])
    data["paper", "cites", "paper"].edge_index = torch.tensor([[0, 1, 1], [1, 2, 1]])
    for kind in data.edge_types:
        data[kind].edge_weight = torch.tensor([1.0, 2.0, 3.0])
    whole = data.to_homogeneous()
    assert same_graph(as_graph(data), as_graph(whole))
    assert same_graph(as_graph(data, edge_weights=True), as_graph(whole, edge_weights=True))
    check_graph(as_graph(data), 7, [(4, 1), (4, 3), (6, 0), (0, 1), (1, 2), (1, 1)])


def test_networkx_nodes_are_numbered_in_their_order(nx):
    graph = nx.Graph()
    graph.add_nodes_from(["c", "a", "b", "lonely"])
    graph.add_edges_from([("a", "b"), ("b", "c"), ("c", "c")])
    ours = as_graph(graph)
    check_graph(ours, 4, [(1, 2), (2, 0), (0, 0)])
    assert not ours.notes.directed


def test_networkx_directed_and_multigraphs(nx):
    ours = as_graph(nx.DiGraph([(0, 1), (1, 0), (1, 2)]))
    check_graph(ours, 3, [(0, 1), (1, 0), (1, 2)])
    assert ours.notes.directed
    check_graph(as_graph(nx.MultiGraph([(0, 1), (0, 1)])), 2, [(0, 1), (0, 1)])


def test_networkx_weights(nx):
    graph = nx.Graph()
    graph.add_edge(0, 1, weight=3.0, cost=7)
    graph.add_edge(1, 2)
    assert as_graph(graph).weights is None
    assert as_graph(graph, edge_weights=True).weights.tolist() == [3.0, 3.0, 1.0, 1.0]
    assert as_graph(graph, edge_weights="cost").weights.tolist() == [7.0, 7.0, 1.0, 1.0]


def test_against_the_adjacency_of_networkx(nx):
    graph = nx.gnp_random_graph(60, 0.1, seed=4)
    assert np.array_equal(as_graph(graph).to_scipy().toarray(), nx.to_numpy_array(graph))
