"""``geodim report``: saved results as one HTML page."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import Annotated

import typer

from geodim.cli.console import out, print_written
from geodim.cli.dash import answered, check_files, readable, writable
from geodim.cli.reporting import check_report


def report(
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="RESULT.json...",
            help="Results that compute, hops, binary or select wrote with --json; - is standard input.",
        ),
    ],
    output: Annotated[
        Path,
        typer.Option(
            "--output",
            "-o",
            metavar="PATH",
            help="Where to write the report, an .html file; - is standard output.",
        ),
    ] = Path("report.html"),
    title: Annotated[
        str | None, typer.Option(metavar="TEXT", help="The title; by default, the name of the data.")
    ] = None,
) -> None:
    """Write a report: what was measured and what it means, in words, interactive plots and tables.

    The report is a single .html file. It opens offline in any browser, also from an e-mail. Several results,
    of the same kind or of different kinds, are shown side by side.

    **Examples**

    * `geodim compute iris.csv --exclude species --json iris.json`, then
      `geodim report iris.json -o iris.html`
    * `geodim report raw.json scaled.json embedded.json -o comparison.html`
    * `geodim compute iris.csv --exclude species --report iris.html` does both at once
    """
    from geodim.display.html.document import report as write_report
    from geodim.display.html.sources import read_item

    check_report(output)
    check_files({"--output": output}, files)
    with ExitStack() as stack:
        paths = [stack.enter_context(readable(file, ".json")) for file in files]
        with writable(output, ".html") as page:
            write_report([read_item(path) for path in paths], page, title=title)
    terminal = out()
    if answered(output):
        return
    if terminal.is_terminal:
        print_written(terminal, output)
    else:
        print(output)
