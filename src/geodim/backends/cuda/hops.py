"""A pass over the hops of a graph on the device: attributes arrive in blocks, hops and windows stay there."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from geodim.backends.cuda.columns import Batches
from geodim.backends.cuda.device import current, fetch, release
from geodim.backends.cuda.feed import Feed, halves
from geodim.backends.cuda.operators import DeviceOperator, to_device
from geodim.backends.hop_pass import HopPass
from geodim.optional import require

if TYPE_CHECKING:
    import torch

    from geodim.data.sources import ColumnSource
    from geodim.engine.driver import Driver
    from geodim.engine.layers import Layers
    from geodim.features.operators import Operator
    from geodim.planning.problem import Plan
else:
    torch = require("torch", "gpu", "the CUDA backend")


class DevicePass(HopPass):
    """A `HopPass` that keeps all state on the device until the pass ends or a checkpoint is due."""

    def __init__(
        self,
        device: torch.device,
        source: ColumnSource,
        kind: np.dtype[np.floating],
        operator: Operator,
        hops: int,
        plan: Plan,
    ) -> None:
        there = to_device(operator, device, resident=plan.way.resident)
        super().__init__(source, kind, there, hops, plan.way, plan.threads)
        self.device = device

    def run(self, layers: Layers, driver: Driver) -> None:
        """Solve what is left, block by block, until done or stopped."""
        n, d, width = self.source.n_points, self.source.n_features, self.way.width
        step = layers.profiles[0].step
        batches = Batches(n, self.device, layers=self.hops + 1, batch=self.way.solvers, step=step)
        solver = batches.solver
        if np.any(layers.profiles[0].done):
            for k, profile in enumerate(layers.profiles):
                solver.phi[k] = torch.as_tensor(profile.phi)
                solver.owner[k] = torch.as_tensor(profile.owner)

        def means() -> list[float]:
            return [float(total) / n for total in solver.phi.sum(1)]

        layers.means_elsewhere = means
        columns_left = layers.unfinished()
        feed = Feed(self.source, self.device, self.kind, self.threads)
        groups = [columns_left[at : at + width] for at in range(0, len(columns_left), width)]
        with driver.heeding(), current(self.device):
            for block, values in feed.blocks(groups, by_row=True):
                if driver.late() or not self._solve(block, values, batches, layers, driver):
                    break
                layers.finish(block)
                driver.report(layers)
                if driver.due():
                    batches.check_ends(self.ranges)
                    self._fetch(batches, layers)
                    driver.keep(layers.profiles)
        layers.stop(driver.stopped)
        batches.check_ends(self.ranges)
        with batches.timing("copies"):
            self._fetch(batches, layers)
        batches.timing.add("waiting for data", feed.waited)
        batches.timing.log(f"{d} attributes, {self.hops} hops, {feed.bytes_moved / 1e9:.1f} GB moved")
        driver.keep(layers.profiles)

    def _solve(
        self,
        block: list[int],
        values: torch.Tensor,
        batches: Batches,
        layers: Layers,
        driver: Driver,
    ) -> bool:
        """Solve all hops of a block, in two halves if they do not fit the device; False if stopped."""
        try:
            return self._all_hops(block, values, batches, layers, driver)
        except torch.OutOfMemoryError as error:
            parts = halves(block, self.source.n_points, error)
        release(self.device)
        middle = len(parts[0])
        return self._solve(
            parts[0], values[:, :middle].contiguous(), batches, layers, driver
        ) and self._solve(parts[1], values[:, middle:].contiguous(), batches, layers, driver)

    def _all_hops(
        self,
        block: list[int],
        attributes: torch.Tensor,
        batches: Batches,
        layers: Layers,
        driver: Driver,
    ) -> bool:
        assert isinstance(self.operator, DeviceOperator)
        values, buffers = attributes, [torch.empty_like(attributes) for _ in range(min(self.hops, 2))]
        for hop in range(self.hops + 1):
            if hop:
                following = buffers[hop % len(buffers)]
                with batches.timing("products"):
                    self.operator.apply_device(values, following)
                values = following
            if self.twins is not None:
                self.twins.refine(hop, values.cpu().numpy())
            columns = [hop * self.source.n_features + column for column in block]
            at = 0
            while at < len(block):  # one batch at a time: gathering all columns would take another buffer
                size = batches.next_size(len(block) - at)
                rows = values[:, at : at + size].T.contiguous()
                if not batches.solve(rows, columns[at : at + size], hop, driver.late, _nothing):
                    return False
                at += size
            driver.report(layers)
        return True

    def _fetch(self, batches: Batches, layers: Layers) -> None:
        """Copy phi and owners to the host."""
        batches.finish()
        for k, profile in enumerate(layers.profiles):
            fetch(batches.solver.phi[k], profile.phi, self.threads)
            fetch(batches.solver.owner[k], profile.owner, self.threads)
        layers.means_elsewhere = None


def _nothing(_columns: list[int]) -> None:
    """Ignore finished columns: they count once their whole block is done."""
