"""One pass over the attributes of a graph: blocks of columns, all hops of a block, all columns of a hop."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from geodim.engine.interrupt import heeding_interrupts

if TYPE_CHECKING:
    from collections.abc import Callable

    from geodim.data.checks import Ranges
    from geodim.data.sources import ColumnSource
    from geodim.engine.column import ColumnSolver
    from geodim.engine.layers import Layers
    from geodim.engine.target import Target
    from geodim.features.operators import Operator
    from geodim.features.twins import Twins


class HopPass:
    """One pass over the attributes: blocks of columns, all hops of a block, all columns of a hop."""

    def __init__(
        self, source: ColumnSource, kind: np.dtype[np.floating], operator: Operator, hops: int, threads: int
    ) -> None:
        self.source, self.kind, self.operator, self.hops, self.threads = source, kind, operator, hops, threads
        self.twins: Twins | None = None
        self.ranges: Ranges | None = None  # of the attributes as they are

    def width_for(self, memory: int | None) -> int:
        """Columns in flight: a cache line of them, more if they are short, or what the memory allows."""
        n, d = self.source.n_points, self.source.n_features
        from geodim.backends.hop_memory import columns_in_flight, default_columns  # noqa: PLC0415

        if memory is None:
            return default_columns(n, d)
        return columns_in_flight(memory, n, d, self.operator, self.hops, self.kind.itemsize, self.threads)

    def run(
        self,
        layers: Layers,
        width: int,
        deadline: float | None,
        report: Callable[[Layers], None],
        store: Any,
        save_every: float,
    ) -> None:
        """Solve what is left, block by block, until done or stopped; keep the state in ``store``."""
        from geodim.engine.column import ColumnSolver  # noqa: PLC0415 - imports Numba

        solvers = [
            ColumnSolver(self.source.n_points, self.kind, layers.profiles[0].step)
            for _ in range(self.threads)
        ]
        for at, solver in enumerate(solvers):  # who begins elsewhere tells the others something new
            solver.turn = at / self.threads
        columns_left = layers.unfinished()
        saved = time.monotonic()

        late = partial(layers.late, deadline)
        try:
            with (
                heeding_interrupts(layers.stop),
                ThreadPoolExecutor(self.threads, thread_name_prefix="geodim") as pool,
            ):
                for at in range(0, len(columns_left), width):
                    block = columns_left[at : at + width]
                    if late() or not self._solve_block(block, layers, solvers, pool, late, report):
                        break
                    layers.finish(block)
                    report(layers)
                    if store is not None and time.monotonic() - saved >= save_every:
                        store.save(layers)
                        saved = time.monotonic()
        except KeyboardInterrupt:
            layers.stop("interrupted")
        if store is not None:
            store.save(layers)

    def _solve_block(
        self,
        block: list[int],
        layers: Layers,
        solvers: list[ColumnSolver],
        pool: ThreadPoolExecutor,
        late: Callable[[], bool],
        report: Callable[[Layers], None],
    ) -> bool:
        from geodim.engine.kernels.reading import gather_columns  # noqa: PLC0415
        from geodim.features import iter_hop_blocks  # noqa: PLC0415

        every = np.arange(len(block))
        columns = np.empty((len(block), self.source.n_points), self.kind)

        def solve(part: int, layer: Target) -> bool:
            return all(
                solvers[part].solve(columns[at], block[at], layer, late)
                for at in range(part, len(block), len(solvers))
            )

        hop_blocks = iter_hop_blocks(
            self.source, self.operator, self.hops, block, dtype=self.kind, threads=self.threads
        )
        for hop, values in enumerate(hop_blocks):
            gather_columns(values, every, columns)
            if self.twins is not None:
                self.twins.refine(hop, values)
            layer = layers.layer(hop)
            for solver in solvers:
                solver.ranges = self.ranges if hop == 0 else None
            if not all(list(pool.map(lambda part, layer=layer: solve(part, layer), range(len(solvers))))):
                return False
            report(layers)
        return True
