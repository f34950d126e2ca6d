"""The same bits for every number of threads, order of columns, chunk size and memory layout, exact or not.

The largest tables here are cut into several blocks and chunks even with the constants as they are.
"""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, strategies as st

from distributions import column, matrix, random_matrix
from engine.oracle import assert_same_bits, solve
from geodim import paper
from geodim.data import sources
from geodim.engine import pilot, ways

seeds = st.integers(0, 2**32 - 1)
rtols = st.sampled_from([0.0, 1e-6, 1e-3, 0.02, 0.5])

NUMBERS = (
    "dimension", "lower", "upper", "error", "discriminability", "discriminability_lower",
    "discriminability_upper", "d_max", "exact", "n_points", "n_features", "stopped",
)  # fmt: skip


def assert_same_result(computed, reference, shares=True):
    """Every number and every bit of phi; for reordered columns the names of the shares differ."""
    assert np.array_equal(computed.support, reference.support)
    assert_same_bits(np.asarray(computed.phi_lower), np.asarray(reference.phi_lower))
    assert_same_bits(np.asarray(computed.phi_upper), np.asarray(reference.phi_upper))
    for name in NUMBERS:
        assert getattr(computed, name) == getattr(reference, name), name
    if shares:
        assert list(computed.shares.items()) == list(reference.shares.items())


