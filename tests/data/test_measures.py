"""Which way weights are measured, and every kind of data with weights that are no multiplicities."""

from __future__ import annotations

import tracemalloc
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp

import geodim
from engine.oracle import assert_same_bits, solve
from geodim.data.measures import FEW_POINTS, TIMES, MassSource, UnitSource, weighted_source
from geodim.data.sources import WeightedSource, as_source
from geodim.errors import DataChangedError, InternalError, NonFiniteError
from masses import Truth, check

RNG = np.random.default_rng(0)
X = np.round(RNG.normal(size=(40, 3)), 2)
WEIGHTS = np.where(RNG.random(40) < 0.2, 0.0, RNG.random(40))


# ---------------------------------------------------------------- one decision


@pytest.mark.parametrize(
    ("weights", "kind", "n_points"),
    [
        (np.ones(1000, int), WeightedSource, 1000),
        (np.full(1000, float(TIMES)), WeightedSource, 1000 * TIMES),
        (np.append(np.ones(96), FEW_POINTS - 96), WeightedSource, FEW_POINTS),
        (np.ones(1000, bool), WeightedSource, 1000),
        (np.full(1000, TIMES + 1), UnitSource, 1000),
        (np.full(1000, 0.1), UnitSource, 1000),
        (np.append(np.full(999, 0.75), 3.0), UnitSource, 1003),
        (np.append(np.full(999, 10**12), 0), UnitSource, 999),
        (np.append(np.ones(999), 10**12), MassSource, 1000),
        (np.append(np.full(999, 0.1), 0.3), MassSource, 1000),
        (np.append(np.full(999, 1e-300), 1e300), MassSource, 1000),
    ],
)
def test_small_multiples_are_repeated(weights, kind, n_points):
    source = weighted_source(as_source(np.zeros((weights.size, 1))), weights)
    assert type(source) is kind
    assert source.n_points == n_points
    if kind is UnitSource:
        units = Fraction(source.unit) * Fraction(2) ** source.measure.exponent
        given = [Fraction(weight) for weight in weights[weights > 0].tolist()]
        assert [units * int(times) for times in source.weights] == given


def test_points_with_masses_are_never_repeated():
    source = weighted_source(as_source(X), WEIGHTS)
    with pytest.raises(InternalError, match="repeated"):
        source.read([0], np.empty((1, 40)))
    with pytest.raises(InternalError, match="counted"):
        source.read_runs(0)


def test_samples_follow_the_masses():
    """A point of half the mass is half of the sample."""
    source = weighted_source(
        as_source(np.arange(100.0)[:, np.newaxis]), np.append(RNG.random(99) + 0.5, 99.0)
    )
    assert isinstance(source, MassSource)
    sample = source.sample(np.array([0]), np.arange(100))
    assert 49 <= np.count_nonzero(sample == 99.0) <= 51


@pytest.mark.parametrize("weight", [10**12, 2**52 - 40])
def test_a_large_weight_costs_no_memory(weight):
    weights = np.ones(40, int)
    weights[7] = weight
    for rtol in (0.0, 0.1):
        geodim.intrinsic_dimension(X, weights=weights, rtol=rtol)  # compiled
        tracemalloc.start()
        try:
            result = geodim.intrinsic_dimension(X, weights=weights, rtol=rtol)
            assert tracemalloc.get_traced_memory()[1] < 4 << 20
        finally:
            tracemalloc.stop()
        assert result.n_points == weight + 39
        Truth(X, weights).check_bounds(result)
    assert len(result.to_json()) < 200_000


# ---------------------------------------------------------------- all kinds of data


@pytest.mark.parametrize("module", ["pandas", "polars", "pyarrow"])
def test_frames(module):
    library = pytest.importorskip(module)
    columns = {name: X[:, at] for at, name in enumerate("abc")}
    frame = library.table(columns) if module == "pyarrow" else library.DataFrame(columns)
    result = solve(frame, weights=WEIGHTS)
    Truth(X, WEIGHTS).check_exact(result)
    assert set(result.shares) <= set("abc")


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int16, np.int64, bool])
@pytest.mark.parametrize("order", ["C", "F"])
def test_types_and_layouts(dtype, order):
    check(np.asarray(100 * X, dtype, order=order), WEIGHTS)


@pytest.mark.parametrize("form", [sp.csr_array, sp.csc_matrix, sp.coo_array])
def test_sparse(form):
    dense = np.where(RNG.random((40, 3)) < 0.7, 0.0, X)
    Truth(dense, WEIGHTS).check_exact(solve(form(dense), weights=WEIGHTS))


def test_memory_maps(tmp_path):
    np.save(tmp_path / "x.npy", X)
    Truth(X, WEIGHTS).check_exact(solve(np.load(tmp_path / "x.npy", mmap_mode="r"), weights=WEIGHTS))


def test_tensors():
    torch = pytest.importorskip("torch")
    Truth(X, WEIGHTS).check_exact(solve(torch.from_numpy(X), weights=torch.from_numpy(WEIGHTS).tolist()))


def test_long_integers_lose_nothing():
    """Measured from the least of their column, as without weights."""
    ids = (10**18 + np.arange(40) ** 3)[:, np.newaxis]
    one = solve(ids, weights=WEIGHTS)
    other = solve((ids - 10**18).astype(np.float64), weights=WEIGHTS)
    assert one.exact
    assert_same_bits(one.phi_lower, other.phi_lower)


@pytest.mark.parametrize("form", [np.ndarray.tolist, tuple, np.float32, np.float16])
def test_forms_of_weights(form):
    check(X, form(WEIGHTS))


def test_points_of_no_mass_are_not_looked_at():
    spoiled = X.copy()
    spoiled[WEIGHTS == 0] = np.nan
    assert solve(spoiled, weights=WEIGHTS).discriminability == solve(X, weights=WEIGHTS).discriminability
    row = int(np.flatnonzero(WEIGHTS)[2])
    spoiled[row, 1] = np.inf
    with pytest.raises(NonFiniteError, match=f"row {row}, column 1 is inf"):
        solve(spoiled, weights=WEIGHTS)


@pytest.mark.parametrize("rtol", [0.0, 0.3])
def test_data_that_changes_between_two_passes(monkeypatch, rtol):
    monkeypatch.setattr("geodim.engine.ways.worth_counting", lambda steps, _: steps <= 4096)
    data = X.copy()
    look = geodim.backends.local.LocalBackend.solve

    def change_first(*arguments, **options):
        data[5:9] += 100.0
        return look(*arguments, **options)

    monkeypatch.setattr("geodim.backends.local.LocalBackend.solve", change_first)
    with pytest.raises(DataChangedError, match="column 0 reached from"):
        geodim.intrinsic_dimension(data, weights=WEIGHTS + 0.1, rtol=rtol, n_threads=1)


def test_constant_columns_and_single_points():
    result = solve(np.ones((5, 2)), weights=np.full(5, 0.3))
    assert (result.discriminability, result.dimension, result.exact) == (0.0, np.inf, True)
    assert result.shares == {}
    alone = solve(X, weights=np.eye(40)[3] * 0.3)
    assert (alone.n_points, alone.mass, alone.phi.tolist()) == (1, 0.3, [0.0])
