"""`advise`: how many hops of neighbourhood aggregation are worth it, worded as advice, with what it rests on.

The evidence is the paper's table of dimensions and SIGN accuracies (tab:k_hop_ids): on all six graphs the
first hop brings the largest gain of accuracy, and on five of them the largest drop of the dimension; on
PubMed the second hop's is larger.  It is no law: the size of a drop does not predict the size of a gain, and
accuracy may grow where the dimension stands still.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from geodim.arguments import real_number
from geodim.saved.document import SavedResult, rebuilt, to_json_value
from geodim.words import fine_percent

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from geodim.khop_result import KHopResult

FORMAT = "geodim.HopAdvice/1"
BASIS = (
    "Basis: in Stubbemann, Hanika and Schneider (TMLR 2023, table of k-hop dimensions and SIGN accuracies),"
    " the first hop brings the largest gain in accuracy on all six graphs, and by far the largest drop in "
    "dimension on five of them (Cora: dimension -39 %, accuracy 53 % to 72 %). On PubMed, both are spread "
    "over two hops (dimension -8 %, then -11 %)."
)
CAVEATS = (
    "Caveats: these are six graphs and one kind of model. The size of a drop does not predict the size of a"
    " gain (ogbn-products: dimension -0.02 %, accuracy 60 % to 72 %), and accuracy may grow although the "
    "dimension does not fall (ogbn-arxiv from one hop to two: dimension unchanged, accuracy 66 % to 69 %). "
    "In the same table, the number of hops alone orders the gains better than the dimension does (rank "
    "correlations of 0.90 and 0.47 over 30 pairs). In a study of eighteen graphs (docs/study.md), the "
    "advised number of hops lost 1.5 points of accuracy to the best number on average, less than always 1 "
    "or always 2 hops lost. If neighbours often differ in class, hops can hurt although the dimension "
    "falls. If you can afford to train, also validate no hops, and one or two more."
)


@dataclass(frozen=True)
class HopAdvice(SavedResult):
    """Advice on the number of hops.

    Attributes
    ----------
    hops : int
        The smallest k whose dimension exceeds that of the last k by at most the tolerance.
    certain : bool
        Whether that holds for every value between the certified bounds; always so for exact results.
    tolerance : float
        The tolerance.
    computed : int
        The last k that was computed.
    dimensions : list of float
        The dimension for k = 0, ..., computed.
    drops : list of float
        By which share each hop k = 1, ... lowers the dimension of k - 1.
    excess : list of float
        By which share the dimension of each k exceeds that of the last.
    text : str
        The advice in words, with its basis and caveats.

    Examples
    --------
    >>> import numpy as np
    >>> import geodim
    >>> edges = [(i, i + 1) for i in range(9)]
    >>> advice = geodim.advise(geodim.khop_dimensions(np.eye(10), edges, hops=3))
    >>> advice.hops, advice.computed, advice.certain
    (3, 3, True)
    """

    hops: int
    certain: bool
    tolerance: float
    computed: int
    dimensions: list[float]
    drops: list[float]
    excess: list[float]
    text: str

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON."""
        values = {name: getattr(self, name) for name in self.__dataclass_fields__}
        for name in ("dimensions", "drops", "excess"):
            values[name] = [to_json_value(value) for value in values[name]]
        return {"format": FORMAT, **values}

    @classmethod
    def from_dict(cls, values: object) -> HopAdvice:
        """Rebuild advice from `to_dict`."""
        from geodim.saved.others import ADVICE, same_lengths  # noqa: PLC0415

        def make(known: dict[str, Any]) -> HopAdvice:
            same_lengths(known, ("dimensions", "excess"))
            return cls(**known)

        made: HopAdvice = rebuilt(values, FORMAT, ADVICE, (), make)
        return made

    def plot(self, ax: Axes | None = None, **options: Any) -> Axes:  # noqa: ANN401 - handed on
        """Plot the dimension against the number of hops and mark the advised one."""
        from geodim.display.advice import plot_advice  # noqa: PLC0415

        return plot_advice(self, ax=ax, **options)

    def __str__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        from html import escape  # noqa: PLC0415

        first, *others = self.text.splitlines()
        return f"<p><b>{escape(first)}</b></p>" + "".join(f"<p>{escape(line)}</p>" for line in others)


