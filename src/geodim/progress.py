"""Progress of a computation: a function that is called, or, with ``progress=True``, a bar.

In a notebook the browser draws the bar below the cell; elsewhere it is on the terminal, and disappears when
done.
"""

from __future__ import annotations

import sys
import time
from contextlib import contextmanager
from html import escape
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeAlias

from geodim.errors import InputTypeError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Told: TypeAlias = Callable[[int, int], None]
    Progress: TypeAlias = bool | Told | None

__all__ = ["in_notebook", "showing"]

BETWEEN = 0.1  # seconds between two updates of the bar in a notebook


def in_notebook() -> bool:
    """Return whether this process is the kernel of a notebook; nothing is imported to find out."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return shell is not None and getattr(shell, "kernel", None) is not None


@contextmanager
def showing(progress: Progress, noun: str) -> Iterator[Told | None]:
    """Provide a function to call as ``told(done, total)``; it does nothing where no progress was asked for.

    Parameters
    ----------
    progress : bool, callable or None
        The argument of public functions: True shows a bar.
    noun : str
        What is counted.
    """
    if progress is None or progress is False:
        yield None
    elif progress is True:
        with _notebook_bar(noun) if in_notebook() else _terminal_bar(noun) as told:
            yield told
    elif callable(progress):
        yield progress
    else:
        raise InputTypeError(
            f"progress is True for a bar, or a function of (done, total), not {progress!r:.60}"
        )


@contextmanager
def _terminal_bar(noun: str) -> Iterator[Told]:
    from rich.console import Console  # noqa: PLC0415 - takes time to import
    from rich.progress import (  # noqa: PLC0415
        BarColumn,
        MofNCompleteColumn,
        Progress as Bar,
        TextColumn,
        TimeRemainingColumn,
    )

    columns = (BarColumn(), MofNCompleteColumn(), TextColumn(noun), TimeRemainingColumn())
    with Bar(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


@contextmanager
def _notebook_bar(noun: str) -> Iterator[Told]:
    here: Any = import_module("IPython.display")  # it is installed, or there would be no kernel
    shown = here.display(here.HTML(_bar(0, 0, noun)), display_id=True)
    last, latest = time.monotonic(), (0, 0)

    def told(done: int, total: int) -> None:
        nonlocal last, latest
        latest = done, total
        if time.monotonic() - last > BETWEEN:
            last = time.monotonic()
            shown.update(here.HTML(_bar(done, total, noun)))

    try:
        yield told
    finally:
        shown.update(here.HTML(_bar(*latest, noun)))


def _bar(done: int, total: int, noun: str) -> str:
    """Return the HTML of a bar; without a value while nothing is known."""
    value = f'value="{done}" max="{total}"' if total else ""
    count = f"{done:,}/{total:,} " if total else ""
    return f'<progress {value} style="width: 20em"></progress> {count}{escape(noun)}'
