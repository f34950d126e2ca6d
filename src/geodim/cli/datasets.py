"""``geodim datasets``: which graphs are known by name, where their files belong, and how to get them."""

from __future__ import annotations

import shlex
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from geodim.cli.completing import data_sets
from geodim.cli.console import err, notes, out
from geodim.cli.exits import EPILOG, guarded
from geodim.cli.reporting import Json, json_instead
from geodim.cli.switches import Command, Group
from geodim.errors import InputValueError
from geodim.text import visible

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import Console

    from geodim.data.datasets import DatasetInfo

FORMAT = "geodim.datasets/1"

datasets = typer.Typer(
    cls=Group,
    no_args_is_help=True,
    rich_markup_mode="markdown",
    context_settings={"help_option_names": ["-h", "--help"]},
)

Name = Annotated[
    str,
    typer.Argument(
        metavar="NAME",
        autocompletion=data_sets,
        help="A name from `geodim datasets list`; upper and lower case are the same.",
    ),
]
Root = Annotated[
    Path | None,
    typer.Option(
        metavar="DIR",
        file_okay=False,
        help="Folder with one folder per data set; by default GEODIM_DATA, or else your cache folder.",
    ),
]


@datasets.callback()
def about() -> None:
    """List, describe and download the graphs that geodim knows by name.

    These are the paper's graphs, larger ones from OGB, and generated ones. Files are read in the layouts of
    PyTorch Geometric (Planetoid) and ogb, so a folder that one of these packages made works as it is. Only
    **fetch** downloads anything; no other command of geodim does.

    **Examples**

    * `geodim datasets list` shows names, sizes, and which are on this machine
    * `geodim datasets fetch pubmed --root data`, then `geodim hops pubmed --root data`
    """


