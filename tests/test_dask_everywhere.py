"""Dask collections, handed to every public function that takes data: none is brought home silently.

There is no cluster here.  What computes on one says so; everything else refuses, with the way out.  Whatever
returned an answer would have brought the data here.
"""

from __future__ import annotations

import inspect

import numpy as np
import pytest

import geodim
from geodim import baselines, features, gnn, paper
from geodim.data.duplicates import count_indistinguishable_points
from geodim.errors import GeodimError, InputTypeError, InputValueError

da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")
pd = pytest.importorskip("pandas")
pytest.importorskip("distributed")

X = np.random.default_rng(0).integers(0, 2, (64, 3)).astype(float)
RING = np.stack([np.arange(64), (np.arange(64) + 1) % 64])
IMAGES = X.reshape(8, 8, 3)

COMPUTED_THERE = {
    "geodim.intrinsic_dimension": geodim.intrinsic_dimension,
    "geodim.khop_dimensions": lambda X: geodim.khop_dimensions(X, RING, 1),
    "geodim.IntrinsicDimension": lambda X: geodim.IntrinsicDimension().fit(X),
    "geodim.KHopIntrinsicDimension": lambda X: geodim.KHopIntrinsicDimension(RING, hops=1).fit(X),
}
REFUSED = {
    "geodim.DiscriminabilitySelector": lambda X: geodim.DiscriminabilitySelector(1).fit(X),
    "geodim.StreamingDimension": lambda X: geodim.StreamingDimension().partial_fit(X),
    "geodim.WhatIf": geodim.WhatIf,
    "geodim.binary_correlation_dimension": geodim.binary_correlation_dimension,
    "geodim.binary_dimension": geodim.binary_dimension,
    "geodim.compare": lambda X: geodim.compare([X, X]),
    "geodim.explain_dimension": geodim.explain_dimension,
    "geodim.explain_hops": lambda X: geodim.explain_hops(X, RING, 1),
    "geodim.feature_ranking": geodim.feature_ranking,
    "geodim.select_features": geodim.select_features,
    "geodim.top_features": geodim.top_features,
    "geodim.subsampled_dimensions": geodim.subsampled_dimensions,
    "geodim.support_curve": geodim.support_curve,
    "geodim.shuffled_reference": lambda X: geodim.shuffled_reference(X, features="distances"),
    "geodim.drop_missing": geodim.drop_missing,
    "geodim.as_graph": geodim.as_graph,
    "geodim.features.make_operator": features.make_operator,
    "geodim.features.hop_features": lambda X: features.hop_features(X, features.make_operator(RING), 1),
    "geodim.features.iter_hop_blocks": lambda X: features.iter_hop_blocks(
        X, features.make_operator(RING), 1, [0]
    ),
    "geodim.gnn.hop_inputs": lambda X: gnn.hop_inputs(X, RING, 1),
    "geodim.baselines.khop_mle": lambda X: baselines.khop_mle(X, RING, 1),
    "geodim.baselines.khop_mle_rows": lambda X: baselines.khop_mle_rows(X, RING, 1),
    "geodim.baselines.khop_points": lambda X: baselines.khop_points(X, RING, 1),
    "geodim.baselines.mle": baselines.mle,
    "geodim.baselines.skdim_estimate": lambda X: baselines.skdim_estimate("lPCA", X),
    "geodim.baselines.two_nn": baselines.two_nn,
    **{
        f"geodim.paper.{name}": lambda X, name=name, more=more: getattr(paper, name)(X, *more)
        for name, more in {
            "algorithm_1": (), "algorithm_2": ([2, 64],), "d_max": (), "discriminability_by_definition": (),
            "discriminability_of_measure": ([1] * 64,), "feature_resilience": (), "feature_sequence": (),
            "is_geometric_dataset": (), "k_hop_features": (RING.T, 1), "observable_diameter": (0.5,),
            "observable_diameter_by_subsets": (0.5,), "partial_diameter": (0.5,),
            "partial_diameter_by_subsets": (0.5,), "partial_diameter_of_mass": ([1] * 64, 0.5),
            "phi_all": (), "phi_k": (2,), "phi_k_per_feature": (2,), "phi_kf": (2,),
            "phi_of_measure": ([1] * 64,), "resilience_bounds": ([2, 64],),
        }.items()
    },
}  # fmt: skip
ARGUMENTS = {
    "graph": lambda X: geodim.khop_dimensions(np.zeros((64, 1)), X, 1),
    "weights": lambda X: geodim.intrinsic_dimension(np.zeros((64, 2)), weights=X),
    "edge weights": lambda X: geodim.as_graph(RING, edge_weights=X),
    "scale": lambda X: geodim.intrinsic_dimension(np.zeros((64, 2)), scale=X),
    "landmarks": lambda X: geodim.intrinsic_dimension(np.eye(64), features="distances", landmarks=X),
    "backend": lambda X: geodim.intrinsic_dimension(X, backend="cpu"),
    "distances": lambda X: geodim.intrinsic_dimension(X, features="distances", backend="cpu"),
    "terms": lambda X: geodim.intrinsic_dimension(X, features="terms", backend="cpu"),
    "duplicates": count_indistinguishable_points,
}


def test_the_walk_leaves_nothing_out():
    """Every public function and class whose first argument is data, or that fits some, is called."""
    found = set()
    for module in (geodim, baselines, features, gnn, paper):
        for name in module.__all__:
            one = getattr(module, name)
            if hasattr(one, "fit"):
                found.add(f"{module.__name__}.{name}")
            elif callable(one) and not name.startswith("_"):
                first = [*inspect.signature(one).parameters, "", ""][:2]
                if {"X", "data", "values", "sequence", "graph"} & set(first) and not name.endswith(
                    ("Result", "Points", "IntrinsicDimension")
                ):
                    found.add(f"{module.__name__}.{name}")
    assert found == {*COMPUTED_THERE, *REFUSED}


@pytest.fixture(params=["array", "frame"])
def collection(request):
    if request.param == "array":
        return da.from_array(X, chunks=(16, 3))
    return dd.from_pandas(pd.DataFrame(X, columns=list("abc")), npartitions=2)


@pytest.fixture
def no_client(monkeypatch):
    """Whatever cluster other tests of this process have started."""
    import distributed

    def get_client(*_args, **_options):
        raise ValueError("No global client found and no address provided")

    monkeypatch.setattr(distributed, "get_client", get_client)


@pytest.mark.usefixtures("no_client")
@pytest.mark.parametrize("name", COMPUTED_THERE)
def test_computed_where_it_lies(name, collection):
    with pytest.raises(InputValueError, match="there is no active Dask client: start one"):
        COMPUTED_THERE[name](collection)


@pytest.mark.parametrize("name", REFUSED)
def test_refused_with_the_way_out(name, collection):
    with pytest.raises(InputTypeError, match=r"Dask.*\.compute\(\)"):
        REFUSED[name](collection)


@pytest.mark.parametrize("name", ARGUMENTS)
def test_arguments_besides_the_data(name, collection):
    with pytest.raises(GeodimError, match=r"Dask.*\.compute\(\)"):
        ARGUMENTS[name](collection)


def test_images():
    with pytest.raises(InputTypeError, match=r"Dask.*\.compute\(\)"):
        geodim.intrinsic_dimension(da.from_array(IMAGES), features="pixels", backend="cpu")
