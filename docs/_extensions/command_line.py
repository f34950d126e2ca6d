"""The reference of the command line: a page for every command, from what the command says of itself."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from geodim.cli.app import app as commands

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sphinx.application import Sphinx

FOLDER = "reference/commands"


def pages() -> dict[str, str]:
    """A page in Markdown for every command, by its name, as ``geodim datasets list``."""
    group = typer.main.get_command(commands)
    context = group.make_context("geodim", [], resilient_parsing=True)
    return {name: "\n".join(_page(name, command, inner)) for name, command, inner in _walk(group, context)}


def _walk(group: Any, context: Any) -> Iterator[tuple[str, Any, Any]]:
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        inner = type(context)(command, info_name=name, parent=context)
        if hasattr(command, "list_commands"):
            yield from _walk(command, inner)
        else:
            yield inner.command_path, command, inner


def _page(name: str, command: Any, context: Any) -> Iterator[str]:
    yield f"# {name}\n"
    yield f"```console\n$ {name} {' '.join(command.collect_usage_pieces(context))}\n```\n"
    yield f"{command.help.strip()}\n"
    for title, kind in (("Arguments", "argument"), ("Options", "option")):
        records = [
            record
            for one in command.get_params(context)
            if one.param_type_name == kind and (record := one.get_help_record(context))
        ]
        if records:
            yield f"## {title}\n"
        for names, said in records:
            yield f"`{names}`\n: {' '.join(said.split())}\n"
    if command.epilog:
        yield f"{command.epilog.strip()}\n"


def _write(app: Sphinx) -> None:
    folder = Path(app.srcdir) / FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in pages().items():
        (folder / f"{name.replace(' ', '-')}.md").write_text(text, encoding="utf-8")


def setup(app: Sphinx) -> dict[str, object]:
    """Write the pages before Sphinx looks for pages."""
    app.connect("config-inited", lambda app, _: _write(app))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
