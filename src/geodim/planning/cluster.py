"""The plan for a Dask cluster, existing or not, from the threads and memory of its workers.

Columns stay on the workers if a third of their memory holds them all; a column is solved whole if a worker
has room for it in work; else, with a tolerance, points are counted in steps, or where these have no room in
cells, chunk by chunk, and nothing of the length of a column exists anywhere.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from geodim.engine.steps import counter_type, may_leave_out
from geodim.engine.ways import Way, counted_in
from geodim.errors import InputValueError
from geodim.planning.capacity import BYTES_IN_WORK, BYTES_PER_CELL, BYTES_PER_STEP, LIVE, Capacity, Worker
from geodim.planning.cpu import column_memory, product_seconds
from geodim.planning.hops import NARROWEST, peak_memory
from geodim.planning.problem import PROCESS_BYTES as CORE_PROCESS, Plan, Problem, reachable_rtol
from geodim.planning.rates import CORE, CoreRates, speed_up

if TYPE_CHECKING:
    from collections.abc import Sequence

PROCESS_BYTES = 230 << 20  # a worker with NumPy, Numba, Dask and the compiled kernels
CHUNK_BYTES = 128 << 20  # what Dask cuts arrays into, unless told otherwise
NO_LIMIT = 2.0**50
START = 0.5  # seconds until the first task runs, and from the last to the result
CLIENT = 20  # bytes per point of an exact result, at the client
LEADERS = 8  # columns that are solved first, at most
CELLS = 400  # over rtol: enough for the heaviest tails that were tried
MOST_SIZES = 1 << 21  # at which Phi is bounded by counts in cells
MANY_TASKS = 200_000  # beyond this the scheduler is the bottleneck
MADE_TASKS = 4  # per thread, where workers compute columns,
MADE_RESULT = 36  # and bytes per point that the result of each takes: as found, sent and merged
AHEAD = 2  # tasks of a pass over hops that wait for each running one


def workers_of(count: int, threads: int, memory: float) -> list[Worker]:
    """Return a number of identical workers."""
    return [Worker(threads, float(memory))] * count


def plan_cluster(
    problem: Problem, workers: Sequence[Worker], *, budget: int | None = None, rates: CoreRates = CORE
) -> Plan:
    """Plan for these workers; ``budget`` limits what a pass over hops may use on each of them."""
    if not workers:
        raise InputValueError("a plan for a cluster needs workers: how many, with how much memory each?")
    # No limit counts as a large number: infinity cannot be divided.
    capacity = Capacity([replace(worker, memory=min(worker.memory, NO_LIMIT)) for worker in workers])
    if problem.hops is not None:
        return _hops(problem, capacity, budget, rates)
    if problem.made_once:
        return _made(problem, capacity, rates)
    return _columns(problem, capacity, rates)


def column_way(problem: Problem, capacity: Capacity) -> tuple[Way, str | None]:
    """Return how columns are solved on the cluster, or why they cannot be."""
    n, d, steps = problem.n_points, problem.n_features, problem.steps
    resident = problem.resident
    if resident is None:
        resident = problem.apart and problem.nbytes <= capacity.room
    slots = capacity.slots(n * BYTES_IN_WORK[problem.itemsize])
    if slots and not (problem.apart and problem.counted and not resident):
        method, counted, left_out = counted_in(
            steps if problem.counted else math.inf, n, leave_out=problem.negligible
        )
        passes = 0
        if problem.apart and not resident:
            passes = 1 + -(-max(d - LEADERS, 0) // capacity.columns_at_rest(problem.bytes_per_column))
        width = capacity.columns_per_block(d, max(problem.bytes_per_column, 1))
        relaxed = not problem.last_bit and problem.rtol == 0.0 and problem.runs is None
        return Way(
            method, counted, left_out, width, slots, passes=passes, resident=resident, relaxed=relaxed
        ), None
    if not problem.apart or (problem.rtol == 0.0 and steps > 0.0):
        return Way(solvers=0, resident=resident), _too_large(problem, capacity)
    counters = 0
    if steps > 0.0 and (slots or not problem.again):  # otherwise steps were tried, and were too coarse
        counters = capacity.slots(steps * BYTES_PER_STEP)
    if counters:
        cut = capacity.waves(n, d, int(steps))
        left_out = may_leave_out(int(steps), problem.negligible)
        return Way(
            "counted", int(steps), left_out, cut.width, counters, blocks=cut.groups,
            passes=cut.passes(d), by_chunk=True, resident=resident,
        ), None  # fmt: skip
    # The range is many times Delta: cells need not be of one size.
    cells = int(min(steps, CELLS / problem.rtol)) if problem.rtol > 0.0 else 1
    most = min(capacity.room / (LIVE * BYTES_PER_CELL * d), MOST_SIZES)
    why_not = None
    if cells > most:
        why_not = (
            f"this tolerance needs about {cells:,} cells for each column, and there is room for {most:,.0f}"
        )
    width = capacity.columns_per_task(d)
    return Way("in cells", cells, width=width, by_chunk=True, resident=resident), why_not


def _too_large(problem: Problem, capacity: Capacity) -> str:
    """Return what would have to be different for the problem to fit."""
    need = problem.n_points * BYTES_IN_WORK[problem.itemsize]
    text = (
        f"exact values of a column of {problem.n_points:,} points need {need:,} bytes in work, and a "
        f"worker may use {capacity.workroom:,.0f}: use workers with more memory, or rtol > 0 with "
        "data that the workers read themselves, which is counted where its rows lie"
    )
    if problem.apart:
        reachable = reachable_rtol(capacity.workroom / BYTES_PER_STEP, problem.range_over_delta)
        text += f"; these workers certify rtol {reachable:.1g} and more"
    return text


def _in_words(way: Way) -> str:
    if way.by_chunk:
        what = f"{way.steps:,} steps" if way.counted else f"about {way.steps:,} cells"
        return f"counted in {what}, chunk by chunk"
    return "whole columns"


def _columns(problem: Problem, capacity: Capacity, rates: CoreRates) -> Plan:
    way, why_not = column_way(problem, capacity)
    n, d, b, count = problem.n_points, problem.n_features, problem.itemsize, len(capacity.workers)
    slots = max(way.solvers, 1)
    chunks = problem.chunks or max(-(-problem.nbytes // CHUNK_BYTES), 1)
    away = 1.0 - 1.0 / count
    groups = -(-d // way.width)
    passes = 1 + way.passes
    notes = []
    if way.by_chunk:
        assert way.steps is not None
        kind = counter_type(n).itemsize
        # Look; count, and add as a tree.
        tasks = 2 * chunks + chunks * (1 + groups * 8 // 7) * way.passes + 2 * groups
        moved = int(kind * d * way.steps * chunks * 8 // 7 * away)
        chunk = problem.nbytes // chunks
        threads = min(worker.threads for worker in capacity.workers)
        memory = PROCESS_BYTES + 2 * threads * chunk + int(slots * way.steps * BYTES_PER_STEP)
        memory += int(8 * d / way.passes * way.steps * 4 / count)
        client = 28 * way.steps
        counting = rates if way.counted else replace(rates, count=rates.cell)
        work = counting.counted(n, d, way.steps) / (count * speed_up(threads))
        notes.append("no row leaves the worker that read it; bounds are certified to one step")
        if not way.counted:
            notes.append("where a sample misjudged the columns, those that matter are counted once more")
    else:
        cutting = chunks * (1 + groups) if problem.apart else groups
        # Look; cut; solve, merge.
        tasks = (2 * chunks if problem.apart else 0) + cutting * max(way.passes, 1) + 3 * groups
        moved = int((problem.nbytes if problem.apart else problem.nbytes / away if away else 0) * away)
        moved += int(12 * n * groups * away)
        # Columns are twice in memory while they are cut out of chunks and travel.
        held = problem.nbytes / count if way.resident else min(capacity.room, problem.nbytes) / count
        in_work = n * BYTES_IN_WORK[b] if way.steps is None else n * b + way.steps * BYTES_PER_STEP
        memory = PROCESS_BYTES + int(2 * held) + slots * in_work
        client = CLIENT * n + (0 if problem.apart or not problem.held else problem.nbytes)
        each = capacity.threads_each(slots)
        rounds = -(-d // (count * slots))
        work = n * (rates.first + rates.later * (rounds - 1 if rounds > 1 else 0)) / speed_up(each)
        if way.passes > 1:
            notes.append(
                f"the workers cannot hold all columns: the data is read {passes} times; with "
                f"{3 * problem.nbytes / 1e9:.3g} GB of memory on all workers together it would be once"
            )
    if tasks > MANY_TASKS:
        notes.append(f"{tasks:,} tasks keep the scheduler busy: larger chunks of rows are better")
    return _finished(
        problem, capacity, rates, way,
        method=_in_words(way), why_not=why_not, passes=passes, tasks=int(tasks), moved=moved,
        memory=memory, client=client, work=work, notes=notes, bytes_read=problem.nbytes * passes,
    )  # fmt: skip


def _made(problem: Problem, capacity: Capacity, rates: CoreRates) -> Plan:
    """Plan for points on every worker, where each task computes and solves some columns in one thread."""
    n, d, count = problem.n_points, problem.n_features, len(capacity.workers)
    threads = max(worker.threads for worker in capacity.workers)
    tasks = min(d, LEADERS) + min(d, MADE_TASKS * capacity.threads)
    one = column_memory(replace(problem, made_from=0, held=False), 1) - CORE_PROCESS
    points = problem.made_from or 0
    memory = PROCESS_BYTES + points + threads * (one + MADE_RESULT * n)
    way = Way(width=problem.at_once, solvers=threads, drops=True)
    work = (rates.made * n + rates.making * points / 8) * d / (count * speed_up(threads))
    return _finished(
        problem, capacity, rates, way,
        method="columns made on the workers", why_not=None, passes=1, tasks=3 * tasks,
        moved=points * count + 12 * n * tasks, memory=memory, client=CLIENT * n + points, work=work,
        bytes_read=0,
    )  # fmt: skip


def _finished(
    problem: Problem,
    capacity: Capacity,
    rates: CoreRates,
    way: Way,
    *,
    method: str,
    why_not: str | None,
    passes: int,
    tasks: int,
    moved: int,
    memory: int,
    client: int,
    work: float,
    bytes_read: int,
    notes: Sequence[str] = (),
) -> Plan:
    count = len(capacity.workers)
    parts = {
        "columns": work,
        "reading": (bytes_read if problem.apart else 0) / (rates.storage * count),
        "network": moved / (rates.network * count),
        "scheduler": tasks * rates.task,
    }
    network = (
        f"{rates.network / 1e9:g} GB/s per worker for reading and for the network, "
        f"{rates.task * 1e3:g} ms per task"
    )
    return Plan(
        backend="dask",
        way=way,
        method=method,
        **problem.asked,
        threads=min(worker.threads for worker in capacity.workers),
        workers=count,
        memory=memory,
        memory_added=memory,
        host_memory=PROCESS_BYTES + client,
        columns=way.width,
        passes=passes,
        bytes_read=bytes_read,
        budget=_least_memory(capacity),
        bytes_moved=moved,
        tasks=tasks,
        steps=way.steps if way.by_chunk else None,
        # Tasks are scheduled while others run.
        seconds=START + max(parts["columns"] + parts["reading"] + parts["network"], parts["scheduler"]),
        parts=parts,
        basis=f"{rates.basis}; {network}",
        why_not=why_not,
        notes=tuple(notes),
    )


def _least_memory(capacity: Capacity) -> int | None:
    least = min(worker.memory for worker in capacity.workers)
    return None if least >= NO_LIMIT else int(least)


def _hop_bytes(problem: Problem, columns: int, entries: int) -> int:
    """Return what a task with this many columns in flight takes on a worker, without the graph's entries."""
    n, hops = problem.n_points, problem.hops or 0
    one = peak_memory(
        n, entries, columns, problem.itemsize, hops, 1, problem.scratch_itemsize, weighted=problem.weighted
    )
    return one + n * (hops + 1) * (8 + 12)  # the worker's bars, and a result


