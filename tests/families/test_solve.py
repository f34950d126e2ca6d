"""All distances, exactly: the definition on the same bits, for any threads and block widths."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_digits

from families.cases import POINTS, assert_exact, matrix_of, points, result_of
from geodim import paper
from geodim.engine import ways
from geodim.engine.driver import Driver
from geodim.families import Distances
from geodim.families.solve import family_profile
from geodim.families.sources import MadeColumns


@pytest.mark.turns(4)
@pytest.mark.parametrize("name", POINTS)
@pytest.mark.parametrize("metric", ["euclidean", "manhattan"])
def test_definition(name, metric):
    source = Distances(metric=metric).source(points(name, 300))
    assert_exact(family_profile(source, n_threads=2), matrix_of(source))


@pytest.mark.turns(4)
@pytest.mark.parametrize("threads", [1, 2, 3, 4])
@pytest.mark.parametrize("width", [1, 7, 64])
def test_same_bits_for_any_threads_and_widths(threads, width, monkeypatch):
    monkeypatch.setattr(MadeColumns, "at_once", width)
    for name in ("normal", "lattice"):
        source = Distances().source(points(name, 280))
        assert_exact(family_profile(source, n_threads=threads), matrix_of(source))


@pytest.mark.parametrize("n", [1, 2, 3, 15, 16, 17, 63, 65])
def test_few_points(n):
    source = Distances().source(points("normal", n))
    solved = family_profile(source)
    assert_exact(solved, matrix_of(source)) if n > 1 else None
    assert solved.profile.phi.size == n


def test_real_data():
    X = load_digits().data[:400]
    for metric in ("euclidean", "angle", "hamming"):
        source = Distances(metric=metric).source(X)
        matrix = matrix_of(source)
        solved = family_profile(source)
        assert_exact(solved, matrix)
        assert result_of(X, metric=metric, normalize=False).discriminability == paper.algorithm_1(matrix)


def test_nearly_all_columns_are_dropped_without_being_sorted(monkeypatch):
    from geodim.engine.column import ColumnSolver

    sorted_columns = []
    sort = ColumnSolver._sort
    monkeypatch.setattr(
        ColumnSolver, "_sort", lambda self, column: sorted_columns.append(0) or sort(self, column)
    )
    family_profile(Distances().source(points("normal", 2000)), n_threads=1)
    assert len(sorted_columns) < 300


def test_dropping_is_what_the_engine_would_have_found(monkeypatch):
    for name in POINTS:
        source = Distances().source(points(name, 500, seed=1))
        quick = family_profile(source, n_threads=2).profile
        with monkeypatch.context() as patched:
            patched.setattr(ways, "MANY_COLUMNS", 1 << 40)
            slow = family_profile(source, n_threads=1).profile
        np.testing.assert_array_equal(quick.phi, slow.phi)
        np.testing.assert_array_equal(quick.owner, slow.owner)


def test_no_time_gives_bounds_that_hold():
    X = points("normal", 600)
    source = Distances().source(X)
    exact = family_profile(source)
    stopped = family_profile(source, driver=Driver(0.0))
    assert stopped.profile.stopped == "time limit"
    _, lower, upper = stopped.profile.bounds(stopped.ranges)
    assert np.all(lower <= exact.profile.phi[1:])
    assert np.all(exact.profile.phi[1:] <= upper)
    assert stopped.d_max - stopped.d_max_error <= exact.d_max <= stopped.d_max + stopped.d_max_error


def test_progress_and_names():
    seen = []
    source = Distances().source(points("normal", 70), names=[f"p{i}" for i in range(70)])
    family_profile(source, driver=Driver(progress=lambda done, total: seen.append((done, total))))
    assert seen[-1] == (70, 70)
    assert source.names[3] == "p3"


def test_isometries_change_nothing_beyond_rounding():
    rng = np.random.default_rng(0)
    X = points("normal", 200)
    Q = np.linalg.qr(rng.standard_normal((7, 7)))[0]
    reference = result_of(X)
    for moved in (X @ Q, X + 3.0, -X, 4.0 * X, X[rng.permutation(200)]):
        assert result_of(moved).dimension == pytest.approx(reference.dimension, rel=1e-12)
        assert result_of(moved).lower <= reference.upper
        assert reference.lower <= result_of(moved).upper
    assert result_of(4.0 * X).discriminability == reference.discriminability
    columns_only = X[rng.permutation(200)]
    columns_only[:, 0] = X[:, 0]  # the same columns, each in its own order
    assert result_of(columns_only).dimension != pytest.approx(reference.dimension, rel=1e-3)
