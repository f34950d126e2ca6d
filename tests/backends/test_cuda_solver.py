"""The kernels of the CUDA backend give the bits of the engine; Triton interprets them here, on the CPU."""

from __future__ import annotations

import numpy as np
import pytest

from costs import slow
from distributions import column
from geodim.data.sources import as_source
from geodim.engine.solve import compute_profile

torch = pytest.importorskip("torch", reason="the CUDA backend needs PyTorch")
pytest.importorskip("triton", reason="the CUDA backend needs Triton")

from geodim.backends.cuda import layout, solver
from geodim.backends.cuda.layout import Layout
from geodim.backends.cuda.solver import DeviceSolver
from geodim.backends.cuda.waves import Search, Size

# The interpreter computes with numpy, which warns of arithmetic with infinities.
pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")
DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
KINDS = ["normal_32", "cauchy", "few_integers", "tenths_64", "denormals", "duplicates"]
KINDS += [slow(kind) for kind in ("normal", "half_zero", "grid")]


@pytest.fixture
def short_programs(monkeypatch):
    """Several programs per column find the narrow windows, which leave most sizes to the search."""
    monkeypatch.setattr(solver, "PER", 32)
    monkeypatch.setattr(solver, "PART", 16)
    monkeypatch.setattr(layout, "NARROW", 32)


def solve(X: np.ndarray, batch: int = 1, **options) -> DeviceSolver:
    """All columns, sorted by PyTorch, in batches."""
    found = DeviceSolver(len(X), DEVICE, batch=batch, **options)
    values, _ = torch.sort(torch.as_tensor(np.ascontiguousarray(X.T), device=DEVICE))
    for at in range(0, X.shape[1], batch):
        block = list(range(X.shape[1]))[at : at + batch]
        found.solve(values[block], block)
    return found


def assert_same(found: DeviceSolver, X: np.ndarray) -> None:
    expected = compute_profile(as_source(X), n_threads=1)
    np.testing.assert_array_equal(found.phi[0].cpu().numpy(), expected.phi)
    np.testing.assert_array_equal(found.owner[0].cpu().numpy(), expected.owner)


@pytest.mark.turns(3)
@pytest.mark.usefixtures("short_programs")
@pytest.mark.parametrize("kind", KINDS)
def test_one_column(kind):
    X = column(kind, 170)[:, np.newaxis]
    X = X if X.dtype in (np.float32, np.float64) else X.astype(np.float64)
    assert_same(solve(X), X)


@pytest.mark.turns(3)
@pytest.mark.usefixtures("short_programs")
@pytest.mark.parametrize("n", [1, 2, 3, 32, 33, 64, 65])
def test_few_points(n):
    X = np.random.default_rng(n).normal(size=(n, 2))
    assert_same(solve(X), X)


@pytest.mark.usefixtures("short_programs")
@pytest.mark.parametrize("batch", [slow(1), 3])
def test_several_columns_and_several_levels(batch, monkeypatch):
    """Columns that take turns, some of them equal: the lowest index owns a tie.

    9 blocks make four levels down to 2.
    """
    monkeypatch.setattr(layout, "TOP_BLOCKS", 2)
    rng = np.random.default_rng(1)
    X = np.column_stack([rng.normal(size=260), rng.uniform(0, 3, 260)])
    X = np.column_stack([X, X[:, 0], np.zeros(260)])[:, [2, 1, 0, 3]]
    assert_same(solve(X, batch), X)


def test_layers_hold_what_lies_below_them():
    """A column of the first layer counts in the second as well, but not the other way round."""
    X = np.random.default_rng(2).normal(size=(200, 2)) * [1.0, 2.0]
    solved = DeviceSolver(len(X), DEVICE, layers=2)
    for at in range(2):
        values, _ = torch.sort(torch.as_tensor(X[:, [at]].T.copy(), device=DEVICE))
        solved.solve(values, [at], layer=at)
    for layer in range(2):
        expected = compute_profile(as_source(X[:, : layer + 1]), n_threads=1)
        np.testing.assert_array_equal(solved.phi[layer].cpu().numpy(), expected.phi)
        np.testing.assert_array_equal(solved.owner[layer].cpu().numpy(), expected.owner)


