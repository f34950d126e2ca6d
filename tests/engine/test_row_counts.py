"""Columns that are counted some rows after the others: the same bits as columns that are counted whole."""

from __future__ import annotations

import numpy as np
import pytest

from distributions import random_matrix
from geodim.data.checks import scan_ranges
from geodim.data.sources import ArraySource, as_source
from geodim.engine import row_counts, ways
from geodim.engine.driver import Driver
from geodim.engine.solve import compute_profile, way_of
from geodim.errors import DataChangedError

N, D = 3000, 37
STEP = 2.0**-5


@pytest.fixture
def by_rows(monkeypatch):
    """Short columns treated like ones of which memory holds but one at a time."""
    monkeypatch.setattr(ways, "LONG_FROM", 2)
    monkeypatch.setattr(ways, "BLOCK_BYTES", 1)
    monkeypatch.setattr(ways, "ROWS_BYTES", 1 << 15)
    monkeypatch.setattr(ways, "COUNTERS_BYTES", 20_000)


def whole_columns(source, ranges, step=STEP):
    """Counted column by column, with everything as it is."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ways, "COUNTERS_BYTES", 0)
        profile = compute_profile(source, step=step, ranges=ranges, n_threads=1)
    assert profile.counted
    return profile


def assert_same(profile, reference):
    np.testing.assert_array_equal(profile.phi, reference.phi)
    np.testing.assert_array_equal(profile.owner, reference.owner)


@pytest.mark.usefixtures("by_rows")
@pytest.mark.parametrize("layout", ["rows", "every other row", "backwards"])
@pytest.mark.parametrize("kind", [np.float32, np.float64, np.int16])
@pytest.mark.parametrize("n_threads", [1, 2, 5])
def test_the_bits_of_whole_columns(kind, n_threads, layout, rng):
    X = np.clip(rng.normal(size=(2 * N, D)), -3, 3) * np.linspace(0.2, 3.0, D)
    X = (X * 30).astype(kind) if kind == np.int16 else X.astype(kind)
    X = {"rows": X[:N], "every other row": X[::2], "backwards": X[:N][::-1]}[layout]
    source = as_source(X)
    ranges = scan_ranges(source)
    step = 2.0 if kind == np.int16 else STEP
    way = way_of(source, ranges, step, n_threads)
    assert way.counted
    assert 0 < way.rows < N
    assert way.width < D  # several groups
    profile = compute_profile(source, way, step=step, ranges=ranges, leaders=[30, 2], n_threads=n_threads)
    assert_same(profile, whole_columns(source, ranges, step))
    passes = profile.bytes_read / (N * D * source.dtype.itemsize)
    assert passes == 1 or (kind == np.int16 and 1 < passes <= 2)  # so few values overflow short counters


@pytest.mark.usefixtures("by_rows")
@pytest.mark.parametrize(
    ("heavy", "n_threads", "passes"),
    [(200, 1, 1), (300, 1, 2), (300, 3, 2), (70_000, 1, 2), (70_000, 3, 1)],
)
def test_counters_become_longer_where_one_overflows(heavy, n_threads, passes):
    """One step holds more points than counters of one byte, or of two; or than those of each thread do."""
    X = np.random.default_rng(0).normal(size=(max(N, 2 * heavy), 12)).astype(np.float32)
    X[:heavy, 3] = 0.001
    source = as_source(X)
    ranges = scan_ranges(source)
    assert way_of(source, ranges, 2.0**-6, n_threads).rows
    profile = compute_profile(source, step=2.0**-6, ranges=ranges, n_threads=n_threads)
    assert_same(profile, whole_columns(source, ranges, 2.0**-6))
    assert profile.bytes_read == passes * X.nbytes


@pytest.mark.usefixtures("by_rows")
def test_counts_are_those_of_numpy(rng):
    X = np.clip(random_matrix(rng, N, 5), -100, 100).astype(np.float32)
    first = np.floor(X.min(axis=0) / STEP).astype(np.float64)
    steps = int((np.floor(X.max(axis=0) / STEP) - first).max()) + 1
    seen = []
    counter = row_counts.RowCounter(as_source(X), STEP, steps, first, 77, lambda: False, seen.append)
    counts = counter.count([4, 0, 2], 3, lambda tasks: [task() for task in tasks])
    for row, column in zip(counts, (4, 0, 2), strict=True):
        where = (np.floor(X[:, column] / STEP) - first[column]).astype(int)
        assert row.tolist() == np.bincount(where, minlength=steps).tolist()
    assert sum(seen) % (3 * N) == 0


@pytest.mark.usefixtures("by_rows")
def test_progress_counts_columns_and_never_falls():
    source = as_source(np.random.default_rng(0).normal(size=(N, D)))
    for n_threads in (1, 2):
        told = []
        driver = Driver(progress=lambda done, total, told=told: told.append((done, total)))
        compute_profile(source, step=STEP, ranges=scan_ranges(source), n_threads=n_threads, driver=driver)
        done = [done for done, _ in told]
        assert done == sorted(done)
        assert done[0] == 0
        assert done[-1] == D
        assert {total for _, total in told} == {D}


@pytest.mark.usefixtures("by_rows")
@pytest.mark.parametrize("n_threads", [1, 2])
@pytest.mark.parametrize("reads", [0, 1, 30])
def test_stopped_while_counting(monkeypatch, n_threads, reads):
    """What is done is right, what was only counted is not done, and another run continues."""
    source = as_source(np.random.default_rng(0).normal(size=(N, D)))
    ranges = scan_ranges(source)
    driver, original, calls = Driver(), ArraySource.read_rows, []

    def noted(source, *arguments):
        calls.append(0)
        if len(calls) > reads:
            driver.halt("time limit")
        original(source, *arguments)

    with monkeypatch.context() as patch:
        patch.setattr(ArraySource, "read_rows", noted)
        stopped = compute_profile(source, step=STEP, ranges=ranges, n_threads=n_threads, driver=driver)
    assert stopped.stopped == "time limit"
    assert not stopped.done.all()
    assert stopped.done.any() == (reads == 30)
    continued = compute_profile(source, step=STEP, ranges=ranges, n_threads=n_threads, profile=stopped)
    assert_same(continued, whole_columns(source, ranges))


@pytest.mark.usefixtures("by_rows")
@pytest.mark.parametrize("n_threads", [1, 2])
def test_errors_while_reading(monkeypatch, n_threads):
    source = as_source(np.random.default_rng(0).normal(size=(N, D)))
    ranges = scan_ranges(source)

    def fail(*_):
        message = "the disk is gone"
        raise OSError(message)

    monkeypatch.setattr(source, "read_rows", fail)
    with pytest.raises(OSError, match="the disk is gone"):
        compute_profile(source, step=STEP, ranges=ranges, n_threads=n_threads)


@pytest.mark.usefixtures("by_rows")
@pytest.mark.parametrize("value", [0.0, 1e6])
@pytest.mark.parametrize("n_threads", [1, 2])
def test_data_that_changes(value, n_threads):
    """The ends of its range are gone, or a value lies outside of it."""
    X = np.random.default_rng(0).normal(size=(N, D))
    source = as_source(X)
    ranges = scan_ranges(source)
    X[:, 5] = np.where(np.abs(X[:, 5]) > 1.0, value, X[:, 5])
    with pytest.raises(DataChangedError):
        compute_profile(source, step=STEP, ranges=ranges, n_threads=n_threads)


def test_long_columns_take_less_memory_and_fewer_passes():
    """Of 10^7 points a block of 64 MB has room for one column; a line of each row has sixteen."""
    shape = {"row_major": True, "steps": 40_000.0, "leave_out": 31}
    for threads in (1, 2, 5):
        way = ways.local_way(10**7, 64, 4, threads, **shape)
        assert (way.rows > 0, way.width, way.passes) == (True, 64, 1)
        columns = ways.local_way(10**7, 64, 4, threads, **shape | {"by_rows": False})
        assert columns.rows == 0
        held = way.buffers * way.width * (way.rows * 4 + 2 * 40_000)
        assert held < columns.buffers * columns.width * 10**7 * 4
    assert ways.local_way(10**7, 64, 4, 1, **shape | {"steps": 2 * 10**6}).rows == 0  # counters fit no cache
    assert ways.local_way(10**6, 64, 4, 1, **shape).rows == 0  # a block has room for whole columns
    assert ways.local_way(10**7, 64, 4, 1, row_major=False, steps=40_000.0).rows == 0
    assert ways.local_way(10**7, 64, 4, 1, row_major=True).rows == 0
