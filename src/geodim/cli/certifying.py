"""How the computing commands write a certificate: the options, their check, and the writing."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from geodim.cli.dash import writable
from geodim.cli.panels import OUTPUT
from geodim.errors import GeodimWarning

if TYPE_CHECKING:
    from geodim.khop_result import KHopResult
    from geodim.result import IDResult

CertificatePath = Annotated[
    Path | None,
    typer.Option(
        "--certificate",
        rich_help_panel=OUTPUT,
        metavar="PATH",
        help="Write a certificate, from which `geodim verify` proves the bounds again.",
    ),
]
CertificateRtol = Annotated[
    float,
    typer.Option(
        rich_help_panel=OUTPUT,
        metavar="E",
        min=1e-9,
        max=1.0,
        help="For --certificate: how far apart the proved bounds may be.",
    ),
]


def check_certificate(
    path: Path | None, operator: str = "sym", *, weighted: bool = False, made: bool = False
) -> None:
    """Raise before the computation, not after it, if there can be no certificate."""
    if path is None:
        return
    if made:
        raise typer.BadParameter(
            "only columns and hops can be certified: for few points, write the values to a file, and measure "
            "its columns",
            param_hint="--certificate",
        )
    if operator not in ("sym", "rw") or weighted:
        raise typer.BadParameter(
            "only the operators sym and rw, without edge weights, can be certified",
            param_hint="--certificate",
        )


def write_certificate(
    result: IDResult | KHopResult, path: Path | None, rtol: float, *data: object, stopped: str | None
) -> None:
    """Write the certificate, if one is wanted; there is none for a stopped run, for lack of time."""
    if path is None:
        return
    if stopped is None:
        with writable(path, ".json") as file:
            result.certificate(*data, rtol=rtol).save(file)
    else:
        warnings.warn(f"stopped early, so no certificate was written to {path}", GeodimWarning, stacklevel=2)
