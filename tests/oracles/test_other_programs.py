"""Against other programs for the same dimension: `obsdim` and `idim`.

They are there where the extra ``oracles`` is installed.  Both add up in float64 after dividing the data, so
that they agree with us to some ulp of n terms, not to the bit.
"""

from __future__ import annotations

import numpy as np
import pytest

import geodim
from distributions import column
from engine.oracle import solve
from geodim import paper

CLOSE = 1e-11
SHAPES = [(2, 1), (3, 2), (17, 4), (60, 8), (300, 5)]


@pytest.fixture
def obsdim():
    return pytest.importorskip("obsdim", reason="the extra oracles is not installed")


@pytest.fixture
def idim():
    return pytest.importorskip("idim", reason="the extra oracles is not installed")


def table(rng, n, d):
    """Columns of a common range, ties among them, so that several attain Phi."""
    kinds = [
        "normal",
        "uniform",
        "exponential",
        "rounded",
        "mixture",
        "duplicates",
        "grid_jitter_third",
        "arcsine",
    ]
    names = rng.choice(kinds, d).tolist()
    X = np.stack([column(name, n, int(rng.integers(2**31))).astype(float) for name in names], axis=1)
    widths = np.ptp(X, axis=0)
    return X / np.where(widths > 0.0, widths, 1.0) * rng.uniform(0.5, 2.0, d)


def support_of(rng, n):
    return sorted({2, n, *rng.integers(2, n + 1, 6).tolist()})


@pytest.mark.parametrize(("n", "d"), SHAPES)
def test_obsdim(rng, obsdim, n, d):
    X = table(rng, n, d)
    for normalize, theirs in ((True, "diameter"), (False, None)):
        result = solve(X, normalize=normalize)
        other = obsdim.compute_dimension(X.T, normalize=theirs, exact=True, cap=None)
        assert other.dimension == pytest.approx(result.dimension, rel=CLOSE)
        assert other.delta == pytest.approx(result.discriminability, rel=CLOSE)
    assert obsdim.GeometricID(obsdim.PrecomputedFeatures(X.T)).fit(X).dimension_ == pytest.approx(
        solve(X).dimension, rel=CLOSE
    )


@pytest.mark.parametrize(("n", "d"), SHAPES)
def test_observable_diameters_of_obsdim(rng, obsdim, n, d):
    """Between the multiples of 1/n, where no rounding decides how many points there are."""
    X = table(rng, n, d)
    result = solve(X, normalize=False)
    for alpha in ((rng.integers(0, n, 8) + 0.5) / n).tolist():
        assert result.observable_diameter(alpha) == pytest.approx(
            obsdim.observable_diameter(X.T, alpha), rel=CLOSE
        )


@pytest.mark.parametrize(("n", "d"), SHAPES)
def test_idim(rng, idim, n, d):
    X = table(rng, n, d)
    dimension = solve(X).dimension
    assert idim.idim(X, disable_tqdm=True) == pytest.approx(dimension, rel=CLOSE)
    exact = idim.calculate_intrinsic_dimension(X, exact=True, disable_tqdm=True)
    assert float(exact[0]) == pytest.approx(dimension, rel=CLOSE)
    plain = idim.calculate_intrinsic_dimension(X, exact=True, unit_obs_diam=False, disable_tqdm=True)
    assert float(plain[0]) == pytest.approx(solve(X, normalize=False).dimension, rel=CLOSE)


def test_idim_by_brute_force(rng, idim):
    for n in range(2, 9):
        X = table(rng, n, 3)
        assert idim.idim_brute_force(X, disable_tqdm=True) == pytest.approx(solve(X).dimension, rel=CLOSE)


@pytest.mark.parametrize(("n", "d"), [shape for shape in SHAPES if shape[0] > 3])
def test_bounds_of_support_sequences(rng, obsdim, idim, n, d):
    X, support = table(rng, n, d), support_of(rng, n)
    lower, upper = solve(X).support_bounds(support)
    other = obsdim.compute_dimension(X.T, normalize="diameter", support_sequence=support, cap=None)
    assert other.dimension_bounds == pytest.approx((lower, upper), rel=CLOSE)
    theirs = idim.calculate_intrinsic_dimension(X, support_sequence=support, disable_tqdm=True)
    assert theirs[:2].tolist() == pytest.approx([lower, upper], rel=CLOSE)


def test_hops(rng, obsdim):
    """The features of the paper's k-hop data set, given to the other program as they are."""
    n = 30
    X = table(rng, n, 3)
    edges = rng.integers(0, n, (50, 2))
    result = geodim.khop_dimensions(X, edges.T, 2)
    for k in range(3):
        features = paper.k_hop_features(X, edges, k)
        other = obsdim.compute_dimension(features.T, normalize=None, exact=True, cap=None)
        assert other.dimension == pytest.approx(result[k].dimension, rel=1e-10)
