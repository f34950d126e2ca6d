"""`geodim.support_field`: sizes from 2 to n that are written out only if somebody asks for them."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

import geodim
from geodim.errors import DegenerateDataWarning, InputValueError
from geodim.support_field import altered, place_of, support_of


@pytest.fixture
def result(rng):
    return geodim.intrinsic_dimension(rng.normal(size=(500, 3)))


def test_nobody_asked_while_it_was_made(result, rng):
    edges = rng.integers(0, 500, (2, 1500))
    hops = geodim.khop_dimensions(rng.normal(size=(500, 3)), edges, 2)
    what_if = geodim.WhatIf(rng.normal(size=(500, 3))).remove(0)
    for one in (result, *hops, what_if):
        assert support_of(one) == range(2, 501)


def test_who_asks_gets_an_array_every_time_the_same(result):
    support = result.support
    assert support.dtype == np.int64
    assert support.tolist() == list(range(2, 501))
    assert result.support is support
    assert support_of(result) is support


@pytest.mark.parametrize(("weights", "kind", "size"), [(None, "i", 0), ([3], "i", 2), ([0.5], "f", 1)])
def test_the_support_of_one_point_has_the_right_type(weights, kind, size):
    with pytest.warns(DegenerateDataWarning):
        support = geodim.intrinsic_dimension([[1.0, 2.0]], weights=weights).support
    assert (support.dtype.kind, support.size) == (kind, size)


def test_copies_do_not_ask(result):
    copies = (
        pickle.loads(pickle.dumps(result)), copy.copy(result), copy.deepcopy(result),
        altered(result, alerts=()),
    )  # fmt: skip
    for made in copies:
        assert support_of(made) == range(2, 501)
    assert altered(result, support=np.arange(3)).support.tolist() == [0, 1, 2]
    assert len(pickle.dumps(result)) < 500 * 8 + 6000  # Phi, and little else


def test_numbers_of_a_result_do_not_ask(result):
    assert not result.measured
    result.observable_diameter(0.25)
    result.phi_bounds(77)
    assert support_of(result) == range(2, 501)


@pytest.mark.parametrize("side", ["left", "right"])
def test_places_are_those_of_the_array(side):
    for stop in (2, 3, 9):
        sizes = range(2, stop)
        for k in (-1, 1.5, 2, 2.0, 4, 4.5, 8, 8.999, 9, 1e300):
            assert place_of(sizes, k, side) == np.searchsorted(np.arange(2, stop), k, side=side)
            assert place_of(np.arange(2, stop), k, side) == np.searchsorted(np.arange(2, stop), k, side=side)


class TestBoundsOnPhi:
    def test_exact_ones_are_phi_of_the_definition(self, rng):
        X = rng.normal(size=(60, 2))
        result = geodim.intrinsic_dimension(X)
        for k in range(2, 61):
            columns = np.sort(X, axis=0)
            phi = (columns[k - 1 :] - columns[: 61 - k]).min(axis=0).max()
            assert result.phi_bounds(k) == (phi, phi)
        assert result.phi_bounds(1) == (0.0, 0.0)

    @pytest.mark.parametrize(
        "options", [{"rtol": 0.05}, {"rtol": 0.05, "weights": "whole"}, {"weights": "whole"}]
    )
    def test_others_enclose_it(self, rng, options):
        X, weights = rng.normal(size=(3000, 2)), rng.integers(1, 4, 3000)
        every = np.repeat(X, weights, axis=0) if "weights" in options else X
        given = options | ({"weights": weights} if "weights" in options else {})
        result, exact = geodim.intrinsic_dimension(X, **given), geodim.intrinsic_dimension(every)
        for k in np.unique(np.linspace(2, len(every), 97).astype(int)).tolist():
            low, high = result.phi_bounds(k)
            assert low <= exact.phi_bounds(k)[0] <= high

    @pytest.mark.parametrize("k", [float("nan"), float("inf"), -1, 501])
    def test_what_is_no_size_is_refused(self, result, k):
        with pytest.raises(InputValueError, match="from 0 to 500"):
            result.phi_bounds(k)

    def test_of_masses(self):
        result = geodim.intrinsic_dimension([[0.0], [1.0], [5.0]], weights=[0.5, 0.25, 0.25])
        assert result.measured
        assert [result.phi_bounds(mass) for mass in (0.5, 0.6, 0.75, 0.8, 1.0)] == [
            (0.0, 0.0), (1.0, 1.0), (1.0, 1.0), (5.0, 5.0), (5.0, 5.0)
        ]  # fmt: skip
