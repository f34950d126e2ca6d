"""A weight is a multiplicity: the same bits as repeating the point so many times (fact 9)."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, strategies as st

from distributions import random_matrix
from engine.oracle import assert_same_bits, engine_phi, solve
from geodim import paper

seeds = st.integers(0, 2**32 - 1)


def assert_weights_are_repetitions(X, weights, dense=None, **options):
    """Every number of the result, not only phi."""
    dense = X if dense is None else dense
    repeated = solve(np.repeat(dense, weights, axis=0), **options)
    weighted = solve(X, weights=weights, **options)
    assert weighted.n_points == repeated.n_points == np.sum(weights)
    assert np.array_equal(weighted.support, repeated.support)
    assert_same_bits(weighted.phi_lower, repeated.phi_lower)
    assert_same_bits(weighted.phi_upper, repeated.phi_upper)
    for name in ("d_max", "dimension", "lower", "upper", "discriminability", "exact"):
        assert getattr(weighted, name) == getattr(repeated, name), name
    assert list(weighted.shares.values()) == list(repeated.shares.values())


@given(seeds, st.integers(1, 120), st.integers(1, 6), st.sampled_from([0.0, 1e-4, 0.05]))
def test_random_weights(seed, n, d, rtol):
    rng = np.random.default_rng(seed)
    X = random_matrix(rng, n, d)
    weights = rng.integers(0, 6, n)
    weights[rng.integers(n)] += 1
    assert_weights_are_repetitions(X, weights, rtol=rtol)


@given(seeds, st.integers(1, 60), st.integers(1, 4))
def test_weights_agree_with_the_oracle(seed, n, d):
    rng = np.random.default_rng(seed)
    X = random_matrix(rng, n, d)
    weights = rng.integers(1, 4, n)
    assert_same_bits(engine_phi(X, weights=weights), paper.phi_all(np.repeat(X, weights, axis=0)))


@given(seeds, st.integers(2, 80), st.integers(1, 5))
def test_weights_on_sparse_data(seed, n, d):
    rng = np.random.default_rng(seed)
    X = np.where(rng.random((n, d)) < 0.3, rng.normal(size=(n, d)), 0.0)
    weights = rng.integers(0, 5, n)
    weights[0] = 2
    assert_weights_are_repetitions(sp.csr_array(X), weights, dense=X)
    assert_weights_are_repetitions(sp.coo_matrix(X), weights, dense=X)


@pytest.mark.parametrize("module", ["pandas", "polars", "pyarrow"])
def test_weights_on_frames(module):
    library = pytest.importorskip(module)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(70, 2))
    X[:, 1] *= 3
    columns = {"first": X[:, 0], "second": X[:, 1]}
    frame = library.table(columns) if module == "pyarrow" else library.DataFrame(columns)
    weights = rng.integers(0, 4, 70)
    assert_weights_are_repetitions(frame, weights, dense=X)
    assert set(solve(frame, weights=weights).shares) <= {"first", "second"}


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int16, bool])
def test_weights_on_types_and_layouts(dtype, order):
    rng = np.random.default_rng(1)
    X = np.asarray(rng.normal(0, 5, size=(900, 4)), dtype, order=order)
    assert_weights_are_repetitions(X, rng.integers(0, 4, 900))


def test_weights_on_memory_maps(tmp_path):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(500, 3)).astype(np.float32)
    np.save(tmp_path / "x.npy", X)
    assert_weights_are_repetitions(np.load(tmp_path / "x.npy", mmap_mode="r"), rng.integers(0, 4, 500))


def test_large_weights():
    X = np.array([[0.0], [1.0], [5.0], [5.5], [7.0]])
    weights = np.array([100_000, 1, 30_000, 70_001, 2])
    assert_weights_are_repetitions(X, weights)
    phi = engine_phi(X, weights=weights)
    assert phi[100_000 - 2] == 0.0  # as many points sit at 0
    assert phi[100_001 - 2] == 0.5  # 5 and 5.5 together
    assert phi[-1] == 7.0


def test_one_heavy_point():
    """All but four points are the same: phi is 0 up to their number, and grows outwards from there."""
    X = np.array([[-4.0], [-1.0], [0.0], [2.0], [9.0]])
    phi = engine_phi(X, weights=[1, 1, 200_000, 1, 1])
    assert not phi[: 200_000 - 1].any()
    assert phi[200_000 - 1 :].tolist() == [1.0, 3.0, 6.0, 13.0]


def test_unit_weights_and_equal_weights_change_nothing():
    X = random_matrix(np.random.default_rng(5), 300, 4)
    plain = solve(X)
    assert_same_bits(solve(X, weights=np.ones(300, int)).phi_lower, plain.phi_lower)
    for times in (2, 7):
        heavier = solve(X, weights=np.full(300, times))
        assert heavier.dimension == pytest.approx(plain.dimension, rel=1e-14)


@pytest.mark.parametrize(
    "weights",
    [[2, 0, 1], (2, 0, 1), np.array([2, 0, 1], np.uint8), np.array([2.0, 0.0, 1.0])],
    ids=["list", "tuple", "uint8", "whole floats"],
)
def test_forms_of_weights(weights):
    X = np.array([[1.0], [50.0], [3.0]])
    assert engine_phi(X, weights=weights).tolist() == [0.0, 2.0]


def test_weights_as_flags():
    X = np.array([[1.0], [50.0], [3.0], [4.0]])
    assert engine_phi(X, weights=np.array([True, False, True, True])).tolist() == [1.0, 3.0]


def test_a_point_without_weight_is_not_there():
    """Not even for the range: d_max is that of the points that count."""
    X = np.array([[1.0, 0.0], [1e6, 9.0], [3.0, 0.5]])
    result = solve(X, weights=[1, 0, 4])
    assert result.d_max == 2.0
    assert result.n_points == 5


def test_unsigned_bytes_do_not_wrap_around():
    X = np.arange(4.0)[:, np.newaxis]
    weights = np.full(4, 200, np.uint8)
    assert solve(X, weights=weights).n_points == 800
