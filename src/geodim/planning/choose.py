"""`plan`: one call for all backends."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from geodim.errors import InputValueError
from geodim.planning.rates import CORE, CoreRates

if TYPE_CHECKING:
    from collections.abc import Sequence

    from geodim.planning.problem import Plan, Problem


def plan(
    problem: Problem,
    backend: str = "cpu",
    *,
    n_threads: int = 1,
    memory: int | None = None,
    workers: Sequence[Any] = (),
    rates: CoreRates = CORE,
) -> Plan:
    """Predict the memory, passes, bytes and time of a problem on a backend.

    Parameters
    ----------
    problem : Problem
        What is to be computed.
    backend : {"cpu", "cuda", "dask"}
        Where.
    n_threads : int
        Threads to use on one machine.
    memory : int, optional
        Bytes that may be used: of this machine, or on the device, by default those of an H200.
    workers : sequence of geodim.planning.capacity.Worker
        For Dask: threads and memory of each worker, which need not exist.
    rates : CoreRates
        What a core takes for a value, from `calibrate`; by default those of the machine
        that the benchmarks ran on.

    Examples
    --------
    >>> from geodim import Problem, plan
    >>> plan(Problem(1_000_000, 16), "cpu", n_threads=2).memory / 1e6 < 500
    True
    """
    if backend == "cpu":
        from geodim.planning.cpu import plan_cpu  # noqa: PLC0415

        return plan_cpu(problem, threads=n_threads, budget=memory, rates=rates)
    if backend == "cuda":
        from geodim.planning.cuda import H200_BYTES, plan_cuda  # noqa: PLC0415

        return plan_cuda(problem, budget=H200_BYTES if memory is None else memory)
    if backend == "dask":
        from geodim.planning.cluster import plan_cluster  # noqa: PLC0415

        return plan_cluster(problem, workers, budget=memory, rates=rates)
    raise InputValueError(f"there is no plan for backend {backend!r}: choose cpu, cuda or dask")
