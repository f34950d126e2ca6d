"""The application, assembled from its commands, each in a file of its own.

Commands import the engine, pandas or matplotlib when they run, so that ``geodim --help`` answers at once.
"""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from geodim._version import __version__
from geodim.cli.binary import binary
from geodim.cli.compare import compare
from geodim.cli.compute import compute
from geodim.cli.console import print_error
from geodim.cli.datasets import datasets
from geodim.cli.demo import demo
from geodim.cli.doctor import doctor
from geodim.cli.estimators import compare_estimators
from geodim.cli.exits import EPILOG, ExitCode, guarded
from geodim.cli.hops import hops
from geodim.cli.report import report
from geodim.cli.reproduce import reproduce
from geodim.cli.select import select
from geodim.cli.streams import prepare_streams, silence
from geodim.cli.subsample import subsample
from geodim.cli.switches import Command, Group
from geodim.cli.verify import VERIFY_EPILOG, verify
from geodim.engine.interrupt import interruptible, terminated_by
from geodim.errors import DataFileError
from geodim.text import visible

if TYPE_CHECKING:
    from collections.abc import Iterator

    from typer._click.core import Context


@contextmanager
def _visible_messages() -> Iterator[None]:
    """Make messages of typer safe to print, which repeat wrong arguments such as names of files."""
    try:
        yield
    except Exception as error:
        if isinstance(message := getattr(error, "message", None), str):
            error.message = visible(message)  # type: ignore[attr-defined]
        raise


class _Commands(Group):
    """The group of all commands; control characters in messages about wrong arguments are made visible."""

    def make_context(
        self, info_name: str | None, args: list[str], parent: Context | None = None, **extra: object
    ) -> Context:
        with _visible_messages():
            return super().make_context(info_name, args, parent, **extra)

    def invoke(self, ctx: Context) -> object:
        with _visible_messages():
            return super().invoke(ctx)


app = typer.Typer(
    cls=_Commands,
    no_args_is_help=True,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog=EPILOG,
)
app.command(cls=Command, epilog=EPILOG)(guarded(compute))
app.command(cls=Command, epilog=EPILOG)(guarded(hops))
app.command(cls=Command, epilog=EPILOG)(guarded(binary))
app.command(cls=Command, epilog=EPILOG)(guarded(compare))
app.command(cls=Command, epilog=EPILOG)(guarded(subsample))
app.command("estimators", cls=Command, epilog=EPILOG)(guarded(compare_estimators))
app.command(cls=Command, epilog=EPILOG)(guarded(select))
app.command(cls=Command, epilog=EPILOG)(guarded(report))
app.command(cls=Command, epilog=VERIFY_EPILOG)(guarded(verify))
app.add_typer(datasets, name="datasets")
app.command(cls=Command, epilog=EPILOG)(guarded(reproduce))
app.command(cls=Command)(guarded(demo))
app.command(cls=Command)(guarded(doctor))


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
    """Measure the intrinsic dimension of data, exactly or within proved bounds.

    The intrinsic dimension says how hard it is to tell your points apart by their features. The more the
    features crowd the points together, the larger it is. It is computed, not estimated: the number is exact,
    or it comes with bounds that are proved.

    **Start here**

    * `geodim demo` shows what you get, with data that comes with geodim
    * `geodim compute points.npy` measures a file of your own
    * `geodim select points.npy` finds a few features that do almost as well as all
    * `geodim hops cora` measures a graph with attributes, hop by hop
    * `geodim binary transactions.dat` measures binary data by its formal concepts
    * `geodim report result.json` turns a saved result into a page of plots and words
    * `geodim verify proof.json points.npy` checks a certificate against the data
    * `geodim compare a.npy b.npy` compares data sets at equal numbers of points
    * `geodim subsample points.npy` shows how the number depends on the number of points
    * `geodim estimators points.npy` compares it with MLE, TwoNN and other estimators
    * `geodim datasets list` lists the graphs that geodim knows by name
    * `geodim reproduce --quick` repeats the paper's experiments and compares the numbers
    * `geodim doctor` checks the installation

    In place of a file name, `-` means standard input or output. With `geodim --install-completion`, your
    shell completes the names of commands, options and data sets.
    """


def main() -> None:
    """Run the command line; in any state of the streams there is an exit code and no traceback."""
    prepare_streams()
    code: str | int | None = ExitCode.UNEXPECTED
    try:
        with interruptible():
            app(prog_name="geodim")
    except SystemExit as left:
        code = left.code
    except KeyboardInterrupt:  # while the commands were imported
        code = int(ExitCode.INTERRUPTED)
    try:
        sys.stdout.flush()
    except DataFileError as error:
        if not code:  # else it was reported before
            print_error(str(error))
            code = int(ExitCode.FILE)
    except SystemExit as left:
        code = code or left.code
    silence()
    number = terminated_by()
    sys.exit(128 + number if code == ExitCode.INTERRUPTED and number else code)
