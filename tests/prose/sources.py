"""Where the numbers of the pages come from: committed results and logs, read once."""

from __future__ import annotations

import json
import re
from functools import cache
from typing import Any

from prose.pages import ROOT


@cache
def text(path: str) -> str:
    """A committed file."""
    return (ROOT / path).read_text(encoding="utf-8")


@cache
def benchmark(name: str) -> Any:
    """benchmarks/results/NAME.json."""
    return json.loads(text(f"benchmarks/results/{name}.json"))


@cache
def result(name: str) -> Any:
    """docs/results/NAME.json."""
    return json.loads(text(f"docs/results/{name}.json"))


def rows(experiment: str, **key: object) -> list[dict[str, Any]]:
    """The rows of the units of a reproduced experiment whose keys agree, with their keys in them."""
    found = []
    for unit in result(experiment)["units"]:
        if all(unit["key"].get(name) == value for name, value in key.items()):
            names = unit["rows"]["columns"]
            found += [
                unit["key"] | dict(zip(names, values, strict=True)) for values in unit["rows"]["values"]
            ]
    return found


def units(experiment: str, **key: object) -> list[dict[str, Any]]:
    """The finished units of a reproduced experiment whose keys agree."""
    return [
        unit
        for unit in result(experiment)["units"]
        if unit["status"] == "done" and all(unit["key"].get(name) == value for name, value in key.items())
    ]


def section(path: str, start: str, end: str = "\n==") -> str:
    """The part of a log that begins with a mark."""
    return text(path).split(start, 1)[1].split(end, 1)[0]


def found(pattern: str, where: str) -> list[str]:
    """All that a pattern matches in a text; there is at least one."""
    all_of_them = re.findall(pattern, where)
    assert all_of_them, pattern
    return all_of_them


def constant(path: str, name: str) -> int:
    """A whole number that a module states, without importing it: some need packages that may be missing."""
    value, _, shift = found(rf"(?m)^{name} = (\d+(?: << \d+)?)", text(path))[0].partition(" << ")
    return int(value) << int(shift or 0)


def significant(value: float, digits: int = 2) -> str:
    """So many significant digits, with trailing zeros, without an exponent.

    >>> significant(0.81), significant(24.04), significant(5.377), significant(1.999)
    ('0.81', '24', '5.4', '2.0')
    """
    rounded = float(f"{value:.{digits - 1}e}")
    before = len(str(int(rounded)))
    return f"{rounded:,.{max(digits - before, 0) if rounded >= 1.0 else digits}f}"


def between(values: list[float], form: str = ".0f") -> tuple[str, str]:
    """The least and the greatest, formatted."""
    return format(min(values), form), format(max(values), form)
