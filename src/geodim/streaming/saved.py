"""The state of a stream as JSON: written as plain numbers, and checked when it is read."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from geodim.errors import DataFileError
from geodim.output import json_text
from geodim.saved.kinds import (
    UnfitError,
    ascending,
    fields,
    list_of,
    number,
    numbers,
    one_of,
    optional,
    record,
    text,
    whole,
    wholes,
)
from geodim.saved.results import read_saved
from geodim.streaming.sketch import HIGHEST, LOWEST, edges_at

if TYPE_CHECKING:
    from pathlib import Path

FORMAT = "geodim.StreamingDimension/1"
CELLS = record(
    {
        "level": whole(LOWEST, HIGHEST),
        "least": numbers(-math.inf),
        "greatest": numbers(-math.inf),
        "counts": wholes(1),
    }
)
FIELDS = {
    "format": one_of((FORMAT,)),
    "rtol": number(),
    "memory": whole(1),
    "scale": one_of(("global", "none")),
    "n_points": whole(),
    "names": optional(list_of(text)),
    "columns": list_of(CELLS),
}


def state_text(state: dict[str, Any], path: str | Path | None) -> str:
    """Return the state as text, also written to a file."""
    return json_text({"format": FORMAT, **state}, path)


def read_state(source: str | Path) -> dict[str, Any]:
    """Return the state from text or a file, its columns as (level, least, greatest, counts)."""
    return read_saved(source, _checked)


def _checked(values: object) -> dict[str, Any]:
    if not isinstance(values, dict) or values.get("format") != FORMAT:
        msg = f"this is not the state of a StreamingDimension: expected format {FORMAT!r}"
        raise DataFileError(msg)
    try:
        state = fields(values, FIELDS, {})
        state["columns"] = [
            _column(at, column, state["n_points"]) for at, column in enumerate(state["columns"])
        ]
        if state["names"] is not None and len(state["names"]) != len(state["columns"]):
            raise UnfitError("there are not as many names as columns")
    except UnfitError as error:
        msg = f"the state of the stream was damaged or edited: {error}"
        raise DataFileError(msg) from None
    return state


def _column(at: int, column: dict[str, Any], n_points: int) -> tuple[Any, ...]:
    """Return one column, whose cells must be cells of its level and hold all points."""
    level, least, greatest, counts = (column[name] for name in ("level", "least", "greatest", "counts"))
    where = f"column {at}"
    if not least.size == greatest.size == counts.size > 0:
        raise UnfitError(f"{where}: least, greatest and counts are not of the same cells")
    ascending(edges_at(least, level), f"{where}: cells", strictly=True)
    if np.any(greatest < least) or np.any(edges_at(least, level) != edges_at(greatest, level)):
        raise UnfitError(f"{where}: a cell reaches beyond its ends")
    if sum(counts.tolist()) != n_points:
        raise UnfitError(f"{where}: it does not hold n_points values")
    return level, least, greatest, counts