def advise(result: KHopResult, tolerance: float = 0.01) -> HopAdvice:
    """Advise on how many hops are worth their cost.

    Parameters
    ----------
    result : KHopResult
        Dimensions for k = 0, 1, ..., from `geodim.khop_dimensions`.
    tolerance : float, default 0.01
        The share by which the dimension may exceed that of the last k.

    Returns
    -------
    HopAdvice
        With bounds instead of exact values, the smallest k whose upper bound is within the tolerance of the
        last lower bound: no more hops would be advised if the values were known exactly.

    Examples
    --------
    >>> import geodim
    >>> result = geodim.khop_dimensions([[0.0], [0.0], [1.0], [1.0]], [(0, 1), (1, 2), (2, 3)], hops=3)
    >>> advice = geodim.advise(result, tolerance=0.05)
    >>> advice.hops <= 3
    True
    """
    tolerance = real_number(tolerance, "tolerance", least=0.0, below=math.inf)
    last = result.results[-1]
    # The last k is within any tolerance of itself, whatever its bounds.
    enough = [k for k, one in enumerate(result) if _within(one.upper, last.lower, tolerance)] + [result.hops]
    perhaps = [k for k, one in enumerate(result) if _within(one.lower, last.upper, tolerance)] + [result.hops]
    hops, certain = enough[0], enough[0] == perhaps[0]
    excess = [_excess(value, last.dimension) for value in result.dimensions]
    return HopAdvice(
        hops=hops,
        certain=certain,
        tolerance=tolerance,
        computed=result.hops,
        dimensions=result.dimensions,
        drops=result.drops,
        excess=excess,
        text=_text(result, hops, tolerance, excess, certain=certain),
    )


def _within(value: float, reference: float, tolerance: float) -> bool:
    return value <= (1.0 + tolerance) * reference


def _excess(value: float, last: float) -> float:
    return 0.0 if value == last else value / last - 1.0


def _text(result: KHopResult, hops: int, tolerance: float, excess: list[float], *, certain: bool) -> str:
    """Return advice, marginal drops, certainty, basis and caveats: one sentence or two each."""
    noun = "hop" if hops == 1 else "hops"
    if result.hops == 0:
        text = "Only k = 0 was computed: nothing can be said about hops. Compute more of them."
    elif hops == result.hops and excess[-2] > tolerance:
        text = (
            f"Consider all {hops} {noun} that were computed, and compute more: the last one still lowers the "
            f"intrinsic dimension by {fine_percent(result.drops[-1])}."
        )
    elif hops == 0:
        text = (
            "The graph hardly lowers the intrinsic dimension: without any hop it is within "
            f"{fine_percent(tolerance)} of that of {result.hops} hops. By this measure aggregation tells few "
            "points apart that the attributes do not."
        )
    else:
        text = (
            f"Consider {hops} {noun}: the intrinsic dimension, {result.dimensions[hops]:.6g}, is then within "
            f"{fine_percent(tolerance)} of the {result.dimensions[-1]:.6g} of {result.hops} hops."
        )
    lines = [text]
    if result.hops > 0:
        drops = ", ".join(f"hop {k}: {fine_percent(drop)}" for k, drop in enumerate(result.drops, 1))
        lines.append(f"Drops in dimension: {drops}.")
    if any(not one.one_number for one in result):
        sure = "certain in spite of that" if certain else "not certain: fewer may do"
        lines.append(f"The dimensions are known within bounds only; the advice is {sure}.")
    return "\n".join([*lines, BASIS, CAVEATS])
