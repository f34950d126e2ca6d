"""Repeated measurements of some points of data of any kind."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, TypedDict

import numpy as np

from geodim.data.convert import array_of, eager_frame, plain_array
from geodim.dimension import intrinsic_dimension
from geodim.errors import DegenerateDataWarning, InputTypeError, InputValueError
from geodim.lists import refuse_dask

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from geodim.result import IDResult

    Take = Callable[[NDArray[np.intp]], object]

__all__ = ["Options", "Points"]


class Options(TypedDict, total=False):
    """The options of `geodim.intrinsic_dimension`, for all and for some of the points."""

    features: object
    metric: object
    landmarks: object
    rtol: float
    scale: object
    normalize: bool
    feature_names: Sequence[str] | None
    n_threads: int | None


class Points:
    """Data from which some points can be taken.

    Parameters
    ----------
    data : array-like, sparse matrix, frame, tensor or list
        Points in rows; for a precomputed metric, in columns too.
    options : Options
        How the points are measured.
    name : str, optional
        The name of the data in errors.
    """

    def __init__(self, data: object, options: Options, name: str | None = None) -> None:
        if isinstance(options.get("landmarks"), np.ndarray | list | tuple):
            raise InputValueError(
                "landmarks that are given are points of the whole data, not of a part of it: give a number"
            )
        self.data, self.options, self.name = data, options, name
        metrics = options.get("metric"), getattr(options.get("features"), "metric", None)
        square = "precomputed" in metrics
        self.n_points, self._take = _rows_of(data, square=square)

    def whole(self) -> IDResult:
        """Return the dimension of all points."""
        return self._measured(self.data)

    def part(self, size: int, seed: Sequence[int]) -> IDResult:
        """Return the dimension of this many points, drawn without replacement.

        The seed alone decides which, so that the same rows are drawn from data sets of equal size: from two
        representations of the same points, the same points.
        """
        rows = np.random.default_rng(seed).choice(self.n_points, size, replace=False)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DegenerateDataWarning)  # its dimension says so
            return self._measured(self._take(np.sort(rows)))

    def _measured(self, data: object) -> IDResult:
        try:
            result = intrinsic_dimension(data, **self.options)
            if result.stopped == "interrupted":  # one part: nothing is known about the others yet
                raise KeyboardInterrupt
            return result
        except (InputValueError, InputTypeError) as error:
            if self.name is None:
                raise
            raise type(error)(f"{self.name}: {error}") from error


def _rows_of(given: object, *, square: bool) -> tuple[int, Take]:
    """Return how many points there are, and a function that takes some of them."""
    data: Any = given
    module = type(data).__module__.partition(".")[0]
    refuse_dask(data)
    if isinstance(data, str | bytes) or hasattr(data, "__fspath__"):
        raise InputTypeError("this is the name of a file: read it, and give what it holds")
    if module == "scipy" and hasattr(data, "tocsr"):
        rows = data.tocsr()
        return int(rows.shape[0]), lambda some: rows[some][:, some] if square else rows[some]
    if module in ("pandas", "polars", "pyarrow"):
        frame = eager_frame(data)
        return len(frame), lambda some: frame[some.tolist(), :].to_native()
    if module == "torch":
        return int(data.shape[0]), lambda some: data[some.tolist()]
    if isinstance(data, list | tuple) and any(isinstance(one, str) for one in data[:1]):
        return len(data), lambda some: [data[at] for at in some.tolist()]
    array = plain_array(data) if isinstance(data, np.ndarray) else plain_array(array_of(data))
    if array.ndim < 1:
        raise InputTypeError(f"a single {type(data).__name__} has no points to choose from")
    if square:
        return int(array.shape[0]), lambda some: array[np.ix_(some, some)]
    return int(array.shape[0]), lambda some: array[some]
