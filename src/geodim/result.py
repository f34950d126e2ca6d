"""What every computation returns: `IDResult`, with bounds, provenance, JSON and plots."""

from __future__ import annotations

import platform
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from geodim._version import __version__
from geodim.engine.parts import divisor
from geodim.errors import DataFileError
from geodim.lookup import diameters_at, dimensions_by, inverse_square, widths_at
from geodim.optional import installed_version
from geodim.removal import TIE_RULE
from geodim.saved.document import Reported, format_of, thinned, to_json_value
from geodim.support_field import SupportField, altered, support_of
from geodim.text import html_list, html_table, visible
from geodim.words import at_most, scale_words

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path
    from typing import Unpack

    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from geodim.alerts import Alert
    from geodim.certificate import Certificate
    from geodim.display.plots import CurveOptions
    from geodim.gauge import Gauge
    from geodim.planning.record import PlanRecord
    from geodim.removal import Removal
    from geodim.sampling import SampleCurve
    from geodim.sampling.again import Subsampling

FORMAT = "geodim.IDResult/5"
RUNS = ("attained_from", "attained_by")
_COUNTED: dict[str, Any] = {"mass": 0.0, "stepwise": False, "alerts": [], "removal": None, "share_bounds": {}}
_UNPLANNED = {"plan": None, **_COUNTED}
LACKING: dict[str, dict[str, Any]] = {  # formats that are still read, with what they do not hold yet
    "geodim.IDResult/1": {"attained_from": [], "attained_by": [], "feature_error": 0.0, **_UNPLANNED},
    "geodim.IDResult/2": {"feature_error": 0.0, **_UNPLANNED},
    "geodim.IDResult/3": _UNPLANNED,
    "geodim.IDResult/4": _COUNTED,
}
JSON_SUPPORT = 2049  # points of Phi kept in JSON; the sums are kept exactly


