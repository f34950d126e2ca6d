"""What a command shows while it works, and the time that it has: one bar and one clock from start to end.

Reading, examining the values and solving follow each other in one bar, with the time left.  A time limit
counts from the start of the command.  Until there are bounds nothing is lost if the program ends, so it does
end, even where it does not respond: while code is compiled, or in a library that is reading.  From then on
the engine watches the time, and returns bounds.
"""

from __future__ import annotations

import os
import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

from geodim.cli.console import print_error
from geodim.cli.exits import ExitCode
from geodim.memory import in_bytes
from geodim.waiting import waiting
from geodim.words import short

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import Console
    from rich.progress import Progress

PATIENCE = 0.7  # seconds beyond the time limit until a command that does not respond is ended
KEEPS_BOUNDS = "(Ctrl-C keeps the bounds)"
NAME_LENGTH = 48  # characters of what is read


class Watch:
    """The progress that a command reports while it works, and the limit it is asked to keep.

    Parameters
    ----------
    time_limit : float or None
        Seconds that the command may take.
    bar : Progress or None
        Where to show the progress.
    noun : str
        What is counted while solving.
    keeps : str
        What Ctrl-C keeps once there is progress; empty if that is nothing.
    """

    def __init__(self, time_limit: float | None, bar: Progress | None, noun: str, keeps: str) -> None:
        self.started, self.time_limit = time.monotonic(), time_limit
        self.bar, self.noun, self.keeps = bar, noun, keeps
        self._stage = ""
        self._measuring = f"measuring {noun}"
        self._task = None if bar is None else bar.add_task("starting", total=None, count="", hint="")
        self._timer: threading.Timer | None = None

    @property
    def left(self) -> float | None:
        """Seconds that are left; None without a limit."""
        if self.time_limit is None:
            return None
        return max(0.0, self.started + self.time_limit - time.monotonic())

    def reading(self, doing: str, done: int, of: int) -> None:
        """Show the progress of reading files and examining values, in any unit, from any thread."""
        if of > 1 and doing != self._measuring:  # which `parts` shows with its count
            file = doing.removeprefix("reading ")
            name = doing if file == doing else f"reading {short(os.path.basename(file), NAME_LENGTH)}"  # noqa: PTH119 - text
            count = f"{in_bytes(done)} of {in_bytes(of)}," if of >= 1 << 20 else f"{done / of:.0%},"
            self._show(name, count, done, of, "")

    def solving(self, done: int, total: int) -> None:
        """Show progress with bounds: what is known so far can be returned."""
        self.has_bounds()
        self._show("solving", f"{done}/{total} {self.noun},", done, total, self.keeps)

    def parts(self, done: int, total: int) -> None:
        """Show progress without bounds: there is no result before the end."""
        self._show(self._measuring, f"{done}/{total},", done, total, "")

    def _show(self, stage: str, count: str, done: int, total: int, hint: str) -> None:
        if self.bar is None or self._task is None:
            return
        if stage != self._stage or done < self.bar.tasks[0].completed:  # another, or a second and finer pass
            self.bar.reset(self._task)
            self._stage = stage
        self.bar.update(
            self._task, description=stage, completed=done, total=total, count=count, hint=f"left {hint}"
        )

    def arm(self) -> None:
        """End the program when the time is over, unless there are bounds by then."""
        if self.time_limit is not None and self.time_limit < threading.TIMEOUT_MAX - PATIENCE:
            self._timer = threading.Timer(self.time_limit + PATIENCE, self._give_up)
            self._timer.daemon = True
            self._timer.start()

    def has_bounds(self) -> None:
        """Note that there are bounds from here on, and that the engine watches the time."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _give_up(self) -> None:
        if self.bar is not None:
            self.bar.stop()
        self.bar = None
        doing = f", while {self._stage}" if self._stage else ""
        print_error(
            f"the time limit of {self.time_limit:g} s ran out before there was any result{doing}: give more "
            "time (the first run after an installation also compiles, once)"
        )
        os._exit(int(ExitCode.STOPPED))  # it does not respond: reading or compiling ends with the process


@contextmanager
def watching(
    console: Console,
    *,
    quiet: bool = False,
    noun: str = "features",
    keeps: str = KEEPS_BOUNDS,
    time_limit: float | None = None,
    show: bool = True,
) -> Iterator[Watch]:
    """Show a bar that is removed when done and absent unless there is a terminal, and watch the clock.

    ``show`` may be false where the bar is a part of something else that is shown.
    """
    visible = not quiet and console.is_terminal
    watch = Watch(time_limit, _bar(console) if visible else None, noun, keeps)
    watch.arm()
    try:
        with waiting(time_limit, started=watch.started, told=watch.reading):
            if watch.bar is not None and show:
                with watch.bar:
                    yield watch
            else:
                yield watch
    finally:
        watch.has_bounds()


def _bar(console: Console) -> Progress:
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeRemainingColumn

    return Progress(
        SpinnerColumn(),
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TextColumn("{task.fields[count]}", markup=False),
        TimeRemainingColumn(),
        TextColumn("{task.fields[hint]}", markup=False),
        console=console,
        transient=True,
    )
