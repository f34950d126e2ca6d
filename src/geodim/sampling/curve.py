r"""The dimension against the number of points: whether it has settled, or grows with the range.

*Why it need not settle.*  Let the points be drawn independently from one law.  As n grows, the share of
points in every interval tends to its probability, uniformly (Glivenko and Cantelli), so that the narrowest
window of a share p of the values of a feature tends to the narrowest interval that has probability p, and

.. math:: \Delta_{raw} = \frac1n \sum_k \max_f \phi_{k,f} \to \int_0^1 \max_f w_f(p) \, dp,

which is finite if the features have means.  What it is divided by does not settle so: :math:`d_{max}` tends
to the largest range that a feature can have at all.  If that is finite, as of pixels, grades or shares, the
dimension :math:`(d_{max} / \Delta_{raw})^2` settles.  If it is not, :math:`d_{max}` grows for ever, as far as
extreme values do, and the dimension with it:

============================  ===================================  ==========
law of a column               range of n values, to leading order  dimension
============================  ===================================  ==========
uniform                       settles                              4
normal                        2 sqrt(2 ln n) deviations            pi ln n
Laplace, both sides           2 ln n scales                        (ln n)^2
exponential, one side         ln n means                           (ln n)^2
tails of power a (Student t)  n^(1/a)                              n^(2/a)
============================  ===================================  ==========

(Normal: the integral is 2 E|X| = 2 sqrt(2/pi) deviations; Laplace: 2 E|X| = 2 scales.  Exponential: the
narrowest interval of a share p is the one from 0 to -ln(1 - p), and the integral of that is 1.  Several
columns act as more points: d_max is that of n d values.)

So a dimension belongs to a number of points, and two of them are compared at equal numbers.  Of bounded
features, or after ``scale="rank"``, it is a property of the law.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from geodim.arguments import whole_number
from geodim.errors import InputValueError
from geodim.progress import showing
from geodim.sampling.rows import Options, Points
from geodim.saved.document import SavedResult, rebuilt, to_json_value
from geodim.text import html_table
from geodim.waiting import report
from geodim.words import number, percent

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Unpack

    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from geodim.progress import Progress
    from geodim.result import IDResult

__all__ = ["SampleCurve", "subsampled_dimensions"]

FORMAT = "geodim.SampleCurve/1"
SMALLEST = 16  # points of a part, at least
MANY = 20_000  # points from which on only smaller parts are measured, to save time
LATEST = 4  # sizes from which the trend is found
STEADY = 0.025  # change with every doubling that is none; that of normal columns is more up to 10^12 of them


@dataclass(frozen=True, repr=False)
class SampleCurve(SavedResult):
    """Dimensions of random samples of the points, and of all of them.

    Attributes
    ----------
    sizes : list of int
        Numbers of points, ascending, the last of them all.
    dimensions : list of list of float
        For every size, the dimension of each sample; for all points, a single one.
    ranges, windows : list of list of float
        The same for d_max, and for the mean of Phi in the units of the data.
    verdict : str
        "settled", "grows", "falls" or "unclear".
    growth : float
        By which share the dimension grows whenever the points double, over the last four sizes.

    Examples
    --------
    >>> import numpy as np
    >>> import geodim
    >>> X = np.random.default_rng(0).random((2000, 4))
    >>> curve = geodim.subsampled_dimensions(X, repeats=3)
    >>> curve.sizes[-1], curve.verdict
    (2000, 'falls')
    """

    sizes: list[int]
    dimensions: list[list[float]]
    ranges: list[list[float]]
    windows: list[list[float]]
    normalized: bool
    parameters: dict[str, Any] = field(default_factory=dict)

    @property
    def medians(self) -> list[float]:
        """The median dimension of every size."""
        return [float(np.median(some)) for some in self.dimensions]

    @property
    def growth(self) -> float:
        """Growth of the dimension with every doubling of the points."""
        return self._judged()[0]

    @property
    def verdict(self) -> str:
        """Whether the dimension has settled."""
        return self._judged()[1]

    def _judged(self) -> tuple[float, str, int]:
        """Return growth, verdict, and how many sizes were used: the last ones, or all if these scatter."""
        last = _trend(self.sizes, self.dimensions, LATEST)
        verdict = _verdict(*last)
        if verdict == "unclear":
            every = _trend(self.sizes, self.dimensions, len(self.sizes))
            if _verdict(*every) != "settled":  # it may have settled earlier, but has not now
                return every[0], _verdict(*every), len(self.sizes)
        return last[0], verdict, LATEST

    @property
    def text(self) -> str:
        """The verdict in words, with its evidence."""
        n = f"{self.sizes[-1]:,}"
        growth, verdict, latest = self._judged()
        if verdict == "settled":
            return (
                f"The dimension has settled: with every doubling of the points it changes by less than "
                f"{percent(STEADY)}. It says something about where the points come from."
            )
        if verdict == "unclear":
            return (
                "The samples scatter too much to tell whether the dimension has settled: draw more of them "
                f"(repeats), and take the number as one of these {n} points."
            )
        reach, middle = (_trend(self.sizes, values, latest)[0] for values in (self.ranges, self.windows))
        words = (
            f"The dimension {verdict} by about {percent(abs(growth))} with every doubling of the points: the "
            f"largest range {_changes(reach)}, and how far the best features spread the points "
            f"{_changes(middle)}. "
        )
        if verdict == "grows" and self.normalized and reach > 0.5 * middle:
            words += (
                "The more points there are, the further out the farthest of them lie, and all else is "
                "divided by that. "
            )
        elif verdict == "falls":
            words += (
                "Among few points narrow windows are found by chance; with more it comes down to a limit. "
            )
        return words + f"The number belongs to {n} points: compare it at equal numbers only."

    def rows(self) -> list[dict[str, Any]]:
        """Return one plain row per size, for tables and CSV."""
        return [
            {
                "points": size,
                "parts": len(some),
                "dimension": float(np.median(some)),
                "least": min(some),
                "greatest": max(some),
                "d_max": float(np.median(reach)),
                "discriminability": float(np.median(window)),
            }
            for size, some, reach, window in zip(
                self.sizes, self.dimensions, self.ranges, self.windows, strict=True
            )
        ]

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON."""
        lists = {
            name: [[to_json_value(value) for value in some] for some in getattr(self, name)]
            for name in ("dimensions", "ranges", "windows")
        }
        return {
            "format": FORMAT,
            "sizes": self.sizes,
            **lists,
            "normalized": self.normalized,
            "growth": to_json_value(self.growth) if math.isfinite(self.growth) else None,
            "verdict": self.verdict,
            "text": self.text,
            "parameters": self.parameters,
        }

    @classmethod
    def from_dict(cls, values: object) -> SampleCurve:
        """Rebuild a curve from `to_dict`."""
        from geodim.saved.others import CURVE, CURVE_DERIVED, same_lengths  # noqa: PLC0415

        def make(known: dict[str, Any]) -> SampleCurve:
            same_lengths(known, ("sizes", "dimensions", "ranges", "windows"))
            for some in zip(known["dimensions"], known["ranges"], known["windows"], strict=True):
                same_lengths(dict(zip("drw", some, strict=True)), "drw")
            return cls(**known)

        made: SampleCurve = rebuilt(values, FORMAT, CURVE, CURVE_DERIVED, make)
        return made

    def plot(self, ax: Axes | None = None, **options: Any) -> Axes:  # noqa: ANN401 - handed on
        """Plot the dimension against the number of points, see `geodim.display.sampling`."""
        from geodim.display.sampling import plot_sample_curve  # noqa: PLC0415

        return plot_sample_curve(self, ax=ax, **options)

    def __repr__(self) -> str:
        shown = ", ".join(
            f"{n:,}: {number(value)}" for n, value in zip(self.sizes, self.medians, strict=True)
        )
        return f"SampleCurve({self.verdict}; {shown})"

    def _repr_html_(self) -> str:
        rows = [
            [
                f"{row['points']:,}",
                number(row["dimension"]),
                f"{number(row['least'])} – {number(row['greatest'])}",
            ]
            for row in self.rows()
        ]
        return html_table(self.text, rows, ["points", "dimension (median)", "least – greatest"])


