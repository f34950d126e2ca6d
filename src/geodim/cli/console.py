"""What the terminal shows: consoles, notes, errors, tables and the progress bar.

Everything is shown by the consoles of `out` and `err`, which escape what a terminal would obey: names of
columns and files come from untrusted sources.
"""

from __future__ import annotations

import json
import logging
import sys
import warnings
from contextlib import contextmanager, suppress
from functools import cache
from typing import TYPE_CHECKING

from geodim.cli.wording import as_typed
from geodim.errors import GeodimWarning
from geodim.text import visible, visible_lines

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path
    from typing import TextIO

    from rich.console import Console, ConsoleOptions, RenderableType
    from rich.table import Table

    from geodim.alerts import Alert
    from geodim.result import IDResult

TOP_FEATURES = 8


@cache
def _safe_console() -> type[Console]:
    from rich.console import Console
    from rich.segment import Segment

    class SafeConsole(Console):
        """A console whose text cannot move the cursor: only Rich's own styles and controls become escapes."""

        def render(
            self, renderable: RenderableType, options: ConsoleOptions | None = None
        ) -> Iterable[Segment]:
            for segment in super().render(renderable, options):
                text = segment.text if segment.control else visible_lines(segment.text)
                yield segment if text == segment.text else Segment(text, segment.style)

    return SafeConsole


def out() -> Console:
    """Return the console on stdout: plain text without colours unless it is a terminal.

    That also decides between tables and JSON, so only the stream itself is asked: Rich would take FORCE_COLOR
    for a terminal.
    """
    return _safe_console()(highlight=False, force_terminal=sys.stdout.isatty())


def err() -> Console:
    """Return the console on stderr, for everything that is not the answer."""
    return _safe_console()(stderr=True, highlight=False, force_terminal=sys.stderr.isatty())


def print_error(message: str) -> None:
    """Print one message, never broken into lines, so that paths can be copied."""
    from rich.text import Text

    with suppress(OSError):  # if nobody listens, the exit code must suffice
        err().print(Text.assemble(("error: ", "bold red"), visible(as_typed(message))), soft_wrap=True)


def print_written(console: Console, path: Path, before: str = "wrote ") -> None:
    """Say which file was written, never broken into lines."""
    console.print(f"{before}{visible(str(path))}", soft_wrap=True, markup=False)


def announce_last_bit(console: Console, *, quiet: bool) -> None:
    """Say what the last bit may cost, to whoever watches."""
    if console.is_terminal and not quiet:
        console.print(
            "note: --last-bit may examine about n\N{SUPERSCRIPT TWO} / 2 windows of a column of n points: "
            "that takes a minute for 10^6 points, and a hundred times as long for 10^7"
        )


def print_json(values: Mapping[str, object]) -> None:
    """Print one JSON document on one line: ready for jq, and for appending to a file of results."""
    # The only control character that JSON leaves unescaped.
    text = json.dumps(values, allow_nan=False).replace("\x7f", "\\u007f")
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


@contextmanager
def notes(console: Console, *, quiet: bool = False) -> Iterator[None]:
    """Show geodim's warnings as notes on stderr, or not at all."""
    from rich.text import Text

    with warnings.catch_warnings(), _without_logs(quiet):
        warnings.simplefilter("always", GeodimWarning)
        show = warnings.showwarning

        def show_note(
            message: Warning | str,
            category: type[Warning],
            filename: str,
            lineno: int,
            file: TextIO | None = None,
            line: str | None = None,
        ) -> None:
            if not issubclass(category, GeodimWarning):
                show(visible_lines(str(message)), category, filename, lineno, file, line)
            elif not quiet:
                text = as_typed(str(message))
                console.print(Text.assemble(("note: ", "bold yellow"), text), soft_wrap=True)

        warnings.showwarning = show_note
        yield


@contextmanager
def _without_logs(quiet: bool) -> Iterator[None]:
    """Silence geodim's own messages, such as that it is compiling."""
    logger = logging.getLogger("geodim")
    level = logger.level
    if quiet:
        logger.setLevel(logging.ERROR)
    try:
        yield
    finally:
        logger.setLevel(level)


def summary_table(result: IDResult, title: str) -> Table:
    """Lay out what matters most, one row each."""
    from rich.table import Table
    from rich.text import Text

    table = Table(
        title=Text(visible(title), style="bold"),
        title_justify="left",
        show_header=False,
        box=None,
        padding=(0, 2, 0, 0),
    )
    for label, text in result.summary():
        if label != "carried by":  # it has its own table
            table.add_row(
                Text(label), Text(text, style="bold green" if label == "intrinsic dimension" else "")
            )
            if label == "intrinsic dimension" and result.gauge is not None:
                table.add_row("among columns of this size", result.gauge.line)
    threads = result.parameters.get("n_threads", 1)
    table.add_row("time", f"{result.seconds:.3g} s on {threads} thread{'' if threads == 1 else 's'}")
    return table


def print_alerts(console: Console, alerts: Iterable[Alert]) -> None:
    """Show the alerts, what to know before trusting the number, one line each."""
    from rich.text import Text

    for alert in alerts:
        style = "bold red" if alert.severity == "warning" else "bold yellow"
        text = visible(as_typed(f"{alert.message} {alert.way_out}".strip()))
        console.print()
        console.print(Text.assemble((f"{alert.severity}: ", style), text), soft_wrap=True)


def shares_table(result: IDResult) -> Table:
    """Lay out what features are worth: what their removal costs, where that is known, and their shares."""
    from rich.table import Table
    from rich.text import Text

    removal = result.removal
    table = Table(
        title="what features are worth" if removal else "carried by these features",
        title_justify="left", title_style="bold", box=None,
        caption=shares_caption(result), caption_justify="left",
    )  # fmt: skip
    table.add_column("feature")
    if removal is not None:
        table.add_column("without it", justify="right")
    table.add_column("share", justify="right")
    if removal is not None:
        table.add_column("alone", justify="right")
    if result.share_bounds:
        table.add_column("could be", justify="right")
    table.add_column()
    names = list(result.shares) if removal is None else removal.ranked()
    for name in names[:TOP_FEATURES]:
        share = result.shares[name]
        cells = [f"{share:.1%}"]
        if removal is not None:
            rest = removal.without[name]
            same = "the same" if rest == removal.dimension else f"{rest:.6g}"
            cells = [same, *cells, f"{removal.alone[name]:.1%}"]
        if result.share_bounds:
            least, most = result.share_bounds[name]
            cells.append(f"{least:.0%} to {most:.0%}")
        table.add_row(Text(visible(name)), *cells, Text("━" * max(1, round(30 * share)), style="blue"))
    more = len(names) - TOP_FEATURES
    if more > 0:
        rest_of = f"{sum(result.shares[name] for name in names[TOP_FEATURES:]):.1%}"
        beside = [""] * (bool(removal) + bool(result.share_bounds) + 1)
        table.add_row(f"{more} more", *([""] if removal else []), rest_of, *beside)
    return table


def shares_caption(result: IDResult) -> str:
    """Return how to read shares."""
    from geodim.removal import TIE_RULE

    if result.share_bounds:
        return "features that lie within the tolerance of each other may have each other's share"
    if result.removal is None:
        return TIE_RULE if len(result.shares) > 1 else ""
    words = f"{TIE_RULE}; "
    if not result.removal.costs:
        words = f"without any one of them the dimension stays the same, others tie; {words}"
    return f"{words}{result.removal.tied:.1%} of the discriminability is attained by several at once"
