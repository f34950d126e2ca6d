"""`Gauge`: one result among the reference marks, and what that means in words."""

from __future__ import annotations

import math
import statistics
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from geodim.gauge.marks import EVEN, Mark, reference_marks
from geodim.saved.document import SavedResult, rebuilt
from geodim.text import html_table
from geodim.words import counted, number

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from geodim.result import IDResult

__all__ = ["Gauge"]

FORMAT = "geodim.Gauge/1"
SHUFFLED = "shuffled"  # among the parameters of a result: dimensions of the same features of shuffled columns
ABOUT = 1.25  # this many times more or less is about as much: data sets of one law scatter by that


@dataclass(frozen=True)
class Gauge(SavedResult):
    """An intrinsic dimension among those of columns of known kinds.

    Attributes
    ----------
    dimension, lower, upper : float
        The number and its bounds.
    marks : tuple of Mark
        Evenly spaced, uniform, normal and Laplace columns of the same number of points and features; only the
        first where the features are not columns, and that of the shuffled columns where `shuffled_reference`
        measured it.
    n_points, n_features : int
        The size that the marks are for.
    level : str
        "lowest", "low", "middle", "normal", "high", "Laplace" or "highest": where among the marks;
        "unknown" where the bounds leave it open.

    Examples
    --------
    >>> import numpy as np
    >>> import geodim
    >>> X = np.random.default_rng(0).normal(size=(1000, 10))
    >>> print(geodim.intrinsic_dimension(X).gauge)
    evenly spaced 4 < uniform 4.1 < normal 20 < [20.44] < Laplace 62
    """

    dimension: float
    lower: float
    upper: float
    marks: tuple[Mark, ...]
    n_points: int
    n_features: int

    @classmethod
    def of(cls, result: IDResult) -> Gauge | None:
        """Return the gauge of a result; None if nothing was divided by d_max, or no upper bound is known."""
        if not result.normalized or result.discriminability_upper == 0.0 or result.upper == math.inf:
            return None
        n, d = result.n_points, result.n_features
        scale = str(result.parameters.get("scale", "global"))
        marks = reference_marks(n, d, "none" if "features" in result.parameters else scale)
        shuffled = result.parameters.get(SHUFFLED)
        if isinstance(shuffled, list) and shuffled:
            marks = (*marks, Mark("own columns shuffled", statistics.median(map(float, shuffled))))
        return cls(result.dimension, result.lower, result.upper, marks, n, d)

    def mark(self, name: str) -> float | None:
        """Return the dimension of a kind of columns, if there is a mark for it."""
        return next((mark.dimension for mark in self.marks if mark.name == name), None)

    @property
    def level(self) -> str:
        """Where it stands among the marks."""
        low, high = _level(self.lower, self), _level(self.upper, self)
        return low if low == high or self.upper <= self.lower * ABOUT else "unknown"

    @property
    def line(self) -> str:
        """All marks in one line, ascending, with the result in brackets.

        >>> Gauge(3.9, 3.9, 3.9, (Mark("evenly spaced", 4.0), Mark("normal", 29.0)), 1797, 64).line
        '[3.9] < evenly spaced 4 < normal 29'
        """
        here = number(self.lower) if self.upper <= self.lower * 1.0001 else _interval(self.lower, self.upper)
        places = [(self.dimension, f"[{here}]")]
        places += [(mark.dimension, f"{mark.name} {number(mark.dimension, 2)}") for mark in self.marks]
        return " < ".join(text for _, text in sorted(places))

    @property
    def verdict(self) -> str:
        """One or two sentences without a formula."""
        close = self.upper <= self.lower * ABOUT
        shown = number(self.dimension) if close else _interval(self.lower, self.upper)
        return f"{shown} is {_WORDS[self.level]}{self._beside()}"

    def _beside(self) -> str:
        normal, laplace = self.mark("normal"), self.mark("Laplace")
        if normal is None or laplace is None:
            shuffled = self.mark("own columns shuffled")
            own = "" if shuffled is None else f"; the same columns, each shuffled, {number(shuffled, 2)}"
            return f" Evenly spaced values have {number(EVEN)}{own}."
        size = f"{counted(self.n_points, 'point')} with {counted(self.n_features, 'feature')}"
        return (
            f" Of {size}, evenly spread columns would have about 4, bell-shaped (normal) ones "
            f"{number(normal, 2)}, and ones with long tails (Laplace) {number(laplace, 2)}."
        )

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON."""
        return {
            "format": FORMAT,
            "dimension": self.dimension,
            "lower": self.lower,
            "upper": self.upper,
            "marks": {mark.name: mark.dimension for mark in self.marks},
            "n_points": self.n_points,
            "n_features": self.n_features,
            "level": self.level,
            "verdict": self.verdict,
        }

    @classmethod
    def from_dict(cls, values: object) -> Gauge:
        """Rebuild a gauge from `to_dict`."""
        from geodim.saved.plans import GAUGE, GAUGE_DERIVED, related_in_gauge  # noqa: PLC0415

        def make(known: dict[str, Any]) -> Gauge:
            related_in_gauge(known)
            return cls(**{**known, "marks": tuple(Mark(*mark) for mark in known["marks"].items())})

        made: Gauge = rebuilt(values, FORMAT, GAUGE, GAUGE_DERIVED, make)
        return made

    def plot(self, ax: Axes | None = None, **options: Any) -> Axes:  # noqa: ANN401 - handed on
        """Plot the dimension among the marks, a row for each."""
        from geodim.display.gauge import plot_gauge  # noqa: PLC0415

        return plot_gauge(self, ax=ax, **options)

    def __str__(self) -> str:
        return self.line

    def _repr_html_(self) -> str:
        rows = [(mark.name, number(mark.dimension)) for mark in self.marks]
        return html_table(self.verdict, [("this data", number(self.dimension)), *rows])


_WORDS = {
    "lowest": (
        "very low: the best features part the points into groups that lie further apart than if they were "
        "spread evenly."
    ),
    "low": "low: the best features spread the points about as evenly as the marks on a ruler.",
    "middle": (
        "moderate: the best features spread the points less evenly than a ruler, but more evenly than a bell "
        "curve."
    ),
    "normal": (
        "what bell-shaped columns have: even in the best features many points lie close together, and few "
        "towards the ends."
    ),
    "high": (
        "high: even in the best features the points crowd together more than under a bell curve, and a few "
        "lie far out."
    ),
    "Laplace": (
        "high, as for long tails: even in the best features most points crowd together, compared with the "
        "few that lie far out."
    ),
    "highest": (
        "very high: even in the best features nearly all points crowd together, compared with the few that "
        "lie far out."
    ),
    "unknown": "too wide an interval to say where it stands.",
}


def _level(value: float, gauge: Gauge) -> str:
    uniform = gauge.mark("uniform") or EVEN
    if value < min(EVEN, uniform) / ABOUT:
        return "lowest"
    if value <= max(EVEN, uniform) * ABOUT:
        return "low"
    normal, laplace = gauge.mark("normal"), gauge.mark("Laplace")
    if normal is None or laplace is None:
        return "middle" if value < 4.0 * EVEN else "high"
    for bound, level in (
        (normal / ABOUT, "middle"),
        (normal * ABOUT, "normal"),
        (laplace / ABOUT, "high"),
        (laplace * ABOUT, "Laplace"),
    ):
        if value <= bound:
            return level
    return "highest"


def _interval(low: float, high: float) -> str:
    return f"{number(low)} – {number(high)}"