def list_(root: Root = None, json: Json = None) -> None:
    """List all data sets: sizes, and whether they are on this machine.

    In a pipe the answer is one line of JSON.

    **Examples**

    * `geodim datasets list --root data`
    * `geodim datasets list | jq -r '.datasets[] | select(.present) | .name'`
    """
    from geodim.data.datasets import list_datasets, resolve_root

    infos = list_datasets(root)
    document = {
        "format": FORMAT,
        "root": str(resolve_root(root)),
        "datasets": [info.as_dict() for info in infos],
    }
    if json_instead(document, json):
        return
    terminal = out()
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, header_style="bold", padding=(0, 2, 0, 0), expand=True)
    table.add_column("name", no_wrap=True)
    for heading in ("nodes", "edges", "attributes"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("here", no_wrap=True)
    table.add_column("what", no_wrap=True, overflow="ellipsis", ratio=1)  # takes the remaining width
    for info in infos:
        table.add_row(
            Text(info.name, style="bold"),
            *(_count(value) for value in (info.nodes, info.edges, info.attributes)),
            Text("yes", style="green") if info.present else Text("no", style="yellow"),
            Text(info.description),
        )
    terminal.print(table)
    terminal.print(
        f"\nFiles are looked for in {visible(str(resolve_root(root)))}",
        soft_wrap=True,
        markup=False,
        highlight=False,
    )


def info(name: Name, root: Root = None, json: Json = None) -> None:
    """Describe one data set: sizes, folder, missing files, source and licence.

    This opens and downloads nothing.

    **Examples**

    * `geodim datasets info ogbn-arxiv`
    * `geodim datasets info cora | jq -r .folder`
    """
    described = describe(name, root)
    if not json_instead({"format": FORMAT, **described.as_dict()}, json):
        _show(described, out())


def fetch(
    name: Name,
    root: Root = None,
    offline: Annotated[
        bool,
        typer.Option("--offline", help="Download nothing, only check: exit code 4 if files are missing."),
    ] = False,
    json: Json = None,
) -> None:
    """Download the missing files of a data set, and compare their checksums.

    An interrupted download continues where it stopped. The command prints the folder. Cora and CiteSeer come
    with geodim and need no download. GEODIM_OFFLINE=1 has the same effect as **--offline**, for all commands.

    **Examples**

    * `geodim datasets fetch pubmed`
    * `geodim datasets fetch ogbn-arxiv --root /data`
    """
    from geodim.data.datasets import fetch as fetch_files
    from geodim.data.datasets.roots import is_offline

    described = describe(name, root)
    folder = described.folder
    if folder is None:
        said = "generated when it is used: there is nothing to fetch"
    elif is_offline(offline) and not described.missing and not folder.is_dir():
        folder, said = None, "comes with geodim: there is nothing to fetch"
    else:
        with notes(err()), naming_files(described, root):
            folder = fetch_files(described.name, root, offline=offline)
        said = str(folder)
    _done(described.name, "folder", folder, said, json)


def convert(name: Name, root: Root = None, json: Json = None) -> None:
    """Convert an OGB data set to arrays that are read from disk as needed, in any amount of memory.

    `geodim hops` does this by itself when needed. Use this command to do it ahead of time, or again. It
    prints the folder.

    **Example**

    * `geodim datasets convert ogbn-products --root /data`
    """
    from geodim.data.datasets import convert as convert_files

    described = describe(name, root)
    with notes(err()), naming_files(described, root):
        folder = convert_files(described.name, root, offline=True)
    _done(described.name, "converted", folder, str(folder), json)


def describe(name: str, root: Path | None, argument: str = "NAME") -> DatasetInfo:
    """Look a name up; one that does not exist is a wrong argument."""
    from geodim.data.datasets import dataset_info

    try:
        return dataset_info(name, root)
    except InputValueError as error:
        also = "" if argument == "NAME" else "there is no file of this name, and "
        raise typer.BadParameter(f"{also}{error}", param_hint=argument) from error


def dataset_folder(name: str, root: Path | None) -> Path | None:
    """Return where the files of a data set are, or would be: no output belongs there."""
    return describe(name, root).folder


@contextmanager
def naming_files(described: DatasetInfo, root: Path | None) -> Iterator[None]:
    """Raise if a data set is missing, saying which files belong where, and which command gets them."""
    from geodim.data.datasets import DatasetNotFoundError, MissingEmbeddingError

    try:
        yield
    except MissingEmbeddingError:
        raise
    except DatasetNotFoundError as error:
        shown = ", ".join(described.missing[:3])
        more = f" and {len(described.missing) - 3} more" if len(described.missing) > 3 else ""
        option = "" if root is None else f" --root {shlex.quote(str(root))}"
        raise DatasetNotFoundError(
            f"{described.name} is not in {described.folder} (missing: {shown}{more}). Place its files "
            f"there, from {described.source}, or run: geodim datasets fetch {described.name}{option}"
            f" (about {_size(described.download_bytes)})"
        ) from error


def _done(name: str, key: str, folder: Path | None, text: str, json: Path | None) -> None:
    document = {"format": FORMAT, "name": name, key: None if folder is None else str(folder)}
    if not json_instead(document, json):
        out().print(f"{name}: {visible(text)}", soft_wrap=True, markup=False)


def _count(value: int | None) -> str:
    return "-" if value is None else f"{value:,}"


def _size(n_bytes: int) -> str:
    return f"{n_bytes / 2**30:.1f} GiB" if n_bytes >= 1 << 30 else f"{n_bytes / 2**20:.0f} MiB"


def _show(described: DatasetInfo, terminal: Console) -> None:
    from rich.table import Table
    from rich.text import Text

    table = Table(
        title=Text(described.name, style="bold"),
        title_justify="left",
        show_header=False,
        box=None,
        padding=(0, 2, 0, 0),
    )

    def row(label: str, text: str, style: str = "") -> None:
        table.add_row(Text(label), Text(text, style=style, overflow="fold"))

    row("what", described.description)
    for label, value in (
        ("nodes", described.nodes),
        ("edges", described.edges),
        ("attributes", described.attributes),
    ):
        row(label, _count(value))
    row("edges are", "directed" if described.directed else "undirected")
    if described.folder is not None:
        row("folder", visible(str(described.folder)))
        row("here", "yes" if described.present else "no", "green" if described.present else "yellow")
        if described.missing:
            row("missing", "\n".join(described.missing))
        if described.converted is not None:
            row("converted", visible(str(described.converted)))
        row("download", f"about {_size(described.download_bytes)}")
    row("source", described.source)
    if described.license:
        row("licence", described.license)
    terminal.print(table)


datasets.command("list", cls=Command, epilog=EPILOG)(guarded(list_))
datasets.command("info", cls=Command, epilog=EPILOG)(guarded(info))
datasets.command("fetch", cls=Command, epilog=EPILOG)(guarded(fetch))
datasets.command("convert", cls=Command, epilog=EPILOG)(guarded(convert))
