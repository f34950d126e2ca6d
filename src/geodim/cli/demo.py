"""``geodim demo``: what geodim says about 1,797 handwritten digits, and about the papers of Cora."""

from __future__ import annotations

import shlex
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from geodim.cli.console import err, out, print_written, shares_table
from geodim.cli.reporting import with_provenance
from geodim.cli.watching import watching
from geodim.errors import MissingExtraError
from geodim.output import check_outputs, make_folder

if TYPE_CHECKING:
    from rich.console import Console

    from geodim.display.html.sources import Item, Result
    from geodim.khop_result import KHopResult
    from geodim.result import IDResult

RTOL = 0.01
HOPS = 5
FRACTION = 0.99


def demo(
    output: Annotated[
        Path,
        typer.Option(
            metavar="DIR",
            file_okay=False,
            help="The folder for the report, the plot and the result; created if needed.",
        ),
    ] = Path("demo"),
) -> None:
    """Show what geodim does, with handwritten digits and a graph of citations.

    First it prints the intrinsic dimension of 1,797 images of 8 x 8 pixels: exactly and within 1 %,
    normalised and not. Then it prints that of Cora, 2,708 papers and their words, for larger and larger
    neighbourhoods, next to the numbers in the paper. It writes a report, a plot and the result to a folder.
    The report also shows the digits' graph of nearest neighbours, hop by hop, and a few pixels that tell the
    images apart almost as well as all of them. Both data sets are already installed; nothing is downloaded.
    """
    from rich.table import Table
    from sklearn.datasets import load_digits

    from geodim.dimension import intrinsic_dimension

    make_folder(output, "choose another with --output")
    check_outputs({name: output / name for name in ("digits.json", "digits.png", "report.html")})
    digits = load_digits()
    X, names = digits.data, list(digits.feature_names)
    console, terminal = err(), out()
    with watching(console, keeps="") as watch:
        for rtol in (RTOL, 0.0):  # the first run after an installation compiles, unmeasured
            intrinsic_dimension(X, rtol=rtol, removal=rtol == 0.0, progress=watch.solving)
        results = {
            (normalize, rtol): intrinsic_dimension(
                X,
                normalize=normalize,
                rtol=rtol,
                feature_names=names,
                progress=watch.solving,
                removal=rtol == 0.0,  # so that the report begins with what features are worth
            )
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
        ("certified bounds", "right"),
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
    exact = with_provenance(results[True, 0.0], "digits")
    terminal.print(
        f"\nThe discriminability is {exact.discriminability:.4f} (divided by {exact.d_max:g}): the part of "
        "the largest range over which the best pixel still spreads the points, on average over all numbers "
        "of points. The dimension is 1 / its square.\n"
    )
    terminal.print(shares_table(exact))
    cora = _hops_of_cora()
    _show_cora(cora, terminal)
    paths = [output / "digits.json"]
    exact.to_json(paths[0])
    try:
        from geodim.display.plots import save_plot

        save_plot(exact, output / "digits.png")
        paths.append(output / "digits.png")
    except MissingExtraError as error:
        console.print(f"note: no plot: {error}", markup=False, soft_wrap=True)
    try:
        _report(exact, names, cora, output / "report.html")
        paths.append(output / "report.html")
    except MissingExtraError as error:
        console.print(f"note: no report: {error}", markup=False, soft_wrap=True)
    terminal.print(
        f"\nintrinsic dimension {exact.dimension:.6g}, discriminability "
        f"{exact.discriminability:.6g}, written to"
    )
    for path in paths:
        print_written(terminal, path, "  ")
    terminal.print(
        f"Next, a file of your own (.csv, .parquet, .npy): {_program()} compute FILE", soft_wrap=True
    )


def _program() -> str:
    """Return the command to type: with its path, if the shell would not find it."""
    started = Path(sys.argv[0])
    return "geodim" if shutil.which("geodim") or started.stem != "geodim" else shlex.quote(str(started))


def _hops_of_cora() -> KHopResult:
    """Return the first row of the paper's table of dimensions by hops, from the bundled files."""
    from geodim.data.datasets import load_dataset
    from geodim.khop import khop_dimensions

    graph = load_dataset("cora", offline=True)
    return with_provenance(khop_dimensions(graph.x, graph.edge_index, HOPS), "cora")


def _show_cora(cora: KHopResult, terminal: Console) -> None:
    """Show our numbers beside those that the paper prints."""
    from rich.table import Table

    from geodim.experiments.printed import printed
    from geodim.experiments.verdicts import rounds_to

    papers, words = cora[0].n_points, cora[0].n_features
    terminal.print(
        f"\nCora: {papers:,} papers, {words:,} words that each paper has or lacks, and their "
        "citations. With k hops, features also average the words of papers up to k citations away.\n"
    )
    table = Table(box=None, header_style="bold")
    for heading in ("k", "intrinsic dimension", "in the paper", ""):
        table.add_column(heading, justify="right")
    for k, (ours, text) in enumerate(zip(cora.dimensions, printed()["khop_id"]["Cora"], strict=True)):
        table.add_row(str(k), f"{ours:.8g}", text, "the same" if rounds_to(ours, text) else "not the same")
    terminal.print(table)


def _report(exact: IDResult, names: list[str], cora: KHopResult, path: Path) -> None:
    """Report on the digits, their neighbour graph hop by hop, a choice of features, and Cora, on one page."""
    from geodim.data.datasets import load_dataset
    from geodim.display.html.document import check_report_path, report as write_report
    from geodim.explain.select import select_features
    from geodim.khop import khop_dimensions

    check_report_path(path)  # before the work
    graph = load_dataset("digits")
    hops = khop_dimensions(graph.x, graph.edge_index, HOPS, feature_names=names)
    chosen = select_features(graph.x, fraction=FRACTION, feature_names=names)
    parts: list[Item | Result] = [
        exact,
        with_provenance(hops, "digits, graph of neighbours"),
        with_provenance(chosen, "digits, few pixels"),
        cora,
    ]
    write_report(parts, path, title="Handwritten digits, and Cora")
