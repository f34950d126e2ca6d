"""Columns whose windows are all alike, on a GPU: left to the processor, which says what it always says.

Without a GPU Triton interprets the kernels, so everything is small.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import geodim
from engine.oracle import assert_same_bits
from geodim.data.sources import as_source
from geodim.engine.solve import compute_profile, way_of
from geodim.engine.ways import Way
from slow_columns import clocks, wave

torch = pytest.importorskip("torch", reason="the CUDA backend needs PyTorch")
pytest.importorskip("triton", reason="the CUDA backend needs Triton")

from geodim.backends.cuda import alike, columns, layout, solver
from geodim.backends.cuda.alike import AlikeColumns
from geodim.backends.cuda.solver import DeviceSolver
from geodim.backends.cuda.tensors import TensorSource
from geodim.backends.cuda.waves import Size

# The interpreter computes with numpy, which warns of arithmetic with infinities.
pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")
DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")
N = 320


@pytest.fixture(autouse=True)
def short(monkeypatch):
    """Columns that are not too short to be left; interpreted, several programs for each of them."""
    monkeypatch.setattr(alike, "COARSE_FROM", 200)
    if DEVICE.type == "cpu":
        monkeypatch.setattr(solver, "PER", 32)
        monkeypatch.setattr(layout, "NARROW", 32)


@pytest.fixture
def X(rng):
    """Clocks, and a wave, that attain Phi beside a column of the usual kind; and clocks that do not."""
    some = [clocks(N), 0.2 * N * rng.normal(size=N), 0.99 * wave(N, 8.0, 0.1), 0.2 * clocks(N)]
    return np.stack([rng.permutation(values) for values in some], axis=1)


def assert_same(result, X):
    here = geodim.intrinsic_dimension(X)
    assert_same_bits(result.phi_lower, here.phi_lower)
    assert_same_bits(result.phi_upper, here.phi_upper)
    assert (result.lower, result.upper, result.shares) == (here.lower, here.upper, here.shares)


@pytest.mark.usefixtures("all_tolerant")
@pytest.mark.parametrize("where", ["host", "device"])
def test_the_bits_and_the_tolerance_of_the_processor(where, monkeypatch):
    """All columns are left, whatever the device finds of them, which takes too long here."""
    monkeypatch.setattr(DeviceSolver, "solve", lambda *_: None)
    n = 3000
    some = [0.5 * clocks(n), clocks(n), wave(n, 8.0, 0.1), clocks(n)]
    X = np.stack([np.random.default_rng(0).permutation(values) for values in some], axis=1)
    source = as_source(X) if where == "host" else TensorSource(torch.as_tensor(X, device=DEVICE))
    way = Way(width=4, solvers=4, relaxed=True)
    found = columns.compute_profile(source, DEVICE, way, n_threads=2)
    here = as_source(X)
    expected = compute_profile(here, replace(way_of(here, None, 0.0, 1), relaxed=True), n_threads=1)
    assert found.loose == expected.loose > 1e-9
    assert_same_bits(found.phi, expected.phi)
    assert found.owner.tolist() == expected.owner.tolist()
    assert found.done.all()
    exact = columns.compute_profile(source, DEVICE, replace(way, relaxed=False), n_threads=1)
    assert exact.loose == 0.0
    assert_same_bits(exact.phi, compute_profile(here, n_threads=1).phi)


def test_beside_columns_of_the_usual_kind(X):
    assert_same(geodim.intrinsic_dimension(X, backend="cuda"), X)


def test_huge_values_are_left_too(X):
    X[:, 1] *= 2.0**1010
    assert_same(geodim.intrinsic_dimension(X[:, :2], backend="cuda"), X[:, :2])


def test_what_is_left_is_not_searched_again(X, monkeypatch):
    """Where there is no room for all, other columns are searched one by one."""
    source = TensorSource(torch.as_tensor(X, device=DEVICE))
    left = AlikeColumns.among(source, DEVICE)
    found = DeviceSolver(N, DEVICE, batch=4, room=Size(1, 1, 1))
    found.is_left = left.left
    values, _ = torch.sort(source.rows([0, 1, 2, 3]))
    left.look(values, [0, 1, 2, 3])
    again = []
    monkeypatch.setattr(found, "_again", lambda alone: again.extend(alone.columns))
    found.solve(values, [0, 1, 2, 3])
    found.finish()
    assert again == [1]


def test_whole_numbers_are_no_trouble(X):
    """They are as even as a column can be, but widths are whole numbers, and the device is fast."""
    X[:, 0], X[:, 1] = np.arange(N), 0.1 * np.arange(N)
    source = TensorSource(torch.as_tensor(X, device=DEVICE))
    left = AlikeColumns.among(source, DEVICE)
    left.look(torch.sort(source.rows([0, 1]))[0], [0, 1])
    assert [left.left(0), left.left(1)] == [False, True]


@pytest.mark.parametrize("why", ["few points", "a step", "ties"])
def test_where_there_are_none(X, why, monkeypatch):
    source = TensorSource(torch.as_tensor(X, device=DEVICE))
    assert AlikeColumns.among(source, DEVICE) is not None
    if why == "few points":
        monkeypatch.setattr(alike, "COARSE_FROM", N + 1)
    if why == "ties":
        monkeypatch.setattr(source, "runs", True, raising=False)
    assert AlikeColumns.among(source, DEVICE, 0.5 if why == "a step" else 0.0) is None


def test_a_time_limit_leaves_valid_bounds(X):
    """What was left when it ran out may be as wide as its range."""
    exact = geodim.intrinsic_dimension(X, last_bit=True)
    with pytest.warns(geodim.errors.InterruptedWarning):
        result = geodim.intrinsic_dimension(X, backend="cuda", time_limit=1e-9)
    assert result.lower <= exact.dimension <= result.upper
