"""``geodim verify``: checks a certificate against the data it is about."""

from __future__ import annotations

import time
from pathlib import Path  # noqa: TC003 - typer looks at the annotations
from typing import TYPE_CHECKING, Annotated

import typer

from geodim.cli.completing import files_and_data_sets
from geodim.cli.console import err, notes, out
from geodim.cli.dash import EDGES, TABLE, as_named, check_files, readable
from geodim.cli.datasets import Root  # noqa: TC001 - typer looks at the annotations
from geodim.cli.exits import EPILOG, ExitCode
from geodim.cli.hop_inputs import load
from geodim.cli.panels import OUTPUT
from geodim.cli.reporting import Json, json_instead
from geodim.cli.tables import Columns, DropMissing, Exclude, Header, opened
from geodim.errors import CertificateError
from geodim.text import visible
from geodim.words import counted

if TYPE_CHECKING:
    from geodim.certificate import Certificate

FORMAT = "geodim.verify/1"
VERIFY_EPILOG = EPILOG.replace(
    "* 0: success; the result is exact, or within the tolerance asked for\n* 1: an unexpected error",
    "* 0: verified\n* 1: refuted, with the reason; or an unexpected error",
)


def verify(
    certificate: Annotated[
        Path,
        typer.Argument(metavar="CERTIFICATE", help="A file that compute or hops wrote with --certificate."),
    ],
    data: Annotated[
        Path,
        typer.Argument(
            metavar="DATA",
            autocompletion=files_and_data_sets,
            help="The data that was measured: a file of points, or the name of a data set.",
        ),
    ],
    edges: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="For hops: the edges, in any format that `geodim hops --edges` reads."
        ),
    ] = None,
    root: Root = None,
    columns: Columns = None,
    exclude: Exclude = None,
    drop_missing: DropMissing = False,
    header: Header = None,
    json: Json = None,
    quiet: Annotated[
        bool,
        typer.Option(
            "--quiet", "-q", rich_help_panel=OUTPUT, help="No notes; on a terminal only the verdict."
        ),
    ] = False,
) -> None:
    """Verify a certificate: derive its bounds on the intrinsic dimension from the data again.

    The check trusts nothing in the certificate and uses no part of the engine that made it. A short program,
    which needs only numpy, checks every statement, and names the first one that is false. You can read this
    program and run it without geodim: `python checker.py CERTIFICATE DATA.npy EDGES.npy`. The file checker.py
    is in the folder of the installed package.

    The columns must be those that were measured: repeat **--columns**, **--exclude** and **--header** or
    **--no-header** from the command that wrote the certificate.

    **Examples**

    * `geodim compute points.npy --certificate proof.json`, then `geodim verify proof.json points.npy`
    * `geodim verify proof.json iris.csv --exclude species`
    * `geodim hops --features x.npy --edges e.csv --certificate proof.json`, then `geodim verify proof.json
      x.npy --edges e.csv`
    * `geodim verify proof.json cora`
    * `geodim verify proof.json points.npy | jq .verified`
    """
    from geodim.certificate import Certificate
    from geodim.saved.document import to_json_value

    check_files({"--json": json}, [certificate, data, edges])
    with (
        notes(err(), quiet=quiet),
        readable(certificate, ".json") as proof,
        readable(data, TABLE) as points,
        readable(edges, EDGES) as pairs,
    ):
        try:
            claim = Certificate.from_json(proof)
            intervals, seconds = _checked(claim, points, pairs, root, columns, exclude, header, drop_missing)
        except CertificateError as error:
            reason = as_named(str(error))
            document = _document(certificate, data, verified=False, reason=reason)
            if not json_instead(document, json):
                _show_refuted(certificate, reason)
            raise typer.Exit(int(ExitCode.UNEXPECTED)) from error
    plain = [[to_json_value(end) for end in one] for one in intervals]
    sizes = {"n_points": claim.n_points, "n_features": claim.n_features}
    document = _document(certificate, data, verified=True, dimensions=plain, **sizes, seconds=seconds)
    if not json_instead(document, json):
        _show_verified(claim, intervals, certificate, seconds, quiet=quiet)


def _checked(
    claim: Certificate,
    data: Path,
    edges: Path | None,
    root: Path | None,
    columns: str | None,
    exclude: str | None,
    header: bool | None,
    drop_missing: bool,
) -> tuple[list[tuple[float, float]], float]:
    """Open the data and check the certificate; return the proved intervals, and the seconds it took."""
    named = not data.exists() and len(data.parts) == 1 and "." not in data.name
    if not named and edges is None and not claim.hops:
        with opened(data, columns, exclude, header=header, drop_missing=drop_missing) as (table, _):
            return _timed(claim, table)
    if columns is not None or exclude is not None:
        raise typer.BadParameter("hops take all columns", param_hint="--columns / --exclude")
    if drop_missing:
        raise typer.BadParameter("nodes of a graph cannot be left out", param_hint="--drop-missing")
    if not named and edges is None:
        raise typer.BadParameter(
            f"the certificate is about {claim.hops} hops on a graph: give its edges", param_hint="--edges"
        )
    files = (None, None) if named else (data, edges)
    given = load(str(data) if named else None, root, *files, header=header)
    return _timed(claim, given.x, given.graph)


def _timed(claim: Certificate, data: object, graph: object = None) -> tuple[list[tuple[float, float]], float]:
    started = time.perf_counter()
    return claim.verify(data, graph), time.perf_counter() - started


def _show_refuted(certificate: Path, reason: str) -> None:
    terminal = out()
    terminal.print("[bold red]REFUTED[/]", visible(str(certificate)), soft_wrap=True)
    terminal.print(reason, soft_wrap=True, markup=False)


def _show_verified(
    claim: Certificate,
    intervals: list[tuple[float, float]],
    certificate: Path,
    seconds: float,
    *,
    quiet: bool,
) -> None:
    terminal = out()
    terminal.print(f"[bold green]VERIFIED[/] {certificate}", soft_wrap=True)
    if quiet:
        return
    for h, (low, high) in enumerate(intervals):
        after = f" after {counted(h, 'hop')}" if claim.hops else ""
        terminal.print(f"the intrinsic dimension{after} lies between {low:.10g} and {high:.10g}")
    values = claim.n_points * claim.n_features * (claim.hops + 1)
    terminal.print(
        f"{claim.n_points:,} points x {claim.n_features:,} features checked in {seconds:.3g} s, "
        f"{1e9 * seconds / values:.3g} ns per value"
    )


def _document(certificate: Path, data: Path, **values: object) -> dict[str, object]:
    return {"format": FORMAT, "certificate": str(certificate), "data": str(data), **values}
