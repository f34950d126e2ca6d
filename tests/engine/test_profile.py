"""`compute_profile`: the order and threads that read together change nothing.

Leaders may come first; finer steps give closer bounds.
"""

from __future__ import annotations

import gc
import weakref

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, strategies as st

from distributions import COLUMNS, column, random_matrix
from engine.oracle import everywhere
from geodim import paper
from geodim.data.checks import scan_ranges
from geodim.data.sources import ArraySource, as_source
from geodim.engine import ways
from geodim.engine.column import ColumnSolver
from geodim.engine.driver import Driver
from geodim.engine.parts import available_threads
from geodim.engine.profile import Profile
from geodim.engine.solve import compute_profile

seeds = st.integers(0, 2**32 - 1)


def solved(source, **options):
    """Bounds on phi_2, ..., phi_n."""
    profile = compute_profile(source, **options)
    assert profile.stopped is None
    assert profile.done.all()
    n = source.n_points
    support, lower, upper = profile.bounds(scan_ranges(source))
    # All k from one element of the support (exclusive) to the next have the same rounded width.
    if profile.counted:
        above = np.searchsorted(support, np.arange(2, n + 1), side="left")
        return lower[above], upper[above]
    return everywhere(n, support, lower, upper)


# ---------------------------------------------------------------- leaders


@given(seeds, st.integers(2, 200), st.integers(1, 12), st.integers(1, 3))
def test_leaders_change_no_bit(seed, n, d, n_threads):
    rng = np.random.default_rng(seed)
    X = random_matrix(rng, n, d)
    leaders = rng.permutation(d)[: rng.integers(0, d + 1)].tolist()
    profile = compute_profile(as_source(X), leaders=leaders, n_threads=n_threads)
    assert np.array_equal(profile.phi[1:], paper.phi_all(X))
    reference = compute_profile(as_source(X), n_threads=1)
    assert np.array_equal(profile.owner, reference.owner)


@pytest.mark.parametrize("leaders", [[0, 2, 1, 3], [0, 5, 1, 3], [5, 4, 3, 2, 1, 0], [1, 3, 5, 4], [3], []])
@pytest.mark.parametrize("kind", ["C", "F", "sparse", "weighted"])
def test_leaders_in_an_order_that_is_not_theirs(kind, leaders):
    """Each column is read as itself, whatever is read together with it."""
    X = np.random.default_rng(0).normal(size=(60, 6)) * [1, 2, 3, 4, 5, 6]
    source = {
        "C": lambda: as_source(X),
        "F": lambda: as_source(np.asfortranarray(X)),
        "sparse": lambda: as_source(sp.csr_array(X)),
        "weighted": lambda: as_source(X, weights=np.ones(60, int)),
    }[kind]()
    for n_threads in (1, 2):
        profile = compute_profile(source, leaders=leaders, n_threads=n_threads)
        assert np.array_equal(profile.phi[1:], paper.phi_all(X))
        attained = [paper.phi_k_per_feature(X, k).argmax() for k in range(2, 61)]
        assert profile.owner[1:].tolist() == attained


# ---------------------------------------------------------------- steps


def assert_steps_are_nested(source, phi, steps):
    """Every width is off by less than one step, both ways, and halving the step never widens a bound."""
    for ranges in (None, scan_ranges(source)):  # with the ranges known, coarse steps are counted
        coarser = np.zeros(phi.size), np.full(phi.size, np.inf)
        for step in steps:
            lower, upper = solved(source, step=step, ranges=ranges)
            assert np.all(lower <= phi)
            assert np.all(phi <= upper)
            assert np.all(upper - phi <= 2 * step)
            assert np.all(phi - lower <= 2 * step)
            assert np.all(lower >= coarser[0])
            assert np.all(upper <= coarser[1])
            coarser = lower, upper


@given(seeds, st.integers(2, 300), st.integers(1, 6), st.lists(st.integers(-12, 3), min_size=2, max_size=4))
def test_finer_steps_give_nested_bounds(seed, n, d, exponents):
    X = np.clip(random_matrix(np.random.default_rng(seed), n, d), -8.0, 8.0)
    assert_steps_are_nested(as_source(X), paper.phi_all(X), [2.0**e for e in sorted(exponents, reverse=True)])


@pytest.mark.turns(3)
@pytest.mark.parametrize(
    "name", ["normal", "normal_32", "grid_jitter_third", "hundred_integers", "duplicates", "cauchy"]
)
def test_finer_steps_on_longer_columns(name):
    X = column(name, 3000)[:, np.newaxis].astype(np.float64)
    X = (X / np.ptp(X)).astype(np.float32 if name.endswith("32") else np.float64)
    assert_steps_are_nested(as_source(X), paper.phi_all(X), [2.0**-e for e in range(1, 16)])


@pytest.mark.turns(5)
@pytest.mark.parametrize("name", COLUMNS)
def test_a_step_that_all_values_are_multiples_of_is_exact(name):
    """Rounding down changes nothing there, so that phi itself must be in the middle of its bounds."""
    values = column(name, 400).astype(np.float64)
    values = np.floor(values / np.ptp(values) * 256) / 256 if 0 < np.ptp(values) < np.inf else np.zeros(400)
    X = values[:, np.newaxis]
    lower, upper = solved(as_source(X), step=2.0**-8)
    phi = paper.phi_all(X)
    np.testing.assert_array_equal(lower, np.maximum(phi - 2.0**-8, 0.0))
    np.testing.assert_array_equal(upper, np.minimum(phi + 2.0**-8, np.ptp(X)))


