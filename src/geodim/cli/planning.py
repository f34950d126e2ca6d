"""``--dry-run``: the place that a plan is made for, and how the plan is shown."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from geodim.arguments import MOST_WORKERS
from geodim.cli.console import out, print_written
from geodim.cli.exits import ExitCode
from geodim.cli.panels import PLANNING, RUNNING
from geodim.cli.reporting import json_instead
from geodim.cli.scheduler import connected
from geodim.text import visible

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from geodim.plans import CoreRates, Plan, Problem

PLAN_FORMAT = "geodim.plan/1"


class BackendName(StrEnum):
    """Where to compute."""

    auto = "auto"
    cpu = "cpu"
    cuda = "cuda"
    dask = "dask"


BackendOption = Annotated[
    BackendName,
    typer.Option(
        "--backend",
        rich_help_panel=RUNNING,
        metavar="NAME",
        help="Where to compute: auto, cpu, cuda or dask. The result is the same, bit for bit.",
    ),
]
Workers = Annotated[
    int | None,
    typer.Option(
        rich_help_panel=PLANNING,
        metavar="N",
        min=1,
        max=MOST_WORKERS,
        help="For --dry-run: plan for a cluster of N workers, which need not exist yet.",
    ),
]
WorkerMemory = Annotated[
    str | None,
    typer.Option(
        rich_help_panel=PLANNING,
        metavar="SIZE",
        help="For --dry-run: the memory of each of these workers, such as 32GB.",
    ),
]
DryRun = Annotated[
    bool,
    typer.Option(
        "--dry-run",
        rich_help_panel=PLANNING,
        help="Print the memory, passes and time needed, and compute nothing. Exit code 3 if it does not fit.",
    ),
]


def place(backend: BackendName, scheduler: str | None) -> dict[str, str]:
    """Return the backend for the library; a scheduler contradicts any backend other than Dask."""
    if scheduler is not None and backend not in (BackendName.auto, BackendName.dask):
        raise typer.BadParameter(f"--scheduler is for Dask, not for {backend.value}", param_hint="--backend")
    if scheduler is None and backend is BackendName.dask:
        raise typer.BadParameter("name the cluster with --scheduler tcp://host:8786", param_hint="--backend")
    return {"backend": "dask" if scheduler is not None else backend.value}


def only_for_plans(dry_run: bool, options: dict[str, Any]) -> None:
    """Raise for options that have no meaning for a computation."""
    given = [name for name, value in options.items() if value is not None]
    if given and not dry_run:
        raise typer.BadParameter("it is for --dry-run only", param_hint=given[0])


def planned(
    problem: Problem,
    rates: CoreRates,
    *,
    backend: BackendName,
    scheduler: str | None,
    workers: int | None,
    worker_memory: str | None,
    threads: int | None,
    budget: int | None,
) -> Plan:
    """Plan for the cluster that is named or described, for the GPU, or for this machine."""
    from geodim.engine.parts import thread_count
    from geodim.plans import plan

    if workers is not None or worker_memory is not None or scheduler is not None:
        if backend not in (BackendName.auto, BackendName.dask):
            raise typer.BadParameter(f"workers are Dask's, not for {backend.value}", param_hint="--backend")
        backend = BackendName.dask
    if backend is BackendName.cuda:
        return plan(problem, "cuda", memory=budget or device_memory())
    if backend is BackendName.dask:
        found = _workers(scheduler, workers, worker_memory, threads)
        return plan(problem, "dask", workers=found, memory=budget, rates=rates)
    return plan(problem, "cpu", n_threads=thread_count(threads), memory=budget, rates=rates)


def _workers(
    scheduler: str | None, workers: int | None, worker_memory: str | None, threads: int | None
) -> Sequence[Any]:
    """Return the workers of the scheduler, or those that were described."""
    from geodim.cli.hop_inputs import parse_memory
    from geodim.engine.parts import thread_count
    from geodim.planning.cluster import workers_of

    if scheduler is not None:
        if workers is not None or worker_memory is not None:
            raise typer.BadParameter("the scheduler knows its workers", param_hint="--workers")
        from geodim.backends.dask.cluster import Cluster

        with connected(scheduler):
            return Cluster.active().workers
    if workers is None or worker_memory is None:
        raise typer.BadParameter(
            "name a cluster with --scheduler, or describe one with --workers and --worker-memory",
            param_hint="--workers" if workers is None else "--worker-memory",
        )
    return workers_of(workers, thread_count(threads), parse_memory(worker_memory, "--worker-memory"))


def device_memory() -> int | None:
    """Return the free bytes of the GPU of this machine; None without a GPU or PyTorch."""
    try:
        import torch
    except ImportError:
        return None
    return int(torch.cuda.mem_get_info()[0]) if torch.cuda.is_available() else None


def show(
    plan: Plan,
    title: str,
    source: dict[str, str],
    more: dict[str, Any],
    *,
    at_most: str = "",
    json: Path | None = None,
) -> None:
    """Print the plan, a table on a terminal and JSON elsewhere; exit code 3 if it does not fit."""
    document = {"format": PLAN_FORMAT, **source, **plan.to_dict(), **more, "calibrated_on": plan.basis}
    if not json_instead(document, json):
        terminal = out()
        from rich.table import Table
        from rich.text import Text

        table = Table(
            title=Text(visible(f"plan for {title}"), style="bold"),
            title_justify="left",
            show_header=False,
            box=None,
            padding=(0, 2, 0, 0),
        )
        for label, text in rows(plan, at_most):
            table.add_row(
                Text(label), Text(text, style="bold red" if "MORE" in text or label == "does not fit" else "")
            )
        terminal.print(table)
        if json is not None:
            print_written(terminal, json)
    if plan.fits is False:
        raise typer.Exit(int(ExitCode.DATA))


def rows(plan: Plan, at_most: str = "") -> list[tuple[str, str]]:
    """Return the rows of the table."""
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
