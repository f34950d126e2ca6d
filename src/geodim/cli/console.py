"""What the terminal shows: consoles, notes, errors, tables and the progress bar."""

from __future__ import annotations

import json
import sys
import warnings
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from geodim.errors import GeodimWarning

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rich.console import Console
    from rich.table import Table

    from geodim.result import IDResult

TOP_FEATURES = 8


def out() -> Console:
    """Console on stdout: plain text without colours where that is no terminal."""
    from rich.console import Console

    return Console(highlight=False)


def err() -> Console:
    """Console on stderr, for everything that is not the answer."""
    from rich.console import Console

    return Console(stderr=True, highlight=False)


def print_error(message: str) -> None:
    """Print one message, never broken into lines, so that paths can be copied."""
    from rich.text import Text

    err().print(Text.assemble(("error: ", "bold red"), message), soft_wrap=True)


def print_json(values: dict[str, Any]) -> None:
    """Print one JSON document on one line: ready for jq, and for appending to a file of results."""
    sys.stdout.write(json.dumps(values, allow_nan=False) + "\n")
    sys.stdout.flush()


@contextmanager
def notes(console: Console, *, quiet: bool = False) -> Iterator[None]:
    """Show geodim's warnings as notes on stderr, or not at all."""
    from rich.text import Text

    with warnings.catch_warnings():
        warnings.simplefilter("always", GeodimWarning)
        show = warnings.showwarning

        def show_note(message: Warning | str, category: type[Warning], *rest: Any, **more: Any) -> None:
            if not issubclass(category, GeodimWarning):
                show(message, category, *rest, **more)
            elif not quiet:
                console.print(Text.assemble(("note: ", "bold yellow"), str(message)), soft_wrap=True)

        warnings.showwarning = show_note
        yield


@contextmanager
def progress_bar(console: Console, *, quiet: bool = False) -> Iterator[Callable[[int, int], None] | None]:
    """Bar with the time left, for `intrinsic_dimension`; gone when done, and absent where nobody is looking."""
    if quiet or not console.is_terminal:
        yield None
        return
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        SpinnerColumn,
        TextColumn,
        TimeRemainingColumn,
    )

    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("features,"),
        TimeRemainingColumn(),
        TextColumn("left (Ctrl-C keeps the bounds)"),
    )
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task("checking values", total=None)

        def report(done: int, total: int) -> None:
            if done < progress.tasks[0].completed:  # a second and finer pass
                progress.reset(task)
            progress.update(task, description="solving", completed=done, total=total)

        yield report


def summary_table(result: IDResult, title: str) -> Table:
    """Lay out what matters most, one row each."""
    from rich.table import Table
    from rich.text import Text

    table = Table(
        title=Text(title, style="bold"),
        title_justify="left",
        show_header=False,
        box=None,
        padding=(0, 2, 0, 0),
    )
    for label, text in result.summary():
        if label != "carried by":  # has a table of its own
            table.add_row(
                Text(label), Text(text, style="bold green" if label == "intrinsic dimension" else "")
            )
    threads = result.parameters.get("n_threads", 1)
    table.add_row("time", f"{result.seconds:.3g} s on {threads} thread{'' if threads == 1 else 's'}")
    return table


def shares_table(result: IDResult) -> Table:
    """Lay out which features carry the discriminability, the largest shares first."""
    from rich.table import Table
    from rich.text import Text

    table = Table(title="carried by these features", title_justify="left", title_style="bold", box=None)
    table.add_column("feature")
    table.add_column("share", justify="right")
    table.add_column()
    for name, share in list(result.shares.items())[:TOP_FEATURES]:
        table.add_row(Text(name), f"{share:.1%}", Text("━" * max(1, round(30 * share)), style="blue"))
    more = len(result.shares) - TOP_FEATURES
    if more > 0:
        rest = sum(list(result.shares.values())[TOP_FEATURES:])
        table.add_row(f"{more} more", f"{rest:.1%}", "")
    return table
