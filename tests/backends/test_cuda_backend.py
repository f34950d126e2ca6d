"""``backend="cuda"`` as users call it.

Without a GPU Triton interprets the kernels, so everything is small.
"""

from __future__ import annotations

import os

import numpy as np
import pytest

import geodim
from engine.oracle import assert_same_bits
from geodim.backends import choose_backend
from geodim.errors import (
    BackendError,
    DataChangedError,
    DeviceMemoryError,
    InputTypeError,
    InputValueError,
    InterruptedWarning,
    NonFiniteError,
)
from khop_cases import assert_same_result, random_graph

torch = pytest.importorskip("torch", reason="the CUDA backend needs PyTorch")
pytest.importorskip("triton", reason="the CUDA backend needs Triton")

from geodim.backends.cuda import columns, layout, solver, tensors
from geodim.backends.cuda.backend import CudaBackend
from geodim.backends.cuda.feed import Feed

# The interpreter computes with numpy, which warns of arithmetic with infinities.
pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")
DEVICE = "cuda" if torch.cuda.is_available() else "cpu"


@pytest.fixture(autouse=True)
def short_programs(monkeypatch):
    """Several programs per column, and a search even where there are few points."""
    monkeypatch.setattr(solver, "PER", 32)
    monkeypatch.setattr(layout, "NARROW", 32)


@pytest.fixture
def six():
    """Enough columns for batches and blocks of several sizes."""
    return np.random.default_rng(0).normal(size=(90, 6)).astype(np.float32) * np.float32([1, 2, 1, 2, 1, 1])


@pytest.fixture
def X(six):
    """Few of them: every column takes a fifth of a second, interpreted."""
    return six[:, :3]


def assert_same(result, X, **options):
    reference = geodim.intrinsic_dimension(X, backend="cpu", **options)
    assert_same_bits(result.phi_lower, reference.phi_lower)
    assert result.shares == reference.shares
    assert result.dimension == reference.dimension


@pytest.mark.turns(2)
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64, np.float16])
def test_host_arrays(X, dtype):
    X = np.floor(8 * X).astype(dtype)
    assert_same(geodim.intrinsic_dimension(X, backend="cuda"), X)


def test_long_integers(X):
    """They are measured from the least of each column.

    A tensor whose range is beyond is rounded, and not called exact.
    """
    far = np.floor(8 * X[:, :2]).astype(np.int64) + 2**60
    assert_same(geodim.intrinsic_dimension(far, backend="cuda"), far)
    assert_same(geodim.intrinsic_dimension(np.asfortranarray(far), backend="cuda"), far - 2**60)
    assert_same(geodim.intrinsic_dimension(torch.as_tensor(far, device=DEVICE), backend="cuda"), far)
    far[0] = -(2**62)
    result = geodim.intrinsic_dimension(torch.as_tensor(far, device=DEVICE), backend="cuda")
    assert not result.exact
    assert result.lower <= geodim.intrinsic_dimension(far).dimension <= result.upper


def test_arrays_stored_by_columns(X):
    assert_same(geodim.intrinsic_dimension(np.asfortranarray(X), backend="cuda"), X)


@pytest.mark.turns(2)
@pytest.mark.parametrize("layout", ["rows", "columns"])
def test_tensors_stay_where_they_are(X, layout, monkeypatch):
    from geodim.backends.cuda.tensors import TensorSource

    tensor = torch.as_tensor(X, device=DEVICE)
    if layout == "columns":
        tensor = tensor.T.contiguous().T
    for name in ("read", "read_runs", "chunk"):
        monkeypatch.setattr(TensorSource, name, None)
    assert_same(geodim.intrinsic_dimension(tensor, backend="cuda"), X)


