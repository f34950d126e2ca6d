"""One more reference mark: the same features of the data's own columns, shuffled.

Distances and directions depend on how columns go together.  If every column is shuffled on its own, each
keeps its values but no dependence is left, so the dimension of the shuffled data shows how much of the
number is about single columns, and how much about their dependence.  Columns as features do not change: their
dimension is the same to the bit, which is why this mark is for other features only.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from geodim.arguments import whole_number
from geodim.data.convert import array_of
from geodim.dimension import intrinsic_dimension
from geodim.errors import InputValueError, ShapeError
from geodim.gauge.gauge import SHUFFLED
from geodim.progress import showing
from geodim.support_field import altered

if TYPE_CHECKING:
    from typing import Unpack

    from numpy.typing import NDArray

    from geodim.progress import Progress
    from geodim.result import IDResult
    from geodim.sampling.rows import Options

__all__ = ["shuffled_reference"]


def shuffled_reference(
    X: object,
    *,
    repeats: int = 3,
    seed: int = 0,
    whole: IDResult | None = None,
    progress: Progress = None,
    **options: Unpack[Options],
) -> IDResult:
    """Measure the dimension, with one more mark on its gauge: that of the data's own columns, shuffled.

    Parameters
    ----------
    X : array-like of shape (n_points, n_coordinates)
        The points.
    repeats : int, default 3
        How often columns are shuffled; each takes as long as the dimension itself.
    seed : int
        The seed of the shuffles.
    whole : IDResult, optional
        The result of the points as they are, if it is known already.
    progress : bool or callable, optional
        True shows a bar; a function is called as ``progress(done, repeats)``, in the calling thread.
    **options
        ``features`` (not "coordinates"), ``metric``, ``landmarks``, ``rtol``, ``scale`` and ``n_threads``, as
        for `geodim.intrinsic_dimension`.

    Returns
    -------
    IDResult
        The result of the points as they are; its gauge, and with it the report, shows the median of the
        shuffled ones, and ``parameters["shuffled"]`` has all of them.

    Examples
    --------
    >>> import numpy as np
    >>> import geodim
    >>> line = np.linspace(0.0, 1.0, 50)[:, np.newaxis] * np.ones(4)
    >>> result = geodim.shuffled_reference(line, features="distances")
    >>> result.dimension < result.gauge.mark("own columns shuffled")
    True
    """
    if options.get("features", "coordinates") == "coordinates":
        raise InputValueError(
            "columns as features have the same dimension however each is shuffled: this baseline is for "
            "others, such as features='distances'"
        )
    repeats = whole_number(repeats, "repeats", 1)
    rng = np.random.default_rng(whole_number(seed, "seed", 0))
    points: NDArray[Any] = np.asarray(array_of(X))
    if points.ndim != 2 or options.get("metric") == "precomputed":
        raise ShapeError("points with coordinates are shuffled: an array of shape (n_points, n_coordinates)")
    result = intrinsic_dimension(X, **options) if whole is None else whole
    found = []
    with showing(progress, "shuffles") as told:
        for turn in range(repeats):
            found.append(intrinsic_dimension(rng.permuted(points, axis=0), **options).dimension)
            if told is not None:
                told(turn + 1, repeats)
    return altered(result, parameters=result.parameters | {SHUFFLED: found})
