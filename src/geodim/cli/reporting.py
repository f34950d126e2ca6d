"""What computing commands share to write a report: the option, its check, and the result's origin."""

from __future__ import annotations

import shlex
import sys
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

if TYPE_CHECKING:
    from geodim.explain.select import FeatureSelection
    from geodim.khop_result import KHopResult
    from geodim.result import IDResult

    R = TypeVar("R", bound=IDResult | KHopResult | FeatureSelection)

Report = Annotated[
    Path | None,
    typer.Option(metavar="PATH", help="Write a report to an .html file: words, interactive plots, tables."),
]


def check_report(path: Path | None) -> None:
    """Find out before the work, not after it, that the report cannot be written."""
    if path is not None:
        from geodim.display.html.document import check_report_path

        check_report_path(path)


def report_if_wanted(result: IDResult | KHopResult | FeatureSelection, path: Path | None) -> None:
    """Write the report on one result, if one is wanted."""
    if path is not None:
        from geodim.display.html.document import report as write_report

        write_report([result], path)


def command_line() -> str:
    """The command as it could be typed again."""
    return shlex.join(["geodim", *sys.argv[1:]])


def with_provenance(result: R, data: str) -> R:
    """The result, with what was measured, by which command and when, among its parameters."""
    from geodim.khop_result import KHopResult

    made = {"data": data, "command": command_line(), "date": f"{datetime.now(UTC):%Y-%m-%d}"}
    if isinstance(result, KHopResult):
        results = [replace(one, parameters={**one.parameters, **made}) for one in result]
        return replace(result, results=results)
    return replace(result, parameters={**result.parameters, **made})
