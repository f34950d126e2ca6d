"""The application: commands are put together here, each from a file of its own.

Commands import the engine, pandas or matplotlib when they run, so that ``geodim --help`` answers at once.
"""

from __future__ import annotations

from typing import Annotated

import typer

from geodim._version import __version__
from geodim.cli.compare import compare
from geodim.cli.compute import compute
from geodim.cli.datasets import datasets
from geodim.cli.demo import demo
from geodim.cli.doctor import doctor
from geodim.cli.exits import EPILOG, guarded
from geodim.cli.hops import hops
from geodim.cli.report import report
from geodim.cli.reproduce import reproduce
from geodim.cli.select import select
from geodim.cli.verify import VERIFY_EPILOG, verify

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog=EPILOG,
)
app.command(epilog=EPILOG)(guarded(compute))
app.command(epilog=EPILOG)(guarded(hops))
app.command(epilog=EPILOG)(guarded(compare))
app.command(epilog=EPILOG)(guarded(select))
app.command(epilog=EPILOG)(guarded(report))
app.command(epilog=VERIFY_EPILOG)(guarded(verify))
app.add_typer(datasets, name="datasets")
app.command(epilog=EPILOG)(guarded(reproduce))
app.command()(guarded(demo))
app.command()(guarded(doctor))


def _print_version(value: bool) -> None:
    if value:
        print(f"geodim {__version__}")
        raise typer.Exit


@app.callback()
def geodim(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit."),
    ] = False,
) -> None:
    """Exact, certified intrinsic dimension of data.

    The intrinsic dimension says how hard it is to tell your points apart by their features: the more the features
    concentrate, the larger it is, and the less there is to learn from them. It is computed exactly, or within bounds
    that are proven, not estimated.

    **Start here**

    * `geodim demo` shows what you get, on handwritten digits
    * `geodim compute points.npy` measures a file of yours
    * `geodim select points.npy` finds few features that keep most of it
    * `geodim hops digits` measures a graph with attributes, hop by hop
    * `geodim report result.json` makes a page of plots and words to look at and send
    * `geodim verify proof.json points.npy` proves a result anew from the data
    * `geodim compare points.npy` sets MLE, TwoNN and others beside ours
    * `geodim datasets list` shows the graphs known by name
    * `geodim reproduce --quick` runs the paper's experiments and compares
    * `geodim doctor` checks the installation
    """


def main() -> None:
    """Run the command line."""
    app(prog_name="geodim")
