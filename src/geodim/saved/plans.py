"""The fields of saved plans and gauges, what each may hold, and how they belong together."""

from __future__ import annotations

import math
from typing import Any

from geodim.saved.kinds import (
    Check,
    UnfitError,
    mapping_of,
    number,
    one_of,
    optional,
    sequence_of,
    text,
    unfit,
    whole,
)
from geodim.saved.results import AT_MOST_INFINITE, way_record

COUNT = whole(0, 2**100)  # bytes of problems that nobody will solve are beyond the usual limit


def itemsize(value: object) -> int:
    """Return the bytes of a float."""
    return value if type(value) is int and value in (4, 8) else unfit("4 or 8 bytes", value)


PLAN: dict[str, Check[object]] = {
    "backend": one_of(("cpu", "cuda", "dask")),
    "way": way_record,
    "method": text,
    "n_points": whole(1),
    "n_features": whole(1),
    "itemsize": itemsize,
    "rtol": number(),
    "threads": whole(),
    **dict.fromkeys(("memory", "host_memory", "columns", "passes", "bytes_read", "memory_added"), COUNT),
    "workers": whole(),
    "hops": optional(whole()),
    "stored_entries": optional(COUNT),
    "budget": optional(COUNT),
    "bytes_moved": COUNT,
    "tasks": COUNT,
    "steps": optional(COUNT),
    "seconds": optional(AT_MOST_INFINITE),
    "parts": mapping_of(AT_MOST_INFINITE),
    "basis": text,
    "why_not": optional(text),
    "notes": sequence_of(text),
}
PLAN_DERIVED = ("fits", "n_nodes", "attributes")


def related_in_plan(known: dict[str, Any]) -> None:
    """Raise unless a graph is described whole or not at all, and no part of the memory exceeds it."""
    if (known["hops"] is None) != (known["stored_entries"] is None):
        raise UnfitError("hops and stored_entries are given for a graph, or neither")
    if known["memory_added"] > known["memory"]:
        raise UnfitError("memory_added is more than the memory")


POSITIVE = number(math.ulp(0.0))
GAUGE: dict[str, Check[object]] = {
    **dict.fromkeys(("dimension", "lower", "upper"), POSITIVE),
    "marks": mapping_of(POSITIVE),
    "n_points": whole(1),
    "n_features": whole(1),
}
GAUGE_DERIVED = ("level", "verdict")


def related_in_gauge(known: dict[str, Any]) -> None:
    """Raise unless the dimension lies between its bounds, and something is there to compare it with."""
    if not known["lower"] <= known["dimension"] <= known["upper"]:
        raise UnfitError("the dimension does not lie between its bounds")
    if not known["marks"]:
        raise UnfitError("there are no marks")
