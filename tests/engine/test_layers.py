"""Layers: Phi over hops 0..k for all k at once is the running maximum, with the owner of lowest index."""

from __future__ import annotations

import numpy as np
import pytest

from engine.oracle import assert_same_bits
from geodim import paper
from geodim.engine.column import ColumnSolver
from geodim.engine.layers import Layers


def solved(features, order, step=0.0):
    """Layers of hop features (hops + 1, d, n), the attributes taken in the given order."""
    hops, d, n = features.shape
    layers = Layers(n, d, hops - 1, step)
    solver = ColumnSolver(n, features.dtype, step)
    for column in order:
        for hop in range(hops):
            assert solver.solve(features[hop, column].copy(), column, layers.layer(hop), lambda: False)
        layers.finish([column])
    return layers


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("order", ["up", "down"])
def test_each_layer_is_phi_of_its_features(seed, order):
    rng = np.random.default_rng(seed)
    features = rng.normal(size=(4, 5, 60)) * rng.uniform(0.5, 1.5, (4, 5, 1))
    layers = solved(features, range(5) if order == "up" else range(4, -1, -1))
    for k, profile in enumerate(layers.profiles):
        flat = features[: k + 1].reshape(-1, 60).T
        phi = np.maximum.accumulate(profile.phi)[1:]
        assert_same_bits(phi, np.asarray(paper.phi_all(flat), np.float64)[-59:])
        assert profile.done.size == (k + 1) * 5
        assert profile.done.all()
        owners = np.unique(profile.owner[1:])
        assert owners.min() >= 0
        assert owners.max() < (k + 1) * 5
        for d in (1, 30, 59):
            widths = np.sort(flat, axis=0)
            each = (widths[d:] - widths[: 60 - d]).min(axis=0)
            assert profile.owner[d] == int(each.argmax())


def test_ties_go_to_the_lowest_hop_and_column():
    values = np.random.default_rng(0).normal(size=40)
    features = np.broadcast_to(values, (3, 4, 40))
    for order in ([0, 1, 2, 3], [3, 1, 0, 2]):
        for profile in solved(features, order).profiles:
            assert set(profile.owner[1:].tolist()) == {0}


def test_lower_layers_do_not_see_higher_hops():
    features = np.zeros((3, 1, 10))
    features[1, 0] = np.arange(10)
    features[2, 0] = np.arange(10) * 2.0
    first, second, third = solved(features, [0]).profiles
    assert not first.phi.any()
    np.testing.assert_array_equal(second.phi, np.arange(10.0))
    np.testing.assert_array_equal(third.phi, np.arange(10.0) * 2.0)


def test_finish_and_unfinished():
    layers = Layers(5, 4, hops=2)
    assert [profile.done.size for profile in layers.profiles] == [4, 8, 12]
    assert layers.unfinished() == [0, 1, 2, 3]
    layers.finish([1, 3])
    assert layers.unfinished() == [0, 2]
    for k, profile in enumerate(layers.profiles):
        assert profile.done.tolist() == [False, True, False, True] * (k + 1)


def test_finish_nothing():
    layers = Layers(5, 4, hops=2)
    layers.finish([])
    assert layers.unfinished() == [0, 1, 2, 3]


def test_all_layers_know_why_the_pass_ended():
    layers = Layers(5, 4, hops=2)
    layers.stop("time limit")
    assert [profile.stopped for profile in layers.profiles] == ["time limit"] * 3


def test_the_step_is_shared():
    layers = Layers(5, 4, hops=2, step=0.25)
    assert [profile.step for profile in layers.profiles] == [0.25] * 3
    assert layers.layer(1).step == 0.25
    assert layers.layer(1).phi is layers.profiles[1].phi
