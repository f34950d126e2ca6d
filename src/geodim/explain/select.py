"""`select_features`: few features that keep most of the discriminability, with a guarantee."""

from __future__ import annotations

import time
import warnings
from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from geodim.alerts import find_alerts
from geodim.arguments import real_number, whole_number
from geodim.data.scales import Scale
from geodim.dimension import check_arguments
from geodim.engine.driver import Driver
from geodim.engine.parts import divisor
from geodim.errors import DataFileError, DegenerateDataWarning, InputValueError, InterruptedWarning
from geodim.explain.greedy import Greedy
from geodim.explain.passes import exact_source
from geodim.families.opening import open_features
from geodim.lookup import inverse_square
from geodim.progress import showing
from geodim.result import IDResult, unique_names, versions
from geodim.saved.document import Reported, SavedResult, format_of, to_json_value
from geodim.saved.results import SELECTION, SELECTION_DERIVED, checked, related_in_selection
from geodim.text import first_names, html_list, html_table
from geodim.waiting import waiting
from geodim.words import within

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from matplotlib.axes import Axes

    from geodim.alerts import Alert
    from geodim.data.checks import Ranges
    from geodim.data.sources import ColumnSource
    from geodim.progress import Progress

FORMAT = "geodim.FeatureSelection/3"
BEFORE: dict[str, dict[str, Any]] = {  # what earlier formats lack
    "geodim.FeatureSelection/1": {"alerts": [], "error": 0.0},
    "geodim.FeatureSelection/2": {"error": 0.0},
}
FRACTION = 0.95
HTML_ROWS = 10
MEMORY = 256 << 20


