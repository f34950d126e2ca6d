"""The paper's claim, tested: a drop of the dimension from k - 1 to k hops goes with a gain in accuracy.

Spearman's rank correlation of the relative drop and the gain over k = 1, ..., 5, for our dimension and for
the MLE, with the printed numbers and with those computed here.  Five pairs are few: a correlation of 1 has a
probability of 1/120 by chance, and nothing below 0.9 is significant at the level of 5 % (one-sided).

Beside both stands what needs no data at all: gains shrink from hop to hop, so -k has a rank correlation
with them, too.  An indicator that does not beat it says nothing that the number of hops does not.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from itertools import permutations
from typing import TYPE_CHECKING, Any

import numpy as np

from geodim.experiments.printed import DATASETS, printed
from geodim.experiments.verdicts import Claim

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

__all__ = ["Correlation", "Curves", "claims_of", "correlate", "correlations", "printed_curves"]

POOLED = "all together"
OURS, MLE, HOPS = "intrinsic dimension", "MLE", "number of hops"
MOST_PERMUTED = 8  # pairs up to which all orders are tried


@dataclass(frozen=True)
class Curves:
    """Dimensions by our definition, by the MLE, and accuracies, for k = 0, 1, ... of some data sets."""

    dimension: Mapping[str, Sequence[float]]
    mle: Mapping[str, Sequence[float]]
    accuracy: Mapping[str, Sequence[float]]


@dataclass(frozen=True)
class Correlation:
    """One rank correlation, and the number of its pairs.

    It names the numbers ("printed" or "ours"), estimator and data set.  ``p`` is the probability of a
    correlation at least as high if the pairs were matched at random.
    """

    numbers: str
    estimator: str
    dataset: str
    n: int
    rho: float
    p: float

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON; a correlation that is not defined is null."""
        return {
            name: None if isinstance(value, float) and math.isnan(value) else value
            for name, value in asdict(self).items()
        }


def printed_curves() -> Curves:
    """Return the three parts of the paper's table."""

    def numbers(key: str) -> dict[str, list[float]]:
        return {name: [float(text) for text in printed()[key][name]] for name in DATASETS}

    return Curves(numbers("khop_id"), numbers("khop_mle"), numbers("sign_accuracy_mean"))


