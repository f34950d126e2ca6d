"""`result.plan` on a GPU: the memory that was predicted is what is taken."""

from __future__ import annotations

import numpy as np
import pytest

import geodim

torch = pytest.importorskip("torch", reason="the CUDA backend needs PyTorch")

N, WITHIN = 4_000_000, 0.25


def record(run):
    """The record of a computation alone on the device."""
    torch.cuda.empty_cache()
    torch.cuda.reset_peak_memory_stats()
    return run().plan


@pytest.mark.parametrize("features", [1, 16, 80])
@pytest.mark.parametrize("where", ["host", "device"])
def test_memory_of_columns(where, features):
    X = torch.randn(N, features, device="cuda" if where == "device" else "cpu")
    found = record(lambda: geodim.intrinsic_dimension(X, backend="cuda"))
    assert found.backend == "cuda"
    assert found.happened.memory == pytest.approx(found.predicted.memory, rel=WITHIN)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("where", ["host", "device"])
def test_memory_of_many_short_columns(where, dtype):
    X = torch.randn(50_000, 20_000, device="cuda" if where == "device" else "cpu", dtype=dtype)
    found = record(lambda: geodim.intrinsic_dimension(X, backend="cuda"))
    assert found.happened.memory == pytest.approx(found.predicted.memory, rel=WITHIN)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("memory", [None, 2 * 10**9])
def test_memory_of_hops(dtype, memory):
    n = 1_000_000
    X = np.random.default_rng(0).standard_normal((n, 40), np.float32)
    edges = np.random.default_rng(1).integers(0, n, (2, 8 * n))
    found = record(lambda: geodim.khop_dimensions(X, edges, 3, backend="cuda", dtype=dtype, memory=memory))
    assert found.happened.memory == pytest.approx(found.predicted.memory, rel=WITHIN)
    if memory is not None:
        assert found.happened.memory <= memory
