"""``geodim reproduce``: run the paper's experiments and compare every printed number with ours."""

from __future__ import annotations

import re
import time
import warnings
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from geodim.arguments import MOST_REPETITIONS, MOST_SIZE, MOST_THREADS
from geodim.cli.completing import experiments
from geodim.cli.console import err, notes, out, print_json, print_written
from geodim.cli.datasets import Root  # noqa: TC001 - typer looks at the annotations
from geodim.cli.exits import ExitCode
from geodim.cli.hop_inputs import parse_memory
from geodim.errors import GeodimWarning, MissingExtraError
from geodim.locks import FolderLock
from geodim.output import make_folder
from geodim.text import visible

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from rich.console import Console

    from geodim.experiments.experiment import Experiment, Unit
    from geodim.experiments.runner import Outcome, Schedule

T = TypeVar("T")
FORMAT = "geodim.reproduce/1"
MOST_NUMBERS = 100  # in one option
MOST_POWER = 60  # of 2 or more: beyond all sizes


def reproduce(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="EXPERIMENT|all",
            autocompletion=experiments,
            help="Which experiments to run; --list shows them. By default, all.",
            show_default=False,
        ),
    ] = None,
    output: Annotated[
        Path,
        typer.Option(metavar="DIR", file_okay=False, help="The folder for rows, figures and the report."),
    ] = Path("results"),
    root: Root = None,
    quick: Annotated[
        bool,
        typer.Option(
            "--quick", help="Run a version that takes a few minutes, with the data that is available."
        ),
    ] = False,
    dry_run: Annotated[
        bool,
        typer.Option(
            "--dry-run", help="Print the time and memory needed and the missing data, and compute nothing."
        ),
    ] = False,
    list_: Annotated[bool, typer.Option("--list", help="List the experiments.")] = False,
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Compute everything again, including what is already there.")
    ] = False,
    merge: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="DIR",
            exists=True,
            file_okay=False,
            help="Include the results in this folder, made elsewhere; can be given several times.",
        ),
    ] = None,
    points: Annotated[
        str | None,
        typer.Option(metavar="N,...", help="For random: numbers of points, such as 1e6,1e7."),
    ] = None,
    features: Annotated[
        str | None, typer.Option(metavar="D,...", help="For random: numbers of features, such as 10,50.")
    ] = None,
    repetitions: Annotated[
        int | None,
        typer.Option(
            metavar="R",
            min=1,
            max=MOST_REPETITIONS,
            help="For random and sign: how many repetitions; the paper has 3 and 10.",
        ),
    ] = None,
    threads: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=1,
            max=MOST_THREADS,
            help="Number of threads; by default, all cores. Results are the same for any number.",
        ),
    ] = None,
    memory: Annotated[
        str | None,
        typer.Option(
            metavar="SIZE", help="Use at most this much memory: 8GB, 8GiB, 500MB, or a number of bytes."
        ),
    ] = None,
    time_limit: Annotated[
        float | None,
        typer.Option(metavar="SECONDS", min=0.0, help="Stop after this time and keep what is finished."),
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress and no notes.")] = False,
) -> None:
    """Run the paper's experiments, and compare every printed number with ours.

    The rows are written to **results/** as CSV and JSON, with the figures. report.html and report.md show
    every number of the paper next to ours, with the difference and a verdict. If you run the same command
    again, it computes only what is missing. If a data set is not on this machine, the command says how to get
    it and continues with the rest. It downloads nothing.

    **Examples**

    * `geodim reproduce --quick --root data` takes a few minutes
    * `geodim reproduce all --dry-run` prints the time and memory for everything
    * `geodim reproduce khop mle --root data`
    * `geodim reproduce random --points 1e8 --features 10 --time-limit 3600`
    * `geodim reproduce statistics --merge from-the-cluster` combines the results of two machines
    """
    from geodim.experiments import NAMES
    from geodim.experiments.experiment import Options
    from geodim.experiments.runner import make_plan, merge_results, run_plan

    if list_:
        _show_list()
        return
    options = Options(
        quick=quick,
        root=root,
        threads=threads,
        memory=None if memory is None else parse_memory(memory),
        points=_whole_numbers(points, "--points", 3),
        features=_whole_numbers(features, "--features", 1),
        repetitions=repetitions,
    )
    chosen = _chosen(names or ["all"], NAMES)
    deadline = None if time_limit is None else time.monotonic() + time_limit
    if dry_run and not merge:
        _show_plan(make_plan(chosen, options, output, fresh=fresh))
        return
    make_folder(output, "choose another with --output")
    console = err()
    with notes(console, quiet=quiet), FolderLock(output, "folder of results"):
        merge_results(merge or [], output)
        plans = make_plan(chosen, options, output, fresh=fresh)
        if dry_run:
            _show_plan(plans)
            return
        with _watched(plans, console, quiet=quiet) as watch:
            outcome = run_plan(plans, options, output, deadline=deadline, watch=watch)
        written = _write(output, quiet)
    _show(outcome, written)
    if outcome.stopped:
        raise typer.Exit(int(ExitCode.STOPPED))
    if outcome.failed:
        raise typer.Exit(int(ExitCode.DATA))


