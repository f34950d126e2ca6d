"""Many columns at once: dropped only if they attain Phi nowhere, ties decided by the lowest column."""

from __future__ import annotations

import numpy as np
import pytest

import geodim
from distributions import COLUMNS, column
from geodim import paper
from geodim.data.sources import as_source
from geodim.engine import dominated, ways
from geodim.engine.dominated import Dominance
from geodim.engine.kernels import dominated as kernels
from geodim.engine.kernels.tiles import PADDING
from geodim.engine.leaders import leaders
from geodim.engine.profile import Profile
from geodim.engine.solve import compute_profile
from geodim.errors import DataChangedError


def phi_of(values):
    return np.append(0.0, paper.phi_all(values[:, np.newaxis]))


def reached(phi, owner):
    """A profile that others filled."""
    profile = Profile.empty(phi.size, 8)
    profile.phi[:], profile.owner[:] = phi, owner
    return profile


@pytest.mark.parametrize("long", [False, True])
@pytest.mark.turns(5)
@pytest.mark.parametrize("name", COLUMNS)
def test_only_what_attains_nothing_is_dropped(name, long, monkeypatch):
    if long:  # then an eighth of the values is sorted at most
        monkeypatch.setattr(dominated, "SORT_ALL_UP_TO", 600)
    values = column(name, 700).astype(np.float64)
    phi = phi_of(values)
    dominance = Dominance(700)
    for factor in (0.5, 0.99, 1.0, 1.01, 1.3, 3.0):
        for owner, index in ((2, 5), (5, 2)):
            with np.errstate(over="ignore"):
                others = np.minimum(phi * factor, np.finfo(float).max)
            for at in (1, 5, 350, 699):
                bar = others.copy()
                bar[at] = min(bar[at], phi[at])  # touches, or lies above, at one place
                bar = np.minimum.accumulate(bar[::-1])[::-1]
                dominance.look(reached(bar, np.where(bar > 0.0, owner, -1).astype(np.int32)), 8)
                found, ends = dominance.test(values[np.newaxis], [index])
                below = (phi < bar) | (phi == 0.0) | ((phi == bar) & (owner < index))
                assert not found[0] or below.all()
                assert ends.tolist() == [[values.min(), values.max()]]


def test_equal_columns_belong_to_the_lowest():
    values = np.tile(column("normal", 600)[:, np.newaxis], (1, 100))
    profile = compute_profile(as_source(values), n_threads=2, leaders=[70, 3])
    assert set(profile.owner[1:].tolist()) == {0}
    np.testing.assert_array_equal(profile.phi, phi_of(values[:, 0].astype(np.float64)))


def test_ties_are_dropped_without_being_sorted(monkeypatch):
    from geodim.engine.column import ColumnSolver

    values = np.random.default_rng(0).standard_normal((600, 100))
    values[:, 0] *= 1.5
    values = np.round(values, 1)  # the narrowest windows are 0.1 wide in all columns
    calls = []
    once = ColumnSolver.solve
    monkeypatch.setattr(ColumnSolver, "solve", lambda self, *a: calls.append(a[1]) or once(self, *a))
    compute_profile(as_source(values), n_threads=1, leaders=[0])
    assert len(calls) < 20


def test_columns_that_lead_are_not_sorted_to_find_out(monkeypatch):
    """Of columns of one kind nearly all lead somewhere, as counts show; to sort would be in vain."""
    n = 20_000
    X = np.random.default_rng(0).standard_normal((n, 16))
    cells = dominated.cells_for(n)
    scratch = (
        np.empty(cells + 3, np.int32), np.empty(n), np.empty(n + PADDING), np.empty(2 * n + 3, np.int32)
    )  # fmt: skip
    bar, by, sorted_ones = np.empty(n), np.empty(n, np.int32), []
    once = kernels.put_in_order
    monkeypatch.setattr(kernels, "put_in_order", lambda *a: sorted_ones.append(1) or once(*a))
    for one in range(16):
        compute_profile(as_source(np.delete(X, one, 1)), n_threads=1).reached(bar, by)
        values = X[:, one].copy()
        kernels._dominated.py_func(
            values, values.min(), values.max(), one, bar, by, 0.0, 0.0, cells, *scratch
        )
    assert len(sorted_ones) < 10


