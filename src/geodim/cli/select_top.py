"""Methods of ``geodim select`` other than the greedy one: options, and the table of scores."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from geodim.text import visible
from geodim.words import within

if TYPE_CHECKING:
    from pathlib import Path

    from rich.console import Console

    from geodim.explain.top import TopFeatures

METHODS = ("greedy", "resilience", "uniform")
MOST_ROWS = 30


def check_method(
    method: str,
    drop_correlated: float | None,
    fraction: float | None,
    time_limit: float | None,
    report: Path | None,
) -> None:
    """Raise for options that do not apply to the method."""
    if method not in METHODS:
        raise typer.BadParameter(f"{method!r} is not one of {', '.join(METHODS)}", param_hint="--method")
    if drop_correlated is not None and not 0.0 <= drop_correlated < 1.0:
        raise typer.BadParameter(f"--drop-correlated must be at least 0 and below 1, not {drop_correlated:g}")
    if method == "greedy":
        if drop_correlated:
            raise typer.BadParameter(
                "--drop-correlated is for --method resilience and uniform: the greedy choice passes over "
                "features that add nothing"
            )
        return
    for option, given in (("--fraction", fraction), ("--time-limit", time_limit), ("--report", report)):
        if given is not None:
            raise typer.BadParameter(
                f"{option} is for --method greedy; --method {method} takes -m and --json"
            )


def show_top(top: TopFeatures, title: str, terminal: Console) -> None:
    """Show the table of scores, and what was dropped before."""
    from rich.table import Table
    from rich.text import Text

    table = Table(
        title=Text(visible(title), style="bold"), title_justify="left", box=None, header_style="bold"
    )
    for heading, side in (
        ("", "right"),
        ("feature", "left"),
        ("score", "right"),
        ("dimension", "right"),
        ("", "left"),
    ):
        table.add_column(heading, justify=side)  # type: ignore[arg-type]
    highest = top.scores[0] or 1.0
    for row in top.rows()[:MOST_ROWS]:
        bar = Text("━" * max(1, round(30 * row["score"] / highest)), style="blue")
        table.add_row(
            str(row["rank"]),
            Text(visible(row["feature"])),
            f"{row['score']:.6g}",
            f"{row['dimension']:.6g}",
            bar,
        )
    more = len(top.names) - MOST_ROWS
    if more > 0:
        table.add_row("", f"{more} more", "", "", "")
    terminal.print(table)
    dropped = f", {len(top.dropped):,} dropped by correlation" if top.dropped else ""
    threads = top.parameters["n_threads"]
    terminal.print(
        f"\n{len(top.names):,} of {top.n_features:,} features by {top.weighting}{dropped}, {top.n_points:,} "
        f"points{within(top.error)}; {top.seconds:.3g} s on {threads} thread{'' if threads == 1 else 's'}",
        soft_wrap=True,
    )
