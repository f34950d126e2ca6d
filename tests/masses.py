"""Weights of all kinds, and what the definition says of points that have them."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

import geodim
from engine.oracle import solve
from geodim import paper

KINDS = ("real", "wide", "heavy", "tiny", "equal", "quarters", "many", "huge", "extreme")


def some_weights(rng: np.random.Generator, n: int, kind: str) -> Any:
    """Weights of one kind, some of them 0, not all."""
    weights = {
        "real": rng.random(n),
        "wide": 10.0 ** rng.uniform(-9, 12, n),
        "heavy": rng.integers(0, 4, n) * 10**12,
        "tiny": rng.integers(0, 9, n) * 1e-9,
        "equal": np.full(n, 0.1),
        "quarters": rng.integers(0, 9, n) / 4,
        "many": rng.integers(0, 2**52 // n, n),
        "huge": rng.integers(0, 2**63, n, np.uint64),
        "extreme": 10.0 ** rng.uniform(-200, 200, n),
    }[kind]
    weights[rng.random(n) < 0.15] = 0
    weights[rng.integers(n)] = max(weights.max(), 1)
    return weights


class Truth:
    """Phi and Delta of points with weights, by `geodim.paper` in fractions."""

    def __init__(self, X: Any, weights: Any, *, normalize: bool = True) -> None:
        X, weights = np.asarray(X, np.float64), np.asarray(weights)
        self.steps = paper.phi_of_measure(X, weights)
        self.d_max = float(np.ptp(X[weights > 0], axis=0).max())
        scale = Fraction(self.d_max if normalize and self.d_max > 0.0 else 1.0)
        ends = [Fraction(0)] + [mass for mass, _ in self.steps]
        area = sum((ends[i + 1] - ends[i]) * Fraction(width) for i, (_, width) in enumerate(self.steps))
        self.mass = ends[-1]
        self.delta = area / self.mass / scale

    def phi(self, mass: Fraction | float) -> float:
        """Phi at a mass."""
        return next(width for end, width in self.steps if end >= mass)

    def check_exact(self, result: geodim.IDResult) -> None:
        """A result without tolerance: the nearest float64, and every step of Phi."""
        assert result.d_max == self.d_max
        assert result.stopped is None
        if not result.exact:  # digits beyond 2^-122 of the mass
            assert result.feature_error == 0.0
            self.check_bounds(result)
            return
        assert result.discriminability == float(self.delta)
        assert result.lower == result.upper == result.dimension
        if result.measured:
            expected: dict[float, float] = {}
            for at, (end, width) in enumerate(self.steps):
                last = at == len(self.steps) - 1
                mass = float(end) if last else min(float(end), np.nextafter(float(self.mass), 0.0))
                expected.setdefault(mass, width)
            assert dict(zip(result.support.tolist(), result.phi.tolist(), strict=True)) == expected
        else:
            assert result.n_points == self.mass
            widths = {k: self.phi(k) for k in result.support.tolist()}
            assert list(widths.values()) == result.phi.tolist()
            assert result.support.size == 0 or result.support[-1] == self.mass
        assert result.mass == float(self.mass)
        assert result.phi_exact

    def check_bounds(self, result: geodim.IDResult) -> None:
        """Bounds on Delta hold it, and those on Phi do at every step."""
        if result.exact:
            assert result.discriminability == float(self.delta)
            return
        assert Fraction(result.discriminability_lower) <= self.delta
        if result.discriminability_upper < np.inf:
            assert self.delta <= Fraction(result.discriminability_upper)
        assert np.all(np.diff(result.support) > 0)
        before = Fraction(0)
        for end, width in self.steps:
            mass = float((before + end) / 2 if result.measured else end)
            before = end
            at = int(np.searchsorted(result.support, mass))
            near = np.abs(result.support - mass).min(initial=np.inf) < 1e-12 * mass  # in float64 the same
            if mass >= 2 if not result.measured else not near:
                assert result.phi_lower[at] <= width <= result.phi_upper[at]


def check(X: Any, weights: Any, *, normalize: bool = True, **options: Any) -> geodim.IDResult:
    """Solve, and compare with the definition."""
    truth = Truth(X, weights, normalize=normalize)
    result = solve(X, weights=weights, normalize=normalize, **options)
    if options.get("rtol"):
        truth.check_bounds(result)
    else:
        truth.check_exact(result)
    return result
