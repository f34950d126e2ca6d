"""Made columns are columns like any others: ranges, samples, steps and weights as the engine asks."""

from __future__ import annotations

import numpy as np
import pytest

from families.cases import matrix_of, points
from geodim import paper
from geodim.data.checks import scan_ranges
from geodim.data.integers import measured_exactly
from geodim.data.sources import WeightedSource
from geodim.engine.pilot import look_ahead
from geodim.engine.solve import compute_profile
from geodim.families import Directions, Distances

FAMILIES = {
    "distances": Distances(),
    "angles": Distances(metric="cosine"),
    "landmarks": Distances(landmarks=40, metric="manhattan"),
    "directions": Directions(),
}


@pytest.mark.parametrize("family", FAMILIES.values(), ids=FAMILIES)
def test_as_the_engine_asks(family):
    source = family.source(points("normal", 150))
    matrix = matrix_of(source)
    ranges = scan_ranges(source, 2)
    np.testing.assert_array_equal(ranges.least, matrix.min(axis=0))
    np.testing.assert_array_equal(ranges.greatest, matrix.max(axis=0))
    same, _, off = measured_exactly(source, ranges, scan_ranges)
    assert same is source
    assert off == 0.0
    assert look_ahead(source, ranges).delta > 0.0
    exact = compute_profile(source, ranges=ranges, n_threads=2)
    np.testing.assert_array_equal(exact.phi[1:], paper.phi_all(matrix))
    rounded = compute_profile(source, ranges=ranges, step=2.0**-6, n_threads=2)
    delta, off = rounded.rounded_mean()
    assert abs(delta - exact.phi.sum() / 150) <= off


def test_points_that_count_several_times():
    X = points("lattice", 60)
    weights = np.random.default_rng(0).integers(0, 4, 60)
    source = WeightedSource(Distances(metric="chebyshev").source(X), weights)
    profile = compute_profile(source, n_threads=1)
    repeated = np.repeat(matrix_of(source.source), weights, axis=0)
    np.testing.assert_array_equal(profile.phi[1:], paper.phi_all(repeated))
