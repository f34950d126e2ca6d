"""The fields of saved explanations, comparisons, curves, advice and estimates, and what each may hold."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from geodim.saved.kinds import (
    Check,
    UnfitError,
    flag,
    list_of,
    mapping_of,
    number,
    optional,
    plain,
    text,
    unfit,
    whole,
)
from geodim.saved.results import AT_MOST_INFINITE, PARAMETERS, VERSIONS, removal_record

if TYPE_CHECKING:
    from collections.abc import Sequence

SHARE = number(0.0, 1.0)


def any_number(value: object) -> float:
    """Return a number of any size and sign, or what JSON has no number for."""
    if value in ("inf", "-inf", "nan"):
        return float(str(value))
    return number(-math.inf)(value)


def interval(value: object) -> tuple[float, float]:
    """Return a lower and an upper bound."""
    ends = list_of(AT_MOST_INFINITE)(value)
    if len(ends) != 2 or ends[0] > ends[1]:
        unfit("a lower and an upper bound", value)
    return ends[0], ends[1]


def by_hop(value: object) -> dict[int, float]:
    """Return shares of hops, whose keys are texts in JSON."""
    shares = mapping_of(SHARE)(value)
    if not all(name.isdecimal() for name in shares):
        unfit("shares by hop", value)
    return {int(name): share for name, share in shares.items()}  # type: ignore[misc]


EXPLANATION: dict[str, Check[object]] = {
    "result": lambda value: value,  # it has a table of its own
    "removal": removal_record,
    "without": mapping_of(AT_MOST_INFINITE),
    "core": list_of(text),
    "core_columns": list_of(whole()),
    "core_shares": mapping_of(SHARE),
    "hop_shares": by_hop,
}
EXPLANATION_DERIVED = (
    "dimension", "discriminability", "n_points", "n_features", "features", "alone", "tied", "shares",
)  # fmt: skip

COMPARISON: dict[str, Check[object]] = {
    "names": list_of(text),
    "results": list_of(lambda value: value),
    "points": whole(2),
    "samples": list_of(list_of(interval)),
    "parameters": PARAMETERS,
}
COMPARISON_DERIVED = ("data", "differences", "verdicts", "alerts")

CURVE: dict[str, Check[object]] = {
    "sizes": list_of(whole(2)),
    "dimensions": list_of(list_of(AT_MOST_INFINITE)),
    "ranges": list_of(list_of(number())),
    "windows": list_of(list_of(number())),
    "normalized": flag,
    "parameters": PARAMETERS,
}
CURVE_DERIVED = ("growth", "verdict", "text", "file")

ADVICE: dict[str, Check[object]] = {
    "hops": whole(),
    "certain": flag,
    "tolerance": number(),
    "computed": whole(),
    "dimensions": list_of(AT_MOST_INFINITE),
    "drops": list_of(any_number),
    "excess": list_of(any_number),
    "text": text,
}

BASELINE: dict[str, Check[object]] = {
    "name": text,
    "dimension": any_number,
    "n_points": whole(),
    "n_features": whole(),
    "n_used": whole(),
    "n_zero": optional(whole()),
    "n_neighbors": optional(whole()),
    "seed": optional(whole()),
    "seconds": number(),
    "parameters": mapping_of(plain),
    "versions": VERSIONS,
}

TOP: dict[str, Check[object]] = {
    "names": list_of(text),
    "columns": list_of(whole()),
    "scores": list_of(AT_MOST_INFINITE),
    "weighting": text,
    "dropped": list_of(text),
    "dropped_columns": list_of(whole()),
    "partners": list_of(whole()),
    "correlations": list_of(SHARE),
    "n_points": whole(1),
    "n_features": whole(1),
    "normalized": flag,
    "d_max": number(),
    "seconds": number(),
    "parameters": PARAMETERS,
    "versions": VERSIONS,
    "error": number(0.0, 1.0),
}
TOP_DERIVED = ("dimensions",)


def related_in_top(known: dict[str, Any]) -> None:
    """Raise unless the fields of a selection by scores belong together."""
    same_lengths(known, ("names", "columns", "scores"))
    left = ("dropped", "dropped_columns", "partners", "correlations")
    if any(known[name] for name in left):
        same_lengths(known, left)
    columns = [*known["columns"], *known["dropped_columns"]]
    if len(set(columns)) < len(columns) or max([*columns, *known["partners"]]) >= known["n_features"]:
        raise UnfitError("a column is named twice, or is none of the features")
    if known["scores"] != sorted(known["scores"], reverse=True):
        raise UnfitError("the scores do not descend")


def same_lengths(known: dict[str, Any], names: Sequence[str]) -> None:
    """Raise unless some lists have equally many entries, at least one."""
    sizes = {len(known[name]) for name in names}
    if len(sizes) != 1 or 0 in sizes:
        raise UnfitError(f"{', '.join(names)} have different lengths, or none")
