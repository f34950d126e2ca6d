"""Support sequences: the log-scale construction, by hand and by its properties."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from geodim import paper
from geodim.errors import InputTypeError, InputValueError


def test_by_hand():
    """From 10 to 2 in four elements: 10, 5.848, 3.420, 2. Mirrored at 12: 2, 6.152, 8.580, 10."""
    assert paper.log_scale_support(10, length=4) == (2, 6, 8, 10)
    # 100, 27.14, 7.368, 2 mirrored at 102: 2, 74.86, 94.63, 100.
    assert paper.log_scale_support(100, length=4) == (2, 74, 94, 100)
    # 6, 4.996, 4.160, 3.464, 2.884, 2.402, 2 mirrored at 8: 2, 3.004, 3.840, 4.536, 5.116, 5.598, 6.
    assert paper.log_scale_support(6, length=7) == (2, 3, 4, 5, 6)


@pytest.mark.parametrize("power", range(2, 40))
def test_powers_of_two_do_not_slip_over_the_floor(power):
    """From 2^p to 2 in p elements the sequence is 2^p, ..., 4, 2: all integers, though logarithms round."""
    n = 2**power
    assert paper.log_scale_support(n, length=power) == tuple(n + 2 - 2**q for q in range(power, 0, -1))


@pytest.mark.parametrize(("base", "power"), [(3, 2), (3, 7), (5, 4), (10, 5), (7, 3)])
def test_other_integer_ratios(base, power):
    n = 2 * base**power
    expected = tuple(n + 2 - 2 * base**q for q in range(power, -1, -1))
    assert paper.log_scale_support(n, length=power + 1) == expected
    # Twice as many steps: every other element is the same.
    assert set(expected) <= set(paper.log_scale_support(n, length=2 * power + 1))


def ceil_of_element(n, length, i):
    """The least integer c >= n^((L-i)/L) 2^(i/L), in integers: c^L >= n^(L-i) 2^i."""
    steps = length - 1
    target = n ** (steps - i) * 2**i
    low, high = 2, n
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if middle**steps >= target else (middle + 1, high)
    return low


@given(st.integers(2, 400), st.integers(2, 60))
@settings(max_examples=80, deadline=None)
def test_equals_the_construction_in_exact_integers(n, length):
    expected = sorted({n + 2 - ceil_of_element(n, length, i) for i in range(length)})
    assert paper.log_scale_support(n, length=length) == tuple(expected)


@given(st.integers(2, 100_000), st.integers(1, 500))
@settings(max_examples=80, deadline=None)
def test_is_a_support_sequence(n, length):
    s = paper.log_scale_support(n, length=length)
    assert paper.check_support(s, n) == s
    assert len(s) <= max(length, 2)
    assert all(type(element) is int for element in s)


def test_denser_towards_the_number_of_points():
    gaps = np.diff(paper.log_scale_support(100_000, length=12))
    assert (np.diff(gaps) < 0).all()


@pytest.mark.parametrize("length", [1, 2, 3, 10])
def test_smallest_data(length):
    assert paper.log_scale_support(2, length=length) == (2,)
    assert paper.log_scale_support(3, length=length) == (2, 3)


@pytest.mark.parametrize("length", [1, 2])
def test_shortest_sequences(length):
    assert paper.log_scale_support(1000, length=length) == (2, 1000)


@pytest.mark.parametrize("n", [100, 1000, 169_343])
def test_relative_size(n):
    """l = floor(r |X|) for the relative sizes of Section 5.1."""
    for thousandths in range(-(-1000 // n), 51, 7):
        length = math.floor(Fraction(thousandths, 1000) * n)
        if length:
            expected = paper.log_scale_support(n, length=length)
            assert paper.log_scale_support(n, relative_size=thousandths / 1000) == expected
            assert paper.log_scale_support(n, relative_size=Fraction(thousandths, 1000)) == expected


def test_relative_size_is_not_rounded_down():
    assert math.floor(0.29 * 100) == 28
    assert paper.log_scale_support(100, relative_size=0.29) == paper.log_scale_support(100, length=29)
    assert paper.log_scale_support(100, relative_size=1) == paper.log_scale_support(100, length=100)


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({}, InputValueError),
        ({"length": 3, "relative_size": 0.5}, InputValueError),
        ({"length": 0}, InputValueError),
        ({"length": -3}, InputValueError),
        ({"length": 2.5}, InputTypeError),
        ({"relative_size": 0.0}, InputValueError),
        ({"relative_size": -0.5}, InputValueError),
        ({"relative_size": 0.09}, InputValueError),
        ({"relative_size": float("nan")}, InputValueError),
        ({"relative_size": "0.5"}, InputTypeError),
    ],
)
def test_bad_arguments(arguments, error):
    with pytest.raises(error, match=r"length|relative_size"):
        paper.log_scale_support(10, **arguments)


def test_too_few_points():
    for n in (1, 0, -5):
        with pytest.raises(InputValueError, match="n must be at least 2"):
            paper.log_scale_support(n, length=2)
        with pytest.raises(InputValueError, match="n must be at least 2"):
            paper.check_support([2], n)


@pytest.mark.parametrize(
    ("support", "message"),
    [
        ([], "empty"),
        ([3, 10], "start with 2"),
        ([2, 9], "end with"),
        ([2, 5, 5, 10], r"support\[2\]"),
        ([2, 6, 5, 10], r"support\[2\]"),
        ([1, 2, 10], r"support\[0\]"),
        ([2, 11], "end with"),
    ],
)
def test_what_is_not_a_support_sequence(support, message):
    with pytest.raises(InputValueError, match=message):
        paper.check_support(support, 10)


@pytest.mark.parametrize("support", [None, 5, [2, 5.0, 10], ["2"], "2"])
def test_support_of_another_type(support):
    with pytest.raises(InputTypeError, match="support"):
        paper.check_support(support, 10)


def test_any_iterable_of_integers():
    assert paper.check_support(range(2, 6), 5) == (2, 3, 4, 5)
    assert paper.check_support(np.array([2, 5]), 5) == (2, 5)
    assert paper.check_support([2], 2) == (2,)
