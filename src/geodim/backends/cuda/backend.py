"""The CUDA backend: which device is used, and what it does with data on the host or on the device."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from geodim.backends.cuda.device import current, free_memory
from geodim.backends.local import LocalBackend
from geodim.backends.meters import PeakMeter
from geodim.data.sources import as_source
from geodim.errors import BackendError, DeviceMemoryError
from geodim.optional import require
from geodim.planning.cuda import plan_cuda

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np
    import torch
    from numpy.typing import NDArray

    from geodim.backends.hop_pass import HopPass
    from geodim.backends.meters import Meter
    from geodim.data.checks import Ranges
    from geodim.data.sources import ColumnSource
    from geodim.engine.driver import Driver
    from geodim.engine.profile import Profile
    from geodim.features.operators import Operator
    from geodim.planning.problem import Plan, Problem
else:
    torch = require("torch", "gpu", "the CUDA backend")


class CudaBackend(LocalBackend):
    """Computes on one GPU.

    Without a GPU, but with ``TRITON_INTERPRET=1`` in the environment, Triton interprets the kernels on the
    CPU: this is slow, but good for finding errors.
    """

    name = "cuda"

    def __init__(self, device: torch.device) -> None:
        self.device = device

    @classmethod
    def of(cls, X: object) -> CudaBackend:
        """Choose the device that holds the data, otherwise the current one."""
        require("triton", "gpu", "the CUDA backend")
        if isinstance(X, torch.Tensor) and X.is_cuda:
            return cls(X.device)
        if torch.cuda.is_available():
            return cls(torch.device("cuda", torch.cuda.current_device()))
        if os.environ.get("TRITON_INTERPRET") == "1":
            return cls(torch.device("cpu"))
        built = torch.backends.cuda.is_built()  # type: ignore[no-untyped-call]
        why = "PyTorch sees no GPU" if built else "this PyTorch was built without CUDA"
        msg = f"backend='cuda' needs an NVIDIA GPU, but {why}: use backend='cpu', which gives the same result"
        raise BackendError(msg)

    def open(self, X: object, *, weights: object, names: Sequence[str] | None) -> ColumnSource:
        """Open data as a source: tensors on the device stay there, everything else is read on the host."""
        if (
            weights is None
            and isinstance(X, torch.Tensor)
            and X.device == self.device
            and X.layout == torch.strided
        ):
            from geodim.backends.cuda.tensors import TensorSource  # noqa: PLC0415
            from geodim.data.sources import set_names  # noqa: PLC0415

            source = TensorSource(X)
            set_names(source, names)
            return source
        return as_source(X, weights=weights, names=names)

    def scan_ranges(self, source: ColumnSource, threads: int) -> Ranges:
        """Make the first pass over the data, where the data is stored."""
        from geodim.backends.cuda.tensors import TensorSource, scan_tensor  # noqa: PLC0415

        if not isinstance(source, TensorSource):
            return super().scan_ranges(source, threads)
        with current(self.device):
            return scan_tensor(source)

    def problem(self, source: ColumnSource, rtol: float) -> Problem:
        """Return the sizes of data and whether it lies on the host or on the device."""
        from geodim.backends.cuda.tensors import TensorSource  # noqa: PLC0415

        found = super().problem(source, rtol)
        if found.made_from is not None:
            from geodim.backends.cuda.made import can_make  # noqa: PLC0415 - imports Triton

            return replace(found, held=False, on_device=can_make(source))
        there = isinstance(source, TensorSource)
        return replace(found, held=found.held and not there, on_device=there)

    def plan(self, problem: Problem, threads: int, memory: int | None = None) -> Plan:
        """Plan for the memory that is free on the device."""
        free = free_memory(self.device) + (problem.nbytes if problem.on_device else 0)
        found = plan_cuda(problem, budget=free, memory=memory)
        if found.why_not is not None:
            raise DeviceMemoryError(found.why_not)
        return replace(found, threads=threads)

    def solve(
        self,
        source: ColumnSource,
        plan: Plan,
        *,
        step: float,
        ranges: Ranges,
        leaders: Sequence[int],
        driver: Driver,
    ) -> Profile:
        """Solve every column."""
        from geodim.backends.cuda.columns import compute_profile  # noqa: PLC0415 - imports Triton

        with current(self.device):
            return compute_profile(
                source, self.device, plan.way, step=step, ranges=ranges, leaders=leaders,
                n_threads=plan.threads, driver=driver,
            )  # fmt: skip

    def solve_made(
        self,
        source: ColumnSource,
        *,
        profile: Profile,
        ends: NDArray[np.float64],
        threads: int,
        driver: Driver,
    ) -> None:
        """Solve computed columns."""
        from geodim.backends.cuda.made import MadeOnDevice, can_make  # noqa: PLC0415 - imports Triton
        from geodim.backends.cuda.short import short_profile  # noqa: PLC0415

        way = self.plan(self.problem(source, 0.0), threads).way
        with current(self.device):
            there = MadeOnDevice(source, self.device) if can_make(source) else source
            short_profile(
                there, self.device, way, n_threads=threads, driver=driver, profile=profile, ends=ends
            )

    def meter(self) -> Meter:
        """Return a meter of the memory of the device."""
        if self.device.type != "cuda":
            return PeakMeter(lambda: None)
        return PeakMeter(lambda: int(torch.cuda.max_memory_allocated(self.device)))

    def operator(
        self,
        graph: object,
        operator: object,
        parameters: Mapping[str, object],
        weights: object,
        n_nodes: int,
        threads: int,
    ) -> tuple[Operator, dict[str, object]]:
        """Build the graph on the device if its edges are there; otherwise on the host, to be copied later."""
        from geodim.backends.cuda.graphs import DeviceGraph, build_device_graph  # noqa: PLC0415
        from geodim.backends.cuda.operators import device_operator  # noqa: PLC0415

        if isinstance(operator, str) and weights is None:
            if isinstance(graph, torch.Tensor) and graph.device == self.device and graph.is_cuda:
                with current(self.device):
                    graph = build_device_graph(graph, n_nodes)
            if isinstance(graph, DeviceGraph):
                own: dict[str, Any] = dict(parameters)  # names are checked where they are used
                return device_operator(graph, operator, **own), graph.to_dict()
        return super().operator(graph, operator, parameters, weights, n_nodes, threads)

    def hop_pass(
        self, source: ColumnSource, kind: np.dtype[np.floating], operator: Operator, hops: int, plan: Plan
    ) -> HopPass:
        """Return a pass over the hops of a graph."""
        from geodim.backends.cuda.hops import DevicePass  # noqa: PLC0415 - imports Triton

        return DevicePass(self.device, source, kind, operator, hops, plan)
