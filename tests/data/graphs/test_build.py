"""The builder against sets of pairs: chunks, threads, long rows, 64-bit ids, weights, notes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

from data.graphs.naive_graph import check_graph, rows_of, same_graph
from geodim.data.graphs import as_graph, edges as edges_module
from geodim.data.graphs.build import build_graph, index_dtype
from geodim.data.graphs.edges import PairEdges
from geodim.data.graphs.parallel import balanced_ranges, equal_ranges, run_tasks


@st.composite
def edge_lists(draw: st.DrawFn) -> tuple[int, list[tuple[int, int]]]:
    n = draw(st.integers(1, 12))
    node = st.integers(0, n - 1)
    return n, draw(st.lists(st.tuples(node, node), max_size=40))


@given(edge_lists(), st.integers(1, 3))
def test_any_edges_give_the_set_of_pairs(case, threads):
    n, edges = case
    array = np.array(edges, np.int64).reshape(-1, 2)
    check_graph(as_graph(array, n, orientation="rows", n_threads=threads), n, edges)
    check_graph(as_graph(array.T, n, orientation="columns", n_threads=threads), n, edges)


@pytest.mark.turns(4)
@pytest.mark.parametrize("id_type", [np.int32, np.int64])
@pytest.mark.parametrize("chunk", [7, 1 << 21])
def test_chunks_threads_and_id_types_change_nothing(monkeypatch, chunk, id_type):
    monkeypatch.setattr(edges_module, "CHUNK", chunk)
    rng = np.random.default_rng(1)
    # A hub (radix-sorted), medium rows around the switch between the sorts, isolated nodes at the end.
    u = np.concatenate([np.zeros(900, np.int64), rng.integers(0, 40, 1500), [5, 5, 6]])
    v = np.concatenate([rng.integers(0, 700, 900), rng.integers(0, 60, 1500), [5, 6, 5]])
    edges = list(zip(u.tolist(), v.tolist(), strict=True))
    for threads in (1, 2, 5):
        graph = build_graph(PairEdges(u, v), 710, threads=threads, indices_type=id_type)
        assert graph.indices.dtype == id_type
        check_graph(graph, 710, edges)


@pytest.mark.parametrize("order", ["sorted", "reversed", "both ways", "by target"])
def test_sorted_input_with_a_hub(order):
    # Sorted edge lists make rows of a few ascending runs, the bad case of quicksorts.
    n = 3000
    edges = [(0, i) for i in range(1, n)] + [(i, i + 1) for i in range(1, n - 1)]
    if order == "reversed":
        edges.reverse()
    elif order == "both ways":
        edges = sorted(edges + [(v, u) for u, v in edges])
    elif order == "by target":
        edges = sorted(edges, key=lambda edge: edge[::-1])
    graph = as_graph(edges)
    check_graph(graph, n, edges)
    assert graph.notes.directed is (order != "both ways")


def test_int32_ids_below_2_to_the_31_nodes():
    assert index_dtype(2**31 - 1) is np.int32
    assert index_dtype(2**31) is np.int64
    assert as_graph([[0], [1]]).indices.dtype == np.int32


@given(edge_lists(), st.randoms(use_true_random=False))
def test_weights_of_repeated_edges_are_their_maximum(case, random):
    n, edges = case
    weights = [random.choice([0.0, 0.5, 1.0, 2.5]) for _ in edges]
    expected: dict[tuple[int, int], float] = {}
    distinct: dict[tuple[int, int], set[float]] = {}
    for (u, v), w in zip(edges, weights, strict=True):
        for edge in {(u, v), (v, u)}:
            expected[edge] = max(expected.get(edge, 0.0), w)
        distinct.setdefault((min(u, v), max(u, v)), set()).add(w)
    graph = as_graph(
        np.array(edges, np.int64).reshape(-1, 2), n, edge_weights=np.array(weights), orientation="rows"
    )
    check_graph(graph, n, edges)
    at = 0
    for i, row in enumerate(rows_of(graph)):
        for j in row:
            assert graph.weights[at] == expected[i, j]
            at += 1
    loops = [i for i in range(n) if (i, i) in expected]
    if loops:
        assert graph.loop_weights.tolist() == [expected.get((i, i), 1.0) for i in range(n)]
    else:
        assert graph.loop_weights is None
    assert graph.notes.weight_conflicts == sum(len(s) > 1 for (u, v), s in distinct.items() if u != v)


def test_long_weighted_rows_keep_weights_with_their_edges():
    rng = np.random.default_rng(2)
    v = rng.permutation(np.arange(1, 500))
    graph = as_graph((np.zeros_like(v), v), edge_weights=v * 0.5)
    assert graph.weights[:499].tolist() == [0.5 * i for i in range(1, 500)]


@given(edge_lists(), st.randoms(use_true_random=False))
def test_order_and_direction_of_the_edges_do_not_matter(case, random):
    n, edges = case
    shuffled = [edge if random.random() < 0.5 else edge[::-1] for edge in edges]
    random.shuffle(shuffled)
    a, b = (as_graph(np.array(e, np.int64).reshape(-1, 2), n, orientation="rows") for e in (edges, shuffled))
    assert same_graph(a, b)


def test_directed_can_be_declared():
    assert as_graph([[0], [1]]).notes.directed
    assert as_graph([[0], [1]]).notes.symmetrised
    undirected = as_graph([[0], [1]], directed=False)
    assert not undirected.notes.directed
    assert not undirected.notes.symmetrised
    both = as_graph([[0, 1], [1, 0]], directed=True)
    assert both.notes.directed
    assert not both.notes.symmetrised  # nothing had to be added


def test_graph_is_frozen_small_and_tells_about_itself():
    graph = as_graph([[0, 1, 1, 2, 0], [1, 0, 2, 2, 1]], 4)
    with pytest.raises(ValueError, match="read-only"):
        graph.indices[0] = 1
    with pytest.raises(AttributeError):
        graph.n_nodes = 5
    assert graph.degrees().tolist() == [2, 3, 2, 1]
    assert graph.nbytes == 8 * 5 + 4 * 4
    assert graph.to_dict() == {
        "n_nodes": 4,
        "n_edges": 2,
        "n_isolated": 1,
        "weighted": False,
        "listed_edges": 5,
        "self_loops": 1,
        "duplicates": 1,
        "one_way": 1,
        "directed": True,
        "weight_conflicts": 0,
        "symmetrised": True,
    }
    assert "1 duplicates coalesced" in repr(graph)
    assert graph.to_scipy().toarray().tolist() == [[0, 1, 0, 0], [1, 0, 1, 0], [0, 1, 0, 0], [0, 0, 0, 0]]


def test_a_finished_graph_passes_through():
    graph = as_graph([[0], [1]])
    assert as_graph(graph) is graph
    assert as_graph(graph, 2) is graph


@given(st.lists(st.integers(0, 9), min_size=1, max_size=30), st.integers(1, 7))
def test_balanced_ranges_cover_every_row_once(lengths, parts):
    indptr = np.concatenate([[0], np.cumsum(lengths)])
    for ranges in (balanced_ranges(indptr, parts), equal_ranges(len(lengths), parts)):
        assert [i for a, b in ranges for i in range(a, b)] == list(range(len(lengths)))
        assert len(ranges) <= parts


def test_tasks_keep_their_order_and_pass_errors_on():
    assert run_tasks(lambda i: i * i, range(20), 3) == [i * i for i in range(20)]
    with pytest.raises(ZeroDivisionError):
        run_tasks(lambda i: 1 // i, [1, 0, 2], 2)
