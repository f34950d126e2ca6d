"""Numbers that callers hand over: one check, one wording, plain Python values out of it."""

import doctest
import math
from fractions import Fraction

import numpy as np
import pytest

from geodim import arguments
from geodim.arguments import one_of, real_number, whole_number
from geodim.engine import parts
from geodim.engine.parts import available_threads, divisor, thread_count
from geodim.errors import InputTypeError, InputValueError


@pytest.mark.parametrize("value", [3, np.int8(3), np.uint64(3), np.array(3)])
def test_whole_numbers_come_out_as_python_says_them(value):
    number = whole_number(value, "hops", 0)
    assert number == 3
    assert type(number) is int


@pytest.mark.parametrize("value", [True, np.True_, 3.0, np.float64(3), "3", None, [3], np.array([3])])
def test_what_is_no_whole_number(value):
    with pytest.raises(InputTypeError, match=r"^hops must be a whole number, got "):
        whole_number(value, "hops")


def test_whole_numbers_out_of_their_limits():
    assert [whole_number(value, "m", 1, 3) for value in (1, 3)] == [1, 3]
    with pytest.raises(InputValueError, match=r"^m must be at least 1, got 0$"):
        whole_number(0, "m", 1, 3)
    with pytest.raises(InputValueError, match=r"^m must be at most 3, got 4,000$"):
        whole_number(4000, "m", 1, 3)
    with pytest.raises(InputValueError, match="got a number of more than 30 digits"):
        whole_number(-(10**5000), "m", 1)


@pytest.mark.parametrize("value", [1, 1.0, np.float32(1), np.int64(1), Fraction(1)])
def test_numbers_come_out_as_floats(value):
    number = real_number(value, "alpha", above=0.0, most=1.0)
    assert number == 1.0
    assert type(number) is float


def test_there_is_one_zero():
    assert math.copysign(1.0, real_number(-0.0, "rtol", least=0.0)) == 1.0


@pytest.mark.parametrize("value", [True, np.True_, "1", None, 1j, [1.0], np.array([1.0])])
def test_what_is_no_number(value):
    with pytest.raises(InputTypeError, match=r"^alpha must be a number, got "):
        real_number(value, "alpha")


@pytest.mark.parametrize(
    ("limits", "kept", "broken", "words"),
    [
        ({"least": 0.0}, [0.0, math.inf], [-1e-300, math.nan], "at least 0"),
        ({"least": 0.0, "below": 1.0}, [0.0, 0.5], [-1.0, 1.0], "at least 0 and below 1"),
        ({"above": 0.0, "most": 1.0}, [5e-324, 1.0], [0.0, 1.5], "above 0 and at most 1"),
        ({"least": 0.0, "below": math.inf}, [0.0, 1e308], [math.inf], "at least 0 and finite"),
        ({"above": -math.inf, "below": math.inf}, [-1e308], [math.inf, -math.inf, math.nan], "finite"),
        ({}, [math.inf, -math.inf], [math.nan], "a number"),
    ],
)
def test_numbers_out_of_their_limits(limits, kept, broken, words):
    assert [real_number(value, "x", **limits) for value in kept] == kept
    for value in broken:
        with pytest.raises(InputValueError, match=f"^x must be {words}, got {value}$"):
            real_number(value, "x", **limits)


def test_numbers_beyond_all_floats():
    with pytest.raises(InputValueError, match=r"a float64 holds, got a number of more than 30 digits"):
        real_number(10**5000, "rtol", least=0.0)


def test_names():
    one_of("b", "variant", ("a", "b"))
    with pytest.raises(InputValueError, match=r"^variant must be one of a, b, got 'c'$"):
        one_of("c", "variant", ("a", "b"))


def test_threads():
    assert thread_count(None) == available_threads()
    assert thread_count(np.int64(2)) == 2
    with pytest.raises(InputValueError, match=r"^threads must be at least 1, got 0$"):
        thread_count(0, "threads")


def test_what_features_are_divided_by():
    assert [divisor(d_max, normalize) for d_max in (0.0, 2.0) for normalize in (False, True)] == [1, 1, 1, 2]


@pytest.mark.parametrize("module", [arguments, parts])
def test_examples_in_the_documentation(module):
    result = doctest.testmod(module)
    assert result.attempted > 0
    assert result.failed == 0
