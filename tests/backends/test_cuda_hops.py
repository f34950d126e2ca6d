"""Hops on the device have the bits of the CPU's, and graphs built there are the same.

Triton interprets where there is no GPU.
"""

from __future__ import annotations

import importlib.util
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

import interpreted
from costs import slow
from exact_hops import distance, exact_hops
from geodim.data.graphs import as_graph
from geodim.errors import InputTypeError, InputValueError, RangeOverflowError, ShapeError
from geodim.features import iter_hop_blocks, make_operator
from geodim.features.operators import MatrixOperator, Operator
from geodim.features.rounding import feature_errors, growth

torch = pytest.importorskip("torch", reason="the CUDA backend needs PyTorch")
pytest.importorskip("triton", reason="the CUDA backend needs Triton")

from geodim.backends.cuda.graphs import build_device_graph
from geodim.backends.cuda.operators import device_operator, to_device

# The interpreter computes with numpy, which warns of arithmetic with infinities.
pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")
DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
N = 40
STREAMED = {"resident": False, "block_entries": 60}


@pytest.fixture(autouse=True)
def fma_rounds_once(monkeypatch):
    """Compiled it does; the interpreter rounds the product as well before Triton 3.9 (pull request 11424)."""
    if DEVICE == "cuda":
        return
    triton_interpreter = pytest.importorskip("triton.runtime.interpreter")

    def create_fma(self, x, y, z):
        return triton_interpreter.TensorHandle(interpreted.fma(x.data, y.data, z.data), z.dtype.scalar)

    monkeypatch.setattr(triton_interpreter.InterpreterBuilder, "create_fma", create_fma)


def some_edges(seed: int = 0, nodes: int = N, count: int = 70) -> np.ndarray:
    """A multigraph with loops, a hub (node 3), and isolated nodes (the last five)."""
    rng = np.random.default_rng(seed)
    edges = rng.integers(0, nodes - 5, (2, count))
    hub = np.stack([np.full(25, 3), rng.integers(0, nodes - 5, 25)])
    return np.concatenate([edges, hub, edges[::-1, :10], edges[:, :5]], axis=1)


def weighted_graph():
    edges = some_edges()
    weights = np.random.default_rng(5).random(edges.shape[1])
    return as_graph(edges, N, edge_weights=weights)


def matrix(dtype=np.float64):
    """No symmetry, no loops, rows without entries."""
    return sp.random(N, N, 0.1, format="csr", random_state=1).astype(dtype)


OPERATORS = {
    "sym": lambda: make_operator(as_graph(some_edges(), N)),
    "rw": lambda: make_operator(as_graph(some_edges(), N), "rw"),
    "weighted sym": lambda: make_operator(weighted_graph()),
    "weighted rw": lambda: make_operator(weighted_graph(), "rw"),
    "matrix": lambda: make_operator(None, matrix()),
    "float32 matrix": lambda: make_operator(None, matrix(np.float32)),
    "ppr": lambda: make_operator(as_graph(some_edges(), N), "ppr", order=3),
    "heat": lambda: make_operator(as_graph(some_edges(), N), "heat", order=3, transition="rw"),
}


def some_block(width: int, dtype=np.float32, nodes: int = N) -> np.ndarray:
    """Values of very different sizes, and zeros of both signs."""
    rng = np.random.default_rng(width)
    values = rng.normal(size=(nodes, width)) * np.exp(6 * rng.normal(size=(nodes, width)))
    values[rng.random(values.shape) < 0.2] = 0.0
    values[rng.random(values.shape) < 0.2] = -0.0
    return values.astype(dtype)


def assert_same_bits(ours: Operator, theirs: Operator, block: np.ndarray) -> None:
    ref, comp = np.empty_like(block), np.empty_like(block)
    theirs.apply(block, ref)
    ours.apply(block, comp)
    whole = np.int32 if block.dtype == np.float32 else np.int64
    np.testing.assert_array_equal(comp.view(whole), ref.view(whole))


@pytest.mark.turns(4)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", OPERATORS)
def test_same_bits(name, dtype):
    operator = OPERATORS[name]()
    ours = to_device(operator, DEVICE)
    assert_same_bits(ours, operator, some_block(3, dtype))
    assert ours.to_dict() == operator.to_dict()
    assert (ours.products, ours.scratch_itemsize) == (operator.products, operator.scratch_itemsize)


@pytest.mark.turns(2)
@pytest.mark.parametrize("width", [1, slow(2), 16, 33, slow(64), 65])
def test_any_width(width):
    operator = OPERATORS["sym"]()
    assert_same_bits(to_device(operator, DEVICE), operator, some_block(width))


