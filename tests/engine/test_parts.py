"""Long arrays in parts: the same numbers whatever the threads, and sums as exact as fractions say."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, strategies as st
from hypothesis.extra.numpy import arrays

from geodim.engine import parts

WAYS = st.sampled_from([0, 1 << 15])  # compiled, and by NumPy


@pytest.fixture(params=["compiled", "by NumPy"])
def short(monkeypatch, request):
    """So few numbers are a part that small arrays have many; and by either way of adding them up."""
    monkeypatch.setattr(parts, "PART", 7)
    if request.param == "compiled":
        monkeypatch.setattr(parts, "SHORT", 0)


@pytest.mark.parametrize("size", [0, 1, 6, 7, 8, 100])
@pytest.mark.parametrize("n_threads", [1, 3])
def test_parts_cover_everything_once_and_in_order(size, n_threads, short):
    found = parts.in_parts(lambda part: list(range(part.start, part.stop)), size, n_threads)
    assert [at for part in found for at in part] == list(range(size))
    assert max(map(len, found), default=0) <= 7


@pytest.mark.parametrize("n_threads", [1, 3])
def test_filled_arrays(n_threads, short):
    assert np.array_equal(parts.filled(30, -1, np.int32, n_threads), np.full(30, -1, np.int32))
    assert parts.filled(30, -1, np.int32, n_threads).dtype == np.int32
    assert np.array_equal(parts.whole_numbers(2, 41, n_threads), np.arange(2, 41))
    assert parts.whole_numbers(2, 1, n_threads).size == 0
    assert np.array_equal(parts.copied(np.arange(30.0), n_threads), np.arange(30.0))


def test_an_error_in_a_part_is_raised(short):
    def fail(part: slice) -> None:
        if part.start == 14:
            raise ValueError("at 14")

    with pytest.raises(ValueError, match="at 14"):
        parts.in_parts(fail, 50, 3)


@given(arrays(np.float64, st.integers(0, 60), elements=st.floats(0.0, 1e300)), st.integers(1, 3), WAYS)
def test_the_mean_is_that_of_the_fractions(widths, n_threads, short):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(parts, "PART", 7)
        patch.setattr(parts, "SHORT", short)
        found = parts.mean(widths, 100, 3.0, n_threads)
        assert found == parts.mean(widths, 100, 3.0)
    assert found == float(sum(map(Fraction, widths.tolist()), Fraction(0)) / 300)


@given(arrays(np.float64, st.integers(0, 60), elements=st.floats(0.0)), st.integers(1, 3), WAYS)
def test_sums_do_not_round(widths, n_threads, short):
    """Every float there is, subnormal ones and those whose sum overflows among them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(parts, "PART", 7)
        patch.setattr(parts, "SHORT", short)
        found = parts.exact_sum(widths, n_threads)
    if np.any(np.isinf(widths)):
        assert found is None
    else:
        assert found is not None
        assert Fraction(found, 2**1074) == sum(map(Fraction, widths.tolist()), Fraction(0))


def test_long_runs_of_the_largest_numbers_do_not_overflow():
    """More numbers of one exponent, with all bits set, than one counter of 63 bits could take."""
    widths = np.full(3_000_001, np.nextafter(2.0, 1.0))
    assert parts.exact_sum(widths, 2) == 3_000_001 * ((2**53 - 1) << 1022)


def test_a_quotient_beyond_all_floats_is_infinite():
    assert parts.mean(np.array([1e308]), 1, 1e-10) == math.inf


def test_one_large_number_among_many_small_ones(short):
    widths = np.array([1e-3] * 50 + [1e13] + [1e-3] * 50)
    assert parts.mean(widths, 1, 1.0, 2) == math.fsum(widths)


def test_what_is_not_known_has_no_mean(short):
    assert parts.mean(np.array([1.0] * 20 + [np.inf]), 21, 1.0, 2) == math.inf


@given(st.data(), WAYS)
def test_sums_by_owner_are_those_of_the_fractions(data, short):
    size = data.draw(st.integers(1, 60))
    phi = data.draw(arrays(np.float64, size, elements=st.floats(0.0, 1e3)))
    owner = data.draw(arrays(np.int32, size, elements=st.integers(-1, 4)))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(parts, "SHARED", 8)
        patch.setattr(parts, "SHORT", short)
        found, attains = parts.sums_by_owner(phi, owner, 6, 3)
        again = parts.sums_by_owner(phi, owner, 6)
        assert np.array_equal(found, again[0])
        assert np.array_equal(attains, again[1])
    assert np.flatnonzero(attains).tolist() == sorted(set(owner[(owner >= 0) & (phi > 0.0)].tolist()))
    largest = Fraction(float(phi.max())) or Fraction(1)
    for column in range(6):
        true = sum((Fraction(value) for value in phi[owner == column].tolist()), Fraction(0)) / largest
        assert abs(Fraction(float(found[column])) - true) <= true * Fraction(1, 10**13) + Fraction(
            60, 2**1074
        )


@given(st.data())
def test_sums_by_owner_have_the_same_bits_without_compiled_code(data):
    size = data.draw(st.integers(1, 60))
    phi = data.draw(arrays(np.float64, size, elements=st.floats(0.0, allow_infinity=False)))
    owner = data.draw(arrays(np.int32, size, elements=st.integers(-1, 4)))
    plain = parts.sums_by_owner(phi, owner, 6)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(parts, "SHORT", 0)
        compiled = parts.sums_by_owner(phi, owner, 6)
    assert plain[0].tobytes() == compiled[0].tobytes()
    assert plain[1].tobytes() == compiled[1].tobytes()


@given(st.data(), st.integers(2, 9))
def test_sums_by_owner_have_the_same_bits_whatever_the_threads(data, n_threads):
    """Parts hold 16 sizes, of which each task takes 2; runs of owners end anywhere."""
    runs = data.draw(st.lists(st.tuples(st.integers(-1, 4), st.integers(1, 20)), min_size=1, max_size=12))
    owner = np.concatenate([np.full(length, column, np.int32) for column, length in runs])
    phi = data.draw(arrays(np.float64, owner.size, elements=st.floats(0.0, 1e3)))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(parts, "SHARED", 16)
        patch.setattr(parts, "SHORT", 0)
        alone = parts.sums_by_owner(phi, owner, 6)
        together = parts.sums_by_owner(phi, owner, 6, n_threads)
    assert alone[0].tobytes() == together[0].tobytes()
    assert alone[1].tobytes() == together[1].tobytes()


@pytest.mark.parametrize("number", [np.nan, -1.0, np.inf])
def test_only_finite_numbers_from_0_on_have_a_sum(number, short):
    assert parts.exact_sum(np.array([1.0, number, 2.0])) is None