def subsampled_dimensions(
    X: object,
    *,
    sizes: Sequence[int] | None = None,
    repeats: int = 8,
    seed: int = 0,
    whole: IDResult | None = None,
    progress: Progress = None,
    **options: Unpack[Options],
) -> SampleCurve:
    """Measure random samples of the points, to see whether the dimension has settled.

    Parameters
    ----------
    X : array-like of shape (n_points, n_features)
        Points in any form that `geodim.intrinsic_dimension` takes, except Dask collections.
    sizes : sequence of int, optional
        Sizes of the samples.  By default repeated halves down to 16, at most 8 of them, beginning with n/2,
        or with n/8 where there are many points, so that all parts together take about as long as the whole.
    repeats : int, default 8
        Samples of each size.
    seed : int
        The seed of the samples.
    whole : IDResult, optional
        The result of all points, if it is known already.
    progress : bool or callable, optional
        True shows a bar; a function is called as ``progress(parts_done, parts)``, in the calling thread.
    **options
        ``features``, ``metric``, ``landmarks``, ``rtol``, ``scale``, ``normalize``, ``feature_names`` and
        ``n_threads``, as for `geodim.intrinsic_dimension`.

    Returns
    -------
    SampleCurve

    Examples
    --------
    >>> import numpy as np
    >>> import geodim
    >>> X = np.random.default_rng(0).uniform(size=(4000, 3))
    >>> geodim.subsampled_dimensions(X, repeats=5).verdict
    'settled'
    """
    points = Points(X, options)
    n = points.n_points
    repeats = whole_number(repeats, "repeats", 1)
    seed = whole_number(seed, "seed", 0)
    chosen = _sizes(sizes, n)
    whole = points.whole() if whole is None else whole  # first, so that errors name rows of the data
    found = []
    with showing(progress, "samples") as told:
        for at, size in enumerate(chosen):
            some = []
            for turn in range(repeats):
                some.append(points.part(size, [seed, size, turn]))
                report("measuring samples", at * repeats + turn + 1, len(chosen) * repeats)
                if told is not None:
                    told(at * repeats + turn + 1, len(chosen) * repeats)
            found.append(some)
    found.append([whole])
    return SampleCurve(
        sizes=[*chosen, n],
        dimensions=[[one.dimension for one in some] for some in found],
        ranges=[[one.d_max for one in some] for some in found],
        windows=[[one.discriminability * one.scale for one in some] for some in found],
        normalized=whole.normalized,
        parameters={**whole.parameters, "repeats": repeats, "seed": seed},
    )


