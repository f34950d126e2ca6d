"""The cost of a pass over the hops: memory (a stated formula), columns in flight, passes and time.

The peak is the graph and two buffers of the columns in flight (`geodim.features.memory.hop_memory`), the same
columns gathered, the solver of each thread, and the layers:

    hop_memory(n, E, c) + n c b + threads * n (8 + 2 b + 5.5) + 12 n (hops + 1)

bytes for n nodes, E stored entries, c columns in flight of b bytes a value.  Nothing grows with
the number of attributes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from geodim.engine.ways import Way
from geodim.errors import InputValueError
from geodim.features.memory import hop_memory
from geodim.planning.problem import Problem

if TYPE_CHECKING:
    from geodim.features.operators import Operator

NARROWEST = 8  # the aggregation kernel works on at least this many columns


def peak_memory(
    n_nodes: int,
    stored_entries: int,
    columns: int,
    itemsize: int,
    hops: int,
    n_threads: int,
    scratch_itemsize: int = 0,
    *,
    weighted: bool = False,
) -> int:
    """Return the peak bytes of a pass, by the formula above."""
    aggregation = hop_memory(
        n_nodes, stored_entries, columns, itemsize, weighted=weighted, scratch_itemsize=scratch_itemsize
    )
    gathered = n_nodes * columns * itemsize
    solvers = n_threads * int(n_nodes * (8 + 2 * itemsize + 5.5))
    return aggregation + gathered + solvers + 12 * n_nodes * (hops + 1)


def hop_peak(problem: Problem, columns: int, threads: int) -> int:
    """Return the peak bytes of a pass with this many columns in flight."""
    return peak_memory(
        problem.n_points, problem.stored_entries, columns, problem.itemsize, problem.hops or 0, threads,
        problem.scratch_itemsize, weighted=problem.weighted,
    )  # fmt: skip


def hop_way(problem: Problem, threads: int, budget: int | None = None, columns: int | None = None) -> Way:
    """Return the way to run a pass on one machine.

    By default a cache line of columns is in flight, more where they are short; with a budget the most
    (at most 64) whose peak stays within it.  Raises if not even a few do.  With a tolerance, features are
    rounded to steps, which leave nothing to relax.
    """
    if columns is None:
        columns = default_columns(problem.n_points, problem.n_features)
        if budget is not None:
            columns = _columns_within(budget, problem, threads)
    passes = -(-problem.n_features // columns) * (problem.hops or 0) * problem.products
    relaxed = not problem.last_bit and problem.rtol == 0.0
    return Way(width=columns, solvers=threads, passes=passes, relaxed=relaxed)


def _columns_within(budget: int, problem: Problem, threads: int) -> int:
    need = hop_peak(problem, NARROWEST, threads)
    if need > budget:
        msg = (
            f"{budget:,} bytes are too few: {need:,} are needed for {NARROWEST} columns in flight "
            f"and {threads} threads; use fewer threads or more memory"
        )
        raise InputValueError(msg)
    widths = [width for width in (8, 16, 32, 48, 64) if hop_peak(problem, width, threads) <= budget]
    return min(widths[-1], problem.n_features)


def columns_for(
    memory: int,
    n_nodes: int,
    stored_entries: int,
    attributes: int,
    itemsize: int,
    hops: int,
    n_threads: int,
    scratch_itemsize: int = 0,
    *,
    weighted: bool = False,
) -> int:
    """Return the most columns in flight (at most 64) whose peak stays within ``memory`` bytes."""
    problem = Problem(
        n_nodes, max(attributes, 1), itemsize, hops=hops, stored_entries=stored_entries,
        scratch_itemsize=scratch_itemsize, weighted=weighted,
    )  # fmt: skip
    return hop_way(problem, n_threads, memory).width


def default_columns(n_nodes: int, attributes: int) -> int:
    """Return the default columns in flight: a cache line of float32, more where columns are short."""
    return min(attributes, max(16, (1 << 22) // n_nodes // 16 * 16))


def columns_in_flight(
    memory: int, n_nodes: int, attributes: int, operator: Operator, hops: int, itemsize: int, n_threads: int
) -> int:
    """Do the same as `columns_for`, for an existing operator."""
    return hop_way(
        Problem(n_nodes, attributes, itemsize, hops=hops, **graph_of(operator)), n_threads, memory
    ).width


def graph_of(operator: Operator) -> dict[str, Any]:
    """Return what a `Problem` says about the operator of a graph."""
    # A series walks through one matrix many times.
    matrix = getattr(operator, "transition", operator).to_dict()
    return {
        # An operator of the caller's own need not say what it holds.
        "stored_entries": int(matrix.get("stored_entries", 0)),
        "weighted": bool(matrix.get("weighted", False)),
        "products": getattr(operator, "products", 1),
        "scratch_itemsize": getattr(operator, "scratch_itemsize", 0),
    }
