"""`feature_ranking`: the score of each feature on its own, by the paper's sum over k or by a later one."""

from __future__ import annotations

import math
from importlib import import_module
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from geodim.arguments import one_of
from geodim.data.scales import Scale
from geodim.engine.parts import divisor, exact_sum, in_parts, mean, mean_of, thread_count
from geodim.explain.passes import ColumnPass, exact_source
from geodim.families.opening import open_features
from geodim.result import unique_names
from geodim.summary import part_off

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from geodim.data.checks import Ranges
    from geodim.data.sources import ColumnSource
    from geodim.explain.passes import Column, Slot

WEIGHTINGS = ("uniform", "resilience")
TINY, SHIFT = 2.0**-800, 200  # quotients of widths below this might be too small to have all their bits


class Ranking(dict[str, float]):
    """Names and scores, the largest first: a dictionary that also knows how exact its scores are.

    Attributes
    ----------
    error : float
        No score exceeds the true one by more than this part of itself, and none lies below it but for
        rounding.  0 unless windows of a column are all nearly equally wide, see ``last_bit`` of
        `feature_ranking`.
    """

    error: float = 0.0


class Scores(NamedTuple):
    """The score of every feature alone, and the part of itself by which each may exceed the true one."""

    own: NDArray[np.float64]
    errors: NDArray[np.float64]


def feature_ranking(
    X: object,
    *,
    weighting: str = "uniform",
    features: object = "coordinates",
    metric: object = None,
    landmarks: object = None,
    scale: object = None,
    normalize: bool | None = None,
    weights: object = None,
    feature_names: Sequence[str] | None = None,
    n_threads: int | None = None,
    last_bit: bool = False,
) -> Ranking:
    r"""Rank features by their own discriminability, :math:`\frac1n \sum_k \phi_{k,f}`, the largest first.

    The plain ranking, for comparison with shares and with `geodim.select_features`: a feature may rank
    high and add nothing to another one.  Every column is solved for all k, which takes several times as
    long as the dimension itself.

    Parameters
    ----------
    X : array-like of shape (n_points, n_features)
        Numbers in any form that `geodim.intrinsic_dimension` takes.
    weighting : {"uniform", "resilience"}, default "uniform"
        How much each size k counts.  "uniform": all equally, which is the paper's discriminability.
        "resilience": small sizes more, :math:`\Delta^*_f = \frac1n \sum_k \frac1k \phi_{k,f}`, as in
        *Selecting Features by their Resilience to the Curse of Dimensionality* (Stubbemann, Hille and Hanika
        2023); see `geodim.top_features` for their way to select.
    features, metric, landmarks, scale, normalize, weights, feature_names, n_threads
        As for `geodim.intrinsic_dimension`; the order depends on the units of columns, and is the same for
        ``scale`` "global" and "none".
    last_bit : bool, default False
        As for `geodim.intrinsic_dimension`: without it, columns whose windows are all nearly equally wide are
        solved to within a tolerance, and ``error`` says how far scores may be off.  True makes all widths
        exact, which may take quadratic time.

    Returns
    -------
    Ranking
        A dictionary of name and score; of equal ones the lowest column comes first.  If its ``error`` is 0,
        widths are exact, and "uniform" scores rounded once; each quotient by k is rounded as well, so that
        "resilience" scores are within 2^-52 of their size.  Otherwise two scores that differ by less than
        this part of the larger one might be in the other order.

    Examples
    --------
    >>> import numpy as np
    >>> import geodim
    >>> X = [[0.0, 0.0], [0.0, 1.0], [1.0, 2.0], [1.0, 4.0]]
    >>> geodim.feature_ranking(X, feature_names=["a", "b"])
    {'b': 0.4375, 'a': 0.125}
    >>> geodim.feature_ranking(X, feature_names=["a", "b"], weighting="resilience")
    {'b': 0.13541666666666666, 'a': 0.03645833333333333}
    """
    weighting = one_of(weighting, "weighting", WEIGHTINGS)
    import_module("geodim.engine.column")  # Numba, before an interrupt could leave it half imported
    threads = thread_count(n_threads)
    chosen = Scale.of(scale, normalize)
    opened = open_features(
        X, features, metric, landmarks, weights=weights, names=feature_names, n_threads=threads, scale=chosen
    )
    source, ranges = exact_source(opened.source, threads)
    by = divisor(ranges.d_max, chosen.normalize)
    relaxed = opened.said is None and not last_bit
    own, errors = own_scores(source, ranges, threads, by, weighting, relaxed=relaxed)
    order = ranked(own)
    labels = unique_names(source.names, order)
    ranking = Ranking({label: float(own[column]) for label, column in zip(labels, order, strict=True)})
    ranking.error = float(errors.max())
    return ranking


def own_scores(
    source: ColumnSource,
    ranges: Ranges,
    threads: int,
    by: float,
    weighting: str,
    progress: Callable[[int, int], None] | None = None,
    *,
    relaxed: bool = False,
) -> Scores:
    """Return the score of every feature alone.

    Parameters
    ----------
    source, ranges
        Where the columns come from, and what a first pass found in them.
    threads : int
        Threads to use.
    by : float
        What features are divided by.
    weighting : str
        One of `WEIGHTINGS`.
    progress
        Called with (columns done, columns) in this thread.
    relaxed : bool
        Whether widths of hard columns may be off, as for `ColumnPass`.
    """
    n = source.n_points
    own, errors = np.zeros((2, source.n_features))
    nothing = np.zeros(n)
    uniform = weighting == "uniform"
    score = mean if uniform else resilience
    weight = (n - 1 if uniform else math.log(n)) / n  # the sum of 1 / k from k = 2 on is less than that

    def visit(slot: Slot, column: Column) -> None:
        at = column.index
        own[at] = score(slot.raised(column, nothing)[1:], n, by)
        errors[at] = part_off(float(own[at]), slot.loose, weight, by)

    ColumnPass(source, threads, ranges, relaxed=relaxed).run(
        range(source.n_features), visit, progress=progress
    )
    return Scores(own, errors)


def resilience(phi: NDArray[np.float64], n_points: int, by: float) -> float:
    """Return the sum of phi_k / k over n and the scale; ``phi`` begins with k = 2 and never falls.

    Every quotient is rounded, to within 2^-53 of it; their sum is exact, and rounded once.  Quotients that
    have fewer bits are too small to matter beside the last one, unless all widths are tiny: then
    they are multiplied by a power of two first.
    """
    shift = SHIFT if phi.size and phi[-1] < TINY else 0

    def add(part: slice) -> int | None:
        sizes = np.arange(part.start + 2.0, part.stop + 2.0)
        return exact_sum(np.ldexp(phi[part], shift) / sizes)

    sums = in_parts(add, phi.size)
    return math.inf if None in sums else mean_of(sum(sums), n_points << shift, by)  # type: ignore[arg-type]


def ranked(scores: NDArray[np.float64]) -> list[int]:
    """Return the columns, the highest score first, the lowest column first on a tie."""
    order: list[int] = np.argsort(-scores, kind="stable").tolist()
    return order
