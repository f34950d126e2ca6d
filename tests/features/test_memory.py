"""The planner's formulas against the arrays themselves."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from hypothesis import given, strategies as st

from geodim.data.graphs import as_graph
from geodim.errors import InputTypeError, InputValueError
from geodim.features import columns_for_memory, graph_build_memory, hop_memory, iter_hop_blocks, make_operator


def ring(n: int) -> np.ndarray:
    """A ring whose edges are listed once, and a chord from every node."""
    i = np.arange(n)
    return np.stack([np.concatenate([i, i]), np.concatenate([(i + 1) % n, (i + n // 3) % n])])


@pytest.mark.parametrize("weighted", [False, True])
def test_building_peaks_where_the_formula_says(monkeypatch, weighted):
    monkeypatch.setattr("geodim.data.graphs.edges.CHUNK", 1000)
    n = 200_000
    edges = ring(n)
    weights = np.ones(edges.shape[1]) if weighted else None
    # Compile outside of the trace.
    as_graph(edges[:, :10], n, edge_weights=None if weights is None else weights[:10])
    tracemalloc.start()
    as_graph(edges, n, edge_weights=weights, n_threads=1)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    stated = graph_build_memory(n, edges.shape[1], weighted=weighted)
    assert 0.95 * stated < peak < 1.05 * stated + 1_000_000


@pytest.mark.turns(3)
@pytest.mark.parametrize(("name", "dtype"), [("sym", np.float32), ("rw", np.float64), ("ppr", np.float32)])
@pytest.mark.parametrize("columns", [3, 16, 24])
def test_hops_peak_where_the_formula_says(name, dtype, columns):
    n = 50_000
    X = np.ones((n, 24), dtype)
    graph = as_graph(ring(n), n)
    parameters = {"order": 2} if name == "ppr" else {}
    # Compiled outside of the trace, also where nothing is cached: the same call, once before.
    for _ in iter_hop_blocks(X, make_operator(graph, name, **parameters), 4, range(columns), n_threads=1):
        pass
    tracemalloc.start()
    operator = make_operator(graph, name, **parameters)
    for _ in iter_hop_blocks(X, operator, 4, range(columns), n_threads=1):
        pass
    peak = tracemalloc.get_traced_memory()[1] + graph.nbytes
    tracemalloc.stop()
    stated = hop_memory(
        n, len(graph.indices), columns, np.dtype(dtype).itemsize, scratch_itemsize=operator.scratch_itemsize
    )
    assert 0.95 * stated < peak < 1.05 * stated + 1_000_000


def test_papers100m_by_hand():
    n, m = 111_059_956, 1_615_685_872
    assert graph_build_memory(n, m) == 8 * (n + 2) + 2 * m * 4
    assert hop_memory(n, 2 * m, 16, 4) == 8 * (n + 2) + 2 * m * 4 + 8 * n + 2 * 16 * 4 * n
    assert hop_memory(2**31, 10, 8, 4) == 8 * (2**31 + 2) + 80 + 8 * 2**31 + 2 * 8 * 4 * 2**31


@given(
    st.integers(1, 10**7),
    st.integers(0, 10**8),
    st.sampled_from([4, 8]),
    st.booleans(),
    st.sampled_from([0, 16]),
    st.integers(8, 300),
)
def test_the_widest_block_that_fits(n, entries, itemsize, weighted, scratch, columns):
    options = {"weighted": weighted, "scratch_itemsize": scratch}
    budget = hop_memory(n, entries, columns, itemsize, **options)
    width = columns_for_memory(budget, n, entries, itemsize, **options)
    assert width == (columns // 16 * 16 if columns >= 16 else 8)
    assert hop_memory(n, entries, width, itemsize, **options) <= budget
    assert columns_for_memory(budget, n, entries, itemsize, limit=columns, **options) == columns
    assert columns_for_memory(budget, n, entries, itemsize, limit=3, **options) == 8
    with pytest.raises(InputValueError, match="are needed"):
        columns_for_memory(
            hop_memory(n, entries, 8, itemsize, **options) - 1, n, entries, itemsize, **options
        )


@pytest.mark.parametrize("arguments", [(0, 1, 1, 4), (1, -1, 1, 4), (1, 1, 0, 4), (1, 1, 1, 2)])
def test_bad_arguments(arguments):
    with pytest.raises(InputValueError, match="must be"):
        hop_memory(*arguments)


@pytest.mark.parametrize("n_nodes", [1.5, True])
def test_arguments_of_another_kind(n_nodes):
    with pytest.raises(InputTypeError, match="n_nodes must be a whole number"):
        hop_memory(n_nodes, 1, 1, 4)