def test_a_tensor_with_nan_is_refused_by_row_and_column(X):
    X[17, 2] = np.nan
    with pytest.raises(NonFiniteError, match="row 17, column 2 is nan"):
        geodim.intrinsic_dimension(torch.as_tensor(X, device=DEVICE), backend="cuda")


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.int16])
@pytest.mark.parametrize("layout", ["rows", "columns", "every other"])
def test_the_first_pass_finds_what_numpy_finds(dtype, layout, monkeypatch):
    monkeypatch.setattr(tensors, "SCAN_ROWS", 32)
    whole = 100 * np.random.default_rng(1).normal(size=(75, 2 * 131))
    tensor = torch.as_tensor(whole, device=DEVICE).to(dtype)
    if layout == "columns":
        tensor = tensor.T.contiguous().T
    if layout == "every other":
        tensor = tensor[:, ::2]
    values = tensor.double().cpu().numpy()
    found = tensors.scan_tensor(tensors.TensorSource(tensor))
    assert np.array_equal(found.least, values.min(0))
    assert np.array_equal(found.greatest, values.max(0))
    assert np.allclose(found.spreads, values.var(0), rtol=1e-9, atol=0)
    assert np.all(found.energies >= np.square(values).sum(0))
    assert np.all(found.energies <= 1.002 * np.square(values).sum(0))


def test_squares_that_overflow_do_not_end_the_first_pass():
    X = np.array([[1e200, 1.0], [-1e200, 2.0], [3e200, 5.0]])
    result = geodim.intrinsic_dimension(torch.as_tensor(X, device=DEVICE), backend="cuda")
    assert_same(result, X)


def test_weights(X):
    weights = np.arange(90) % 3
    result = geodim.intrinsic_dimension(X[:, :2], weights=weights, backend="cuda")
    assert_same(result, X[:, :2], weights=weights)


def test_a_tolerance_is_kept(X):
    exact = geodim.intrinsic_dimension(X)
    rough = geodim.intrinsic_dimension(X, rtol=0.05, backend="cuda")
    assert rough.error <= 0.05
    assert rough.lower <= exact.dimension <= rough.upper


def test_small_devices_get_small_blocks(six, monkeypatch):
    small = columns.bytes_for(90, 4, 1, 2) + 2 * 90 * 4
    monkeypatch.setattr("geodim.backends.cuda.backend.free_memory", lambda _device: small / 0.95 + 1)
    seen = []
    whole = Feed.blocks

    def blocks(self, groups, **options):
        seen.extend(groups)
        return whole(self, groups, **options)

    monkeypatch.setattr(Feed, "blocks", blocks)
    assert_same(geodim.intrinsic_dimension(six, backend="cuda"), six)
    assert sorted(map(len, seen)) == [3, 3]


def test_a_device_that_is_too_small_says_what_would_fit(X, monkeypatch):
    monkeypatch.setattr("geodim.backends.cuda.backend.free_memory", lambda _device: 5000)
    with pytest.raises(DeviceMemoryError, match=r"90 points need .* up to about \d+ points would fit"):
        geodim.intrinsic_dimension(X, backend="cuda")


@pytest.mark.turns(2)
@pytest.mark.parametrize("failures", [1, 3])
def test_memory_that_runs_out_is_met_by_smaller_batches(six, failures, monkeypatch):
    left = [failures]
    sort = torch.sort

    def failing(*arguments, **options):
        if left[0] > 0:
            left[0] -= 1
            raise torch.OutOfMemoryError
        return sort(*arguments, **options)

    monkeypatch.setattr(torch, "sort", failing)
    assert_same(geodim.intrinsic_dimension(six, backend="cuda"), six)


@pytest.mark.turns(2)
@pytest.mark.parametrize("failures", [1, 2])
def test_blocks_that_do_not_fit_are_halved(six, failures, monkeypatch):
    left = [failures]
    load = Feed._load

    def failing(self, group, by_row):
        if left[0] > 0:
            left[0] -= 1
            raise torch.OutOfMemoryError
        return load(self, group, by_row)

    monkeypatch.setattr(Feed, "_load", failing)
    assert_same(geodim.intrinsic_dimension(six, backend="cuda"), six)