@pytest.mark.turns(3)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n", [256, 257, 1000])
def test_wide_data(dtype, n, monkeypatch):
    """Scales within a few percent, values repeated, columns that are constant: the same with and without."""
    rng = np.random.default_rng(n)
    X = rng.standard_normal((n, 200)) * np.exp(0.05 * rng.standard_normal(200))
    X[:, ::7] = np.round(X[:, ::7], 1)
    X[:, 11] = 3.0
    X[: n // 2, 13] = X[0, 13]
    X[:, 20:30] *= 1e-3
    X = X.astype(dtype)
    quick = [geodim.intrinsic_dimension(X, n_threads=threads) for threads in (1, 2, 3)]
    monkeypatch.setattr(ways, "MANY_COLUMNS", 1 << 40)
    slow = geodim.intrinsic_dimension(X, n_threads=1)
    for one in quick:
        np.testing.assert_array_equal(one.phi_lower, slow.phi_lower)
        np.testing.assert_array_equal(one.attained_from, slow.attained_from)
        assert one.shares == slow.shares


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_long_data(dtype, monkeypatch):
    """Columns too long to be sorted for a proof: most attain nothing, some by their ties alone."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((140_000, 70)) * np.exp(rng.standard_normal(70))
    X[:, ::5] = np.exp(X[:, ::5])
    X[:, 1::5] = rng.random((140_000, 14))
    X = X.astype(dtype)
    once, dropped = Dominance.test, []

    def test(self, values, columns, known=None):
        found = once(self, values, columns, known)
        dropped.extend(np.compress(found[0], columns).tolist())
        return found

    monkeypatch.setattr(Dominance, "test", test)
    quick = [geodim.intrinsic_dimension(X, n_threads=threads) for threads in (1, 2)]
    if dtype == np.float32:
        assert len(dropped) > 70
    monkeypatch.setattr(ways, "MANY_COLUMNS", 1 << 40)
    slow = geodim.intrinsic_dimension(X, n_threads=2)
    for one in quick:
        np.testing.assert_array_equal(one.phi_lower, slow.phi_lower)
        np.testing.assert_array_equal(one.attained_from, slow.attained_from)


def test_nothing_is_tested_where_nothing_is_dropped(monkeypatch):
    monkeypatch.setattr(dominated, "GIVE_UP_AFTER", 16)
    dominance = Dominance(500)
    dominance.rise(np.full(500, 1e-9))
    values = np.random.default_rng(0).standard_normal((20, 500))
    for _ in range(5):
        assert not dominance.test(values, range(20))[0].any()
    assert dominance.tested == 20


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 1e308])
def test_values_that_are_no_numbers_prove_nothing(value):
    values = np.random.default_rng(0).standard_normal(500)
    values[[0, 77]] = value, -value
    dominance = Dominance(500)
    dominance.rise(np.full(500, np.finfo(float).max))
    with np.errstate(all="ignore"):
        assert not dominance.test(values[np.newaxis], [0])[0][0]


def test_columns_that_changed_since_the_first_pass_are_an_error():
    X = np.random.default_rng(0).standard_normal((400, 80))
    from geodim.data.checks import scan_ranges

    source = as_source(X)
    ranges = scan_ranges(source)
    X[:, 40] *= 0.5
    with pytest.raises(DataChangedError, match="column 40"):
        compute_profile(source, ranges=ranges, n_threads=1)


def test_leaders_are_the_widest_at_some_size():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((2000, 300))
    X[:, 17] *= 5.0
    X[:, 200] = np.where(rng.random(2000) < 0.5, -3.0, 3.0) + 0.01 * X[:, 200]
    chosen = leaders(as_source(X), 2)
    assert 17 in chosen
    assert chosen == leaders(as_source(X), 1)
    assert leaders(as_source(X[:1])) == []
