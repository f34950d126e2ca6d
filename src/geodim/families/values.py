"""The user's own features: functions of the data, or a matrix of values; and the columns as a family."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np

from geodim.arguments import one_of
from geodim.data.sources import ArraySource, as_source, set_names
from geodim.errors import InputTypeError, InputValueError, NonFiniteError, ShapeError
from geodim.families.sizes import Sizes
from geodim.lists import refuse_dask
from geodim.memory import check_bytes
from geodim.text import visible

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from geodim.data.sources import ColumnSource

CALLED_WITH = ("data", "point")


@dataclass(frozen=True, kw_only=True)
class Coordinates:
    """The columns themselves, for unions with other families."""

    label = "coordinates"

    def planned(self, n_points: int, n_coordinates: int) -> Sizes:  # noqa: ARG002
        """Return the sizes for a plan, for this many points."""
        return Sizes(n_coordinates, None)

    def source(
        self,
        X: object,
        *,
        names: Sequence[str] | None = None,
        n_threads: int | None = None,  # noqa: ARG002
    ) -> ColumnSource:
        """Return the values as columns."""
        return as_source(X, names=names)


@dataclass(frozen=True, kw_only=True)
class Values:
    """Your own values as features: those of functions that are called, or a matrix.

    The values are taken as exact.

    Parameters
    ----------
    functions : callable or sequence of callables, optional
        Each is called once on all data and gives one number per point, or, with ``each="point"``, once on
        every point and gives a number.  The numbers are kept, 8 bytes each.
    matrix : array-like of shape (n_points, n_features), optional
        Instead: the values, in any form that `geodim.intrinsic_dimension` takes; memory maps are not copied.
    each : {"data", "point"}
        What functions are called with.

    Examples
    --------
    >>> import numpy as np
    >>> import geodim
    >>> X = np.array([[3.0, 4.0], [0.0, 0.0], [1.0, 0.0]])
    >>> lengths = Values(functions=[lambda X: np.linalg.norm(X, axis=1)])
    >>> geodim.intrinsic_dimension(X, features=lengths, normalize=False).discriminability
    2.0
    >>> words = Values(functions=[len, str.isupper], each="point")
    >>> geodim.intrinsic_dimension(["a", "bcd", "E"], features=words, normalize=False).d_max
    2.0
    """

    functions: Any = None
    matrix: Any = None
    each: str = "data"

    label = "values"

    def source(
        self,
        X: object,
        *,
        names: Sequence[str] | None = None,
        n_threads: int | None = None,  # noqa: ARG002
    ) -> ColumnSource:
        """Return the values as columns.

        Parameters
        ----------
        X
            The data, as functions take it.
        names : sequence of str, optional
            Names of the functions, or of the columns of the matrix.
        n_threads
            Not used: one thread is enough.
        """
        one_of(self.each, "each", CALLED_WITH)
        if (self.functions is None) == (self.matrix is None):
            raise InputValueError("Values takes functions or a matrix: give one of them")
        if self.matrix is not None:
            source = as_source(self.matrix, names=names)
            n = _count(X)
            if n is not None and n != source.n_points:
                raise ShapeError(
                    f"the matrix of values has {source.n_points:,} rows and the data {n:,} points: it "
                    "needs one row per point"
                )
            return source
        return self._called(X, names)

    def described(self, source: ColumnSource) -> dict[str, Any]:
        """Return what a result says about these features."""
        kind = "functions" if self.matrix is None else "columns"
        return {"family": "values", kind: source.n_features}

    def _called(self, X: object, names: Sequence[str] | None) -> ColumnSource:
        functions = [self.functions] if callable(self.functions) else self.functions
        if not isinstance(functions, Sequence) or isinstance(functions, str) or not functions:
            raise InputTypeError(
                f"functions must be a function or a list of some, got {self.functions!r:.60}"
            )
        for at, function in enumerate(functions):
            if not callable(function):
                raise InputTypeError(
                    f"functions[{at}] is a {type(function).__name__}, which cannot be called"
                )
        n = _count(X)
        if n is None:
            raise InputTypeError(f"a {type(X).__name__} has no length: how many points are these?")
        check_bytes(8 * n * len(functions), f"{len(functions):,} functions on {n:,} points")
        values = np.empty((n, len(functions)), order="F")
        for at, function in enumerate(functions):
            one = _on_points if self.each == "point" else _on_data
            values[:, at] = one(function, _called_so(function, at), X, n)
        source = _Fresh(values)
        set_names(source, [_called_so(function, at) for at, function in enumerate(functions)])
        set_names(source, names)
        return source


class _Fresh(ArraySource):
    """An array that was computed from the data, not given."""

    fresh = True


def _count(X: object) -> int | None:
    """Return the number of points, if it can be known; a path does not show it."""
    if isinstance(X, str | bytes | PathLike):
        return None
    shape = getattr(X, "shape", None)
    if isinstance(shape, tuple) and shape:
        return int(shape[0])
    try:
        return len(X)  # type: ignore[arg-type] # what has no length says so
    except TypeError:
        return None


def _called_so(function: object, at: int) -> str:
    name = getattr(function, "__name__", type(function).__name__)
    return f"function {at}" if name == "<lambda>" else visible(str(name))


def _on_data(function: Callable[..., Any], name: str, X: object, n: int) -> NDArray[np.float64]:
    try:
        found = function(X)
    except Exception as error:
        msg = f"the function {name} raised {type(error).__name__} on the data: {visible(str(error))}"
        raise InputValueError(msg) from error
    refuse_dask(found, f"what the function {name} gives")
    try:
        values = np.asarray(found)
        if values.dtype.kind not in "fiub":
            raise TypeError(values.dtype)
    except (TypeError, ValueError) as error:
        raise InputTypeError(f"the function {name} gives a {type(found).__name__}, not numbers") from error
    if values.shape != (n,):
        raise ShapeError(
            f"the function {name} gives values of shape {values.shape} for {n:,} points: it must give "
            "one number per point; give several features at once as a matrix, or call it for each='point'"
        )
    column: NDArray[np.float64] = values.astype(np.float64)
    wrong = np.flatnonzero(~np.isfinite(column))
    if wrong.size:
        raise NonFiniteError(f"the function {name} gives {column[wrong[0]]} for point {wrong[0]}")
    return column


def _on_points(function: Callable[..., Any], name: str, X: object, n: int) -> NDArray[np.float64]:
    if hasattr(X, "columns"):
        raise InputTypeError("the points of a frame are not called one by one: give an array, X.to_numpy()")
    column = np.empty(n)
    for row in range(n):
        try:
            found = function(X[row])  # type: ignore[index] # whatever it raises is told
        except Exception as error:
            msg = f"the function {name} raised {type(error).__name__} for point {row}: {visible(str(error))}"
            raise InputValueError(msg) from error
        try:
            column[row] = float(found)
        except (TypeError, ValueError) as error:
            msg = f"the function {name} gives a {type(found).__name__} for point {row}, not a number"
            raise InputTypeError(msg) from error
        if not np.isfinite(column[row]):
            raise NonFiniteError(f"the function {name} gives {column[row]} for point {row}")
    return column
