"""The sort of our own gives what PyTorch's gives, on rows of all lengths and values of all kinds."""

from __future__ import annotations

import numpy as np
import pytest

import geodim

torch = pytest.importorskip("torch", reason="the CUDA backend needs PyTorch")
pytest.importorskip("triton", reason="the CUDA backend needs Triton")

from geodim.backends.cuda import radix, sorting

TILE = {4: radix.THREADS * radix.ITEMS[4], 8: radix.THREADS * radix.ITEMS[8]}


def rows_of(kind, shape, dtype, rng):
    """Random rows: normal, of all magnitudes and signs, few values with both zeros, or descending."""
    if kind == "normal":
        return rng.normal(size=shape).astype(dtype)
    if kind == "bits":
        bits = rng.integers(0, 256, (*shape, np.dtype(dtype).itemsize), dtype=np.uint8)
        values = bits.view(dtype)[..., 0]
        return np.where(np.isfinite(values), values, dtype(0.0))
    if kind == "ties":
        return rng.choice(np.array([-1.0, -0.0, 0.0, 2.0], dtype), shape)
    return np.sort(rng.normal(size=shape).astype(dtype), axis=1)[:, ::-1].copy()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kind", ["normal", "bits", "ties", "descending"])
def test_rows_as_pytorch_sorts_them(kind, dtype, rng):
    tile = TILE[np.dtype(dtype).itemsize]
    for shape in ((1, 1), (3, 2), (2, tile - 1), (5, tile), (4, tile + 1), (16, 300_007), (1, 2_000_000)):
        rows = torch.as_tensor(rows_of(kind, shape, dtype, rng), device="cuda")
        expected = torch.sort(rows, dim=1).values
        kernels = radix.sorter(rows)
        assert kernels is not None
        kernels.sort(rows)
        assert torch.equal(rows, expected)


@pytest.mark.parametrize("own", [True, False])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_results_by_either_sort(dtype, own, monkeypatch):
    """The bits are the same by PyTorch's sort, and the tensor is left as it was."""
    if not own:
        monkeypatch.setattr(sorting, "sorter", lambda _rows: None)
    X = np.random.default_rng(8).normal(size=(50_000, 5)).astype(dtype)
    tensor = torch.as_tensor(X, device="cuda")
    result, expected = geodim.intrinsic_dimension(tensor), geodim.intrinsic_dimension(X)
    assert np.array_equal(result.phi_lower, expected.phi_lower)
    assert result.shares == expected.shares
    assert torch.equal(tensor.cpu(), torch.as_tensor(X))


def test_a_source_that_does_not_compile():
    from geodim.backends.cuda.nvrtc import CompilerError, Module

    torch.zeros(1, device="cuda")
    with pytest.raises(CompilerError, match="expected a"):
        Module("this is not CUDA", [])
