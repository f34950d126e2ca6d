"""Explanations of columns whose windows are all alike: they fit the result, and what must wait is told so."""

from __future__ import annotations

import numpy as np
import pytest

import geodim
from engine.oracle import assert_same_bits
from geodim.data.sources import as_source
from geodim.engine import patience, stepped, subgradient
from geodim.engine.kernels.counters import WINDOWS
from geodim.engine.patience import Patience
from geodim.engine.solve import compute_profile
from geodim.errors import QuadraticCostWarning
from slow_columns import GOLDEN, clocks


def alike_columns(n):
    rng = np.random.default_rng(8)
    some = [
        clocks(n),
        clocks(n, GOLDEN + 1e-6) * (1.0 - 1e-4),
        0.7 * n * np.sort(rng.random(n)),
        clocks(n, 1.7) / 1.05 + 0.01 * rng.normal(size=n),
    ]
    return np.stack([rng.permutation(values) for values in some], axis=1)


def test_what_if_answers_are_those_of_the_changed_data(all_tolerant):
    X = alike_columns(3000)
    what_if = geodim.WhatIf(X)
    other = X[:, 2] ** 2 / X[:, 2].max()
    for answer, changed in (
        (what_if.result, X),
        (what_if.remove(0), X[:, 1:]),
        (what_if.remove(0, 1), X[:, 2:]),
        (what_if.replace(0, other), np.column_stack([other, X[:, 1:]])),
        (what_if.replace(2, X[:, 0] * 1.01), np.column_stack([X[:, :2], X[:, 0] * 1.01, X[:, 3]])),
    ):
        expected = geodim.intrinsic_dimension(changed)
        exact = geodim.intrinsic_dimension(changed, last_bit=True)
        assert_same_bits(answer.phi, expected.phi)
        assert (answer.lower, answer.upper) == (expected.lower, expected.upper)
        assert answer.lower <= exact.dimension <= answer.upper
    assert not what_if.result.exact


def test_a_core_has_the_dimension_of_the_result(all_tolerant):
    X = alike_columns(3000)
    found = geodim.explain_dimension(X)
    assert not found.result.exact
    core = [int(name) for name in found.core]
    assert geodim.intrinsic_dimension(X[:, core]).dimension == found.result.dimension


def test_few_windows_are_looked_at(monkeypatch):
    """Where every window would have to be, as many are as are stated."""
    monkeypatch.setattr(stepped, "ENOUGH", 0)
    n = 1 << 16
    X = np.random.default_rng(0).permutation(clocks(n))[:, np.newaxis]
    what_if = geodim.WhatIf(X, n_threads=1)
    assert what_if.two.work[WINDOWS] <= 1.25 * stepped.MANY * n
    assert what_if.result.error < 1e-3


def test_what_takes_long_is_announced_once(monkeypatch):
    late = Patience(3, 10**6, lambda: False)
    for _ in range(9):
        assert not late()
    at_once(monkeypatch)
    with pytest.warns(QuadraticCostWarning, match=r"column 3 takes long: .* 5e\+11 of them"):
        assert not late()
    for _ in range(9):
        assert not late()
    assert Patience(3, 10**6, lambda: True)()


def at_once(monkeypatch):
    """Whatever takes more than two pieces takes long."""
    monkeypatch.setattr(patience, "TOLD_AFTER", 0.0)
    monkeypatch.setattr(patience, "FOR_EACH_POINT", 0.0)


def test_rankings_and_gradients_announce(monkeypatch):
    X = np.random.default_rng(1).normal(size=(40_000, 2))
    source = as_source(X)
    geodim.feature_ranking(X, n_threads=1)  # which takes no time
    at_once(monkeypatch)
    with pytest.warns(QuadraticCostWarning, match="takes long"):
        geodim.feature_ranking(X, n_threads=1)
    monkeypatch.setattr(subgradient, "LONG", 1)
    with pytest.warns(QuadraticCostWarning, match="takes long"):
        list(subgradient.all_counts(source, compute_profile(source, n_threads=1)))


def test_searches_in_parts_find_the_same_windows(monkeypatch):
    rng = np.random.default_rng(2)
    for values in (rng.normal(size=1000), np.arange(1000) / 1000, rng.integers(0, 50, 1000) * 1.0):
        source = as_source(rng.permutation(values)[:, np.newaxis])
        profile = compute_profile(source, n_threads=1)
        monkeypatch.setattr(subgradient, "LONG", 10**9)
        ((_, whole),) = subgradient.all_counts(source, profile)
        monkeypatch.setattr(subgradient, "LONG", 1)
        ((_, parts),) = subgradient.all_counts(source, profile)
        assert np.array_equal(whole, parts)


def test_threads_that_wait_give_up():
    """If one column fails, the others end before their next piece."""
    from geodim.explain.passes import ColumnPass

    seen = []
    X = np.random.default_rng(3).normal(size=(40_000, 4))

    def visit(slot, column):
        seen.append(slot.given_up)
        if column.index == 0:
            raise ValueError("no more")

    with pytest.raises(ValueError, match="no more"):
        ColumnPass(as_source(X), 2).run(range(4), visit)
    assert all(given_up() for given_up in seen)
