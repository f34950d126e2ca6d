"""Whenever it is stopped, it holds valid bounds: by the clock, by Ctrl-C, between any two pieces of work."""

from __future__ import annotations

import itertools
import math
import threading
import time
import types
import warnings

import numpy as np
import pytest
import scipy.sparse as sp

import geodim
from distributions import column, random_matrix
from engine.oracle import assert_encloses, everywhere, solve
from geodim.data.checks import scan_ranges
from geodim.data.sources import as_source
from geodim.engine import driver as driver_module
from geodim.engine.driver import Driver
from geodim.engine.solve import compute_profile
from geodim.errors import InterruptedWarning


def long_table():
    """So long that single columns are solved in pieces by several threads."""
    return np.stack([column("normal", 140_000), 3.0 * column("uniform", 140_000)], axis=1)


TABLES = {
    "many columns": lambda: random_matrix(np.random.default_rng(0), 400, 60),
    "alike columns": lambda: np.random.default_rng(1).normal(size=(3000, 12)),
    "long columns": long_table,
    "sparse": lambda: sp.csr_array(
        np.where(
            np.random.default_rng(2).random((2000, 30)) < 0.2,
            np.random.default_rng(3).normal(size=(2000, 30)),
            0,
        )
    ),
    "one column": lambda: column("grid_jitter_three", 5000)[:, np.newaxis],
}


def assert_valid(stopped, exact):
    """Bounds around the exact values, and consistent with each other."""
    assert_encloses(stopped, exact)
    assert not stopped.exact
    assert math.isclose(sum(stopped.shares.values()), 1.0) or not stopped.shares


def profile_bounds(profile, source):
    """Bounds on phi_2, ..., phi_n from a profile that may be unfinished."""
    return everywhere(source.n_points, *profile.bounds(scan_ranges(source)))


def quietly(X, **options):
    """Solve without the warning, and without an escaping Ctrl-C that would end the whole test run."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", InterruptedWarning)
        try:
            return solve(X, **options)
        except KeyboardInterrupt:
            pytest.fail("KeyboardInterrupt reached the caller: the bounds known by then are lost")


# ---------------------------------------------------------------- the clock


@pytest.mark.parametrize("n_threads", [1, 2])
@pytest.mark.parametrize("name", TABLES)
def test_no_time_at_all(name, n_threads):
    """Nothing is solved, so only the ranges are known.

    Phi <= d_max, hence ID >= (n / (n - 1))^2 when normalised.
    """
    X = TABLES[name]()
    exact = solve(X)
    with pytest.warns(InterruptedWarning, match="time limit"):
        result = geodim.intrinsic_dimension(X, time_limit=0, n_threads=n_threads)
    assert result.stopped == "time limit"
    assert_valid(result, exact)
    n = result.n_points
    assert result.lower >= (n / (n - 1)) ** 2 * (1 - 1e-12)


def symmetric(n, d, dtype, small=1.0, outlier=None):
    """Two points of mass at -small and small, or values spread between, and one outlier."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (n, d)) if outlier is None else rng.choice([-small, small], (n, d))
    if outlier is not None:
        X[7] = outlier
    return X.astype(dtype)


@pytest.mark.parametrize(
    "X",
    [
        symmetric(20_000, 2, np.float16),
        symmetric(20_000, 2, np.float32),
        np.asfortranarray(symmetric(20_000, 2, np.float16)),
        symmetric(20_000, 1, np.float64, 1.5e-162, 1e-160),
        symmetric(100_000, 1, np.float32, 1e-23, 1e-21),
        1e8 + symmetric(20_000, 2, np.float64),
        symmetric(20_000, 2, np.float64) * 1e200,
    ],
    ids=[
        "half",
        "single",
        "half by columns",
        "squares vanish",
        "single squares vanish",
        "offset",
        "squares overflow",
    ],
)
def test_what_the_first_pass_claims(X):
    """Sums of squares bound phi before anything is sorted.

    They may stall, vanish or overflow: the bounds must hold.
    """
    assert_valid(quietly(X, time_limit=0), solve(X))


@pytest.mark.turns(4)
@pytest.mark.parametrize("limit", [1e-9, 1e-4, 1e-3, 5e-3, 2e-2])
@pytest.mark.parametrize("name", TABLES)
def test_hardly_any_time(name, limit):
    X = TABLES[name]()
    exact = solve(X)
    result = quietly(X, time_limit=limit)
    if result.stopped is None:  # a quick machine
        assert result.exact
        assert result.dimension == exact.dimension
    else:
        assert_valid(result, exact)


@pytest.mark.parametrize("limit", [0, 1e-3, 1e-2])
@pytest.mark.parametrize("rtol", [1e-3, 0.3])
def test_hardly_any_time_with_a_tolerance(limit, rtol):
    X = TABLES["alike columns"]()
    exact = solve(X)
    result = quietly(X, time_limit=limit, rtol=rtol)
    if result.stopped is None:
        assert result.error <= rtol
    assert_encloses(result, exact)


def test_more_than_enough_time():
    X = TABLES["alike columns"]()
    result = solve(X, time_limit=1e6)  # warnings are errors
    assert result.exact
    assert result.stopped is None
    assert solve(X, time_limit=math.inf).dimension == result.dimension


