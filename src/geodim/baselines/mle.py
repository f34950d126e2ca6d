"""`mle`: the maximum likelihood estimate of Levina and Bickel, combined as MacKay and Ghahramani proposed."""

from __future__ import annotations

import time
import warnings
from typing import TYPE_CHECKING

import numpy as np

from geodim.arguments import one_of
from geodim.baselines.neighbours import nearest, nearest_as_published
from geodim.baselines.points import (
    Points,
    as_points,
    check_neighbours,
    check_resolution,
    choose_sample,
)
from geodim.baselines.result import BaselineResult, versions
from geodim.data.unchanged import Watch
from geodim.engine.parts import thread_count
from geodim.errors import DegenerateDataWarning, InputValueError

if TYPE_CHECKING:
    from numpy.typing import NDArray

PAPER_SAMPLE = 169_343  # the nodes of ogbn-arxiv, the largest data for which the paper takes all points
VARIANTS = ("exact", "paper")


def mle(
    X: object,
    n_neighbors: int = 5,
    *,
    variant: str = "exact",
    resolution: float = 0.0,
    n_samples: int | None = PAPER_SAMPLE,
    seed: int = 0,
    n_threads: int | None = None,
) -> BaselineResult:
    r"""Levina and Bickel's maximum likelihood estimate, as MacKay and Ghahramani corrected it.

    With :math:`r_j(i)` the distance from point i to its j-th nearest other point and l = ``n_neighbors``,

    .. math::

       \frac{1}{\mathrm{MLE}} = \operatorname{mean}_{i,\, j < l,\, r_j(i) > 0}\, \log \frac{r_l(i)}{r_j(i)}.

    The correction is that inverses are averaged, over all points and neighbours at once.  Zero distances,
    between equal rows, are left out of the mean and counted.

    Parameters
    ----------
    X : array-like of shape (n_points, n_features)
        Anything `geodim.intrinsic_dimension` takes.  Sparse matrices of more than 2**24
        values are not densified.
    n_neighbors : int, default 5
        The neighbours per point, l, at least 2; the paper's choice is 5.
    variant : {"exact", "paper"}
        "exact" takes the distances from differences, so that they are 0 for equal rows and for no others.
        "paper" takes them as scikit-learn's brute force search gave them to the authors, in the type of X:
        equal rows may then seem about 1e-8 of their norm apart, and each of these false distances counts with
        a logarithm of 15 or more.
    resolution : float, default 0.0
        Distances up to this count as zero: the precision of the data, where that is known.
    n_samples : int, optional
        For more points than this a sample of this many is examined (among all points); None for no limit.
    seed : int, default 0
        Seed of the sample.
    n_threads : int, optional
        Threads to use; all available cores by default.  The result of "exact" does not depend on it.

    Returns
    -------
    BaselineResult

    Warns
    -----
    DegenerateDataWarning
        All neighbours of every point are equally far: the estimate is infinite.

    Examples
    --------
    >>> import numpy as np
    >>> from geodim.baselines import mle
    >>> X = np.random.default_rng(1).uniform(size=(2000, 3))
    >>> round(mle(X, n_neighbors=10).dimension)
    3
    >>> mle(np.vstack([X, X[:50]])).n_zero
    100
    """
    with Watch.of(X):
        return mle_of_points(
            as_points(X, n_threads, dense=variant == "paper"),
            n_neighbors,
            variant=variant,
            resolution=resolution,
            n_samples=n_samples,
            seed=seed,
            n_threads=n_threads,
        )


def mle_of_points(
    points: Points,
    n_neighbors: int,
    *,
    variant: str,
    resolution: float = 0.0,
    n_samples: int | None = PAPER_SAMPLE,
    seed: int = 0,
    n_threads: int | None = None,
    **parameters: object,
) -> BaselineResult:
    """Do the same as `mle`, for points with known rounding; further parameters are noted in the result."""
    started = time.monotonic()
    one_of(variant, "variant", VARIANTS)
    thread_count(n_threads)
    resolution = check_resolution(resolution)
    sample = choose_sample(points.n_points, n_samples, seed)
    count = check_neighbours(n_neighbors, points.n_points, 2)
    precise = points.with_resolution(resolution)
    if variant == "paper":
        distances = nearest_as_published(precise, count, sample, n_threads)
        notes = {}
    else:
        distances, direct = nearest(precise, count, sample, n_threads)
        notes = {"n_direct": direct}
    dimension, n_used, n_zero = estimate(distances)
    return BaselineResult(
        name="mle",
        dimension=dimension,
        n_points=points.n_points,
        n_features=points.n_features,
        n_used=n_used,
        n_zero=n_zero,
        n_neighbors=count,
        seed=None if sample is None else int(seed),
        seconds=time.monotonic() - started,
        parameters={
            "variant": variant,
            "resolution": resolution,
            "n_samples": len(distances),
            **notes,
            **parameters,
        },
        versions=versions(),
    )


def estimate(distances: NDArray[np.float64]) -> tuple[float, int, int]:
    """Return the estimate, its points, and the zeros left out, from ascending distances, a row per point."""
    inner, outer = distances[:, :-1], distances[:, -1:]
    used = inner > 0.0
    n_zero = int(used.size - used.sum())
    if not used.any():
        msg = (
            f"all {used.size:,} distances between neighbours are 0: every point equals its {inner.shape[1]} "
            "nearest ones, and there is no dimension to estimate; drop duplicates first"
        )
        raise InputValueError(msg)
    logs = np.log(np.where(used, outer, 1.0)) - np.log(np.where(used, inner, 1.0))
    mean = float(logs[used].sum()) / int(used.sum())
    if mean <= 0.0:
        warnings.warn(
            "all neighbours of a point are equally far from it: the MLE is infinite",
            DegenerateDataWarning,
            stacklevel=4,
        )
    return (1.0 / mean if mean > 0.0 else np.inf), int(used.any(axis=1).sum()), n_zero
