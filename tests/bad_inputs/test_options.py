"""Options outside their range, before any work is done: the message repeats what was given."""

from __future__ import annotations

import math

import numpy as np
import pytest

import geodim
from geodim.errors import (
    GeodimError,
    InputTypeError,
    InputValueError,
    MachineMemoryError,
    NonFiniteError,
    ShapeError,
)

X = np.arange(8.0).reshape(4, 2)


def refuses(error, match, **options):
    with pytest.raises(error, match=match) as caught:
        geodim.intrinsic_dimension(X, **options)
    assert isinstance(caught.value, GeodimError)


@pytest.mark.parametrize("rtol", [-1e-9, -1.0, math.nan, math.inf, -math.inf])
def test_rtol_out_of_range(rtol):
    refuses(InputValueError, rf"rtol must be at least 0 and finite.*{rtol}", rtol=rtol)


@pytest.mark.parametrize("rtol", ["0.1", None, [0.1], 1j])
def test_rtol_of_a_wrong_type(rtol):
    refuses(InputTypeError, "rtol", rtol=rtol)


@pytest.mark.parametrize("n_threads", [0, -1, -100])
def test_too_few_threads(n_threads):
    refuses(InputValueError, f"n_threads.*at least 1.*{n_threads}", n_threads=n_threads)


@pytest.mark.parametrize("n_threads", [1.0, 2.5, "2", True, [2]])
def test_threads_of_a_wrong_type(n_threads):
    refuses(InputTypeError, "n_threads.*whole number", n_threads=n_threads)


@pytest.mark.parametrize("n_threads", [np.int64(2), np.uint8(1), 64])
def test_threads_that_are_fine(n_threads):
    assert (
        geodim.intrinsic_dimension(X, n_threads=n_threads).dimension
        == geodim.intrinsic_dimension(X).dimension
    )


@pytest.mark.parametrize("time_limit", [-1, -1e-9, math.nan, -math.inf])
def test_time_limit_out_of_range(time_limit):
    refuses(InputValueError, rf"time_limit must be at least 0 .*{time_limit}", time_limit=time_limit)


@pytest.mark.parametrize("time_limit", ["5", [1.0], 1j])
def test_time_limit_of_a_wrong_type(time_limit):
    refuses(InputTypeError, "time_limit", time_limit=time_limit)


# ---------------------------------------------------------------- weights


def test_negative_weights():
    refuses(InputValueError, r"weight -2 at row 1 .*negative", weights=[1, -2, 0, -5])


@pytest.mark.parametrize("weights", [[1, 2, 3], [1] * 5, [], [[1, 1, 1, 1]], np.ones((4, 1), int), 3])
def test_weights_of_a_wrong_shape(weights):
    refuses(ShapeError, r"one entry per point \(4\).*shape", weights=weights)


@pytest.mark.parametrize(
    ("weights", "words"),
    [
        ([1.0, 2.0, 3.0, math.nan], "weight nan at row 3 is not finite"),
        ([1.0, math.inf, 1.0, 1.0], "weight inf at row 1 is not finite"),
        ([-math.inf, 1.0, 1.0, 0.5], "weight -inf at row 0 is not finite"),
    ],
)
def test_weights_that_are_not_finite(weights, words):
    refuses(NonFiniteError, words, weights=weights)


def test_negative_masses():
    refuses(InputValueError, r"weight -0\.5 at row 2 is negative", weights=[1, 0.25, -0.5, 1])


@pytest.mark.parametrize(
    "weights",
    [
        ["a", "b", "c", "d"],
        [1j, 1, 1, 1],
        [None, 1, 1, 1],
        [2**70, 1, 1, 1],
        np.ones(4, np.longdouble),
        np.array(["2020-01-01"] * 4, "datetime64[D]"),
        np.ma.masked_equal([1, 2, 3, 4], 3),
    ],
)
def test_weights_that_are_no_numbers(weights):
    refuses(InputTypeError, "weights (must be real numbers|are a masked array)", weights=weights)


def test_ragged_weights():
    refuses(ShapeError, "weights must be a list of 4 numbers", weights=[[1, 2], [3], 4, 5])


