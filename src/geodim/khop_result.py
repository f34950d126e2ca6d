"""`KHopResult`: one `IDResult` per number of hops, and what they say together."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from geodim.errors import DataFileError
from geodim.result import JSON_SUPPORT, IDResult
from geodim.saved.document import Reported, format_of, to_json_value
from geodim.text import html_list, html_table

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from typing import Unpack

    from matplotlib.axes import Axes

    from geodim.alerts import Alert
    from geodim.certificate import Certificate
    from geodim.display.khop import HopCurveOptions
    from geodim.planning.record import PlanRecord

FORMAT = "geodim.KHopResult/2"
BEFORE = "geodim.KHopResult/1"  # without a plan


def _drop(before: float, after: float) -> float:
    """Return by which share a dimension fell; one that is too small for a float cannot fall any further."""
    if before == after:
        return 0.0
    return 1.0 - after / before if before > 0.0 else -math.inf


@dataclass(frozen=True, eq=False, repr=False)
class KHopResult(Reported):
    """Intrinsic dimensions of the k-hop geometric data sets, k = 0, 1, ...

    Attributes
    ----------
    results : list of IDResult
        The result of every k.
    operator : dict
        What one hop does, with its parameters and any truncation.
    graph : dict
        What was found in the graph: nodes, edges, self-loops, duplicates, whether it was symmetrised.
    plan : PlanRecord or None
        How it was computed: what was predicted, and what happened.

    Examples
    --------
    >>> import numpy as np
    >>> import geodim
    >>> result = geodim.khop_dimensions(np.eye(3), [(0, 1), (1, 2)], hops=2)
    >>> [round(dimension, 2) for dimension in result.dimensions]
    [9.0, 7.55, 7.55]
    >>> result[0].dimension
    9.0
    """

    results: list[IDResult]
    operator: dict[str, Any] = field(default_factory=dict)
    graph: dict[str, Any] = field(default_factory=dict)
    plan: PlanRecord | None = None

    @property
    def hops(self) -> int:
        """The largest k."""
        return len(self.results) - 1

    @property
    def dimensions(self) -> list[float]:
        """The intrinsic dimension for k = 0, ..., hops."""
        return [result.dimension for result in self.results]

    @property
    def drops(self) -> list[float]:
        """By which share each hop k = 1, ... lowers the dimension of k - 1."""
        pairs = zip(self.dimensions, self.dimensions[1:], strict=False)
        return [_drop(before, after) for before, after in pairs]

    @property
    def alerts(self) -> tuple[Alert, ...]:
        """What to consider before the numbers are trusted: on the attributes, then hops, each kind once."""
        found: dict[str, Alert] = {}
        for result in self.results:
            for alert in result.alerts:
                found.setdefault(alert.code, alert)
        return tuple(found.values())

    def rows(self) -> list[dict[str, Any]]:
        """Return one plain row per k, for tables and CSV."""
        drops = [None, *self.drops]
        return [
            {
                "k": k,
                "dimension": result.dimension,
                "lower": result.lower,
                "upper": result.upper,
                "error": result.error,
                "discriminability": result.discriminability,
                "drop": drops[k],
                "exact": result.exact,
                "feature_error": result.feature_error,
                "indistinguishable": result.n_indistinguishable,
            }
            for k, result in enumerate(self.results)
        ]

    def __getitem__(self, k: int) -> IDResult:
        return self.results[k]

    def __iter__(self) -> Iterator[IDResult]:
        return iter(self.results)

    def __len__(self) -> int:
        return len(self.results)

    def to_dict(self, *, max_support: int | None = JSON_SUPPORT) -> dict[str, Any]:
        """Return plain values for JSON; at most ``max_support`` points of every Phi (None: all)."""
        return {
            "format": FORMAT,
            "dimensions": [to_json_value(value) for value in self.dimensions],
            "drops": [to_json_value(value) for value in self.drops],
            "operator": self.operator,
            "graph": self.graph,
            "plan": None if self.plan is None else self.plan.to_dict(),
            "results": [result.to_dict(max_support=max_support) for result in self.results],
        }

    def to_json(self, path: str | Path | None = None, *, max_support: int | None = JSON_SUPPORT) -> str:
        """Return JSON text, also written to ``path`` (whole or not at all) if given."""
        from geodim.output import json_text  # noqa: PLC0415

        return json_text(self.to_dict(max_support=max_support), path)

    @classmethod
    def from_dict(cls, values: object) -> KHopResult:
        """Rebuild a result from `to_dict`."""
        found = format_of(values)
        if not isinstance(values, dict) or found not in (FORMAT, BEFORE):
            msg = f"this is not a geodim k-hop result: expected format {FORMAT!r}, found {found!r}"
            raise DataFileError(msg)
        if found == BEFORE:
            values = {"plan": None, **values}
        from geodim.saved.results import KHOP_DERIVED, KHOP_RESULT, checked, related_in_hops  # noqa: PLC0415

        def make(known: dict[str, Any]) -> KHopResult:
            return cls(**{**known, "results": [IDResult.from_dict(result) for result in known["results"]]})

        return checked(values, KHOP_RESULT, KHOP_DERIVED, make, related_in_hops)

    @classmethod
    def from_json(cls, source: str | Path) -> KHopResult:
        """Rebuild a result from JSON text or a JSON file."""
        from geodim.saved.results import read_saved  # noqa: PLC0415

        return read_saved(source, cls.from_dict)

    def certificate(self, data: object = None, graph: object = None, *, rtol: float = 1e-3) -> Certificate:
        """Make a small file from which an independent program proves bounds on all dimensions.

        The program is short, and needs nothing else but the attributes and edges.

        Parameters
        ----------
        data, graph : optional
            What the result was computed from; needed if that is gone, or the result was read from JSON.
            From data on a cluster, a few columns at a time are fetched.
        rtol : float
            Relative width of the intervals that are proved for the dimensions, at most.
        """
        from geodim.certificate import certify  # noqa: PLC0415 - imports Numba

        return certify(self, data, graph, rtol=rtol)

    def plot(self, ax: Axes | None = None, **options: Unpack[HopCurveOptions]) -> Axes:
        """Plot the intrinsic dimension against k with its bounds; returns the matplotlib Axes."""
        from geodim.display.khop import plot_khop_dimensions  # noqa: PLC0415

        return plot_khop_dimensions(self, ax=ax, **options)

    def __repr__(self) -> str:
        inner = ", ".join(f"{value:.6g}" for value in self.dimensions)
        return f"KHopResult(dimensions=[{inner}], operator={self.operator.get('operator')!r})"

    def _repr_html_(self) -> str:
        rows = [
            [str(row["k"]), f"{row['dimension']:.6g}", f"{row['lower']:.6g} .. {row['upper']:.6g}"]
            for row in self.rows()
        ]
        table = html_table("geodim, k hops", rows, ["k", "intrinsic dimension", "certified bounds"])
        return table + html_list(map(str, self.alerts))
