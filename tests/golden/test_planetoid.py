"""The printed values of the paper for the real Planetoid matrices, and the oracle on parts of them.

Source of the dimensions: paper.tex, table tab:k_hop_ids (k = 0); of the sizes: table tab:data.
"""

from __future__ import annotations

import numpy as np
import pytest

import geodim
from costs import slow
from engine.oracle import assert_phi_is_exact, assert_same_bits
from geodim import paper
from geodim.data.datasets import load_dataset
from golden import pubmed_core
from published import published, root_of

PRINTED = {  # name: nodes, attributes, intrinsic dimension at hop 0
    "cora": (2708, 1433, 6.2523),
    "citeseer": (3327, 3703, 22.3337),
    "pubmed": (19717, 500, 2542.3425),
    "core of pubmed": (19717, 11, 2542.3425),  # see pubmed_core
}
HALF_A_DIGIT = 0.5e-4


@pytest.fixture(scope="module", params=["cora", slow("citeseer"), "core of pubmed", published("pubmed")])
def attributes(request):
    """One attribute matrix, sparse as it is stored, with its name."""
    name = request.param
    if name == "core of pubmed":
        return name, pubmed_core.read().x.tocsr()
    return name, load_dataset(name, root=root_of(name), offline=True).x


def test_printed_dimension(attributes):
    name, x = attributes
    nodes, features, dimension = PRINTED[name]
    result = geodim.intrinsic_dimension(x)
    assert (result.n_points, result.n_features) == (nodes, features)
    assert result.exact
    assert result.dimension == pytest.approx(dimension, abs=HALF_A_DIGIT, rel=0)
    assert result.dimension == pytest.approx(dimension, rel=1e-5)


def test_sparse_dense_and_threads_give_the_same_bits(attributes):
    _, x = attributes
    reference = geodim.intrinsic_dimension(x, n_threads=1)
    for same in (x, x.tocsc(), x.toarray(), np.asfortranarray(x.toarray())):
        result = geodim.intrinsic_dimension(same, n_threads=2)
        assert_same_bits(result.phi_lower, reference.phi_lower)
        assert result.dimension == reference.dimension
        assert result.shares == reference.shares


def test_bounds_enclose_the_printed_dimension(attributes):
    name, x = attributes
    result = geodim.intrinsic_dimension(x, rtol=1e-3)
    assert result.error <= 1e-3
    assert result.lower - HALF_A_DIGIT <= PRINTED[name][2] <= result.upper + HALF_A_DIGIT


def test_the_oracle_on_the_columns_that_matter(attributes):
    """Those that attain Phi somewhere, and some others, on at most 3,000 points."""
    _, x = attributes
    dense = x.toarray()
    rng = np.random.default_rng(0)
    leading = [int(column) for column in geodim.intrinsic_dimension(x).shares][:10]
    others = rng.choice(dense.shape[1], min(dense.shape[1], 15), replace=False).tolist()
    rows = np.sort(rng.choice(len(dense), min(len(dense), 3000), replace=False))
    part = dense[np.ix_(rows, sorted({*leading, *others}))]
    assert_phi_is_exact(part, paper.phi_all(part))
    assert_phi_is_exact(x.tocsr()[rows][:, sorted({*leading, *others})], paper.phi_all(part))


def test_the_oracle_at_some_sizes_on_all_columns(attributes):
    _, x = attributes
    result = geodim.intrinsic_dimension(x)
    sequences = np.sort(x.toarray().astype(np.float64), axis=0)
    n = len(sequences)
    first = int(np.flatnonzero(result.phi_lower)[0]) + 2  # the first size at which anything is told apart
    for k in sorted({2, first - 1, first, first + 1, (first + n) // 2, n - 10, n - 1, n}):
        widths = sequences[k - 1 :] - sequences[: n - k + 1]
        assert result.phi_lower[k - 2] == widths.min(axis=0).max(), f"k = {k}"
