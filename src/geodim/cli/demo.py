"""``geodim demo``: what geodim says about 1,797 handwritten digits."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from geodim.cli.console import err, out, progress_bar, shares_table
from geodim.errors import DataFileError, MissingExtraError

RTOL = 0.01


def demo(
    output: Annotated[
        Path,
        typer.Option(
            metavar="DIR", file_okay=False, help="Folder for the plot and the result; made if needed."
        ),
    ] = Path("demo"),
) -> None:
    """Show what geodim does, on the handwritten digits that come with scikit-learn.

    Prints the intrinsic dimension of 1,797 images of 8 x 8 pixels, exactly and within 1 %, normalised and not, and
    writes a plot and the result to a folder. Nothing is downloaded.
    """
    from rich.table import Table
    from sklearn.datasets import load_digits

    from geodim.dimension import intrinsic_dimension

    try:
        output.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        msg = f"cannot make the folder {output}: {error.strerror or error}; choose another with --output"
        raise DataFileError(msg) from error
    X = load_digits().data
    console, terminal = err(), out()
    with progress_bar(console) as progress:
        for rtol in (0.0, RTOL):  # compiles, on the first run after an installation; then the times are fair
            intrinsic_dimension(X, rtol=rtol, progress=progress)
        results = {
            (normalize, rtol): intrinsic_dimension(X, normalize=normalize, rtol=rtol, progress=progress)
            for normalize in (True, False)
            for rtol in (0.0, RTOL)
        }
    terminal.print(
        f"The handwritten digits of scikit-learn: {X.shape[0]:,} points, {X.shape[1]} features (pixels)\n"
    )
    table = Table(box=None, header_style="bold")
    for heading, justify in (
        ("features", "left"),
        ("accuracy", "left"),
        ("intrinsic dimension", "right"),
        ("proven bounds", "right"),
        ("seconds", "right"),
    ):
        table.add_column(heading, justify=justify)  # type: ignore[arg-type] # the words are the literals it wants
    for (normalize, rtol), result in results.items():
        table.add_row(
            f"divided by {result.d_max:g}" if normalize else "as they are",
            "exact" if rtol == 0.0 else f"within {rtol:.0%}",
            f"{result.dimension:.6g}",
            "equal" if result.lower == result.upper else f"{result.lower:.6g} .. {result.upper:.6g}",
            f"{result.seconds:.3f}",
        )
    terminal.print(table)
    exact = results[True, 0.0]
    terminal.print(
        f"\nThe discriminability is {exact.discriminability:.4f} (divided by {exact.d_max:g}): the share of the largest range "
        "that the best pixel still covers, on average over all shares of points left out. The dimension is 1 / its square.\n"
    )
    terminal.print(shares_table(exact))
    paths = [output / "digits.json"]
    exact.to_json(paths[0])
    try:
        from geodim.report.plots import save_plot

        save_plot(exact, output / "digits.png")
        paths.append(output / "digits.png")
    except MissingExtraError as error:
        console.print(f"note: no plot: {error}", markup=False, soft_wrap=True)
    terminal.print(
        f"\nintrinsic dimension {exact.dimension:.6g}, discriminability {exact.discriminability:.6g}, written to"
    )
    for path in paths:
        terminal.print(f"  {path}", markup=False, soft_wrap=True)
    terminal.print("Next, a file of your own: geodim compute FILE")
