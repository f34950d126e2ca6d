"""`top_features`: the features with the highest scores of their own, after dropping correlated ones."""

from __future__ import annotations

import math
import time
import warnings
from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING, Any

from geodim.arguments import one_of, real_number, whole_number
from geodim.data.scales import Scale
from geodim.engine.parts import divisor, thread_count
from geodim.errors import DegenerateDataWarning, InputValueError
from geodim.explain.correlated import absolute_correlations, drop_most_correlated
from geodim.explain.passes import exact_source
from geodim.explain.ranking import WEIGHTINGS, own_scores, ranked
from geodim.families.opening import open_features
from geodim.lookup import inverse_square
from geodim.paper._checks import exact_multiple
from geodim.progress import showing
from geodim.result import unique_names, versions
from geodim.saved.document import SavedResult, format_of, rebuilt, to_json_value
from geodim.text import first_names, html_table
from geodim.words import within

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes

    from geodim.explain.correlated import Dropped
    from geodim.progress import Progress

FORMAT = "geodim.TopFeatures/2"
BEFORE = "geodim.TopFeatures/1"  # without an error
HTML_ROWS = 10
TENTH = 10


@dataclass(frozen=True, repr=False)
class TopFeatures(SavedResult):
    """The features with the highest scores, and those that were dropped as similar to others.

    Attributes
    ----------
    names : list of str
        The kept features, the highest score first.
    columns : list of int
        Their columns.
    scores : list of float
        Their scores; divided by d_max of all features if ``normalized``.
    error : float
        How exact these are, as for `geodim.feature_ranking`.  Scores never lie below the true ones but for
        rounding, so no feature that was left out because of its score has a true one above the lowest here.
    weighting : str
        What the scores are, as for `geodim.feature_ranking`.
    dropped : list of str
        Features that were dropped before the ranking, the most correlated first.
    dropped_columns : list of int
        Their columns.
    partners : list of int
        For each of them the column that it was most correlated with.
    correlations : list of float
        How strongly: the absolute value of Pearson's correlation, to nine decimals.

    Examples
    --------
    >>> import numpy as np
    >>> import geodim
    >>> x = np.arange(6.0)
    >>> top = geodim.top_features(np.stack([x, 2 * x, x % 2], axis=1), 1, drop_correlated=1 / 3)
    >>> top.columns, top.dropped_columns, top.partners, top.correlations
    ([1], [0], [1], [1.0])
    """

    names: list[str]
    columns: list[int]
    scores: list[float]
    weighting: str
    dropped: list[str]
    dropped_columns: list[int]
    partners: list[int]
    correlations: list[float]
    n_points: int
    n_features: int
    normalized: bool
    d_max: float
    seconds: float = 0.0
    parameters: dict[str, Any] = field(default_factory=dict)
    versions: dict[str, str] = field(default_factory=dict)
    error: float = 0.0

    @property
    def dimensions(self) -> list[float]:
        """Dimension of each kept feature on its own, one over the square of its score."""
        return [inverse_square(score) for score in self.scores]

    def rows(self) -> list[dict[str, Any]]:
        """Return one plain row per kept feature, for tables and CSV."""
        return [
            {"rank": rank, "feature": name, "column": column, "score": score, "dimension": dimension}
            for rank, (name, column, score, dimension) in enumerate(
                zip(self.names, self.columns, self.scores, self.dimensions, strict=True), 1
            )
        ]

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON."""
        values = {name: getattr(self, name) for name in self.__dataclass_fields__}
        dimensions = [to_json_value(value) for value in self.dimensions]
        return {"format": FORMAT, **values, "dimensions": dimensions}

    @classmethod
    def from_dict(cls, values: object) -> TopFeatures:
        """Rebuild a selection from `to_dict`."""
        from geodim.saved.others import TOP, TOP_DERIVED, related_in_top  # noqa: PLC0415

        def make(known: dict[str, Any]) -> TopFeatures:
            related_in_top(known)
            return cls(**known)

        if isinstance(values, dict) and format_of(values) == BEFORE:
            values = {"error": 0.0, **values, "format": FORMAT}
        made: TopFeatures = rebuilt(values, FORMAT, TOP, TOP_DERIVED, make)
        return made

    def plot(self, ax: Axes | None = None, **options: Any) -> Axes:  # noqa: ANN401 - handed on
        """Plot the scores of the kept features, see `geodim.display.top`."""
        from geodim.display.top import plot_top  # noqa: PLC0415

        return plot_top(self, ax=ax, **options)

    def __repr__(self) -> str:
        names = first_names(self.names)
        gone = f"; {len(self.dropped)} dropped by correlation" if self.dropped else ""
        return (
            f"TopFeatures({len(self.names)} of {self.n_features} features by {self.weighting}: {names}{gone}"
            f"{within(self.error)})"
        )

    def _repr_html_(self) -> str:
        rows = [
            [str(row["rank"]), row["feature"], f"{row['score']:.6g}", f"{row['dimension']:.6g}"]
            for row in self.rows()[:HTML_ROWS]
        ]
        more = len(self.names) - HTML_ROWS
        if more > 0:
            rows.append(["", f"and {more:,} more", "", ""])
        caption = f"geodim, {len(self.names):,} of {self.n_features:,} features by {self.weighting}"
        if self.dropped:
            caption += f"; {len(self.dropped):,} dropped by correlation"
        caption += within(self.error)
        return html_table(caption, rows, ["", "feature", "score", "dimension of its own"])


def top_features(
    X: object,
    n_features_to_select: int | None = None,
    *,
    weighting: str = "resilience",
    drop_correlated: float = 0.0,
    features: object = "coordinates",
    metric: object = None,
    landmarks: object = None,
    scale: object = None,
    normalize: bool | None = None,
    weights: object = None,
    feature_names: Sequence[str] | None = None,
    n_threads: int | None = None,
    last_bit: bool = False,
    progress: Progress = None,
) -> TopFeatures:
    r"""Keep the features with the highest scores of their own.

    The method of *Selecting Features by their Resilience to the Curse of Dimensionality* (Stubbemann, Hille
    and Hanika 2023): every feature is scored alone, by
    :math:`\Delta^*_f = \frac1n \sum_{k=2}^n \frac1k \phi_{k,f}`, and the best tenth is kept; features that
    are much like others may be dropped first.  They score large data between bounds; here every score is
    that of all k.  Labels are not examined, and features are not looked at together, as
    `geodim.select_features` does.

    Parameters
    ----------
    X : array-like of shape (n_points, n_features)
        Numbers in any form that `geodim.intrinsic_dimension` takes.
    n_features_to_select : int, optional
        How many features to keep; a tenth of all, rounded down, and one at least, by default.
    weighting : {"resilience", "uniform"}, default "resilience"
        What to score by, as for `geodim.feature_ranking`.
    drop_correlated : float, default 0
        Which part of all features to drop first, rounded up; the authors drop a tenth.  Of the two features
        with the largest absolute correlation (Pearson's, to nine decimals; 0 for constant features) the one
        with the lower score leaves, of equal scores the higher column; and so on with the others.  Of
        pairs that are equally correlated the one with the lowest columns comes first.  Takes 16 bytes for
        every pair of features.
    features, metric, landmarks, scale, normalize, weights, feature_names, n_threads
        As for `geodim.intrinsic_dimension`.  Scores depend on the units of columns: a feature in large
        units scores high, unless ``scale`` gives every column its own.  Weights are multiplicities.
    last_bit : bool, default False
        As for `geodim.feature_ranking`.
    progress : bool or callable, optional
        True shows a bar; a function is called as ``progress(columns_done, columns)``, in the calling thread.

    Returns
    -------
    TopFeatures
        Of equal scores the lowest column comes first.

    Examples
    --------
    >>> import numpy as np
    >>> import geodim
    >>> x = np.arange(100.0)
    >>> X = np.stack([x, x + x % 2, (x - 50) ** 2 / 50], axis=1)
    >>> geodim.top_features(X, 2).names
    ['0', '1']
    >>> geodim.top_features(X, 2, drop_correlated=1 / 3).names
    ['0', '2']
    """
    started = time.monotonic()
    weighting = one_of(weighting, "weighting", WEIGHTINGS)
    part = real_number(drop_correlated, "drop_correlated", least=0.0, below=1.0)
    threads = thread_count(n_threads)
    import_module("geodim.engine.column")  # Numba, before an interrupt could leave it half imported
    chosen = Scale.of(scale, normalize)
    opened = open_features(
        X, features, metric, landmarks, weights=weights, names=feature_names, n_threads=threads, scale=chosen
    )
    keep, drop = _sizes(n_features_to_select, part, opened.source.n_features)
    source, ranges = exact_source(opened.source, threads)
    by = divisor(ranges.d_max, chosen.normalize)
    with showing(progress, "features") as told:
        relaxed = opened.said is None and not last_bit
        own, errors = own_scores(source, ranges, threads, by, weighting, told, relaxed=relaxed)
    gone: list[Dropped] = []
    if drop:
        gone = drop_most_correlated(absolute_correlations(source), drop, own)
    out = {one.column for one in gone}
    order = ranked(own)
    labels = dict(zip(order, unique_names(source.names, order), strict=True))
    kept = [column for column in order if column not in out][:keep]
    if ranges.d_max == 0.0:
        warnings.warn(
            "no feature tells any two points apart: any choice of features is as good as any other",
            DegenerateDataWarning,
            stacklevel=2,
        )
    return TopFeatures(
        names=[labels[column] for column in kept],
        columns=kept,
        scores=[float(own[column]) for column in kept],
        weighting=weighting,
        dropped=[labels[one.column] for one in gone],
        dropped_columns=[one.column for one in gone],
        partners=[one.partner for one in gone],
        correlations=[one.correlation for one in gone],
        n_points=source.n_points,
        n_features=source.n_features,
        normalized=chosen.normalize,
        d_max=ranges.d_max,
        seconds=time.monotonic() - started,
        parameters={
            "n_features_to_select": keep,
            "drop_correlated": part,
            "scale": chosen.told(),
            "normalize": chosen.normalize,
            "n_threads": threads,
            **({"last_bit": True} if last_bit else {}),
            **({} if opened.said is None else {"features": opened.said}),
        },
        versions=versions(),
        error=float(errors[kept].max()),
    )


def _sizes(n_features_to_select: object, part: float, n_features: int) -> tuple[int, int]:
    """Return how many features to keep, and how many to drop before."""
    drop = math.ceil(exact_multiple(n_features, part, "drop_correlated"))
    if n_features_to_select is None:
        keep = max(1, n_features // TENTH)
    else:
        keep = whole_number(n_features_to_select, "m, the number of features,", 1, n_features)
    if keep + drop > n_features:
        raise InputValueError(
            f"{keep:,} features are to be kept and {drop:,} to be dropped by correlation, but there are only "
            f"{n_features:,}: drop or keep fewer"
        )
    return keep, drop
