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


@pytest.mark.parametrize("weights", [[0.5, 1, 1, 1], [1.0, 2.0, 3.0, math.nan], [1.0, math.inf, 1.0, 1.0]])
def test_fractional_weights(weights):
    refuses((InputTypeError, InputValueError), r"integers", weights=weights)


@pytest.mark.parametrize("weights", [["a", "b", "c", "d"], [1j, 1, 1, 1], [None, 1, 1, 1]])
def test_weights_that_are_no_numbers(weights):
    refuses(InputTypeError, "weights .*integers", weights=weights)


def test_no_weight_at_all():
    refuses(ShapeError, "all weights are (0|zero)", weights=[0, 0, 0, 0])


def test_weights_that_overflow():
    """The number of points would not fit any counter."""
    refuses(InputValueError, "too many|too large|overflow", weights=[2**62, 2**62, 2**62, 2**62])
    refuses(InputValueError, "too many|too large|overflow", weights=np.array([2**64 - 1, 1, 1, 1], np.uint64))


@pytest.mark.parametrize("weights", [[1e300, 1, 1, 1], [-1e300, 1, 1, 1]])
def test_weights_that_no_integer_holds(weights):
    refuses(InputValueError, "too large", weights=weights)


@pytest.mark.parametrize("weights", [[0.5, 1, 1, 1], [np.nan, 1, 1, 1], [np.inf, 1, 1, 1], [2**70, 1, 1, 1]])
def test_weights_that_are_no_integers(weights):
    refuses(InputTypeError, "multiplicities and must be integers", weights=weights)


class TestManyPoints:
    """Weights that stand for more points than the memory holds.

    They are refused before anything is allocated, or only counted.
    """

    X = np.array([[0.0, 1.0], [1.0, 5.0], [3.0, 2.0], [7.0, 2.0]])
    weights = np.array([2**40, 2**41, 2**41, 2**40])

    @pytest.mark.parametrize(
        "call",
        [
            geodim.intrinsic_dimension,
            geodim.explain_dimension,
            geodim.select_features,
            geodim.feature_ranking,
            geodim.WhatIf,
        ],
    )
    def test_exactly_they_are_too_many(self, call):
        points = f"{int(self.weights.sum()):,} points"
        with pytest.raises(
            MachineMemoryError, match=f"^{points} need at least .* GB .*rtol=0.01.*common divisor"
        ):
            call(self.X, weights=self.weights)
        assert issubclass(MachineMemoryError, MemoryError)

    def test_the_ways_out(self):
        """A common divisor changes nothing, and a tolerance needs counts alone."""
        few = geodim.intrinsic_dimension(self.X, weights=self.weights // 2**40)
        many = geodim.intrinsic_dimension(self.X, weights=self.weights, rtol=0.01)
        assert many.n_points == int(self.weights.sum())
        assert many.lower <= few.dimension <= many.upper
        assert many.error <= 0.01

    def test_counts_that_float64_does_not_hold(self):
        """2^41 points in one of some 10^5 steps: their products are beyond 2^53."""
        with pytest.raises(InputValueError, match=r"too many to count exactly: use a larger rtol"):
            geodim.intrinsic_dimension(self.X, weights=self.weights, rtol=1e-4)

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
