"""Many short columns on the device: the bits of the engine, whichever columns are dropped by counts.

Triton interprets the kernels here, on the CPU.
"""

from __future__ import annotations

import numpy as np
import pytest

import geodim
from distributions import column
from geodim.data.sources import as_source
from geodim.engine.solve import compute_profile
from geodim.engine.ways import Way
from geodim.families import Directions, Distances

torch = pytest.importorskip("torch", reason="the CUDA backend needs PyTorch")
pytest.importorskip("triton", reason="the CUDA backend needs Triton")

from geodim.backends.cuda import dominated, solver
from geodim.backends.cuda.dominated import DeviceDominance
from geodim.backends.cuda.made import MadeOnDevice, can_make
from geodim.backends.cuda.short import leading_columns, short_profile
from geodim.backends.cuda.tensors import TensorSource

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")
DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")
ON_GPU = DEVICE.type == "cuda"
KINDS = ["normal_32", "tenths_64", "duplicates"]
KINDS += ["normal", "cauchy", "few_integers", "half_zero", "denormals", "grid"] if ON_GPU else []
N, D = (3000, 200) if ON_GPU else (100, 7)


@pytest.fixture(autouse=True)
def small_programs(monkeypatch):
    """Interpreted, a program takes a millisecond whatever it does."""
    if ON_GPU:
        return
    monkeypatch.setattr(solver, "PER", 32)
    monkeypatch.setattr(dominated, "SEGMENTS", 4)


def columns(kind: str, n: int, d: int) -> np.ndarray:
    """Columns of one kind, of different widths, so that some lead and others are dropped."""
    rng = np.random.default_rng(3)
    X = np.stack([rng.permutation(column(kind, n)) for _ in range(d)], axis=1)
    X = X if X.dtype in (np.float32, np.float64) else X.astype(np.float64)
    return X * np.where(rng.random(d) < 0.3, 1.0, 0.5).astype(X.dtype)


def assert_same(found, expected):
    np.testing.assert_array_equal(found.phi, expected.phi)
    np.testing.assert_array_equal(found.owner, expected.owner)
    assert found.done.all()