def alike(n, d, seed=0):
    """Columns that pass Phi on to each other all the time."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * rng.uniform(0.95, 1.05, d)
    X[:, ::3] = np.round(X[:, ::3], 2)
    return X


# ---------------------------------------------------------------- threads


@given(seeds, st.integers(1, 400), st.integers(1, 20), rtols)
def test_threads(seed, n, d, rtol):
    X = random_matrix(np.random.default_rng(seed), n, d)
    reference = solve(X, rtol=rtol, n_threads=1)
    for n_threads in (2, 3, 8):
        assert_same_result(solve(X, rtol=rtol, n_threads=n_threads), reference)


@pytest.mark.turns(4)
@pytest.mark.parametrize("rtol", [0.0, 1e-4, 1e-2, 0.3])
@pytest.mark.parametrize("shape", [(3000, 40), (40_000, 7), (140_000, 2)])
def test_threads_on_alike_columns(shape, rtol):
    X = alike(*shape)
    reference = solve(X, rtol=rtol, n_threads=1)
    for n_threads in (2, 2, 4):
        assert_same_result(solve(X, rtol=rtol, n_threads=n_threads), reference)


def test_again_and_again():
    X = alike(2000, 30)
    reference = solve(X, n_threads=2)
    for _ in range(8):
        assert_same_result(solve(X, n_threads=2), reference)


# ---------------------------------------------------------------- shares


def shares_by_definition(X):
    """Phi(k) belongs to the lowest column that attains it; the share of a column is its part of the sum."""
    n, d = X.shape
    sums = np.zeros(d)
    for k in range(2, n + 1):
        phi = paper.phi_k_per_feature(X, k)
        sums[np.argmax(phi)] += phi.max()  # argmax takes the first of several
    return sums / sums.sum()


@given(seeds, st.integers(2, 150), st.integers(1, 8), st.booleans())
def test_shares_follow_their_definition(seed, n, d, twice):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 9, (n, d)).astype(float) if twice else rng.normal(size=(n, d))
    if twice and d > 1:
        X[:, -1] = rng.permutation(X[:, 0])  # a tie at every k: the first column wins
    if not np.ptp(X, axis=0).any():
        return
    expected = shares_by_definition(X)
    for n_threads in (1, 2):
        shares = solve(X, n_threads=n_threads).shares
        assert set(shares) == {str(at) for at in np.flatnonzero(expected)}
        assert list(shares.values()) == sorted(shares.values(), reverse=True)
        assert sum(shares.values()) == pytest.approx(1.0, rel=1e-12)
        for name, share in shares.items():
            assert share == pytest.approx(expected[int(name)], rel=1e-9)


def test_ties_go_to_the_lowest_column_for_all_threads():
    values = column("normal", 3000)
    rng = np.random.default_rng(0)
    X = np.stack([rng.permutation(values) for _ in range(24)], axis=1)
    for n_threads in (1, 2, 4):
        assert solve(X, n_threads=n_threads).shares == {"0": 1.0}
        assert solve(np.hstack([np.zeros((3000, 1)), -X]), n_threads=n_threads).shares == {"1": 1.0}


def test_ties_go_to_the_lowest_column_in_sparse_and_weighted_data():
    rng = np.random.default_rng(0)
    values = np.where(rng.random(500) < 0.3, rng.exponential(size=500), 0.0)
    X = np.stack([np.zeros(500), *(rng.permutation(values) for _ in range(9))], axis=1)
    for n_threads in (1, 2):
        assert solve(sp.csr_array(X), n_threads=n_threads).shares == {"1": 1.0}
        assert solve(X, weights=np.full(500, 3), n_threads=n_threads).shares == {"1": 1.0}


# ---------------------------------------------------------------- column order


@given(seeds, st.integers(2, 300), st.integers(2, 20), rtols)
def test_column_order(seed, n, d, rtol):
    rng = np.random.default_rng(seed)
    X = random_matrix(rng, n, d)
    reference = solve(X, rtol=rtol)
    assert_same_result(solve(X[:, rng.permutation(d)], rtol=rtol), reference, shares=False)
    assert_same_result(solve(X[:, ::-1], rtol=rtol, n_threads=1), reference, shares=False)


@pytest.mark.turns(3)
@pytest.mark.parametrize("rtol", [0.0, 1e-3, 0.1])
@pytest.mark.parametrize("shape", [(2500, 60), (36_000, 12)])
def test_column_order_of_alike_columns(shape, rtol):
    """36,000 points are looked at before they are solved, and the likely leaders are solved first."""
    X = alike(*shape)
    rng = np.random.default_rng(1)
    reference = solve(X, rtol=rtol)
    for _ in range(4):
        order = rng.permutation(shape[1])
        assert_same_result(solve(X[:, order], rtol=rtol), reference, shares=False)


def test_shares_follow_their_columns_where_there_are_no_ties():
    rng = np.random.default_rng(1)
    X, order = rng.normal(size=(2500, 30)), rng.permutation(30)
    shares = {str(order[int(name)]): share for name, share in solve(X[:, order]).shares.items()}
    assert shares == pytest.approx(solve(X).shares, rel=1e-14)


@pytest.mark.turns(2)
@pytest.mark.parametrize("rtol", [1e-3, 0.1])
def test_column_order_of_hundreds_of_columns(rtol, monkeypatch):
    """All have the same range, and more than a look ahead takes into account."""
    monkeypatch.setattr(pilot, "ENTRIES", pilot.ENTRIES // 4)  # so that there need not be thousands
    rng, d = np.random.default_rng(2), 900
    X = np.clip(rng.normal(size=(150, d)) * np.geomspace(0.2, 2.0, d), -1.0, 1.0)
    assert d > pilot.ENTRIES // len(X)
    X[0], X[1] = 1.0, -1.0
    reference = solve(X, rtol=rtol)
    for order in (np.arange(d)[::-1], rng.permutation(d)):
        assert_same_result(solve(X[:, order], rtol=rtol), reference, shares=False)


def test_leaders_in_any_order():
    """Columns that lead at different sizes, found in an order that is not theirs."""
    n = 40_000
    rng = np.random.default_rng(3)
    base = rng.normal(size=n)
    X = np.stack(
        [
            np.sign(base) * np.abs(rng.permutation(base)) ** power / 4.0**power
            for power in rng.permutation(np.arange(1, 13) / 4)
        ],
        axis=1,
    )
    result = solve(X, normalize=False)
    sequences = np.sort(X, axis=0)
    for k in np.unique(np.linspace(2, n, 150).astype(int)).tolist():
        widths = (sequences[k - 1 :] - sequences[: n - k + 1]).min(axis=0)
        assert result.phi_lower[k - 2] == widths.max(), f"k = {k}"
    assert len(result.shares) > 2


# ---------------------------------------------------------------- chunks and layouts


@pytest.mark.turns(5)
@pytest.mark.parametrize("rtol", [0.0, 1e-4, 0.05])
@pytest.mark.parametrize("chunk", [1, 1000, 1 << 14, 1 << 30])
@pytest.mark.parametrize("block", [1, 1 << 16, 1 << 30])
def test_chunk_sizes(monkeypatch, chunk, block, rtol):
    X = alike(5000, 21).astype(np.float32)
    reference = solve(X, rtol=rtol)
    assert isinstance(sources.CHUNK_BYTES, int)
    assert isinstance(ways.BLOCK_BYTES, int)
    monkeypatch.setattr(sources, "CHUNK_BYTES", chunk)
    monkeypatch.setattr(ways, "BLOCK_BYTES", block)
    for n_threads in (1, 2):
        assert_same_result(solve(X, rtol=rtol, n_threads=n_threads), reference)


@pytest.mark.parametrize("chunk", [1, 1 << 30])
def test_chunk_sizes_of_wide_and_long_tables(monkeypatch, chunk):
    for shape in ((300, 700), (70_000, 3)):
        X = alike(*shape)
        reference = solve(X)
        with monkeypatch.context() as patch:
            patch.setattr(sources, "CHUNK_BYTES", chunk)
            patch.setattr(ways, "BLOCK_BYTES", chunk)
            assert_same_result(solve(X), reference)


@given(seeds, st.integers(2, 600), st.integers(1, 12), rtols)
def test_layouts(seed, n, d, rtol):
    X = random_matrix(np.random.default_rng(seed), n, d)
    reference = solve(np.ascontiguousarray(X), rtol=rtol)
    wide = np.zeros((n, 2 * d))
    wide[:, ::2] = X
    for same in (np.asfortranarray(X), wide[:, ::2], np.ascontiguousarray(X[::-1])[::-1], X.astype(">f8")):
        assert_same_result(solve(same, rtol=rtol), reference)


@given(seeds, st.integers(2, 300), st.integers(1, 6), rtols)
def test_sparse_and_dense(seed, n, d, rtol):
    rng = np.random.default_rng(seed)
    X = np.where(rng.random((n, d)) < rng.random(d), random_matrix(rng, n, d), 0.0)
    reference = solve(X, rtol=rtol)
    for same in (sp.csr_array(X), sp.csc_matrix(X), sp.coo_array(X)):
        assert_same_result(solve(same, rtol=rtol), reference)


@pytest.mark.parametrize("rtol", [0.0, 1e-3])
def test_float32_values_held_as_float64(rtol):
    """The same numbers in another type: the same widths."""
    X = alike(4000, 6).astype(np.float32)
    assert_same_result(solve(X.astype(np.float64), rtol=rtol), solve(X, rtol=rtol))


@pytest.mark.parametrize("rtol", [0.0, 1e-3])
def test_integers_held_as_floats(rtol):
    X = matrix(["hundred_integers", "few_integers", "integers_below_n"], 3000)
    reference = solve(X, rtol=rtol)
    for dtype in (np.int16, np.int32, np.int64, np.float32):
        assert_same_result(solve(X.astype(dtype), rtol=rtol), reference)
