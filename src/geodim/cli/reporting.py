"""How computing commands write their results: options, checks, and the result's origin."""

from __future__ import annotations

import shlex
import sys
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Protocol, TypeVar

import typer

from geodim.cli.console import out, print_json, print_written
from geodim.cli.dash import is_dash, writable
from geodim.cli.panels import OUTPUT
from geodim.cli.wording import usage
from geodim.output import json_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rich.console import Console

    from geodim.explain.select import FeatureSelection
    from geodim.explain.top import TopFeatures
    from geodim.khop_result import KHopResult
    from geodim.result import IDResult

    R = TypeVar("R", bound=IDResult | KHopResult | FeatureSelection | TopFeatures)

Json = Annotated[
    Path | None,
    typer.Option(
        "--json",
        rich_help_panel=OUTPUT,
        metavar="PATH",
        help="Write the whole result as JSON to this file; - is standard output.",
    ),
]
Report = Annotated[
    Path | None,
    typer.Option(
        rich_help_panel=OUTPUT,
        metavar="PATH",
        help="Write a report with text, plots and tables to this .html file; - is standard output.",
    ),
]


class Writes(Protocol):
    """A result that can be written as JSON."""

    def to_json(self, path: Path, /) -> str:
        """Write it."""


def check_report(path: Path | None) -> None:
    """Raise before the computation, not after it, if the report cannot be written."""
    if path is not None:
        from geodim.display.html.document import check_report_path

        with usage():
            check_report_path(Path("stdout.html") if is_dash(path) else path)


def report_if_wanted(result: IDResult | KHopResult | FeatureSelection, path: Path | None) -> None:
    """Write the report on one result, if one is wanted."""
    if path is not None:
        from geodim.display.html.document import report as write_report

        with writable(path, ".html") as file:
            write_report([result], file)


def json_if_wanted(result: Writes, path: Path | None) -> None:
    """Write the whole result as JSON, if that is wanted."""
    if path is not None:
        with writable(path, ".json") as file:
            result.to_json(file)


def json_instead(document: Mapping[str, object], path: Path | None) -> bool:
    """Write a document to a file if wanted, and print it in a pipe; return whether nothing else is shown."""
    if path is not None:
        with writable(path, ".json") as file:
            json_text(document, file)
    if is_dash(path):
        return True
    if out().is_terminal:
        return False
    print_json(document)
    return True


def print_all_written(terminal: Console, *paths: Path | None) -> None:
    """Say which files were written."""
    for path in paths:
        if path is not None:
            print_written(terminal, path)


def command_line() -> str:
    """Return the command as it could be typed again."""
    return shlex.join(["geodim", *sys.argv[1:]])


def with_provenance(result: R, data: str) -> R:
    """Return the result, with what was measured, by which command and when, among its parameters."""
    from geodim.khop_result import KHopResult
    from geodim.support_field import altered

    made = {"data": data, "command": command_line(), "date": f"{datetime.now(UTC):%Y-%m-%d}"}
    if isinstance(result, KHopResult):
        results = [altered(one, parameters={**one.parameters, **made}) for one in result]
        return replace(result, results=results)
    return altered(result, parameters={**result.parameters, **made})
