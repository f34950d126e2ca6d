r"""`compare`: data sets at equal numbers of points, and a verdict in words only where one is due.

Every data set is measured as a whole, and then by ``repeats`` random parts of equally many points.  One is
called lower than another if it is lower in 95 % of the draws or more; from data sets of equal size the same
rows are drawn, so that two representations of the same points are compared part by part.

*Why halves.*  By default parts have half as many points as the smallest data set.  Leaving out half of the
points at random scatters a statistic around its value for all of them about as much as that value scatters
around the law behind (the delete-half jackknife): the spread over parts is the spread that another sample
of as many points as the smallest data set would show.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from geodim.alerts import WARNING
from geodim.arguments import whole_number
from geodim.errors import InputTypeError, InputValueError
from geodim.progress import showing
from geodim.result import IDResult
from geodim.sampling.rows import Options, Points
from geodim.saved.document import Reported, SavedResult, rebuilt, to_json_value
from geodim.text import html_list, html_table
from geodim.waiting import report
from geodim.words import number, percent, short

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Unpack

    from matplotlib.axes import Axes

    from geodim.progress import Progress

__all__ = ["Comparison", "Verdict", "compare", "compare_points", "differences", "not_comparable"]

FORMAT = "geodim.Comparison/2"
FEWEST = 10  # points of a part
SURE = 0.95  # of the draws


@dataclass(frozen=True)
class Verdict:
    """What is known about two data sets.

    Attributes
    ----------
    first, second : str
        Their names.
    word : {"lower", "higher", "not distinguishable", "not comparable"}
        The first data set compared with the second.
    why : str
        The evidence.
    """

    first: str
    second: str
    word: str
    why: str

    def __str__(self) -> str:
        first, second = short(self.first, 60), short(self.second, 60)
        between = {
            "lower": f"{first} is lower than {second}",
            "higher": f"{first} is higher than {second}",
        }.get(self.word, f"{first} and {second} are {self.word}")
        return f"{between}: {self.why}"


@dataclass(frozen=True, repr=False)
class Comparison(SavedResult, Reported):
    """Several data sets, measured at equal numbers of points.

    Attributes
    ----------
    names : list of str
        The names of the data sets.
    results : list of IDResult
        The result of each whole data set.
    points : int
        How many points each sample has.
    samples : list of list of (float, float)
        For every data set, bounds on the dimension of each sample.
    verdicts : list of Verdict
        The verdict on every pair.

    Examples
    --------
    >>> import numpy as np
    >>> import geodim
    >>> rng = np.random.default_rng(0)
    >>> data = {"uniform": rng.random((400, 3)), "normal": rng.normal(size=(900, 3))}
    >>> compared = geodim.compare(data, repeats=5)
    >>> compared.names, compared.points
    (['uniform', 'normal'], 200)
    """

    names: list[str]
    results: list[IDResult]
    points: int
    samples: list[list[tuple[float, float]]]
    parameters: dict[str, Any] = field(default_factory=dict)

    @property
    def medians(self) -> list[float]:
        """The median dimension of the samples of every data set."""
        return [float(np.median([math.sqrt(low * high) for low, high in some])) for some in self.samples]

    @property
    def verdicts(self) -> list[Verdict]:
        """The verdict on every pair of data sets."""
        return [self._verdict(one, other) for one, other in combinations(range(len(self.names)), 2)]

    def _verdict(self, one: int, other: int) -> Verdict:
        names = self.names[one], self.names[other]
        reason = not_comparable([self.results[one], self.results[other]], list(names), points=self.points)
        if reason:
            return Verdict(*names, "not comparable", reason)
        pairs = list(zip(self.samples[one], self.samples[other], strict=True))
        below = sum(high < low for (_, high), (low, _) in pairs)
        above = sum(low > high for (low, _), (_, high) in pairs)
        medians = self.medians
        shown = f"{number(medians[one])} and {number(medians[other])} at {self.points:,} points"
        if max(below, above) >= SURE * len(pairs):
            count = max(below, above)
            word = "lower" if below > above else "higher"
            return Verdict(*names, word, f"{shown}, and so in {count} of {len(pairs)} draws.")
        if below == above == 0 and all(first == second for first, second in pairs):
            return Verdict(*names, "not distinguishable", f"{shown}, the same in every draw.")
        return Verdict(
            *names,
            "not distinguishable",
            f"{shown}, but the first is lower in {below} and higher in {above} of {len(pairs)} draws.",
        )

    @property
    def differences(self) -> list[tuple[str, list[str]]]:
        """What differs between the data sets, with a text for each."""
        return [(what, texts) for what, texts in differences(self.results) if len(set(texts)) > 1]

    def rows(self) -> list[dict[str, Any]]:
        """Return one plain row per data set, for tables and CSV."""
        return [
            {
                "name": name,
                "n_points": result.n_points,
                "n_features": result.n_features,
                "dimension": result.dimension,
                "at_equal_points": median,
                "least": min(low for low, _ in some),
                "greatest": max(high for _, high in some),
                "alerts": [alert.code for alert in result.alerts],
            }
            for name, result, some, median in zip(
                self.names, self.results, self.samples, self.medians, strict=True
            )
        ]

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return {**self.scalars(), "names": self.names, "results": [one.to_dict() for one in self.results]}

    def scalars(self) -> dict[str, Any]:
        """Return the same as `to_dict` without the curves, short enough for a line."""
        return {
            "format": FORMAT,
            "points": self.points,
            "data": [{key: to_json_value(value) for key, value in row.items()} for row in self.rows()],
            "samples": [[[to_json_value(end) for end in pair] for pair in some] for some in self.samples],
            "differences": [{"what": what, "values": texts} for what, texts in self.differences],
            "verdicts": [
                {"first": one.first, "second": one.second, "verdict": one.word, "why": one.why}
                for one in self.verdicts
            ],
            "alerts": [[alert.to_dict() for alert in result.alerts] for result in self.results],
            "parameters": self.parameters,
        }

    @classmethod
    def from_dict(cls, values: object) -> Comparison:
        """Rebuild a comparison from `to_dict`."""
        from geodim.saved.others import COMPARISON, COMPARISON_DERIVED, same_lengths  # noqa: PLC0415

        def make(known: dict[str, Any]) -> Comparison:
            same_lengths(known, ("names", "results", "samples"))
            draws = {str(at): some for at, some in enumerate(known["samples"])}
            same_lengths(draws, list(draws))
            return cls(**{**known, "results": [IDResult.from_dict(one) for one in known["results"]]})

        made: Comparison = rebuilt(values, FORMAT, COMPARISON, COMPARISON_DERIVED, make)
        return made

    def plot(self, ax: Axes | None = None, **options: Any) -> Axes:  # noqa: ANN401 - handed on
        """Plot dimensions at equal numbers of points, see `geodim.display.sampling`."""
        from geodim.display.sampling import plot_comparison  # noqa: PLC0415

        return plot_comparison(self, ax=ax, **options)

    def __str__(self) -> str:
        return "\n".join(map(str, self.verdicts))

    def __repr__(self) -> str:
        return f"Comparison({'; '.join(f'{one.first} {one.word} {one.second}' for one in self.verdicts)})"

    def _repr_html_(self) -> str:
        rows = [
            [
                row["name"],
                f"{row['n_points']:,} x {row['n_features']:,}",
                number(row["dimension"]),
                f"{number(row['at_equal_points'])} ({number(row['least'])} – {number(row['greatest'])})",
            ]
            for row in self.rows()
        ]
        head = ["data", "points x features", "dimension", f"at {self.points:,} points"]
        return html_table("geodim, comparison", rows, head) + html_list(map(str, self.verdicts))


def compare(
    data: Mapping[str, object] | Sequence[object],
    *,
    names: Sequence[str] | None = None,
    points: int | None = None,
    repeats: int = 20,
    seed: int = 0,
    progress: Progress = None,
    **options: Unpack[Options],
) -> Comparison:
    """Compare data sets at equal numbers of points.

    Parameters
    ----------
    data : mapping of names to data, or sequence of data
        Two data sets or more, each in any form that `geodim.intrinsic_dimension` takes.
    names : sequence of str, optional
        What to call them, if ``data`` has no names.
    points : int, optional
        How many points each part has; by default half as many as the smallest data set.
    repeats : int, default 20
        How many parts to draw from each.
    seed : int
        The seed of the parts.
    progress : bool or callable, optional
        True shows a bar; a function is called as ``progress(parts_done, parts)``, in the calling thread.
    **options
        ``features``, ``metric``, ``landmarks``, ``rtol``, ``scale``, ``normalize`` and ``n_threads``, as for
        `geodim.intrinsic_dimension`, the same for all.

    Returns
    -------
    Comparison

    Examples
    --------
    >>> import numpy as np
    >>> import geodim
    >>> rng = np.random.default_rng(0)
    >>> found = geodim.compare({"even": rng.uniform(size=(400, 3)), "bell": rng.normal(size=(900, 3))})
    >>> found.verdicts[0].word
    'lower'
    """
    named = {name: Points(one, options, name) for name, one in _named(data, names).items()}
    return compare_points(named, points=points, repeats=repeats, seed=seed, progress=progress)


def compare_points(
    named: Mapping[str, Points],
    *,
    points: int | None = None,
    repeats: int = 20,
    seed: int = 0,
    progress: Progress = None,
) -> Comparison:
    """Do the same as `compare`, for data from which points can be taken."""
    repeats = whole_number(repeats, "repeats", 1)
    seed = whole_number(seed, "seed", 0)
    every = list(named.values())
    least = min(one.n_points for one in every)
    if points is None:
        points = max(least // 2, 2)
    points = whole_number(points, "points", 2, least)
    results, samples = [], []
    with showing(progress, "samples") as told:
        for at, one in enumerate(every):
            results.append(one.whole())
            some = []
            for turn in range(repeats):
                part = one.part(points, [seed, turn])
                some.append((part.lower, part.upper))
                report("measuring samples", at * repeats + turn + 1, len(every) * repeats)
                if told is not None:
                    told(at * repeats + turn + 1, len(every) * repeats)
            samples.append(some)
    parameters = {**results[0].parameters, "points": points, "repeats": repeats, "seed": seed}
    return Comparison(list(named), results, points, samples, parameters)


def differences(results: Sequence[IDResult]) -> list[tuple[str, list[str]]]:
    """Return everything except the data in which two numbers may differ, with a text for each result."""
    return [
        ("points", [f"{one.n_points:,}" for one in results]),
        ("features", [f"{one.n_features:,}" for one in results]),
        ("kind of features", [_family(one) for one in results]),
        ("scale", [_scale(one) for one in results]),
        ("largest range", [number(one.d_max) for one in results]),
        ("leading feature", [_leader(one) for one in results]),
        ("known", [_known(one) for one in results]),
        ("warnings", [", ".join(_warnings(one)) or "none" for one in results]),
    ]


def not_comparable(results: Sequence[IDResult], names: Sequence[str], *, points: int | None = None) -> str:
    """Return why such numbers cannot be compared; empty if they can.

    ``points`` is the number of points on which each was also measured; without it, sizes must be equal.
    """
    for what, of in (("scale", _scale), ("kind of features", _family)):
        if len({of(one) for one in results}) > 1:
            return f"they differ in {what} ({' and '.join(of(one) for one in results)})."
    for name, one in zip(names, results, strict=True):
        for alert in one.alerts:
            if alert.severity == WARNING:
                return f"{short(name, 60)} has a warning ({alert.code}). {alert.message}"
    if points is None and len({one.n_points for one in results}) > 1:
        return (
            "they have different numbers of points, and the dimension depends on that; geodim compare "
            "measures all of them at equal numbers."
        )
    if points is not None and points < FEWEST:
        return f"samples of {points} points are too small to tell anything."
    return ""


def _named(data: object, names: Sequence[str] | None) -> dict[str, object]:
    if isinstance(data, Mapping):
        found = {str(name): one for name, one in data.items()}
        if names is not None:
            raise InputValueError("the data has names already: leave out names")
    elif isinstance(data, list | tuple):
        given = [f"data {at}" for at in range(1, len(data) + 1)] if names is None else list(map(str, names))
        if len(given) != len(data) or len(set(given)) < len(given):
            raise InputValueError(f"give {len(data)} different names for {len(data)} data sets")
        found = dict(zip(given, data, strict=True))
    else:
        raise InputTypeError(
            f"a {type(data).__name__} is one data set: give a list of several, or a dict of them by name"
        )
    if len(found) < 2:
        raise InputValueError("one data set cannot be compared: give two or more")
    return found


def _family(result: IDResult) -> str:
    said = result.parameters.get("features", "columns")
    return str(said.get("family", said)) if isinstance(said, dict) else str(said)


def _scale(result: IDResult) -> str:
    return str(result.parameters.get("scale", "global" if result.normalized else "none"))


def _leader(result: IDResult) -> str:
    name, share = next(iter(result.shares.items()), ("none", 0.0))
    return f"{short(name, 40)}, {percent(share)}"


def _known(result: IDResult) -> str:
    if result.exact:
        return "exactly"
    return f"to {percent(result.error)}" if math.isfinite(result.error) else "without an upper bound"


def _warnings(result: IDResult) -> list[str]:
    return [alert.code for alert in result.alerts if alert.severity == WARNING]
