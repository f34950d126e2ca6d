"""`binary_correlation_dimension`: how the number of pairs of objects grows with their distance.

This is the dimension of Tatti, Mielikäinen, Gionis and Mannila, raw and normalised; `geodim.concepts.slopes`
defines both, `geodim.concepts.hamming` counts pairs.  It looks at objects by how many attributes they differ
in, where `geodim.binary_dimension` looks at attributes by what objects share.
"""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from geodim.arguments import one_of, whole_number
from geodim.concepts.contexts import as_context
from geodim.concepts.hamming import all_pairs, drawn_pairs, probability_error
from geodim.concepts.slopes import QUANTILES, equal_columns, equal_mismatch, of_columns, slope
from geodim.errors import DegenerateDataWarning, InputValueError
from geodim.progress import showing
from geodim.result import versions
from geodim.saved.document import SavedResult, rebuilt, to_json_value
from geodim.text import html_table
from geodim.words import number

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from geodim.progress import Progress

__all__ = ["BinaryCorrelation", "binary_correlation_dimension"]

FORMAT = "geodim.BinaryCorrelation/1"
MOST_OBJECTS = 20_000  # up to this many, all pairs are compared by default
DRAWN = 1_000_000  # pairs, where there are more objects
PARTS = 16  # of a sample, for its standard error
LISTS = ("distances", "probabilities", "independent_probabilities")


