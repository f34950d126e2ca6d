"""The definition of an experiment: a name, units of work, and the tables and figures made from their rows.

An experiment states beforehand what each unit costs and whether its data exists; the runner decides which
units to do, and the store keeps the rows of those that are done.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from geodim.errors import GeodimError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from geodim.display.table import ReportTable
    from geodim.experiments.verdicts import Claim, Comparison

    Row = dict[str, Any]
    Rows = list[Row]

__all__ = ["Context", "Cost", "Experiment", "Options", "StoppedError", "Unit"]


class StoppedError(GeodimError):
    """A unit of work was ended early, by the time limit or Ctrl-C; its rows are not complete and not kept."""


@dataclass(frozen=True)
class Options:
    """The user's options; every experiment uses those that concern it.

    Attributes
    ----------
    quick : bool
        A version of a few minutes, with the available data.
    root : Path, optional
        Folder with the data sets; see `geodim.data.datasets.load_dataset`.
    threads : int, optional
        Threads to use, all cores by default.
    memory : int, optional
        Bytes that may be used.
    points, features : tuple of int, optional
        Sizes of the random data instead of the paper's.
    repetitions : int, optional
        Repetitions instead of the paper's, where an experiment repeats anything.
    device : str
        Where networks are trained, as for `geodim.gnn.fit_sign`.
    """

    quick: bool = False
    root: Path | None = None
    threads: int | None = None
    memory: int | None = None
    points: tuple[int, ...] | None = None
    features: tuple[int, ...] | None = None
    repetitions: int | None = None
    device: str = "cpu"


@dataclass(frozen=True)
class Cost:
    """What a unit takes: seconds on this machine, by a rough model, and peak bytes."""

    seconds: float
    memory: int = 0
    note: str = ""


@dataclass(frozen=True)
class Context:
    """What a unit of work may use while it runs.

    Attributes
    ----------
    options : Options
        What the user asked for.
    state : Path
        Folder for the state from which an unfinished unit continues later; not part of the results.
    deadline : float, optional
        `time.monotonic` value at which to stop.
    progress : callable
        Called as ``progress(done, total)`` in the calling thread.
    """

    options: Options
    state: Path
    deadline: float | None = None
    progress: Callable[[float, float], None] = field(default=lambda _done, _total: None)


@dataclass(frozen=True)
class Unit:
    """One piece of work, done whole or not at all.

    Attributes
    ----------
    key : dict
        The parameters that decide its rows, as JSON holds them; together with the version of geodim
        they name it in the store.
    cost : Cost
        What it takes.
    work : callable
        Does the work and returns the rows.
    missing : str, optional
        What it lacks on this machine, and how to get it; it is then not run.
    """

    key: dict[str, Any]
    cost: Cost
    work: Callable[[Context], Rows]
    missing: str | None = None

    @property
    def label(self) -> str:
        """The parameters as text."""
        return ", ".join(
            str(value) if isinstance(value, str) else f"{name} {_short(value)}"
            for name, value in self.key.items()
        )


@dataclass(frozen=True)
class Experiment:
    """One table or figure of the paper.

    Attributes
    ----------
    name, title, source : str
        Short name, what it shows, and where the paper shows it.
    recipe : int
        Raised when the meaning of rows changes, so that older ones are computed again.
    units : callable
        The units of work for some options.
    compare : callable
        Printed numbers beside those of the rows.
    draw : callable, optional
        Figures in the paper's form, by file name without ending.
    claims : callable, optional
        Sentences of the paper, tested with the rows.
    notes : callable, optional
        What a reader should know, in sentences that follow from the rows.
    tables : callable, optional
        Further tables for the report.
    """

    name: str
    title: str
    source: str
    recipe: int
    units: Callable[[Options], list[Unit]]
    compare: Callable[[Rows], list[Comparison]]
    draw: Callable[[Rows], dict[str, Any]] = field(default=lambda _rows: {})
    claims: Callable[[Rows], list[Claim]] = field(default=lambda _rows: [])
    notes: Callable[[Rows], list[str]] = field(default=lambda _rows: [])
    tables: Callable[[Rows], list[ReportTable]] = field(default=lambda _rows: [])


def _short(value: object) -> str:
    if isinstance(value, bool) or not isinstance(value, int):
        return str(value)
    return f"{value:,}"
