"""What is done with results of points that have masses, and who does not take such points."""

from __future__ import annotations

import json

import numpy as np
import pytest

import geodim
from engine.oracle import assert_same_bits, solve
from geodim.data.duplicates import count_indistinguishable_points
from geodim.display.html.figures import Names, curve, features
from geodim.display.plots import observable_diameter_steps, step_owners
from geodim.errors import (
    CertificateError,
    DataFileError,
    InputTypeError,
    InputValueError,
    InterruptedWarning,
)
from masses import Truth

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 3))
REAL = RNG.gamma(1.0, size=60)
MANY = RNG.integers(1, 10**12, 60)
CASES = {
    "real": {"weights": REAL},
    "many": {"weights": MANY},
    "counted": {"weights": REAL, "rtol": 0.2},
    "many, counted": {"weights": MANY, "rtol": 0.2},
    "beyond float64": {"weights": 10.0 ** RNG.uniform(-200, 200, 60)},
}


@pytest.fixture(params=CASES)
def result(request, monkeypatch):
    monkeypatch.setattr("geodim.engine.ways.worth_counting", lambda steps, _: steps <= 4096)
    return solve(X, **CASES[request.param])


# ---------------------------------------------------------------- results


def test_what_a_result_says():
    real, many = solve(X, weights=REAL), solve(X, weights=MANY)
    assert (real.n_points, real.mass, real.measured) == (60, pytest.approx(REAL.sum()), True)
    assert (many.n_points, many.mass, many.measured) == (MANY.sum(), float(MANY.sum()), False)
    assert real.support[-1] == real.mass
    assert many.support[-1] == many.n_points
    assert dict(real.summary())["mass of the points"] == f"{real.mass:.6g}"
    assert "mass of the points" not in dict(many.summary())
    assert "60 x 3" in repr(real)


def test_json(result):
    text = result.to_json()
    again = geodim.IDResult.from_json(text)
    assert again.to_json() == text
    for name in ("support", "phi_lower", "phi_upper", "attained_from", "attained_by"):
        assert getattr(again, name).dtype == getattr(result, name).dtype
        assert np.array_equal(getattr(again, name), getattr(result, name))
    assert (again.mass, again.stepwise, again.exact) == (result.mass, result.stepwise, result.exact)


def test_older_files_have_no_masses():
    plain = json.loads(solve(X).to_json())
    old = {name: value for name, value in plain.items() if name not in ("mass", "stepwise")}
    again = geodim.IDResult.from_dict(old | {"format": "geodim.IDResult/4"})
    assert (again.mass, again.stepwise, again.measured) == (60.0, False, False)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"mass": 1.0}, "beyond"),
        ({"mass": -1.0}, "mass"),
        ({"mass": "much"}, "mass"),
        ({"support": [1.0, 0.5]}, "ascend|entries"),
        ({"stepwise": 1}, "stepwise"),
    ],
)
def test_files_that_were_edited(change, words):
    values = json.loads(solve(X, weights=REAL).to_json())
    with pytest.raises(DataFileError, match=words):
        geodim.IDResult.from_dict(values | change)


def test_points_that_weigh_1_have_the_mass_of_their_number():
    values = json.loads(solve(X).to_json())
    with pytest.raises(DataFileError, match=r"the mass is 61\.0, but n_points 60"):
        geodim.IDResult.from_dict(values | {"mass": 61.0})


def test_a_long_curve_is_thinned():
    """Then it is no longer known where each step ends."""
    found = solve(RNG.normal(size=(3000, 1)), weights=RNG.random(3000))
    assert found.stepwise
    again = geodim.IDResult.from_json(found.to_json())
    assert again.support.size < found.support.size
    assert not again.stepwise
    low, high = again.observable_diameter_bounds(0.3)
    assert low <= found.observable_diameter(0.3) <= high
    assert geodim.IDResult.from_json(found.to_json(max_support=None)).stepwise


