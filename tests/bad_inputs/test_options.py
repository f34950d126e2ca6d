"""Options outside their range, before any work is done: the message repeats what was given."""

from __future__ import annotations

import math

import numpy as np
import pytest

import geodim
from geodim.errors import GeodimError, InputTypeError, InputValueError, ShapeError

X = np.arange(8.0).reshape(4, 2)


def refuses(error, match, **options):
    with pytest.raises(error, match=match) as caught:
        geodim.intrinsic_dimension(X, **options)
    assert isinstance(caught.value, GeodimError)


@pytest.mark.parametrize("rtol", [-1e-9, -1.0, math.nan, math.inf, -math.inf])
def test_rtol_out_of_range(rtol):
    refuses(InputValueError, rf"rtol.*>= 0.*{rtol}", rtol=rtol)


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
    refuses(InputValueError, rf"time_limit.*>= 0.*{time_limit}", time_limit=time_limit)


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


def test_unknown_options():
    with pytest.raises(TypeError, match="tolerance"):
        geodim.intrinsic_dimension(X, tolerance=0.1)
    with pytest.raises(TypeError, match="positional"):
        geodim.intrinsic_dimension(X, 0.1)
