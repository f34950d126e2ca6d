"""`BaselineResult`: what every estimator here returns."""

from __future__ import annotations

import platform
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from geodim._version import __version__
from geodim.saved.document import SavedResult, rebuilt, to_json_value
from geodim.text import html_table

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FORMAT = "geodim.BaselineResult/1"


@dataclass(frozen=True)
class BaselineResult(SavedResult):
    """An estimated dimension and where it comes from.

    Attributes
    ----------
    name : str
        The estimator: "mle", "twonn", "skdim:lPCA", ...
    dimension : float
        The estimate; infinite where all neighbours are equally far.
    n_points, n_features : int
        Size of the data.
    n_used : int
        Points that enter the estimate: those sampled that have a neighbour at a positive distance.
    n_zero : int or None
        Distances that were 0, between equal rows, and therefore left out; None where
        the estimator does not say.
    n_neighbors : int or None
        Neighbours examined per point, where that means something.
    seed : int or None
        Seed of the sample, where one was drawn.
    seconds : float
        Wall time.
    parameters, versions : dict
        All options, and the versions of what the number depends on.

    Examples
    --------
    >>> import numpy as np
    >>> from geodim import baselines
    >>> result = baselines.two_nn(np.random.default_rng(0).random((1000, 3)))
    >>> result.name, round(result.dimension), result.n_points
    ('twonn', 3, 1000)
    """

    name: str
    dimension: float
    n_points: int
    n_features: int
    n_used: int
    n_zero: int | None = None
    n_neighbors: int | None = None
    seed: int | None = None
    seconds: float = 0.0
    parameters: dict[str, Any] = field(default_factory=dict)
    versions: dict[str, str] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON; infinity is the string "inf"."""
        values = {name: getattr(self, name) for name in self.__dataclass_fields__}
        return {"format": FORMAT, **{name: to_json_value(value) for name, value in values.items()}}

    @classmethod
    def from_dict(cls, values: object) -> BaselineResult:
        """Rebuild an estimate from `to_dict`."""
        from geodim.saved.others import BASELINE  # noqa: PLC0415

        made: BaselineResult = rebuilt(values, FORMAT, BASELINE, (), lambda known: cls(**known))
        return made

    def plot(self, ax: Axes | None = None, **options: Any) -> Axes:  # noqa: ANN401 - handed on
        """Plot the estimate on a line, also several in the same axes, see `geodim.display.sampling`."""
        from geodim.display.sampling import plot_numbers  # noqa: PLC0415

        return plot_numbers([(self.name, self.dimension, self.dimension, self.dimension)], ax=ax, **options)

    def _repr_html_(self) -> str:
        rows = [
            ("dimension", f"{self.dimension:.6g}"),
            ("points x features", f"{self.n_points:,} x {self.n_features:,}"),
            ("points used", f"{self.n_used:,}"),
        ]
        if self.n_neighbors is not None:
            rows.append(("neighbours", f"{self.n_neighbors:,}"))
        return html_table(f"geodim, {self.name}", rows)

    def __repr__(self) -> str:
        parts = [f"{self.name!r}", f"dimension={self.dimension:.6g}", f"n_points={self.n_points:,}"]
        if self.n_used != self.n_points:
            parts.append(f"n_used={self.n_used:,}")
        if self.n_zero:
            parts.append(f"n_zero={self.n_zero:,}")
        if self.n_neighbors is not None:
            parts.append(f"n_neighbors={self.n_neighbors}")
        return f"BaselineResult({', '.join(parts)})"


def versions(*packages: str) -> dict[str, str]:
    """Return versions of geodim, Python, numpy, scikit-learn and of further packages."""
    from importlib.metadata import version  # noqa: PLC0415

    return {
        "geodim": __version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
        **{package: version(package) for package in ("scipy", "scikit-learn", *packages)},
    }
