"""The paper's data sets for the experiments: whether they are here, and what passes over them cost."""

from __future__ import annotations

import time
import warnings
from typing import TYPE_CHECKING, Any

from geodim.data.datasets import dataset_info, load_dataset
from geodim.engine.parts import thread_count
from geodim.errors import InterruptedWarning, TimeLimitError
from geodim.experiments.experiment import Cost, StoppedError
from geodim.experiments.machine import physical_memory, slowness
from geodim.plans import Problem, plan

if TYPE_CHECKING:
    from geodim.data.datasets import GraphDataset
    from geodim.experiments.experiment import Context, Options
    from geodim.khop_result import KHopResult

__all__ = ["all_hops", "hop_cost", "lacking", "load", "missing_data"]

PRODUCT_SECONDS = 4.5e-10  # per stored entry, attribute and hop
COLUMN_SECONDS = 2.2e-8  # per value of a column of a hop


def missing_data(name: str, options: Options) -> str | None:
    """Return why a data set cannot be used, and the way out; None if it is here.

    The message names no folder, so that it may stand in a report that is passed on.
    """
    info = dataset_info(name, options.root)
    if info.present:
        return None
    size = info.download_bytes
    about = f"{size / 2**30:.1f} GiB" if size >= 1 << 30 else f"{size / 2**20:.0f} MiB"
    return (
        f"{info.name} is not on this machine: get it with  geodim datasets fetch {info.name}  (about "
        f"{about}) and give the same command again"
    )


def load(name: str, options: Options) -> GraphDataset:
    """Return a data set that is here; nothing is downloaded."""
    return load_dataset(name, options.root, offline=True)


def memory_budget(options: Options) -> int:
    """Return the bytes that may be used: as requested, or most of the memory."""
    return options.memory or int(0.8 * physical_memory())


def lacking(name: str, cost: Cost, options: Options) -> str | None:
    """Return what a unit lacks: its data, or memory; None if nothing."""
    budget = memory_budget(options)
    if cost.memory > budget:
        need = f"{cost.memory / 2**30:.1f} GiB of memory, and {budget / 2**30:.1f} GiB may be used"
        return f"{missing_data(name, options) or name}; it needs {need}"
    return missing_data(name, options)


def hop_cost(nodes: int, edges: int, attributes: int, hops: int, options: Options) -> Cost:
    """Return the seconds and bytes of one pass over the hops of a graph.

    Where memory is short, fewer columns are in flight.
    """
    threads = thread_count(options.threads)
    entries = 2 * edges + nodes
    seconds = PRODUCT_SECONDS * entries * attributes * hops + COLUMN_SECONDS * nodes * attributes * (hops + 1)
    problem, budget = Problem(nodes, attributes, hops=hops, stored_entries=entries), memory_budget(options)
    planned = plan(problem, n_threads=threads)
    if planned.memory > budget:
        planned = plan(problem, n_threads=threads, memory=budget)
    return Cost(0.5 + seconds / threads * slowness(), planned.memory, f"{threads} threads")


def all_hops(data: GraphDataset, hops: int, context: Context, name: str) -> KHopResult:
    """Return the exact k-hop dimensions; a long pass that was stopped continues later."""
    from geodim.khop import khop_dimensions  # noqa: PLC0415

    long = data.n_nodes * data.n_attributes * (hops + 1) > 10**8
    options: dict[str, Any] = {"checkpoint": context.state / name} if long else {}
    if long:  # as many columns in flight as fit
        options["memory"] = memory_budget(context.options)
    if context.deadline is not None:
        options["time_limit"] = max(0.0, context.deadline - time.monotonic())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", InterruptedWarning)  # said by the error below
        try:
            result = khop_dimensions(
                data.x,
                data.edge_index,
                hops,
                n_threads=context.options.threads,
                progress=context.progress,
                **options,
            )
        except TimeLimitError as error:  # before there were any bounds: the unit did not fail, it was stopped
            raise StoppedError(f"stopped (time limit): {error}") from error
    stopped = result[0].stopped
    if stopped:
        raise StoppedError(f"stopped ({stopped}): {'what is done is kept' if long else 'to be done again'}")
    return result
