"""The fields of saved results on binary data, and what each may hold."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from geodim.saved.kinds import Check, UnfitError, flag, list_of, number, one_of, optional, whole
from geodim.saved.results import AT_MOST_INFINITE, PARAMETERS, VERSIONS

if TYPE_CHECKING:
    from collections.abc import Sequence

SUPPORTS: dict[str, Check[object]] = {
    "supports": list_of(whole(1)),
    **dict.fromkeys(("lower", "upper", "frequent_lower", "frequent_upper"), list_of(AT_MOST_INFINITE)),
    "exact": list_of(flag),
    "seconds": list_of(number()),
    "n_objects": whole(1),
    "n_attributes": whole(1),
    "normalized": flag,
    "stopped": optional(one_of(("time limit", "interrupted"))),
    "parameters": PARAMETERS,
    "versions": VERSIONS,
}
SUPPORTS_DERIVED = ("settled", "text", "file")

SHARE = number(0.0, 1.0)
CORRELATION: dict[str, Check[object]] = {
    "dimension": number(),
    "normalized_dimension": AT_MOST_INFINITE,
    "independent": number(),
    "mismatch": SHARE,
    "n_objects": whole(1),
    "n_attributes": whole(1),
    "n_pairs": whole(1),
    "exact": flag,
    "standard_error": number(),
    "probability_error": number(),
    "quantiles": list_of(SHARE),
    "radii": list_of(number()),
    "distances": list_of(whole()),
    "probabilities": list_of(SHARE),
    "independent_probabilities": list_of(SHARE),
    "parameters": PARAMETERS,
    "versions": VERSIONS,
}
CORRELATION_DERIVED = ("approximate", "text", "file")


def falling(supports: Sequence[int]) -> None:
    """Raise unless each support is less than the one before."""
    for at, (before, after) in enumerate(pairwise(supports)):
        if after >= before:
            raise UnfitError(f"the supports do not fall at entry {at + 1}")
