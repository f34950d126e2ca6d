"""Whatever holds the numbers, the same bits come out.

Arrays of any layout, memory maps, sparse matrices, frames, lists and tensors are tried.  The expected phi is
always the paper's, of the dense float64 array with the same values.
"""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import scipy.sparse as sp

import geodim
from distributions import matrix
from engine.oracle import assert_phi_is_exact, assert_same_bits, solve
from geodim import paper
from geodim.data import sources
from geodim.data.sources import as_source
from geodim.engine.ways import FEW_VALUES

KINDS = ["normal", "sparse_both_signs", "hundred_integers", "grid_jitter_third", "constant", "exponential"]


@pytest.fixture(scope="module", params=[45, 1300], ids=lambda n: f"n={n}")
def table(request):
    """A float64 table with integers, gaps and a constant, and its phi."""
    X = matrix(KINDS, request.param)
    X.setflags(write=False)
    return X, paper.phi_all(X)


def read_all(source):
    """All columns of a source, through the call the engine uses."""
    return read_columns(source, list(range(source.n_features)))


def read_columns(source, columns):
    out = np.empty((len(columns), source.n_points), source.dtype)
    source.read(columns, out)
    return out


# ---------------------------------------------------------------- arrays


def layouts(X):
    """The same values, stored in different ways."""
    n, d = X.shape
    wide = np.full((n, 3 * d + 1), np.nan)
    wide[:, 1::3] = X
    tall = np.full((2 * n, d), np.nan)
    tall[1::2] = X
    cube = np.zeros((n, d, 2))
    cube[:, :, 1] = X
    unaligned = np.frombuffer(b"\0" + X.tobytes(), np.uint8)[1:].view(np.float64).reshape(n, d)
    return {
        "C order": np.ascontiguousarray(X),
        "Fortran order": np.asfortranarray(X),
        "every third column": wide[:, 1::3],
        "every second row": tall[1::2],
        "both strides": np.asfortranarray(wide)[:, 1::3],
        "reversed rows": np.ascontiguousarray(X[::-1])[::-1],
        "reversed columns": np.ascontiguousarray(X[:, ::-1])[:, ::-1],
        "reversed both": np.asfortranarray(X[::-1, ::-1])[::-1, ::-1],
        "inside a cube": cube[:, :, 1],
        "transpose of a copy": X.T.copy().T,
        "not aligned": unaligned,
        "big-endian": X.astype(">f8"),
    }


@pytest.mark.parametrize("name", layouts(np.zeros((2, 2))))
@pytest.mark.parametrize("n_threads", [1, 2])
def test_every_memory_layout(table, name, n_threads):
    X, reference = table
    stored = layouts(X)[name]
    stored.setflags(write=False)
    assert_phi_is_exact(stored, reference, name, n_threads=n_threads)


def test_rows_given_many_times_without_copies(table):
    """A broadcast array has a stride of 0."""
    X, _ = table
    same = np.broadcast_to(X[:1], X.shape)
    assert_phi_is_exact(same, np.zeros(len(X) - 1))
    columns = np.broadcast_to(X[:, :1], X.shape)
    assert_phi_is_exact(columns, paper.phi_all(X[:, :1]))


def test_input_is_left_alone(table):
    X, _ = table
    mine = X.copy()
    solve(mine)
    solve(mine, rtol=0.1)
    np.testing.assert_array_equal(mine, X)


def test_results_do_not_change_when_the_input_does_afterwards(table):
    X, reference = table
    mine = np.asfortranarray(X)
    result = solve(mine)
    mine[:] = 0.0
    assert_same_bits(np.asarray(result.phi_lower), reference)


@pytest.mark.turns(4)
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("mode", ["r", "r+", "c"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int16])
def test_memory_maps(tmp_path, order, mode, dtype):
    X = matrix(["normal", "hundred_integers", "uniform"], 1500) * 100
    X = np.asarray(X, dtype, order=order)
    np.save(tmp_path / "x.npy", X)
    mapped = np.load(tmp_path / "x.npy", mmap_mode=mode)
    assert isinstance(mapped, np.memmap)
    reference = paper.phi_all(X)
    assert_phi_is_exact(mapped, reference, n_threads=2)
    assert_phi_is_exact(mapped[::-1], reference)
    assert_phi_is_exact(mapped[1::2, 1:], paper.phi_all(X[1::2, 1:]))
    np.testing.assert_array_equal(mapped, X)


def test_memory_map_read_in_many_chunks(tmp_path, monkeypatch):
    """Pages are let go every 64 chunks, and must come back."""
    monkeypatch.setattr(sources, "CHUNK_BYTES", 1)
    X = np.random.default_rng(0).normal(size=(70_000, 2)).astype(np.float32)
    np.save(tmp_path / "x.npy", X)
    mapped = np.load(tmp_path / "x.npy", mmap_mode="r")
    np.testing.assert_array_equal(read_all(as_source(mapped)), X.T)
    assert_same_bits(solve(mapped).phi_lower, solve(X).phi_lower)


