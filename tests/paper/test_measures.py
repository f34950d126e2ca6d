"""Points of any mass: the definition, its steps, and the paper's own case."""

from fractions import Fraction

import numpy as np
import pytest

from geodim import paper
from geodim.errors import InputTypeError, InputValueError, ShapeError

RNG = np.random.default_rng(0)


def some_masses(n):
    masses = RNG.choice([0.0, 0.1, 0.25, 1.0, 1e-9, 1e12, Fraction(1, 3)], n)
    masses[RNG.integers(n)] = 0.7
    return masses


@pytest.mark.parametrize("case", range(20))
def test_steps_are_the_definition(case):
    """At the end of every step, half way to it, and just after the one before."""
    n = 1 + case % 9
    values, masses = RNG.integers(0, 6, n) * 0.1, some_masses(n)
    before = Fraction(0)
    for end, width in paper.phi_of_measure(values[:, np.newaxis], masses):
        for mass in (end, (before + end) / 2, before + (end - before) / 1000):
            assert paper.partial_diameter_of_mass(values, masses, mass) == width
        before = end
    assert before == sum(map(Fraction, masses))


@pytest.mark.parametrize("d", [1, 3])
def test_the_widest_feature(d):
    X, masses = RNG.normal(size=(7, d)), some_masses(7)
    for end, width in paper.phi_of_measure(X, masses):
        assert width == max(paper.partial_diameter_of_mass(f, masses, end) for f in X.T)


@pytest.mark.parametrize("weights", [np.ones(12, int), np.full(12, 0.1), RNG.integers(0, 5, 12)])
def test_whole_weights_are_repetitions(weights):
    X = np.round(RNG.normal(size=(12, 2)), 1)
    times = weights if weights.dtype.kind == "i" else np.ones(12, int)
    repeated = np.repeat(X, times, axis=0)
    assert paper.discriminability_of_measure(X, weights, 0.3) == paper.algorithm_1(repeated, 0.3)
    steps = paper.phi_of_measure(X, times)
    widths = [next(width for mass, width in steps if mass >= k) for k in range(2, len(repeated) + 1)]
    assert widths == paper.phi_all(repeated).tolist()


def test_one_scale_for_all_masses_changes_nothing():
    X, masses = RNG.normal(size=(9, 2)), RNG.random(9)
    third = [Fraction(mass) / 3 for mass in masses]
    assert paper.discriminability_of_measure(X, third) == paper.discriminability_of_measure(X, masses)


def test_bad_masses():
    X = np.eye(3)
    with pytest.raises(ShapeError, match="2 weights for 3 points"):
        paper.phi_of_measure(X, [1, 2])
    for bad in ([1, -1, 1], [0, 0, 0]):
        with pytest.raises(InputValueError, match="negative, nor all zero"):
            paper.phi_of_measure(X, bad)
    for bad in ([1, np.nan, 1], [1, np.inf, 1], ["x", 1, 1], [1j, 1, 1]):
        with pytest.raises(InputTypeError, match="finite numbers"):
            paper.phi_of_measure(X, bad)
    for mass in (0, 3.5):
        with pytest.raises(InputValueError, match=r"must lie in \(0, 3.0\]"):
            paper.partial_diameter_of_mass(X[0], [1, 1, 1], mass)
