"""Blocks as they really are: stored in any type, or not as Dask was told.

They never hold more than their buffers.
"""

from __future__ import annotations

import functools

import numpy as np
import pytest
import scipy.sparse as sp

import geodim
from backends.dask_cases import assert_same, assert_same_hops
from costs import slow
from engine.oracle import assert_same_bits, solve
from geodim import paper
from geodim.errors import DataChangedError, InputTypeError, InputValueError, ShapeError

da = pytest.importorskip("dask.array")

# Of every size and every sense of a sign; the others are slow.
KINDS = [np.bool_, np.int8, np.uint16, np.int64, np.uint64, np.float32]
KINDS += [slow(kind) for kind in (np.uint8, np.int16, np.int32, np.uint32, np.float64)]
RNG = np.random.default_rng(0)
SMALL = np.where(RNG.random((300, 12)) < 0.3, RNG.integers(1, 100, (300, 12)), 0)


pytestmark = pytest.mark.usefixtures("client")


@pytest.fixture(autouse=True)
def many_small_blocks(monkeypatch):
    """Several blocks and chunks also of little data."""
    monkeypatch.setattr("geodim.backends.dask.source.SMALL_BYTES", 0)
    monkeypatch.setattr("geodim.planning.capacity.LEAST_BYTES", 1)


@pytest.fixture
def no_room(monkeypatch):
    """Workers that cannot keep a single column: everything is read pass by pass."""
    monkeypatch.setattr("geodim.planning.capacity.AT_REST", 1e-9)


@pytest.mark.turns(3)
@pytest.mark.parametrize("kind", KINDS)
def test_sparse_matrices_of_every_type(kind):
    """The oracle is the paper's definition.

    A buffer that is too short gave infinity, or killed the worker.
    """
    dense = SMALL.astype(kind)
    expected = paper.phi_all(dense.astype(np.float64))
    for matrix in (sp.csc_array(dense), sp.csr_matrix(dense)):
        result = solve(matrix, backend="dask", normalize=False)
        assert_same_bits(result.phi_lower, expected)
        assert result.exact
    weights = RNG.integers(0, 4, 300)
    assert_same(solve(sp.csc_array(dense), backend="dask", weights=weights), solve(dense, weights=weights))
    assert_same(solve(sp.csc_array(dense), backend="dask", rtol=0.05), solve(sp.csc_array(dense), rtol=0.05))


@pytest.mark.turns(3)
@pytest.mark.parametrize("kind", KINDS)
def test_dask_arrays_of_sparse_blocks_and_of_every_type(kind):
    dense = SMALL.astype(kind)
    chunked = da.from_array(dense, chunks=(100, 5))
    assert_same(solve(chunked), solve(dense))
    assert_same(solve(chunked.map_blocks(sp.csr_matrix, dtype=kind)), solve(dense))
    weights = np.arange(300) % 3
    assert_same(solve(chunked, weights=weights), solve(dense, weights=weights))


@pytest.mark.turns(2)
@pytest.mark.parametrize("kind", [np.bool_, np.int8, np.uint16, np.int64])
def test_hops_of_every_type(kind):
    edges = np.stack([np.arange(299), np.arange(1, 300)])
    dense = SMALL.astype(kind)
    here = geodim.khop_dimensions(dense, edges, 2)
    for data in (sp.csr_matrix(dense), da.from_array(dense, chunks=(100, 5))):
        assert_same_hops(geodim.khop_dimensions(data, edges, 2, backend="dask"), here)


@pytest.mark.filterwarnings("ignore:The inplace keyword", "ignore:An error occurred while calling")
def test_frames_of_small_and_of_nullable_types():
    pandas = pytest.importorskip("pandas")
    dd = pytest.importorskip("dask.dataframe")
    kinds = ["bool", "int8", "uint16", "Int8", "boolean", "Float32", "UInt8"]
    frame = pandas.DataFrame(SMALL[:, :7] > 0, columns=kinds).astype({kind: kind for kind in kinds})
    chunked = dd.from_pandas(frame, npartitions=3)
    assert_same(solve(chunked), solve(frame))
    weights = np.arange(300) % 3
    assert_same(solve(chunked, weights=weights), solve(frame, weights=weights))
    some_empty = chunked[chunked["int8"] > 0]  # lengths are not known
    assert_same(solve(some_empty), solve(frame[frame["int8"] > 0]))


FLOATS = RNG.standard_normal((300, 12))


def rows_less(block):
    return block[:-1]


def columns_less(block):
    return block[:, :-1]


def flat(block):
    return block.ravel()


@pytest.mark.parametrize("wrong", [rows_less, columns_less, flat])
@pytest.mark.parametrize("data", [FLOATS, slow(FLOATS.astype(np.float32)), slow(SMALL.astype(np.int8))])
def test_chunks_of_another_shape_than_declared(wrong, data):
    chunked = da.from_array(data, chunks=(100, 5))
    lying = da.map_blocks(wrong, chunked, dtype=data.dtype, chunks=chunked.chunks)
    for options in ({}, {"rtol": 0.05}, {"weights": np.ones(300, int)}):
        with pytest.raises(ShapeError, match=r"chunk \(\d, \d\) of the Dask array has the shape .* declared"):
            solve(lying, **options)


