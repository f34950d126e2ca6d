"""Commands that pages show exist, with the options that they show; every command has its page."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest
import typer

from geodim.cli.app import app

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", *sorted(DOCS.rglob("*.md")), *sorted((DOCS / "tutorials").glob("*.py"))]


def commands() -> dict[str, set[str]]:
    """Every command, and its options."""
    group = typer.main.get_command(app)
    found = {}
    for name, command in group.commands.items():
        for inner, one in getattr(command, "commands", {"": command}).items():
            options = {
                option
                for param in one.params
                if not getattr(param, "hidden", False)
                for option in (*param.opts, *param.secondary_opts)
            }
            found[f"{name} {inner}".strip()] = options | {"--help", "-h"}
    return found


COMMANDS = commands()


def shown(text: str) -> list[str]:
    """Command lines in a page: in lines of code and in blocks."""
    spans = re.findall(r"`{1,2}(geodim [^`\n]+)`", text)
    blocks = re.findall(r"^(?:    |\$ )(geodim [^\n]+)$", text, re.MULTILINE)
    return [re.split(r"\s#\s|\s\|\s| > ", line)[0] for line in (*spans, *blocks)]


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_command_lines_are_right(page: Path) -> None:
    for line in shown(page.read_text(encoding="utf-8")):
        words = line.split()[1:]
        if not words or words[0].isupper() or words[0].startswith(("-", "0", "1")):
            continue  # geodim COMMAND, geodim --version
        name = next((one for one in (" ".join(words[:2]), words[0]) if one in COMMANDS), None)
        if words == ["datasets"]:
            continue
        assert name, f"{page.name} shows {line!r}: there is no such command"
        options = {word.split("=")[0].rstrip(".,;:)") for word in words if re.match(r"--?[a-zA-Z]", word)}
        assert options <= COMMANDS[name], f"{page.name} shows {line!r}: {options - COMMANDS[name]} unknown"


def test_every_command_has_a_page() -> None:
    sys.path.insert(0, str(ROOT / "docs" / "_extensions"))
    try:
        from command_line import pages
    finally:
        sys.path.pop(0)
    written = pages()
    assert set(written) == {f"geodim {name}" for name in COMMANDS}
    for name, text in written.items():
        there = {"--help", *re.findall(r"(?<![\w-])--[a-z][\w-]*", text)}
        assert {one for one in COMMANDS[name.removeprefix("geodim ")] if one.startswith("--")} <= there, name