@pytest.mark.turns(3)
@pytest.mark.parametrize("name", ["sym", "weighted rw", "matrix"])
@pytest.mark.parametrize("options", [{}, STREAMED], ids=["resident", "streamed"])
def test_rows_cut_into_pieces(name, options):
    """The hub has more than 16 neighbours; streamed, it is a block of its own."""
    operator = OPERATORS[name]()
    ours = to_device(operator, DEVICE, split=5, **options)
    assert ours._work.hubs.numel() > 0
    assert_same_bits(ours, operator, some_block(4))


def test_a_row_of_minus_zeros_in_pieces():
    """Not even the sign of a zero depends on where a row is cut."""
    operator = OPERATORS["sym"]()
    assert_same_bits(to_device(operator, DEVICE, split=4), operator, np.full((N, 1), -0.0))


@pytest.mark.turns(2)
@pytest.mark.parametrize("name", ["sym", "weighted sym", "float32 matrix", "ppr"])
def test_streamed_is_resident(name):
    operator = OPERATORS[name]()
    ours = to_device(operator, DEVICE, **STREAMED)
    inner = getattr(ours, "transition", ours)
    assert not inner.resident
    assert len(inner.entries.cuts) > 3
    assert_same_bits(ours, operator, some_block(3))


@pytest.mark.turns(2)
@pytest.mark.parametrize("name", ["sym", "weighted sym"])
def test_coefficients_in_several_blocks(name, monkeypatch):
    monkeypatch.setattr("geodim.backends.cuda.operators.COEFFICIENTS", 20)
    operator = OPERATORS[name]()
    for split in (4096, 5):
        ours = to_device(operator, DEVICE, split=split)
        assert ours.resident
        assert len(ours.entries.cuts) > 3
        assert_same_bits(ours, operator, some_block(2))


def test_the_budget_decides_what_is_streamed():
    operator = OPERATORS["sym"]()
    assert to_device(operator, DEVICE, budget=4 * len(operator.rows.indices)).resident
    assert not to_device(operator, DEVICE, budget=4 * len(operator.rows.indices) - 1).resident
    ours = to_device(operator, DEVICE)
    assert ours.resident
    assert to_device(ours, DEVICE) is ours


@pytest.mark.turns(4)
@pytest.mark.parametrize("name", ["sym", "weighted rw", "ppr", "signs"])
@pytest.mark.parametrize("options", [{}, STREAMED, {"split": 5}], ids=["resident", "streamed", "pieces"])
def test_the_same_bounds_on_the_rounding(name, options):
    """Row sums of absolute entries, computed there; entries of both signs stay as they are."""
    if name == "signs":
        operator = make_operator(
            None,
            sp.random(
                N, N, 0.1, format="csr", random_state=1, data_rvs=np.random.default_rng(2).standard_normal
            ),
        )
    else:
        operator = OPERATORS[name]()
    ours = to_device(operator, DEVICE, **options)
    assert ours.arithmetic() == operator.arithmetic()
    kind = np.dtype(np.float64)
    np.testing.assert_allclose(growth(ours, 2, kind), growth(operator, 2, kind), rtol=1e-14)
    if name == "signs":
        assert growth(ours, 1, kind)[1] > np.abs(operator.rows.weights).max()
        assert_same_bits(ours, operator, some_block(2))


@pytest.mark.turns(2)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_where_most_of_a_sum_cancels_pieces_stay_within_the_error(dtype):
    """A hub whose large neighbours cancel: orders of summation differ, but not beyond what is stated."""
    n = 80
    rng = np.random.default_rng(4)
    X = rng.choice([-1e17, 1e17], (n, 2)) * (1.0 + rng.random((n, 2))) + 0.0
    X[1::2] = -X[::2]
    X[rng.random(X.shape) < 0.3] = 1.0
    X = X.astype(dtype)
    edges = [(0, j) for j in range(1, n)]
    operator = make_operator(as_graph(edges, n, orientation="rows"))
    kind = X.dtype
    errors = feature_errors(operator, growth(operator, 2, kind), float(np.abs(X).max()), kind)
    exact = exact_hops(X, 2, "sym", n=n, edges=edges)
    for split in (4096, 7):
        blocks = iter_hop_blocks(X, to_device(operator, DEVICE, split=split), 2, slice(0, 2))
        for block, hop, error in zip(blocks, exact, errors, strict=True):
            assert distance(block, hop) <= error.largest