def _chosen(names: Sequence[str], known: Sequence[str]) -> list[str]:
    wanted = list(known) if "all" in names else list(dict.fromkeys(names))
    unknown = [name for name in names if name not in (*known, "all")]
    if unknown:
        raise typer.BadParameter(
            f"no experiment is called {unknown[0]!r}; there are {', '.join(known)}", param_hint="EXPERIMENT"
        )
    return wanted


def _whole_numbers(text: str | None, option: str, least: int) -> tuple[int, ...] | None:
    """Return numbers between commas: 1000000, 1e6, 1_000_000 or 10^6.

    >>> _whole_numbers("1e6, 10^7,250", "--points", 3)
    (1000000, 10000000, 250)
    """
    if text is None:
        return None
    numbers: list[int] = []
    for part in text.split(","):
        found = re.fullmatch(r"\s*(?:(\d[\d_]*)|(\d+)e(\d+)|(\d+)\^(\d+))\s*", part)
        if not found:
            raise typer.BadParameter(
                f"{part!r} is not a whole number: write 1000000 or 1e6", param_hint=option
            )
        if len(numbers) == MOST_NUMBERS:
            raise typer.BadParameter(f"more than {MOST_NUMBERS} numbers", param_hint=option)
        number = _value(*found.groups())
        if number is None or number > MOST_SIZE:
            raise typer.BadParameter(
                f"{part.strip()[:40]} is too large; at most {MOST_SIZE:,}", param_hint=option
            )
        if number < least:
            raise typer.BadParameter(f"{number} is too small; at least {least}", param_hint=option)
        numbers.append(number)
    return tuple(dict.fromkeys(numbers))


def _value(
    plain: str | None, head: str | None, exponent: str | None, base: str | None, power: str | None
) -> int | None:
    """Return the number that was written; None if it has too many digits to work out quickly."""
    if any(part is not None and len(part) > 20 for part in (plain, head, exponent, base, power)):
        return None
    if plain is not None:
        return int(plain)
    factor, number, times = (
        (int(head or 1), 10, int(exponent)) if exponent is not None else (1, int(base or 0), int(power or 0))
    )
    if number < 2:
        return int(factor * number ** min(times, 1))
    return int(factor * number**times) if times <= MOST_POWER else None


def _write(folder: Path, quiet: bool) -> list[Path]:
    """Write figures and reports from all results in the folder; report those that lack a package."""
    from geodim.display.html.page import environment
    from geodim.experiments.report import draw_figures, write_reproduction

    def unless_missing(what: str, work: Callable[[], T]) -> T | None:
        try:
            return work()
        except MissingExtraError as error:
            if not quiet:
                warnings.warn(f"no {what}: {error}", GeodimWarning, stacklevel=2)
            return None

    figures = unless_missing("figures", lambda: draw_figures(folder))
    page = unless_missing("report.html", environment) is not None
    return [*(figures or []), *write_reproduction(folder, page=page)]


def _show_list() -> None:
    from geodim.experiments import NAMES, get_experiment

    experiments = [get_experiment(name) for name in NAMES]
    terminal = out()
    if not terminal.is_terminal:
        rows = [{"name": one.name, "title": one.title, "source": one.source} for one in experiments]
        print_json({"format": FORMAT, "experiments": rows})
        return
    from rich.table import Table

    table = Table(box=None, header_style="bold", padding=(0, 2, 0, 0))
    for heading in ("name", "what", "in the paper"):
        table.add_column(heading)
    for one in experiments:
        table.add_row(one.name, one.title, one.source)
    terminal.print(table)


