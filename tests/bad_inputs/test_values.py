"""Values that cannot be measured: the error names the first one in row order, and the column by its name."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.sparse as sp

import geodim
from geodim.data import sources
from geodim.errors import GeodimError, NonFiniteError, RangeOverflowError

BAD = {"NaN": math.nan, "+infinity": math.inf, "-infinity": -math.inf}


def spoiled(value, n=30, d=5, dtype=np.float64):
    """Three bad values; the first in row order is at row 11, column 3, though column 0 has one, too."""
    X = np.random.default_rng(0).normal(size=(n, d)).astype(dtype)
    X[20, 0] = X[11, 3] = X[11, 4] = value
    return X


def containers(X):
    """What may hold such values."""
    n, d = X.shape
    wide = np.zeros((n, 2 * d), X.dtype)
    wide[:, ::2] = X
    return {
        "C order": X,
        "Fortran order": np.asfortranarray(X),
        "strided": wide[:, ::2],
        "reversed": np.ascontiguousarray(X[::-1])[::-1],
        "big-endian": X.astype(X.dtype.newbyteorder(">")),
        "list": X.tolist(),
        "csr": sp.csr_array(X),
        "csc": sp.csc_matrix(X),
        "coo": sp.coo_array(X),
    }


@pytest.mark.parametrize("kind", containers(np.zeros((2, 2))))
@pytest.mark.parametrize("bad", BAD)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_not_finite_in_arrays(kind, bad, dtype):
    data = containers(spoiled(BAD[bad], dtype=dtype))[kind]
    word = "NaN" if bad == "NaN" else "infinity"
    with pytest.raises(NonFiniteError, match=rf"row 11, column 3\b.*{word}") as caught:
        geodim.intrinsic_dimension(data)
    assert isinstance(caught.value, ValueError)
    assert isinstance(caught.value, GeodimError)


def test_half_precision():
    with pytest.raises(NonFiniteError, match="row 11, column 3"):
        geodim.intrinsic_dimension(spoiled(math.inf, dtype=np.float16))


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("bad", BAD)
def test_not_finite_in_memory_maps(tmp_path, bad, order):
    np.save(tmp_path / "x.npy", np.asarray(spoiled(BAD[bad]), order=order))
    with pytest.raises(NonFiniteError, match="row 11, column 3"):
        geodim.intrinsic_dimension(np.load(tmp_path / "x.npy", mmap_mode="r"))


@pytest.mark.parametrize("n_threads", [1, 2])
@pytest.mark.parametrize("chunk", [1, 1 << 13, 1 << 30])
@pytest.mark.parametrize("order", ["C", "F"])
def test_the_first_of_many_chunks_and_threads(monkeypatch, chunk, order, n_threads):
    monkeypatch.setattr(sources, "CHUNK_BYTES", chunk)
    X = np.zeros((60_000, 4), order=order)
    X[[59_999, 41_003, 41_003, 50_000], [0, 2, 1, 3]] = math.nan
    with pytest.raises(NonFiniteError, match="row 41003, column 1 "):
        geodim.intrinsic_dimension(X, n_threads=n_threads)


@pytest.mark.parametrize("at", [(0, 0), (29, 4), (0, 4), (29, 0)])
@pytest.mark.parametrize("kind", ["C order", "Fortran order", "csr"])
def test_corners(kind, at):
    X = np.zeros((30, 5))
    X[at] = math.inf
    with pytest.raises(NonFiniteError, match=f"row {at[0]}, column {at[1]} is inf"):
        geodim.intrinsic_dimension(containers(X)[kind])


def test_sparse_duplicates_that_add_up_to_infinity_or_nan():
    for values in ([1.5e308, 1.5e308], [math.inf, -math.inf]):
        stored = sp.coo_array((values, ([2, 2], [1, 1])), shape=(4, 3))
        with pytest.raises(NonFiniteError, match="row 2, column 1"):
            geodim.intrinsic_dimension(stored)


@pytest.mark.parametrize("module", ["pandas", "polars", "pyarrow"])
@pytest.mark.parametrize("bad", BAD)
def test_not_finite_in_frames(module, bad):
    library = pytest.importorskip(module)
    X = spoiled(BAD[bad])
    columns = {name: X[:, at] for at, name in enumerate(["age", "height", "weight", "income", "debt"])}
    frame = library.table(columns) if module == "pyarrow" else library.DataFrame(columns)
    with pytest.raises(NonFiniteError, match=r"row 11, column.*'income'"):
        geodim.intrinsic_dimension(frame)


@pytest.mark.parametrize("other", [3, 2**62, True])
@pytest.mark.parametrize("module", ["pandas", "polars", "pyarrow"])
def test_missing_in_frames(module, other):
    """Not a number that is wrong, but none at all; beside one that float64 does not hold, too."""
    library = pytest.importorskip(module)
    columns = {"a": [1.0, 2.0, 3.0, 4.0], "b": [type(other)(1), None, other, None]}
    if module == "pandas":
        kind = "boolean" if other is True else "Int64"
        frame = library.DataFrame({"a": columns["a"], "b": library.array(columns["b"], dtype=kind)})
    else:
        frame = library.table(columns) if module == "pyarrow" else library.DataFrame(columns)
    with pytest.raises(NonFiniteError, match=r"row 1, column .*'b'"):
        geodim.intrinsic_dimension(frame)


def test_a_bad_value_of_weight_zero_does_not_count():
    X = spoiled(math.nan)
    weights = np.ones(len(X), int)
    weights[[11, 20]] = 0
    kept = geodim.intrinsic_dimension(X, weights=weights)
    assert kept.dimension == geodim.intrinsic_dimension(X[weights > 0]).dimension


def test_a_bad_value_in_weighted_data_is_named_by_its_own_row():
    X = spoiled(math.nan)
    weights = np.full(len(X), 3)
    weights[:4] = 0
    with pytest.raises(NonFiniteError, match="row 11, column 3"):
        geodim.intrinsic_dimension(X, weights=weights)


# ---------------------------------------------------------------- ranges


@pytest.mark.parametrize("kind", ["C order", "Fortran order", "csr", "list"])
def test_range_overflow(kind):
    X = np.zeros((6, 3))
    X[1, 2], X[4, 2] = -1.2e308, 1.2e308
    with pytest.raises(RangeOverflowError, match=r"column 2.*overflow") as caught:
        geodim.intrinsic_dimension(containers(X)[kind])
    assert isinstance(caught.value, ValueError)


def test_range_overflow_names_the_column():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"fine": [1.0, 2.0], "far": [-1.7e308, 1.7e308]})
    with pytest.raises(RangeOverflowError, match="'far'"):
        geodim.intrinsic_dimension(frame)


def test_the_largest_range_that_fits():
    largest = np.finfo(np.float64).max
    result = geodim.intrinsic_dimension(np.array([[-largest / 2], [largest / 2]]))
    assert result.d_max == largest
    assert result.discriminability == 0.5
    assert result.dimension == 4.0
    assert (
        geodim.intrinsic_dimension(np.array([[0.0], [largest]]), normalize=False).discriminability
        == largest / 2
    )


def test_float32_ranges_beyond_float32_are_fine():
    """Differences are taken in float64: 6e38 overflows a float32, not ours."""
    X = np.array([[-3e38], [3e38]], np.float32)
    assert geodim.intrinsic_dimension(X).d_max == float(X[1, 0]) - float(X[0, 0])


# ---------------------------------------------------------------- degenerate, but fine


@pytest.mark.parametrize(
    "X",
    [
        np.zeros((5, 2)),
        np.full((7, 1), -3.25),
        np.array([[1.0, 2.0, 3.0]]),
        np.array([[5]]),
        np.ones((100, 3), bool),
        np.array([[0.0], [-0.0]]),
        sp.csr_array((50, 4)),
        np.tile(np.arange(3.0), (2000, 1)),
    ],
    ids=["zeros", "constant", "one point", "one number", "flags", "signed zeros", "sparse", "equal rows"],
)
@pytest.mark.parametrize("normalize", [True, False])
@pytest.mark.parametrize("rtol", [0.0, 0.1])
def test_nothing_is_told_apart(X, normalize, rtol):
    """Delta = 0 and ID = infinity, said aloud."""
    with pytest.warns(geodim.errors.DegenerateDataWarning, match="no feature tells any two points apart"):
        result = geodim.intrinsic_dimension(X, normalize=normalize, rtol=rtol)
    assert result.discriminability == result.discriminability_lower == result.discriminability_upper == 0.0
    assert result.dimension == result.lower == result.upper == math.inf
    assert result.error == 0.0
    assert result.shares == {}
    assert result.d_max == 0.0
    assert result.phi.size == X.shape[0] - 1
    assert not result.phi.any()


def test_two_points():
    result = geodim.intrinsic_dimension([[0.0, 1.0], [0.0, 4.0]])
    assert result.phi.tolist() == [3.0]
    assert result.discriminability == 0.5
    assert result.dimension == 4.0


def test_a_tiny_spread_is_not_degenerate():
    """No epsilon decides: the smallest number above 0 is above 0."""
    result = geodim.intrinsic_dimension([[0.0], [5e-324], [0.0]])
    assert result.d_max == 5e-324
    assert result.discriminability == pytest.approx(1 / 3)
    assert result.dimension == pytest.approx(9.0)


def test_a_spread_too_small_for_its_dimension_is_infinite():
    """Not normalised, 1 / Delta^2 overflows: infinity, without a word about degenerate data."""
    result = geodim.intrinsic_dimension([[0.0], [1e-200], [0.0]], normalize=False)
    assert result.discriminability == pytest.approx(1e-200 / 3)
    assert result.dimension == math.inf
