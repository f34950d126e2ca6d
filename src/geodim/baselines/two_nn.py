"""`two_nn`: the dimension from the distances to the two nearest neighbours (Facco et al., 2017)."""

from __future__ import annotations

import time
import warnings
from typing import TYPE_CHECKING

import numpy as np

from geodim.arguments import one_of, real_number
from geodim.baselines.neighbours import nearest
from geodim.baselines.points import as_points, check_neighbours, check_resolution, choose_sample
from geodim.baselines.result import BaselineResult, versions
from geodim.data.unchanged import Watch
from geodim.errors import DegenerateDataWarning, InputValueError

if TYPE_CHECKING:
    from numpy.typing import NDArray

METHODS = ("fit", "ml")


def two_nn(
    X: object,
    *,
    method: str = "fit",
    discard: float = 0.1,
    resolution: float = 0.0,
    n_samples: int | None = None,
    seed: int = 0,
    n_threads: int | None = None,
) -> BaselineResult:
    r"""TwoNN: the dimension from the ratios of the distances to the two nearest neighbours.

    Where the density is locally constant, mu = r_2 / r_1 has the distribution function
    1 - mu**(-d).  With N ratios sorted, :math:`\mu_1 \le \dots \le \mu_N`, and the largest share
    ``discard`` left out, so that m remain:

    * "fit", the published method: the slope of the line through the origin that fits the points
      :math:`(\log \mu_i, -\log(1 - i/N))`, i = 1, ..., m, in least squares.
    * "ml": :math:`(m - 1) / (\sum_{i \le m} \log \mu_i + (N - m) \log \mu_m)`, the unbiased maximum
      likelihood estimate, for which the discarded ratios are known to be at least the m-th.

    Points with :math:`r_1 = 0`, which equal another one, have no ratio: they are left out and counted.

    Parameters
    ----------
    X : array-like of shape (n_points, n_features)
        Anything `geodim.intrinsic_dimension` takes, with at least 3 points.
    method : {"fit", "ml"}
        See above.
    discard : float, default 0.1
        Share of the largest ratios to leave out, in [0, 1).
    resolution, n_samples, seed, n_threads
        As for `geodim.baselines.mle`; all points are examined by default.

    Returns
    -------
    BaselineResult

    Examples
    --------
    >>> import numpy as np
    >>> from geodim.baselines import two_nn
    >>> X = np.random.default_rng(0).uniform(size=(3000, 2))
    >>> round(two_nn(X).dimension), round(two_nn(X, method="ml").dimension)
    (2, 2)
    """
    started = time.monotonic()
    one_of(method, "method", METHODS)
    discard = real_number(discard, "discard", least=0.0, below=1.0, hint="the share of ratios to leave out")
    resolution = check_resolution(resolution)
    with Watch.of(X):
        points = as_points(X, n_threads)
        sample = choose_sample(points.n_points, n_samples, seed)
        check_neighbours(2, points.n_points)
        distances, direct = nearest(points.with_resolution(resolution), 2, sample, n_threads)
    logs = log_ratios(distances)
    return BaselineResult(
        name="twonn",
        dimension=estimate(logs, method, discard),
        n_points=points.n_points,
        n_features=points.n_features,
        n_used=len(logs),
        n_zero=len(distances) - len(logs),
        n_neighbors=2,
        seed=None if sample is None else int(seed),
        seconds=time.monotonic() - started,
        parameters={
            "method": method,
            "discard": discard,
            "resolution": resolution,
            "n_samples": len(distances),
            "n_direct": direct,
        },
        versions=versions(),
    )


def log_ratios(distances: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return ascending logarithms of r_2 / r_1 where r_1 > 0."""
    kept = distances[distances[:, 0] > 0.0]
    return np.sort(np.log(kept[:, 1]) - np.log(kept[:, 0]))


def estimate(logs: NDArray[np.float64], method: str, discard: float) -> float:
    """Estimate the dimension from ascending logarithms of ratios."""
    total = len(logs)
    # The last point of the empirical distribution has 1 - F = 0: no line goes through its logarithm.
    keep = min(int(total * (1.0 - discard)), total - 1 if method == "fit" else total)
    if keep < 2:
        msg = (
            f"{total} points have a nearest neighbour at a positive distance, and {max(keep, 0)} of their "
            f"ratios remain with discard={discard:g}: TwoNN needs 2; drop duplicates, or discard less"
        )
        raise InputValueError(msg)
    kept = logs[:keep]
    if method == "fit":
        heights = -np.log1p(-np.arange(1, keep + 1) / total)
        above, below = float(kept @ heights), float(kept @ kept)
    else:
        above, below = keep - 1.0, float(kept.sum()) + (total - keep) * float(kept[-1])
    if below <= 0.0:
        warnings.warn(
            "the two nearest neighbours of every point are equally far from it: TwoNN is infinite",
            DegenerateDataWarning,
            stacklevel=3,
        )
        return np.inf
    return above / below
