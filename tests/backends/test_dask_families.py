"""Families of features on a cluster: the bits of this machine, whoever makes the columns."""

from __future__ import annotations

import numpy as np
import pytest

import geodim
from geodim.errors import InputValueError, InterruptedWarning
from geodim.families import Directions, Distances

pytest.importorskip("distributed", reason="the extra dask is not installed")

from backends.dask_cases import assert_same

POINTS = np.random.default_rng(0).standard_t(5, size=(400, 6))


@pytest.mark.turns(3)
@pytest.mark.parametrize(
    "features",
    [
        "distances",
        Distances(metric="cosine"),
        Distances(landmarks=12),
        Distances(metric=lambda x, y: float(np.abs(x - y).max()), landmarks=range(5)),
        Directions(random=20),
        ["coordinates", Distances(landmarks=9)],
    ],
    ids=["all points", "angles", "landmarks", "a function", "directions", "union"],
)
@pytest.mark.usefixtures("client")
def test_same_as_on_this_machine(features):
    here = geodim.intrinsic_dimension(POINTS, features=features)
    there = geodim.intrinsic_dimension(POINTS, features=features, backend="dask")
    assert_same(there, here)
    assert there.plan.backend == "dask"


@pytest.mark.usefixtures("client")
def test_time_limit():
    with pytest.warns(InterruptedWarning, match="time limit"):
        found = geodim.intrinsic_dimension(POINTS, features="distances", backend="dask", time_limit=0.0)
    whole = geodim.intrinsic_dimension(POINTS, features="distances")
    assert found.lower <= whole.dimension <= found.upper


@pytest.mark.usefixtures("client")
def test_progress():
    told = []
    geodim.intrinsic_dimension(
        POINTS, features="distances", backend="dask", progress=lambda *how_far: told.append(how_far)
    )
    assert told[0] == (0, 400)
    assert told[-1] == (400, 400)


@pytest.mark.usefixtures("client")
def test_points_on_the_cluster_are_not_brought_home():
    da = pytest.importorskip("dask.array")
    with pytest.raises(InputValueError, match=r"compute\(\)"):
        geodim.intrinsic_dimension(da.from_array(POINTS), features="distances")


@pytest.mark.usefixtures("client")
@pytest.mark.parametrize("option", [{"rtol": 0.1}, {"weights": np.ones(400, int)}])
def test_what_workers_do_not_do(option):
    with pytest.raises(InputValueError, match="leave out rtol and weights"):
        geodim.intrinsic_dimension(POINTS, features="distances", backend="dask", **option)
