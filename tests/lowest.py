"""Print the lowest versions that pyproject.toml allows, as constraints for pip.

Used by `make test-lowest`.
"""

from __future__ import annotations

import re
import sys
import tomllib
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

LEFT_OUT = {"ruff", "mypy", "pre-commit", "import-linter"}  # tools that check the source do not run with it


def lowest(requirements: Iterable[str]) -> dict[str, str]:
    """Name and least version of every requirement that has one."""
    found = {}
    for requirement in requirements:
        match = re.match(r"([\w-]+)(?:\[[\w,-]+\])?\s*>=\s*([\w.]+)", requirement)
        if match and match[1] not in LEFT_OUT:
            found[match[1]] = match[2]
    return found


def main() -> None:
    """Print one line per package."""
    project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())["project"]
    requirements = chain(project["dependencies"], *project["optional-dependencies"].values())
    for name, version in sorted(lowest(requirements).items()):
        sys.stdout.write(f"{name}=={version}\n")


if __name__ == "__main__":
    main()