def test_changed_pages_of_a_private_map_are_not_lost(tmp_path):
    """Mode 'c' keeps changes in memory only: letting its pages go would undo them."""
    np.save(tmp_path / "x.npy", np.zeros((3000, 2)))
    mapped = np.load(tmp_path / "x.npy", mmap_mode="c")
    mapped[:] = np.random.default_rng(0).normal(size=mapped.shape)
    kept = np.array(mapped)
    assert_phi_is_exact(mapped, paper.phi_all(kept))
    np.testing.assert_array_equal(mapped, kept)


def test_changed_pages_of_a_writable_map_are_not_lost(tmp_path):
    np.save(tmp_path / "x.npy", np.zeros((3000, 2)))
    mapped = np.load(tmp_path / "x.npy", mmap_mode="r+")
    mapped[:] = np.random.default_rng(0).normal(size=mapped.shape)
    kept = np.array(mapped)
    assert_phi_is_exact(mapped, paper.phi_all(kept))
    np.testing.assert_array_equal(mapped, kept)


@pytest.mark.parametrize(
    "data", [[[1, 2.5], [3, 4], [-1, 0]], ((1, 2.5), (3, 4), (-1, 0)), [(True, 0.5), [0, 1]]]
)
def test_lists_and_tuples(data):
    assert_phi_is_exact(data, paper.phi_all(data))


def test_array_subclasses_and_protocols(table):
    X, reference = table

    class Wrapped:
        def __array__(self, dtype=None, copy=None):
            return np.array(X, dtype)

    assert_phi_is_exact(Wrapped(), reference)
    assert_phi_is_exact(np.ma.masked_array(X, np.zeros(X.shape, bool)), reference)
    assert_phi_is_exact(np.ma.masked_array(X), reference)
    assert_phi_is_exact(memoryview(np.ascontiguousarray(X)), reference)


# ---------------------------------------------------------------- sparse

FORMATS = ["csr", "csc", "coo", "lil", "dok", "dia", "bsr"]


@pytest.mark.parametrize("fmt", FORMATS)
@pytest.mark.parametrize("make", [sp.coo_matrix, sp.coo_array], ids=["matrix", "array"])
def test_sparse_formats(table, fmt, make):
    X, reference = table
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sp.SparseEfficiencyWarning)  # many diagonals
        stored = make(X).asformat(fmt)
    assert sp.issparse(stored)
    assert_phi_is_exact(stored, reference, fmt, n_threads=2)


@pytest.mark.turns(4)
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64, np.int8, np.bool_])
@pytest.mark.parametrize("density", [0.0, 0.002, 0.1, 0.6, 1.0])
def test_sparse_densities_and_types(density, dtype):
    rng = np.random.default_rng(3)
    X = np.where(rng.random((800, 12)) < density, rng.normal(0, 30, (800, 12)), 0.0).astype(dtype)
    reference = paper.phi_all(X)
    assert_phi_is_exact(sp.csr_array(X), reference, n_threads=1)
    assert_phi_is_exact(sp.csc_matrix(X), reference, n_threads=2)


@pytest.mark.parametrize("make", [sp.coo_matrix, sp.coo_array], ids=["matrix", "array"])
def test_duplicate_entries_add_up(make):
    """That is what they mean in scipy; two may cancel, and leave an explicit zero."""
    rng = np.random.default_rng(0)
    rows, columns = rng.integers(0, 60, 900), rng.integers(0, 5, 900)
    values = rng.integers(-3, 4, 900).astype(float)
    stored = make((values, (rows, columns)), shape=(60, 5))
    dense = np.zeros((60, 5))
    np.add.at(dense, (rows, columns), values)
    assert_phi_is_exact(stored, paper.phi_all(dense))
    assert stored.nnz == 900  # the caller's matrix is not changed


def test_unsorted_csc_with_duplicates_is_left_alone():
    data = np.array([1.0, 2.0, 4.0, 8.0, -1.0])
    indices, indptr = np.array([3, 0, 3, 1, 1]), np.array([0, 3, 5])
    stored = sp.csc_array((data, indices, indptr), shape=(5, 2))
    assert_phi_is_exact(stored, paper.phi_all([[2, 0], [0, 7], [0, 0], [5, 0], [0, 0]]))
    assert stored.indices.tolist() == [3, 0, 3, 1, 1]
    assert stored.data.tolist() == [1.0, 2.0, 4.0, 8.0, -1.0]


