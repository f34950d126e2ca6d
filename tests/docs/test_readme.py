"""README.md names every extra that a user may want, and no others."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_extras_are_those_of_the_project() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"][
        "optional-dependencies"
    ]
    (every,) = extras["all"]
    wanted = {"all", *re.search(r"\[(.+)\]", every)[1].split(",")}
    table = (ROOT / "README.md").read_text(encoding="utf-8").split("| extra |")[1].split("\n\n")[0]
    named = {
        name
        for cell in re.findall(r"^\| ([^|]+) \|", table, re.MULTILINE)
        for name in re.findall(r"`(\w+)`", cell)
    }
    assert named == wanted
