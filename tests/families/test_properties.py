"""Facts D0, D1, D2 and D4, and what changes no bit, for any points: also with tolerances and weights."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import geodim
from families.cases import matrix_of
from geodim import paper
from geodim.errors import DegenerateDataWarning
from geodim.families.directions import _pull, centred
from geodim.families.points import panels_of
from geodim.families.spread import chain_bound, largest_squares, spread_bound
from geodim.features import Directions, Distances, Union, Values

SEEDS = st.integers(0, 10**6)
KINDS = st.sampled_from(["normal", "cauchy", "lattice", "clumps", "line"])
EXAMPLES = settings(max_examples=25, deadline=None)
BY = st.sampled_from([None, "diameter"])


def drawn(seed, kind, n, d=2):
    rng = np.random.default_rng(seed)
    return {
        "normal": lambda: rng.standard_normal((n, d)),
        "cauchy": lambda: rng.standard_cauchy((n, d)),
        "lattice": lambda: rng.integers(0, 3, (n, d)).astype(float),
        "clumps": lambda: np.repeat(rng.standard_normal((3, d)), n, axis=0)[::3]
        + 1e-6 * rng.standard_normal((n, d)),
        "line": lambda: np.outer(rng.random(n), np.arange(1.0, d + 1.0)),
    }[kind]()  # fmt: skip


def dimension(X, features, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DegenerateDataWarning)
        return geodim.intrinsic_dimension(X, features=features, n_threads=1, **options)


@EXAMPLES
@given(SEEDS, KINDS, st.integers(2, 30))
def test_d0_fewer_features_tell_less(seed, kind, n):
    X = drawn(seed, kind, n)
    some = np.random.default_rng(seed).permutation(n)[: max(n // 2, 1)]
    part = matrix_of(Distances(landmarks=some).source(X))
    whole = dimension(X, Union(["distances", "coordinates"]), normalize=False)
    phi = paper.phi_all(part)
    assert np.all(phi <= whole.phi_lower)
    few = dimension(X, Union([Values(matrix=part), "coordinates"]), normalize=False)
    assert few.discriminability <= whole.discriminability


@EXAMPLES
@given(SEEDS, KINDS, st.integers(2, 30), st.integers(1, 5), st.sampled_from([0.0, 0.02, 0.3]), st.booleans())
def test_d1_landmarks_bound_all_points(seed, kind, n, m, rtol, weighted):
    X = drawn(seed, kind, n)
    weights = np.random.default_rng(seed).integers(0, 4, n) if weighted else None
    if weighted and weights.sum() < 2:
        return
    some = dimension(X, Distances(landmarks=m), rtol=rtol, weights=weights)
    every = dimension(X, Distances(), weights=weights)
    assert some.discriminability_lower <= every.discriminability_upper
    assert every.discriminability_lower <= some.discriminability_upper
    assert some.lower <= some.dimension <= some.upper


@EXAMPLES
@given(SEEDS, KINDS, st.integers(2, 30), st.sampled_from([0.0, 0.05]), st.booleans(), st.booleans())
def test_d2_some_directions_bound_all(seed, kind, n, rtol, weighted, normalize):
    """In the plane, by a fine grid of directions."""
    X = drawn(seed, kind, n)
    weights = np.random.default_rng(seed).integers(0, 4, n) if weighted else None
    if weighted and weights.sum() < 2:
        return
    result = dimension(X, Directions(random=3), rtol=rtol, weights=weights, normalize=normalize)
    angles = np.pi * np.arange(200) / 200
    grid = X @ np.stack([np.cos(angles), np.sin(angles)])
    repeated = X if weights is None else np.repeat(X, weights, axis=0)
    every = dimension(grid, "coordinates", weights=weights, normalize=False).discriminability
    scale = np.sqrt(np.square(repeated[:, None] - repeated).sum(axis=2)).max() if normalize else 1.0
    assert every / (scale or 1.0) <= result.discriminability_upper * (1.0 + 1e-9)
    assert result.discriminability_lower <= result.discriminability_upper


@EXAMPLES
@given(SEEDS, KINDS, st.integers(2, 25))
def test_d2_weights_are_repeated_points(seed, kind, n):
    X = drawn(seed, kind, n, 3)
    weights = np.random.default_rng(seed).integers(1, 4, n)
    panels = centred(panels_of(X))
    repeated = spread_bound(centred(panels_of(np.repeat(X, weights, axis=0))))
    counted = spread_bound(panels, weights=weights)
    assert counted.size == repeated.size
    u = np.random.default_rng(0).normal(size=(3, 40))
    every = paper.phi_all(np.repeat(X, weights, axis=0) @ (u / np.linalg.norm(u, axis=0)))
    for bound in (counted, repeated):
        assert np.all(every <= bound * (1.0 + 1e-9))
    k, apart = np.arange(2, every.size + 2), np.repeat(X, weights, axis=0)
    alone = chain_bound(every.size + 1, k, largest_squares(apart - apart.mean(axis=0)))
    assert np.all(counted <= alone * (1.0 + 1e-6) + 1e-12)  # one of the bounds that are taken together
    sizes = np.unique(np.linspace(2, weights.sum(), 5).astype(int))
    some = spread_bound(panels, weights=weights, sizes=sizes)
    assert np.all(counted[sizes - 2] <= some * (1.0 + 1e-12))
    assert np.all(some <= counted[-1] * (1.0 + 1e-12))


@EXAMPLES
@given(SEEDS, st.integers(3, 40))
def test_d4_windows_pull_towards_more(seed, n):
    """The sum of widths is homogeneous in the direction; finite differences agree with its subgradient."""
    rng = np.random.default_rng(seed)
    rows, u = rng.standard_normal((n, 3)), rng.standard_normal(3)
    sizes = np.arange(2, n + 1)
    total, pull = _pull(rows, u, sizes)
    assert total == pytest.approx(float(paper.phi_all(rows @ u[:, None]).sum()), rel=1e-12)
    assert pull @ u == pytest.approx(total, rel=1e-9)
    towards, step = rng.standard_normal(3), 1e-7
    moved = _pull(rows, u + step * towards, sizes)[0]
    assert (moved - total) / step == pytest.approx(pull @ towards, rel=1e-3, abs=1e-3)


@EXAMPLES
@given(SEEDS, KINDS, st.integers(2, 30), BY)
def test_the_order_of_points_changes_nothing(seed, kind, n, by):
    """Points, and with them landmarks, in another order: the same numbers under other names."""
    X = drawn(seed, kind, n)
    order = np.random.default_rng(seed).permutation(n)
    family = Union(["coordinates", Distances(metric="manhattan")], by)
    one, other = dimension(X, family), dimension(X[order], family)
    np.testing.assert_array_equal(one.phi_lower, other.phi_lower)
    assert (one.discriminability, one.d_max) == (other.discriminability, other.d_max)


@EXAMPLES
@given(SEEDS, KINDS, st.integers(2, 30), st.sampled_from([2.0**-30, 4.0, 2.0**200]), BY)
def test_scaling_all_points_changes_nothing(seed, kind, n, factor, by):
    """By a power of two no bit of a normalised union, nor of any divided by diameters."""
    X = drawn(seed, kind, n)
    family = Union(["coordinates", Distances(metric="chebyshev")], by)
    one, other = dimension(X, family), dimension(factor * X, family)
    assert one.discriminability == other.discriminability
    if by == "diameter":
        np.testing.assert_array_equal(one.phi_lower, other.phi_lower)


@EXAMPLES
@given(SEEDS, KINDS, st.integers(2, 30), st.sampled_from([0.25, 8.0]))
def test_diameters_make_units_irrelevant(seed, kind, n, factor):
    """A member in other units changes a raw union, and none that is divided by diameters."""
    X = drawn(seed, kind, n)
    other = Values(functions=lambda X: factor * X[:, 0])
    same = Values(functions=lambda X: X[:, 0])
    by_diameter = [dimension(X, Union(["distances", one], by="diameter")) for one in (other, same)]
    assert by_diameter[0].discriminability == by_diameter[1].discriminability


@EXAMPLES
@given(SEEDS, KINDS, st.integers(3, 30))
def test_rotations_move_no_more_than_the_bounds_say(seed, kind, n):
    X = drawn(seed, kind, n, 3)
    turned = X @ np.linalg.qr(np.random.default_rng(seed).standard_normal((3, 3)))[0]
    for family in (Distances(), Union([Distances(), Distances(landmarks=n)], by="diameter")):
        one, other = dimension(X, family), dimension(turned, family)
        slack = 1e-9  # turning rounds as well
        assert one.discriminability_lower <= other.discriminability_upper + slack
        assert other.discriminability_lower <= one.discriminability_upper + slack