@dataclass(frozen=True, repr=False)
class FeatureSelection(SavedResult, Reported):
    """The chosen features, in the order of their choice, and what they reach together.

    Unpacks into names and curve: ``names, curve = select_features(X)``.

    Attributes
    ----------
    names : list of str
        The chosen features, the most useful first.
    columns : list of int
        Their columns.
    curve : list of float
        Delta of the first 1, 2, ... of them; divided by d_max of all features if ``normalized``.
    total : float
        Delta of all features, on the same scale.
    error : float
        How exact these are: none exceeds the true value by more than this part of itself, and none lies below
        it but for rounding.  0 unless windows of a column are all nearly equally wide, see ``last_bit``.
    useful : int
        How many of them it takes to reach the last value of the curve; the others are there
        because ``n_features_to_select`` asked for them.
    guarantee : float
        The chosen features reach at least this part of the Delta of any other set of the same size.
    alerts : tuple of Alert
        What to consider before the choice is trusted: one column in large units may reach everything.

    Examples
    --------
    >>> import numpy as np
    >>> import geodim
    >>> X = np.array([[0, 8], [1, 0], [3, 4], [6, 8], [10, 0]])
    >>> selection = geodim.select_features(X, 1, feature_names=["f", "g"])
    >>> selection.names, selection.useful
    (['f'], 1)
    """

    names: list[str]
    columns: list[int]
    curve: list[float]
    total: float
    n_points: int
    n_features: int
    normalized: bool
    d_max: float
    evaluations: int = 0
    seconds: float = 0.0
    parameters: dict[str, Any] = field(default_factory=dict)
    versions: dict[str, str] = field(default_factory=dict)
    alerts: tuple[Alert, ...] = ()
    error: float = 0.0

    @property
    def fractions(self) -> list[float]:
        """Which part of the total the first 1, 2, ... features reach."""
        return [1.0 if self.total == 0.0 else delta / self.total for delta in self.curve]

    @property
    def dimensions(self) -> list[float]:
        """Intrinsic dimension of the first 1, 2, ... features.

        Divided by d_max of all features if ``normalized``.
        """
        return [inverse_square(delta) for delta in self.curve]

    @property
    def dimension(self) -> float:
        """Intrinsic dimension of all features."""
        return inverse_square(self.total)

    @property
    def guarantee(self) -> float:
        """Certified part of the best possible Delta.

        It is the greedy bound 1 - (1 - 1/m)^m > 1 - 1/e, or more if the curve shows it.  No set of features
        has a larger Delta than all of them together.  Of Delta, not of the dimension: with g for this
        number, the dimension of the choice is at most 1/g^2 times the least possible, divided by one d_max.
        It is less by ``error``: widths may exceed the true ones, of the choice and of any other set.
        """
        m = len(self.columns)
        return max(1.0 - (1.0 - 1.0 / m) ** m, self.fractions[-1]) * (1.0 - self.error)

    @property
    def useful(self) -> int:
        """How many features, from the first, reach what all chosen ones reach.

        Later ones add nothing.
        """
        return self.curve.index(self.curve[-1]) + 1

    def __iter__(self) -> Iterator[Any]:
        return iter((self.names, self.curve))

    def rows(self) -> list[dict[str, Any]]:
        """Return one plain row per choice, for tables and CSV."""
        before = [0.0, *self.curve]
        return [
            {
                "rank": i + 1,
                "feature": self.names[i],
                "column": self.columns[i],
                "discriminability": self.curve[i],
                "gain": self.curve[i] - before[i],
                "fraction": self.fractions[i],
                "dimension": self.dimensions[i],
            }
            for i in range(len(self.columns))
        ]

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON."""
        values = {name: getattr(self, name) for name in self.__dataclass_fields__}
        values |= {
            "format": FORMAT,
            "fractions": self.fractions,
            "dimensions": [to_json_value(value) for value in self.dimensions],
            "dimension": self.dimension,
            "guarantee": self.guarantee,
            "useful": self.useful,
            "alerts": [alert.to_dict() for alert in self.alerts],
        }
        return {name: to_json_value(value) for name, value in values.items()}

    @classmethod
    def from_dict(cls, values: object) -> FeatureSelection:
        """Rebuild a selection from `to_dict`."""
        found = format_of(values)
        if isinstance(values, dict) and found in BEFORE:
            values = {**BEFORE[found], **values}
        elif not isinstance(values, dict) or found != FORMAT:
            msg = f"expected format {FORMAT!r}, found {found!r}: was it written by a later geodim?"
            raise DataFileError(msg)
        return checked(values, SELECTION, SELECTION_DERIVED, lambda known: cls(**known), related_in_selection)

    def plot(self, ax: Axes | None = None, **options: Any) -> Axes:  # noqa: ANN401 - handed on
        """Plot the part of Delta against the number of features, see `geodim.display.greedy`."""
        from geodim.display.greedy import plot_greedy  # noqa: PLC0415

        return plot_greedy(self, ax=ax, **options)

    def __repr__(self) -> str:
        return (
            f"FeatureSelection({len(self.names)} of {self.n_features} features: {first_names(self.names)}; "
            f"{self.fractions[-1]:.4%} of the discriminability{within(self.error)})"
        )

    def _repr_html_(self) -> str:
        rows = [
            [str(row["rank"]), row["feature"], f"{row['fraction']:.2%}", f"{row['dimension']:.6g}"]
            for row in self.rows()[:HTML_ROWS]
        ]
        more = len(self.names) - HTML_ROWS
        if more > 0:
            last = [f"{self.fractions[-1]:.2%}", f"{self.dimensions[-1]:.6g}"]
            rows.append(["", f"and {more:,} more", *last])
        caption = (
            f"geodim, {len(self.names):,} of {self.n_features:,} features; "
            f"dimension of all {self.dimension:.6g}{within(self.error)}"
        )
        table = html_table(caption, rows, ["", "feature", "part of the discriminability", "dimension so far"])
        return table + html_list(map(str, self.alerts))


def select_features(
    X: object,
    n_features_to_select: int | None = None,
    *,
    fraction: float | None = None,
    features: object = "coordinates",
    metric: object = None,
    landmarks: object = None,
    scale: object = None,
    normalize: bool | None = None,
    weights: object = None,
    feature_names: Sequence[str] | None = None,
    n_threads: int | None = None,
    memory: int = MEMORY,
    time_limit: float | None = None,
    last_bit: bool = False,
    progress: Progress = None,
) -> FeatureSelection:
    r"""Choose a few features that keep most of the discriminability.

    Delta of a set S of features, :math:`\Delta(S) = \frac1n \sum_k \max_{f \in S} \phi_{k,f}`, is monotone
    and submodular, so taking the feature that adds most, again and again, reaches at least :math:`1 - 1/e` of
    Delta of the best set of the same size; the dimension, :math:`1/\Delta^2`, is then at most 2.51 times
    the least possible.  Each choice is the true greedy one: features are left aside only by proven bounds.
    (Columns whose windows are all nearly equally wide count with slightly larger widths, see ``last_bit``.)
    Among features that add the same, the one with the lowest column is taken.  Once nothing is left to gain,
    ``n_features_to_select`` is filled up by the discriminability of each feature on its own, largest first.

    Parameters
    ----------
    X : array-like of shape (n_points, n_features)
        Numbers in any form that `geodim.intrinsic_dimension` takes.
    n_features_to_select : int, optional
        How many features to choose.
    fraction : float, optional
        Instead of a number: choose until Delta is at least this part of Delta of all features; 0.95 if
        neither is given.
    features, metric, landmarks
        As for `geodim.intrinsic_dimension`.  From distances this chooses landmarks, the points that tell most
        of the others apart.  A part of a larger family is taken as it is: "all features" means that part.
    scale, normalize
        As for `geodim.intrinsic_dimension`; d_max is the largest range of all features, not only of the
        chosen ones.  The choice is the same for "global", "none" and a number, but may differ where columns
        have units of their own.
    weights : array-like of int, optional
        Multiplicity of each point.
    feature_names : sequence of str, optional
        Names of the features, where the data has none.
    n_threads : int, optional
        Threads to use; all available cores by default.  The result does not depend on it.
    memory : int, default 256 MiB
        Bytes that may be kept about all features together, besides the buffers of the engine.  The result
        does not depend on it; with less, more features are solved more than once.
    time_limit : float, optional
        Seconds after which no more features are chosen; those chosen by then are returned, with a warning.
        The first choice looks at all features and is not interrupted.
    last_bit : bool, default False
        As for `geodim.intrinsic_dimension`: without it, columns whose windows are all nearly equally wide are
        solved to within a tolerance.  The choice is then the greedy one for these widths, the same for any
        number of threads and any memory, and ``error`` bounds what it says about the true ones.  True makes
        it the greedy choice for the true widths, which may take quadratic time.
    progress : bool or callable, optional
        True shows a bar; a function is called as ``progress(columns_done, columns)``, in the calling thread.

    Returns
    -------
    FeatureSelection

    Warns
    -----
    InterruptedWarning
        The time limit ended the choice: fewer features than asked for; ``parameters["stopped"]`` says why.

    Examples
    --------
    >>> import numpy as np
    >>> import geodim
    >>> x = np.arange(100.0)
    >>> names, curve = geodim.select_features(np.stack([x, 3 * x, x % 7], axis=1), 1)
    >>> names
    ['1']
    """
    started = time.monotonic()
    _, threads, time_limit = check_arguments(0.0, n_threads, time_limit)
    driver = Driver(None if time_limit is None else started + time_limit)
    memory = whole_number(memory, "memory (bytes)", 1)
    import_module("geodim.engine.column")  # Numba, before an interrupt could leave it half imported
    chosen = Scale.of(scale, normalize)
    with waiting(time_limit, started=started):
        opened = open_features(
            X, features, metric, landmarks, weights=weights, names=feature_names, n_threads=threads,
            scale=chosen,
        )  # fmt: skip
        most, part = _check_size(n_features_to_select, fraction, opened.source.n_features)
        source, ranges = exact_source(opened.source, threads)
    by = divisor(ranges.d_max, chosen.normalize)
    with showing(progress, "features") as told:
        relaxed = opened.said is None and not last_bit
        greedy = Greedy(source, ranges, threads, memory, told, by, relaxed=relaxed)
        while not greedy.chosen or (
            (len(greedy.chosen) < most if part is None else greedy.delta < part * greedy.total)
            and not driver.late()
        ):
            greedy.choose()
    if ranges.d_max == 0.0:
        warnings.warn(
            "no feature tells any two points apart: any choice of features is as good as any other",
            DegenerateDataWarning,
            stacklevel=2,
        )
    if driver.stopped is not None:
        warnings.warn(
            f"stopped early ({driver.stopped}): {len(greedy.chosen):,} features were chosen by then",
            InterruptedWarning,
            stacklevel=2,
        )
    names = unique_names(source.names, greedy.chosen)
    return FeatureSelection(
        names=names,
        columns=greedy.chosen,
        curve=greedy.curve,
        total=greedy.whole_delta,
        n_points=source.n_points,
        n_features=source.n_features,
        normalized=chosen.normalize,
        d_max=ranges.d_max,
        evaluations=greedy.evaluations,
        seconds=time.monotonic() - started,
        parameters={
            "n_features_to_select": None if n_features_to_select is None else int(n_features_to_select),
            "fraction": part,
            "scale": chosen.told(),
            "normalize": chosen.normalize,
            "n_threads": threads,
            "memory": memory,
            **({"last_bit": True} if last_bit else {}),
            **({} if driver.stopped is None else {"stopped": driver.stopped}),
            **({} if opened.said is None else {"features": opened.said}),
        },
        versions=versions(),
        alerts=_alerts(greedy, source, ranges, normalize=chosen.normalize),
        error=greedy.error,
    )


def _alerts(greedy: Greedy, source: ColumnSource, ranges: Ranges, *, normalize: bool) -> tuple[Alert, ...]:
    """Return the alerts about all features together; ties say nothing about what was chosen."""
    names = unique_names(source.names, greedy.chosen)
    gains = np.diff(greedy.curve, prepend=0.0) / (greedy.whole_delta or 1.0)
    phi = greedy.whole.phi[1:]
    whole = IDResult(
        n_points=source.n_points, n_features=source.n_features, normalized=normalize, d_max=ranges.d_max,
        discriminability=greedy.whole_delta, discriminability_lower=greedy.whole_delta,
        discriminability_upper=greedy.whole_delta, support=np.arange(2, source.n_points + 1), phi_lower=phi,
        phi_upper=phi, shares=dict(zip(names, gains.tolist(), strict=True)), exact=greedy.error == 0.0,
    )  # fmt: skip
    return tuple(alert for alert in find_alerts(whole, source, ranges) if alert.code != "ties")


def _check_size(n_features_to_select: object, fraction: object, n_features: int) -> tuple[int, float | None]:
    """Return the most features to choose, and the part of Delta to reach, if that decides."""
    if n_features_to_select is not None and fraction is not None:
        msg = (
            "give m, the number of features, or fraction, the part of the discriminability to keep, not both"
        )
        raise InputValueError(msg)
    if n_features_to_select is None:
        fraction = FRACTION if fraction is None else fraction
        return n_features, real_number(fraction, "fraction", above=0.0, most=1.0)
    return whole_number(n_features_to_select, "m, the number of features,", 1, n_features), None
