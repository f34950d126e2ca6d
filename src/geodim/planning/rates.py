"""How long things take: a few rates per value, stated with where they come from.

`geodim.plans.calibrate` measures those of this machine.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

# t threads are t^0.9 times as fast as one: 12.1 for 16; 13.1 measured, benchmarks/results/scaling.json.
SPEED_UP = 0.9


@dataclass(frozen=True)
class CoreRates:
    """Seconds of one core.

    Attributes
    ----------
    basis : str
        Where they come from.
    call : float
        The cost of a call, however small the data is.
    scan, first, later, count, cell : float
        Per value: of the first pass; of the first column, read, sorted and searched; of another column,
        most of which need not be searched; of a column that is counted in steps; in cells, whose size is
        not the same everywhere.
    window : float
        Per window, where NumPy examines every one.
    made, making : float
        Per value of a column among many that are made, most of which are dropped by counts; and besides, per
        value and coordinate of the points, of making it.
    mass, counted_mass : float
        Per value of points with masses: in columns of 10^5 of them, and longer ones take longer by the fifth
        root of their length; and if they are counted.
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
    window: float = 1.5e-9
    made: float = 12e-9
    making: float = 0.05e-9
    mass: float = 4e-6
    counted_mass: float = 40e-9
    product: float = 0.5e-9
    rows: float = 12e9
    storage: float = 1e9
    network: float = 1e9
    task: float = 1e-3

    def columns(self, n_points: int, n_columns: int) -> float:
        """Return the seconds for exact columns, on one core."""
        return n_points * (self.first + self.later * max(n_columns - 1, 0))

    def windows(self, n_points: int, n_columns: int) -> float:
        """Return the seconds for columns whose windows are all examined, on one core."""
        return 0.5 * n_points * n_points * n_columns * self.window

    def masses(self, n_points: int, n_columns: int) -> float:
        """Return the seconds for exact columns of points with masses, on one core."""
        return n_points * n_columns * self.mass * math.pow(n_points / 1e5, 0.2)

    def counted_masses(self, n_points: int, n_columns: int, steps: float) -> float:
        """Return the seconds for columns of points with masses that are counted."""
        return n_points * n_columns * self.counted_mass + self.columns(int(steps), n_columns)

    def counted(self, n_points: int, n_columns: int, steps: float) -> float:
        """Return the seconds for columns that are counted, and solved by their counts, on one core."""
        return n_points * n_columns * self.count + self.columns(int(steps), n_columns)


@dataclass(frozen=True)
class DeviceRates:
    """Seconds of one GPU and of its host.

    Attributes
    ----------
    sort, window : dict
        Per value, by the bytes of a value.
    batch : float
        Per batch of columns.
    counts : float
        Per value of many short columns, which are dropped by counts.
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
    counts: float
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
    counts=190e-12,
    product=5.0e-12,
    feed=18e9,
    copy=10e9,
    scan=40e9,
    finish=6e-9,
    finish_layer=3e-9,
)


def speed_up(threads: int) -> float:
    """Return the speed-up of several threads over one."""
    return float(max(threads, 1) ** SPEED_UP)