def test_explicit_zeros_count_as_zeros():
    X = np.array([[0.0, 1.0], [2.0, 0.0], [0.0, -3.0], [5.0, 0.0]])
    everything = sp.csr_array((X.ravel(), np.tile([0, 1], 4), np.arange(0, 9, 2)), shape=(4, 2))
    assert everything.nnz == 8
    negative = sp.csr_array(
        (np.where(X == 0, -0.0, X).ravel(), np.tile([0, 1], 4), np.arange(0, 9, 2)), shape=(4, 2)
    )
    for stored in (everything, negative, sp.csr_array(X), everything.tocoo(), everything.tocsc()):
        assert_phi_is_exact(stored, paper.phi_all(X))


@pytest.mark.parametrize("sign", [1, -1])
def test_sparse_values_of_one_sign(sign):
    rng = np.random.default_rng(8)
    X = sign * np.where(rng.random((500, 6)) < 0.3, rng.exponential(size=(500, 6)), 0.0)
    assert_phi_is_exact(sp.csr_array(X), paper.phi_all(X))


def test_sparse_column_without_zeros_and_column_of_zeros():
    X = np.zeros((40, 3))
    X[:, 0] = np.arange(40) + 1.0
    X[7, 2] = -2.0
    assert_phi_is_exact(sp.csc_array(X), paper.phi_all(X))


def test_sparse_is_never_densified(monkeypatch):
    """300,000 x 200,000 would be 480 GB."""
    stored = sp.csr_array((np.ones(3), ([0, 1, 2], [5, 7, 5])), shape=(300_000, 200_000))[:, :2000]
    result = solve(stored)
    assert result.dimension == pytest.approx((300_000 / 2) ** 2, rel=1e-12)


# ---------------------------------------------------------------- frames

NAMES = ["a", "b", "c", "d", "e", "f"]


