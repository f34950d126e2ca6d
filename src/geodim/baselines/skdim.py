"""Any estimator of scikit-dimension, by name: `skdim_estimate("lPCA", X)`."""

from __future__ import annotations

import difflib
import inspect
import time
from typing import TYPE_CHECKING, Any

import numpy as np

from geodim.arguments import whole_number
from geodim.baselines.points import as_points, check_neighbours
from geodim.baselines.result import BaselineResult, versions
from geodim.data.unchanged import Watch
from geodim.errors import InputValueError
from geodim.optional import require

if TYPE_CHECKING:
    from types import ModuleType


def skdim_names() -> list[str]:
    """Return the names of the estimators that the installed scikit-dimension has.

    Examples
    --------
    >>> from geodim.baselines import skdim_names
    >>> "lPCA" in skdim_names()
    True
    """
    module = _module()
    return sorted(name for name, value in vars(module).items() if inspect.isclass(value))


def find_skdim_name(name: str) -> str:
    """Return the estimator of that name; case does not matter."""
    names = skdim_names()
    found = [known for known in names if known.lower() == name.lower()]
    if found:
        return found[0]
    near = difflib.get_close_matches(name, names, 1, 0.5)
    hint = f"did you mean {near[0]}? " if near else ""
    msg = f"scikit-dimension has no estimator {name!r}: {hint}There are {', '.join(names)}"
    raise InputValueError(msg)


def skdim_estimate(
    name: str,
    X: object,
    *,
    n_neighbors: int | None = None,
    seed: int | None = None,
    n_threads: int | None = None,
    **parameters: object,
) -> BaselineResult:
    """Estimate with a class of `skdim.id`, on the data as a dense array.

    Parameters
    ----------
    name : str
        The class: "lPCA", "FisherS", "MiND_ML", ...; case does not matter.
    X : array-like of shape (n_points, n_features)
        Anything `geodim.intrinsic_dimension` takes; it is densified, since scikit-dimension needs that.
    n_neighbors : int, optional
        Neighbours per point, for the estimators that combine local ones; their own default otherwise.
    seed : int, optional
        Random state, for the estimators that draw.
    n_threads : int, optional
        Threads of the linear algebra and searches underneath; all available cores by default.
    **parameters
        Parameters of the class, see the documentation of scikit-dimension.

    Returns
    -------
    BaselineResult

    Examples
    --------
    >>> import numpy as np
    >>> from geodim.baselines import skdim_estimate
    >>> X = np.random.default_rng(0).normal(size=(500, 3)) @ np.eye(3, 10)
    >>> skdim_estimate("lPCA", X).dimension
    3.0
    """
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped] # noqa: PLC0415 - comes with scikit-learn

    found = find_skdim_name(name)
    kind = getattr(_module(), found)
    points = as_points(X, n_threads, dense=True)
    started = time.monotonic()
    takes = inspect.signature(kind.__init__).parameters
    options = dict(parameters)
    if seed is not None:
        seed = whole_number(seed, "seed", 0)
        if "random_state" in takes:
            options.setdefault("random_state", seed)
    unknown = [key for key in options if key not in takes]
    if unknown:
        own = ", ".join(key for key in takes if key not in ("self", "args", "kwargs")) or "none"
        msg = f"{found} has no parameter {unknown[0]!r}: its parameters are {own}"
        raise InputValueError(msg)
    fitting: dict[str, Any] = {}
    if n_neighbors is not None:
        count = check_neighbours(n_neighbors, points.n_points)
        if "n_neighbors" in inspect.signature(kind.fit).parameters:
            fitting["n_neighbors"] = count
    try:
        with Watch.of(X), threadpool_limits(n_threads):
            fitted = kind(**options).fit(points.values.astype(np.float64), **fitting)
    except ValueError as error:
        msg = f"scikit-dimension's {found} cannot use this data: {error}"
        raise InputValueError(msg) from error
    return BaselineResult(
        name=f"skdim:{found}",
        dimension=float(fitted.dimension_),
        n_points=points.n_points,
        n_features=points.n_features,
        n_used=points.n_points,
        n_neighbors=fitting.get("n_neighbors"),
        seed=seed if "random_state" in options else None,
        seconds=time.monotonic() - started,
        parameters=options,
        versions=versions("scikit-dimension"),
    )


def _module() -> ModuleType:
    return require("skdim.id", "compare", "an estimator of scikit-dimension")