def _sizes(given: Sequence[int] | None, n: int) -> list[int]:
    """Return ascending numbers of points, each less than all."""
    if given is not None:
        wanted = sorted({whole_number(size, "sizes, numbers of points,", 2, n - 1) for size in given})
        if not wanted:
            raise InputValueError("give at least one size, or leave sizes out")
        return wanted
    if n < 4 * SMALLEST:
        raise InputValueError(f"{n} points are too few to draw samples from: {4 * SMALLEST} are needed")
    first = 1 if n <= MANY else 3
    halves = [n >> power for power in range(first, first + 8)]
    return sorted(size for size in halves if size >= SMALLEST)


def _verdict(growth: float, off: float) -> str:
    """Return the verdict for a growth with this standard error."""
    if not math.isfinite(growth) or not math.isfinite(off):
        return "unclear"
    low, high = growth - 2.0 * off, growth + 2.0 * off
    if low > -STEADY and high < STEADY:
        return "settled"
    return "grows" if low > 0.0 else "falls" if high < 0.0 else "unclear"


def _trend(sizes: Sequence[int], values: Sequence[Sequence[float]], latest: int) -> tuple[float, float]:
    """Return growth with every doubling over the last sizes, and its standard error.

    It is a line through the logarithms; parts of the same points are not independent, so the error
    is an indication, not a bound.
    """
    last = range(max(len(sizes) - latest, 0), len(sizes))
    x = np.array([math.log2(sizes[at]) for at in last for _ in values[at]])
    with np.errstate(divide="ignore", invalid="ignore"):
        y: NDArray[np.float64] = np.log2(np.array([value for at in last for value in values[at]]))
    if not np.all(np.isfinite(y)) or x.size < 3:
        return math.nan, math.nan
    centred = x - x.mean()
    slope = float(centred @ y / (centred @ centred))
    left = y - y.mean() - slope * centred
    off = math.sqrt(float(left @ left) / (x.size - 2) / float(centred @ centred))
    growth = 2.0**slope - 1.0
    return growth, off * math.log(2.0) * (1.0 + growth)


def _changes(growth: float) -> str:
    if not abs(growth) >= 0.001:
        return "stays as it is"
    return f"{'grows' if growth > 0 else 'shrinks'} by {percent(abs(growth))}"