def test_coarse_steps_are_counted_and_fine_ones_not():
    """Both ways of solving are reached by the tests above."""
    source = as_source(column("uniform", 3000)[:, np.newaxis])
    ranges = scan_ranges(source)
    assert compute_profile(source, step=2.0**-4, ranges=ranges).counted
    assert not compute_profile(source, step=2.0**-14, ranges=ranges).counted
    assert not compute_profile(source, step=2.0**-4).counted
    assert not compute_profile(source, ranges=ranges).counted


# ---------------------------------------------------------------- the profile itself


@pytest.mark.turns(5)
@pytest.mark.parametrize("name", COLUMNS)
def test_an_empty_profile_still_bounds_phi(name):
    """Before any column is solved only the first pass over the data is known."""
    X = np.stack([column(name, 500, seed) for seed in range(3)], axis=1).astype(np.float64)
    ranges = scan_ranges(as_source(X))
    lower, upper = everywhere(500, *Profile.empty(500, 3).bounds(ranges))
    assert not lower.any()
    assert np.all(paper.phi_all(X) <= upper)
    assert np.all(upper <= ranges.d_max)


def test_done_columns_are_skipped():
    X = np.array([[0.0, 0.0], [1.0, 10.0], [3.0, 30.0]])
    profile = Profile.empty(3, 2)
    profile.done[1] = True
    compute_profile(as_source(X), profile=profile)
    assert profile.phi.tolist() == [0.0, 1.0, 3.0]


def test_available_threads():
    assert available_threads() >= 1


# ---------------------------------------------------------------- threads that read together


@pytest.fixture
def reading_together(monkeypatch):
    """Short columns treated like long ones: all threads read a group of them."""
    monkeypatch.setattr(ways, "LONG_FROM", 2)
    groups = []
    original = ArraySource.read_rows

    def noted(source, columns, rows, out):
        groups.append(tuple(columns))
        original(source, columns, rows, out)

    monkeypatch.setattr(ArraySource, "read_rows", noted)
    return groups


@pytest.mark.turns(4)
@pytest.mark.parametrize("kind", [np.float32, np.float64, np.int16])
@pytest.mark.parametrize("n_threads", [2, 3, 5])
@pytest.mark.parametrize("block_bytes", [1, 1 << 12, 1 << 26])
def test_reading_together_changes_no_bit(monkeypatch, reading_together, kind, n_threads, block_bytes):
    monkeypatch.setattr(ways, "BLOCK_BYTES", block_bytes)
    rng = np.random.default_rng(0)
    X = np.clip(random_matrix(rng, 333, 37) * 100, -30_000, 30_000).astype(kind)
    profile = compute_profile(as_source(X), leaders=[30, 2, 17], n_threads=n_threads)
    assert len(set(reading_together)) > 1
    assert max(map(reading_together.count, reading_together)) > 1  # several shares of the rows
    np.testing.assert_array_equal(profile.phi[1:], paper.phi_all(X))
    np.testing.assert_array_equal(profile.owner, compute_profile(as_source(X), n_threads=1).owner)
    assert profile.bytes_read == X.shape[0] * X.shape[1] * as_source(X).dtype.itemsize


@pytest.mark.parametrize("step", [2.0**-3, 2.0**-20])
def test_reading_together_with_a_step(reading_together, step):
    source = as_source(np.random.default_rng(0).normal(size=(5000, 24)).astype(np.float32))
    ranges = scan_ranges(source)
    reference = compute_profile(source, step=step, ranges=ranges, n_threads=1)
    profile = compute_profile(source, step=step, ranges=ranges, n_threads=4)
    assert reading_together
    np.testing.assert_array_equal(profile.phi, reference.phi)
    np.testing.assert_array_equal(profile.owner, reference.owner)


@pytest.mark.usefixtures("reading_together")
def test_an_error_while_reading_together(monkeypatch):
    source = as_source(np.random.default_rng(0).normal(size=(400, 40)))

    read_rows = source.read_rows

    def fail(columns, rows, out):
        if 20 in columns:
            message = "the disk is gone"
            raise OSError(message)
        read_rows(columns, rows, out)  # what was read before is solved meanwhile, so it must have been

    monkeypatch.setattr(source, "read_rows", fail)
    with pytest.raises(OSError, match="the disk is gone"):
        compute_profile(source, n_threads=2)


@pytest.mark.usefixtures("reading_together")
def test_no_time_to_read_together():
    source = as_source(np.random.default_rng(0).normal(size=(400, 40)))
    profile = compute_profile(source, n_threads=2, driver=Driver(0.0))
    assert profile.stopped == "time limit"
    assert not profile.done.any()


@pytest.mark.parametrize("n_threads", [1, 2, 16])
def test_buffers_end_with_the_run(monkeypatch, reading_together, n_threads):
    """Nothing refers to a solver in a circle, which would keep its memory until a garbage collection."""
    alive = weakref.WeakSet()
    original = ColumnSolver.__init__

    def noted(solver, *arguments, **options):
        original(solver, *arguments, **options)
        alive.add(solver)

    monkeypatch.setattr(ColumnSolver, "__init__", noted)
    gc.disable()
    try:
        compute_profile(as_source(np.random.default_rng(0).normal(size=(2000, 12))), n_threads=n_threads)
        assert not alive
    finally:
        gc.enable()
    assert reading_together