def _show_plan(plans: Sequence[Schedule]) -> None:
    terminal = out()
    if not terminal.is_terminal:
        total = sum(plan.seconds for plan in plans)
        print_json({"format": FORMAT, "seconds": total, "plans": [plan.to_dict() for plan in plans]})
        return
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, header_style="bold", padding=(0, 2, 0, 0))
    table.add_column("experiment", no_wrap=True)
    for heading in ("done", "to do", "not at hand", "time", "memory"):
        table.add_column(heading, justify="right", no_wrap=True)
    for plan in plans:
        table.add_row(
            Text(plan.experiment.name, style="bold"),
            str(len(plan.done)),
            str(len(plan.todo)),
            Text(str(len(plan.missing)), style="yellow" if plan.missing else ""),
            duration(plan.seconds) if plan.todo else "-",
            f"{plan.memory / 2**30:.1f} GiB" if plan.todo else "-",
        )
    terminal.print(table)
    terminal.print(f"\nabout {duration(sum(plan.seconds for plan in plans))} in all, by a rough model")
    for text in dict.fromkeys(f"{unit.missing}" for plan in plans for unit in plan.missing):
        terminal.print(Text(visible(f"not at hand: {text}"), style="yellow"), soft_wrap=True)


@contextmanager
def _watched(
    plans: Sequence[Schedule], console: Console, *, quiet: bool
) -> Iterator[Callable[[Experiment, Unit, float], None] | None]:
    """Show a bar over all units, weighted by their costs; absent unless there is a terminal."""
    if quiet or not console.is_terminal:
        yield None
        return
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeRemainingColumn

    before: dict[int, float] = {}
    total = 0.0
    for plan in plans:
        for unit in plan.todo:
            before[id(unit)] = total
            total += unit.cost.seconds
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TextColumn("{task.percentage:.0f} %,"),
        TimeRemainingColumn(),
        TextColumn("left (Ctrl-C keeps what is finished)"),
    )
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task("starting", total=total or 1.0)

        def watch(experiment: Experiment, unit: Unit, share: float) -> None:
            done = before[id(unit)] + share * unit.cost.seconds
            progress.update(task, description=f"{experiment.name}: {unit.label}", completed=done)

        yield watch


def _show(outcome: Outcome, written: list[Path]) -> None:
    terminal = out()
    if not terminal.is_terminal:
        print_json(
            {
                "format": FORMAT,
                "computed": outcome.computed,
                "kept": outcome.kept,
                "missing": [list(one) for one in outcome.missing],
                "failed": [list(one) for one in outcome.failed],
                "stopped": outcome.stopped,
                "written": [str(path) for path in written],
            }
        )
        return
    from rich.text import Text

    stopped = f", stopped early ({outcome.stopped})" if outcome.stopped else ""
    plural = "" if outcome.computed == 1 else "s"
    terminal.print(f"{outcome.computed} unit{plural} computed, {outcome.kept} kept from before{stopped}")
    for kind, style, some in (
        ("not at hand", "yellow", outcome.missing),
        ("failed", "bold red", outcome.failed),
    ):
        by_reason: dict[tuple[str, str], list[str]] = {}
        for name, unit, why in some:
            by_reason.setdefault((name, why), []).append(unit)
        for (name, why), labels in by_reason.items():
            which = labels[0] if len(labels) == 1 else f"{labels[0]} and {len(labels) - 1} more"
            terminal.print(Text(visible(f"{name}, {which}: {kind}: {why}"), style=style), soft_wrap=True)
    for path in written:
        print_written(terminal, path)


def duration(seconds: float) -> str:
    """About how long, in words.

    >>> duration(4.0), duration(250.0), duration(9000.0)
    ('4 s', '4 min', '2.5 h')
    """
    if seconds < 120.0:
        return f"{seconds:.0f} s" if seconds >= 1.0 else f"{seconds:.1f} s"
    return f"{seconds / 60.0:.0f} min" if seconds < 7200.0 else f"{seconds / 3600.0:.1f} h"
