"""A plan in words: the rows of its table, with sizes and times as people write them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from geodim.planning.problem import Plan

__all__ = ["duration", "plan_rows", "size"]


def plan_rows(plan: Plan, at_most: str = "") -> list[tuple[str, str]]:
    """Return what a plan says, as rows of a table."""
    hops, kind = plan.hops is not None, f"float{8 * plan.itemsize}"
    found = [
        (
            "nodes x attributes" if hops else "points x features",
            f"{plan.n_points:,} x {plan.n_features:,}, {kind}",
        )
    ]
    if hops:
        found.append(("stored entries", f"{at_most}{plan.stored_entries:,}"))
        found.append(("hops", f"{plan.hops}"))
    found.append(("backend", _where(plan)))
    if not hops:
        found.append(("columns are", plan.method))
    label = {"cpu": "peak memory", "cuda": "peak memory, device", "dask": "peak memory, worker"}[plan.backend]
    found.append((label, _memory(plan)))
    if plan.backend != "cpu":
        found.append(("peak memory, here", size(plan.host_memory)))
    found.append(("columns in flight", f"{plan.columns}"))
    found.append(("passes over the graph" if hops else "passes over the data", f"{plan.passes:,}"))
    found.append(("read", size(plan.bytes_read)))
    if plan.backend != "cpu":
        found.append(
            (
                "moved",
                (
                    f"{size(plan.bytes_moved)} "
                    f"{'to the device' if plan.backend == 'cuda' else 'over the network'}"
                ),
            )
        )
    if plan.backend == "dask":
        found.append(("tasks", f"{plan.tasks:,}"))
    found.append(("time", f"about {duration(plan.seconds or 0.0)}, from {plan.basis}"))
    if reading := plan.parts.get("reading the file"):
        found.append(("", f"of which reading the file {duration(reading)}"))
    found += [("note", note) for note in plan.notes]
    if plan.why_not is not None:
        found.append(("does not fit", plan.why_not))
    return found


def _where(plan: Plan) -> str:
    threads = f"{plan.threads} thread{'' if plan.threads == 1 else 's'}"
    if plan.backend == "dask":
        return f"dask, {plan.workers} worker{'' if plan.workers == 1 else 's'} of {threads}"
    return f"cpu, {threads}" if plan.backend == "cpu" else "cuda, one GPU"


def _memory(plan: Plan) -> str:
    if plan.budget is None:
        return size(plan.memory)
    if plan.memory > plan.budget:
        return f"{size(plan.memory)}, MORE than {size(plan.budget)}"
    return f"{size(plan.memory)}, {'within' if plan.fits else 'which must fit a part of'} {size(plan.budget)}"


def size(count: float) -> str:
    """Return a number of bytes as text.

    >>> size(2_500_000_000)
    '2.5 GB'
    """
    for unit, power in (("TB", 12), ("GB", 9), ("MB", 6), ("kB", 3)):
        if count >= 10**power:
            return f"{count / 10**power:.4g} {unit}"
    return f"{count:.0f} bytes"


def duration(seconds: float) -> str:
    """Return a time as text."""
    if seconds < 120.0:
        return f"{seconds:.2g} s" if seconds < 10.0 else f"{seconds:.0f} s"
    return f"{seconds / 60.0:.0f} min" if seconds < 7200.0 else f"{seconds / 3600.0:.1f} h"
