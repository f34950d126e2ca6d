"""What all results have in common: plain values, JSON and back, and an HTML page."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

import numpy as np

from geodim.errors import DataFileError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path
    from typing import Self

    from numpy.typing import NDArray

    from geodim.saved.kinds import Check

__all__ = ["Reported", "SavedResult", "format_of", "rebuilt", "thinned", "to_json_value"]


class SavedResult(ABC):
    """A result that is written as JSON and read again; the document declares its own kind."""

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""

    @classmethod
    @abstractmethod
    def from_dict(cls, values: object) -> Self:
        """Rebuild a result from `to_dict`."""

    def to_json(self, path: str | Path | None = None) -> str:
        """Return JSON text, also written to ``path`` (whole or not at all) if given.

        Infinity is the string "inf".
        """
        from geodim.output import json_text  # noqa: PLC0415

        return json_text(self.to_dict(), path)

    @classmethod
    def from_json(cls, source: str | Path) -> Self:
        """Rebuild a result from JSON text or a JSON file."""
        from geodim.saved.results import read_saved  # noqa: PLC0415

        return read_saved(source, cls.from_dict)


class Reported:
    """A result with a report, see `geodim.report`."""

    def report(self, path: str | Path, *, title: str | None = None) -> None:
        """Write a page with words, interactive plots and tables to an .html file, whole or not at all.

        Parameters
        ----------
        path : path
            The file, which must end in .html.
        title : str, optional
            The title; the name of the data by default.
        """
        from geodim.display.html.document import report  # noqa: PLC0415

        report(self, path, title=title)

    def to_html(self, path: str | Path | None = None, *, title: str | None = None) -> str:
        """Return the page of `report` as text, also written to ``path`` if given."""
        from geodim.display.html.document import check_report_path, render_report  # noqa: PLC0415
        from geodim.output import write_text  # noqa: PLC0415

        if path is not None:
            check_report_path(path)
        page = render_report(self, title=title)
        if path is not None:
            write_text(path, page)
        return page


def format_of(values: object) -> str:
    """Return which kind of document this declares itself to be, or else what it looks like."""
    found = values.get("format") if isinstance(values, dict) else None
    return found[:80] if isinstance(found, str) else type(values).__name__


def rebuilt(
    values: object,
    expected: str,
    table: Mapping[str, Check[object]],
    derived: tuple[str, ...],
    make: Callable[[dict[str, Any]], Any],
) -> Any:  # noqa: ANN401 - what is made
    """Make a result from the fields of a table, each checked.

    Fields that follow from these are not trusted but computed again; others are refused.
    """
    from geodim.saved.kinds import UnfitError, fields  # noqa: PLC0415

    found = format_of(values)
    if not isinstance(values, dict) or found != expected:
        raise DataFileError(
            f"expected format {expected!r}, found {found!r}: was it written by a later geodim?"
        )
    try:
        return make(fields(values, table, dict.fromkeys(("format", *derived), _anything)))
    except UnfitError as error:
        kind = expected.partition("/")[0]
        raise DataFileError(f"this is not a {kind} as it was written ({error})") from error


def _anything(value: object) -> object:
    return value


def thinned(size: int, most: int) -> NDArray[np.intp]:
    """Return at most ``most`` positions in [0, size).

    Half of them are evenly spaced; a quarter each becomes denser towards either end.
    """
    even = np.linspace(0, size - 1, most // 2)
    ends = np.geomspace(1, size, most // 4) - 1
    return np.unique(np.concatenate([even, ends, size - 1 - ends]).astype(np.intp))


def to_json_value(value: object) -> object:
    """Return infinity as the string "inf": JSON has no such number."""
    if isinstance(value, float) and not np.isfinite(value):
        return "inf" if value > 0 else str(value)
    return value
