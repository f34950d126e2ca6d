"""The numbers behind the interactive plots and tables, as plain values for the page's scripts.

Names are kept in one list and referred to by position, since every hop of a graph repeats them.
"""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any

import numpy as np

from geodim.display.html.text import delta_text
from geodim.display.plots import observable_diameter_steps, step_owners

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from geodim.explain.select import FeatureSelection
    from geodim.khop_result import KHopResult
    from geodim.result import IDResult

__all__ = ["Names", "curve", "features", "hop_rows", "selection_rows"]

HOP = re.compile(r"hop (\d+): (.*)", re.DOTALL)
DIGITS = 6


class Names:
    """Names in the order of their first use."""

    def __init__(self) -> None:
        self.places: dict[str, int] = {}

    def place(self, name: str) -> int:
        """Return the position of a name."""
        return self.places.setdefault(name, len(self.places))

    def to_list(self) -> list[str]:
        """Return all names, in order."""
        return list(self.places)


def rounded(values: Iterable[float]) -> list[float | None]:
    """Return numbers with as many digits as a plot can show; None for infinity, which JSON does not have."""
    return [float(f"{value:.{DIGITS}g}") if math.isfinite(value) else None for value in values]


def curve(result: IDResult, names: Names) -> dict[str, Any]:
    """Return the observable diameter as steps: ends in alpha, sizes k, widths, bounds and features."""
    edges, heights = observable_diameter_steps(result)
    left, right = edges[::2], edges[1::2]
    keys = [names.place(name) for name in result.shares]
    found: dict[str, Any] = {
        "n": result.n_points,
        "exact": result.phi_exact,
        "normalized": result.normalized,
        "delta": delta_text(result),
        "alpha": rounded([*left.tolist(), 1.0]),
        "width": rounded(heights[::2].tolist()),
        "k": _masses(left, right, result.mass) if result.measured else _sizes(left, right, result.n_points),
        "unit": "mass" if result.measured else "k",
    }
    if not result.phi_exact:
        found["low"] = rounded(observable_diameter_steps(result, "phi_lower")[1][::2].tolist())
        found["high"] = rounded(observable_diameter_steps(result, "phi_upper")[1][::2].tolist())
    if result.attained_from.size:
        for key, narrowest in (("owner", 0.0), ("shade", 1.0 / 300.0)):
            owners = step_owners(result, left, right, narrowest)
            found[key] = [keys[at] if at >= 0 else -1 for at in owners.tolist()]
    return found


def _sizes(left: NDArray[np.float64], right: NDArray[np.float64], n: int) -> list[list[int]]:
    """Return the smallest and the largest k of every step."""
    largest = np.rint(n * (1.0 - left)).astype(np.int64)
    smallest = np.rint(n * (1.0 - right)).astype(np.int64) + 1
    return [[int(a), int(b)] for a, b in zip(np.minimum(smallest, largest), largest, strict=True)]


def _masses(left: NDArray[np.float64], right: NDArray[np.float64], mass: float) -> list[list[float | None]]:
    """Return the mass at both ends of every step."""
    return [rounded(ends) for ends in (mass * (1.0 - np.stack([right, left], axis=1))).tolist()]


def features(result: IDResult, names: Names) -> dict[str, Any]:
    """Return shares, largest first, the dimension without each feature, and at how many sizes it leads.

    For a graph, also the hop and attribute of each feature.
    """
    size = result.mass if result.measured else max(result.n_points - 1, 1)
    leads: list[float | None] = [None] * len(result.shares)
    if result.attained_from.size:
        end = result.mass if result.measured else result.n_points + 1
        lengths = np.diff(result.attained_from, append=end)
        known = result.attained_by >= 0
        sums = np.bincount(result.attained_by[known], weights=lengths[known], minlength=len(leads))
        leads = rounded((sums / size).tolist())
    removal = result.removal
    return {
        "name": [names.place(name) for name in result.shares],
        "share": rounded(result.shares.values()),
        "without": None if removal is None else rounded(removal.without[name] for name in result.shares),
        "spare": None if removal is None else [name in removal.spare for name in result.shares],
        "leads": leads,
        "total": result.n_features,
    }


def hop_of(name: str) -> tuple[int, str]:
    """Return hop and attribute of a feature of a graph, from its name by `geodim.khop_dimensions`.

    >>> hop_of("hop 2: age"), hop_of("age")
    ((2, 'age'), (0, 'age'))
    """
    found = HOP.fullmatch(name)
    return (int(found[1]), found[2]) if found else (0, name)


def hop_rows(result: KHopResult) -> dict[str, Any]:
    """Return dimension and bounds for every k."""
    return {
        "dimension": rounded(result.dimensions),
        "lower": rounded(one.lower for one in result),
        "upper": rounded(one.upper for one in result),
        "exact": [one.phi_exact for one in result],
        "known": [one.stopped is None for one in result],
        "delta": rounded(one.discriminability for one in result),
    }


def selection_rows(selection: FeatureSelection, names: Names) -> dict[str, Any]:
    """Return the chosen features in order, and what they reach together."""
    return {
        "name": [names.place(name) for name in selection.names],
        "fraction": rounded(selection.fractions),
        "gain": rounded(
            row["gain"] / selection.total if selection.total else 0.0 for row in selection.rows()
        ),
        "dimension": rounded(selection.dimensions),
        "goal": selection.parameters.get("fraction"),
        "total": selection.n_features,
    }
