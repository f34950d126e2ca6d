"""Texts, images and graphs are families like any others: unions, checkpoints, other processes."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from scipy import sparse

import geodim
from families.cases import matrix_of
from geodim import paper
from geodim.families import Distances, Patches, Pixels, Terms
from geodim.families.choose import member_of
from geodim.families.solve import family_profile

WORDS = ["the cat", "a cat", "", "dogs", "a dog and a cat", "cats", "the dog", "dig", "do"] * 5
EDGES = np.array([[i, (i + step) % 40] for i in range(40) for step in (1, 7)])
LENGTHS = np.arange(80) % 9 + 0.1
IMAGES = np.random.default_rng(0).integers(0, 17, (45, 4, 4))
DISTANCES = {
    "edit": (Distances(metric="edit"), WORDS, WORDS[:-1]),
    "jaccard": (Distances(metric="jaccard"), WORDS, WORDS[:-1]),
    "shortest_path": (Distances(metric="shortest_path"), EDGES, EDGES[:-1]),
    "weighted": (
        Distances(metric="shortest_path", edge_weights=True),
        sparse.coo_array((LENGTHS, EDGES.T), shape=(40, 40)),
        sparse.coo_array((LENGTHS[::-1], EDGES.T), shape=(40, 40)),
    ),
}


@pytest.fixture(params=DISTANCES)
def case(request):
    if request.param == "edit":
        pytest.importorskip("rapidfuzz", reason="edit distances need rapidfuzz: pip install 'geodim[text]'")
    return DISTANCES[request.param]


def test_sources_travel(case):
    family, data, other = case
    source = family.source(data)
    source.sample(np.arange(3), np.arange(2))
    sent = pickle.loads(pickle.dumps(source))
    np.testing.assert_array_equal(matrix_of(sent), matrix_of(source))
    assert sent.digest() == source.digest() == family.source(data).digest()
    assert source.digest() != family.source(other).digest()
    assert source.held >= 0


def test_checkpoints(case, tmp_path):
    family, data, _ = case
    whole = geodim.intrinsic_dimension(data, features=family)
    for _ in range(2):
        again = geodim.intrinsic_dimension(data, features=family, checkpoint=tmp_path / "state")
        assert again.dimension == whole.dimension
        assert again.shares == whole.shares


def test_any_width_and_number_of_threads(case):
    family, data, _ = case
    source = family.source(data)
    one = family_profile(source, n_threads=1).profile
    two = family_profile(source, n_threads=3).profile
    np.testing.assert_array_equal(one.phi, two.phi)
    np.testing.assert_array_equal(one.owner, two.owner)


@pytest.mark.parametrize(
    ("data", "features"),
    [
        (IMAGES, ["pixels", Patches(size=2)]),
        (IMAGES, [Pixels(blur=1), "patches", Pixels()]),
        (WORDS, ["terms", Distances(metric="jaccard")]),
        (WORDS, [Terms(weighting="count"), Distances(metric="jaccard", landmarks=[0, 3])]),
    ],
)
def test_unions(data, features):
    result = geodim.intrinsic_dimension(data, features=features, normalize=False)
    parts = [member_of(one).source(data) for one in features]
    matrix = np.hstack([part.sample(np.arange(part.n_features), np.arange(45)) for part in parts])
    np.testing.assert_array_equal(result.phi, paper.phi_all(matrix))
    assert result.n_features == matrix.shape[1]


@pytest.mark.parametrize(
    ("data", "features"), [(IMAGES, Pixels(blur=2)), (WORDS, Terms()), (IMAGES, Patches())]
)
def test_values_with_checkpoints_and_tolerance(data, features, tmp_path):
    exact = geodim.intrinsic_dimension(data, features=features)
    for _ in range(2):
        again = geodim.intrinsic_dimension(data, features=features, checkpoint=tmp_path / "state")
        assert again.dimension == exact.dimension
    rough = geodim.intrinsic_dimension(data, features=features, rtol=0.02)
    assert rough.lower <= exact.dimension <= rough.upper
    with pytest.raises(geodim.errors.InputValueError, match="not checked for equal rows"):
        geodim.intrinsic_dimension(data, features=features, count_indistinguishable=True)