@pytest.mark.parametrize("operator", ["sym", "rw"])
@pytest.mark.parametrize(("edges", "nodes"), [([], 1), ([], 7), ([(0, 1)], 2)])
def test_tiny_graphs(edges, nodes, operator):
    made = make_operator(as_graph(np.array(edges, np.int64).reshape(-1, 2).T, nodes), operator)
    for options in ({}, STREAMED):
        assert_same_bits(to_device(made, DEVICE, **options), made, some_block(2, nodes=nodes))


def test_it_is_an_operator_of_the_library():
    operator = OPERATORS["rw"]()
    X = some_block(5)
    ours = iter_hop_blocks(X, to_device(operator, DEVICE), 2, [0, 3])
    for comp, ref in zip(ours, iter_hop_blocks(X, operator, 2, [0, 3]), strict=True):
        np.testing.assert_array_equal(comp, ref)


@pytest.mark.turns(2)
@pytest.mark.parametrize(("name", "parameters"), [("sym", {}), ("heat", {"order": 3})])
@pytest.mark.parametrize("split", [4096, 5])
def test_overflow_names_the_same_value(name, parameters, split):
    """The middle of a star collects more than its neighbours have."""
    star = np.stack([np.full(N - 1, 7), np.delete(np.arange(N), 7)])
    operator = make_operator(as_graph(star, N), name, **parameters)
    block = np.ones((N, 2), np.float32)
    block[:, 1] = 3e38
    with pytest.raises(RangeOverflowError) as ref:
        operator.apply(block, np.empty_like(block))
    with pytest.raises(RangeOverflowError) as comp:
        to_device(operator, DEVICE, split=split).apply(block, np.empty_like(block))
    assert str(comp.value) == str(ref.value)


def test_wrong_blocks():
    ours = to_device(OPERATORS["sym"](), DEVICE)
    good = torch.zeros((N, 2), device=ours.device)
    other = torch.zeros_like(good)
    for block, out, error, message in [
        (good[1:], other[1:], ShapeError, "one row per node"),
        (good[:, :0], other[:, :0], ShapeError, "one row per node"),
        (good, other[:, :1], ShapeError, "they must agree"),
        (good, other.double(), InputTypeError, "both be float32"),
        (good.long(), other.long(), InputTypeError, "both be float32"),
        (good, good, InputTypeError, "must not overlap"),
        (torch.zeros((2, N), device=ours.device).T, other, InputTypeError, "contiguous"),
        (good, torch.empty_like(good, device="meta"), InputTypeError, "must be on"),
    ]:
        with pytest.raises(error, match=message):
            ours.apply_device(block, out)
    with pytest.raises(ShapeError, match="must agree"):
        ours.apply(np.zeros((N, 2)), np.zeros((N, 3)))


def test_other_operators_are_refused():
    class Mine(Operator):
        n_nodes = 1

        def describe(self):
            return {"operator": "mine"}

        def apply(self, block, out, *, n_threads=None):  # noqa: ARG002
            out[...] = block

    with pytest.raises(InputTypeError, match="Mine"):
        to_device(Mine(), DEVICE)
    with pytest.raises(InputTypeError, match="to_device"):
        device_operator(build_device_graph(torch.tensor([[0], [1]])), matrix())


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(("bucket", "chunk"), [(1 << 28, 1 << 27), (40, 23), (1, 1000)])
def test_the_graph_is_that_of_the_host(seed, bucket, chunk):
    edges = some_edges(seed)
    ref = as_graph(edges, N)
    there = torch.as_tensor(edges.copy(), device=DEVICE)
    for given in (there, there.int(), (there[0], there[1].int())):
        comp = build_device_graph(given, N, bucket=bucket, chunk=chunk)
        assert comp.to_dict() == ref.to_dict()
        host = comp.to_host()
        np.testing.assert_array_equal(host.indptr, ref.indptr)
        np.testing.assert_array_equal(host.indices, ref.indices)
        assert host.indices.dtype == ref.indices.dtype
        assert comp.nbytes == ref.nbytes


def test_the_coarse_histogram_of_many_nodes():
    """Past a million nodes ranges are cut between groups of nodes."""
    nodes = 3_000_017
    edges = np.random.default_rng(0).integers(0, nodes, (2, 3000))
    edges[:, :1000] //= 1000
    ref, comp = as_graph(edges, nodes), build_device_graph(torch.as_tensor(edges), nodes, bucket=500)
    np.testing.assert_array_equal(comp.to_host().indptr, ref.indptr)
    np.testing.assert_array_equal(comp.to_host().indices, ref.indices)
    assert comp.to_dict() == ref.to_dict()