def test_the_limit_is_kept():
    """One piece of work is short.  Seconds of processors: others may take as many as they like."""
    X = np.random.default_rng(0).normal(size=(20_000, 200))
    solve(X[:3000])  # compile, what drops columns as well
    started = time.process_time()
    quietly(X, time_limit=0.05, n_threads=1)
    assert time.process_time() - started < 1.5


# ----------------------------------------------------- every moment, with a clock that ticks when asked


@pytest.mark.turns(3)
@pytest.mark.parametrize("n_threads", [1, 2])
@pytest.mark.parametrize("name", TABLES)
def test_stopped_at_any_moment(monkeypatch, name, n_threads):
    """The clock is read before each block, column and piece, and advances by one each time."""
    X = TABLES[name]()
    exact = solve(X)
    source = as_source(X)
    partly = False
    for deadline in (0, 1, 2, 3, 5, 8, 13, 21, 40, 70, 110):
        ticks = itertools.count()
        monkeypatch.setattr(
            driver_module, "time", types.SimpleNamespace(monotonic=lambda ticks=ticks: next(ticks))
        )
        profile = compute_profile(source, n_threads=n_threads, driver=Driver(deadline))
        lower, upper = profile_bounds(profile, source)
        assert np.all(lower <= exact.phi_lower), deadline
        assert np.all(exact.phi_lower <= upper), deadline
        if profile.stopped is None:
            assert profile.done.all()
            assert np.array_equal(lower, exact.phi_lower)
            break
        assert profile.stopped == "time limit"
        assert not profile.done.all()
        partly |= bool((upper > lower).any() and (upper == lower).any())
    if name == "long columns":
        assert partly  # some pieces of a column were solved, others not


def test_bounds_only_improve_with_time(monkeypatch):
    source = as_source(TABLES["alike columns"]())
    gaps = []
    for deadline in (0, 10, 30, 60, 100, 200, 400, 10**6):
        ticks = itertools.count()
        monkeypatch.setattr(
            driver_module, "time", types.SimpleNamespace(monotonic=lambda ticks=ticks: next(ticks))
        )
        lower, upper = profile_bounds(compute_profile(source, n_threads=1, driver=Driver(deadline)), source)
        gaps.append(float((upper - lower).sum()))
    assert gaps == sorted(gaps, reverse=True)
    assert gaps[0] > gaps[-1] == 0.0


# ---------------------------------------------------------------- Ctrl-C


class InterruptAt:
    """A progress callback that behaves like Ctrl-C at its call number ``at``."""

    def __init__(self, at):
        self.at = at
        self.calls = 0

    def __call__(self, *_):
        self.calls += 1
        if self.calls == self.at:
            raise KeyboardInterrupt


@pytest.mark.turns(4)
@pytest.mark.parametrize("n_threads", [1, 2])
@pytest.mark.parametrize("at", [1, 2, 3])
@pytest.mark.parametrize("name", ["many columns", "alike columns", "long columns", "sparse"])
def test_interrupted(name, at, n_threads):
    X = TABLES[name]()
    exact = solve(X)
    progress = InterruptAt(at)
    if name == "many columns":  # enough columns that there are several reports
        X = np.hstack([X] * 3)
    result = quietly(X, progress=progress, n_threads=n_threads)
    if progress.calls < at:
        assert result.exact
    elif result.stopped is not None:
        assert result.stopped == "interrupted"
        assert_valid(result, exact)
    else:  # everything was done before the callback was called
        assert at > 1


def test_interruption_is_announced():
    X = np.random.default_rng(0).normal(size=(500, 40))
    with pytest.warns(InterruptedWarning, match=r"interrupted.* of 40 features"):
        result = geodim.intrinsic_dimension(X, progress=InterruptAt(2), n_threads=1)
    assert result.stopped == "interrupted"
    assert_valid(result, solve(X))


@pytest.mark.parametrize("n_threads", [1, 2])
def test_other_errors_in_the_callback_are_not_swallowed(n_threads):
    def progress(done, total):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        geodim.intrinsic_dimension(np.eye(50), progress=progress, n_threads=n_threads)


# ---------------------------------------------------------------- progress and going on


@pytest.mark.parametrize("n_threads", [1, 2, 3])
def test_progress_counts_up_to_all_columns(n_threads):
    seen = []
    here = threading.get_ident()

    def progress(done, total):
        assert threading.get_ident() == here
        seen.append((done, total))

    solve(np.random.default_rng(0).normal(size=(300, 90)), progress=progress, n_threads=n_threads)
    done = [count for count, _ in seen]
    assert done[0] == 0
    assert done == sorted(done)
    assert done[-1] == 90
    assert {total for _, total in seen} == {90}


@pytest.mark.parametrize(("name", "deadline"), [("many columns", 30), ("alike columns", 15), ("sparse", 30)])
def test_a_stopped_profile_can_be_continued(monkeypatch, name, deadline):
    X = TABLES[name]()
    source = as_source(X)
    ticks = itertools.count()
    with monkeypatch.context() as patch:
        patch.setattr(driver_module, "time", types.SimpleNamespace(monotonic=lambda: next(ticks)))
        profile = compute_profile(source, n_threads=1, driver=Driver(deadline))
    assert profile.stopped == "time limit"
    assert 0 < profile.done.sum() < source.n_features
    again = compute_profile(source, n_threads=1, profile=profile)
    assert again.stopped is None
    assert again.done.all()
    assert np.array_equal(profile_bounds(again, source)[0], solve(X).phi_lower)
