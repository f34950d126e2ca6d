"""What the workers of a cluster, real or planned, can hold and process at the same time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from geodim.engine.steps import counter_type

if TYPE_CHECKING:
    from collections.abc import Sequence

PROCESS_BYTES = 200 << 20  # Python with NumPy, Numba, Dask and the compiled kernels
AT_REST = 0.35  # of a worker's memory for columns and results that wait,
AT_WORK = 0.35  # for running tasks; the rest is left to Dask, which spills and pauses near the limit

# Bytes per point of a column in work, by the bytes of a value: the solver (see docs/architecture.md), a
# profile, the worker's bar, and a result.
BYTES_IN_WORK = {4: 25 + 12 + 8 + 12 + 4, 8: 33 + 12 + 8 + 12 + 8}
BYTES_PER_STEP = 8 + 33 + 12 + 8 + 12  # counts, solver, profile, bar and result
BYTES_PER_CELL = 8
LIVE = 10  # about how many histograms of one column wait on a worker at the same time
COUNTED_BYTES = 16 << 20  # about the largest size of the counts of a task

BLOCK_BYTES = 256 << 20  # columns travel in blocks of at most about this size,
LEAST_BYTES = 1 << 20  # and of at least this one, where there are enough columns
BLOCKS_PER_THREAD = 1  # more would share the last of the work better, and cost more in all


@dataclass(frozen=True)
class Worker:
    """Memory and threads of one worker."""

    threads: int
    memory: float  # bytes, infinite if there is no limit
    address: str = ""

    @property
    def usable(self) -> float:
        """Return the bytes that data may take."""
        return max(self.memory - PROCESS_BYTES, self.memory / 4)


class Waves(NamedTuple):
    """How a pass by counts divides the columns.

    It states the columns in a task, and the tasks before the data is read again.
    """

    width: int
    groups: int

    def passes(self, n_features: int) -> int:
        """Return how many times the data is read."""
        return -(-n_features // (self.width * self.groups))


class Capacity:
    """What some workers can do together.

    Parameters
    ----------
    workers : sequence of Worker
        They need not exist.
    """

    def __init__(self, workers: Sequence[Worker]) -> None:
        self.workers = list(workers)

    @property
    def threads(self) -> int:
        """Threads of all workers together."""
        return sum(worker.threads for worker in self.workers)

    @property
    def room(self) -> float:
        """Bytes that may wait on the workers, all together."""
        return AT_REST * sum(worker.usable for worker in self.workers)

    @property
    def workroom(self) -> float:
        """Bytes that running tasks may take on any worker."""
        return AT_WORK * min(worker.usable for worker in self.workers)

    def slots(self, bytes_per_task: float) -> int:
        """Return how many tasks of that size each worker may run at the same time; 0 if not even one fits."""
        return int(min(self.workroom / bytes_per_task, *(worker.threads for worker in self.workers)))

    def threads_each(self, slots: int) -> int:
        """Return the threads for each of this many running tasks, so that no worker exceeds its threads."""
        return max(1, min(worker.threads for worker in self.workers) // max(slots, 1))

    def columns_per_task(self, n_columns: int) -> int:
        """Return enough tasks for two per thread: with one each, all would wait for the slowest."""
        return -(-n_columns // (2 * self.threads))

    def columns_per_block(self, n_columns: int, bytes_per_column: int) -> int:
        """Return the columns that travel together: enough blocks for all threads, of a sensible size."""
        share = -(-n_columns // (BLOCKS_PER_THREAD * self.threads))
        most = min(BLOCK_BYTES, self.room / (4 * self.threads))  # it is in memory twice while it travels
        return max(1, int(min(max(share, LEAST_BYTES // bytes_per_column), most // bytes_per_column)))

    def columns_at_rest(self, bytes_per_column: int) -> int:
        """Return how many columns the workers can hold together, at least one."""
        return max(int(self.room // bytes_per_column), 1)

    def waves(self, n_points: int, n_features: int, n_steps: int) -> Waves:
        """Return as many columns at a time as every worker has room to count."""
        per_column = counter_type(n_points).itemsize * n_steps
        together = max(1, int(self.room / len(self.workers) // (LIVE * per_column)))
        width = max(1, min(self.columns_per_task(n_features), COUNTED_BYTES // per_column, together))
        return Waves(width, max(1, together // width))

    def share_of_room(self, n_cells: float) -> float:
        """Return the share of the room that counts in this many cells take."""
        return LIVE * BYTES_PER_CELL * n_cells / self.room
