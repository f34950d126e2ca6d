"""Shortest paths: networkx says the same, and nodes without a path are treated by a stated rule."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from scipy import sparse

import geodim
from families.cases import assert_exact, matrix_of
from geodim import paper
from geodim.data.graphs import as_graph
from geodim.errors import DataFileError, InputTypeError, InputValueError, RangeOverflowError, ShapeError
from geodim.families import Distances
from geodim.families.solve import family_profile

nx = pytest.importorskip("networkx", reason="the oracle needs networkx")


def paths(**options):
    return Distances(metric="shortest_path", **options)


def networkx_matrix(graph, weight=None):
    nodes = list(graph.nodes)
    lengths = dict(nx.all_pairs_dijkstra_path_length(graph, weight=weight or (lambda *_: 1)))
    return np.array([[lengths[a].get(b, np.inf) for b in nodes] for a in nodes], float)


GRAPHS = {
    "karate": nx.karate_club_graph,
    "path": lambda: nx.path_graph(70),
    "star": lambda: nx.star_graph(70),
    "cycle": lambda: nx.cycle_graph(66),
    "complete": lambda: nx.complete_graph(12),
    "tree": lambda: nx.balanced_tree(3, 4),
    "grid": lambda: nx.convert_node_labels_to_integers(nx.grid_2d_graph(8, 9)),
    "random": lambda: nx.connected_watts_strogatz_graph(120, 4, 0.2, seed=1),
    "one": lambda: nx.empty_graph(1),
}


@pytest.mark.parametrize("name", GRAPHS)
def test_hops_are_the_definition(name):
    graph = GRAPHS[name]()
    matrix = networkx_matrix(graph)
    source = paths().source(graph)
    np.testing.assert_array_equal(matrix_of(source), matrix)
    assert source.error(100.0) == 0.0
    assert source.names == [str(node) for node in graph.nodes]
    rows, columns = np.array([len(matrix) - 1, 0]), np.arange(len(matrix))
    for _ in range(2):
        np.testing.assert_array_equal(source.sample(columns, rows), matrix[np.ix_(rows, columns)])
    assert np.all(matrix.max(axis=0) <= source.extents()[:, 1])
    if len(matrix) > 1:
        assert_exact(family_profile(source, n_threads=2), matrix)


def test_closed_forms():
    """A complete graph has the dimension of the nominal scale; of a star all but the centre are alike."""
    n = 10
    found = geodim.intrinsic_dimension(nx.complete_graph(n), features="distances", metric="shortest_path")
    assert found.dimension == n**2
    with_ends = geodim.intrinsic_dimension(nx.path_graph(n), features="distances", metric="shortest_path")
    line = geodim.intrinsic_dimension(np.arange(n, dtype=float)[:, None])  # d(end, .) is a coordinate
    assert with_ends.dimension == line.dimension


@pytest.mark.parametrize("wrap", ["edges", "rows", "sparse", "graph", "file"])
def test_graphs_of_any_kind(wrap, tmp_path):
    graph = nx.karate_club_graph()
    edges = np.array(list(graph.edges)).T
    if wrap == "file":
        data = tmp_path / "edges.csv"
        np.savetxt(data, edges.T, fmt="%d", delimiter=",")
    else:
        data = {
            "edges": edges,
            "rows": edges.T.tolist(),
            "sparse": sparse.coo_array((np.ones(78), edges), shape=(34, 34)),
            "graph": as_graph(edges),
        }[wrap]
    np.testing.assert_array_equal(matrix_of(paths().source(data)), networkx_matrix(graph))


def test_named_data_sets():
    found = geodim.intrinsic_dimension(
        "sbm", features=paths(disconnected="component", landmarks=20, choice="random")
    )
    said = found.parameters["features"]
    assert said["metric"] == "shortest_path"
    assert said["nodes"] == geodim.load_dataset("sbm").n_nodes
    data = geodim.load_dataset("sbm", nodes=60, blocks=2, attributes=3)
    graph = nx.Graph()
    graph.add_nodes_from(range(60))
    graph.add_edges_from(data.edge_index.T.tolist())
    matrix = networkx_matrix(graph)
    matrix[np.isinf(matrix)] = 60.0
    np.testing.assert_array_equal(matrix_of(paths(disconnected=60).source(data)), matrix)
    with pytest.raises(InputValueError, match="no edge weights"):
        paths(edge_weights=True).source(data)


def weighted_graph(n, weights, seed=0):
    rng = np.random.default_rng(seed)
    graph = nx.connected_watts_strogatz_graph(n, 4, 0.3, seed=seed)
    for edge in graph.edges:
        graph.edges[edge]["weight"] = weights(rng)
    return graph


def test_whole_lengths_are_exact():
    graph = weighted_graph(90, lambda rng: int(rng.integers(0, 9)))  # some of length 0, too
    matrix = networkx_matrix(graph, "weight")
    source = paths(edge_weights=True).source(graph)
    np.testing.assert_array_equal(matrix_of(source), matrix)
    assert source.error(50.0) == 0.0
    assert_exact(family_profile(source, n_threads=2), matrix)
    result = geodim.intrinsic_dimension(graph, features=paths(edge_weights=True))
    assert result.exact
    expected = paper.intrinsic_dimension(paper.algorithm_1(matrix / matrix.max()))
    assert result.dimension == pytest.approx(expected, rel=1e-14)


def test_other_lengths_are_off_by_no_more_than_stated():
    graph = weighted_graph(70, lambda rng: float(rng.random() + 0.01) * 10.0 ** float(rng.integers(-2, 3)))
    source = paths(edge_weights="weight").source(graph)
    matrix = matrix_of(source)
    error = Fraction(source.error(float(matrix.max())))
    assert 0 < error < Fraction(float(matrix.max())) * Fraction(1, 10**12)
    exact = nx.Graph()
    exact.add_edges_from((a, b, {"weight": Fraction(w)}) for a, b, w in graph.edges(data="weight"))
    lengths = dict(nx.all_pairs_dijkstra_path_length(exact))
    for i, j in np.ndindex(70, 70):
        assert abs(Fraction(float(matrix[i, j])) - lengths[i][j]) <= error
    assert np.all(matrix.max(axis=0) <= source.extents()[:, 1])
    result = geodim.intrinsic_dimension(graph, features=paths(edge_weights=True))
    assert result.feature_error > 0.0
    # Of the computed values, which may differ by the direction in which paths are summed.
    assert_exact(family_profile(source, n_threads=2), matrix)
    expected = paper.intrinsic_dimension(paper.algorithm_1(matrix / np.ptp(matrix, axis=0).max()))
    assert result.dimension == pytest.approx(expected, rel=1e-13)
    assert result.lower <= expected <= result.upper


def test_other_numbers_of_the_nodes_change_nothing():
    graph = weighted_graph(80, lambda rng: float(rng.random()))
    order = np.random.default_rng(3).permutation(80)
    renamed = nx.relabel_nodes(graph, {i: int(order[i]) for i in range(80)})
    for weights in (None, True):
        one = family_profile(paths(edge_weights=weights).source(graph)).profile
        other = family_profile(paths(edge_weights=weights).source(renamed)).profile
        np.testing.assert_array_equal(one.phi, other.phi)


def test_edges_can_be_walked_both_ways():
    edges = [(0, 1), (1, 2), (2, 3), (3, 4)]
    one_way = geodim.intrinsic_dimension(
        nx.DiGraph(edges), features="distances", metric="shortest_path", n_threads=1
    )
    assert one_way.parameters["features"]["symmetrised"]
    both = geodim.intrinsic_dimension(nx.Graph(edges), features="distances", metric="shortest_path")
    assert not both.parameters["features"]["symmetrised"]
    assert one_way.dimension == both.dimension


class TestDisconnected:
    """Three components: a path of 9 nodes, one of 3, and a single node."""

    graph = nx.disjoint_union_all([nx.path_graph(3), nx.path_graph(9), nx.empty_graph(1)])

    def test_error_by_default(self):
        with pytest.raises(InputValueError, match=r"3 components, the largest .* 9 of 13 .*'component'"):
            paths().source(self.graph)

    def test_component(self):
        source = paths(disconnected="component").source(self.graph)
        np.testing.assert_array_equal(matrix_of(source), networkx_matrix(nx.path_graph(9)))
        assert source.names == [str(i) for i in range(3, 12)]
        assert source.details["components"] == 3
        named = paths(disconnected="component").source(self.graph, names=list("abcdefghijklm"))
        assert named.names == list("defghijkl")
        with pytest.raises(ShapeError, match="13 points but 9 names"):
            paths(disconnected="component").source(self.graph, names=list("abcdefghi"))
        some = paths(disconnected="component", landmarks=[0, 8]).source(as_graph(self.graph))
        assert some.names == ["3", "11"]

    def test_the_first_of_several_largest(self):
        graph = nx.disjoint_union(nx.path_graph(4), nx.cycle_graph(4))
        source = paths(disconnected="component").source(graph)
        np.testing.assert_array_equal(matrix_of(source), networkx_matrix(nx.path_graph(4)))

    def test_beyond(self):
        matrix = networkx_matrix(self.graph)
        matrix[np.isinf(matrix)] = 8 + 1
        source = paths(disconnected="beyond").source(self.graph)
        np.testing.assert_array_equal(matrix_of(source), matrix)
        assert source.details["distance_between_components"] == 9.0
        longer = nx.Graph(self.graph)
        nx.set_edge_attributes(longer, 2, "weight")
        longer.edges[4, 5]["weight"] = 5
        matrix = networkx_matrix(longer, "weight")
        matrix[np.isinf(matrix)] = matrix[np.isfinite(matrix)].max() + 5
        source = paths(disconnected="beyond", edge_weights=True).source(longer)
        np.testing.assert_array_equal(matrix_of(source), matrix)
        nothing = paths(disconnected="beyond").source(sparse.csr_array((4, 4)))
        np.testing.assert_array_equal(matrix_of(nothing), 1.0 - np.eye(4))

    def test_a_number(self):
        matrix = networkx_matrix(self.graph)
        matrix[np.isinf(matrix)] = 4.0
        source = paths(disconnected=4).source(self.graph)
        np.testing.assert_array_equal(matrix_of(source), matrix)
        assert_exact(family_profile(source), matrix)
        with pytest.raises(InputValueError, match=r"nodes 3 and 11 are 8 apart.*triangle.*at least 4"):
            matrix_of(paths(disconnected=3.9).source(self.graph))
        with pytest.raises(InputValueError, match="triangle"):
            geodim.intrinsic_dimension(self.graph, features=paths(disconnected=3.9))

    @pytest.mark.parametrize("rule", ["error", "component", "beyond", 0.5])
    def test_no_rule_is_needed_for_one_component(self, rule):
        source = paths(disconnected=rule).source(nx.path_graph(9))
        np.testing.assert_array_equal(matrix_of(source), networkx_matrix(nx.path_graph(9)))
        assert "disconnected" not in source.details


@pytest.mark.parametrize(
    ("graph", "options", "error", "said"),
    [
        ("no such file", {}, InputValueError, "no file 'no such file', nor a data set.*cora"),
        ([(0, 1), (1, 2)], {"disconnected": "ignore"}, InputValueError, "error, component, beyond"),
        ([(0, 1), (1, 2)], {"disconnected": -1}, InputValueError, "disconnected"),
        ([(0, 1), (1, 2)], {"disconnected": None}, InputTypeError, "disconnected"),
        ([(0, 1), (1, 2)], {"edge_weights": [1.0, -2.0]}, InputValueError, "non-negative"),
        ([(0, 1), (1, 2)], {"edge_weights": [1.0, np.nan]}, InputValueError, "finite"),
        ([(0, 1), (1, 2)], {"edge_weights": [1.0]}, ShapeError, "1 weights for 2"),
        ([(0, 1), (1, 2)], {"edge_weights": [1e308, 1e308]}, RangeOverflowError, "add up"),
        ([(0, 1), (1, 0)], {"edge_weights": [1.0, 2.0]}, InputValueError, "1 edges are listed with more"),
        ([(0, 1), (1, 2)], {"landmarks": [[1.0]]}, InputTypeError, "points of the data"),
        (np.ones((3, 3)), {}, ShapeError, "edge array"),
    ],
)
def test_bad_input(graph, options, error, said):
    with pytest.raises(error, match=said):
        paths(**options).source(graph)


def test_options_of_other_metrics():
    for options in ({"edge_weights": True}, {"disconnected": "component"}):
        with pytest.raises(InputValueError, match="belong to metric='shortest_path'"):
            Distances(**options).source(np.eye(3))
    for metric in ("jaccard", "shortest_path", max):
        with pytest.raises(InputValueError, match="p belongs to metric='minkowski'"):
            Distances(metric=metric, p=2).source(np.eye(3))


def test_a_file_that_is_no_graph(tmp_path):
    path = tmp_path / "edges.csv"
    path.write_text("a,b\nc,d\n", encoding="utf-8")
    with pytest.raises((DataFileError, InputValueError, InputTypeError), match=r"edges\.csv"):
        paths().source(path)
