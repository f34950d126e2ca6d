"""On workers with room for neither columns nor steps: cells are counted, and bounds hold all the same."""

from __future__ import annotations

import numpy as np
import pytest

from backends.dask_cases import assert_same, unlike_columns
from costs import slow
from engine.oracle import assert_encloses, solve
from geodim.errors import InterruptedWarning

da = pytest.importorskip("dask.array")


pytestmark = pytest.mark.usefixtures("client")


@pytest.fixture(autouse=True)
def chunks_as_given(monkeypatch):
    """The chunks of small data are small, and would all be taken together."""
    monkeypatch.setattr("geodim.backends.dask.source.SMALL_BYTES", 0)


@pytest.fixture
def in_cells(monkeypatch):
    """Workers with room for neither columns nor steps."""
    monkeypatch.setattr("geodim.planning.capacity.AT_WORK", 1e-9)


@pytest.mark.turns(2)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("rtol", [slow(0.3), 0.01, slow(0.001)])
@pytest.mark.usefixtures("in_cells")
def test_cells_where_steps_do_not_fit(rtol, dtype):
    X = unlike_columns(50_000).astype(dtype)
    for data in (X, X[:, :1], X[:, [3]]):
        result = solve(da.from_array(data, chunks=(9000, 3)), rtol=rtol)
        assert_encloses(result, solve(data))
        assert result.error <= rtol


@pytest.mark.usefixtures("in_cells")
def test_further_passes_count_open_columns_only():
    """The sample misses what is rare, so one pass is not enough.

    Then only that column is counted anew.
    """
    X = unlike_columns(50_000)[:, [3, 2]]
    X[:, 0] *= np.random.default_rng(1).random(50_000) < 0.05
    result = solve(da.from_array(X, chunks=(9000, 2)), rtol=1e-3)
    assert_encloses(result, solve(X))
    assert result.error <= 1e-3
    assert X.nbytes < result.bytes_read < 2 * X.nbytes
    assert next(iter(result.shares)) == "0"


@pytest.mark.usefixtures("in_cells")
def test_cells_with_weights():
    X, weights = unlike_columns(3000), np.random.default_rng(0).integers(0, 4, 3000)
    result = solve(da.from_array(X, chunks=(700, 5)), weights=weights, rtol=0.01)
    assert_encloses(result, solve(X, weights=weights))
    assert result.error <= 0.01


@pytest.mark.parametrize("way", ["histograms", "cells"])
def test_counters_of_more_points_than_32_bits_hold(way, monkeypatch):
    """Steps where the workers cannot hold the columns, cells where they cannot work on one."""
    monkeypatch.setattr(f"geodim.planning.capacity.AT_{'REST' if way == 'histograms' else 'WORK'}", 1e-9)
    X = np.random.default_rng(0).normal(size=(20_000, 3)) if way == "histograms" else unlike_columns(20_000)
    lazy = da.from_array(X, chunks=(4000, 5))
    reference = solve(lazy, rtol=0.02)
    asked = []

    def wide(n_points):
        asked.append(n_points)
        return np.dtype(np.int64)

    monkeypatch.setattr(f"geodim.backends.dask.{way}.counter_type", wide)
    assert_same(solve(lazy, rtol=0.02), reference)
    assert asked


@pytest.mark.usefixtures("in_cells")
def test_cells_of_constant_columns():
    assert solve(da.full((5000, 3), 2.0, chunks=(900, 3)), rtol=0.01).dimension == np.inf


@pytest.mark.parametrize("at", [0, 1])
@pytest.mark.usefixtures("in_cells")
def test_cells_stopped_early_with_valid_bounds(at):
    """Before anything was counted, and after the first pass."""
    told = []

    def progress(_done, _total):
        told.append(None)
        if len(told) > 2 * at:
            raise KeyboardInterrupt

    X = unlike_columns(50_000)[:, [3, 2]]
    X[:, 0] *= np.random.default_rng(1).random(50_000) < 0.05
    with pytest.warns(InterruptedWarning, match="interrupted"):
        result = solve(da.from_array(X, chunks=(9000, 2)), rtol=1e-3, progress=progress)
    assert_encloses(result, solve(X))
    assert (result.upper < np.inf) == bool(at)


def test_cells_follow_steps_that_were_too_coarse(monkeypatch):
    """All points of the sample are alike: the first guess is far too large."""
    monkeypatch.setattr("geodim.planning.capacity.AT_REST", 1.0)
    monkeypatch.setattr("geodim.planning.capacity.AT_WORK", 1.0)
    monkeypatch.setattr("geodim.planning.capacity.Worker.usable", 2_000_000)
    X = np.zeros((100_000, 2))
    X[::997, 0] = np.random.default_rng(0).normal(size=101)
    X[::50, 1] = 0.001
    result = solve(da.from_array(X, chunks=(9000, 2)), rtol=1e-3)
    assert_encloses(result, solve(X))
    assert result.error <= 1e-3
