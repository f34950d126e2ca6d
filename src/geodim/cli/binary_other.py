"""Other measurements of ``geodim binary``: the curve of minimum supports, and the correlation dimension."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import typer

from geodim.arguments import one_of
from geodim.cli.console import out, print_json
from geodim.cli.dash import answered
from geodim.cli.exits import ExitCode
from geodim.cli.reporting import print_all_written
from geodim.cli.watching import KEEPS_BOUNDS
from geodim.cli.wording import as_typed, usage
from geodim.text import visible

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from rich.console import Console

    from geodim.cli.watching import Watch
    from geodim.concepts.correlation import BinaryCorrelation
    from geodim.concepts.supports import SupportCurve

    Names = Sequence[str] | None


@dataclass(frozen=True)
class Other:
    """A measurement other than the dimension itself: its option, what is counted, and how it is done."""

    name: str
    noun: str
    measure: Callable[[object, Names, Watch], Any]
    keeps: str = KEEPS_BOUNDS


def asked_for(
    *, curve: bool, supports: str | None, correlation: bool, pairs: str, scale: str
) -> Other | None:
    """Return what the options ask for; None for the dimension itself."""
    if correlation and (curve or supports is not None):
        raise typer.BadParameter("give --curve or --correlation, not both")
    if pairs != "auto" and not correlation:
        raise typer.BadParameter("only --correlation compares pairs", param_hint="--pairs")
    if curve or supports is not None:
        from geodim.cli.binary import parse_min_support

        wanted = None if supports is None else [parse_min_support(one) for one in supports.split(",")]

        def measure_curve(data: object, names: Names, watch: Watch) -> SupportCurve:
            from geodim.concepts.supports import support_curve

            return support_curve(
                data, supports=wanted, scale=scale, attribute_names=names, time_limit=watch.left,
                progress=watch.solving,
            )  # fmt: skip

        return Other("curve", "sizes", measure_curve)
    if not correlation:
        return None
    with usage():
        number = int(pairs) if pairs.isdecimal() else one_of(pairs, "--pairs", ("auto", "all"))

    def measure_correlation(data: object, names: Names, watch: Watch) -> BinaryCorrelation:
        from geodim.concepts.correlation import binary_correlation_dimension

        return binary_correlation_dimension(data, pairs=number, attribute_names=names, progress=watch.parts)

    return Other("correlation", "pairs", measure_correlation, keeps="")


def refuse(other: Other, given: Mapping[str, bool]) -> None:
    """Raise if an option was given that only applies to the dimension itself."""
    for option, there in given.items():
        if there:
            raise typer.BadParameter(f"does not go with --{other.name}", param_hint=option)


def show_other(
    found: SupportCurve | BinaryCorrelation, file: Path, json: Path | None, *, quiet: bool
) -> None:
    """Print the answer on the terminal or in a pipe, as for the dimension itself."""
    from geodim.concepts.supports import SupportCurve

    terminal = out()
    if answered(json):
        pass
    elif not terminal.is_terminal:
        print_json({**found.to_dict(), "file": str(file)})
    elif isinstance(found, SupportCurve):
        if quiet:
            print(f"{found.lower[-1]:.10g} {found.upper[-1]:.10g}")
        else:
            _show_curve(found, str(file), terminal)
    elif quiet:
        print(f"{found.normalized_dimension:.10g}")
    else:
        _show_correlation(found, str(file), terminal)
    if terminal.is_terminal and not quiet and not answered(json):
        print_all_written(terminal, json)
    if isinstance(found, SupportCurve) and found.stopped:
        raise typer.Exit(int(ExitCode.STOPPED))


def _show_curve(curve: SupportCurve, title: str, terminal: Console) -> None:
    from rich.table import Table
    from rich.text import Text

    from geodim.words import number

    table = Table(
        title=Text(visible(title), style="bold"), title_justify="left", box=None, header_style="bold"
    )
    for heading in ("minimum support", "lower", "upper", "by frequent concepts alone", "seconds"):
        table.add_column(heading, justify="right")
    for row in curve.rows():
        alone = f"{number(row['frequent_lower'])} – {number(row['frequent_upper'])}"
        bounds = [Text(number(row[side]), style="bold green") for side in ("lower", "upper")]
        table.add_row(f"{row['support']:,}", *bounds, alone, f"{row['seconds']:.1f}")
    terminal.print(table)
    terminal.print()
    terminal.print(as_typed(curve.text), soft_wrap=True)


def _show_correlation(found: BinaryCorrelation, title: str, terminal: Console) -> None:
    from rich.table import Table
    from rich.text import Text

    from geodim.words import number

    table = Table(title=Text(visible(title), style="bold"), title_justify="left", box=None, show_header=False)
    for words, value in (
        ("normalised dimension", number(found.normalized_dimension)),
        ("correlation dimension", number(found.dimension)),
        ("of independent columns", number(found.independent)),
        ("objects × attributes", f"{found.n_objects:,} × {found.n_attributes:,}"),
        ("pairs", "all" if found.exact else f"{found.n_pairs:,} at random"),
    ):
        table.add_row(words, value)
    terminal.print(table)
    terminal.print()
    terminal.print(as_typed(found.text), soft_wrap=True)
