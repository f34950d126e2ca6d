"""Bounds, error and insertion, against the formulas written out with fractions."""

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from geodim import paper
from geodim.errors import InputTypeError, InputValueError, ShapeError


@st.composite
def support_and_phi(draw):
    n = draw(st.integers(2, 60))
    inner = draw(st.sets(st.integers(3, n - 1), max_size=10)) if n > 3 else set()
    support = sorted({2, n} | inner)
    phi = sorted(draw(st.lists(st.floats(0, 1e6), min_size=n - 1, max_size=n - 1)))
    return n, support, np.array(phi)


def literal_bounds(phi, s, n):
    """The two sums of the definition, exactly; phi is indexed by k."""
    on_support = sum(phi[k] for k in s)
    gaps = list(pairwise(s))
    lower = on_support + sum(phi[a] for a, b in gaps for _ in range(a + 1, b))
    upper = on_support + sum(phi[b] for a, b in gaps for _ in range(a + 1, b))
    return lower / n, upper / n


@given(support_and_phi())
@settings(max_examples=80, deadline=None)
def test_equal_the_definition(case):
    n, s, phi = case
    exact = dict(zip(range(2, n + 1), map(Fraction, phi.tolist()), strict=True))
    lower, upper = literal_bounds(exact, s, n)
    bounds = paper.support_bounds(phi[np.array(s) - 2], s, n)
    assert bounds.delta_lower == pytest.approx(float(lower), rel=1e-15, abs=0)
    assert bounds.delta_upper == pytest.approx(float(upper), rel=1e-15, abs=0)


@given(support_and_phi())
@settings(max_examples=80, deadline=None)
def test_enclose_without_tolerance(case):
    n, s, phi = case
    lower, upper = paper.support_bounds(phi[np.array(s) - 2], s, n)
    full = paper.support_bounds(phi, range(2, n + 1), n)
    assert lower <= full.delta_lower == full.delta_upper <= upper


@given(support_and_phi(), st.data())
@settings(max_examples=80, deadline=None)
def test_insertion_equals_recomputation(case, data):
    n, s, phi = case
    missing = sorted(set(range(2, n + 1)) - set(s))
    if not missing:
        return
    p = data.draw(st.sampled_from(missing))
    on_support = phi[np.array(s) - 2]
    before = paper.support_bounds(on_support, s, n)
    after = paper.insert_support_element(before, on_support, s, p, phi[p - 2])
    larger = sorted([*s, p])
    expected = paper.support_bounds(phi[np.array(larger) - 2], larger, n)
    # Subtracting can cancel: the last digits are lost relative to the larger of the numbers involved.
    tolerance = 1e-14 * max(before.delta_upper, 1e-300)
    assert after.delta_lower == pytest.approx(expected.delta_lower, rel=1e-14, abs=tolerance)
    assert after.delta_upper == pytest.approx(expected.delta_upper, rel=1e-14, abs=tolerance)
    assert expected.delta_lower >= before.delta_lower  # an element more never hurts
    assert expected.delta_upper <= before.delta_upper


@pytest.mark.parametrize("seed", range(5))
def test_insertion_is_exact_where_nothing_rounds(seed):
    """Whole numbers and a power of two of points; insert everything in random order."""
    rng = np.random.default_rng(seed)
    n = 32
    phi = np.sort(rng.integers(0, 100, size=n - 1)).astype(float)
    s = [2, n]
    bounds = paper.support_bounds(phi[[0, -1]], s, n)
    for p in (rng.permutation(n - 3) + 3).tolist():
        bounds = paper.insert_support_element(bounds, phi[np.array(s) - 2], s, p, phi[p - 2])
        s = sorted([*s, p])
        assert bounds == paper.support_bounds(phi[np.array(s) - 2], s, n)
    assert bounds == (phi.sum() / n, phi.sum() / n)


def test_by_hand():
    """phi = 1, ?, ?, 5, 6 on s = (2, 5, 6): lower 1+1+1+5+6, upper 1+5+5+5+6, each divided by 6."""
    bounds = paper.support_bounds([1, 5, 6], [2, 5, 6], 6)
    assert bounds == (14 / 6, 22 / 6)
    # p = 4 with phi_4 = 3: lower 1+1+3+5+6, upper 1+3+3+5+6.
    after = paper.insert_support_element(bounds, [1, 5, 6], [2, 5, 6], 4, 3)
    assert after == pytest.approx((16 / 6, 18 / 6), rel=1e-15)


def test_two_points():
    assert paper.support_bounds([3.0], [2], 2) == (1.5, 1.5)


def test_approximation_error():
    inf = float("inf")
    assert paper.approximation_error(2.0, 3.0) == 0.5
    assert paper.approximation_error(2.0, 2.0) == 0.0
    assert paper.approximation_error(2.0, inf) == inf
    assert paper.approximation_error(inf, inf) == 0.0
    assert paper.approximation_error(0.0, 0.0) == 0.0
    assert paper.approximation_error(0.0, 1.0) == inf


@given(support_and_phi())
@settings(max_examples=60, deadline=None)
def test_the_error_bounds_both_relative_deviations(case):
    """Corollary "error": max((ID+ - ID) / ID, (ID - ID-) / ID-) <= E."""
    n, s, phi = case
    lower, upper = map(Fraction, paper.support_bounds(phi[np.array(s) - 2], s, n))
    delta = Fraction(paper.support_bounds(phi, range(2, n + 1), n).delta_lower)
    if lower < Fraction(1, 10**100):
        return
    id_lower, exact, id_upper = 1 / upper**2, 1 / delta**2, 1 / lower**2
    error = (id_upper - id_lower) / id_lower
    assert max((id_upper - exact) / exact, (exact - id_lower) / id_lower) <= error
    floats = map(paper.intrinsic_dimension, map(float, (upper, lower)))
    # E is a difference of two numbers that are each right to 1e-15: relative to the quotient, which is E + 1.
    assert paper.approximation_error(*floats) == pytest.approx(float(error), abs=1e-15 * float(error + 1) * 8)


def test_bad_arguments():
    with pytest.raises(InputValueError, match="exceeds"):
        paper.approximation_error(3.0, 2.0)
    with pytest.raises(InputValueError, match="id_upper"):
        paper.approximation_error(3.0, float("nan"))
    with pytest.raises(ShapeError, match="3 values for 2"):
        paper.support_bounds([1, 2, 3], [2, 4], 4)
    with pytest.raises(InputValueError, match=r"phi_on_support\[1\]"):
        paper.support_bounds([2, 1], [2, 4], 4)
    with pytest.raises(InputValueError, match=r"phi_on_support\[0\]"):
        paper.support_bounds([-1, 1], [2, 4], 4)
    with pytest.raises(InputValueError, match="end with"):
        paper.support_bounds([1, 2], [2, 4], 5)


@pytest.mark.parametrize(
    ("p", "phi_p"), [(2, 1), (6, 6), (5, 5), (1, 1), (7, 6), (4, 0.5), (4, 5.5), (4, float("nan"))]
)
def test_bad_insertions(p, phi_p):
    bounds = paper.support_bounds([1, 5, 6], [2, 5, 6], 6)
    with pytest.raises(InputValueError, match=r"p = |p must|phi_p"):
        paper.insert_support_element(bounds, [1, 5, 6], [2, 5, 6], p, phi_p)


def test_insertion_into_nothing():
    with pytest.raises(InputValueError, match="empty"):
        paper.insert_support_element((0.0, 1.0), [], [], 3, 1)
    with pytest.raises(InputTypeError, match="support"):
        paper.insert_support_element((0.0, 1.0), [1], 5, 3, 1)
