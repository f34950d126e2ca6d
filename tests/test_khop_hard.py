"""Hops of columns whose windows are all alike: bounds that hold, the same bits in any order, few windows."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import geodim
from engine.oracle import assert_same_bits, padded, phi as brute_force
from geodim.engine import hard, stepped
from geodim.errors import DataFileError
from geodim.features import iter_hop_blocks, make_operator
from slow_columns import GOLDEN, clocks

HOPS = 2


def ring(n):
    """Neighbours in the order of the rows, so that hops of a sorted column are sorted, but for the ends."""
    return np.stack([np.arange(n), (np.arange(n) + 1) % n])


@pytest.fixture
def all_hard(monkeypatch):
    """Whatever is a line or repeats but for roundings counts as hard, however short it is."""
    monkeypatch.setattr(hard, "HARD_FROM", 200)
    monkeypatch.setattr(hard, "DEAR", 0)


def alike_attributes(n):
    rng = np.random.default_rng(8)
    some = [
        np.sort(clocks(n)),
        np.sort(clocks(n, GOLDEN + 1e-6)) * (1.0 - 1e-4),
        0.7 * n * np.sort(rng.random(n)),
        np.sort(clocks(n))[::-1] * (1.0 + 1e-5),
        np.sort(clocks(n)) * (1.0 - 2.0**-40),
        np.sort(clocks(n)),
    ]
    return np.stack(some, axis=1)


def lines(n):
    """Lines that were rounded twice, whose windows differ by roundings, and near ties of them."""
    line = 2.0 * np.pi * np.arange(n) / n
    return np.stack([line, line * (1.0 + 2.0**-50), line[::-1] * (1.0 - 2.0**-51)], axis=1)


def exact_layers(X, edges, hops):
    """Phi of the features as they are computed, every window looked at, for each number of hops."""
    n = X.shape[0]
    layers, so_far = [], np.zeros(n)
    operator = make_operator(geodim.as_graph(edges, n), "sym")
    for values in iter_hop_blocks(X, operator, hops, slice(None), dtype=np.float64):
        for column in np.array(values).T:
            so_far = np.maximum(so_far, brute_force(padded(np.sort(column)), n))
        layers.append(so_far.copy())
    return layers


@pytest.mark.parametrize(("make", "fixture"), [(alike_attributes, "all_tolerant"), (lines, "all_hard")])
def test_bounds_hold_and_the_last_bit_is_exact(make, fixture, request):
    request.getfixturevalue(fixture)
    n = 3000
    X, edges = make(n), ring(n)
    found = geodim.khop_dimensions(X, edges, HOPS)
    exact = geodim.khop_dimensions(X, edges, HOPS, last_bit=True)
    assert exact[0].exact
    assert exact[0].parameters["last_bit"] is True
    for k, phi in enumerate(exact_layers(X, edges, HOPS)):
        assert_same_bits(exact[k].phi, phi[1:])
        assert not found[k].exact
        assert found[k].feature_error > exact[k].feature_error
        assert np.all(found[k].phi >= phi[1:])
        assert np.all(found[k].phi - phi[1:] <= 2.0 * found[k].feature_error)
        assert found[k].discriminability_lower <= exact[k].discriminability_lower
        assert found[k].discriminability_upper >= exact[k].discriminability_upper
    assert any(np.any(found[k].phi > exact[k].phi) for k in range(HOPS + 1))


@pytest.mark.parametrize(("make", "fixture"), [(alike_attributes, "all_tolerant"), (lines, "all_hard")])
def test_the_same_bits_for_every_order_thread_and_block(make, fixture, request):
    request.getfixturevalue(fixture)
    n = 3000
    X, edges = make(n), ring(n)
    reference = geodim.khop_dimensions(X, edges, HOPS, n_threads=1)
    assert reference[0].feature_error > 0.0
    rng = np.random.default_rng(3)
    orders = [np.arange(X.shape[1]), *(rng.permutation(X.shape[1]) for _ in range(3))]
    for order, n_threads in itertools.product(orders, (1, 3)):
        found = geodim.khop_dimensions(X[:, order], edges, HOPS, n_threads=n_threads)
        for one, other in zip(found.results, reference.results, strict=True):
            assert_same_bits(one.phi, other.phi)
            assert (one.lower, one.upper) == (other.lower, other.upper)


def test_a_pass_that_is_continued_knows_what_was_loose(all_tolerant, tmp_path):
    n = 3000
    X, edges = alike_attributes(n), ring(n)
    reference = geodim.khop_dimensions(X, edges, HOPS)
    for _ in range(2):  # the second time all is read from the checkpoint
        found = geodim.khop_dimensions(X, edges, HOPS, checkpoint=tmp_path)
        for one, other in zip(found.results, reference.results, strict=True):
            assert (one.lower, one.upper, one.exact) == (other.lower, other.upper, False)
    with pytest.raises(DataFileError, match="another computation"):
        geodim.khop_dimensions(X, edges, HOPS, checkpoint=tmp_path, last_bit=True)


def test_equal_attributes_are_solved_once():
    """The same column many times over, whose windows are all alike: as much work as once."""
    n = 1 << 14
    line = 2.0 * np.pi * np.arange(n) / n
    X = np.stack([line] * 8, axis=1)
    once, often = (
        geodim.khop_dimensions(x, ring(n), 1, last_bit=True, n_threads=1) for x in (X[:, :1], X)
    )  # two threads may solve the same column at the same time
    assert often[1].evaluations == once[1].evaluations
    assert_same_bits(often[1].phi, once[1].phi)
    assert set(often[0].shares) == {"0"}


def test_few_windows_are_looked_at(monkeypatch):
    """Where every window would have to be: two clocks take as many looks as are stated, not n."""
    monkeypatch.setattr(stepped, "ENOUGH", 0)
    n = 1 << 16
    X = np.sort(clocks(n))[:, np.newaxis]
    found = geodim.khop_dimensions(X, ring(n), 1, n_threads=1)
    assert found[0].evaluations <= 1.25 * stepped.MANY * n
    assert not found[0].exact
    assert found[0].error < 1e-3
    exact = geodim.khop_dimensions(X, ring(n), 1, n_threads=1, last_bit=True)
    assert exact[0].evaluations > 2.0 * stepped.MANY * n
    for k in (0, 1):
        assert found[k].lower <= exact[k].lower
        assert exact[k].upper <= found[k].upper
