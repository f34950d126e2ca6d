"""Bad graphs: typed errors that name the edge by its position and its two ids."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from scipy import sparse

from geodim.data.graphs import as_graph
from geodim.errors import GeodimError, InputTypeError, InputValueError, NonFiniteError, ShapeError


@pytest.mark.parametrize(
    ("edges", "error", "message"),
    [
        ([[0, 1, 2], [1, -2, 0]], InputValueError, r"edge 1 \(1, -2\) is out of range"),
        ([[0, 1, 7], [1, 2, 0]], InputValueError, r"0\.\.4 for 5 nodes: edge 2 \(7, 0\) is out of range"),
        ([[0, 1.5, 2], [1, 2, 0]], InputValueError, r"edge 1 \(1\.5, 2\.0\) has 1\.5"),
        ([[0, 1, 2], [1, np.nan, 0]], InputValueError, r"edge 1 \(1\.0, nan\)"),
        ([[0, np.inf, 2], [1, 1, 0]], InputValueError, r"edge 1 \(inf, 1\.0\)"),
        (np.array([[0, 2**63], [1, 0]], np.uint64), InputValueError, r"edge 1 \(9223372036854775808, 0\)"),
        ([["a", "b"], ["b", "c"]], InputTypeError, r"edge 0 \(a, b\)"),
        ([[True, False], [False, True]], InputTypeError, "whole numbers, not bool"),
        ([[0j, 1], [1, 0]], InputTypeError, "complex"),
        ([[0, 1, 2]], ShapeError, r"not \(1, 3\)"),
        ([0, 1, 2], ShapeError, r"not \(3,\)"),
        (np.zeros((2, 2, 2), int), ShapeError, r"not \(2, 2, 2\)"),
        (np.eye(5), ShapeError, "csr_array"),
        ([[0, 1], [1]], ShapeError, "ragged"),
        (([0, 1], [1]), ShapeError, "2 sources but 1 targets"),
        (sparse.csr_array((2, 3)), ShapeError, "2 x 3"),
        (sparse.csr_array((4, 4)), ShapeError, "4 nodes, but n_nodes=5"),
        (object(), InputTypeError, "cannot read a graph from object"),
        (None, InputTypeError, "NoneType"),
    ],
)
def test_bad_edges(edges, error, message):
    with pytest.raises(error, match=message) as caught:
        as_graph(edges, 5)
    assert isinstance(caught.value, GeodimError)


def test_the_first_bad_edge_is_named_across_chunks(monkeypatch):
    monkeypatch.setattr("geodim.data.graphs.edges.CHUNK", 4)
    u = np.zeros(20, int)
    u[[13, 17]] = 99
    with pytest.raises(InputValueError, match=r"edge 13 \(99, 1\)"):
        as_graph((u, np.ones(20, int)), 5)


@pytest.mark.parametrize(
    ("weights", "error", "message"),
    [
        ([1.0, -2.0, 1.0], InputValueError, r"non-negative: edge 1 \(1, 2\) has weight -2\.0"),
        ([1.0, 1.0, np.nan], NonFiniteError, r"finite: edge 2 \(2, 0\) has weight nan"),
        ([np.inf, 1.0, 1.0], NonFiniteError, r"edge 0 \(0, 1\) has weight inf"),
        ([1.0, 2.0], ShapeError, "2 weights for 3 listed edges"),
        (np.ones((3, 2)), ShapeError, r"shape \(3, 2\)"),
        (["a", "b", "c"], InputTypeError, "real numbers"),
        (True, InputValueError, "carries no weights"),
        ("cost", InputValueError, "carries no weights"),
    ],
)
def test_bad_weights(weights, error, message):
    with pytest.raises(error, match=message):
        as_graph([[0, 1, 2], [1, 2, 0]], edge_weights=weights)


def test_negative_adjacency_only_matters_as_weights():
    matrix = sparse.csr_array(np.array([[0.0, -1.0], [0.0, 0.0]]))
    assert as_graph(matrix).n_edges == 1
    with pytest.raises(InputValueError, match=r"edge 0 \(0, 1\) has weight -1"):
        as_graph(matrix, edge_weights=True)
    with pytest.raises(InputValueError, match="weights=True"):
        as_graph(matrix, edge_weights="data")


@pytest.mark.parametrize(
    ("n_nodes", "kind"),
    [(0, InputValueError), (-1, InputValueError), *((n, InputTypeError) for n in (2.0, True, "3"))],
)
def test_bad_node_counts(n_nodes, kind):
    with pytest.raises(kind, match="n_nodes"):
        as_graph([[0], [1]], n_nodes)


def test_bad_options():
    with pytest.raises(InputValueError, match="orientation"):
        as_graph([[0], [1]], orientation="sideways")
    with pytest.raises(ShapeError, match=r"needs an edge array of shape \(m, 2\)"):
        as_graph([[0, 1, 2], [1, 2, 0]], orientation="rows")
    with pytest.raises(InputValueError, match="threads"):
        as_graph([[0], [1]], n_threads=0)
    graph = as_graph([[0], [1]])
    with pytest.raises(ShapeError, match="2 nodes, but n_nodes=3"):
        as_graph(graph, 3)
    with pytest.raises(InputValueError, match="finished graph"):
        as_graph(graph, edge_weights=[1.0])


def test_edges_that_tell_no_number_of_nodes():
    with pytest.raises(InputValueError, match="pass n_nodes"):
        as_graph(np.empty((2, 0), int))


def test_pyg_without_what_is_needed():
    torch = pytest.importorskip("torch", reason="torch is not installed")
    data = pytest.importorskip("torch_geometric.data", reason="torch_geometric is not installed")
    with pytest.raises(InputValueError, match="no edge_index"):
        as_graph(data.Data(x=torch.zeros(3, 1)))
    edges = torch.tensor([[0, 1], [1, 2]])
    with pytest.raises(InputValueError, match="no edge_weight or edge_attr"):
        as_graph(data.Data(edge_index=edges), edge_weights=True)
    with pytest.raises(ShapeError, match="one number per edge"):
        as_graph(data.Data(edge_index=edges, edge_attr=torch.zeros(2, 3)), edge_weights=True)
    with pytest.raises(ShapeError, match="3 nodes, but n_nodes=4"):
        as_graph(data.Data(edge_index=edges, x=torch.zeros(3, 1)), 4)
    hetero = data.HeteroData()
    hetero["a", "to", "b"].edge_index = edges
    with pytest.raises(InputValueError, match="num_nodes"):
        as_graph(hetero)
    hetero["a"].num_nodes, hetero["b"].num_nodes = 1, 3  # 1 would be the first node of b
    with pytest.raises(InputValueError, match="a node of 'a'"):
        as_graph(hetero)


def test_networkx_without_the_attribute():
    nx = pytest.importorskip("networkx", reason="networkx is not installed")
    with pytest.raises(InputValueError, match="'cost'"):
        as_graph(nx.path_graph(3), edge_weights="cost")


def test_importing_costs_no_numba():
    code = "import sys, geodim.data.graphs, geodim.features; print('numba' in sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "False"
