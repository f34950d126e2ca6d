"""The plan for a Dask cluster, there or imagined: what `geodim.backends.dask` would do with such workers.

The decisions are the backend's own, asked with workers that need not exist.  Columns stay on the workers if a
third of their memory holds them all; a column is solved whole if a worker has room for it in work; else, with
a tolerance, points are counted in steps, or where these have no room in cells, chunk by chunk, and nothing of
the length of a column exists anywhere.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from geodim.backends.hop_memory import peak_memory
from geodim.errors import ClusterError, InputValueError
from geodim.plan.cpu import product_seconds
from geodim.plan.problem import Plan, Problem, reachable_rtol
from geodim.plan.rates import CORE, CoreRates, speed_up

if TYPE_CHECKING:
    from collections.abc import Sequence

    from geodim.backends.dask.cluster import Cluster, Worker

PROCESS_BYTES = 230 << 20  # a worker with NumPy, Numba, Dask and the compiled kernels
CHUNK_BYTES = 128 << 20  # what Dask cuts arrays into, unless told otherwise
NO_LIMIT = 2.0**50
START = 0.5  # seconds until the first task runs, and from the last to the result
CLIENT = 28  # bytes per point of an exact result, at the client
LEADERS = 8  # columns that are solved first, at most
CELLS = 400  # over rtol: enough for the heaviest tails that were tried
MANY_TASKS = 200_000  # beyond this the scheduler is what one waits for


def workers_of(count: int, threads: int, memory: float) -> list[Worker]:
    """So many workers alike."""
    from geodim.backends.dask.cluster import Worker  # noqa: PLC0415

    return [Worker(threads, float(memory))] * count


def imagined(workers: Sequence[Worker]) -> Cluster:
    """A cluster that answers questions about room without being there."""
    from geodim.backends.dask.cluster import Cluster  # noqa: PLC0415

    class Imagined(Cluster):
        def __init__(self) -> None:
            self.client = None
            # Without a limit there is still some; infinity cannot be divided.
            self.workers = [replace(worker, memory=min(worker.memory, NO_LIMIT)) for worker in workers]

    return Imagined()


def plan_cluster(
    problem: Problem, workers: Sequence[Any], *, budget: int | None = None, rates: CoreRates = CORE
) -> Plan:
    """Plan for these workers; ``budget`` limits what a pass over hops may use on each of them."""
    if not workers:
        raise InputValueError("a plan for a cluster needs workers: how many, with how much memory each?")
    if problem.hops is not None:
        return _hops(problem, imagined(workers), budget, rates)
    return _columns(problem, imagined(workers), rates)


@dataclass(frozen=True)
class _Way:
    """How columns are solved on the cluster: whole, by counts per step, or in cells."""

    method: str
    counters: int  # of a column; 0 if it is not counted
    resident: bool
    slots: int
    why_not: str | None
    in_cells: bool = False


def _way(problem: Problem, cluster: Cluster) -> _Way:
    """As `DaskBackend` chooses."""
    import numpy as np  # noqa: PLC0415

    from geodim.backends.dask.backend import BYTES_IN_WORK, DaskBackend  # noqa: PLC0415
    from geodim.backends.dask.cells import COUNTER, MOST_SIZES  # noqa: PLC0415
    from geodim.backends.dask.histograms import BYTES_PER_STEP, LIVE  # noqa: PLC0415

    n, b, steps = problem.n_points, problem.itemsize, problem.steps
    resident = problem.apart and problem.nbytes <= cluster.room
    slots, counters = cluster.slots(n * BYTES_IN_WORK[b]), cluster.slots(steps * BYTES_PER_STEP)
    if slots and not (problem.apart and problem.counted and not resident):
        return _Way("whole columns", 0, resident, slots, None)
    if problem.apart and problem.rtol > 0.0 and counters:
        return _Way(f"counted in {steps:,.0f} steps, chunk by chunk", int(steps), resident, counters, None)
    if problem.apart and problem.rtol > 0.0:  # the range is many times Delta: cells need not be of one size
        cells = int(min(steps, CELLS / problem.rtol))
        most = min(cluster.room / (LIVE * COUNTER * problem.n_features), MOST_SIZES)
        why_not = None
        if cells > most:
            why_not = (
                f"this tolerance needs about {cells:,} cells for each column, and "
                f"there is room for {most:,.0f}"
            )
        return _Way(
            f"counted in about {cells:,} cells, chunk by chunk", cells, resident, 1, why_not, in_cells=True
        )
    like: Any = SimpleNamespace(n_points=n, dtype=np.dtype(f"f{b}"))
    why_not = str(DaskBackend(cluster)._too_large(like))
    if problem.apart:
        reachable = reachable_rtol(cluster.workroom / BYTES_PER_STEP, problem.range_over_delta)
        why_not += f"; these workers certify rtol {reachable:.1g} and more"
    return _Way("whole columns", 0, resident, 0, why_not)


def _columns(problem: Problem, cluster: Cluster, rates: CoreRates) -> Plan:
    from geodim.backends.dask.backend import BYTES_IN_WORK  # noqa: PLC0415
    from geodim.backends.dask.histograms import BYTES_PER_STEP, waves_for  # noqa: PLC0415
    from geodim.engine.steps import counter_type  # noqa: PLC0415

    way = _way(problem, cluster)
    n, d, b, count = problem.n_points, problem.n_features, problem.itemsize, len(cluster.workers)
    slots = max(way.slots, 1)
    chunks = problem.chunks or max(-(-problem.nbytes // CHUNK_BYTES), 1)
    away = 1.0 - 1.0 / count
    notes = []
    if way.counters:
        if way.in_cells:  # of all columns at once
            width, waves = cluster.columns_per_task(d), 1
        else:
            cut = waves_for(n, d, way.counters, cluster)
            width, waves = cut.width, cut.passes(d)
        groups = -(-d // width)
        kind = counter_type(n).itemsize
        # Look; count, and add as a tree.
        tasks = 2 * chunks + chunks * (1 + groups * 8 // 7) * waves + 2 * groups
        moved = int(kind * d * way.counters * chunks * 8 // 7 * away)
        chunk = problem.nbytes // chunks
        threads = min(worker.threads for worker in cluster.workers)
        memory = PROCESS_BYTES + 2 * threads * chunk + int(slots * way.counters * BYTES_PER_STEP)
        memory += int(8 * d / waves * way.counters * 4 / count)
        passes, client = 1 + waves, 28 * way.counters
        counting = replace(rates, count=rates.cell) if way.in_cells else rates
        work = counting.counted(n, d, way.counters) / (count * speed_up(threads))
        notes.append("no row leaves the worker that read it; bounds are certified to one step")
        if way.in_cells:
            notes.append("where a sample misjudged the columns, those that matter are counted once more")
    else:
        per_wave = max(int(cluster.room // (n * b)), 1)
        waves = 0 if way.resident or not problem.apart else 1 + -(-max(d - LEADERS, 0) // per_wave)
        width = _block_columns(problem, cluster)
        groups = -(-d // width)
        cutting = chunks * (1 + groups) if problem.apart else groups
        # Look; cut; solve, merge.
        tasks = (2 * chunks if problem.apart else 0) + cutting * max(waves, 1) + 3 * groups
        moved = int((problem.nbytes if problem.apart else problem.nbytes / away if away else 0) * away)
        moved += int(12 * n * groups * away)
        # Columns are twice in memory while they are cut out of chunks and travel.
        held = problem.nbytes / count if way.resident else min(cluster.room / count, problem.nbytes / count)
        memory = PROCESS_BYTES + int(2 * held) + slots * n * BYTES_IN_WORK[b]
        passes, client = 1 + waves, CLIENT * n + (0 if problem.apart or not problem.held else problem.nbytes)
        each = cluster.threads_each(slots)
        rounds = -(-d // (count * slots))
        work = n * (rates.first + rates.later * (rounds - 1 if rounds > 1 else 0)) / speed_up(each)
        if waves > 1:
            notes.append(
                f"the workers cannot hold all columns: the data is read {passes} times; with "
                f"{3 * problem.nbytes / 1e9:.3g} GB of memory on all workers together it would be once"
            )
    if tasks > MANY_TASKS:
        notes.append(f"{tasks:,} tasks keep the scheduler busy: larger chunks of rows are better")
    return _finished(
        problem, cluster, rates,
        method=way.method, why_not=way.why_not, columns=width, passes=passes, tasks=int(tasks), moved=moved,
        memory=memory, client=client, work=work, steps=way.counters or None, notes=notes,
        bytes_read=problem.nbytes * passes,
    )  # fmt: skip


def _block_columns(problem: Problem, cluster: Cluster) -> int:
    """Columns of a block, as `groups_of` has them."""
    from geodim.backends.dask.source import groups_of  # noqa: PLC0415

    per_column = problem.n_points * problem.itemsize
    return len(groups_of(range(problem.n_features), per_column, cluster)[0])


def _finished(
    problem: Problem,
    cluster: Cluster,
    rates: CoreRates,
    *,
    method: str,
    why_not: str | None,
    columns: int,
    passes: int,
    tasks: int,
    moved: int,
    memory: int,
    client: int,
    work: float,
    bytes_read: int,
    steps: int | None = None,
    notes: Sequence[str] = (),
) -> Plan:
    count = len(cluster.workers)
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
        method=method,
        **problem.asked,
        threads=min(worker.threads for worker in cluster.workers),
        workers=count,
        memory=memory,
        host_memory=PROCESS_BYTES + client,
        columns=columns,
        passes=passes,
        bytes_read=bytes_read,
        budget=_least_memory(cluster),
        bytes_moved=moved,
        tasks=tasks,
        steps=steps,
        # Tasks are handed out while others run.
        seconds=START + max(parts["columns"] + parts["reading"] + parts["network"], parts["scheduler"]),
        parts=parts,
        basis=f"{rates.basis}; {network}",
        why_not=why_not,
        notes=tuple(notes),
    )


def _least_memory(cluster: Cluster) -> int | None:
    least = min(worker.memory for worker in cluster.workers)
    return None if least >= NO_LIMIT else int(least)


def _hops(problem: Problem, cluster: Cluster, budget: int | None, rates: CoreRates) -> Plan:
    """Plan what `DaskHopPass` does.

    The operator is on every worker; a task takes a block of attributes through all hops.
    """
    import numpy as np  # noqa: PLC0415

    from geodim.backends.dask.hops import DaskHopPass  # noqa: PLC0415

    n, d, b, hops = problem.n_points, problem.n_features, problem.itemsize, problem.hops or 0
    count = len(cluster.workers)
    described = {"stored_entries": problem.stored_entries, "weighted": problem.weighted}
    operator: Any = SimpleNamespace(to_dict=lambda: described, scratch_itemsize=problem.scratch_itemsize)
    source: Any = SimpleNamespace(n_points=n, n_features=d)
    job = DaskHopPass(cluster, source, np.dtype(f"f{b}"), operator, hops)
    why_not = None
    try:
        width = job.width_for(budget)
    except ClusterError as error:
        width, why_not = min(8, d), str(error)
        job.slots = 1

    def need(entries: int) -> int:
        one = peak_memory(n, entries, width, b, hops, 1, problem.scratch_itemsize, weighted=problem.weighted)
        return one + n * (hops + 1) * (8 + 12)  # the worker's bars, and a result

    graph = need(problem.stored_entries) - need(0)
    blocks = -(-d // width)
    away = 1.0 - 1.0 / count
    moved = graph * count + problem.nbytes + int(12 * n * (hops + 1) * blocks * away)
    threads = cluster.threads_each(job.slots)
    rounds = -(-blocks // (count * job.slots))
    columns = rounds * width * (hops + 1)
    work = (rates.columns(n, columns) + product_seconds(problem, rates) * rounds * width / d) / speed_up(
        threads
    )
    client = n * 12 * (hops + 1) + graph + (problem.nbytes if problem.held else 0)
    return _finished(
        problem, cluster, rates,
        method="attributes in blocks, the graph on every worker", why_not=why_not, columns=width,
        passes=blocks * hops * problem.products, tasks=2 * blocks, moved=moved,
        memory=PROCESS_BYTES + graph + job.slots * need(0), client=client, work=work,
        bytes_read=2 * problem.nbytes,
    )  # fmt: skip
