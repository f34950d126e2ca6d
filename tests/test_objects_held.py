"""What people hold: graphs with attributes are measured by hops, and explained everywhere else."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import geodim
from geodim.errors import InputTypeError, InputValueError, ShapeError

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")

RNG = np.random.default_rng(7)
X = RNG.normal(size=(40, 3)).astype(np.float32)
EDGES = RNG.integers(0, 40, (2, 90))
EXPECTED = geodim.khop_dimensions(X, EDGES, 2).dimensions


@pytest.fixture(scope="module")
def pyg():
    return pytest.importorskip("torch_geometric.data")


def data_of(pyg):
    return pyg.Data(
        x=torch.from_numpy(X), edge_index=torch.from_numpy(EDGES), edge_attr=torch.linspace(1, 2, 90)
    )


def hetero_of(pyg, width=3):
    """The same graph, its nodes in two types."""
    data = pyg.HeteroData()
    data["a"].x, data["b"].x = torch.from_numpy(X[:25]), torch.from_numpy(X[25:, :width])
    end = {"a": EDGES < 25, "b": EDGES >= 25}
    for first in "ab":
        for second in "ab":
            both = end[first][0] & end[second][1]
            shift = np.array([[25 * (first == "b")], [25 * (second == "b")]])
            data[first, "to", second].edge_index = torch.from_numpy(EDGES[:, both] - shift)
    return data


class TestGraphsWithAttributes:
    @pytest.mark.parametrize("make", [data_of, hetero_of])
    def test_pyg_is_taken_directly(self, pyg, make):
        data = make(pyg)
        assert geodim.khop_dimensions(data, hops=2).dimensions == EXPECTED
        assert geodim.KHopIntrinsicDimension(hops=2).fit(data).dimensions_.tolist() == EXPECTED

    @pytest.mark.parametrize("make", [data_of, hetero_of])
    def test_the_transform_takes_both(self, pyg, make):
        found = geodim.pyg.KHopDimension(hops=2)(make(pyg))
        assert found.khop_dimension.tolist() == EXPECTED

    def test_edge_weights_of_the_object(self, pyg):
        weighted = geodim.khop_dimensions(data_of(pyg), hops=1, edge_weights=True)
        expected = geodim.khop_dimensions(X, EDGES, 1, edge_weights=np.linspace(1, 2, 90).astype(np.float32))
        assert weighted.dimensions == expected.dimensions

    @pytest.mark.parametrize(
        "pair",
        [
            (X, EDGES),
            [X, EDGES],
            (torch.from_numpy(X), torch.from_numpy(EDGES)),
            (sp.csr_array(X), EDGES),
            (X, sp.coo_array((np.ones(90), tuple(EDGES)), shape=(40, 40))),
        ],
        ids=["arrays", "list", "tensors", "sparse", "adjacency"],
    )
    def test_pairs(self, pair):
        assert geodim.khop_dimensions(pair, hops=2).dimensions == EXPECTED

    def test_named_data_sets(self):
        data = geodim.load_dataset("sbm", nodes=60, blocks=3, attributes=4)
        both = geodim.khop_dimensions(data, hops=1)
        assert both.dimensions == geodim.khop_dimensions(data.x, data.edge_index, 1).dimensions

    def test_other_functions_of_graphs(self, pyg):
        data = data_of(pyg)
        assert geodim.explain_hops(data, hops=1).core == geodim.explain_hops(X, EDGES, 1).core
        assert geodim.baselines.khop_points((X, EDGES), hops=1).values.shape == (40, 6)

    def test_two_graphs_are_one_too_many(self, pyg):
        with pytest.raises(InputValueError, match=r"another graph was given.*data\.x"):
            geodim.khop_dimensions(data_of(pyg), EDGES)

    def test_no_graph(self):
        with pytest.raises(InputTypeError, match=r"khop_dimensions\(X, graph\).*\(x, edge_index\)"):
            geodim.khop_dimensions(X)

    def test_types_of_nodes_that_do_not_fit(self, pyg):
        with pytest.raises(ShapeError, match=r"'a' 3, 'b' 2.*data\[a\]\.x"):
            geodim.khop_dimensions(hetero_of(pyg, width=2))
        data = hetero_of(pyg)
        del data["b"].x
        data["b"].num_nodes = 15
        with pytest.raises(InputValueError, match="type 'b' have no attributes"):
            geodim.khop_dimensions(data)


class TestElsewhere:
    @pytest.mark.parametrize(
        "measure",
        [
            geodim.intrinsic_dimension,
            geodim.select_features,
            geodim.WhatIf,
            geodim.baselines.two_nn,
            geodim.binary_dimension,
            geodim.binary_correlation_dimension,
            geodim.support_curve,
            lambda X: geodim.IntrinsicDimension().fit(X),
            lambda X: geodim.compare([X, X]),
        ],
    )
    def test_a_graph_is_no_table(self, pyg, measure):
        for held in (data_of(pyg), hetero_of(pyg), (X, EDGES)):
            with pytest.raises(InputTypeError, match="khop_dimensions"):
                measure(held)

    def test_networkx(self):
        networkx = pytest.importorskip("networkx")
        with pytest.raises(InputTypeError, match=r"networkx graph.*shortest_path"):
            geodim.intrinsic_dimension(networkx.path_graph(3))

    def test_a_name(self, tmp_path):
        for name in ("cora", "points.csv", tmp_path):
            with pytest.raises(InputTypeError, match=r"geodim\.read_table.*geodim\.load_dataset"):
                geodim.intrinsic_dimension(name)

    def test_a_dict(self):
        with pytest.raises(InputTypeError, match=r"pandas\.DataFrame\(data\)"):
            geodim.intrinsic_dimension({"a": [1.0, 2.0]})

    @pytest.mark.parametrize("measure", [geodim.intrinsic_dimension, geodim.select_features])
    def test_images_and_other_arrays_of_three_axes(self, measure):
        images = RNG.normal(size=(10, 4, 4))
        for held in (images, torch.from_numpy(images)):
            with pytest.raises(ShapeError, match=r"3 axes.*reshape\(len\(x\), -1\).*'pixels' or 'patches'"):
                measure(held)
        flat = geodim.intrinsic_dimension(images.reshape(len(images), -1))
        assert flat.dimension == geodim.intrinsic_dimension(images, features="pixels").dimension

    def test_three_axes_and_scikit_learn(self):
        with pytest.raises(ShapeError, match="reshape"):
            geodim.IntrinsicDimension().fit(np.zeros((2, 2, 2)))
