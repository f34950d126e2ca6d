"""What the CUDA backend does with data on the host and on the device, and when memory runs out."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import geodim
from distributions import matrix
from engine.oracle import assert_same_bits
from geodim.errors import DeviceMemoryError, NonFiniteError
from khop_cases import EDGES, OPERATORS, X64, assert_same_result, random_graph

torch = pytest.importorskip("torch", reason="the CUDA backend needs PyTorch")


def table(n, d, dtype=np.float32):
    rng = np.random.default_rng([n, d])
    X = rng.normal(size=(n, d)) * rng.uniform(0.5, 2.0, d)
    X[:, ::5] = np.floor(X[:, ::5] * 8.0)
    return X.astype(dtype)


def assert_same(result, reference):
    assert_same_bits(result.phi_lower, reference.phi_lower)
    assert_same_bits(result.phi_upper, reference.phi_upper)
    assert result.shares == reference.shares
    assert result.dimension == reference.dimension
    assert result.d_max == reference.d_max


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int16, np.int64, np.float16, bool])
@pytest.mark.parametrize("where", ["host", "device", "by columns"])
def test_every_type_wherever_it_lies(dtype, where):
    X = table(5000, 7, dtype)
    reference = geodim.intrinsic_dimension(X, backend="cpu")
    if where == "device":
        assert_same(geodim.intrinsic_dimension(torch.as_tensor(X, device="cuda")), reference)
    else:
        given = np.asfortranarray(X) if where == "by columns" else X
        assert_same(geodim.intrinsic_dimension(given, backend="cuda"), reference)


@pytest.mark.parametrize("n", [100_000, 1_000_000])
def test_many_points(n):
    X = table(n, 20)
    assert_same(geodim.intrinsic_dimension(X, backend="cuda"), geodim.intrinsic_dimension(X))


def test_all_kinds_of_columns_at_once():
    from distributions import COLUMNS

    X = matrix(list(COLUMNS), 30_000)
    X = X[:, np.ptp(X, axis=0) < 1e300]
    assert_same(geodim.intrinsic_dimension(X, backend="cuda"), geodim.intrinsic_dimension(X))


def test_a_tensor_is_never_copied_to_the_host(monkeypatch):
    from geodim.backends.cuda.tensors import TensorSource

    X = torch.as_tensor(table(20_000, 12), device="cuda")
    reference = geodim.intrinsic_dimension(X.cpu().numpy())
    for name in ("read", "read_runs", "chunk"):
        monkeypatch.setattr(TensorSource, name, None)
    assert_same(geodim.intrinsic_dimension(X), reference)
    assert_same(geodim.intrinsic_dimension(X.T.contiguous().T), reference)


@pytest.mark.parametrize("rtol", [1e-1, 1e-3, 1e-6])
def test_tolerances(rtol):
    X = table(50_000, 9)
    exact = geodim.intrinsic_dimension(X, backend="cuda")
    rough = geodim.intrinsic_dimension(X, backend="cuda", rtol=rtol)
    assert rough.error <= rtol
    assert rough.lower <= exact.dimension <= rough.upper


def test_sparse_and_weighted_data():
    X = table(3000, 6)
    X[np.abs(X) < 1.0] = 0.0
    assert_same(
        geodim.intrinsic_dimension(sp.csr_array(X), backend="cuda"),
        geodim.intrinsic_dimension(X.astype(np.float64)),
    )
    weights = np.random.default_rng(0).integers(0, 4, 3000)
    assert_same(
        geodim.intrinsic_dimension(X, weights=weights, backend="cuda"),
        geodim.intrinsic_dimension(np.repeat(X, weights, axis=0)),
    )


def test_nan_on_the_device_is_named():
    X = table(4000, 5)
    X[1234, 3] = np.nan
    with pytest.raises(NonFiniteError, match=r"row 1234, column 3 is nan"):
        geodim.intrinsic_dimension(torch.as_tensor(X, device="cuda"))


def test_blocks_of_columns_when_the_device_is_small(monkeypatch):
    from geodim.backends.cuda import columns

    X = table(100_000, 40)
    small = columns.bytes_for(len(X), 4, 1, 2) + 5 * 8 * len(X)
    monkeypatch.setattr("geodim.backends.cuda.backend.free_memory", lambda _device: small)
    assert_same(geodim.intrinsic_dimension(X, backend="cuda"), geodim.intrinsic_dimension(X))
    monkeypatch.setattr("geodim.backends.cuda.backend.free_memory", lambda _device: 1_000_000)
    with pytest.raises(
        DeviceMemoryError, match=r"100,000 points need .* up to about [\d,]+ points would fit"
    ):
        geodim.intrinsic_dimension(X, backend="cuda")


def test_memory_that_really_runs_out():
    """PyTorch may use so little that the first batches fail: smaller ones give the same bits."""
    X = table(2_000_000, 40)
    reference = geodim.intrinsic_dimension(X)
    from geodim.backends.cuda import columns

    torch.cuda.empty_cache()
    total = torch.cuda.mem_get_info()[1]
    torch.cuda.set_per_process_memory_fraction((columns.bytes_for(len(X), 4, 1, 4) + 12 * 8 * len(X)) / total)
    try:
        assert_same(geodim.intrinsic_dimension(X, backend="cuda"), reference)
    finally:
        torch.cuda.set_per_process_memory_fraction(1.0)
        torch.cuda.empty_cache()


@pytest.mark.parametrize("operator", OPERATORS)
def test_hops(operator):
    reference = geodim.khop_dimensions(X64, EDGES, hops=3, operator=operator)
    assert_same_result(
        geodim.khop_dimensions(X64, EDGES, hops=3, operator=operator, backend="cuda"), reference
    )


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_hops_with_everything_on_the_device(dtype):
    X, edges = table(600, 40, dtype), random_graph(3, 600, 2500)
    reference = geodim.khop_dimensions(X, edges, hops=4)
    there = torch.as_tensor(X, device="cuda"), torch.as_tensor(edges.T.copy(), device="cuda")
    assert_same_result(geodim.khop_dimensions(*there, hops=4), reference)


def test_hops_with_a_checkpoint(tmp_path):
    X, edges = table(600, 70), random_graph(3, 600, 2500)
    reference = geodim.khop_dimensions(X, edges, hops=2)
    options = {"hops": 2, "checkpoint": tmp_path, "backend": "cuda"}
    with pytest.warns(geodim.errors.InterruptedWarning):
        geodim.khop_dimensions(X, edges, time_limit=0.0, **options)
    assert_same_result(geodim.khop_dimensions(X, edges, **options), reference)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_columns_sorted_by_cupy(dtype):
    """CuPy sorts where it is loaded, in place: the same bits, and the tensor is left as it was."""
    pytest.importorskip("cupy")
    X = np.random.default_rng(8).normal(size=(50_000, 5)).astype(dtype)
    tensor = torch.as_tensor(X, device="cuda")
    result, expected = geodim.intrinsic_dimension(tensor), geodim.intrinsic_dimension(X)
    assert np.array_equal(result.phi_lower, expected.phi_lower)
    assert result.shares == expected.shares
    assert torch.equal(tensor.cpu(), torch.as_tensor(X))
