"""The plain ranking with both weightings: every width is the definition's, and scores to the last bits."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import geodim
from geodim import paper
from geodim.data.sources import as_source
from geodim.engine.parts import mean
from geodim.errors import InputTypeError, InputValueError, NonFiniteError
from geodim.explain.passes import ColumnPass, exact_source
from geodim.explain.ranking import resilience

sparse = pytest.importorskip("scipy.sparse")
ROUNDING = 2.0**-52  # of the score, as stated


def cases():
    rng = np.random.default_rng(7)
    n = 120
    heavy = rng.standard_cauchy((n, 4))
    tied = rng.integers(0, 4, (n, 5))
    line = np.arange(n, dtype=float)
    hard = np.stack(
        [
            line,
            line + 1e-9 * rng.random(n),
            np.repeat([0.0, 1e300], [n - 1, 1]),
            np.repeat([0.0, 5e-324], [n // 2, n // 2]),
            line * 5e-324,
            np.cumsum(2.0 ** -np.arange(n)),
            np.concatenate([np.zeros(n // 2), 1e12 + line[: n // 2]]),
            np.full(n, 3.5),
        ],
        axis=1,
    )
    return {
        "random": rng.normal(size=(n, 6)),
        "heavy": heavy,
        "tied": tied.astype(np.float64),
        "hard": hard,
        "float32": rng.normal(size=(n, 5)).astype(np.float32),
        "integers": rng.integers(-1000, 1000, (n, 5)),
        "long integers": 2**62 + rng.integers(0, 1000, (n, 3)),
        "booleans": rng.random((n, 5)) < 0.3,
        "sparse": sparse.random_array((n, 8), density=0.2, rng=rng, format="csr"),
        "two points": rng.normal(size=(2, 3)),
        "one point": rng.normal(size=(1, 2)),
    }


CASES = cases()


def dense(X):
    return X.toarray() if sparse.issparse(X) else X


@pytest.mark.parametrize("name", CASES)
def test_scores_of_the_definition(name):
    X = CASES[name]
    columns = dense(X)
    found = geodim.feature_ranking(X, weighting="resilience", scale="none")
    assert set(found) == {str(column) for column in range(columns.shape[1])}
    for label, score in found.items():
        exact = paper.feature_resilience(columns[:, int(label)])
        assert abs(Fraction(score) - Fraction(exact)) <= Fraction(exact) * Fraction(ROUNDING) * 2 + Fraction(
            5e-324
        )
    order = sorted(range(columns.shape[1]), key=lambda column: (-found[str(column)], column))
    assert list(found) == [str(column) for column in order]


@pytest.mark.parametrize("name", [name for name in CASES if name != "one point"])
def test_widths_bit_for_bit(name):
    """What the engine hands to the sum is phi of every k, as the paper defines it."""
    columns = dense(CASES[name])
    source, ranges = exact_source(as_source(CASES[name]), 1)
    found = {}

    def visit(slot, column):
        found[column.index] = slot.raised(column, np.zeros(source.n_points))[1:].copy()

    ColumnPass(source, 1, ranges).run(range(source.n_features), visit)
    for column, phi in found.items():
        np.testing.assert_array_equal(phi, paper.phi_all(columns[:, [column]]))


def test_normalised_by_the_largest_range():
    X = CASES["random"]
    d_max = np.ptp(X, axis=0).max()
    found = geodim.feature_ranking(X, weighting="resilience")
    raw = geodim.feature_ranking(X, weighting="resilience", scale="none")
    assert list(found) == list(raw)
    for label in raw:
        assert found[label] == pytest.approx(raw[label] / d_max, rel=2e-16)


@pytest.mark.parametrize("weighting", ["uniform", "resilience"])
def test_weights_repeat_points(weighting):
    X = CASES["tied"]
    counts = np.random.default_rng(1).integers(0, 4, len(X))
    weighted = geodim.feature_ranking(X, weighting=weighting, weights=counts)
    assert weighted == geodim.feature_ranking(np.repeat(X, counts, axis=0), weighting=weighting)
    with pytest.raises(InputTypeError, match="must be integers"):
        geodim.feature_ranking(X, weighting=weighting, weights=counts + 0.5)


def test_the_weightings_differ():
    """Evenly spaced values have no two close together; two far clusters win where large windows count."""
    line = np.arange(100.0)
    clusters = np.repeat([0.0, 150.0], 50) + 0.01 * line
    X = np.stack([line, clusters], axis=1)
    assert list(geodim.feature_ranking(X)) == ["1", "0"]
    assert list(geodim.feature_ranking(X * [1.0, 0.5])) == ["0", "1"]
    spread = np.stack([line, np.repeat([0.0, 66.0], 50)], axis=1)
    assert list(geodim.feature_ranking(spread, weighting="uniform")) == ["0", "1"]


def test_on_zeros_and_ones_it_is_the_order_of_the_variance():
    """Both scores fall with the larger part, and so does the variance: equal ones tie in all three."""
    X = (np.random.default_rng(3).random((300, 40)) < np.linspace(0.02, 0.9, 40)).astype(float)
    by_variance = np.argsort(-X.var(axis=0).round(12), kind="stable")
    for weighting in ("uniform", "resilience"):
        assert [int(name) for name in geodim.feature_ranking(X, weighting=weighting)] == by_variance.tolist()


def test_ties_keep_their_order_and_constants_come_last():
    x = np.arange(50.0)
    X = np.stack([np.zeros(50), x, -x, x[::-1], np.ones(50), x / 2], axis=1)
    found = geodim.feature_ranking(X, weighting="resilience")
    assert list(found) == ["1", "2", "3", "5", "0", "4"]
    assert found["0"] == found["4"] == 0.0


def test_threads_change_nothing():
    X = np.random.default_rng(5).normal(size=(500, 40))
    one = geodim.feature_ranking(X, weighting="resilience", n_threads=1)
    assert one == geodim.feature_ranking(X, weighting="resilience", n_threads=3)


def test_long_columns_are_summed_in_parts(monkeypatch):
    phi = np.sort(np.random.default_rng(6).random(100_000))
    whole = resilience(phi, 100_001, 2.0)
    exact = sum(Fraction(width) / k for k, width in enumerate(phi[:1000].tolist(), 2)) / 1001
    assert resilience(phi[:1000], 1001, 1.0) == pytest.approx(float(exact), rel=2e-16)
    monkeypatch.setattr("geodim.engine.parts.PART", 1000)
    assert resilience(phi, 100_001, 2.0) == whole
    assert resilience(phi[:0], 1, 1.0) == 0.0
    assert mean(phi, 100_001, 2.0) > whole


def test_bad_options():
    with pytest.raises(InputValueError, match=r"weighting must be one of uniform, resilience, got 'k'"):
        geodim.feature_ranking([[1.0], [2.0]], weighting="k")
    with pytest.raises(NonFiniteError):
        geodim.feature_ranking([[1.0], [np.nan]], weighting="resilience")
