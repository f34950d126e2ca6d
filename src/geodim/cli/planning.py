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
from geodim.planning.words import plan_rows
from geodim.text import visible

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from geodim.plans import CoreRates, Plan, Problem

PLAN_FORMAT = "geodim.plan/1"
HOPS = ("hops", "stored_entries")  # of a graph only


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
    from geodim.planning.reading import with_starting
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
    return with_starting(plan(problem, "cpu", n_threads=thread_count(threads), memory=budget, rates=rates))


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
    known = {name: value for name, value in plan.to_dict().items() if value is not None or name not in HOPS}
    known["format"] = PLAN_FORMAT  # it has more fields than a plan alone
    document = {"format": PLAN_FORMAT, **source, **known, **more, "calibrated_on": plan.basis}
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
        for label, text in plan_rows(plan, at_most):
            table.add_row(
                Text(label), Text(text, style="bold red" if "MORE" in text or label == "does not fit" else "")
            )
        terminal.print(table)
        if json is not None:
            print_written(terminal, json)
    if plan.fits is False:
        raise typer.Exit(int(ExitCode.DATA))