def test_hops_that_do_not_fit_are_computed_in_halves(monkeypatch):
    from geodim.backends.cuda.operators import DeviceMatrix

    rng = np.random.default_rng(1)
    X, edges = rng.normal(size=(60, 3)).astype(np.float32), random_graph(1, 60, 150)
    apply, left = DeviceMatrix.apply_device, [1]

    def failing(self, *blocks):
        if left[0] > 0 and blocks[0].shape[1] > 1:
            left[0] -= 1
            raise torch.OutOfMemoryError
        apply(self, *blocks)

    monkeypatch.setattr(DeviceMatrix, "apply_device", failing)
    assert_same_result(
        geodim.khop_dimensions(X, edges, hops=2, backend="cuda"), geodim.khop_dimensions(X, edges, hops=2)
    )


def test_a_tensor_is_left_as_it_was(X):
    """The first pass once squared float64 tensors in place."""
    tensor = torch.as_tensor(X.astype(np.float64), device=DEVICE)
    before = tensor.clone()
    geodim.intrinsic_dimension(tensor, backend="cuda")
    assert torch.equal(tensor, before)


@pytest.mark.parametrize("most", [2, 0])
def test_a_device_without_room_for_the_first_batch(six, most, monkeypatch):
    """The solver's own memory may be what does not fit: then it takes fewer columns from the start."""
    tried: list[int] = []
    shrink = solver.DeviceSolver.shrink

    def failing(self, batch):
        tried.append(batch)
        if batch > most:
            raise torch.OutOfMemoryError
        shrink(self, batch)

    monkeypatch.setattr(solver.DeviceSolver, "shrink", failing)
    if most == 0:
        with pytest.raises(DeviceMemoryError, match="ran out of memory with one column"):
            geodim.intrinsic_dimension(six, backend="cuda")
    else:
        assert_same(geodim.intrinsic_dimension(six, backend="cuda"), six)
    assert tried == [6, 3, 1]


def test_memory_that_never_comes_back_is_an_error(X, monkeypatch):
    def failing(*_arguments, **_options):
        raise torch.OutOfMemoryError

    monkeypatch.setattr(torch, "sort", failing)
    with pytest.raises(DeviceMemoryError, match="ran out of memory with one column of 90 points"):
        geodim.intrinsic_dimension(X, backend="cuda")


def test_progress_and_a_time_limit(X):
    seen = []
    geodim.intrinsic_dimension(X, backend="cuda", progress=lambda *state: seen.append(state))
    assert seen[0] == (0, 3)
    assert seen[-1] == (3, 3)
    with pytest.warns(InterruptedWarning, match="time limit"):
        result = geodim.intrinsic_dimension(X, backend="cuda", time_limit=0.0)
    assert result.lower <= geodim.intrinsic_dimension(X).dimension <= result.upper


@pytest.mark.turns(2)
@pytest.mark.parametrize("rtol", [0.0, 0.05])
def test_hops(rtol):
    rng = np.random.default_rng(1)
    X, edges = rng.normal(size=(60, 3)).astype(np.float32), random_graph(1, 60, 150)
    reference = geodim.khop_dimensions(X, edges, hops=2, rtol=rtol)
    seen, deltas = [], []
    result = geodim.khop_dimensions(
        X, edges, hops=2, rtol=rtol, backend="cuda", progress=lambda *state: seen.append(state),
        so_far=deltas.append,
    )  # fmt: skip
    assert_same_result(result, reference)
    assert seen[-1] == (3, 3)
    if rtol == 0.0:
        assert deltas[-1] == pytest.approx([one.discriminability for one in reference])


