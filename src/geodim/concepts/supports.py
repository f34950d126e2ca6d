"""`support_curve`: bounds on the dimension of binary data against the minimum support, in one descent.

Hanika and Hille approximate the dimension by the concepts of some support s, and ask how small s must be.
One search answers for all s: it begins with the largest, and each goes on where the one before ended
(`geodim.concepts.mining.descend`), so that bounds never become wider as s falls.  With Q_s(t) the largest
support, s or more, of a concept with t <= |B| <= m - t, or 0 if there is none, these concepts alone prove

    Q_s(t) <= Q(t) <= max(Q_s(t), s - 1),

which is reported beside the closer bounds that counts and flows add.
"""

from __future__ import annotations

import time
import warnings
from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from geodim.arguments import real_number
from geodim.concepts.contexts import as_context
from geodim.concepts.dimension import check_min_support, delta_bounds, least_support
from geodim.concepts.mining import descend
from geodim.data.scales import Scale
from geodim.engine.driver import Driver
from geodim.errors import DegenerateDataWarning, InputTypeError, InputValueError, InterruptedWarning
from geodim.lookup import inverse_square
from geodim.progress import showing
from geodim.result import versions
from geodim.saved.document import SavedResult, rebuilt, to_json_value
from geodim.text import html_table
from geodim.words import counted, number, percent

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from matplotlib.axes import Axes

    from geodim.concepts.contexts import Context
    from geodim.concepts.mining import Front
    from geodim.progress import Progress

__all__ = ["SupportCurve", "support_curve"]

FORMAT = "geodim.SupportCurve/1"
LISTS = ("supports", "lower", "upper", "frequent_lower", "frequent_upper", "exact", "seconds")
BOUNDS = ("lower", "upper", "frequent_lower", "frequent_upper")


