"""Rows on disk: one JSON and one CSV file per experiment.

They are written after every unit of work, whole or not at all.  A unit is found again by its parameters, the
experiment's recipe and the version of geodim, so that a second run computes only what is missing, and a new
version computes afresh.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from geodim._version import __version__
from geodim.data.files import csv_text, read_json
from geodim.errors import DataFileError
from geodim.experiments.machine import describe_machine
from geodim.output import make_folder, write_text

if TYPE_CHECKING:
    from pathlib import Path

    from geodim.experiments.experiment import Experiment, Row, Rows, Unit

__all__ = ["DONE", "FAILED", "MISSING", "Store"]

FORMAT = "geodim.experiment/1"
TAIL = ("status", "note", "seconds")  # what every line of a table ends with
DONE, MISSING, FAILED = "done", "not at hand", "failed"


class Store:
    """The rows of one experiment in a folder of results.

    Parameters
    ----------
    folder : Path
        Made if it does not exist.
    experiment : Experiment
        The experiment whose rows these are.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from geodim.experiments import get_experiment
    >>> store = Store(Path(tempfile.mkdtemp()), get_experiment("random"))
    >>> store.rows()
    []
    """

    def __init__(self, folder: Path, experiment: Experiment) -> None:
        self.folder, self.experiment = folder, experiment
        self.path = folder / f"{experiment.name}.json"
        self.entries: list[dict[str, Any]] = self._load() if self.path.exists() else []

    def _load(self) -> list[dict[str, Any]]:
        document = read_json(self.path)
        if not isinstance(document, dict) or document.get("format") != FORMAT:
            msg = f"{self.path} is not a file of results ({FORMAT}): move it away or choose another folder"
            raise DataFileError(msg)
        try:
            return [_checked({**entry, "rows": _unpacked(entry["rows"])}) for entry in document["units"]]
        except (KeyError, TypeError, ValueError) as error:
            msg = f"{self.path} is damaged ({error!r}): move it away or choose another folder"
            raise DataFileError(msg) from error

    def is_done(self, unit: Unit) -> bool:
        """Return whether the rows of this unit exist."""
        found = self._find(unit)
        return found is not None and found["status"] == DONE

    def put(
        self, unit: Unit, rows: Rows, *, status: str = DONE, note: str = "", seconds: float | None = None
    ) -> None:
        """Keep the rows of a unit, or the reason why there are none, and write both files."""
        # A reason never takes the place of rows, even if those are of another version.
        self.entries = [
            entry
            for entry in self.entries
            if entry["key"] != unit.key or (status != DONE and entry["status"] == DONE)
        ]
        self.entries.append(
            {
                "key": unit.key,
                "version": __version__,
                "recipe": self.experiment.recipe,
                "status": status,
                "note": note,
                "seconds": None if seconds is None else round(seconds, 3),
                "machine": describe_machine() if status == DONE else None,
                "rows": rows,
            }
        )
        self.write()

    def merge(self, other: Store) -> int:
        """Take over units that are done there and not here; return how many there were.

        Nothing is written before all rows together have passed everything that a report does.
        """
        new = self.adopt(other)
        if new:
            self.write()
        return new

    def adopt(self, other: Store) -> int:
        """Do the same as `merge` without writing, which `write` does."""
        new = [
            entry
            for entry in other._current()
            if entry["status"] == DONE
            and not any(mine["key"] == entry["key"] and mine["status"] == DONE for mine in self._current())
        ]
        keys = [entry["key"] for entry in new]
        before = self.entries
        self.entries = [entry for entry in self.entries if entry["key"] not in keys] + new
        try:
            self._use()
        except Exception as error:  # a row of another experiment may make the code raise anything
            self.entries = before
            msg = (
                f"{other.path} holds rows that the experiment {self.experiment.name} "
                f"cannot have made ({error!r})"
            )
            raise DataFileError(f"{msg}: nothing was taken over") from error
        return len(new)

    def _use(self) -> None:
        """Use the rows in every way that a report does, to see that nothing fails."""
        rows, experiment = self.rows(), self.experiment
        for make in (experiment.compare, experiment.claims, experiment.notes, experiment.tables):
            make(rows)
        self._csv()

    def rows(self) -> Rows:
        """Return all rows of units that are done, each with the parameters of its unit."""
        return [row for entry in self._current() if entry["status"] == DONE for row in _flat(entry)]

    def machines(self) -> list[dict[str, Any]]:
        """Return the machines on which the rows were computed, each once."""
        found: list[dict[str, Any]] = []
        for entry in self._current():
            if entry["machine"] is not None and entry["machine"] not in found:
                found.append(entry["machine"])
        return found

    def absent(self) -> list[tuple[dict[str, Any], str]]:
        """Return the parameters of units without rows, and why they have none."""
        return [(entry["key"], entry["note"]) for entry in self._current() if entry["status"] != DONE]

    def seconds(self) -> float:
        """Return the time that all finished units took together."""
        return sum(entry["seconds"] or 0.0 for entry in self._current())

    def _current(self) -> list[dict[str, Any]]:
        return [
            entry
            for entry in self.entries
            if _release(entry["version"]) == _release(__version__)
            and entry["recipe"] == self.experiment.recipe
        ]

    def _find(self, unit: Unit) -> dict[str, Any] | None:
        return next((entry for entry in self._current() if entry["key"] == unit.key), None)

    def write(self) -> None:
        """Write both files."""
        make_folder(self.folder, "choose another with --output")
        document = {
            "format": FORMAT,
            "experiment": self.experiment.name,
            "title": self.experiment.title,
            "source": self.experiment.source,
        }
        head = json.dumps(document, indent=1)[:-2]
        units = ",\n".join(
            json.dumps({**entry, "rows": _packed(entry["rows"])}, allow_nan=False) for entry in self.entries
        )
        # A line each: a diff shows what changed.
        write_text(self.path, f'{head},\n "units": [\n{units}\n ]\n}}\n')
        write_text(self.path.with_suffix(".csv"), self._csv())

    def _csv(self) -> str:
        lines = [row for entry in self._current() for row in _flat(entry)]
        names = list(dict.fromkeys(name for line in lines for name in line if name not in TAIL)) + list(TAIL)
        return csv_text(names, lines)


def _release(version: str) -> str:
    """Return the release that a version leads to: rows of its development versions count as its own.

    >>> _release("0.1.0.dev0")
    '0.1.0'
    """
    return version.partition(".dev")[0]


def _checked(entry: dict[str, Any]) -> dict[str, Any]:
    """Check a unit that was read; raise unless every part is of the kind that was written."""
    kinds: dict[str, Any] = {
        "key": dict,
        "version": str,
        "recipe": int,
        "status": str,
        "note": str,
        "seconds": (int, float, type(None)),
        "machine": (dict, type(None)),
        "rows": list,
    }
    for name, kind in kinds.items():
        if not isinstance(entry[name], kind):
            raise TypeError(f"{name} is {entry[name]!r:.80}")
    if entry["status"] not in (DONE, MISSING, FAILED) or (entry["seconds"] or 0.0) < 0.0:
        raise ValueError(f"status {entry['status']!r:.80}, seconds {entry['seconds']!r}")
    if not all(isinstance(row, dict) for row in entry["rows"]):
        raise TypeError("a row is not a mapping")
    return entry


def _packed(rows: Rows) -> dict[str, Any]:
    """Return rows as lists under one heading, which is a third of the size."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    return {"columns": names, "values": [[row.get(name) for name in names] for row in rows]}


def _unpacked(table: dict[str, Any] | Rows) -> Rows:
    if isinstance(table, list):  # written by hand, perhaps
        return table
    return [dict(zip(table["columns"], values, strict=True)) for values in table["values"]]


def _flat(entry: dict[str, Any]) -> Rows:
    """Return rows as a table holds them: parameters first; one row that says why, where there are none."""
    tail: Row = {name: entry[name] for name in TAIL}
    return [{**entry["key"], **row, **tail} for row in entry["rows"] or [{}]]
