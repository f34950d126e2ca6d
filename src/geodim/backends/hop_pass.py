"""One pass over the attributes of a graph: blocks of columns, all hops of a block, all columns of a hop."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import numpy as np

from geodim.engine.profile import LOOSE
from geodim.engine.simplified import Twins as SortedTwins

if TYPE_CHECKING:
    from geodim.data.checks import Ranges
    from geodim.data.sources import ColumnSource
    from geodim.engine.column import ColumnSolver
    from geodim.engine.driver import Driver
    from geodim.engine.layers import Layers
    from geodim.engine.target import Target
    from geodim.engine.ways import Way
    from geodim.features.operators import Operator
    from geodim.features.twins import Twins


class HopPass:
    """One pass over the attributes: blocks of columns, all hops of a block, all columns of a hop."""

    def __init__(
        self,
        source: ColumnSource,
        kind: np.dtype[np.floating],
        operator: Operator,
        hops: int,
        way: Way,
        threads: int,
    ) -> None:
        self.source, self.kind, self.operator, self.hops = source, kind, operator, hops
        self.way, self.threads = way, threads
        self.twins: Twins | None = None
        self.ranges: Ranges | None = None  # of the attributes as they are

    def run(self, layers: Layers, driver: Driver) -> None:
        """Solve what is left, block by block, until done or stopped."""
        from geodim.engine.column import ColumnSolver  # noqa: PLC0415 - imports Numba

        same = [SortedTwins() for _ in range(self.hops + 1)]  # of two equal features the lower one counts
        solvers = [
            ColumnSolver(self.source.n_points, self.kind, layers.profiles[0].step)
            for _ in range(self.threads)
        ]
        for at, solver in enumerate(solvers):  # each begins elsewhere, and so finds what others do not
            solver.turn = at / self.threads
            solver.relaxed = LOOSE in layers.profiles[0].notes
        columns_left, width = layers.unfinished(), self.way.width
        with driver.heeding(), ThreadPoolExecutor(self.threads, thread_name_prefix="geodim") as pool:
            for at in range(0, len(columns_left), width):
                block = columns_left[at : at + width]
                if driver.late() or not self._solve_block(block, layers, solvers, same, pool, driver):
                    break
                layers.finish(block)
                driver.report(layers)
                if driver.due():
                    driver.keep(layers.profiles)
        layers.stop(driver.stopped)
        driver.keep(layers.profiles)

    def _solve_block(
        self,
        block: list[int],
        layers: Layers,
        solvers: list[ColumnSolver],
        same: list[SortedTwins],
        pool: ThreadPoolExecutor,
        driver: Driver,
    ) -> bool:
        from geodim.engine.kernels.reading import gather_columns  # noqa: PLC0415
        from geodim.features import iter_hop_blocks  # noqa: PLC0415

        every = np.arange(len(block))
        columns = np.empty((len(block), self.source.n_points), self.kind)

        def solve(part: int, layer: Target) -> bool:
            return all(
                solvers[part].solve(columns[at], block[at], layer, driver.late)
                for at in range(part, len(block), len(solvers))
            )

        hop_blocks = iter_hop_blocks(
            self.source, self.operator, self.hops, block, dtype=self.kind, n_threads=self.threads
        )
        for hop, values in enumerate(hop_blocks):
            gather_columns(values, every, columns, 0)
            if self.twins is not None:
                self.twins.refine(hop, values)
            layer = layers.layer(hop)
            for solver in solvers:
                solver.ranges = self.ranges if hop == 0 else None
                solver.twins = same[hop]
            if not all(list(pool.map(lambda part, layer=layer: solve(part, layer), range(len(solvers))))):
                return False
            driver.report(layers)
        return True
