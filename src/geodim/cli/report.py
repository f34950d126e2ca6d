"""``geodim report``: results that were written before, as one page to look at and to send."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from geodim.cli.console import out, print_written
from geodim.output import check_outputs


def report(
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="RESULT.json...", help="Results, as --json of compute, hops or select writes them."
        ),
    ],
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="PATH", help="The report, an .html file.")
    ] = Path("report.html"),
    title: Annotated[
        str | None, typer.Option(metavar="TEXT", help="A title; the name of the data by default.")
    ] = None,
) -> None:
    """Write a report: what was measured and what it means, in words, interactive plots and tables.

    The report is one .html file that opens offline in any browser, and from an e-mail. Several results, of
    one kind or of different ones, are compared side by side.

    **Examples**

    * `geodim compute iris.csv --exclude species --json iris.json`, then
      `geodim report iris.json -o iris.html`
    * `geodim report raw.json scaled.json embedded.json -o comparison.html`
    * `geodim compute iris.csv --exclude species --report iris.html` does both at once
    """
    from geodim.display.html.document import check_report_path, report as write_report
    from geodim.display.html.sources import read_item

    check_report_path(output)
    check_outputs({"--output": output}, files)
    write_report([read_item(file) for file in files], output, title=title)
    terminal = out()
    if terminal.is_terminal:
        print_written(terminal, output)
    else:
        print(output)