@dataclass(frozen=True, eq=False, repr=False)
class IDResult(Reported):
    """The intrinsic dimension of a data set, with certified bounds and its provenance.

    Attributes
    ----------
    dimension : float
        The intrinsic dimension; exact, or a point estimate between the bounds.
    lower, upper : float
        Certified bounds on it, equal when exact.
    exact : bool
        Whether the bounds are one number: Phi was solved without a tolerance, for unrounded features.
    error : float
        (upper - lower) / lower, the paper's E.
    discriminability, discriminability_lower, discriminability_upper : float
        Delta and its bounds (of the normalised features if ``normalized``).
    d_max : float
        The largest range of a feature.
    n_points : int
        Number of points, whole weights counted; with other weights, the points whose weight is not 0.
    mass : float
        The total weight: the number of points, or the sum of their weights.
    support : array of int, or of float
        The k at which Phi is held; for points whose weights are not whole numbers, the masses.
    stepwise : bool
        Whether Phi is constant from after one entry of the support up to the next.
    phi_lower, phi_upper : array of float
        Bounds on Phi(k) of the features as computed, in the data's own units; one array if ``phi_exact``.
    feature_error : float
        How far a computed feature may lie from its definition, in the data's own units: 0 for columns
        (except for integers whose range is beyond 2^53, and for hard columns: half of what their widths may
        be off by, see ``last_bit`` of `intrinsic_dimension`), the rounding of the sums for hops.  Phi of the
        definition is within twice this of what is held here; bounds on Delta and the dimension include it.
    shares : dict
        For every feature that attains Phi somewhere, the share of the discriminability at the k it attains
        (the lowest index wins a tie), largest first.
    attained_from, attained_by : array of int
        Which feature attains Phi, as runs of k, or of masses: from ``attained_from[i]`` on it is the one at
        position ``attained_by[i]`` of ``shares``, or none if that is -1.  At most 2,048 runs, the longest
        ones where there are more; empty if stopped early.
    plan : PlanRecord or None
        How it was computed: what was predicted, and what happened.
    alerts : tuple of Alert
        What to consider before the number is trusted, see `geodim.alerts`; warnings first.
    share_bounds : dict
        The least and the greatest share that each feature may have, where Phi is held between bounds; empty
        where it is exact.
    removal : Removal or None
        The dimension without each feature, and what several features attain at once, where it was asked for.

    Examples
    --------
    >>> from geodim import intrinsic_dimension
    >>> intrinsic_dimension([[0.0], [1.0]]).dimension
    4.0
    """

    n_points: int
    n_features: int
    normalized: bool
    d_max: float
    discriminability: float
    discriminability_lower: float
    discriminability_upper: float
    support: NDArray[np.int64]
    phi_lower: NDArray[np.float64]
    phi_upper: NDArray[np.float64]
    shares: dict[str, float]
    exact: bool
    stopped: str | None = None
    n_indistinguishable: int | None = None
    evaluations: int = 0
    bytes_read: int = 0
    seconds: float = 0.0
    parameters: dict[str, Any] = field(default_factory=dict)
    versions: dict[str, str] = field(default_factory=dict)
    attained_from: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, np.int64))
    attained_by: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, np.int64))
    feature_error: float = 0.0
    plan: PlanRecord | None = None
    mass: float = 0.0  # n_points, which weigh 1 each, if not given
    stepwise: bool = False
    alerts: tuple[Alert, ...] = ()
    removal: Removal | None = None
    share_bounds: dict[str, tuple[float, float]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.mass == 0.0:
            object.__setattr__(self, "mass", float(self.n_points))

    @property
    def measured(self) -> bool:
        """Whether Phi is a function of the mass, not of k, because weights are not whole numbers."""
        support = support_of(self)
        return isinstance(support, np.ndarray) and support.dtype.kind == "f"

    @property
    def dimension(self) -> float:
        """The intrinsic dimension, 1 / Delta^2."""
        return inverse_square(self.discriminability)

    @property
    def lower(self) -> float:
        """Certified lower bound on the dimension."""
        return inverse_square(self.discriminability_upper)

    @property
    def upper(self) -> float:
        """Certified upper bound on the dimension."""
        return inverse_square(self.discriminability_lower)

    @property
    def error(self) -> float:
        """The paper's relative error E = (upper - lower) / lower."""
        if self.lower == self.upper:
            return 0.0
        bounded = self.upper < np.inf and self.lower > 0.0
        return (self.upper - self.lower) / self.lower if bounded else np.inf

    @property
    def gauge(self) -> Gauge | None:
        """The number among those of evenly spaced, uniform, normal and Laplace columns of the same size.

        None where the features are taken as they are, or no upper bound is known.
        """
        from geodim.gauge import Gauge  # noqa: PLC0415 - needs SciPy

        return Gauge.of(self)

    @property
    def phi_exact(self) -> bool:
        """Whether Phi of the features as computed is held exactly, rather than between bounds."""
        return self.phi_lower is self.phi_upper

    @property
    def own_scale(self) -> bool:
        """Whether columns were divided by units of their own, or given ones, before they were compared."""
        return self.parameters.get("scale", "global") not in ("global", "none")

    @property
    def part_of(self) -> str | None:
        """The larger family that the bounds are about, "all points" or "all directions"; None if none is."""
        features = self.parameters.get("features")
        part = features.get("part_of") if isinstance(features, dict) else None
        return part if isinstance(part, str) else None

    @property
    def one_number(self) -> bool:
        """Whether a single number describes the result.

        The bounds agree, or nothing but the rounding of features keeps them apart.
        """
        return self.lower == self.upper or (self.phi_exact and self.error < 1e-4)

    @property
    def phi(self) -> NDArray[np.float64]:
        """Phi on the support: exact, or half way between the bounds."""
        return self.phi_lower if self.phi_exact else 0.5 * self.phi_lower + 0.5 * self.phi_upper

    @property
    def scale(self) -> float:
        """What features are divided by: d_max if normalised, else 1."""
        return divisor(self.d_max, self.normalized)

    def phi_bounds(self, k: float) -> tuple[float, float]:
        """Return bounds on Phi(k), in the data's own units; equal where Phi(k) is known exactly.

        They include ``feature_error``.  For points whose weights are not whole numbers, k is a mass.

        Examples
        --------
        >>> import geodim
        >>> geodim.intrinsic_dimension([[0.0], [1.0], [5.0]]).phi_bounds(2)
        (1.0, 1.0)
        """
        return widths_at(self, k)

    def observable_diameter_bounds(self, alpha: float) -> tuple[float, float]:
        """Return bounds on the observable diameter for mass 1 - alpha: Phi at k = ceil(n (1 - alpha)).

        For points whose weights are not whole numbers, Phi at that share of their mass.
        """
        return diameters_at(self, alpha)

    def observable_diameter(self, alpha: float) -> float:
        """Return the observable diameter for mass 1 - alpha: how wide the best feature spreads these points.

        Exact where Phi was evaluated, otherwise half way between its bounds.
        """
        low, high = self.observable_diameter_bounds(alpha)
        return low if low == high else 0.5 * (low + high)

    def support_bounds(self, support: Sequence[int]) -> tuple[float, float]:
        """Return the paper's lower and upper ID for a support sequence, from the Phi held here.

        Phi must be held without a tolerance, and what features may be off is allowed for.
        """
        return dimensions_by(self, support)

    def to_dict(self, *, max_support: int | None = JSON_SUPPORT) -> dict[str, Any]:
        """Return plain values for JSON; at most ``max_support`` points of Phi (None: all)."""
        keep = slice(None)
        size = self.support.size
        if max_support is not None and size > max_support:
            keep = thinned(size, max_support)  # type: ignore[assignment]
        values: dict[str, Any] = {
            "format": FORMAT,
            "dimension": self.dimension,
            "lower": self.lower,
            "upper": self.upper,
            "error": self.error,
        }
        for name in self.__dataclass_fields__:
            value = getattr(self, name)
            values[name] = value
            if isinstance(value, np.ndarray):
                kept = value if name in RUNS else value[keep]
                values[name] = [to_json_value(number) for number in kept.tolist()]
        values["plan"] = None if self.plan is None else self.plan.to_dict()
        values["share_bounds"] = {name: list(ends) for name, ends in self.share_bounds.items()}
        # Steps that are left out end somewhere in between.
        values["stepwise"] = self.stepwise and len(values["support"]) == size
        values["alerts"] = [alert.to_dict() for alert in self.alerts]
        values["removal"] = None if self.removal is None else self.removal.to_dict()
        return {name: to_json_value(value) for name, value in values.items()}

    def to_json(self, path: str | Path | None = None, *, max_support: int | None = JSON_SUPPORT) -> str:
        """Return JSON text, also written to ``path`` (whole or not at all) if given.

        Infinity is the string "inf".
        """
        from geodim.output import json_text  # noqa: PLC0415

        return json_text(self.to_dict(max_support=max_support), path)

    @classmethod
    def from_dict(cls, values: object) -> IDResult:
        """Rebuild a result from `to_dict`."""
        found = format_of(values)
        if not isinstance(values, dict) or found not in {FORMAT, *LACKING}:
            msg = f"this is not a geodim result: expected format {FORMAT!r}, found {found!r}"
            raise DataFileError(msg)
        values = {**LACKING.get(found, {}), **values}
        from geodim.saved.results import ID_DERIVED, ID_RESULT, checked, related_in_result  # noqa: PLC0415

        result = checked(values, ID_RESULT, ID_DERIVED, lambda known: cls(**known), related_in_result)
        same = np.array_equal(result.phi_lower, result.phi_upper)  # where Phi is exact, one array holds it
        return altered(result, phi_upper=result.phi_lower) if same else result

    @classmethod
    def from_json(cls, source: str | Path) -> IDResult:
        """Rebuild a result from JSON text or a JSON file."""
        from geodim.saved.results import read_saved  # noqa: PLC0415

        return read_saved(source, cls.from_dict)

    def certificate(self, data: object = None, *, rtol: float = 1e-3) -> Certificate:
        """Make a small file from which an independent program proves bounds on the dimension of the data.

        Parameters
        ----------
        data : optional
            What the result was computed from; needed if that is gone, or the result was read from JSON.
        rtol : float
            Relative width of the interval that is proved for the dimension, at most.
        """
        from geodim.certificate import certify  # noqa: PLC0415 - imports Numba

        return certify(self, data, rtol=rtol)

    def subsampled(self, data: object = None, **options: Unpack[Subsampling]) -> SampleCurve:
        """Measure random samples of increasing size, to see whether the dimension has settled or grows.

        Parameters
        ----------
        data : optional
            What the result was computed from; needed if that is gone, or was scaled column by column.
        **options
            ``sizes``, ``repeats``, ``seed``, ``n_threads``, ``progress``: see `geodim.subsampled_dimensions`.
        """
        from geodim.sampling.again import subsampled  # noqa: PLC0415

        return subsampled(self, data, **options)

    def plot(self, ax: Axes | None = None, **options: Unpack[CurveOptions]) -> Axes:
        """Plot the observable diameter against alpha, the area Delta shaded; returns the matplotlib Axes."""
        from geodim.display.plots import plot_observable_diameter  # noqa: PLC0415

        return plot_observable_diameter(self, ax=ax, **options)

    def summary(self) -> list[tuple[str, str]]:
        """Return labels and texts of what matters most, for repr, tables and HTML."""
        if self.stopped:  # a point estimate between such bounds would say nothing
            rows = [("intrinsic dimension", f"between {self.lower:.6g} and {self.upper:.6g} (stopped early)")]
        else:
            rows = [("intrinsic dimension", f"{self.dimension:.6g}" + (" (exact)" if self.exact else ""))]
        if not self.stopped and self.phi_exact and self.feature_error > 0.0 and self.part_of is None:
            rows.append(("rounding of features", f"relative error at most {at_most(self.error)}"))
        elif not self.exact and not self.stopped:
            label = "certified bounds" if self.part_of is None else f"bounds for {self.part_of}"
            rows.append((label, f"{self.lower:.6g} .. {self.upper:.6g}  (error {self.error:.2g})"))
        rows.append(("discriminability", f"{self.discriminability:.6g}"))
        rows.append(("points x features", f"{self.n_points:,} x {self.n_features:,}"))
        if self.measured:
            rows.append(("mass of the points", f"{self.mass:.6g}"))
        if self.own_scale:
            rows.append(("scale", scale_words(self.parameters["scale"])))
        rows.append(("normalised by d_max", f"{self.d_max:.6g}" if self.normalized else "no"))
        if self.shares:
            leading = list(self.shares.items())[:3]
            text = ", ".join(f"{visible(name)} {share:.1%}" for name, share in leading)
            more = len(self.shares) - len(leading)
            text += f" and {more} more" if more else ""
            if self.removal is not None:  # first what cannot mislead
                rows.append(("without a feature", self.removal.sentence()))
            if self.share_bounds:
                first, (least, most) = next(iter(self.share_bounds.items()))
                text += f" ({visible(first)} within the tolerance {least:.0%} to {most:.0%})"
            elif len(self.shares) > 1:
                text += f" ({TIE_RULE})"
            rows.append(("carried by", text))
        if self.n_indistinguishable is not None:
            rows.append(("indistinguishable points", f"{self.n_indistinguishable:,}"))
        if self.stopped:
            rows.append(("stopped early", self.stopped))
        return rows

    def __repr__(self) -> str:
        inner = ", ".join(f"{label}={text}" for label, text in self.summary()[:4])
        codes = f", alerts={', '.join(alert.code for alert in self.alerts)}" if self.alerts else ""
        return f"IDResult({inner}{codes})"

    def _repr_html_(self) -> str:
        rows = self.summary()
        if self.gauge is not None:
            rows.insert(1, ("among columns of this size", self.gauge.line))
        return html_table("geodim", rows) + html_list(map(str, self.alerts))


IDResult.support = SupportField()  # type: ignore[assignment]  # in the class it would be a default


def versions() -> dict[str, str]:
    """Return the versions of the packages that the numbers depend on."""
    return {
        "geodim": __version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "scipy": installed_version("scipy"),
        "numba": installed_version("numba"),
    }


def unique_names(names: list[str] | None, columns: list[int]) -> list[str]:
    """Return the names of columns, with the position added where two names are the same."""
    if names is None:
        return [str(i) for i in columns]
    seen = Counter(names[i] for i in columns)
    return [names[i] if seen[names[i]] == 1 else f"{names[i]} (column {i})" for i in columns]