def test_observable_diameters_are_those_of_the_mass():
    truth, found = Truth(X, REAL), solve(X, weights=REAL)
    for alpha in (0.01, 0.3, 0.5, 0.99):
        width = truth.phi(float(found.mass) * (1.0 - alpha)) / found.d_max
        assert found.observable_diameter_bounds(alpha) == (width, width)
    many = solve(X, weights=MANY)
    low, high = many.observable_diameter_bounds(0.5)
    assert low == high == Truth(X, MANY).phi(-(-int(MANY.sum()) // 2)) / many.d_max


def test_support_sequences_are_of_sizes():
    many = solve(X, weights=MANY)
    low, high = many.support_bounds([2, 10**12, many.n_points])
    assert low <= many.dimension <= high
    with pytest.raises(InputValueError, match="these points have masses"):
        solve(X, weights=REAL).support_bounds([2, 5, 60])


def test_plots_keep_the_area(result):
    for one in (result, geodim.IDResult.from_json(result.to_json())):
        alpha, width = observable_diameter_steps(one)
        assert alpha[0] == 0.0
        assert alpha[-1] == 1.0
        area = float(np.diff(alpha) @ width[:-1])
        assert area == pytest.approx(one.discriminability, rel=1e-3)
        owners = step_owners(one, alpha[::2], alpha[1::2])
        assert owners.max() < len(one.shares)


def test_numbers_of_the_report(result):
    found = curve(result, Names())
    assert found["unit"] == ("mass" if result.measured else "k")
    assert found["k"][0][1] == pytest.approx(result.mass, rel=1e-5)
    assert len(found["k"]) == len(found["width"])
    leads = features(result, Names())["leads"]
    assert sum(leads) <= 1.0 + 1e-9


def test_shares_are_parts_of_the_integral():
    found, one = solve(X, weights=REAL), solve(X[:, :1], weights=REAL, normalize=False)
    assert sum(found.shares.values()) == pytest.approx(1.0)
    assert one.shares == {"0": 1.0}
    tiny = np.full(60, 1e-40)  # float64 does not tell masses of 1 and 1 + 1e-40 apart, but shares do
    tiny[0] = 1.0
    assert sum(solve(X, weights=tiny).shares.values()) == pytest.approx(1.0)


# ---------------------------------------------------------------- ways to stop


def test_time_limit_leaves_bounds():
    truth = Truth(X, REAL)
    with pytest.warns(InterruptedWarning, match="time limit"):
        found = geodim.intrinsic_dimension(X, weights=REAL, time_limit=0)
    assert found.stopped == "time limit"
    truth.check_bounds(found)
    assert geodim.IDResult.from_json(found.to_json()).stopped == "time limit"


def test_interrupted_after_a_column(tmp_path):
    """What was found is kept, and the rest is found later: the same bits."""
    calls = []

    def interrupt(done, _):
        calls.append(done)
        if len(calls) == 2:
            raise KeyboardInterrupt

    for weights in (REAL, MANY):
        calls.clear()
        folder = tmp_path / weights.dtype.kind
        options = {"weights": weights, "checkpoint": folder, "save_every": 0.0, "n_threads": 1}
        with pytest.warns(InterruptedWarning, match="interrupted"):
            part = geodim.intrinsic_dimension(X, progress=interrupt, **options)
        Truth(X, weights).check_bounds(part)
        found = geodim.intrinsic_dimension(X, progress=lambda done, _: calls.append(done), **options)
        Truth(X, weights).check_exact(found)
        assert calls[2] >= 1  # where the second call begins
        assert found.shares == solve(X, weights=weights).shares


def test_a_checkpoint_of_other_weights_is_refused(tmp_path):
    """Of as many points in all, too."""
    for at, (weights, other) in enumerate(
        [(1 + np.arange(60) % 3, 1 + np.arange(60)[::-1] % 3), (REAL, REAL[::-1]), (MANY, MANY[::-1])]
    ):
        folder = tmp_path / str(at)
        geodim.intrinsic_dimension(X, weights=weights, checkpoint=folder)
        with pytest.raises(DataFileError, match="belongs to another computation"):
            geodim.intrinsic_dimension(X, weights=other, checkpoint=folder)


def test_a_checkpoint_that_was_edited_is_refused(tmp_path):
    geodim.intrinsic_dimension(X, weights=REAL, checkpoint=tmp_path)
    path = tmp_path / "layers.npz"
    with np.load(path) as saved:
        arrays = dict(saved)
    size = int(arrays["size0"])
    for name, value in {
        "phi0": np.zeros(size) - 1.0,
        "high0": np.zeros(size, np.int64),
        "low0": np.full(size, -1),
        "owner0": np.full(size, 9, np.int32),
        "size0": np.int64(0),
        "work0": np.full(5, -1),
    }.items():
        np.savez(path, **(arrays | {name: value}))
        with pytest.raises(DataFileError, match="edited or damaged"):
            geodim.intrinsic_dimension(X, weights=REAL, checkpoint=tmp_path)


# ---------------------------------------------------------------- who takes them, and who does not


def test_the_estimator():
    model = geodim.IntrinsicDimension().fit(X, sample_weight=REAL)
    assert model.discriminability_ == float(Truth(X, REAL).delta)


@pytest.mark.parametrize("options", [{}, {"metric": "chebyshev"}, {"rtol": 0.1}])
def test_distances_between_points_with_masses(options):
    found = solve(X[:, :2], features="distances", weights=REAL, **options)
    plain = solve(X[:, :2], features="distances", weights=np.ones(60, int), **options)
    assert found.lower <= found.dimension <= found.upper
    assert found.n_points == 60
    assert found.mass == pytest.approx(REAL.sum())
    assert found.dimension != plain.dimension


def test_bounds_from_a_part_are_for_whole_weights():
    for options in ({"features": "distances", "landmarks": 5}, {"features": "directions"}):
        with pytest.raises(InputTypeError, match="whole numbers: round them, or take distances from all"):
            geodim.intrinsic_dimension(X, weights=REAL, **options)
        assert solve(X, weights=1 + np.arange(60) % 2, **options).n_points == 90


def test_points_that_no_feature_tells_apart():
    table = [[1, 2], [1, 2], [3, 4], [1, 2], [5, 6]]
    weights = [0.5, 0.25, 3.0, 0.0, 1.0]
    assert count_indistinguishable_points(table, weights) == 2
    found = geodim.intrinsic_dimension(table, weights=weights, count_indistinguishable=True)
    assert (found.n_indistinguishable, found.n_points) == (2, 4)
    assert count_indistinguishable_points(table, [0, 0, 10**12, 1, 1]) == 10**12


def test_no_certificate():
    found = geodim.intrinsic_dimension(X, weights=REAL)
    again = geodim.IDResult.from_json(found.to_json())
    for one in (found, again):
        with pytest.raises(CertificateError, match=r"weighted points cannot be made.*not whole"):
            one.certificate(X)


@pytest.mark.parametrize(
    "call", [geodim.explain_dimension, geodim.feature_ranking, geodim.WhatIf, geodim.select_features]
)
def test_explanations_are_of_whole_weights(call):
    with pytest.raises(InputTypeError, match=r"at row 0 is not an integer.*intrinsic_dimension takes any"):
        call(X, weights=REAL)


def test_other_backends_are_for_whole_weights():
    from backends.dask_cases import own_cluster

    da = pytest.importorskip("dask.array")
    with own_cluster(n_workers=1, threads_per_worker=1, processes=False):
        for data in (X, da.from_array(X, chunks=(20, 3))):
            with pytest.raises(InputTypeError, match=r"is not an integer.*backend='cpu'"):
                geodim.intrinsic_dimension(data, weights=REAL, backend="dask")


def test_the_gpu_is_for_whole_weights():
    pytest.importorskip("triton")
    torch = pytest.importorskip("torch")
    for data, kind in ((X, "coordinates"), (torch.from_numpy(X), "coordinates"), (X, "distances")):
        with pytest.raises(InputTypeError, match=r"is not an integer.*backend='cpu'"):
            geodim.intrinsic_dimension(data, weights=REAL, features=kind, backend="cuda")


def test_every_k_as_long_as_there_are_not_too_many():
    """As for repeated points, though none is repeated."""
    few = solve(X, weights=np.full(60, 10_000))
    assert few.support.tolist() == list(range(2, 600_001))
    assert few.plan.way.solvers >= 1
    assert_same_bits(few.phi_lower[9_999:20_000:10_000], solve(X).phi_lower[:2])
    many = solve(X, weights=np.full(60, 10**9))
    assert many.support.tolist() == [10**9 * k for k in range(1, 61)]
    assert_same_bits(many.phi_lower[1:], solve(X).phi_lower)
