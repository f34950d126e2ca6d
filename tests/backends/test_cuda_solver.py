"""The kernels of the CUDA backend give the bits of the engine; Triton interprets them here, on the CPU."""

from __future__ import annotations

import numpy as np
import pytest

from distributions import column
from geodim.data.sources import as_source
from geodim.engine.profile import compute_profile

torch = pytest.importorskip("torch", reason="the CUDA backend needs PyTorch")
pytest.importorskip("triton", reason="the CUDA backend needs Triton")

from geodim.backends.cuda.solver import DeviceSolver, Layout, Wave

# The interpreter computes with numpy, which warns of arithmetic with infinities.
pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")
DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
KINDS = [
    "normal",
    "normal_32",
    "cauchy",
    "few_integers",
    "half_zero",
    "grid",
    "tenths_64",
    "denormals",
    "duplicates",
]


def solve(X: np.ndarray, **options: int) -> DeviceSolver:
    """All columns, sorted by PyTorch."""
    solver = DeviceSolver(len(X), DEVICE, **options)
    for at in range(X.shape[1]):
        values, _ = torch.sort(torch.as_tensor(np.ascontiguousarray(X[:, at]), device=DEVICE))
        solver.solve(values, at)
    return solver


def assert_same(solver: DeviceSolver, X: np.ndarray) -> None:
    expected = compute_profile(as_source(X), n_threads=1)
    np.testing.assert_array_equal(solver.phi.cpu().numpy(), expected.phi)
    np.testing.assert_array_equal(solver.owner.cpu().numpy(), expected.owner)


@pytest.mark.parametrize("kind", KINDS)
def test_one_column(kind):
    X = column(kind, 333)[:, np.newaxis]
    X = X if X.dtype in (np.float32, np.float64) else X.astype(np.float64)
    assert_same(solve(X), X)


@pytest.mark.parametrize("n", [1, 2, 3, 32, 33, 64, 65])
def test_few_points(n):
    X = np.random.default_rng(n).normal(size=(n, 2))
    assert_same(solve(X), X)


def test_several_columns_and_several_levels():
    """Columns that take turns, some of them equal: the lowest index owns a tie.  2,080 points need two levels."""
    rng = np.random.default_rng(1)
    X = np.column_stack([rng.normal(size=2080), rng.uniform(0, 3, 2080)])
    X = np.column_stack([X, X[:, 0], np.zeros(2080)])[:, [2, 1, 0, 3]]
    assert_same(solve(X), X)


def test_a_wave_that_is_too_long_is_cut():
    X = column("grid_jitter_third", 700)[:, np.newaxis]
    assert_same(solve(X, most_entries=100), X)


def test_halves_hold_the_same_nodes():
    wave = Layout(5000, torch.device(DEVICE)).first_wave
    assert wave is not None
    parts = wave.halves()
    assert len(parts) == 2
    for name in ("levels", "gaps", "starts", "stops"):
        assert torch.equal(torch.cat([getattr(part, name) for part in parts]), getattr(wave, name))
    one = Wave(**{name: getattr(wave, name)[:1] for name in ("levels", "gaps", "starts", "stops", "trends", "caps")}, blocks=wave.blocks)  # fmt: skip
    assert one.halves() == [one]