@dataclass(frozen=True, repr=False)
class BinaryCorrelation(SavedResult):
    """The correlation dimension of binary data, raw and normalised.

    Attributes
    ----------
    dimension : float
        cd: the slope of log P(Z < r) against log r between the quartiles of the distance Z.
    normalized_dimension : float
        How many independent, identically distributed columns have this slope.
    independent : float
        The slope of the same columns if they were independent.
    mismatch : float
        The probability q that two objects differ in one of these identically distributed columns.
    n_objects, n_attributes, n_pairs : int
        Size of the data; pairs that were compared.
    exact : bool
        Whether these were all pairs.
    standard_error : float
        The standard error of ``dimension``, from sixteen parts of the sample; 0 if exact.
    probability_error : float
        How far, with 99 % certainty, any P(Z < r) is from that of all pairs, at most; 0 if exact.
    quantiles, radii : list of float
        1/4 and 3/4, and the distances within which such shares of the pairs lie.
    distances, probabilities, independent_probabilities : list
        Whole numbers r, and P(Z < r) of the data and of independent columns.

    Examples
    --------
    >>> import numpy as np
    >>> import geodim
    >>> X = np.random.default_rng(0).random((1000, 50)) < 0.2
    >>> found = geodim.binary_correlation_dimension(X)
    >>> round(found.dimension, 2), round(found.normalized_dimension)
    (4.02, 51)
    """

    dimension: float
    normalized_dimension: float
    independent: float
    mismatch: float
    n_objects: int
    n_attributes: int
    n_pairs: int
    exact: bool
    standard_error: float
    probability_error: float
    quantiles: list[float]
    radii: list[float]
    distances: list[int]
    probabilities: list[float]
    independent_probabilities: list[float]
    parameters: dict[str, Any] = field(default_factory=dict)
    versions: dict[str, str] = field(default_factory=dict)

    @property
    def approximate(self) -> float:
        """An estimate of the normalised dimension: attributes times the squared ratio of both slopes."""
        return self.n_attributes * (self.dimension / self.independent) ** 2

    @property
    def text(self) -> str:
        """What was found, in words."""
        words = (
            f"Pairs of objects grow with their distance as among {number(self.normalized_dimension)} "
            f"independent columns; there are {self.n_attributes:,}."
        )
        if self.exact:
            return words
        return f"{words} From {self.n_pairs:,} random pairs: the slope is known to {self.standard_error:.2g}."

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON."""
        values = {name: getattr(self, name) for name in self.__dataclass_fields__}
        values["normalized_dimension"] = to_json_value(self.normalized_dimension)
        approximate = to_json_value(self.approximate)
        return {"format": FORMAT, **values, "approximate": approximate, "text": self.text}

    @classmethod
    def from_dict(cls, values: object) -> BinaryCorrelation:
        """Rebuild a result from `to_dict`."""
        from geodim.saved.binary import CORRELATION, CORRELATION_DERIVED  # noqa: PLC0415
        from geodim.saved.others import same_lengths  # noqa: PLC0415

        def make(known: dict[str, Any]) -> BinaryCorrelation:
            same_lengths(known, LISTS)
            same_lengths(known, ("quantiles", "radii"))
            return cls(**known)

        made: BinaryCorrelation = rebuilt(values, FORMAT, CORRELATION, CORRELATION_DERIVED, make)
        return made

    def plot(self, ax: Axes | None = None, **options: Any) -> Axes:  # noqa: ANN401 - handed on
        """Plot both curves with the quartiles and the fitted line, see `geodim.display.binary`."""
        from geodim.display.binary import plot_correlation  # noqa: PLC0415

        return plot_correlation(self, ax=ax, **options)

    def __repr__(self) -> str:
        how = "all pairs" if self.exact else f"{self.n_pairs:,} random pairs"
        return (
            f"BinaryCorrelation(correlation dimension={self.dimension:.6g}, "
            f"normalised={self.normalized_dimension:.6g} of {self.n_attributes:,} columns, {how})"
        )

    def _repr_html_(self) -> str:
        rows = [
            ["correlation dimension", number(self.dimension)],
            ["of independent columns", number(self.independent)],
            ["normalised dimension", number(self.normalized_dimension)],
            ["objects × attributes", f"{self.n_objects:,} × {self.n_attributes:,}"],
            ["pairs", "all" if self.exact else f"{self.n_pairs:,} at random"],
        ]
        return html_table(self.text, rows)


def binary_correlation_dimension(
    X: object,
    *,
    pairs: int | str = "auto",
    seed: int = 0,
    attribute_names: Sequence[str] | None = None,
    progress: Progress = None,
) -> BinaryCorrelation:
    r"""Compute the correlation dimension of binary data, and how many independent columns have the same.

    With Z the number of attributes in which two objects differ that are drawn independently, and
    :math:`f(r) = P(Z < r)` for whole r, linear in between, the correlation dimension is the slope of
    :math:`\log f(r)` against :math:`\log r`, by least squares at 50 radii evenly between those with
    f = 1/4 and f = 3/4.  `geodim.concepts.slopes` has the normalised one.

    Parameters
    ----------
    X : array-like, sparse matrix, frame, path or Context
        Binary data, as for `geodim.binary_dimension`.
    pairs : {"auto", "all"} or int, default "auto"
        Compare all pairs of objects, exactly; or this many, drawn at random.  By default all of up to
        20,000 objects, else a million.
    seed : int
        The seed of the pairs.
    attribute_names : sequence of str, optional
        Names of the attributes, where the data has none.
    progress : bool or callable, optional
        True shows a bar; a function is called as ``progress(done, total)``, in the calling thread.

    Returns
    -------
    BinaryCorrelation

    Raises
    ------
    InputValueError
        All objects have the same attributes: there are no distances.

    Warns
    -----
    DegenerateDataWarning
        Three quarters of all pairs do not differ at all: the slope is 1, whatever the data.

    Examples
    --------
    >>> import numpy as np
    >>> import geodim
    >>> columns = np.random.default_rng(0).random((1000, 40)) < 0.5
    >>> twice = np.hstack([columns, columns])  # 80 columns, half of which say all
    >>> round(geodim.binary_correlation_dimension(twice).normalized_dimension)
    38
    """
    wanted = one_of(pairs, "pairs", ("auto", "all")) if isinstance(pairs, str) else _pairs(pairs)
    seed = whole_number(seed, "seed", 0)
    context = as_context(X, attribute_names=attribute_names)
    n, m = context.n_objects, context.n_attributes
    shares = context.attribute_counts / n
    mismatch = 2.0 * shares * (1.0 - shares)
    if not mismatch.any():
        raise InputValueError(
            f"no two of {n:,} objects differ: they all have the same attributes, and there is no dimension"
        )
    if wanted == "auto":
        wanted = "all" if n <= MOST_OBJECTS else DRAWN
    with showing(progress, "objects" if wanted == "all" else "pairs") as told:
        if wanted == "all":
            parts = all_pairs(context, told)[np.newaxis]
        else:
            parts = drawn_pairs(context, int(wanted), PARTS, seed, told)
    within = _within(parts.sum(axis=0))
    n_pairs = int(parts.sum())
    if within[1] >= QUANTILES[1]:
        _warn(float(within[1]))
    dimension, first, last = slope(within)
    kept = _kept(last, within.size)
    apart = of_columns(mismatch, int(kept[-1]))
    independent = slope(apart)[0]
    alike = equal_mismatch(m, independent)
    return BinaryCorrelation(
        dimension=dimension,
        normalized_dimension=equal_columns(alike, dimension),
        independent=independent,
        mismatch=alike,
        n_objects=n,
        n_attributes=m,
        n_pairs=n_pairs,
        exact=wanted == "all",
        standard_error=_standard_error(parts),
        probability_error=0.0 if wanted == "all" else probability_error(n_pairs),
        quantiles=list(QUANTILES),
        radii=[first, last],
        distances=kept.tolist(),
        probabilities=within[kept].tolist(),
        independent_probabilities=apart[np.minimum(kept, apart.size - 1)].tolist(),
        parameters={"pairs": wanted, "seed": seed},
        versions=versions(),
    )


def _pairs(pairs: object) -> int:
    """Check a number of pairs: enough for every part to have some."""
    return whole_number(pairs, "pairs", 100 * PARTS)


def _within(counts: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return P(Z < r) for r = 0, 1, ...: sums of whole numbers, each divided once."""
    return np.concatenate([[0], np.cumsum(counts)]) / int(counts.sum())


def _standard_error(parts: NDArray[np.int64]) -> float:
    """Return the standard error of the slope, from the slopes of equal, independent parts of the sample."""
    if len(parts) == 1:
        return 0.0
    slopes = [slope(_within(part))[0] for part in parts]
    return float(np.std(slopes, ddof=1)) / math.sqrt(len(parts))


def _kept(last: float, size: int) -> NDArray[np.int64]:
    """Return the distances to keep for the plot: all up to well beyond the third quartile, or 200."""
    end = min(math.ceil(1.5 * last) + 2, size)
    return np.unique(np.linspace(0, end - 1, min(end, 200)).astype(np.int64))


def _warn(share: float) -> None:
    warnings.warn(
        f"{share:.0%} of all pairs of objects do not differ: both quartiles of the distance are 0, and the "
        "slope is 1 whatever the data",
        DegenerateDataWarning,
        stacklevel=3,
    )
