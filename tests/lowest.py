"""Print the lowest versions that pyproject.toml allows, as constraints for pip.

Given what pytest wrote with ``--junitxml``, one file or several, print the versions that are installed, and
how many tests passed, were skipped and failed with them: docs/results/lowest.txt.

Used by `make test-lowest`.
"""

from __future__ import annotations

import platform
import re
import sys
import tomllib
from collections import Counter
from importlib import metadata
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

if TYPE_CHECKING:
    from collections.abc import Iterable

OUTCOMES = ("tests", "skipped", "failures", "errors")
# Tools that check the source do not run with it.
LEFT_OUT = {"ruff", "mypy", "pre-commit", "import-linter", "sp-repo-review", "codespell"}


def lowest(requirements: Iterable[str]) -> dict[str, str]:
    """Name and least version of every requirement that has one."""
    found = {}
    for requirement in requirements:
        match = re.match(r"([\w-]+)(?:\[[\w,-]+\])?\s*>=\s*([\w.]+)", requirement)
        if match and match[1] not in LEFT_OUT:
            found[match[1]] = match[2]
    return found


def requirements() -> list[str]:
    """What pyproject.toml names, the extras included."""
    project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())["project"]
    return [*project["dependencies"], *chain(*project["optional-dependencies"].values())]


def plain(name: str) -> str:
    """A name as packages are compared by: Jinja2 is jinja2, torch_geometric is torch-geometric."""
    return re.sub(r"[-_.]+", "-", name).lower()


def counts(reports: Iterable[str]) -> dict[str, int]:
    """How many tests there were and what became of them, all reports together."""
    found: Counter[str] = Counter()
    for report in reports:
        for suite in ET.parse(report).getroot().iter("testsuite"):
            found.update({name: int(suite.attrib[name]) for name in OUTCOMES})
    bad = found["failures"] + found["errors"]
    return {
        "passed": found["tests"] - found["skipped"] - bad,
        "skipped": found["skipped"],
        "failed": bad,
    }


def main(reports: list[str]) -> None:
    """Print one line per package, and one per outcome if there are reports."""
    versions = lowest(requirements())
    if reports:
        installed = {plain(one.metadata["Name"]) for one in metadata.distributions()}
        versions = {name: metadata.version(name) for name in versions if plain(name) in installed}
        sys.stdout.write(f"python=={platform.python_version()}\n")
    for name, version in sorted(versions.items()):
        sys.stdout.write(f"{name}=={version}\n")
    if reports:
        for what, number in counts(reports).items():
            sys.stdout.write(f"{number} {what}\n")


if __name__ == "__main__":
    main(sys.argv[1:])