@pytest.mark.turns(3)
@pytest.mark.parametrize("kind", KINDS)
def test_the_bits_of_the_engine(kind):
    X = columns(kind, N, D)
    source = TensorSource(torch.as_tensor(X, device=DEVICE))
    ends = np.full((D, 2), np.nan)
    found = short_profile(source, DEVICE, Way(width=D // 2, solvers=4), ends=ends)
    assert_same(found, compute_profile(as_source(X), n_threads=1))
    np.testing.assert_array_equal(ends, np.stack([X.min(axis=0), X.max(axis=0)], axis=1))


def test_from_the_host():
    X = columns("normal", 70, 6)
    found = short_profile(as_source(X), DEVICE, Way(width=4, solvers=2), n_threads=2)
    assert_same(found, compute_profile(as_source(X), n_threads=1))


@pytest.mark.parametrize("n", [1, 2, 3])
def test_few_points(n):
    X = np.random.default_rng(n).normal(size=(n, 4))
    found = short_profile(TensorSource(torch.as_tensor(X, device=DEVICE)), DEVICE, Way(width=3, solvers=2))
    assert_same(found, compute_profile(as_source(X), n_threads=1))


def test_survivors_are_all_that_attain_anything():
    """No column that attains Phi somewhere is dropped, and most of the others are."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 20)) * np.where(np.arange(20) < 4, 1.0, 0.8)
    phi = compute_profile(as_source(X[:, :4]), n_threads=1)
    tested = DeviceDominance(200, DEVICE)
    tested.look(torch.as_tensor(phi.phi, device=DEVICE), torch.as_tensor(phi.owner, device=DEVICE))
    values = torch.as_tensor(np.ascontiguousarray(X[:, 4:].T), device=DEVICE)
    ends = np.stack([X[:, 4:].min(axis=0), X[:, 4:].max(axis=0)], axis=1)
    kept = 4 + tested.survivors(values, list(range(4, 20)), ends)
    owners = set(compute_profile(as_source(X), n_threads=1).owner.tolist()) - {-1, 0, 1, 2, 3}
    assert owners <= set(kept.tolist())
    assert kept.size <= len(owners) + 5


def test_equal_columns_are_dropped_unless_they_are_lower():
    """A tie belongs to the lowest column: a later copy of a leader is dropped, an earlier one stays."""
    x = np.random.default_rng(1).integers(20, size=300).astype(float)
    phi = compute_profile(as_source(x[:, None]), n_threads=1)
    tested = DeviceDominance(300, DEVICE)
    owner = torch.full((300,), 5, dtype=torch.int32, device=DEVICE)
    tested.look(torch.as_tensor(phi.phi, device=DEVICE), owner)
    values = torch.as_tensor(np.stack([x, x]), device=DEVICE)
    ends = np.array([[x.min(), x.max()]] * 2)
    assert tested.survivors(values, [2, 8], ends).tolist() == [0]


def test_leaders_are_the_widest():
    X = columns("normal", 256, 30)
    X[:, 17] *= 4
    assert 17 in leading_columns(TensorSource(torch.as_tensor(X, device=DEVICE)), DEVICE)


@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "chebyshev", "hamming", "chord"])
def test_distances_have_the_bits_of_the_cpu(metric):
    # Whole numbers where the interpreter would round a fused product twice.
    whole = metric == "euclidean" and not ON_GPU
    X = np.random.default_rng(2).integers(-9, 9, size=(75, 5)).astype(float)
    if not whole and metric not in ("hamming", "chord"):
        X += np.random.default_rng(3).random((75, 5))
    source = Distances(metric=metric).source(X)
    made = MadeOnDevice(source, DEVICE)
    expected = np.empty((75, 75))
    source.read(range(75), expected)
    found = made.rows(range(75)).cpu().numpy()
    if metric == "chord" and not ON_GPU:
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-15)
    else:
        np.testing.assert_array_equal(found, expected)
    (sample,) = made.at_points(np.array([3, 70]))
    np.testing.assert_array_equal(sample.cpu().numpy(), found[:, [3, 70]])


def test_angles_are_within_their_error():
    X = np.random.default_rng(4).normal(size=(40, 3))
    X[1] = -X[0]
    source = Distances(metric="cosine").source(X)
    expected = np.empty((40, 40))
    source.read(range(40), expected)
    found = MadeOnDevice(source, DEVICE).rows(range(40)).cpu().numpy()
    assert np.abs(found - expected).max() <= 2 * source.error(np.pi)


def test_landmarks_and_directions():
    X = np.random.default_rng(5).integers(-9, 9, size=(90, 4)).astype(float)
    for source in (Distances(landmarks=7).source(X), Distances(landmarks=X[:3] + 1).source(X)):
        expected = np.empty((source.n_features, 90))
        source.read(range(source.n_features), expected)
        found = MadeOnDevice(source, DEVICE).rows(range(source.n_features)).cpu().numpy()
        np.testing.assert_array_equal(found, expected)
    source = Directions(random=6).source(X)
    expected = np.empty((source.n_features, 90))
    source.read(range(source.n_features), expected)
    found = MadeOnDevice(source, DEVICE).rows(range(source.n_features)).cpu().numpy()
    np.testing.assert_allclose(found, expected, rtol=0, atol=2 * source.error(0.0))


def test_what_is_made_on_the_host():
    X = np.random.default_rng(6).normal(size=(20, 3))
    assert can_make(Distances().source(X))
    assert not can_make(Distances(metric="minkowski", p=3).source(X))
    assert not can_make(Distances().source(X * 1e200))
    assert not can_make(Distances(metric=lambda x, y: float(abs(x - y).sum())).source(X))


@pytest.mark.turns(2)
@pytest.mark.parametrize(
    "features", ["distances", Distances(landmarks=6), Distances(metric="minkowski", p=3)]
)
def test_families_end_to_end(features):
    n = 2000 if ON_GPU else 20
    X = np.random.default_rng(7).integers(-9, 9, size=(n, 3)).astype(float)
    there = geodim.intrinsic_dimension(X, features=features, backend="cuda")
    here = geodim.intrinsic_dimension(X, features=features)
    assert (there.lower, there.dimension, there.upper) == (here.lower, here.dimension, here.upper)
    assert there.plan.backend == "cuda"
    np.testing.assert_array_equal(there.phi_lower, here.phi_lower)
