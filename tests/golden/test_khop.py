"""All intrinsic dimensions that the paper prints for the Planetoid graphs, k = 0, ..., 5.

Source: paper.tex, table tab:k_hop_ids (also paper_tables.json, khop_id), values exactly as printed there.
"""

from __future__ import annotations

import pytest

import geodim
from costs import slow
from geodim.data.datasets import load_dataset
from geodim.data.graphs import as_graph
from golden import pubmed_core
from published import published, published_root, root_of

PRINTED = {
    "cora": [6.2523, 3.8324, 3.6689, 3.6627, 3.6624, 3.6623],
    "citeseer": [22.3337, 11.3166, 10.2347, 9.8134, 9.5491, 9.3795],
    "pubmed": [2542.3425, 2336.6611, 2077.5821, 2077.0953, 2077.0886, 2077.0848],
}
HALF_A_DIGIT = 0.5e-4
ROUNDING = 1e-6  # the paper's own features were floats


@pytest.mark.parametrize("name", ["cora", slow("citeseer"), published("pubmed")])
def test_printed_dimensions(name):
    data = load_dataset(name, root=root_of(name), offline=True)
    check_printed(data.x, data.edge_index, name)


def test_printed_dimensions_of_pubmed():
    """By the columns that attain Phi, which is all that counts."""
    core = pubmed_core.read()
    assert (core.x.shape[0], 2 * core.edge_index.shape[1]) == (19717, 88648)  # paper.tex, table tab:data
    check_printed(core.x, core.edge_index, "pubmed")


@pytest.mark.published
def test_the_core_is_as_published():
    data, core = load_dataset("pubmed", root=published_root(), offline=True), pubmed_core.read()
    assert (data.x[:, core.columns] != core.x).nnz == 0
    assert as_graph(data.edge_index, data.n_nodes).n_edges == core.edge_index.shape[1]
    listed = {*map(tuple, data.edge_index.T.tolist())}
    assert {*map(tuple, core.edge_index.T.tolist())} <= listed


def check_printed(x, edge_index, name):
    single, double = (geodim.khop_dimensions(x, edge_index, hops=5, dtype=kind) for kind in (None, "float64"))
    assert len(single) == len(double) == len(PRINTED[name])
    for k, (one, fine, printed) in enumerate(zip(single, double, PRINTED[name], strict=True)):
        assert one.exact == fine.exact == (k == 0)
        assert abs(one.dimension - printed) <= HALF_A_DIGIT + ROUNDING * printed, f"k = {k}"
        # Both intervals hold the value of the definition, so that they meet; the narrow
        # one is as good as a number.
        assert max(one.lower, fine.lower) <= min(one.upper, fine.upper)
        assert fine.error < 1e-12
        assert one.error < 1e-3
