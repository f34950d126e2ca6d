"""The plan of a pass: the formula by hand, budgets, and the largest data set of the paper."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from geodim.data.graphs import as_graph
from geodim.errors import InputValueError
from geodim.features import make_operator
from geodim.plans import (
    NARROWEST,
    Problem,
    columns_for,
    columns_in_flight,
    default_columns,
    peak_memory,
    plan,
)

# ogbn-papers100M; source: paper.tex, table tab:data
PAPERS = {"n_nodes": 111_059_956, "stored_entries": 2 * 1_615_685_872, "attributes": 128, "hops": 5}


def test_the_formula_by_hand():
    """1,000 nodes, 8,000 entries, 16 columns of float32, 5 hops, 2 threads.

    The graph takes 8 (n + 2) = 8,016 for the pointers, 4 * 8,000 = 32,000 for the ids and 8 n = 8,000 for the
    scales; two buffers 2 * 1,000 * 16 * 4 = 128,000; the gathered columns 64,000; two solvers of
    1,000 * (8 + 8 + 5.5) = 21,500 each; six layers of 12,000 each.
    """
    by_hand = 8_016 + 32_000 + 8_000 + 128_000 + 64_000 + 2 * 21_500 + 6 * 12_000
    assert peak_memory(1_000, 8_000, 16, 4, 5, 2) == by_hand


def test_the_formula_by_hand_in_float64_with_scratch():
    buffers = 2 * 1_000 * 8 * 8 + 1_000 * 8 * 16
    by_hand = 8_016 + 32_000 + 8_000 + buffers + 1_000 * 8 * 8 + 29_500 + 12_000
    assert peak_memory(1_000, 8_000, 8, 8, 0, 1, scratch_itemsize=16) == by_hand


@pytest.mark.parametrize("columns", [8, 16, 32, 48, 64])
def test_the_budget_is_used_but_never_exceeded(columns):
    size = (5_000, 40_000)
    need = peak_memory(*size, columns, 4, 3, 2)
    assert columns_for(need, *size, 1000, 4, 3, 2) == columns
    if columns > NARROWEST:
        assert columns_for(need - 1, *size, 1000, 4, 3, 2) < columns
    assert columns_for(need, *size, 5, 4, 3, 2) == 5  # no more than there are
    assert columns_for(10**15, *size, 1000, 4, 3, 2) == 64


@pytest.mark.parametrize("threads", [1, 2, 16])
def test_too_small_a_budget_names_what_is_needed(threads):
    need = peak_memory(5_000, 40_000, NARROWEST, 4, 3, threads)
    with pytest.raises(
        InputValueError, match=f"{need:,} are needed for 8 columns in flight and {threads} threads"
    ):
        columns_for(need - 1, 5_000, 40_000, 1000, 4, 3, threads)
    assert columns_for(need, 5_000, 40_000, 1000, 4, 3, threads) == NARROWEST


def hop_plan(n_nodes, stored_entries, attributes, hops, *, n_threads=1, memory=None, **graph):
    problem = Problem(n_nodes, attributes, 4, hops=hops, stored_entries=stored_entries, **graph)
    return plan(problem, n_threads=n_threads, memory=memory)


def test_papers100m_fits_into_48_gb():
    planned = hop_plan(**PAPERS, n_threads=2, memory=48 * 10**9)
    assert planned.fits
    assert planned.memory <= 48 * 10**9
    assert planned.columns >= 8
    assert planned.passes == -(-128 // planned.columns) * 5
    n, entries = PAPERS["n_nodes"], PAPERS["stored_entries"]
    graph = 8 * (n + 2) + 4 * entries + 8 * n
    by_hand = graph + 3 * 4 * n * planned.columns + 2 * int(21.5 * n) + 12 * n * 6
    assert planned.memory == by_hand


def test_a_plan_without_a_budget():
    size = (10**6, 8 * 10**6)
    planned = hop_plan(*size, 40, 3)
    assert (planned.n_points, planned.n_features, planned.hops) == (10**6, 40, 3)
    assert (planned.stored_entries, planned.threads, planned.columns) == (8 * 10**6, 1, 16)
    assert planned.memory == peak_memory(*size, 16, 4, 3, 1)
    assert planned.passes == 3 * 3
    assert planned.fits is None
    assert hop_plan(*size, 40, 3, products=7).passes == 3 * 3 * 7
    assert hop_plan(*size, 3, 3).columns == 3
    assert hop_plan(*size, 40, 0).passes == 0


def test_short_columns_are_taken_many_at_a_time():
    assert default_columns(1_000, 10_000) == 4_192  # 2**22 values, in whole cache lines
    assert default_columns(1_000, 40) == 40
    assert default_columns(10**8, 128) == 16


def test_weights_take_8_bytes_an_entry_and_a_node():
    plain, weighted = (peak_memory(1_000, 8_000, 16, 4, 5, 2, weighted=flag) for flag in (False, True))
    assert weighted - plain == 8 * 8_000 + 8 * 1_000
    assert hop_plan(1_000, 8_000, 16, 5, n_threads=2, weighted=True).memory == weighted


def test_the_fewest_columns_may_not_fit():
    planned = hop_plan(1_000, 8_000, 64, 3, memory=100_000)
    assert planned.fits is False
    assert planned.columns == NARROWEST
    assert planned.memory == peak_memory(1_000, 8_000, NARROWEST, 4, 3, 1)


# ---------------------------------------------------------------- operators that exist

EDGES = np.random.default_rng(0).integers(0, 500, (2, 4_000))


@pytest.mark.parametrize("name", ["sym", "rw"])
def test_columns_of_an_operator(name):
    graph = as_graph(EDGES, 500)
    for columns in (8, 16, 32):
        budget = peak_memory(500, len(graph.indices), columns, 4, 2, 1)
        assert columns_in_flight(budget, 500, 100, make_operator(graph, name), 2, 4, 1) == columns


def test_columns_of_a_matrix():
    matrix = sp.csr_array(np.eye(500, dtype=np.float32))
    budget = peak_memory(500, 500, 16, 4, 2, 1) + 500 * 8 + 500 * 8
    assert columns_in_flight(budget, 500, 100, make_operator(None, matrix), 2, 4, 1) >= 16


@pytest.mark.parametrize("name", ["ppr", "heat"])
def test_the_graph_of_a_series_counts(name):
    graph = as_graph(EDGES, 500)
    operator = make_operator(graph, name)
    need = peak_memory(500, len(graph.indices), 8, 4, 2, 1, operator.scratch_itemsize)
    with pytest.raises(InputValueError, match="are needed"):
        columns_in_flight(need - 1, 500, 100, operator, 2, 4, 1)


def test_weights_count():
    graph = as_graph(EDGES, 500, edge_weights=np.ones(4_000))
    entries = len(graph.indices)
    need = peak_memory(500, entries, 8, 4, 2, 1) + 8 * entries + 8 * 500
    with pytest.raises(InputValueError, match="are needed"):
        columns_in_flight(need - 1, 500, 100, make_operator(graph, "sym"), 2, 4, 1)