def drops_and_gains(
    dimension: Sequence[float], accuracy: Sequence[float]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return relative drop of the dimension and gain in accuracy from k - 1 to k, as far as both are known.

    Examples
    --------
    >>> drops, gains = drops_and_gains([4.0, 2.0, 1.0], [0.5, 0.75])
    >>> drops.tolist(), gains.tolist()
    ([0.5], [0.25])
    """
    known = min(len(dimension), len(accuracy))
    values = np.asarray(dimension[:known], np.float64)
    return 1.0 - values[1:] / values[:-1], np.diff(np.asarray(accuracy[:known], np.float64))


def correlate(drops: NDArray[np.float64], gains: NDArray[np.float64]) -> tuple[float, float]:
    """Return Spearman's correlation and its one-sided p-value; NaN where one of the two does not vary.

    For few pairs all orders are tried, so that the p-value is exact, even with ties.

    Examples
    --------
    >>> rho, p = correlate(np.array([1.0, 2.0, 3.0]), np.array([0.1, 0.2, 0.4]))
    >>> round(rho, 6), round(p, 6)
    (1.0, 0.166667)
    """
    from scipy.stats import rankdata, spearmanr  # noqa: PLC0415 - slow to import

    if drops.size < 3 or np.ptp(drops) == 0.0 or np.ptp(gains) == 0.0:
        return math.nan, math.nan
    found = spearmanr(drops, gains, alternative="greater")
    rho = float(found.statistic)
    if drops.size > MOST_PERMUTED:
        return rho, float(found.pvalue)
    first, second = rankdata(drops), rankdata(gains)
    products = np.array([first @ np.array(order) for order in permutations(second)])
    return rho, float(np.mean(products >= first @ second - 1e-9))  # sums of halves: exact


def _indicators(curves: Curves) -> dict[str, dict[str, tuple[NDArray[np.float64], NDArray[np.float64]]]]:
    """Return possible predictors of the gains of each data set beside these gains; large means large."""
    pairs = {
        estimator: {
            name: drops_and_gains(values[name], curves.accuracy[name])
            for name in DATASETS
            if name in values and name in curves.accuracy
        }
        for estimator, values in ((OURS, curves.dimension), (MLE, curves.mle))
    }
    by_hop = {name: (-np.arange(1.0, gains.size + 1.0), gains) for name, (_, gains) in pairs[OURS].items()}
    return pairs | {HOPS: by_hop}


def correlations(numbers: str, curves: Curves) -> list[Correlation]:
    """Return all correlations that the numbers allow: per data set and pooled; ours, the MLE's, and of -k.

    Examples
    --------
    >>> found = correlations("printed", printed_curves())
    >>> len(found), found[0].dataset, found[0].n
    (21, 'PubMed', 5)
    """
    found = []
    for estimator, pairs in _indicators(curves).items():
        for name, (drops, gains) in pairs.items():
            if drops.size >= 3:
                found.append(Correlation(numbers, estimator, name, drops.size, *correlate(drops, gains)))
        if len(pairs) > 1:
            drops, gains = (np.concatenate(some) for some in zip(*pairs.values(), strict=True))
            if drops.size >= 3:
                found.append(Correlation(numbers, estimator, POOLED, drops.size, *correlate(drops, gains)))
    return found


def claims_of(numbers: str, found: Sequence[Correlation]) -> list[Claim]:
    """Return the paper's conclusion: drops go with gains, and more so than those of the MLE."""
    mine = {(one.estimator, one.dataset): one for one in found if one.numbers == numbers}
    whose = "numbers as printed" if numbers == "printed" else "our own numbers"
    texts = (
        f"A drop of the intrinsic dimension goes with a gain in accuracy ({whose}).",
        (
            "The intrinsic dimension is a better indicator of classification performance than the MLE "
            f"({whose})."
        ),
    )
    names = [name for name in DATASETS if all((kind, name) in mine for kind in (OURS, MLE))]
    if not names:
        return [Claim(text, None, "") for text in texts]

    def rho(kind: str, name: str) -> float:
        value = mine[kind, name].rho
        return 0.0 if math.isnan(value) else value  # a curve that does not vary indicates nothing

    ours = {name: rho(OURS, name) for name in names}
    better = [name for name in names if ours[name] > rho(MLE, name)]
    worse = [name for name in names if ours[name] < rho(MLE, name)]
    without = [name for name in names if ours[name] <= 0.0]
    pooled = [mine.get((kind, POOLED)) for kind in (OURS, MLE)]
    higher = pooled[0] is None or pooled[1] is None or pooled[0].rho > pooled[1].rho
    fewest = min(mine[OURS, name].n for name in names)
    each = ", ".join(f"{name} {ours[name]:.2f}" for name in names)
    means = f"rank correlations: {each}; each comes from {fewest} pairs, which is few"
    counts = (
        f"of {len(names)} data sets the dimension correlates better in {len(better)}, the MLE in {len(worse)}"
    )
    if pooled[0] is not None and pooled[1] is not None:
        counts += f"; pooled, {pooled[0].rho:.2f} against {pooled[1].rho:.2f} from {pooled[0].n} pairs"
    alone = mine.get((HOPS, POOLED))
    if alone is not None:
        counts += f"; the number of hops alone (-k), which needs no data, has {alone.rho:.2f}"
    return [
        Claim(
            texts[0], not without, means, f"holds in {len(names) - len(without)} of {len(names)} data sets"
        ),
        Claim(texts[1], len(better) > len(worse) and higher, counts),
    ]