@pytest.mark.usefixtures("no_room")
@pytest.mark.parametrize("wrong", [rows_less, columns_less])
def test_the_same_where_rows_stay_where_they_lie(wrong):
    chunked = da.from_array(FLOATS, chunks=(100, 5))
    lying = da.map_blocks(wrong, chunked, dtype=float, chunks=chunked.chunks)
    with pytest.raises(ShapeError, match="declared"):
        solve(lying, rtol=0.05)


def as_kind(block, kind):
    return block.astype(kind)


@pytest.mark.parametrize(
    ("declared", "real"),
    [(np.float32, np.float64), (np.int8, np.float64), (np.int16, np.int32), (np.float32, complex),
     (float, object)],
)  # fmt: skip
def test_chunks_of_a_type_that_does_not_fit_the_declared_one(declared, real):
    """Values would be rounded to the declared one."""
    lying = da.from_array(FLOATS, chunks=(100, 5)).map_blocks(
        functools.partial(as_kind, kind=real), dtype=declared
    )
    with pytest.raises(InputTypeError, match=r"chunk \(\d, \d\)"):
        solve(lying)


@pytest.mark.parametrize("real", [np.int8, slow(np.float32), np.float16, slow(np.bool_)])
def test_chunks_of_a_smaller_type_are_what_they_are(real):
    """Also where only some chunks are."""
    values = SMALL.astype(real)
    lying = da.from_array(SMALL.astype(np.float64), chunks=(100, 5)).map_blocks(
        functools.partial(as_kind, kind=real), dtype=np.float64
    )
    whole = da.concatenate([lying[:100], da.from_array(values[100:].astype(np.float64), chunks=(100, 5))])
    assert_same(solve(lying), solve(values.astype(np.float64)))
    assert_same(solve(whole), solve(values.astype(np.float64)))


@pytest.mark.filterwarnings("ignore:The inplace keyword", "ignore:An error occurred while calling")
def test_partitions_of_another_type_than_declared():
    pandas = pytest.importorskip("pandas")
    dd = pytest.importorskip("dask.dataframe")
    small = pandas.DataFrame(SMALL[:, :3].astype(np.float32), columns=list("abc"))
    frame = dd.from_pandas(small, npartitions=2)
    lying = frame.map_partitions(lambda part: part.astype(float) / 3.0, meta=small.iloc[:0])
    with pytest.raises(InputTypeError, match=r"partition \d of the Dask frame"):
        solve(lying)


def read_part(path, start, stop):
    return np.load(path)[start:stop]


@pytest.mark.usefixtures("no_room")
@pytest.mark.parametrize("rtol", [0.05, 0.3])
def test_files_that_workers_read_pass_by_pass_and_that_change(tmp_path, rtol):
    """Where nobody here knows of a file, values outside of the range of the first pass tell."""
    from dask import delayed

    path = tmp_path / "points.npy"
    np.save(path, FLOATS)
    parts = [
        da.from_delayed(delayed(read_part, pure=False)(str(path), at, at + 100), (100, 12), float)
        for at in (0, 100, 200)
    ]
    changed = []

    def change(*_):
        if not changed:
            np.save(tmp_path / "other.npy", 3.0 * FLOATS)
            (tmp_path / "other.npy").replace(path)
            changed.append(True)

    with pytest.raises(DataChangedError):
        solve(da.concatenate(parts), rtol=rtol, progress=change)
    assert changed


@pytest.mark.turns(2)
@pytest.mark.usefixtures("no_room")
@pytest.mark.parametrize("absent", [1e9, slow(-1e9), np.nan])
@pytest.mark.parametrize("rtol", [0.05, 0.3])
def test_points_of_weight_0_may_be_anywhere(absent, rtol):
    """The first pass does not look at them, so they lie in no step and in no cell."""
    weights = RNG.integers(0, 4, 300)
    data = np.where((weights == 0)[:, None], absent, FLOATS)
    result = solve(da.from_array(data, chunks=(100, 5)), rtol=rtol, weights=weights)
    exact = solve(np.repeat(FLOATS, weights, axis=0))
    assert result.lower <= exact.dimension <= result.upper


def test_sparse_chunks_with_indices_out_of_range_are_refused():
    """Compiled code on the worker would read wherever they say."""

    def damaged(block):
        matrix = sp.csr_matrix(block)
        matrix.indices[0] = 10**6
        return matrix

    chunks = da.from_array(SMALL.astype(float), chunks=(100, 12))
    given = chunks.map_blocks(damaged, dtype=float, meta=np.empty((0, 0)))
    with pytest.raises(InputValueError, match=r"indices\[0\] is 1000000"):
        geodim.intrinsic_dimension(given)
