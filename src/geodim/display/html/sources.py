"""What a report is about: results, each with a name, from Python or from JSON files of any kind."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from geodim.data.files import read_json
from geodim.data.tables.read import SUFFIXES
from geodim.errors import DataFileError, InputTypeError
from geodim.explain.select import FeatureSelection
from geodim.khop_result import KHopResult
from geodim.result import IDResult
from geodim.sampling.comparison import Comparison

__all__ = ["Item", "Result", "as_items", "as_result", "read_item"]

Result: TypeAlias = "IDResult | KHopResult | FeatureSelection"
KINDS = "IDResult.to_json, KHopResult.to_json or FeatureSelection.to_json"
# What the commands print in a pipe.
LINES = (
    "geodim.compute/",
    "geodim.hops/",
    "geodim.select/",
    "geodim.compare/",
    "geodim.estimators/",
)


@dataclass(frozen=True)
class Item:
    """A result and its title.

    Attributes
    ----------
    title : str
        What was measured: the name of a data set or file.
    result : IDResult, KHopResult or FeatureSelection
        The result.
    """

    title: str
    result: Result

    @property
    def parameters(self) -> dict[str, Any]:
        """Return how the result was computed."""
        first = self.result.results[0] if isinstance(self.result, KHopResult) else self.result
        return first.parameters

    @property
    def date(self) -> str:
        """The time at which it was computed, if known."""
        date = self.parameters.get("date")
        return date if isinstance(date, str) else ""

    @property
    def versions(self) -> dict[str, str]:
        """Return the versions of the packages that computed it."""
        first = self.result.results[0] if isinstance(self.result, KHopResult) else self.result
        return first.versions

    @property
    def seconds(self) -> float:
        """Return how long the computation took."""
        return self.result.results[-1].seconds if isinstance(self.result, KHopResult) else self.result.seconds


def read_item(path: str | Path) -> Item:
    """Read one file; errors name it.

    Parameters
    ----------
    path : path
        A JSON file with a result of any kind.
    """
    try:
        result = as_result(read_json(Path(path)))
    except DataFileError as error:
        why = (
            f"this is a table, not a result: `geodim compute {path} --report report.html` measures it and "
            "writes the report"
            if str(path).lower().endswith(SUFFIXES) and Path(path).is_file()
            else error
        )
        msg = f"cannot report {path}: {why}"
        raise DataFileError(msg) from error
    item = Item(Path(path).stem, result)
    data = item.parameters.get("data")
    return Item(data, result) if isinstance(data, str) and data else item


def as_result(values: object) -> Result:
    """Turn what a JSON file holds back into a result of its kind."""
    found = values.get("format") if isinstance(values, dict) else None
    kind = found if isinstance(found, str) else ""
    if kind.startswith("geodim.IDResult/"):
        return IDResult.from_dict(values)
    if kind.startswith("geodim.KHopResult/"):
        return KHopResult.from_dict(values)
    if kind.startswith("geodim.FeatureSelection/"):
        return FeatureSelection.from_dict(values)
    if kind.startswith(LINES):
        command = kind.split(".")[1].split("/")[0]
        msg = (
            f"this is the line that `geodim {command}` prints, without the curve: "
            "write the result with --json"
        )
        raise DataFileError(msg)
    msg = (
        "this is not a geodim result: expected a file written by --json or by "
        f"{KINDS}, found format {found!r}"
    )
    raise DataFileError(msg)


def as_items(results: object) -> list[Item]:
    """Name results by their data, or else by a number; items stay as they are.

    Names that read the same are numbered.
    """
    items: list[Item] = []
    if isinstance(results, Comparison):
        results = [Item(name, one) for name, one in zip(results.names, results.results, strict=True)]
    one_alone = isinstance(results, (Item, IDResult, KHopResult, FeatureSelection))
    results = [results] if one_alone or not isinstance(results, list | tuple) else results
    for at, one in enumerate(results, 1):
        if isinstance(one, Item):
            items.append(one)
        elif isinstance(one, (IDResult, KHopResult, FeatureSelection)):
            data = Item("", one).parameters.get("data")
            items.append(Item(str(data) if data else f"result {at}", one))
        else:
            msg = (
                f"cannot report a {type(one).__name__}: expected an IDResult, KHopResult or FeatureSelection"
            )
            raise InputTypeError(msg)
    seen: dict[str, int] = {}
    named = []
    for item in items:
        seen[item.title] = seen.get(item.title, 0) + 1
        again = seen[item.title]
        named.append(item if again == 1 else Item(f"{item.title} ({again})", item.result))
    return named