@pytest.mark.parametrize("seed", [9, slow(41)])
def test_a_run_that_crosses_blocks_is_not_lost(seed, monkeypatch):
    """Blocks in the middle of a run have no starts.

    Their windows must not push out the block in which the run begins.
    """
    monkeypatch.setattr(layout, "TOP_BLOCKS", 4)
    rng = np.random.default_rng(seed)
    x = rng.normal(size=int(rng.integers(150, 500)))
    x[np.abs(x) < rng.uniform(0.1, 0.6)] = 0.0
    assert_same(solve(x[:, np.newaxis]), x[:, np.newaxis])


def test_values_too_large_for_trends():
    X = np.random.default_rng(3).normal(size=(100, 3)) * [1e305, 1.0, 1e306]
    assert_same(solve(X, 3), X)


def test_a_wave_that_is_too_long_is_cut():
    X = column("grid_jitter_third", 400)[:, np.newaxis]
    assert_same(solve(X, most_entries=30, room=Size(0, 0, 0)), X)


@pytest.mark.usefixtures("short_programs")
def test_a_wave_for_which_there_is_no_room(monkeypatch):
    """The first waves fit and a later one does not: its columns are searched again, and nothing is lost."""
    monkeypatch.setattr(layout, "TOP_BLOCKS", 2)
    X = np.random.default_rng(6).normal(size=(170, 2))
    first = Layout(len(X), torch.device(DEVICE)).first_size(2)
    found = solve(X, 2, room=Size(first.nodes, first.pieces + 3, first.entries + 3))
    assert found.search.counts[-1].any()
    assert_same(found, X)


@pytest.mark.usefixtures("short_programs")
def test_memory_that_runs_out_while_columns_are_searched_again(monkeypatch):
    """What was still to be searched is remembered, and searched with smaller batches."""
    X = np.random.default_rng(7).normal(size=(200, 2)).astype(np.float32)
    whole, left = Search.one_by_one, [1]

    def failing(self, *arguments):
        if left[0]:
            left[0] -= 1
            raise torch.OutOfMemoryError
        return whole(self, *arguments)

    monkeypatch.setattr(Search, "one_by_one", failing)
    found = solve(X, 2, room=Size(0, 0, 0))
    with pytest.raises(torch.OutOfMemoryError):
        found.finish()
    found.shrink(1)
    assert_same(found, X)


def test_halves_hold_the_same_nodes():
    wave = Layout(5000, torch.device(DEVICE)).first_wave(2)
    parts = wave.halves()
    assert len(parts) == 2
    assert torch.equal(torch.cat([part.nodes[:, :5] for part in parts]), wave.nodes[:, :5])
    for part in parts:  # pieces cover the lists, and write to places of their own
        assert part.nodes[0, 5] == 0
        assert part.nodes[-1, 6] == len(part.pieces)
        assert part.size.entries == int((part.nodes[:, 4] - part.nodes[:, 3]).sum())
        assert len(torch.unique(part.pieces[:, 2])) == len(part.pieces)


@pytest.mark.turns(2)
@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_narrow_windows_of_all_sizes(kind, monkeypatch):
    """Groups of sizes up to 128, with ties, and a sample that is looked at first."""
    monkeypatch.setattr(solver, "PER", 32)
    monkeypatch.setattr(solver, "PART", 16)
    monkeypatch.setattr(solver, "SAMPLED", 2)
    rng = np.random.default_rng(4)
    X = np.column_stack([rng.normal(size=200), np.round(rng.normal(size=200), 1)]).astype(kind)
    assert_same(solve(X, 2), X)


@pytest.mark.parametrize("shift", [3.0, -3.0, 0.0])
def test_differences_in_float32_where_they_do_not_round(shift, monkeypatch):
    """Values close together and far from 0 are subtracted in float32; those around 0 are not."""
    monkeypatch.setattr(solver, "PER", 32)
    monkeypatch.setattr(solver, "PART", 16)
    monkeypatch.setattr(layout, "NARROW", 32)
    X = (shift + np.random.default_rng(5).normal(size=(200, 1)) * [[0.1]]).astype(np.float32)
    assert_same(solve(X), X)
