"""On a cluster of two workers: the same bits as here, whatever the data and its chunks."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest
import scipy.sparse as sp

import geodim
from backends.dask_cases import assert_same, assert_same_hops, chunkings, distributed
from costs import slow
from distributions import COLUMNS, column, matrix, random_matrix
from engine.oracle import assert_encloses, assert_same_bits, solve
from geodim import paper
from geodim.errors import ClusterError, InputTypeError, InputValueError, InterruptedWarning, NonFiniteError
from khop_cases import EDGES, OPERATORS, X64, D, N

da = pytest.importorskip("dask.array")

from geodim.backends.dask.cluster import Cluster, Worker
from geodim.backends.dask.source import DaskSource

OF_PANDAS = pytest.mark.filterwarnings("ignore:The inplace keyword", "ignore:An error occurred while calling")


pytestmark = pytest.mark.usefixtures("client")


@pytest.fixture(autouse=True)
def chunks_as_given(monkeypatch):
    """The chunks of small data are small, and would all be taken together."""
    monkeypatch.setattr("geodim.backends.dask.source.SMALL_BYTES", 0)


@pytest.fixture
def small_blocks(monkeypatch):
    """Many blocks also of little data."""
    monkeypatch.setattr("geodim.planning.capacity.LEAST_BYTES", 1)


@pytest.fixture
def no_room(monkeypatch):
    """Workers that cannot keep a single column.

    Everything is read pass by pass, and counted where it lies.
    """
    monkeypatch.setattr("geodim.planning.capacity.AT_REST", 1e-9)


def of_type(X, dtype):
    limit = np.finfo(dtype).max / 2
    return np.clip(X, -limit, limit).astype(dtype)


@pytest.mark.parametrize("n", [40, 1025, slow(4097)])
def test_every_kind_of_column_beside_all_others(n, picked):
    """All kinds at once, as they are and scaled to one range.

    The oracle is the paper's definition where that is quick.
    """
    wild = matrix(list(COLUMNS), n)
    X = random_matrix(np.random.default_rng(n), n, len(COLUMNS))
    for data in (X, wild):
        for chunks in picked(chunkings(*data.shape), 1):
            result = solve(da.from_array(data, chunks=chunks))
            assert_same(result, solve(data))
    if n < 100:
        assert_same_bits(solve(da.from_array(X), normalize=False).phi_lower, paper.phi_all(X))


@pytest.mark.turns(4)
@pytest.mark.parametrize(
    "name", ["normal_32", "few_integers", "grid_jitter_third", "half_16", "unsigned_64", "zero_one"]
)
@pytest.mark.parametrize("n", [1, slow(2), 63, slow(2049)])
def test_one_column_in_its_own_type(name, n):
    X = column(name, n)[:, np.newaxis]
    assert_same(solve(da.from_array(X, chunks=(max(n // 4, 1), 1))), solve(X))


def test_long_integers_of_frames_are_bounded():
    """Windows 1 and 3, so that Delta is 4 / 9.

    The partitions of a frame are not shifted, so this is not exact.
    """
    pd, dd = pytest.importorskip("pandas"), pytest.importorskip("dask.dataframe")
    result = solve(dd.from_pandas(pd.DataFrame({"a": [2**53, 2**53 + 1, 2**53 + 3]}), npartitions=1))
    assert not result.exact
    assert result.lower <= 5.0625 <= result.upper


@pytest.mark.turns(4)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("rtol", [0.0, 0.01])
@pytest.mark.parametrize(("n", "d"), [(257, 120), slow(9001, 40), slow(40_000, 24)])
@pytest.mark.usefixtures("small_blocks")
def test_random_tables_in_many_blocks(n, d, rtol, dtype, picked):
    X = of_type(random_matrix(np.random.default_rng([n, d]), n, d), dtype)
    reference = solve(X, rtol=rtol)
    for chunks in picked(chunkings(n, d), 1):
        assert_same(solve(da.from_array(X, chunks=chunks), rtol=rtol), reference)
    assert_same(solve(X, rtol=rtol, backend="dask"), reference)


@pytest.mark.turns(3)
@pytest.mark.parametrize("rtol", [0.0, 0.1, 0.001])
@pytest.mark.parametrize(("n", "d"), [(2, 7), (1500, 12), slow(40_000, 9)])
@pytest.mark.usefixtures("no_room")
def test_data_that_the_workers_cannot_hold(n, d, rtol):
    """Exactly by columns read one after the other; to a tolerance by adding the counts of chunks."""
    X = random_matrix(np.random.default_rng([n, d]), n, d)
    assert_same(solve(da.from_array(X, chunks=(max(n // 5, 1), d)), rtol=rtol), solve(X, rtol=rtol))


@pytest.mark.turns(2)
@pytest.mark.parametrize("room", [1.0, 1e-9])
@pytest.mark.parametrize("rtol", [0.0, 0.02])
def test_weights(rtol, room, monkeypatch):
    monkeypatch.setattr("geodim.planning.capacity.AT_REST", room)
    rng = np.random.default_rng(5)
    X = random_matrix(rng, 700, 6)
    weights = rng.integers(0, 4, 700)
    weights[:300] = 0
    X[3, 2] = np.nan  # a point that is not there
    reference = solve(X, weights=weights, rtol=rtol)
    assert_same(solve(da.from_array(X, chunks=(200, 4)), weights=weights, rtol=rtol), reference)
    assert_same(solve(X, weights=weights, rtol=rtol, backend="dask"), reference)


def test_sparse_data_of_this_process():
    X = sp.random(3000, 50, 0.05, format="csr", random_state=1)
    assert_same(solve(X, backend="dask"), solve(X))


@pytest.mark.usefixtures("small_blocks")
def test_the_lowest_column_owns_a_tie():
    """Equal columns in different blocks: also the one that leads the others does not hide a lower one."""
    base = np.random.default_rng(0).normal(size=(20_000, 1))
    for scales in ([0.5, 1.0, 1.0, 0.2] * 6, [1.0] * 24, [0.1] * 20 + [1.0] * 4):
        X = base * np.array(scales)
        result = solve(da.from_array(X, chunks=(7000, 3)))
        assert list(result.shares) == [str(scales.index(1.0))]
        assert_same(result, solve(X))


@OF_PANDAS
def test_files_and_frames(tmp_path):
    """Parquet and zarr on disk, frames with names and mixed types; partitions of unknown length."""
    pd, dd, zarr = (
        pytest.importorskip("pandas"),
        pytest.importorskip("dask.dataframe"),
        pytest.importorskip("zarr"),
    )
    X = random_matrix(np.random.default_rng(3), 5000, 7).astype(np.float32)
    zarr.open_array(tmp_path / "x.zarr", mode="w", shape=X.shape, chunks=(1100, 3), dtype="f4")[:] = X
    assert_same(solve(da.from_zarr(str(tmp_path / "x.zarr"))), solve(X))
    frame = pd.DataFrame(X, columns=[f"feature {j}" for j in range(7)])
    lazy = dd.from_pandas(frame, npartitions=4)
    lazy.to_parquet(tmp_path / "x.parquet")
    reference = solve(frame)
    assert set(reference.shares) <= set(frame.columns)
    for one in (lazy, dd.read_parquet(tmp_path / "x.parquet"), lazy[lazy["feature 0"] < np.inf]):
        assert_same(solve(one), reference)
    frame["feature 1"] = np.arange(5000)
    frame["feature 2"] = frame["feature 2"] > 0
    assert_same(solve(dd.from_pandas(frame, npartitions=3)), solve(frame))
    frame["feature 3"] = "text"
    with pytest.raises(InputTypeError, match=r"1 of 7 columns holds no numbers: 'feature 3' \(String\);"):
        solve(dd.from_pandas(frame, npartitions=3))


@OF_PANDAS
def test_files_that_the_workers_cannot_hold(tmp_path, no_room):
    dd = pytest.importorskip("dask.dataframe")
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(random_matrix(np.random.default_rng(3), 5000, 7), columns=list("abcdefg"))
    dd.from_pandas(frame, npartitions=5).to_parquet(tmp_path / "x.parquet")
    for rtol in (0.0, 0.05):
        assert_same(solve(dd.read_parquet(tmp_path / "x.parquet"), rtol=rtol), solve(frame, rtol=rtol))


def test_arrays_of_unknown_length():
    X = np.random.default_rng(0).normal(size=(900, 3))
    lazy = da.from_array(X, chunks=(100, 3))
    assert_same(solve(lazy[lazy[:, 0] > 0]), solve(X[X[:, 0] > 0]))


def test_long_profiles_are_merged_in_segments(monkeypatch):
    monkeypatch.setattr("geodim.backends.dask.reduction.SEGMENT", 1000)
    monkeypatch.setattr("geodim.planning.capacity.LEAST_BYTES", 1)
    X = np.random.default_rng(0).normal(size=(4500, 40))
    assert_same(solve(da.from_array(X, chunks=(1000, 40))), solve(X))


@pytest.mark.turns(2)
@pytest.mark.parametrize("at_rest", [1e-9, 1.0])
def test_workers_too_small_for_a_column(at_rest, monkeypatch):
    """Bounds to a tolerance by counts, as long as there is room for the counters; nothing exact.

    Also where the workers can hold all columns, but not work on one.
    """
    monkeypatch.setattr("geodim.planning.capacity.AT_REST", at_rest)
    monkeypatch.setattr("geodim.planning.capacity.AT_WORK", 1.0)
    monkeypatch.setattr("geodim.planning.capacity.Worker.usable", 4_000_000)
    X = np.random.default_rng(0).normal(size=(100_000, 3))
    lazy, exact = da.from_array(X, chunks=(9000, 3)), solve(X)
    result = solve(lazy, rtol=1e-3)
    assert_encloses(result, exact)
    assert result.error <= 1e-3
    with pytest.raises(ClusterError, match=r"exact values of a column of 100,000 points need .* or rtol > 0"):
        solve(lazy)
    with pytest.raises(ClusterError, match=r"more cells than the workers can hold .* use an rtol"):
        solve(lazy, rtol=1e-6)


def test_workers_without_a_limit_have_room_for_as_many_tasks_as_threads():
    cluster = object.__new__(Cluster)
    cluster.workers = [Worker(3, math.inf), Worker(2, math.inf)]
    assert cluster.slots(1e12) == 2


@pytest.mark.parametrize("small", [0, 5000, 1 << 24])
def test_small_chunks_are_taken_together(small, monkeypatch):
    monkeypatch.setattr("geodim.backends.dask.source.SMALL_BYTES", small)
    X = np.random.default_rng(0).normal(size=(900, 7))
    lazy = da.from_array(X, chunks=(300, 1))
    source = DaskSource(lazy, Cluster.active())
    assert len(source.parts[0]) == {0: 7, 5000: 2, 1 << 24: 1}[small]
    assert_same(solve(lazy), solve(X))


def test_values_that_are_not_finite_are_named():
    X = np.zeros((1000, 6))
    X[700, 1], X[650, 5], X[650, 2] = np.inf, np.nan, np.nan
    for chunks in chunkings(*X.shape):
        with pytest.raises(NonFiniteError, match="row 650, column 2 is nan"):
            solve(da.from_array(X, chunks=chunks))
    with pytest.raises(NonFiniteError, match=r"row 650, column 2 \('c'\)"):
        solve(da.from_array(X), feature_names=list("abcdef"))


def test_bad_arguments_are_refused_as_elsewhere():
    X = da.zeros((10, 2))
    with pytest.raises(InputTypeError, match="complex"):
        solve(X.astype(complex))
    with pytest.raises(InputValueError, match="2 axes"):
        solve(X[:, 0])
    with pytest.raises(InputValueError, match="no points"):
        solve(da.zeros((0, 2)))
    with pytest.raises(InputValueError, match="3 feature names"):
        solve(X, feature_names=["a", "b", "c"])
    with pytest.raises(InputValueError, match="weights must have one entry per point"):
        solve(X, weights=[1, 2])


@pytest.mark.parametrize("how", ["time limit", "interrupted"])
@pytest.mark.usefixtures("small_blocks")
def test_stopped_early_with_valid_bounds(how):
    """By the clock before anything was solved, by Ctrl-C after something was."""

    def progress(done, total):
        if how == "interrupted" and 0 < done < total:
            raise KeyboardInterrupt

    X = np.random.default_rng(0).normal(size=(20_000, 16))
    with pytest.warns(InterruptedWarning, match=how):
        result = solve(
            da.from_array(X, chunks=(5000, 16)),
            time_limit=0.0 if how == "time limit" else None,
            progress=progress,
        )
    assert result.stopped == how
    exact = solve(X)
    assert_encloses(result, exact)
    if how == "interrupted":  # what the leaders reached is not lost with the others of their blocks
        assert result.discriminability_lower > 0.9 * exact.discriminability


def test_progress_is_told_here():
    told = []
    solve(da.zeros((100, 5)), progress=lambda done, total: told.append((done, total)))
    assert told[0] == (0, 5)
    assert told[-1] == (5, 5)


def test_equal_rows_are_not_counted_by_bringing_them_here():
    X = da.from_array(np.random.default_rng(0).integers(0, 3, (500, 4)), chunks=(90, 3))
    with pytest.raises(InputValueError, match=r"equal rows .* X\.compute\(\)"):
        geodim.intrinsic_dimension(X, count_indistinguishable=True)


def test_estimators_leave_the_data_there():
    """scikit-learn would make an array of it."""
    X = np.random.default_rng(3).normal(size=(60, 3))
    far = da.from_array(X, chunks=(25, 2))
    frame = pytest.importorskip("dask.dataframe").from_dask_array(da.from_array(X, (25, 3)), list("abc"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(da.Array, "__array__", lambda *_, **__: pytest.fail("brought here"))
        expected = geodim.IntrinsicDimension().fit(X)
        assert geodim.IntrinsicDimension().fit(far).dimension_ == expected.dimension_
        assert geodim.IntrinsicDimension().fit(frame).dimension_ == expected.dimension_
        ring = [(i, (i + 1) % 60) for i in range(60)]
        hops = geodim.KHopIntrinsicDimension(ring, hops=1)
        assert hops.fit(far).dimensions_.tolist() == hops.fit(X).dimensions_.tolist()


@pytest.mark.turns(2)
@pytest.mark.parametrize("operator", OPERATORS)
def test_hops(operator, picked):
    reference = geodim.khop_dimensions(X64, EDGES, 3, operator=operator)
    ways = (da.from_array(X64, chunks=(100, D)), da.from_array(X64, chunks=(N, 5)), X64, sp.csr_array(X64))
    for X in picked(ways, 2):
        assert_same_hops(geodim.khop_dimensions(X, EDGES, 3, operator=operator, backend="dask"), reference)


@pytest.mark.parametrize("options", [{"rtol": 0.05}, {"count_indistinguishable": True}, {"memory": 10**6}])
def test_hops_with_options(options, picked):
    X = X64.astype(np.float32)
    X[::7] = X[3]
    reference = geodim.khop_dimensions(X, EDGES, 2, **options)
    for chunks in picked(chunkings(N, D), 1):
        assert_same_hops(
            geodim.khop_dimensions(da.from_array(X, chunks=chunks), EDGES, 2, **options), reference
        )


@pytest.mark.usefixtures("no_room")
def test_hops_of_attributes_that_the_workers_cannot_hold():
    X = da.from_array(X64[:, :9], chunks=(100, 4))
    assert_same_hops(geodim.khop_dimensions(X, EDGES, 2), geodim.khop_dimensions(X64[:, :9], EDGES, 2))


def test_hops_continue_from_a_checkpoint(tmp_path, monkeypatch):
    monkeypatch.setattr("geodim.backends.dask.hops.TAKE_HOME", 0.0)
    X = da.from_array(X64, chunks=(100, D))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", InterruptedWarning)
        geodim.khop_dimensions(X, EDGES, 3, checkpoint=tmp_path, time_limit=0.0)
    reference = geodim.khop_dimensions(X64, EDGES, 3)
    assert_same_hops(geodim.khop_dimensions(X, EDGES, 3, checkpoint=tmp_path), reference)
    assert_same_hops(geodim.khop_dimensions(X, EDGES, 3, checkpoint=tmp_path), reference)


def test_without_workers_there_is_an_error(monkeypatch):
    monkeypatch.setattr("geodim.backends.dask.cluster.WORKERS_WITHIN", 0.2)
    with (
        distributed.LocalCluster(n_workers=0, processes=False, dashboard_address=":0") as empty,
        distributed.Client(empty),
        pytest.raises(ClusterError, match="no workers"),
    ):
        solve(da.zeros((10, 2)))


def test_certificates():
    """The data comes from the cluster a few columns at a time."""
    X = random_matrix(np.random.default_rng(12), 300, 9)
    data = da.from_array(X, chunks=(100, 4))
    result = geodim.intrinsic_dimension(data)
    certificate = result.certificate()
    assert certificate.to_dict() == geodim.intrinsic_dimension(X).certificate().to_dict()
    ((low, high),) = certificate.verify(data)
    assert low <= result.dimension <= high <= 1.001 * low
    hopped = geodim.khop_dimensions(data[:, :3], EDGES, 2)
    for dimension, (low, high) in zip(
        hopped.dimensions, hopped.certificate(data[:, :3], EDGES).verify(X[:, :3], EDGES), strict=True
    ):
        assert low <= dimension <= high
