"""Which feature attains Phi, as runs: by definition, whatever the number of threads, and through JSON."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, strategies as st

import geodim
from distributions import random_matrix
from engine.oracle import solve
from geodim import paper
from geodim.attained import shortened
from geodim.errors import DataFileError, DegenerateDataWarning, InterruptedWarning

RNG = np.random.default_rng(5)


def owner_at(result, k):
    """Name of the feature that attains Phi(k), None where there is none."""
    position = result.attained_by[np.searchsorted(result.attained_from, k, side="right") - 1]
    return list(result.shares)[position] if position >= 0 else None


def owner_by_definition(X, k):
    phi = paper.phi_k_per_feature(X, k)
    return str(int(np.argmax(phi))) if phi.max() > 0.0 else None


@given(st.integers(0, 2**32 - 1), st.integers(2, 40), st.integers(1, 5))
def test_runs_follow_the_definition(seed, n, d):
    """Of several features that attain Phi(k), the lowest column."""
    X = random_matrix(np.random.default_rng(seed), n, d)
    result = solve(X)
    assert result.attained_from[0] == 2
    assert np.all(np.diff(result.attained_from) > 0)
    assert np.all(result.attained_by[1:] != result.attained_by[:-1])
    for k in range(2, n + 1):
        assert owner_at(result, k) == owner_by_definition(X, k)


@pytest.mark.parametrize("rtol", [0.01, 0.1])
@pytest.mark.parametrize("n", [60, 3000])
def test_runs_of_a_tolerance_attain_phi_within_it(rtol, n):
    """Counted or not: the feature named is as wide as any other, up to twice the resolution."""
    X = np.abs(RNG.normal(size=(n, 4))) ** np.array([0.4, 0.8, 1.5, 2.0])
    X /= X.max(axis=0)
    result = solve(X, rtol=rtol)
    largest = float(np.max(result.phi_upper - result.phi_lower))
    for k in np.unique(np.linspace(2, n, 40).astype(int)).tolist():
        phi = paper.phi_k_per_feature(X, k)
        name = owner_at(result, k)
        assert phi.max() - (phi[int(name)] if name is not None else 0.0) <= 2.0 * largest


@pytest.mark.parametrize("n", [200, 4000])
def test_shares_of_a_tolerance_are_near_the_exact_ones(n):
    X = np.abs(RNG.normal(size=(n, 4))) ** np.array([0.4, 0.8, 1.5, 2.0])
    exact, near = solve(X), solve(X, rtol=0.002)
    for name, share in exact.shares.items():
        assert near.shares.get(name, 0.0) == pytest.approx(share, abs=0.03)


def test_hops_have_runs_too():
    result = geodim.khop_dimensions(RNG.normal(size=(60, 3)), RNG.integers(0, 60, (2, 120)), hops=2)
    for one in result:
        assert one.attained_from[0] == 2
        assert one.attained_by.max() < len(one.shares)
    again = geodim.KHopResult.from_json(result.to_json())
    np.testing.assert_array_equal(again[2].attained_by, result[2].attained_by)


def test_what_was_stopped_has_none():
    with pytest.warns(InterruptedWarning):
        result = geodim.intrinsic_dimension(RNG.normal(size=(50, 3)), time_limit=0)
    assert result.attained_from.size == result.attained_by.size == 0


def test_what_has_no_width_has_no_feature():
    with pytest.warns(DegenerateDataWarning):
        result = geodim.intrinsic_dimension(np.ones((5, 2)))
    assert set(result.attained_by.tolist()) <= {-1}


@given(st.integers(0, 2**32 - 1), st.integers(2, 30))
def test_shortened_runs(seed, most):
    """Each part goes to the column that has most of it."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(most + 2, 400))
    owner = rng.integers(0, 3, n - 1)
    first = np.flatnonzero(np.append(True, owner[1:] != owner[:-1]))
    starts, columns = shortened(first + 2, owner[first], n + 1, most)
    assert starts.size <= most
    assert starts[0] == 2
    edges = np.unique(np.linspace(2, n + 1, most + 1).astype(int))
    for low, high in pairwise(edges.tolist()):
        counts = np.bincount(owner[low - 2 : high - 2], minlength=3)
        given_to = columns[np.searchsorted(starts, low, side="right") - 1]
        assert counts[given_to] == counts.max()


def test_many_runs_are_shortened():
    """Two features that take turns at every k."""
    n = 6000
    X = np.stack(
        [np.repeat(np.arange(n // 2), 2), np.r_[0, np.repeat(np.arange(1, n // 2), 2), n // 2]], axis=1
    )
    result = solve(X.astype(np.float64))
    assert 0 < result.attained_from.size <= 2048


class TestJson:
    def test_older_files_are_read(self):
        result = solve(RNG.normal(size=(40, 3)))
        values = result.to_dict()
        values["format"] = "geodim.IDResult/1"
        del values["attained_from"], values["attained_by"]
        old = geodim.IDResult.from_dict(values)
        assert old.attained_from.size == 0
        assert old.dimension == result.dimension
        assert geodim.IDResult.from_json(old.to_json()).attained_by.size == 0

    @pytest.mark.parametrize(
        ("field", "value"), [("attained_by", [99]), ("attained_by", [0, 0]), ("attained_from", "x"),
                             ("attained_by", [-2])]
    )  # fmt: skip
    def test_edited_files_are_not(self, field, value):
        values = solve(np.arange(10.0)[:, np.newaxis]).to_dict()
        assert len(values["attained_from"]) == 1
        values[field] = value
        with pytest.raises(DataFileError):
            geodim.IDResult.from_dict(values)