@dataclass(frozen=True, repr=False)
class SupportCurve(SavedResult):
    """Bounds on the dimension of binary data, for falling minimum supports.

    Attributes
    ----------
    supports : list of int
        Numbers of objects that a concept must have, falling; concepts of fewer were not searched for.
    lower, upper : list of float
        Certified bounds on the dimension by all concepts.
    frequent_lower, frequent_upper : list of float
        Those that the concepts of this support prove on their own; ``frequent_upper`` is the dimension by
        these alone.
    exact : list of bool
        Whether both bounds are the dimension.
    seconds : list of float
        Time since the beginning.
    n_objects, n_attributes : int
        Size of the data.
    normalized : bool
        Whether features were divided by the share of the most frequent attribute.
    stopped : str or None
        "time limit" or "interrupted" if the last support was not finished: its bounds hold nevertheless, but
        for those of frequent concepts, which are those of the support before.

    Examples
    --------
    >>> import numpy as np
    >>> import geodim
    >>> X = np.random.default_rng(0).random((200, 30)) < 0.3
    >>> curve = geodim.support_curve(X, supports=[0.2, 0.1, 10, 1])
    >>> curve.supports
    [40, 20, 10, 1]
    >>> curve.exact[-1], curve.lower[-1] == geodim.binary_dimension(X).dimension
    (True, True)
    """

    supports: list[int]
    lower: list[float]
    upper: list[float]
    frequent_lower: list[float]
    frequent_upper: list[float]
    exact: list[bool]
    seconds: list[float]
    n_objects: int
    n_attributes: int
    normalized: bool = False
    stopped: str | None = None
    parameters: dict[str, Any] = field(default_factory=dict)
    versions: dict[str, str] = field(default_factory=dict)

    @property
    def settled(self) -> int | None:
        """The largest minimum support from which on the dimension is exact; None if it never is."""
        return next((s for s, known in zip(self.supports, self.exact, strict=True) if known), None)

    @property
    def text(self) -> str:
        """What the curve says, in words."""
        last = f"between {number(self.lower[-1])} and {number(self.upper[-1])}"
        if self.settled is not None:
            share = percent(self.settled / self.n_objects)
            enough = f"{counted(self.settled, 'object')} or more ({share} of all)"
            return f"The dimension is {number(self.lower[-1])}: concepts of {enough} prove it."
        why = f", where it was stopped ({self.stopped})" if self.stopped else ""
        return (
            f"With concepts of {counted(self.supports[-1], 'object')} or more{why}, the dimension is {last}."
        )

    def rows(self) -> list[dict[str, Any]]:
        """Return one plain row per minimum support, for tables and CSV."""
        lists = [getattr(self, name) for name in LISTS]
        rows = [dict(zip(LISTS, values, strict=True)) for values in zip(*lists, strict=True)]
        return [{"support": row.pop("supports"), **row} for row in rows]

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON."""
        lists = {name: [to_json_value(value) for value in getattr(self, name)] for name in LISTS}
        return {
            "format": FORMAT,
            **lists,
            "n_objects": self.n_objects,
            "n_attributes": self.n_attributes,
            "normalized": self.normalized,
            "stopped": self.stopped,
            "settled": self.settled,
            "text": self.text,
            "parameters": self.parameters,
            "versions": self.versions,
        }

    @classmethod
    def from_dict(cls, values: object) -> SupportCurve:
        """Rebuild a curve from `to_dict`."""
        from geodim.saved.binary import SUPPORTS, SUPPORTS_DERIVED, falling  # noqa: PLC0415
        from geodim.saved.others import same_lengths  # noqa: PLC0415

        def make(known: dict[str, Any]) -> SupportCurve:
            same_lengths(known, LISTS)
            falling(known["supports"])
            return cls(**known)

        made: SupportCurve = rebuilt(values, FORMAT, SUPPORTS, SUPPORTS_DERIVED, make)
        return made

    def plot(self, ax: Axes | None = None, **options: Any) -> Axes:  # noqa: ANN401 - handed on
        """Plot the bounds against the minimum support, see `geodim.display.binary`."""
        from geodim.display.binary import plot_support_curve  # noqa: PLC0415

        return plot_support_curve(self, ax=ax, **options)

    def __repr__(self) -> str:
        shown = ", ".join(
            f"{s:,}: {number(low)}" if known else f"{s:,}: {number(low)} .. {number(high)}"
            for s, low, high, known in zip(self.supports, self.lower, self.upper, self.exact, strict=True)
        )
        return f"SupportCurve({shown})"

    def _repr_html_(self) -> str:
        rows = [
            [
                f"{row['support']:,}",
                f"{number(row['lower'])} .. {number(row['upper'])}",
                f"{number(row['frequent_lower'])} .. {number(row['frequent_upper'])}",
            ]
            for row in self.rows()
        ]
        head = ["minimum support", "certified bounds", "by frequent concepts alone"]
        return html_table(self.text, rows, head)


def support_curve(
    X: object,
    *,
    supports: Iterable[float] | None = None,
    scale: object = None,
    attribute_names: Sequence[str] | None = None,
    time_limit: float | None = None,
    progress: Progress = None,
) -> SupportCurve:
    """Bound the dimension of binary data for falling minimum supports, each from where the last one ended.

    Parameters
    ----------
    X : array-like, sparse matrix, frame, path or Context
        Binary data, as for `geodim.binary_dimension`.
    supports : iterable of float or int, optional
        Minimum supports, in any order: a float is a share of the objects, an int a number of objects.  By
        default from the support of the most frequent attribute on, halved until it is 1: all concepts.
    scale : {"none", "global"}
        As for `geodim.binary_dimension`.
    attribute_names : sequence of str, optional
        Names of the attributes, where the data has none.
    time_limit : float, optional
        Seconds after which the curve is returned as far as it is known, with a warning.  Reading X is not
        interrupted.
    progress : bool or callable, optional
        True shows a bar; a function is called as ``progress(sizes_done, sizes)``, in the calling thread;
        sizes count once for every support.

    Returns
    -------
    SupportCurve
        Its last bounds are the closest: as for `geodim.binary_dimension` with the smallest support.

    Warns
    -----
    DegenerateDataWarning
        No concept tells any two attributes apart: the dimension is infinite.
    InterruptedWarning
        Ctrl-C or the time limit ended the descent; the bounds reached by then are valid.

    Examples
    --------
    >>> import numpy as np
    >>> import geodim
    >>> curve = geodim.support_curve(np.eye(10, dtype=bool))  # every attribute in one object: n^4
    >>> curve.supports, curve.lower[0]
    ([1], 10000.0)
    """
    started = time.monotonic()
    limit = None if time_limit is None else real_number(time_limit, "time_limit", least=0.0, hint="seconds")
    chosen = Scale.of("none" if scale is None else scale, None)
    if chosen.own:
        raise InputValueError("shares of objects have one unit: scale must be 'none' or 'global'")
    given = None if supports is None else _given(supports)
    context = as_context(X, attribute_names=attribute_names)
    leasts = _halves(context) if given is None else _numbers(given, context.n_objects)
    import_module("geodim.concepts._lists")  # Numba, before an interrupt could leave it half imported
    points: dict[str, list[Any]] = {name: [] for name in LISTS}
    stopped = None
    with showing(progress, "sizes") as told:
        driver = Driver(None if limit is None else started + limit, told)
        with driver.heeding():
            for least, front in zip(leasts, descend(context, leasts, driver), strict=True):
                stopped = driver.stopped if front.unseen(least) else None
                _add(points, context, front, least, normalize=chosen.normalize, finished=stopped is None)
                points["seconds"].append(time.monotonic() - started)
                if stopped is not None:
                    break
    if not points["supports"]:  # interrupted twice, before the first support
        raise KeyboardInterrupt
    curve = SupportCurve(
        **points,
        n_objects=context.n_objects,
        n_attributes=context.n_attributes,
        normalized=chosen.normalize,
        stopped=stopped,
        parameters={"supports": leasts, "scale": "global" if chosen.normalize else "none"},
        versions=versions(),
    )
    _warn(curve)
    return curve


def _given(supports: Iterable[float]) -> list[float]:
    """Return the supports, each checked."""
    if isinstance(supports, str | bytes) or not hasattr(supports, "__iter__"):
        raise InputTypeError(f"supports is a list of shares or numbers of objects, not {supports!r:.60}")
    wanted = [one.item() if isinstance(one, np.generic) else one for one in supports]
    for one in wanted:
        check_min_support(one)
    if not wanted:
        raise InputValueError("give at least one support, or leave supports out")
    return wanted


def _numbers(supports: Sequence[float], n_objects: int) -> list[int]:
    """Return falling numbers of objects, each once."""
    return sorted({least_support(one, n_objects) for one in supports}, reverse=True)


def _halves(context: Context) -> list[int]:
    """Return supports from that of the most frequent attribute on, halved until 1."""
    most = max(int(context.attribute_counts.max()), 1)
    return [most >> power for power in range(most.bit_length())]


def _add(
    points: dict[str, list[Any]],
    context: Context,
    front: Front,
    least: int,
    *,
    normalize: bool,
    finished: bool,
) -> None:
    """Record what is known after a support."""
    m = context.n_attributes
    scale = front.largest if normalize and front.largest else context.n_objects
    low, high = delta_bounds(front.lower, front.upper, m, scale)
    points["supports"].append(least)
    points["lower"].append(inverse_square(high))
    points["upper"].append(inverse_square(low))
    points["exact"].append(low == high)
    if finished:
        frequent = np.where(front.lower >= least, front.lower, 0)
        low, high = delta_bounds(frequent, np.maximum(frequent, least - 1), m, scale)
        bounds = inverse_square(high), inverse_square(low)
    else:  # the support before gives all that is known about frequent concepts
        before = points["frequent_lower"], points["frequent_upper"]
        bounds = (before[0][-1], before[1][-1]) if before[0] else (0.0, np.inf)
    points["frequent_lower"].append(float(bounds[0]))
    points["frequent_upper"].append(float(bounds[1]))


def _warn(curve: SupportCurve) -> None:
    if curve.stopped:
        warnings.warn(
            f"stopped early ({curve.stopped}) at a minimum support of {curve.supports[-1]:,}: the dimension "
            f"lies between {curve.lower[-1]:.6g} and {curve.upper[-1]:.6g}",
            InterruptedWarning,
            stacklevel=3,
        )
    elif curve.exact[-1] and curve.lower[-1] == np.inf:
        warnings.warn(
            "no concept tells any two attributes apart: the intrinsic dimension is infinite",
            DegenerateDataWarning,
            stacklevel=3,
        )
