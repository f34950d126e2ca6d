"""The certificate that a column need not be sorted: never wrong, and given where it can be."""

from __future__ import annotations

import numpy as np
import pytest

from distributions import COLUMNS, column
from geodim.data.checks import scan_ranges
from geodim.data.sources import as_source
from geodim.engine.column import ColumnSolver

pytest.importorskip("distributed", reason="the extra dask is not installed")

from geodim.backends.dask import tasks
from geodim.engine.dominated import is_dominated


def phi_of(values):
    """Exactly, by the engine."""
    from engine.oracle import engine_phi

    return np.append(0.0, engine_phi(values[:, np.newaxis]))


@pytest.mark.turns(5)
@pytest.mark.parametrize("name", COLUMNS)
def test_only_columns_below_the_bar_are_dropped(name):
    """Bars from below phi to far above it, and such that touch it at one place only."""
    values = column(name, 9000)
    values = values.astype(np.float32 if values.dtype == np.float32 else np.float64)
    least, greatest = float(values.min()), float(values.max())
    phi = phi_of(values)
    rng = np.random.default_rng(0)
    for factor in (0.9, 1.0, 1.01, 1.2, 2.0, 4.0):
        for at in rng.integers(1, 9000, 4):
            with np.errstate(over="ignore"):
                bar = np.minimum(np.maximum.accumulate(phi * factor), np.finfo(np.float64).max)
            touching = bar.copy()
            touching[: at + 1] = np.minimum(bar[: at + 1], phi[at])
            for one in (bar, touching):
                if is_dominated(values, least, greatest, one):
                    assert np.all((phi < one) | (phi == 0.0))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", ["normal", "uniform", "exponential"])
def test_narrower_columns_are_dropped_without_sorting(name, dtype, monkeypatch):
    wide = column(name, 50_000)
    block = np.stack([wide, 0.05 * column(name, 50_000, seed=1), 0.02 * column(name, 50_000, seed=2)]).astype(
        dtype
    )
    ranges = scan_ranges(as_source(block.T))
    job = tasks.Job("dominated", 50_000, np.dtype(dtype), 0.0, None, 0, 1, 1, None)
    try:
        leader = tasks.solve_block([[block]], None, job, [0, 1, 2], [0], ranges)
        bar = tasks.bar_of(leader, job, 50_000)
        monkeypatch.setattr(ColumnSolver, "_sort", lambda *_: pytest.fail("a dominated column was sorted"))
        part = tasks.solve_block([[block]], bar, job, [0, 1, 2], [1, 2], ranges)
    finally:
        tasks.forget("dominated")
    assert part.dropped == 2
    assert part.done == (1, 2)
    assert part.phi.size == 0