def test_hops_go_on_from_a_checkpoint(tmp_path):
    rng = np.random.default_rng(1)
    X, edges = rng.normal(size=(60, 3)).astype(np.float32), random_graph(1, 60, 150)
    options = {"hops": 1, "checkpoint": tmp_path, "backend": "cuda", "save_every": 0.0}
    with pytest.warns(InterruptedWarning):
        geodim.khop_dimensions(X, edges, time_limit=0.0, **options)
    assert_same_result(geodim.khop_dimensions(X, edges, **options), geodim.khop_dimensions(X, edges, hops=1))


def test_indistinguishable_nodes_are_counted():
    X, edges = np.zeros((6, 1), np.float32), [(0, 1), (2, 3), (3, 4)]
    X[3] = 1.0
    one, other = (
        geodim.khop_dimensions(X, edges, hops=1, count_indistinguishable=True, backend=backend)
        for backend in ("cuda", "cpu")
    )
    assert [r.n_indistinguishable for r in one] == [r.n_indistinguishable for r in other]


def test_too_little_memory_for_hops():
    X = np.random.default_rng(1).normal(size=(60, 3)).astype(np.float32)
    with pytest.raises(DeviceMemoryError, match="60 "):
        geodim.khop_dimensions(X, random_graph(1, 60, 150), memory=3000, backend="cuda")


def test_without_a_gpu_the_error_names_the_way_out(X, monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.delenv("TRITON_INTERPRET", raising=False)
    with pytest.raises(BackendError, match=r"needs an NVIDIA GPU, but .*: use backend='cpu'"):
        geodim.intrinsic_dimension(X, backend="cuda")


def test_the_backend_is_chosen_by_name_or_by_where_the_data_is(X):
    assert choose_backend("auto", X).name == "cpu"
    assert choose_backend("auto", torch.as_tensor(X)).name == "cpu"
    assert isinstance(choose_backend("cuda", X), CudaBackend)
    with pytest.raises(InputValueError, match=r"unknown backend 'gpu': choose one of auto, cpu, cuda, dask"):
        geodim.intrinsic_dimension(X, backend="gpu")
    with pytest.raises(InputTypeError, match="backend must be a name"):
        geodim.intrinsic_dimension(X, backend=1)


@pytest.mark.parametrize("layout", [np.ascontiguousarray, np.asfortranarray])
@pytest.mark.parametrize("rtol", [0.0, 0.2])
def test_data_that_changes_after_the_first_pass(X, layout, rtol):
    """There columns lie elsewhere than the first pass found them."""
    data = layout(X)

    def change(*_):
        data[:] = 0.0

    with pytest.raises(DataChangedError, match="column"):
        geodim.intrinsic_dimension(data, backend="cuda", rtol=rtol, progress=change)


def test_files_that_change_after_the_first_pass(X, tmp_path):
    path = tmp_path / "points.npy"
    np.save(path, X)
    os.utime(path, (1e9, 1e9))
    data = np.load(path, mmap_mode="r")
    with pytest.raises(DataChangedError, match=r"points.npy"):
        geodim.intrinsic_dimension(data, backend="cuda", progress=lambda *_: os.utime(path))


def test_attributes_that_change_after_the_first_pass(X, monkeypatch):
    data = X.copy()
    run = CudaBackend.hop_pass

    def changing(*arguments):
        data[:] = 0.0
        return run(*arguments)

    monkeypatch.setattr(CudaBackend, "hop_pass", changing)
    with pytest.raises(DataChangedError, match="column"):
        geodim.khop_dimensions(data, [(0, 1)], 1, backend="cuda")


def test_certificates(X):
    tensor = torch.from_numpy(X).to(DEVICE)
    result = geodim.intrinsic_dimension(tensor, backend="cuda")
    certificate = result.certificate()
    assert certificate.to_dict() == geodim.intrinsic_dimension(X).certificate().to_dict()
    ((low, high),) = certificate.verify(tensor)
    assert low <= result.dimension <= high <= 1.001 * low