def _graph_bytes(problem: Problem) -> int:
    """Return the bytes of the graph's entries, which every worker holds once."""
    return _hop_bytes(problem, NARROWEST, problem.stored_entries) - _hop_bytes(problem, NARROWEST, 0)


def hop_way(problem: Problem, capacity: Capacity, budget: int | None = None) -> tuple[Way, str | None]:
    """Return columns in flight per task and running tasks per worker, by its memory; and why it cannot be."""
    n, d, graph = problem.n_points, problem.n_features, _graph_bytes(problem)
    room = capacity.workroom if budget is None else min(capacity.workroom, budget)
    most = min(worker.threads for worker in capacity.workers)
    slots = int(min(max(room - graph, 0) // _hop_bytes(problem, NARROWEST, 0), most))
    why_not = None
    width = NARROWEST
    if slots < 1:
        need = _hop_bytes(problem, NARROWEST, problem.stored_entries)
        why_not = (
            f"no worker can take {NARROWEST} attributes of {n:,} nodes through {problem.hops} "
            f"hops: that needs {need:,} bytes, and {room:,.0f} may be used; "
            "start workers with more memory"
        )
    else:
        share = -(-d // (AHEAD * capacity.threads))
        widths = [w for w in (8, 16, 32, 64) if graph + slots * _hop_bytes(problem, w, 0) <= room]
        width = max(1, min(widths[-1], max(share, NARROWEST)))
    width = min(width, d)
    passes = -(-d // width) * (problem.hops or 0) * problem.products
    relaxed = not problem.last_bit and problem.rtol == 0.0
    return Way(width=width, solvers=max(slots, 1), passes=passes, relaxed=relaxed), why_not


def _hops(problem: Problem, capacity: Capacity, budget: int | None, rates: CoreRates) -> Plan:
    """Plan for the operator on every worker, where each task takes a block of attributes through all hops."""
    way, why_not = hop_way(problem, capacity, budget)
    n, d, hops = problem.n_points, problem.n_features, problem.hops or 0
    count, graph = len(capacity.workers), _graph_bytes(problem)
    blocks = -(-d // way.width)
    away = 1.0 - 1.0 / count
    moved = graph * count + problem.nbytes + int(12 * n * (hops + 1) * blocks * away)
    rounds = -(-blocks // (count * way.solvers))
    work = rates.columns(n, rounds * way.width * (hops + 1))
    work += product_seconds(problem, rates) * rounds * way.width / d
    return _finished(
        problem, capacity, rates, way,
        method="attributes in blocks, the graph on every worker", why_not=why_not, passes=way.passes,
        tasks=2 * blocks, moved=moved,
        memory=PROCESS_BYTES + graph + way.solvers * _hop_bytes(problem, way.width, 0),
        client=n * 12 * (hops + 1) + graph + (problem.nbytes if problem.held else 0),
        work=work / speed_up(capacity.threads_each(way.solvers)),
        bytes_read=2 * problem.nbytes,
    )  # fmt: skip
