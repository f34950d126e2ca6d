"""The engine and `geodim.paper` against the definition in rationals.

Every value, every bound, every kind of input.  Phi must be the correctly rounded difference.  Delta is a sum
of such differences over n and d_max: half an ulp each for the differences, the sum, d_max and two divisions,
which makes three with the change of binade; asked for are four.
"""

from __future__ import annotations

import math
import warnings
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, strategies as st

import geodim
from distributions import COLUMNS, random_matrix
from engine.oracle import bounds_of, solve
from geodim import paper
from geodim.errors import InterruptedWarning
from oracles.drawing import InterruptAt
from oracles.rational import (
    diameter,
    discriminability,
    fractions_of,
    holds,
    holds_dimension,
    hop_columns,
    largest_phi,
    means,
    multiplied,
    nearest,
    neighbourhoods,
    never_falls,
    normalised,
    phi_by_subsets,
    phi_by_windows,
    symmetric,
    ulps,
)

DELTA_ULPS = 3.0  # the widths, d_max, and the quotient
DIMENSION_ULPS = 9.0  # twice that, and an inverse that is squared

TYPES = [np.float64, np.float32, np.float16, np.int64, np.int16, np.uint8, np.bool_]


def small_table(rng, n, d, dtype):
    """Columns of random kinds that fit the type, ties included."""
    if dtype == np.float64:
        return random_matrix(rng, n, d)
    if np.dtype(dtype).kind == "f":
        values = random_matrix(rng, n, d)
        most = float(np.finfo(dtype).max) / 4
        with np.errstate(over="ignore", under="ignore"):
            return np.clip(values, -most, most).astype(dtype)
    low, high = (0, 2) if dtype == np.bool_ else (np.iinfo(dtype).min // 2, np.iinfo(dtype).max // 2)
    spread = int(rng.integers(1, 63))
    return rng.integers(max(low, -(2 ** min(spread, 52))), min(high, 2 ** min(spread, 52)), (n, d)).astype(
        dtype
    )


def assert_exact(result, columns, normalize=True):
    """Every number of an exact result."""
    scale = (diameter(columns) or 1) if normalize else 1
    phi = largest_phi(columns)
    delta = discriminability(columns, scale)
    assert result.exact
    assert result.lower == result.dimension == result.upper
    assert result.phi_lower.tolist() == [nearest(width) for width in phi]
    assert result.d_max == nearest(diameter(columns))
    assert ulps(result.discriminability, delta) <= DELTA_ULPS
    if delta == 0:
        assert result.dimension == math.inf
    elif 1e-300 < 1 / delta**2 < 1e300:
        assert ulps(result.dimension, 1 / delta**2) <= DIMENSION_ULPS


def assert_holds(result, columns, normalize=True):
    """Bounds on Phi, Delta and the dimension around the true ones; Phi as it is rounded to float64."""
    scale = (diameter(columns) or 1) if normalize else 1
    delta = discriminability(columns, scale)
    lower, upper = bounds_of(result)
    phi = np.array([nearest(width) for width in largest_phi(columns)])
    assert np.all(lower <= phi)
    assert np.all(phi <= upper)
    assert holds(result.discriminability_lower, delta, result.discriminability_upper)
    assert holds_dimension(result.lower, delta, result.upper)


# ---------------------------------------------------------------- the oracle itself


@pytest.mark.parametrize("n", range(1, 10))
def test_windows_are_subsets(rng, n):
    for column in fractions_of(random_matrix(rng, n, 4)):
        assert phi_by_windows(column) == phi_by_subsets(column)
        assert never_falls(phi_by_windows(column))


def test_worked_example():
    """Windows 1, 4, 6 of the first column and 0, 5, 5 of the second.

    So Phi = 1, 5, 6, Delta = 12 / 4 and d_max = 6.
    """
    columns = fractions_of(np.array([[0, 5], [1, 5], [4, 0], [6, 0]]))
    assert largest_phi(columns) == [1, 5, 6]
    assert discriminability(columns) == 3
    assert normalised(columns) == Fraction(1, 2)


def test_sixty_digits():
    """On a star of four leaves: the middle gets x/5 + 4 y/sqrt(10), with degrees 5 and 2."""
    near = neighbourhoods(5, [(0, leaf) for leaf in range(1, 5)])
    (hop,) = symmetric([[Fraction(1), *[Fraction(0)] * 4]], near)
    assert hop[0] == Fraction(1, 5)
    assert abs(hop[1] ** 2 - Fraction(1, 10)) < Fraction(1, 10**58)
    assert abs(1 - hop[1] / Fraction(0.31622776601683794)) < Fraction(1, 10**15)


# ---------------------------------------------------------------- geodim.paper and the engine


@pytest.mark.turns(3)
@pytest.mark.parametrize("dtype", TYPES)
def test_paper_and_engine(rng, dtype):
    for _ in range(40):
        n, d = int(rng.integers(1, 25)), int(rng.integers(1, 6))
        X = small_table(rng, n, d, dtype)
        columns = fractions_of(X)
        assert paper.phi_all(X).tolist() == [nearest(width) for width in largest_phi(columns)]
        for normalize in (True, False):
            assert_exact(solve(X, normalize=normalize, n_threads=int(rng.integers(1, 3))), columns, normalize)


@pytest.mark.turns(5)
@pytest.mark.parametrize("name", COLUMNS)
def test_every_kind_of_column(rng, name):
    """In its own type; integers beyond 2**53 as float64, which the oracle is given, too."""
    for n in (1, 2, 3, 17, 40):
        X = COLUMNS[name](rng, n)[:, np.newaxis]
        X = X.astype(np.float64) if X.dtype == np.uint64 else X
        assert_exact(solve(X), fractions_of(X))


@given(st.integers(0, 2**32 - 1), st.integers(2, 30), st.integers(1, 5), st.booleans())
def test_tolerances(seed, n, d, normalize):
    rng = np.random.default_rng(seed)
    X = random_matrix(rng, n, d)
    columns = fractions_of(X)
    for rtol in (1e-12, 10.0 ** -rng.uniform(0, 12), 0.5, 100.0):
        result = solve(X, rtol=rtol, normalize=normalize)
        assert_holds(result, columns, normalize) if not result.exact else assert_exact(
            result, columns, normalize
        )


@given(st.integers(0, 2**32 - 1), st.integers(2, 30), st.integers(1, 5), st.booleans())
def test_stopped_at_once(seed, n, d, normalize):
    X = random_matrix(np.random.default_rng(seed), n, d)
    with pytest.warns(InterruptedWarning):
        result = geodim.intrinsic_dimension(X, time_limit=0, normalize=normalize)
    assert_holds(result, fractions_of(X), normalize)


def interrupted(X, **options):
    """Stopped at once by the clock, or after some columns by Ctrl-C."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", InterruptedWarning)
        return solve(X, normalize=False, n_threads=1, **options)


@pytest.mark.parametrize("width", range(1, 12))
def test_bounds_on_the_smallest_floats(width):
    """Half of five times the smallest float is rounded to two of them.

    The bounds must hold two and a half.
    """
    X = np.array([[0.0], [width * 5e-324]])
    result = interrupted(X, time_limit=0)
    assert not result.exact
    assert_holds(result, fractions_of(X), normalize=False)


def test_the_middle_of_large_bounds():
    """The sum of the bounds on Delta overflows; what lies between them does not."""
    X = np.zeros((40, 6))
    X[:, 0] = np.linspace(-8.9e307, 8.9e307, 40)
    X[:20, 1:], X[20:, 1:] = -8.9e307, 8.9e307
    for at in (2, 3):
        result = interrupted(X, progress=InterruptAt(at))
        if not result.exact:
            assert result.discriminability_lower <= result.discriminability <= result.discriminability_upper
            assert_holds(result, fractions_of(X), normalize=False)


def test_sparse_and_weighted(rng):
    for _ in range(40):
        n, d = int(rng.integers(1, 20)), int(rng.integers(1, 5))
        X = np.where(rng.random((n, d)) < 0.4, small_table(rng, n, d, np.float32), 0)
        weights = rng.integers(0, 4, n)
        weights[rng.integers(n)] += 1
        columns = fractions_of(np.repeat(X, weights, axis=0))
        assert_exact(solve(sp.csr_array(X), weights=weights), columns)
        assert_exact(solve(X, weights=weights), columns)


# ---------------------------------------------------------------- hops


def small_graph(rng, n):
    edges = rng.integers(0, n, (int(rng.integers(0, 3 * n)), 2))
    return np.unique(np.sort(edges, axis=1), axis=0)


def hop_case(rng, operator):
    """Attributes, edges, options of `khop_dimensions`, and the columns of every k by the definition."""
    n, d, hops = int(rng.integers(2, 11)), int(rng.integers(1, 3)), int(rng.integers(0, 4))
    dtype = rng.choice([np.float64, np.float32, np.int8])
    X = (
        rng.integers(-5, 6, (n, d)).astype(dtype)
        if rng.random() < 0.4
        else rng.normal(0, 3, (n, d)).astype(dtype)
    )
    edges = small_graph(rng, n)
    columns = fractions_of(X)
    if operator == "matrix":
        matrix = sp.csr_array(np.round(rng.normal(size=(n, n)), 1) * (rng.random((n, n)) < 0.5))
        layers = hop_columns(columns, hops, multiplied, fractions_of(matrix.toarray().T))
        return X, edges, {"hops": hops, "operator": matrix}, layers
    step = means if operator == "rw" else symmetric
    layers = hop_columns(columns, hops, step, neighbourhoods(n, edges.tolist()))
    return X, edges, {"hops": hops, "operator": operator}, layers


def rounding(X, hops):
    """How far hop features may be off, relative to the largest value.

    They are rounded to their type once a hop.
    """
    kind = np.float64 if X.dtype == np.float64 else np.float32
    return 8 * (hops + 1) * float(np.finfo(kind).eps)


@pytest.mark.parametrize("operator", ["rw", "sym", "matrix"])
def test_hops_up_to_rounding(rng, operator):
    for _ in range(30):
        X, edges, options, layers = hop_case(rng, operator)
        result = solve_hops(X, edges, normalize=False, **options)
        for k, columns in enumerate(layers):
            largest = max((abs(value) for column in columns for value in column), default=Fraction(0))
            off = float(largest) * rounding(X, k)
            delta = float(discriminability(columns))
            assert abs(result[k].discriminability - delta) <= off
            assert (k > 0) or result[k].phi_lower.tolist() == [nearest(phi) for phi in largest_phi(columns)]


@pytest.mark.turns(2)
@pytest.mark.parametrize("operator", ["rw", "sym", "matrix"])
def test_hops_hold_the_definition(rng, operator):
    """lower <= the true value <= upper, whatever was rounded on the way.

    Sixty digits are as good as true here.
    """
    for _ in range(30):
        X, edges, options, layers = hop_case(rng, operator)
        for more in ({}, {"rtol": 1e-3}, {"time_limit": 0}):
            result = solve_hops(X, edges, **options, **more)
            for k, columns in enumerate(layers):
                delta = discriminability(columns, diameter(layers[0]) or 1)
                if result[k].exact:  # the sixtieth digit decides nothing
                    assert result[k].lower == result[k].upper
                    assert ulps(result[k].discriminability, delta) <= DELTA_ULPS
                else:
                    assert holds(result[k].discriminability_lower, delta, result[k].discriminability_upper)
                    assert holds_dimension(result[k].lower, delta, result[k].upper)


def solve_hops(X, edges, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # constant attributes, and no time at all
        return geodim.khop_dimensions(X, edges.T, **options)  # (2, m): two edges by rows would be ambiguous
