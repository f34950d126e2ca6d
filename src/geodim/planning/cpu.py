"""The plan for the cores of one machine.

Peak memory of plain columns of n points, b bytes a value, is

    solvers * n (8 + 2 b + 2.375 + 56) + 12 n + buffers * width * n b    (+ n d b if the data is not mapped)

for the sorted column, the keys, records, lists and departures of each thread that solves, the profile, and
the blocks being read; 8 n more if several threads solve; and 180 MiB for Python itself.  Counted columns have
S steps in place of n, except for the blocks being read; where they are counted some rows after the others,
each thread holds so many rows, and counters for all columns of a block.  Sparse columns and those of weighted
points are read as values with multiplicities instead, at 50 bytes a value.  Columns that are made have the
points they are made from in the place of n d b, and 36 bytes per point and thread (15 for long columns) to be
dropped by counts.  Points with masses have constants of their own.
"""

from __future__ import annotations

import math
from dataclasses import replace

from geodim.engine.dominated import SORT_ALL_UP_TO
from geodim.engine.steps import MOST_STEPS, longer_counters, short_counters
from geodim.engine.toptwo import TWO_BYTES
from geodim.engine.ways import (
    CACHE_LINE,
    MOST_STRAIGHT,
    Way,
    every_window,
    local_way,
    mass_way,
    padded_rows,
)
from geodim.errors import InputValueError
from geodim.memory import machine_memory
from geodim.planning.hops import NARROWEST, hop_peak, hop_way
from geodim.planning.problem import PROCESS_BYTES, Plan, Problem, reachable_rtol
from geodim.planning.rates import CORE, CoreRates, speed_up

RECORDS = 2.5625  # bytes per point: two records of 72 for every 64 points, and in lists two times 9
# Bytes per point of a column whose windows are all alike: lines, it mirrored, and departures from them; and
# ladders, if it stays close to one line.
BENT, STRAIGHT = 20, 56
RUN = 50  # bytes per value of a column that is read as values with multiplicities, as measured
WEIGHT = 25  # bytes per row that has one, as measured
FINISH = 20  # bytes per point of an exact result: profile, and what is summed up
FINISH_BOUNDS = 52  # of bounds that are not counted, with lower and upper
FINISH_PART = 92  # of a part of a larger family, for which there are bounds, too
REMOVAL = 48  # of what removals cost: the two best, who holds them, and where
DROP, DROP_LONG = 36, 15  # bytes per point of `geodim.engine.dominated`
# Of points with masses, as measured: bytes per row for the weights; per point for a column that is solved,
# and for all steps of Phi, of which there are about two a point; if counted, per point and per step.
MASSES, MASS_COLUMN, MASS_STEPS, COUNTED_MASS, COUNTED_STEP = 45, 500, 90, 23, 62


def column_way(problem: Problem, threads: int) -> Way:
    """Return the way to solve plain columns on this machine."""
    if problem.every_window:
        return every_window(problem.n_points, problem.n_features, row_major=problem.row_major)
    steps = math.inf if problem.far else problem.steps
    if problem.masses:
        return mass_way(
            problem.n_points, problem.n_features, threads, steps=steps, leave_out=problem.negligible
        )
    way = local_way(
        problem.n_points, problem.n_features, problem.itemsize, threads,
        row_major=problem.row_major and problem.n_features > 1, by_rows=problem.by_rows,
        runs=problem.runs is not None, at_once=problem.at_once,
        steps=steps, leave_out=problem.negligible,
    )  # fmt: skip
    # Columns of values with multiplicities hold ties, and are no lines.
    return replace(way, relaxed=not problem.last_bit and problem.rtol == 0.0 and problem.runs is None)


def column_memory(problem: Problem, threads: int) -> int:
    """Return the peak bytes by the formula above."""
    way = column_way(problem, threads)
    n, b = problem.n_points, problem.itemsize
    if problem.masses:
        return PROCESS_BYTES + _mass_memory(problem, way) + (problem.nbytes if problem.held else 0)
    size, kind = (way.steps, 8) if way.steps is not None else (n, b)
    if not way.compiled:
        solving = (3 * 8 + b) * way.width * n + 12 * n
        return PROCESS_BYTES + solving + FINISH * n + (problem.nbytes if problem.held else 0)
    known = 8 + 4 if way.counted else 0  # what others reached, and the counters
    solved, read = size, _reading(problem, way)
    if problem.runs is not None:
        # The run of zeros of a sparse column is cut to the length of all others together.
        expanded = n if problem.n_rows is not None else min(n, 2 * problem.runs)
        solved, known = min(size, expanded), known + 8  # repeated, and then copied to their place
        read = way.solvers * RUN * problem.runs + WEIGHT * (problem.n_rows or 0)
    work = way.solvers * solved * (8 + 2 * kind + RECORDS + known) + 12 * size + read
    if way.shares:  # what all threads reached, for all of them
        work += 8 * n
    if way.drops or problem.made_once:
        work += way.solvers * n * (DROP if n <= SORT_ALL_UP_TO else DROP_LONG)
    if not way.counted and way.compiled:  # which columns these are shows only when they are sorted
        work += way.solvers * solved * (STRAIGHT if solved < MOST_STRAIGHT else BENT)
    finish = size * (FINISH if problem.rtol == 0.0 else FINISH_BOUNDS)
    if problem.part is not None:
        finish = size * FINISH_PART + problem.part
    if problem.removal:
        work, finish = work + TWO_BYTES * n, finish + REMOVAL * n
    kept = (problem.nbytes if problem.held else 0) + (problem.made_from or 0)
    return PROCESS_BYTES + int(max(work, finish)) + kept


