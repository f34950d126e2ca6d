"""The plan for the cores of one machine.

Peak memory of plain columns of n points, b bytes a value, is

    solvers * n (8 + 2 b + 4.75) + 12 n + buffers * width * n b    (+ n d b if the data is not mapped)

for the sorted column, the keys, records and lists of each thread that solves, the profile, and the
blocks being read; and 180 MiB for Python itself.  Counted columns have S steps in the place of n, but
for the blocks being read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from geodim.backends.hop_memory import NARROWEST, HopPlan, plan_hops
from geodim.engine.blocks import CACHE_LINE, reading
from geodim.engine.steps import MOST_STEPS
from geodim.memory import machine_memory
from geodim.plan.problem import PROCESS_BYTES, Plan, Problem, reachable_rtol
from geodim.plan.rates import CORE, CoreRates, speed_up

if TYPE_CHECKING:
    from geodim.engine.blocks import Reading

RECORDS = 4.75  # bytes per point: a record of 64 for every 16 points, and a list of 12
FINISH = 28  # bytes per point of an exact result: profile, support, and what is summed up
FINISH_BOUNDS = 52  # of bounds that are not counted, with lower and upper


def _reading(problem: Problem, threads: int) -> Reading:
    d = problem.n_features
    return reading(problem.n_points, d, problem.itemsize, threads, row_major=problem.row_major and d > 1)


def column_memory(problem: Problem, threads: int) -> int:
    """Peak bytes by the formula above."""
    way = _reading(problem, threads)
    n, b = problem.n_points, problem.itemsize
    size, kind = (problem.steps, 8) if problem.counted else (n, b)
    known = 8 + 4 if problem.counted else 0  # what others reached, and the counters
    work = way.solvers * size * (8 + 2 * kind + RECORDS + known) + 12 * size + way.buffers * way.width * n * b
    finish = size * (FINISH if problem.rtol == 0.0 else FINISH_BOUNDS)
    return PROCESS_BYTES + int(max(work, finish)) + (problem.nbytes if problem.held else 0)


def plan_cpu(
    problem: Problem, *, threads: int = 1, budget: int | None = None, rates: CoreRates = CORE
) -> Plan:
    """Plan for one machine."""
    if problem.hops is not None:
        return _hops(problem, threads, budget, rates)
    way = _reading(problem, threads)
    width, passes = way.width, way.passes
    memory = column_memory(problem, threads)
    n, d = problem.n_points, problem.n_features
    counted = problem.counted
    cache = budget or machine_memory() or problem.nbytes
    # Else the system keeps the file in memory.
    from_disk = problem.nbytes + memory > cache and not problem.held
    work = rates.counted(n, d, problem.steps) if counted else rates.columns(n, d)
    parts = {"columns": work / speed_up(threads)}
    bytes_read = problem.nbytes * (1 + passes)
    if from_disk:
        parts["reading from disk"] = bytes_read / rates.storage
    elif problem.row_major:
        # Every group of columns takes all rows through the cache, a line of each at least.
        line = d * problem.itemsize
        if problem.held:
            line = min(line, CACHE_LINE * -(-width * problem.itemsize // CACHE_LINE))
        parts["reading rows"] = n * line * passes / rates.rows
    notes, why_not = [], None
    if problem.rtol > 0.0:
        notes.append("where the pilot guesses too coarsely, the columns are read once more")
        if not counted:
            notes.append("so small a tolerance is not counted but sorted: about as slow as exact")
    if passes > 1 and from_disk:
        notes.append(
            f"the points lie row by row: all of them are read {passes} times, for {width} columns each"
        )
    if budget is not None and memory > budget:
        why_not = _too_small(problem, threads, budget)
    return Plan(
        backend="cpu",
        method=f"counted in {problem.steps:,.0f} steps" if counted else "sorted",
        **problem.asked,
        threads=threads,
        memory=memory,
        host_memory=memory,
        columns=width,
        passes=1 + passes,
        bytes_read=bytes_read,
        budget=budget,
        steps=int(problem.steps) if counted else None,
        seconds=rates.call + sum(parts.values()),
        parts=parts,
        basis=rates.basis,
        why_not=why_not,
        notes=tuple(notes),
    )


def _too_small(problem: Problem, threads: int, budget: int) -> str:
    """What would fit."""
    need = column_memory(problem, threads)
    fewer = [t for t in range(threads - 1, 0, -1) if column_memory(problem, t) <= budget]
    text = (
        f"{need / 1e9:.3g} GB are needed with {threads} thread{'' if threads == 1 else 's'}, "
        f"and {budget / 1e9:.3g} GB there"
    )
    if fewer:
        return f"{text}: use {fewer[0]} thread{'' if fewer[0] == 1 else 's'}"
    if problem.rtol == 0.0:
        rtol = reachable_rtol(MOST_STEPS, problem.range_over_delta)
        return (
            f"{text}: use more memory, a cluster, or a tolerance (from about "
            f"{rtol:.1g} on columns are counted)"
        )
    return f"{text}: use more memory, a cluster, or a larger tolerance"


def _hops(problem: Problem, threads: int, budget: int | None, rates: CoreRates) -> Plan:
    found, why_not = hop_plan(problem, threads, budget)
    parts = {
        "products": product_seconds(problem, rates) / speed_up(threads),
        "columns": rates.columns(problem.n_points, problem.values // problem.n_points)
        / speed_up(min(threads, problem.n_features)),
    }
    return Plan(
        backend="cpu",
        method="sorted",
        **problem.asked,
        threads=threads,
        memory=found.memory,
        host_memory=found.memory,
        columns=found.columns,
        passes=found.passes,
        bytes_read=2 * problem.nbytes,
        budget=budget,
        seconds=sum(parts.values()),
        parts=parts,
        basis=rates.basis,
        why_not=why_not,
    )


def hop_plan(problem: Problem, threads: int, budget: int | None) -> tuple[HopPlan, str | None]:
    """Columns in flight as `khop_dimensions` chooses them, or the fewest, and why those do not fit."""
    from geodim.errors import InputValueError  # noqa: PLC0415

    def planned(columns: int | None) -> HopPlan:
        return plan_hops(
            problem.n_points,
            problem.stored_entries,
            problem.n_features,
            problem.hops or 0,
            itemsize=problem.itemsize,
            threads=threads,
            budget=budget,
            columns=columns,
            products=problem.products,
            scratch_itemsize=problem.scratch_itemsize,
            weighted=problem.weighted,
        )

    try:
        return planned(None), None
    except InputValueError as error:
        return planned(min(NARROWEST, problem.n_features)), str(error)


def product_seconds(problem: Problem, rates: CoreRates) -> float:
    """All products with the graph, on one core."""
    per_hop = (problem.stored_entries + problem.n_points) * problem.n_features * problem.products
    return per_hop * (problem.hops or 0) * rates.product