def frames(X):
    """The same table as pandas, polars and pyarrow hold it."""
    pd, pl, pa = (pytest.importorskip(module) for module in ("pandas", "polars", "pyarrow"))
    mapping = {name: X[:, at].copy() for at, name in enumerate(NAMES)}
    return {
        "pandas": pd.DataFrame(mapping),
        "pandas, one block": pd.DataFrame(X, columns=NAMES),
        "pandas, odd index": pd.DataFrame(mapping, index=np.arange(len(X))[::-1] * 3),
        "pandas, nullable": pd.DataFrame(mapping).astype("Float64"),
        "pandas, arrow": pd.DataFrame(mapping).astype("float64[pyarrow]"),
        "polars": pl.DataFrame(mapping),
        "polars, lazy": pl.LazyFrame(mapping),
        "polars, chunked": pl.concat(
            [pl.DataFrame(mapping)[: len(X) // 3], pl.DataFrame(mapping)[len(X) // 3 :]], rechunk=False
        ),
        "pyarrow": pa.table(mapping),
        "pyarrow, chunked": pa.concat_tables([pa.table(mapping).slice(0, 7), pa.table(mapping).slice(7)]),
    }


FRAME_KINDS = ["pandas", "pandas, one block", "pandas, odd index", "pandas, nullable", "pandas, arrow",
               "polars", "polars, lazy", "polars, chunked", "pyarrow", "pyarrow, chunked"]  # fmt: skip


@pytest.mark.turns(4)
@pytest.mark.parametrize("kind", FRAME_KINDS)
def test_frames(table, kind):
    X, reference = table
    frame = frames(X)[kind]
    assert_phi_is_exact(frame, reference, kind, n_threads=2)
    assert as_source(frame).names == NAMES
    result = solve(frame)
    assert set(result.shares) <= set(NAMES)
    assert result.shares == {NAMES[int(key)]: share for key, share in solve(X).shares.items()}


def test_frames_of_mixed_types():
    pd, pl, pa = (pytest.importorskip(module) for module in ("pandas", "polars", "pyarrow"))
    rng = np.random.default_rng(4)
    mapping = {
        "byte": rng.integers(-128, 128, 90, dtype=np.int8),
        "long": rng.integers(-(2**52), 2**52, 90),
        "flag": rng.random(90) < 0.5,
        "single": rng.normal(size=90).astype(np.float32),
        "double": rng.normal(size=90),
    }
    X = np.stack([values.astype(np.float64) for values in mapping.values()], axis=1)
    for part in (
        NAMES[:0],
        ["byte", "flag", "single"],
        ["byte"],
        ["flag"],
        ["single", "double"],
        ["long", "flag"],
    ):
        keep = part or list(mapping)
        at = [list(mapping).index(name) for name in keep]
        chosen = {name: mapping[name] for name in keep}
        for frame in (pd.DataFrame(chosen), pl.DataFrame(chosen), pa.table(chosen)):
            assert_phi_is_exact(frame, paper.phi_all(X[:, at]), f"{type(frame)}: {keep}")


def test_series_are_one_feature():
    pd, pl, pa = (pytest.importorskip(module) for module in ("pandas", "polars", "pyarrow"))
    values = np.random.default_rng(0).normal(size=30)
    reference = paper.phi_all(values[:, np.newaxis])
    for series in (
        pd.Series(values, name="f"),
        pl.Series("f", values),
        pa.chunked_array([values[:9], values[9:]]),
    ):
        assert_phi_is_exact(series, reference, str(type(series)))


def test_pandas_names_that_are_no_strings_or_occur_twice():
    pd = pytest.importorskip("pandas")
    X = np.random.default_rng(0).normal(size=(50, 3))
    assert_phi_is_exact(pd.DataFrame(X), paper.phi_all(X))
    assert as_source(pd.DataFrame(X)).names == ["0", "1", "2"]
    pairs = pd.DataFrame(X, columns=pd.MultiIndex.from_tuples([("a", 1), ("a", 2), ("b", 1)]))
    assert_phi_is_exact(pairs, paper.phi_all(X))


# ---------------------------------------------------------------- tensors


def test_torch_tensors(table):
    torch = pytest.importorskip("torch")
    X, reference = table
    tensor = torch.tensor(X)
    assert_phi_is_exact(tensor, reference)
    assert_phi_is_exact(tensor.T.contiguous().T, reference)
    assert_phi_is_exact(tensor.clone().requires_grad_(), reference)
    half = tensor.to(torch.bfloat16)
    assert_phi_is_exact(half, paper.phi_all(half.float().numpy()))
    whole = (tensor * 10).to(torch.int32)
    assert_phi_is_exact(whole, paper.phi_all(whole.numpy()))


# ---------------------------------------------------------------- what a source promises


def sources_of(X):
    pd = pytest.importorskip("pandas")
    return {
        "array": as_source(X),
        "Fortran": as_source(np.asfortranarray(X)),
        "sparse": as_source(sp.csr_array(X)),
        "frame": as_source(pd.DataFrame(X)),
        "weighted": as_source(X, weights=np.ones(len(X), int)),
        "weighted sparse": as_source(sp.csr_array(X), weights=np.ones(len(X), int)),
    }


@pytest.mark.parametrize("kind", ["array", "Fortran", "sparse", "frame", "weighted", "weighted sparse"])
def test_sources_agree_with_the_table(table, kind):
    X, _ = table
    source = sources_of(X)[kind]
    assert (source.n_points, source.n_features) == X.shape
    np.testing.assert_array_equal(read_all(source), X.T)
    for columns in ([1, 2], [5], [0, 3, 4], [4, 1], [0, 2, 1, 3], [0, 5, 1, 3]):
        np.testing.assert_array_equal(read_columns(source, columns), X.T[columns])
    rows, columns = np.array([0, 3, 17]), np.array([0, 2, 5])
    np.testing.assert_array_equal(source.sample(columns, rows), X[np.ix_(rows, columns)])
    for column in range(source.n_features):
        values, counts = source.read_runs(column)
        np.testing.assert_array_equal(np.repeat(values, counts), np.sort(X[:, column]))


def test_float32_is_kept_and_integers_that_fit_are_float32():
    assert as_source(np.zeros((2, 2), np.float32)).dtype == np.float32
    assert as_source(np.zeros((2, 2), np.float16)).dtype == np.float32
    assert as_source(np.zeros((2, 2), np.uint16)).dtype == np.float32
    assert as_source(np.zeros((2, 2), np.int32)).dtype == np.float64
    assert as_source(np.zeros((2, 2), bool)).dtype == np.float32


@pytest.mark.parametrize(("stored", "wanted"), [(np.float32, np.float64), (np.float64, np.float32)])
@pytest.mark.parametrize("n", [100, FEW_VALUES // 16 + 7])
def test_columns_are_read_as_another_type(stored, wanted, n):
    """As hops of another type need them, also where there are so many that compiled code reads."""
    array = np.random.default_rng(n).standard_normal((n, 16)).astype(stored)
    for columns in (range(16), [3, 4, 5, 6, 9]):
        out = np.empty((n, len(columns)), wanted).T
        as_source(array).read(columns, out)
        assert np.array_equal(out, array[:, list(columns)].T.astype(wanted))


def test_hops_of_another_type_than_many_attributes():
    n = FEW_VALUES // 16 + 7
    rng = np.random.default_rng(3)
    X, edges = rng.standard_normal((n, 16)), rng.integers(0, n, (2, 2 * n))
    single = X.astype(np.float32)
    found = geodim.khop_dimensions(single, edges, 1, dtype="float64")
    assert (
        found.dimensions == geodim.khop_dimensions(single.astype(float), edges, 1, dtype="float64").dimensions
    )
    rounded, double = (geodim.khop_dimensions(X, edges, 1, dtype=kind) for kind in ("float32", "float64"))
    assert all(one.lower <= other.dimension <= one.upper for one, other in zip(rounded, double, strict=True))