def _reading(problem: Problem, way: Way) -> int:
    """Return the bytes of blocks that are being read, and of counters if they are counted at once."""
    n, b = problem.n_points, problem.itemsize
    if not way.rows:
        return way.buffers * way.width * n * b
    assert way.steps is not None
    counters = short_counters(n, way.steps)
    together = longer_counters(counters, n).itemsize if way.buffers > 1 else 0  # where threads add them up
    values = way.buffers * padded_rows(way.rows, b) * b
    return way.width * (values + way.steps * (way.buffers * counters.itemsize + together))


def _mass_memory(problem: Problem, way: Way) -> int:
    """Return the bytes that points with masses take."""
    n = problem.n_points
    weights = MASSES * (n if problem.n_rows is None else problem.n_rows)
    if way.steps is not None:
        return weights + way.solvers * (COUNTED_MASS * n + COUNTED_STEP * way.steps)
    return weights + way.solvers * MASS_COLUMN * n + MASS_STEPS * n


def plan_cpu(
    problem: Problem, *, threads: int = 1, budget: int | None = None, rates: CoreRates = CORE
) -> Plan:
    """Plan for one machine."""
    if problem.hops is not None:
        return _hops(problem, threads, budget, rates)
    way = column_way(problem, threads)
    width, passes = way.width, way.passes
    memory = column_memory(problem, threads)
    n, d = problem.n_points, problem.n_features
    counted = way.counted
    cache = budget or machine_memory() or problem.nbytes
    # Else the system keeps the file in memory.
    from_disk = problem.nbytes + memory > cache and not problem.held
    looks = 0 if problem.made_once else 1
    bytes_read = problem.nbytes * (looks + passes)
    if not way.compiled:
        threads = 1
        work = rates.windows(n, d)
    elif problem.made_once and way.drops:
        work = rates.made * n * d
    elif problem.masses:
        work = rates.counted_masses(n, d, problem.steps) if counted else rates.masses(n, d)
    else:
        work = rates.counted(n, d, problem.steps) if counted else rates.columns(n, d)
    parts = {"columns": work / speed_up(threads)}
    if problem.made_from is not None:
        bytes_read = n * d * problem.itemsize * (looks + passes)
        making = rates.making * problem.made_from / 8 * d * (looks + passes)
        parts["making them"] = making / speed_up(threads)
    elif from_disk:
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
            notes.append("with so small a tolerance columns are sorted, not counted: about as slow as exact")
    if passes > 1 and from_disk:
        notes.append(
            f"the points lie row by row: all of them are read {passes} times, for {width} columns each"
        )
    if budget is not None and memory > budget:
        why_not = _too_small(problem, threads, budget)
    return Plan(
        backend="cpu",
        way=way,
        method=_method(way),
        **problem.asked,
        threads=threads,
        memory=memory,
        memory_added=memory - PROCESS_BYTES - (problem.nbytes if problem.held and not problem.fresh else 0),
        host_memory=memory,
        columns=width,
        passes=looks + passes,
        bytes_read=bytes_read,
        budget=budget,
        steps=way.steps,
        seconds=rates.call + sum(parts.values()),
        parts=parts,
        basis=rates.basis,
        why_not=why_not,
        notes=tuple(notes),
    )


def _method(way: Way) -> str:
    """Return how columns are solved, in words."""
    if way.counted:
        return f"counted in {way.steps:,} steps"
    return "sorted" if way.compiled else "sorted, and every window looked at: too few to load compiled code"


def _too_small(problem: Problem, threads: int, budget: int) -> str:
    """Suggest what would fit into memory."""
    need = column_memory(problem, threads)
    fewer = [t for t in range(threads - 1, 0, -1) if column_memory(problem, t) <= budget]
    text = (
        f"{need / 1e9:.3g} GB are needed with {threads} thread{'' if threads == 1 else 's'}, "
        f"and {budget / 1e9:.3g} GB are available"
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
    why_not = None
    try:
        way = hop_way(problem, threads, budget)
    except InputValueError as error:  # then with as few columns as possible
        way, why_not = hop_way(problem, threads, columns=min(NARROWEST, problem.n_features)), str(error)
    memory = hop_peak(problem, way.width, threads)
    parts = {
        "products": product_seconds(problem, rates) / speed_up(threads),
        "columns": rates.columns(problem.n_points, problem.values // problem.n_points)
        / speed_up(min(threads, problem.n_features)),
    }
    return Plan(
        backend="cpu",
        way=way,
        method="sorted",
        **problem.asked,
        threads=threads,
        memory=memory,
        memory_added=memory,
        host_memory=memory,
        columns=way.width,
        passes=way.passes,
        bytes_read=2 * problem.nbytes,
        budget=budget,
        seconds=sum(parts.values()),
        parts=parts,
        basis=rates.basis,
        why_not=why_not,
    )


def product_seconds(problem: Problem, rates: CoreRates) -> float:
    """Return the seconds for all products with the graph, on one core."""
    per_hop = (problem.stored_entries + problem.n_points) * problem.n_features * problem.products
    return per_hop * (problem.hops or 0) * rates.product
