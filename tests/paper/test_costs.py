"""Cost formulas, against counting every subtraction one by one."""

from fractions import Fraction

import pytest
from hypothesis import given, settings, strategies as st

from geodim import paper
from geodim.errors import InputTypeError, InputValueError, ShapeError


def count_subtractions(n, k, n_features):
    """Go through the loop of Lemma "k": one subtraction for each j in {0, ..., n - k} and each feature."""
    return sum(1 for _ in range(n_features) for _ in range(n - k + 1))


@pytest.mark.parametrize("n", [1, 2, 3, 10, 25])
@pytest.mark.parametrize("n_features", [1, 4])
def test_naive_costs(n, n_features):
    assert paper.naive_costs(n, n_features) == sum(
        count_subtractions(n, k, n_features) for k in range(2, n + 1)
    )


@given(st.integers(2, 30), st.integers(1, 5), st.data())
@settings(max_examples=80, deadline=None)
def test_support_costs(n, n_features, data):
    s = sorted({2, n} | data.draw(st.sets(st.integers(2, n))))
    f_sizes = [data.draw(st.integers(0, n_features)) for _ in s[1:]]
    counted = sum(count_subtractions(n, k, n_features) for k in s)
    for left, right, size in zip(s, s[1:], f_sizes, strict=False):
        counted += sum(count_subtractions(n, j, size) for j in range(left + 1, right))
    assert paper.support_costs(n, n_features, s, f_sizes) == counted
    saved = paper.saved_costs(n, n_features, s, f_sizes)
    assert saved == 1 - Fraction(counted, n_features * n * (n - 1) // 2)
    assert 0 <= saved < 1


def test_nothing_is_saved_if_no_feature_is_ruled_out():
    assert paper.saved_costs(50, 3, [2, 7, 50], [3, 3]) == 0
    assert paper.saved_costs(50, 3, range(2, 51), [3] * 48) == 0


def test_exact_for_large_numbers():
    """papers100M with hops 0..5: far beyond the integers that a float64 holds exactly."""
    n, features = 111_059_956, 768
    assert paper.naive_costs(n, features) == features * n * (n - 1) // 2
    two = paper.support_costs(n, features, [2, n], [1])
    assert two == features * n + n * (n - 1) // 2 - n  # |F| (n-1 + 1), and k = 3..n-1 once
    assert type(two) is int


def test_bad_arguments():
    with pytest.raises(ShapeError, match="2 entries"):
        paper.support_costs(10, 3, [2, 10], [1, 1])
    with pytest.raises(InputValueError, match=r"f_sizes\[0\]"):
        paper.support_costs(10, 3, [2, 10], [4])
    with pytest.raises(InputTypeError, match=r"f_sizes\[0\]"):
        paper.saved_costs(10, 3, [2, 10], [1.0])
    with pytest.raises(InputValueError, match="n_features"):
        paper.naive_costs(10, 0)
    with pytest.raises(InputValueError, match="n must be at least 1"):
        paper.naive_costs(0, 1)
