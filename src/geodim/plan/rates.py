"""How long things take: a few rates per value.

They are measured in a trial here, or stated with where they come from.
"""

from __future__ import annotations

import time
import warnings
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

# t threads are t^0.9 times as fast as one: 12.1 for 16; 13.1 measured, benchmarks/results/scaling.json.
SPEED_UP = 0.9
SAMPLE = 200_000  # points of a sample that is solved to learn how long a column takes
TRIED = 16  # columns of it
COARSE = 0.05  # a tolerance at which counting is all there is


@dataclass(frozen=True)
class CoreRates:
    """Seconds of one core.

    Attributes
    ----------
    basis : str
        Where they come from.
    call : float
        What a call costs however small the data is.
    scan, first, later, count, cell : float
        Per value: of the first pass; of the first column, read, sorted and searched; of another column,
        most of which need not be searched; of a column that is counted in steps; in cells, whose size is
        not the same everywhere.
    product : float
        Per stored entry of a graph and column.
    rows : float
        Bytes per second at which rows in memory, or in files that the system keeps there, pass
        by to give some columns.
    storage : float
        Bytes per second that are read from disk, where the data is larger than the memory.
    network : float
        Bytes per second that a worker of a cluster takes in or sends.
    task : float
        Seconds of the scheduler for one task.
    """

    basis: str
    call: float = 0.005
    scan: float = 0.5e-9
    first: float = 85e-9
    later: float = 25e-9
    count: float = 3e-9
    cell: float = 9e-9
    product: float = 0.5e-9
    rows: float = 12e9
    storage: float = 1e9
    network: float = 1e9
    task: float = 1e-3

    def columns(self, n_points: int, n_columns: int) -> float:
        """Exact columns, on one core."""
        return n_points * (self.first + self.later * max(n_columns - 1, 0))

    def counted(self, n_points: int, n_columns: int, steps: float) -> float:
        """Columns that are counted, and solved by their counts, on one core."""
        return n_points * n_columns * self.count + self.columns(int(steps), n_columns)


@dataclass(frozen=True)
class DeviceRates:
    """Seconds of one GPU and of the machine it sits in.

    Attributes
    ----------
    sort, window : dict
        Per value, by the bytes of a value.
    batch : float
        Per batch of columns.
    product : float
        Per stored entry and column.
    feed, copy : float
        Bytes per second from a row-major array on the host, cut into columns on the way; and of plain copies.
    scan : float
        Bytes per second of the first pass, on the host.
    finish, finish_layer : float
        Per point, and per point and layer if there are many: sums, shares and the curve, on the host.
    """

    basis: str
    sort: dict[int, float]
    window: dict[int, float]
    batch: float
    product: float
    feed: float
    copy: float
    scan: float
    finish: float
    finish_layer: float


CORE = CoreRates("one core of an AMD EPYC, benchmarks/results/engine.md")
H200 = DeviceRates(
    basis="an NVIDIA H200 with 16 cores beside it, docs/results/gpu.log",
    sort={4: 46e-12, 8: 110e-12},
    window={4: 68e-12, 8: 120e-12},
    batch=0.025,
    product=5.0e-12,
    feed=18e9,
    copy=10e9,
    scan=40e9,
    finish=6e-9,
    finish_layer=3e-9,
)


def speed_up(threads: int) -> float:
    """Of so many threads over one."""
    return float(max(threads, 1) ** SPEED_UP)


def normal_sample(n_points: int, n_features: int, itemsize: int) -> NDArray[Any]:
    """Normal columns for a trial where there is no data: all alike, so that none is dropped for free."""
    import numpy as np  # noqa: PLC0415

    kind = np.float32 if itemsize == 4 else np.float64
    shape = min(n_points, SAMPLE), min(n_features, TRIED)
    return np.random.default_rng(0).standard_normal(shape, kind)


def calibrate(sample: Any, basis: str, rates: CoreRates = CORE) -> CoreRates:
    """Measure rates of this machine with one thread.

    A sample of the data, or of data like it, is solved exactly and by counting.  What is not tried (storage,
    network, tasks, products) stays as it is in ``rates``.
    """
    import numpy as np  # noqa: PLC0415

    from geodim.data.checks import scan_ranges  # noqa: PLC0415
    from geodim.data.sources import as_source  # noqa: PLC0415
    from geodim.dimension import intrinsic_dimension  # noqa: PLC0415
    from geodim.errors import GeodimWarning  # noqa: PLC0415

    n, d = sample.shape
    one = np.ascontiguousarray(sample[:, :1])
    tiny = np.ascontiguousarray(sample[: min(n, 64)])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GeodimWarning)  # about a sample, which says nothing about the data
        call = best_of(lambda: intrinsic_dimension(tiny, n_threads=1))
        scan = best_of(lambda: scan_ranges(as_source(sample))) / (n * d)
        alone = best_of(lambda: intrinsic_dimension(one, n_threads=1)) - call
        # On a busy machine the difference may vanish, but a column is read twice.
        first = max(alone / n, 2 * scan)
        later = first
        if d > 1:
            every = max(best_of(lambda: intrinsic_dimension(sample, n_threads=1)) - call, 0.0) / n
            later = max((every - first) / (d - 1), 2 * scan)
        count = max(best_of(lambda: intrinsic_dimension(sample, rtol=COARSE, n_threads=1)) - call, 0.0)
    count = min(max(count / (n * d), 2 * scan), later)
    return replace(rates, basis=basis, call=call, scan=scan, first=first, later=later, count=count)


def best_of(work: Callable[[], Any], times: int = 3) -> float:
    """The least of some times; the first may compile."""
    seconds = []
    for _ in range(times):
        started = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - started)
    return min(seconds)