def test_nodes_are_counted_if_not_given():
    graph = build_device_graph(torch.tensor([[0, 4], [4, 0]]), directed=False)
    assert (graph.n_nodes, graph.n_edges, graph.n_isolated) == (5, 1, 3)
    assert not graph.notes.directed
    assert build_device_graph(torch.zeros((2, 0), dtype=torch.int32), 3).n_edges == 0


@pytest.mark.parametrize(
    ("edges", "nodes", "error", "message"),
    [
        (torch.zeros((2, 0), dtype=torch.int64), None, InputValueError, "pass n_nodes="),
        (torch.tensor([[0], [5]]), 5, InputValueError, "names node 5, but the nodes are 0 to 4"),
        (torch.tensor([[0], [-2]]), 5, InputValueError, "names node -2"),
        (torch.tensor([[0], [1]]), 2**31, InputValueError, "fewer than 2\\*\\*31"),
        (torch.tensor([0, 1]), 2, ShapeError, "shape"),
        (torch.tensor([[0.0], [1.0]]), 2, InputTypeError, "int32 or int64"),
        (([0], [1]), 2, InputTypeError, "pair of tensors"),
        ((torch.tensor([0]), torch.tensor([0, 1])), 2, ShapeError, "the same length"),
    ],
)
def test_wrong_edges(edges, nodes, error, message):
    with pytest.raises(error, match=message):
        build_device_graph(edges, nodes)


@pytest.mark.parametrize(
    ("operator", "parameters"),
    [("sym", {}), ("rw", {}), ("ppr", {"order": 2}), ("heat", {"order": 2, "transition": "rw"})],
)
def test_operators_on_graphs_built_there(operator, parameters):
    graph = build_device_graph(torch.as_tensor(some_edges().copy(), device=DEVICE), N)
    ours = device_operator(graph, operator, **parameters)
    theirs = make_operator(as_graph(some_edges(), N), operator, **parameters)
    assert_same_bits(ours, theirs, some_block(2))
    assert ours.to_dict() == theirs.to_dict()


def test_wrong_parameters_are_refused_as_on_the_cpu():
    graph = build_device_graph(torch.tensor([[0], [1]]))
    for operator, parameters in [("sym", {"alpha": 0.1}), ("ppr", {"alpha": 2.0}), ("none", {})]:
        with pytest.raises(InputValueError):
            device_operator(graph, operator, **parameters)


def test_the_benchmark_draws_the_graph_it_is_asked_for():
    place = Path(__file__).parents[2] / "benchmarks" / "rmat.py"
    spec = importlib.util.spec_from_file_location("rmat_benchmark", place)
    rmat = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(rmat)
    graph = rmat.rmat_graph(900, 2000, device=DEVICE, surplus=1.1)  # too few at first
    assert abs(graph.n_edges - 2000) < 4 * np.sqrt(2000)
    host = graph.to_host()
    adjacency = host.to_scipy()
    assert (adjacency != adjacency.T).nnz == 0
    np.testing.assert_array_equal(as_graph(adjacency).indices, host.indices)  # simple, and sorted
    assert host.degrees().max() > 20 * host.degrees().mean()
    again = rmat.rmat_graph(900, 2000, device=DEVICE, surplus=1.1)
    assert torch.equal(graph.indices, again.indices)
    other = rmat.rmat_graph(900, 2000, device=DEVICE, surplus=1.1, seed=1)
    assert not torch.equal(graph.indptr, other.indptr)


@pytest.mark.parametrize(
    ("part", "value"),
    [
        ("indices", [1, 2]),
        ("indices", [1, -1]),
        ("indptr", [0, 1, 3]),
        ("indptr", [0, 3, 2]),
        ("indptr", [1, 1, 2]),
    ],
)
def test_matrices_that_name_what_is_not_there_are_not_copied(part, value):
    """The kernels of a device read wherever the entries say; and so does nobody here."""
    matrix = sp.csr_array(np.array([[0.0, 1.0], [1.0, 0.0]]))
    operator = make_operator(None, matrix)
    wrong = replace(operator.rows, **{part: np.asarray(value, getattr(operator.rows, part).dtype)})
    with pytest.raises(InputValueError, match="not there"):
        to_device(MatrixOperator("matrix", wrong), "cpu")
    if value != [1, 1, 2]:  # rows that begin later have fewer entries, and that is all
        with pytest.raises(InputValueError, match="not there"):
            MatrixOperator("matrix", wrong).apply(np.ones((2, 8)), np.empty((2, 8)))
