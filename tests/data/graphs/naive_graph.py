"""Graphs by the definition: Python sets and dictionaries, nothing clever."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable

    from geodim.data.graphs import Graph


def neighbours(n: int, edges: Iterable[tuple[int, int]]) -> list[list[int]]:
    """N(v) without v, for every v."""
    sets: list[set[int]] = [set() for _ in range(n)]
    for u, v in edges:
        if u != v:
            sets[u].add(v)
            sets[v].add(u)
    return [sorted(s) for s in sets]


def rows_of(graph: Graph) -> list[list[int]]:
    return [graph.indices[a:b].tolist() for a, b in zip(graph.indptr[:-1], graph.indptr[1:], strict=True)]


def check_graph(graph: Graph, n: int, edges: Iterable[tuple[int, int]]) -> None:
    """Compare a graph and its notes with the definition."""
    edges = [(int(u), int(v)) for u, v in edges]
    expected = neighbours(n, edges)
    assert graph.n_nodes == n
    assert graph.indptr.dtype == np.int64
    assert rows_of(graph) == expected
    assert graph.n_edges == sum(map(len, expected)) // 2
    assert graph.n_isolated == sum(not row for row in expected)
    plain = [edge for edge in edges if edge[0] != edge[1]]
    distinct = set(plain)
    assert graph.notes.listed_edges == len(edges)
    assert graph.notes.self_loops == len(edges) - len(plain)
    assert graph.notes.duplicates == len(plain) - len(distinct)
    assert graph.notes.one_way == sum((v, u) not in distinct for u, v in distinct)


def same_graph(a: Graph, b: Graph) -> bool:
    def equal(x: Any, y: Any) -> bool:
        return (x is None and y is None) or (x.dtype == y.dtype and np.array_equal(x, y))

    names = ("indptr", "indices", "weights", "loop_weights")
    return a.n_nodes == b.n_nodes and all(equal(getattr(a, name), getattr(b, name)) for name in names)
