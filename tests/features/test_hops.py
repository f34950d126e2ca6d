"""Hops: against dense powers, and bit for bit against themselves under every split."""

from __future__ import annotations

import doctest
import importlib
import math

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy import sparse

from features.naive_hops import dense_adjacency, dense_operator, exact_mean, exact_product, random_edges
from geodim.data.graphs import as_graph
from geodim.data.sources import as_source
from geodim.errors import InputTypeError, InputValueError, NonFiniteError, ShapeError
from geodim.features import hop_features, iter_hop_blocks, make_operator
from geodim.paper import k_hop_features

RNG = np.random.default_rng(7)
N = 40
EDGES = random_edges(RNG, N, 120)
X64 = RNG.normal(size=(N, 21))
X32 = X64.astype(np.float32)
SYM = make_operator(as_graph(EDGES, N))


@pytest.mark.parametrize("name", ["sym", "rw"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_against_dense_powers(name, dtype):
    T = dense_operator(name, dense_adjacency(N, EDGES))
    expected = X64.astype(dtype)
    hops = hop_features(expected, make_operator(as_graph(EDGES, N), name), 4)
    assert len(hops) == 5
    for hop in hops:
        assert hop.dtype == dtype
        # The expected hop is rounded once, like ours, so that errors do not build up between the two.
        np.testing.assert_allclose(hop, expected, rtol=1e-6 if dtype == np.float32 else 1e-13, atol=1e-15)
        expected = exact_product(T, hop.astype(np.float64)).astype(dtype)


def test_against_the_definition_in_the_paper():
    edges = np.array(EDGES)
    expected = k_hop_features(X64, edges, 3)
    d_max = np.ptp(X64, axis=0).max()
    ours = np.hstack(hop_features(X64, SYM, 3)) / d_max
    np.testing.assert_allclose(ours, expected, rtol=1e-12, atol=1e-14)


def test_the_bits_of_the_definition():
    """Coefficients as the paper forms them, and correctly rounded sums.

    Here d_max is a power of two, and divides exactly.
    """
    X = np.round(X64 * 64.0) / 64.0
    X[:2, 0] = -4.0, 4.0
    assert np.ptp(X, axis=0).max() == 8.0
    assert np.array_equal(np.hstack(hop_features(X, SYM, 3)) / 8.0, k_hop_features(X, np.array(EDGES), 3))


@pytest.mark.parametrize(
    ("one", "other"), [((2, 8), (4, 4)), ((2, 18), (6, 6)), ((3, 12), (6, 6)), ((2, 24), (4, 12))]
)
def test_equal_products_of_degrees_are_equal_coefficients(one, other):
    """1/sqrt(2 * 8) = 1/sqrt(4 * 4): nodes 0 and 2, whose only neighbours with a value are nodes 1 and 3."""
    edges, free = [(0, 1), (2, 3)], 4
    for node, degree in enumerate((*one, *other)):
        edges += [(node, free + j) for j in range(degree - 2)]
        free += degree - 2
    X = np.zeros((free, 1))
    X[[1, 3]] = 1.0
    hop = hop_features(X, make_operator(as_graph(edges, free)), 1)[1]
    assert hop[0] == hop[2] == 1.0 / math.sqrt(math.prod(one))


def test_float32_is_rounded_once():
    # One hop: the float64 sum, rounded. A float32 sum would miss this for some entries.
    T = dense_operator("sym", dense_adjacency(N, EDGES))
    exact = exact_product(T, X32.astype(np.float64)).astype(np.float32)
    assert np.array_equal(hop_features(X32, SYM, 1)[1], exact)
    assert not np.array_equal(T.astype(np.float32) @ X32, exact)


@pytest.mark.turns(3)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", ["sym", "rw", "ppr", "heat"])
def test_bits_do_not_depend_on_width_place_or_threads(monkeypatch, dtype, name):
    monkeypatch.setattr("geodim.features.aggregate.WORTH_THREADS", 0)
    parameters = {"order": 3} if name in ("ppr", "heat") else {}
    operator = make_operator(as_graph(EDGES, N), name, **parameters)
    X = X64.astype(dtype)
    reference = np.stack(hop_features(X, operator, 2, width=21, n_threads=1))
    for width in (1, 2, 7, 8, 9, 15, 16, 17, 20):
        few = min(4 * width, 21)  # of the narrow blocks four are as good as all
        for threads in (1, 2, 3):
            hops = hop_features(X[:, :few], operator, 2, width=width, n_threads=threads)
            assert np.array_equal(np.stack(hops), reference[:, :, :few])
    chosen = [20, 3, 3, 11]
    blocks = list(iter_hop_blocks(X, operator, 1, chosen))
    assert np.array_equal(blocks[1], reference[1][:, chosen])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", ["sym", "rw", "ppr"])
def test_numbering_of_the_nodes_does_not_matter(dtype, name):
    """Renumbering changes the order in which neighbours are added.

    It must permute the rows, bit for bit.
    """
    X = (X64 * 10.0 ** RNG.integers(-3, 4, X64.shape)).astype(dtype)
    hops = hop_features(X, make_operator(as_graph(EDGES, N), name), 3)
    for seed in range(5):
        new = np.random.default_rng(seed).permutation(N)
        renumbered = as_graph(new[np.array(EDGES)], N)
        Y = np.empty_like(X)
        Y[new] = X
        for a, b in zip(hops, hop_features(Y, make_operator(renumbered, name), 3), strict=True):
            assert np.array_equal(a, b[new])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", ["sym", "rw", "heat"])
def test_twins_stay_equal(dtype, name):
    """Two nodes with the same closed neighbourhood.

    Also two whose neighbours hold the same values in another order.
    """
    rng = np.random.default_rng(8)
    degree = 50
    left, right = np.arange(2, 2 + degree), np.arange(2 + degree, 2 + 2 * degree)
    edges = [(0, j) for j in left] + [(1, j) for j in right]
    graph = as_graph(edges)
    X = np.empty((graph.n_nodes, 9), dtype)
    X[:2] = rng.normal(size=9)
    X[left] = rng.normal(size=(degree, 9))
    X[right] = X[rng.permutation(left)]
    for hop in hop_features(X, make_operator(graph, name), 4):
        assert np.array_equal(hop[0], hop[1])
    closed = as_graph([(0, 1)] + [(i, j) for i in (0, 1) for j in left])
    for hop in hop_features(X[: closed.n_nodes], make_operator(closed, name), 4)[1:]:
        assert np.array_equal(hop[0], hop[1])


@given(
    st.lists(st.floats(-1e3, 1e3).filter(lambda v: v == 0 or abs(v) > 1e-3), min_size=1, max_size=30),
    st.randoms(use_true_random=False),
)
def test_sums_are_correctly_rounded_in_any_order(values, random):
    """A row of ones: within the stated range of magnitudes the sum is the exact one, rounded (math.fsum)."""
    random.shuffle(values)
    n = len(values)
    matrix = sparse.csr_array(np.vstack([np.ones(n), np.zeros((n - 1, n))]))
    block = np.array(values)[:, None]
    out = np.empty_like(block)
    make_operator(None, matrix).apply(block, out)
    assert out[0, 0] == math.fsum(values)


def test_cancellation_is_exact():
    values = [0.1, 0.7, 1e5, -0.7, 0.3, -1e5, -0.3, -0.1]
    matrix = sparse.csr_array(np.ones((8, 8)))
    for dtype in (np.float32, np.float64):
        block = np.array(values, dtype)[:, None]
        out = np.empty_like(block)
        make_operator(None, matrix).apply(block, out)
        assert (out == 0).all()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_means_of_equal_values_are_that_value(dtype):
    """Stars of every degree: under the random walk a constant column stays constant, to the last bit."""
    rng = np.random.default_rng(9)
    edges, hub = [], 0
    for degree in range(1, 60):
        edges += [(hub, hub + 1 + j) for j in range(degree)]
        hub += degree + 1
    values = rng.normal(size=40)
    X = np.tile(values, (hub, 1)).astype(dtype)
    for hop in hop_features(X, make_operator(as_graph(edges, hub), "rw"), 3):
        assert np.array_equal(hop, X)


def test_means_are_correctly_rounded():
    rng = np.random.default_rng(10)
    for n in (2, 3, 7, 12):
        X = rng.normal(size=(n, 9))
        complete = as_graph([(i, j) for i in range(n) for j in range(i)], n)
        assert hop_features(X, make_operator(complete, "rw"), 1)[1].tolist() == [exact_mean(X.tolist())] * n


def test_isolated_nodes_keep_their_values():
    operator = make_operator(as_graph([[0], [1]], 3))
    assert hop_features(X32[:3], operator, 3)[3][2].tolist() == X32[2].tolist()


class TestSources:
    """Where X comes from changes no bit."""

    reference = np.stack(hop_features(X32, SYM, 2))

    @pytest.mark.parametrize("layout", ["fortran", "strided", "memmap", "list", "source"])
    def test_layouts(self, tmp_path, layout):
        if layout == "memmap":
            np.save(tmp_path / "x.npy", X32)
        X = {
            "fortran": lambda: np.asfortranarray(X32),
            "strided": lambda: np.repeat(X32, 2, axis=1)[:, ::2],
            "memmap": lambda: np.load(tmp_path / "x.npy", mmap_mode="r"),
            "list": X32.tolist,
            "source": lambda: as_source(X32),
        }[layout]()
        hops = hop_features(X, SYM, 2, width=8, dtype=np.float32 if layout == "list" else None)
        assert hops[0].dtype == np.float32
        assert np.array_equal(np.stack(hops), self.reference)

    @pytest.mark.parametrize("kind", ["csr", "csc", "coo"])
    def test_sparse(self, kind):
        dense = np.where(np.abs(X32) > 1, X32, 0)
        hops = hop_features(sparse.coo_array(dense).asformat(kind), SYM, 2)
        assert hops[0].dtype == np.float32
        assert np.array_equal(np.stack(hops), np.stack(hop_features(dense, SYM, 2)))

    @pytest.mark.parametrize(
        ("given", "features"),
        [("f2", "f4"), ("f4", "f4"), ("f8", "f8"), ("i8", "f8"), ("u1", "f4"), ("?", "f4")],
    )
    def test_types(self, given, features):
        X = (X64 > 0.3).astype(given)
        assert hop_features(X, SYM, 1)[1].dtype == np.dtype(features)
        assert (
            hop_features(sparse.csr_array(X), SYM, 1)[1].dtype == np.dtype(features)
            if given != "f2"
            else True
        )
        assert hop_features(X, SYM, 1, dtype="f8")[1].dtype == np.float64

    def test_torch(self):
        torch = pytest.importorskip("torch", reason="torch is not installed")
        assert np.array_equal(np.stack(hop_features(torch.tensor(X32), SYM, 2)), self.reference)


def test_blocks_are_read_only_views_of_two_buffers():
    blocks = list(iter_hop_blocks(X32, SYM, 3, slice(0, 16)))
    assert [block.shape for block in blocks] == [(N, 16)] * 4
    assert np.shares_memory(blocks[0], blocks[2])
    assert np.shares_memory(blocks[1], blocks[3])
    assert not np.shares_memory(blocks[0], blocks[1])
    assert blocks[0].ctypes.data % 64 == 0
    with pytest.raises(ValueError, match="read-only"):
        blocks[1][0] = 1
    assert len(list(iter_hop_blocks(X32, SYM, 0, [0]))) == 1


@pytest.mark.parametrize(
    ("columns", "error", "message"),
    [
        ([21], ShapeError, "column 21"),
        ([-1], ShapeError, "column -1"),
        ([], ShapeError, "no columns"),
        (slice(30, 40), ShapeError, "no columns"),
        ([0.5], InputTypeError, "whole numbers"),
        (3, InputTypeError, "whole numbers"),
    ],
)
def test_bad_columns(columns, error, message):
    with pytest.raises(error, match=message):
        iter_hop_blocks(X32, SYM, 1, columns)


def test_bad_arguments():
    with pytest.raises(ShapeError, match="39 rows, but the graph has 40 nodes"):
        iter_hop_blocks(X32[1:], SYM, 1, [0])
    with pytest.raises(InputValueError, match="hops"):
        iter_hop_blocks(X32, SYM, -1, [0])
    with pytest.raises(InputValueError, match="threads"):
        iter_hop_blocks(X32, SYM, 1, [0], n_threads=0)
    with pytest.raises(InputValueError, match="width"):
        hop_features(X32, SYM, 1, width=0)
    with pytest.raises(InputTypeError, match="float32 or float64"):
        hop_features(X32, SYM, 1, dtype=np.int32)
    with pytest.raises(InputTypeError, match="complex"):
        hop_features(X32 * 1j, SYM, 1)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_values_that_are_not_finite(bad):
    X = X32.copy()
    X[5, 17] = bad
    with pytest.raises(NonFiniteError, match="row 5, column 17"):
        hop_features(X, SYM, 1)
    with pytest.raises(NonFiniteError, match=r"row 0, column 0 .* inf"):
        hop_features(np.full((N, 1), 1e200), SYM, 1, dtype=np.float32)


@pytest.mark.parametrize(
    "name",
    [
        "data.graphs",
        "data.graphs.convert",
        "data.graphs.parallel",
        "features",
        "features.hops",
        "features.memory",
        "features.operators",
        "features.rounding",
    ],
)
def test_examples_in_the_documentation(name):
    result = doctest.testmod(importlib.import_module(f"geodim.{name}"), optionflags=doctest.ELLIPSIS)
    assert result.attempted > 0
    assert result.failed == 0