def test_no_weight_at_all():
    refuses(ShapeError, "all weights are (0|zero)", weights=[0, 0, 0, 0])


@pytest.mark.parametrize("weights", [[1, 1.5e308, 1, 1], [1, 1.5e308, 1.5e308, 1]])
def test_weights_that_overflow(weights):
    refuses(InputValueError, r"add up to more than .* 1\.5e\+308 at row 1 .*too large", weights=weights)


@pytest.mark.parametrize(
    "weights", [[2**62, 2**62, 2**62, 2**62], np.array([2**64 - 1, 1, 1, 1], np.uint64), [1e300, 1, 1, 1]]
)
def test_more_points_than_can_be_counted_are_masses(weights):
    """They are refused where points are repeated."""
    result = geodim.intrinsic_dimension(X, weights=weights)
    assert (result.n_points, result.mass) == (4, float(sum(map(int, weights))))
    with pytest.raises(InputValueError, match="too many to count exactly"):
        geodim.explain_dimension(X, weights=weights)


@pytest.mark.parametrize("call", [geodim.explain_dimension, geodim.select_features, geodim.WhatIf])
def test_weights_that_are_no_integers(call):
    with pytest.raises(
        InputTypeError, match=r"weight 0\.5 at row 1 is not an integer: here .* multiplicities"
    ):
        call(X, weights=[1, 0.5, 1, 1])


class TestManyPoints:
    """Weights that stand for more points than the memory holds.

    They are masses, or refused before anything is allocated where points are repeated.
    """

    X = np.array([[0.0, 1.0], [1.0, 5.0], [3.0, 2.0], [7.0, 2.0]])
    weights = np.array([2**40, 2**41, 2**41, 2**40])

    @pytest.mark.parametrize(
        "call",
        [
            geodim.select_features,
            geodim.feature_ranking,
            geodim.WhatIf,
        ],
    )
    def test_they_are_too_many_to_be_repeated(self, call):
        points = f"{int(self.weights.sum()):,} points"
        with pytest.raises(
            MachineMemoryError, match=f"^{points} need at least .* GB .*rtol=0.01.*common divisor"
        ):
            call(self.X, weights=self.weights)
        assert issubclass(MachineMemoryError, MemoryError)

    def test_an_explanation_repeats_points(self):
        with pytest.raises(InputValueError, match="weights that are not small whole numbers"):
            geodim.explain_dimension(self.X, weights=self.weights)

    @pytest.mark.parametrize("rtol", [0.0, 0.01, 1e-4])
    def test_none_is_repeated(self, rtol, monkeypatch):
        """A common divisor changes nothing; and 2^41 points in one of 10^5 steps have larger units."""
        monkeypatch.setattr("geodim.engine.ways.worth_counting", lambda steps, _: steps <= 1 << 21)
        few = geodim.intrinsic_dimension(self.X, weights=self.weights // 2**40)
        many = geodim.intrinsic_dimension(self.X, weights=self.weights, rtol=rtol)
        assert many.n_points == int(self.weights.sum())
        assert many.plan.way.counted == (rtol > 0.0)
        assert many.lower <= few.dimension <= many.upper
        assert many.error <= rtol
        assert not many.measured

    def test_wrong_values_are_named_all_the_same(self):
        X = self.X.copy()
        X[2, 1] = np.nan
        with pytest.raises(NonFiniteError, match="row 2, column 1 is nan"):
            geodim.intrinsic_dimension(X, weights=self.weights)
        geodim.intrinsic_dimension(X, weights=[1, 1, 0, 1])  # of weight 0 it is not there

    def test_points_without_weights(self, monkeypatch):
        monkeypatch.setattr("geodim.memory.machine_memory", lambda: 100)
        with pytest.raises(MachineMemoryError, match=r"^4 points need"):
            geodim.intrinsic_dimension(self.X)


def test_unknown_options():
    with pytest.raises(TypeError, match="tolerance"):
        geodim.intrinsic_dimension(X, tolerance=0.1)
    with pytest.raises(TypeError, match="positional"):
        geodim.intrinsic_dimension(X, 0.1)
